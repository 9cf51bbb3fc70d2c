import { ApplicationPasswordSignIn } from '../../../src/modules/account-security/index.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';
import { type Recorded, WildDuck } from '../../support/mail/wild-duck.ts';

const PATH = '/settings/application-passwords';
const BOXES = '/mail/users/me/mailboxes';

const errorOf = ({ status, body }: ApiResponse) => [status, body?.error];
const make = ({ api }: TestUser, more: object = {}) =>
  api.post(PATH, { description: 'Thunderbird', scopes: ['imap', 'smtp', 'caldav'], ...more });
const drain = async (app: TestApp) => {
  await app.sql('UPDATE outbox SET due_at = now() - make_interval(secs => 1)');
  await app.get<OutboxWorker>(OutboxWorker).drain();
};
const rowsOf = (app: TestApp, { id }: TestUser) =>
  app.sql('SELECT id, state, provider_id FROM application_passwords WHERE user_id = $1', [id]);
const signIn = async (app: TestApp, { email, tenantId }: TestUser, password: string, scope = 'imap') => {
  const result = await app.get(ApplicationPasswordSignIn).signIn(email, password, null);
  if (result.outcome !== 'ok') return null;
  const { program } = result;
  return program.tenantId === tenantId && program.scopes.includes(scope as never) ? program.passwordId : null;
};

describe('application passwords for mail', () => {
  let duck: WildDuck;
  let app: TestApp;
  let tenants = 0;

  beforeAll(async () => {
    duck = await WildDuck.start();
    app = await TestApp.start(duck.settings);
  });
  beforeEach(() => {
    duck.clear();
    duck.asps.limit = 50;
  });
  afterAll(async () => {
    await app?.stop();
    await duck?.stop();
  });

  const newUser = async (on = app): Promise<TestUser> => (await on.tenant(`t${(tenants += 1)}`, 'alice'))[0];
  /** A user with a mail account, without the requests that created it. */
  const mailer = async (): Promise<TestUser> => {
    duck.clear();
    const person = await newUser();
    expect((await person.api.get(BOXES)).status).toBe(200);
    duck.clear();
    return person;
  };
  const asked = () => duck.requests.map(({ method, url }) => `${method} ${url}`);
  const kept = async (person: TestUser) => {
    const [account] = await app.sql('SELECT mail_user_id FROM mail_accounts WHERE user_id = $1', [person.id]);
    return duck.asps.kept.filter(({ user }) => user === account.mail_user_id);
  };

  test('are registered at the mail service by their owner and removed there', async () => {
    const alice = await mailer();
    const { status, body } = await make(alice);
    expect(status).toBe(201);
    const { id } = body.application_password;
    expect(asked()).toEqual(['POST /users/me/asps']);
    const [request] = duck.requests as [Recorded];
    expect(request.headers['x-access-token']).not.toBe(duck.serviceToken);
    expect(request.body).toEqual({
      description: `Thunderbird [${id}]`,
      scopes: ['imap', 'smtp'],
      password: body.password,
    });
    const [there] = await kept(alice);
    expect(await rowsOf(app, alice)).toEqual([{ id, state: 'active', provider_id: there!.id }]);
    expect(body.application_password.description).toBe('Thunderbird');
    expect(await signIn(app, alice, body.password, 'caldav')).toBe(id);

    await alice.api.delete(`${PATH}/${id}`);
    await drain(app);
    expect(asked()).toContain(`DELETE /users/me/asps/${there!.id}`);
    expect([await kept(alice), await rowsOf(app, alice)]).toEqual([[], []]);
  });

  test('have a lifetime and a description of any length', async () => {
    const alice = await mailer();
    expect(
      (await make(alice, { ttl: 3600, description: `${'ü'.repeat(215)}😀${'x'.repeat(38)}` })).status,
    ).toBe(201);
    expect((await make(alice, { description: '.' })).status).toBe(201);
    const [long, unlimited] = (await kept(alice)) as [any, any];
    expect(long.ttl).toBeGreaterThan(3500);
    expect(long.ttl).toBeLessThanOrEqual(3600);
    expect(long.description).toMatch(/^ü{215}\S{0,2} \[[0-9a-f-]{36}\]$/u);
    expect(unlimited.ttl).toBeUndefined();
  });

  test('are registered with a renewed token when the old one has expired', async () => {
    const alice = await mailer();
    duck.killTokens();
    expect((await make(alice)).status).toBe(201);
    expect(asked()).toEqual(['POST /users/me/asps', 'POST /authenticate', 'POST /users/me/asps']);
    expect(await kept(alice)).toHaveLength(1);
  });

  test.each([{}, { ttl: 600 }])(
    'are removed when the response to their creation was lost (%j)',
    async (more) => {
      const alice = await mailer();
      await make(alice, { description: 'another' });
      duck.script = ({ method, body, headers }, response) => {
        if (method !== 'POST') return undefined;
        const account = [...duck.accounts.values()].find(({ address }) => address === alice.email)!;
        expect(headers['x-access-token']).toBeDefined();
        duck.asps.answer(account.id, method, '/asps', body);
        response.socket!.destroy();
        return true;
      };
      expect(errorOf(await make(alice, more))).toEqual([503, 'mail_service_unavailable']);
      expect(await kept(alice)).toHaveLength(2);
      duck.clear();
      await drain(app);
      expect(asked()).toContain('GET /users/me/asps?showAll=true');
      expect((await kept(alice)).map(({ description }) => description.slice(0, 7))).toEqual(['another']);
      expect(await rowsOf(app, alice)).toHaveLength(1);
    },
  );

  test('are rejected when the mail service has reached its limit', async () => {
    const alice = await mailer();
    duck.asps.limit = 1;
    expect((await make(alice)).status).toBe(201);
    expect(errorOf(await make(alice))).toEqual([422, 'too_many_application_passwords']);
    expect((await make(alice, { scopes: ['caldav'] })).status).toBe(201);
  });

  test.each([
    [500, { error: 'x' }],
    [403, { error: 'User is disabled', code: 'UserDisabled' }],
    [404, { error: 'This user does not exist', code: 'UserNotFound' }],
    [200, { success: true, id: '../../x' }],
    [200, { success: true }],
    [200, { error: 'broken' }],
  ])('are none when the mail service fails (%i %j)', async (status, json) => {
    const alice = await mailer();
    duck.script = ({ url }) => (url.includes('/asps') ? { status, json } : undefined);
    expect(errorOf(await make(alice))).toEqual([503, 'mail_service_unavailable']);
    expect((await alice.api.get(PATH)).body.application_passwords).toEqual([]);
    duck.clear();
    await drain(app);
    expect(await rowsOf(app, alice)).toEqual([]);
  });

  test('end here at once, and at the mail service when it is reachable', async () => {
    const alice = await mailer();
    const { application_password: made, password } = (await make(alice)).body;
    duck.script = () => ({ status: 500, json: { error: 'down' } });
    expect((await alice.api.delete(`${PATH}/${made.id}`)).status).toBe(200);
    await drain(app);
    expect(await signIn(app, alice, password)).toBeNull();
    expect(await rowsOf(app, alice)).toMatchObject([{ state: 'removing' }]);
    duck.clear();
    // The second one was already removed at the mail service.
    duck.asps.kept.length = 0;
    await drain(app);
    expect(await rowsOf(app, alice)).toEqual([]);
  });

  test('need no mail service for users without a mail account', async () => {
    const bob = await newUser();
    duck.script = () => ({ status: 500, json: { error: 'down' } });
    const { status, body } = await make(bob);
    expect(status).toBe(201);
    expect(await signIn(app, bob, body.password)).toBe(body.application_password.id);
    await bob.api.delete(`${PATH}/${body.application_password.id}`);
    await drain(app);
    expect(asked()).toEqual([]);
    expect(await rowsOf(app, bob)).toEqual([]);
    const alice = await mailer();
    duck.script = () => ({ status: 500, json: { error: 'down' } });
    expect((await make(alice, { scopes: ['caldav', 'carddav'] })).status).toBe(201);
    expect(asked()).toEqual([]);
  });

  test('use the service token in mode `service` when its role allows it', async () => {
    const acting = await TestApp.start({ ...duck.settings, MAIL_SERVICE_MODE: 'service' }, app.databaseUrl);
    try {
      const alice = await mailer();
      const there = { ...alice, api: acting.as(alice.token) };
      expect((await make(there)).status).toBe(201);
      const [asp] = await kept(alice);
      expect(asked()).toEqual([`POST /users/${asp!.user}/asps`]);
      duck.script = () => ({
        status: 403,
        json: { error: 'Not enough privileges', code: 'MissingPrivileges' },
      });
      const { status, body } = await make(there);
      expect(status).toBe(201);
      expect(await signIn(app, alice, body.password)).toBe(body.application_password.id);
      expect(await rowsOf(app, alice)).toContainEqual({
        id: body.application_password.id,
        state: 'active',
        provider_id: null,
      });
    } finally {
      await acting.stop();
    }
  });

  test('are neither logged nor stored', async () => {
    const lines: string[] = [];
    const write = process.stdout.write.bind(process.stdout);
    process.stdout.write = (text: string | Uint8Array) => {
      lines.push(String(text));
      return true;
    };
    const passwords: string[] = [];
    try {
      const loud = await TestApp.start(
        { ...duck.settings, LOG_LEVEL: 'trace', MAIL_SERVICE_TIMEOUT_MS: '700' },
        app.databaseUrl,
      );
      const alice = await mailer();
      const there = { ...alice, api: loud.as(alice.token) };
      passwords.push((await make(there)).body.password);
      for (const script of [
        (_: Recorded, response: any) => (response.socket.destroy(), true),
        () => new Promise<true>(() => undefined),
        ({ body }: Recorded) => ({ status: 400, json: { error: JSON.stringify(body), code: 'Wrong' } }),
        ({ body }: Recorded) => ({ status: 200, json: { error: JSON.stringify(body) } }),
      ]) {
        duck.script = script as never;
        expect((await make(there)).status).toBe(503);
      }
      for (const { body } of duck.requests) if (body?.password) passwords.push(body.password);
      await loud.stop();
    } finally {
      process.stdout.write = write;
    }
    expect(passwords.length).toBeGreaterThanOrEqual(5);
    const stored = await app.sql(
      `SELECT p::text AS t FROM application_passwords p UNION ALL SELECT o::text FROM outbox o
       UNION ALL SELECT a::text FROM audit_log a`,
    );
    const text = `${lines.join('')}${stored.map(({ t }) => t).join('')}`;
    expect(lines.join('')).toContain('the mail service did not accept an application password');
    for (const password of passwords) expect(text).not.toContain(password);
  });

  test('exist only here when the mail service does not support them', async () => {
    const mail = await TestMailService.start();
    const on = await TestApp.start(mail.settings);
    try {
      const alice = await newUser(on);
      expect((await alice.api.get(BOXES)).status).toBe(200);
      const { status, body } = await make(alice);
      expect(status).toBe(201);
      const { id } = body.application_password;
      expect(await signIn(on, alice, body.password)).toBe(id);
      expect(await rowsOf(on, alice)).toEqual([{ id, state: 'active', provider_id: null }]);
      await alice.api.delete(`${PATH}/${id}`);
      await drain(on);
      expect(await rowsOf(on, alice)).toEqual([]);
    } finally {
      await on.stop();
      await mail.stop();
    }
  });

  test('are rejected with the embedded mail service, which has no server for mail programs', async () => {
    const mail = await TestMailService.start();
    const on = await TestApp.start({ ...mail.settings, MAIL_SERVICE_EMBEDDED: 'true' });
    try {
      const alice = await newUser(on);
      const { status, body } = await make(alice, { scopes: ['imap', 'smtp'] });
      expect([status, body.error]).toEqual([409, 'no_mail_protocol']);
      expect(await rowsOf(on, alice)).toEqual([]);
    } finally {
      await on.stop();
      await mail.stop();
    }
  });
});
