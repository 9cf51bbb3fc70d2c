import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jest } from '@jest/globals';
import { PasswordSignIn } from '../../../src/modules/account-security/index.js';
import { Passwords } from '../../../src/modules/identity/index.js';
import { Errors } from '../../../src/platform/http/errors.js';
import { Outbox } from '../../../src/platform/events/outbox.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { acceptApplicationPasswords } from '../../support/sign-in/application-passwords.ts';
import { enrolled, PASSWORD, personWithPassword, session } from '../../support/sign-in/account.ts';
import { type TestUser, TestApp } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { TestIssuer } from '../../support/sign-in/issuer.ts';
import { stopClock } from '../../support/sign-in/totp.ts';
import { until } from '../../support/until.ts';

const NEW = 'seven purple teapots dance';
const errorOf = ({ status, body }: ApiResponse) => [status, body?.error];
const why = ({ status, body }: ApiResponse) => [status, body?.error, body?.details?.[0]?.code];

describe('the password', () => {
  let app: TestApp;
  let twin: TestApp;
  const events: any[] = [];

  beforeAll(async () => {
    stopClock();
    app = await TestApp.start();
    twin = await TestApp.start({}, app.databaseUrl);
    acceptApplicationPasswords(app, twin);
    for (const each of [app, twin])
      each
        .get<Outbox>(Outbox)
        .subscribe('security.password_changed', 'test', async ({ payload }) => void events.push(payload));
  });
  afterAll(async () => {
    await twin?.stop();
    await app?.stop();
  });

  const signsIn = async ({ email }: TestUser, password: string) =>
    (await app.get(PasswordSignIn).verify({ email, password, ip: '192.0.2.9' })).outcome;
  const change = ({ api }: TestUser, body: object) =>
    api.put('/settings/password', { current_password: PASSWORD, new_password: NEW, ...body });

  test('is not locked by comparisons that fail because too many are queued', async () => {
    const zoe = await personWithPassword(app, 'zoe');
    const full = jest.spyOn(app.get(Passwords), 'verify').mockRejectedValue(Errors.overloaded.with());
    try {
      for (let n = 0; n < 5; n += 1) expect(errorOf(await change(zoe, {}))).toEqual([503, 'overloaded']);
    } finally {
      full.mockRestore();
    }
    expect((await change(zoe, {})).status).toBe(200);
  });

  test('changes with the current password; other sessions end, this one and application passwords stay', async () => {
    const alice = await personWithPassword(app, 'alice');
    const other = await session(app, alice);
    const clients = [other.api, twin.as(other.token)];
    for (const client of clients) expect((await client.get('/notes')).status).toBe(200);
    await alice.api.post('/settings/application-passwords', { description: 'x', scopes: ['imap'] });
    expect((await alice.api.get('/settings/security')).body.password_changed_at).toBeNull();
    const response = await change(alice, {});
    expect([response.status, response.body]).toEqual([200, { changed: true }]);
    expect([await signsIn(alice, PASSWORD), await signsIn(alice, NEW)]).toEqual(['rejected', 'ok']);
    expect((await alice.api.get('/notes')).status).toBe(200);
    expect((await clients[0]!.get('/notes')).status).toBe(401);
    await twin.readAccessChanges();
    await until('the other process', async () => (await clients[1]!.get('/notes')).status === 401);
    const { body } = await alice.api.get('/settings/security');
    expect(body.password_changed_at).not.toBeNull();
    expect(body.application_passwords).toBe(1);
    await app.get<OutboxWorker>(OutboxWorker).drain();
    expect(events).toContainEqual(expect.objectContaining({ user_id: alice.id, sessions_ended: 1 }));
  });

  test('ends what the request selects', async () => {
    const alice = await personWithPassword(app, 'alice');
    const other = await session(app, alice);
    await alice.api.post('/settings/application-passwords', { description: 'x', scopes: ['imap'] });
    await change(alice, { revoke_sessions: false, revoke_application_passwords: true });
    expect((await other.api.get('/notes')).status).toBe(200);
    expect((await alice.api.get('/settings/application-passwords')).body.application_passwords).toEqual([]);
  });

  test('does not change without the current password; five attempts in a row at most', async () => {
    const alice = await personWithPassword(app, 'alice');
    for (let n = 0; n < 5; n += 1)
      expect(errorOf(await change(alice, { current_password: `wrong ${n}` }))).toEqual([
        403,
        'invalid_password',
      ]);
    const locked = await change(alice, {});
    expect(errorOf(locked)).toEqual([429, 'too_many_attempts']);
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(800);
    expect(await signsIn(alice, PASSWORD)).toBe('ok');
  });

  test.each([
    ['', 'min_length'],
    ['short', 'min_length'],
    ['elevenchars', 'min_length'],
    ['😀😀😀😀😀😀', 'min_length'],
    ['x'.repeat(1001), 'max_length'],
    ['passwordpassword', 'too_common'],
    ['qwerty123456', 'too_common'],
    ['aaaaaaaaaaaaaaaa', 'too_common'],
    ['123456789012', 'too_common'],
    ['workspace2026', 'too_common'],
    [PASSWORD, 'unchanged'],
  ])('%j is rejected as %s', async (password, code) => {
    const alice = await shared();
    const response = await change(alice, { new_password: password });
    expect(why(response)).toEqual([422, 'weak_password', code]);
    expect(response.text).not.toContain(password || 'nothing');
  });

  test('can be any other text, in any Unicode normalisation', async () => {
    const alice = await personWithPassword(app, 'alice');
    const text = 'Ångström läuft 走る 😀';
    expect((await change(alice, { new_password: text.normalize('NFD') })).status).toBe(200);
    expect(await signsIn(alice, text.normalize('NFC'))).toBe('ok');
    const long = 'the longest one that is taken '.repeat(34).slice(0, 1000);
    expect((await change(alice, { current_password: text, new_password: long })).status).toBe(200);
    expect([await signsIn(alice, long), await signsIn(alice, long.slice(0, 999))]).toEqual([
      'ok',
      'rejected',
    ]);
  });

  test('must not be the own address', async () => {
    const alice = await personWithPassword(app, 'alice');
    expect(why(await change(alice, { new_password: alice.email }))).toEqual([
      422,
      'weak_password',
      'too_common',
    ]);
  });

  test('invalid input is a typed error', async () => {
    const alice = await shared();
    for (const body of [
      {},
      { current_password: 5 },
      { new_password: ['x'] },
      { current_password: PASSWORD, new_password: null },
      { current_password: PASSWORD, new_password: NEW, revoke_sessions: 'yes' },
      { current_password: PASSWORD, new_password: NEW, code: 5 },
      { current_password: PASSWORD, new_password: '\0'.repeat(14) },
      { current_password: '\ud800', new_password: NEW },
    ])
      expect([body, errorOf(await alice.api.put('/settings/password', body))]).toEqual([
        body,
        [422, 'validation_failed'],
      ]);
  });

  let person: Promise<TestUser> | undefined;
  const shared = () => (person ??= personWithPassword(app, 'shared'));

  describe('with the second factor on', () => {
    const age = ({ id }: TestUser) =>
      app.sql(`UPDATE sessions SET aal2_at = aal2_at - interval '11 minutes' WHERE account_id = $1`, [id]);

    test('changes after a recent proof', async () => {
      const { person } = await enrolled(app, 'fresh');
      expect((await change(person, {})).status).toBe(200);
    });

    test('needs a code or another proof after an old one', async () => {
      const { person, authenticator } = await enrolled(app, 'stale');
      await age(person);
      expect(errorOf(await change(person, {}))).toEqual([403, 'second_factor_required']);
      expect(errorOf(await change(person, { code: authenticator.wrong() }))).toEqual([422, 'invalid_code']);
      const code = authenticator.code();
      expect(errorOf(await change(person, { code, new_password: 'short' }))).toEqual([422, 'weak_password']);
      expect(await signsIn(person, PASSWORD)).toBe('ok');
      expect((await change(person, { code })).status).toBe(200);
      await age(person);
      const proof = { code: authenticator.code(1) };
      expect((await person.api.post('/auth/verify-2fa', proof)).status).toBe(200);
      expect((await change(person, { current_password: NEW, new_password: `${NEW} again` })).status).toBe(
        200,
      );
    });
  });

  describe('confirmation before an account is closed', () => {
    const close = ({ api }: TestUser, body: object) => api.delete('/settings/profile', body);
    /** Makes the user an ordinary member, who may leave the workspace: it has another owner. */
    const leaver = async (person: TestUser) => {
      await app.sql(`UPDATE tenant_members SET role = 'member' WHERE user_id = $1`, [person.id]);
      await app.sql(
        `DELETE FROM rbac_members WHERE tenant_id = $1 AND user_id = $2
          AND group_id IN (SELECT id FROM rbac_groups WHERE tenant_id = $1 AND key IN ('owners', 'admins'))`,
        [person.tenantId, person.id],
      );
      return person;
    };

    test('five failures lock', async () => {
      const alice = await personWithPassword(app, 'alice');
      for (let n = 0; n < 5; n += 1)
        expect(errorOf(await close(alice, { password: `wrong ${n}` }))).toEqual([403, 'invalid_password']);
      expect(errorOf(await close(alice, { password: PASSWORD }))).toEqual([429, 'too_many_attempts']);
    });

    test('with a code after an old proof; application passwords end too', async () => {
      const { person, authenticator } = await enrolled(app, 'leaver');
      await leaver(person);
      await person.api.post('/settings/application-passwords', { description: 'x', scopes: ['imap'] });
      await app.sql(`UPDATE sessions SET aal2_at = aal2_at - interval '11 minutes' WHERE account_id = $1`, [
        person.id,
      ]);
      expect(errorOf(await close(person, { password: PASSWORD }))).toEqual([403, 'second_factor_required']);
      const wrong = { password: PASSWORD, code: authenticator.wrong() };
      expect(errorOf(await close(person, wrong))).toEqual([422, 'invalid_code']);
      const closed = await close(person, { password: PASSWORD, code: authenticator.code() });
      expect([closed.status, closed.body.account_closed]).toEqual([200, true]);
      await app.get<OutboxWorker>(OutboxWorker).drain();
      const left = await app.sql('SELECT id FROM application_passwords WHERE user_id = $1', [person.id]);
      expect(left).toEqual([]);
      expect(await signsIn(person, PASSWORD)).toBe('rejected');
    });
  });

  describe('and data breaches', () => {
    let server: Server;
    let asked: { url: string; padding: unknown }[] = [];
    let reply: { status: number; body: string };
    let breached: TestApp;
    const digest = createHash('sha1').update(NEW).digest('hex').toUpperCase();

    beforeAll(async () => {
      server = createServer((request, response) => {
        asked.push({ url: String(request.url), padding: request.headers['add-padding'] });
        response.writeHead(reply.status).end(reply.body);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      breached = await TestApp.start(
        { PASSWORD_BREACH_URL: `http://127.0.0.1:${port}/`, LOG_LEVEL: 'silent' },
        app.databaseUrl,
      );
    });
    afterAll(async () => {
      await breached?.stop();
      await new Promise((resolve) => server.close(resolve));
    });

    const attempt = async (status: number, body: string) => {
      [reply, asked] = [{ status, body }, []];
      const { token } = await personWithPassword(app, 'breach');
      return breached.as(token).put('/settings/password', { current_password: PASSWORD, new_password: NEW });
    };

    test('a known one is rejected; only five digits of its hash were sent', async () => {
      const rejected = await attempt(200, `${'0'.repeat(35)}:9\r\n${digest.slice(5)}:3\r\n`);
      expect(why(rejected)).toEqual([422, 'weak_password', 'breached']);
      expect(asked).toEqual([{ url: `/range/${digest.slice(0, 5)}`, padding: 'true' }]);
    });

    test.each([
      ['unknown', 200, `${'0'.repeat(35)}:9`],
      ['padding', 200, `${digest.slice(5)}:0`],
      ['trouble there', 500, `${digest.slice(5)}:3`],
      ['nonsense', 200, '<html>'],
    ])('%s: the password is accepted', async (_, status, body) => {
      expect((await attempt(status, body)).status).toBe(200);
      expect(asked).toHaveLength(1);
    });
  });

  test('and second factor belong to the external identity provider, if configured', async () => {
    const issuer = await TestIssuer.start();
    const managed = await TestApp.start(
      { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: 'workspace-api' },
      app.databaseUrl,
    );
    acceptApplicationPasswords(managed);
    try {
      const { person } = await enrolled(app, 'managed');
      const own = managed.as(person.token);
      const token = await issuer.token({
        sub: 'x',
        email: person.email,
        email_verified: true,
        tid: person.tenantId,
      });
      const external = managed.as(token);
      for (const client of [own, external])
        for (const [method, path] of [
          ['PUT', '/settings/password'],
          ['POST', '/auth/initiate-2fa'],
          ['POST', '/auth/enable-2fa'],
          ['POST', '/auth/verify-2fa'],
          ['POST', '/auth/disable-2fa'],
        ] as const)
          expect([path, errorOf(await client.request(method, path, { body: {} }))]).toEqual([
            path,
            [409, 'managed_externally'],
          ]);
      const { status, body } = await external.get('/settings/security');
      expect([status, body.managed_externally]).toEqual([200, true]);
      expect(errorOf(await external.post('/auth/sign-out'))).toEqual([409, 'managed_externally']);
      const made = await external.post('/settings/application-passwords', {
        description: 'x',
        scopes: ['imap'],
      });
      expect(made.status).toBe(201);
      const pending = await session(app, person);
      expect(errorOf(await managed.as(pending.token).get('/notes'))).toEqual([403, 'second_factor_required']);
    } finally {
      await managed.stop();
      await issuer.down();
    }
  });
});
