import { Config } from '../../../src/config/config.js';
import { IdentityApi } from '../../../src/modules/identity/index.js';
import { Db } from '../../../src/platform/database/db.js';
import { Outbox } from '../../../src/platform/events/outbox.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { enrolled, PASSWORD, personWithPassword, session } from '../../support/sign-in/account.ts';
import { inTransaction, lockWaiters } from '../../support/database/locks.ts';
import { TestApp, type TestUser } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { Browser } from '../../support/sign-in/relying-party.ts';
import { Authenticator, stopClock } from '../../support/sign-in/totp.ts';
import { type Deviation, SoftPasskey } from '../../support/sign-in/webauthn.ts';

const PASSKEYS = '/settings/security/passkeys';
const errorOf = ({ status, body }: ApiResponse) => [status, body?.error];
const unescape = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&');

describe('passkeys of an account', () => {
  let app: TestApp;
  let origin: string;
  const events: { type: string; payload: any }[] = [];

  beforeAll(async () => {
    stopClock();
    app = await TestApp.start();
    origin = new URL(app.get<Config>(Config).publicUrl).origin;
    for (const name of ['added', 'removed'])
      app.get<Outbox>(Outbox).subscribe(`security.passkey_${name}`, 'test', async ({ type, payload }) => {
        events.push({ type, payload });
      });
  });
  afterAll(() => app?.stop());

  const creation = async (person: TestUser, proof: object = { password: PASSWORD }) => {
    const { status, body, text } = await person.api.post(`${PASSKEYS}/options`, proof);
    if (status !== 200) throw new Error(text);
    return body.public_key;
  };
  const add = async (person: TestUser, name = 'Laptop', key = new SoftPasskey(origin), proof?: object) => {
    const response = await person.api.post(PASSKEYS, {
      name,
      credential: key.create(await creation(person, proof)),
    });
    if (response.status !== 201) throw new Error(response.text);
    return { key, ...response.body };
  };
  const requested = async (person: TestUser) =>
    (await person.api.post('/auth/passkey-options', {})).body.public_key;
  const prove = async (person: TestUser, key: SoftPasskey, deviation: Deviation = {}) =>
    person.api.post('/auth/verify-passkey', { credential: key.get(await requested(person), deviation) });
  const audited = async (person: TestUser) =>
    (
      await app.sql(
        `SELECT action FROM audit_log WHERE object_id = $1 AND action LIKE 'security.%' ORDER BY id`,
        [person.id],
      )
    ).map(({ action }: any) => action);
  const age = (person: TestUser) =>
    app.sql(`UPDATE sessions SET aal2_at = aal2_at - interval '11 minutes' WHERE account_id = $1`, [
      person.id,
    ]);

  describe('registration', () => {
    test('enables the second factor with recovery codes; the other sessions must prove it', async () => {
      const alice = await personWithPassword(app, 'alice');
      const other = await session(app, alice);
      const options = await creation(alice);
      expect(options).toMatchObject({
        rp: { id: 'localhost', name: 'Workspace' },
        user: { name: alice.email },
        attestation: 'none',
        excludeCredentials: [],
      });
      const { key, passkey, recovery_codes: codes } = await add(alice);
      expect(passkey).toEqual({
        id: expect.any(String),
        name: 'Laptop',
        synced: false,
        created_at: expect.any(String),
        last_used_at: null,
      });
      expect(new Set(codes).size).toBe(10);
      expect((await alice.api.get(PASSKEYS)).body).toEqual({ passkeys: [passkey], next: null });
      const { body } = await alice.api.get('/settings/security');
      expect([body.passkeys, body.two_factor.enabled]).toEqual([1, true]);
      await app.readAccessChanges();
      expect(errorOf(await other.api.get('/notes'))).toEqual([403, 'second_factor_required']);
      expect((await prove(other, key)).body).toEqual({ verified: true, method: 'passkey' });
      expect((await other.api.get('/notes')).status).toBe(200);
      expect(await audited(alice)).toEqual([
        'security.passkey_added',
        'security.second_factor_enabled',
        'security.passkey_used',
      ]);
      await app.get<OutboxWorker>(OutboxWorker).drain();
      expect(events.filter(({ payload }) => payload.user_id === alice.id)).toEqual([
        { type: 'security.passkey_added', payload: expect.objectContaining({ description: 'Laptop' }) },
      ]);
    });

    test('next to an authenticator returns no new recovery codes', async () => {
      const { person, authenticator } = await enrolled(app, 'both');
      const { recovery_codes: codes, key } = await add(person);
      expect(codes).toBeUndefined();
      const other = await session(app, person);
      expect((await prove(other, key)).status).toBe(200);
      const third = await session(app, person);
      expect((await third.api.post('/auth/verify-2fa', { code: authenticator.code() })).status).toBe(200);
    });

    test('requires the password, or a recent second factor', async () => {
      const alice = await personWithPassword(app, 'alice');
      for (const path of ['options', 'page'])
        expect(errorOf(await alice.api.post(`${PASSKEYS}/${path}`, { password: 'incorrect' }))).toEqual([
          403,
          'invalid_password',
        ]);
      await add(alice);
      await age(alice);
      for (const path of ['options', 'page'])
        expect(errorOf(await alice.api.post(`${PASSKEYS}/${path}`, { password: PASSWORD }))).toEqual([
          403,
          'second_factor_required',
        ]);
    });

    test.each<[string, Deviation]>([
      ['of another origin', { origin: 'https://evil.example' }],
      ['of another host', { rpId: 'evil.example' }],
      ['of another ceremony', { type: 'webauthn.get' }],
      ['with another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
      ['without a present user', { isUserPresent: false }],
    ])('rejects a response %s, and uses the challenge', async (_, deviation) => {
      const alice = await personWithPassword(app, 'alice');
      const key = new SoftPasskey(origin);
      const options = await creation(alice);
      const send = (credential: object) => alice.api.post(PASSKEYS, { name: 'Laptop', credential });
      expect(errorOf(await send(key.create(options, deviation)))).toEqual([422, 'invalid_passkey']);
      expect(errorOf(await send(key.create(options)))).toEqual([422, 'invalid_passkey']);
      expect((await alice.api.get(PASSKEYS)).body.passkeys).toEqual([]);
    });

    test('rejects malformed credentials', async () => {
      const alice = await personWithPassword(app, 'alice');
      const valid = new SoftPasskey(origin).create(await creation(alice));
      const deep = Buffer.alloc(20_000, 0x81).toString('base64url');
      const malformed: object[] = [
        {},
        { id: 7 },
        { ...valid, rawId: 'x' },
        { ...valid, response: null },
        { ...valid, response: { ...valid.response, clientDataJSON: '!' } },
        { ...valid, response: { ...valid.response, attestationObject: deep } },
        { ...valid, response: { ...valid.response, attestationObject: 'owA' } },
        { ...valid, response: { ...valid.response, transports: 7 }, type: 'password' },
      ];
      for (const credential of malformed) {
        await creation(alice);
        expect(errorOf(await alice.api.post(PASSKEYS, { name: 'x', credential }))).toEqual([
          422,
          'invalid_passkey',
        ]);
      }
      for (const body of [{ name: 'x' }, { name: 'x', credential: 'x' }, { name: ' ', credential: valid }])
        expect(errorOf(await alice.api.post(PASSKEYS, body))).toEqual([422, 'validation_failed']);
    });

    test('accepts a challenge in its session only, before it expires', async () => {
      const alice = await personWithPassword(app, 'alice');
      const other = await session(app, alice);
      const key = new SoftPasskey(origin);
      const credential = key.create(await creation(alice));
      expect(errorOf(await other.api.post(PASSKEYS, { name: 'x', credential }))).toEqual([
        422,
        'invalid_passkey',
      ]);
      await app.sql(`UPDATE passkey_challenges SET expires_at = now() - interval '1 second'`);
      expect(errorOf(await alice.api.post(PASSKEYS, { name: 'x', credential }))).toEqual([
        422,
        'invalid_passkey',
      ]);
    });

    test('adds none in a session that has ended, before its process knows', async () => {
      const alice = await personWithPassword(app, 'alice');
      const intruder = await session(app, alice);
      const credential = new SoftPasskey(origin).create(await creation(intruder));
      await app.sql('UPDATE sessions SET revoked_at = now() WHERE account_id = $1', [alice.id]);
      const late = await intruder.api.post(PASSKEYS, { name: 'x', credential });
      expect(errorOf(late)).toEqual([401, 'unauthorized']);
      expect(await app.sql('SELECT FROM passkeys WHERE account_id = $1', [alice.id])).toEqual([]);
    });

    test('rejects a credential of another account, and more than 20', async () => {
      const [alice, mallory] = [
        await personWithPassword(app, 'alice'),
        await personWithPassword(app, 'mallory'),
      ];
      const { key } = await add(alice);
      const credential = key.create(await creation(mallory));
      expect(errorOf(await mallory.api.post(PASSKEYS, { name: 'x', credential }))).toEqual([
        409,
        'passkey_registered',
      ]);
      await app.sql(
        `INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, transports, synced, name)
         SELECT gen_random_uuid(), $1::uuid, sha256(($1::uuid::text || n::text)::bytea), '', 0, '{}', false, 'x' FROM generate_series(1, 19) n`,
        [alice.id],
      );
      const another = new SoftPasskey(origin).create(await creation(alice));
      expect(errorOf(await alice.api.post(PASSKEYS, { name: 'x', credential: another }))).toEqual([
        422,
        'too_many_passkeys',
      ]);
    });
  });

  describe('proof', () => {
    test.each<[string, Deviation]>([
      ['of another origin', { origin: 'https://evil.example' }],
      ['of another host', { rpId: 'evil.example' }],
      ['of another ceremony', { type: 'webauthn.create' }],
      ['with another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
      ['without a present user', { isUserPresent: false }],
      ['with a counter that does not increase', { counter: 1 }],
      ['with an invalid signature', { signature: Buffer.from('3006020101020101', 'hex') }],
      ['with another user handle', { userHandle: Buffer.alloc(16).toString('base64url') }],
      ['with an unknown credential', { credentialId: Buffer.alloc(32) }],
    ])('rejects a response %s, and uses the challenge', async (_, deviation) => {
      const alice = await personWithPassword(app, 'alice');
      const { key } = await add(alice);
      const other = await session(app, alice);
      const options = await requested(other);
      const send = (credential: object) => other.api.post('/auth/verify-passkey', { credential });
      expect(errorOf(await send(key.get(options, deviation)))).toEqual([422, 'invalid_passkey']);
      expect(errorOf(await send(key.get(options)))).toEqual([422, 'invalid_passkey']);
      expect(errorOf(await other.api.get('/notes'))).toEqual([403, 'second_factor_required']);
    });

    test('is valid once, also for concurrent requests', async () => {
      const alice = await personWithPassword(app, 'alice');
      const { key } = await add(alice);
      const other = await session(app, alice);
      const credential = key.get(await requested(other));
      const send = () => other.api.post('/auth/verify-passkey', { credential });
      const statuses = (await Promise.all(Array.from({ length: 8 }, send))).map(({ status }) => status);
      expect(statuses.toSorted()).toEqual([200, ...Array(7).fill(422)]);
    });

    test('accepts only a passkey of the account', async () => {
      const [alice, mallory] = [
        await personWithPassword(app, 'alice'),
        await personWithPassword(app, 'mallory'),
      ];
      await add(alice);
      const { key } = await add(mallory);
      expect(errorOf(await prove(await session(app, alice), key))).toEqual([422, 'invalid_passkey']);
    });

    test('accepts an authenticator that does not count, and a user who is present only', async () => {
      const alice = await personWithPassword(app, 'alice');
      const { key } = await add(alice, 'Phone', new SoftPasskey(origin, false));
      const other = await session(app, alice);
      expect((await prove(other, key, { isUserVerified: false })).status).toBe(200);
      expect((await prove(other, key)).status).toBe(200);
      expect((await alice.api.get(PASSKEYS)).body.passkeys[0].last_used_at).toEqual(expect.any(String));
    });

    test('of an account without a passkey is not possible; a recovery code replaces a lost one', async () => {
      const { person } = await enrolled(app, 'codes');
      expect(errorOf(await person.api.post('/auth/passkey-options', {}))).toEqual([
        409,
        'second_factor_not_enabled',
      ]);
      const alice = await personWithPassword(app, 'alice');
      const { recovery_codes: codes } = await add(alice);
      const other = await session(app, alice);
      expect(errorOf(await other.api.post('/auth/verify-2fa', { code: '123456' }))).toEqual([
        409,
        'second_factor_not_enabled',
      ]);
      expect((await other.api.post('/auth/verify-2fa', { recovery_code: codes[0] })).status).toBe(200);
      expect(
        (await alice.api.post('/auth/disable-2fa', { password: PASSWORD, recovery_code: codes[1] })).status,
      ).toBe(200);
      expect((await alice.api.get(PASSKEYS)).body.passkeys).toEqual([]);
      expect((await alice.api.get('/settings/security')).body.two_factor.enabled).toBe(false);
    });

    test('replaces the code for other changes, and fulfils the policy of the workspace', async () => {
      const alice = await personWithPassword(app, 'alice');
      await alice.api.put('/tenant/policy', { second_factor: { required: true, grace_days: 0 } });
      // The clock of the process is stopped, that of the database is not.
      const dayAgo = `now() - interval '1 day' WHERE tenant_id = $1`;
      await app.sql(`UPDATE tenant_policies SET second_factor_since = ${dayAgo}`, [alice.tenantId]);
      await app.sql(`UPDATE tenant_members SET created_at = ${dayAgo}`, [alice.tenantId]);
      await app.sql(
        'INSERT INTO access_changes (id, account_id, tenant_id) VALUES (gen_random_uuid(), $1, $2)',
        [alice.id, alice.tenantId],
      );
      await app.readAccessChanges();
      expect(errorOf(await alice.api.get('/notes'))).toEqual([403, 'second_factor_enrolment_required']);
      const { key, passkey } = await add(alice);
      expect((await alice.api.get('/notes')).status).toBe(200);
      await age(alice);
      const change = { current_password: PASSWORD, new_password: 'seven purple teapots dance' };
      expect(errorOf(await alice.api.put('/settings/password', change))).toEqual([
        403,
        'second_factor_required',
      ]);
      expect(errorOf(await alice.api.delete(`${PASSKEYS}/${passkey.id}`))).toEqual([
        403,
        'second_factor_required',
      ]);
      expect((await prove(alice, key)).status).toBe(200);
      expect((await alice.api.put('/settings/password', change)).status).toBe(200);
      expect(errorOf(await alice.api.delete(`${PASSKEYS}/${passkey.id}`))).toEqual([
        403,
        'required_by_policy',
      ]);
      expect((await alice.api.get(PASSKEYS)).body.passkeys).toHaveLength(1);
    });
  });

  describe('the list', () => {
    test('renames and removes; the last removal disables the second factor', async () => {
      const alice = await personWithPassword(app, 'alice');
      const [first, second] = [await add(alice), await add(alice, 'Phone')];
      const renamed = await alice.api.patch(`${PASSKEYS}/${first.passkey.id}`, { name: ' Work laptop ' });
      expect(renamed.body.passkey).toEqual({ ...first.passkey, name: 'Work laptop' });
      expect((await alice.api.delete(`${PASSKEYS}/${first.passkey.id}`)).body).toEqual({ deleted: true });
      expect((await alice.api.get('/settings/security')).body.two_factor.enabled).toBe(true);
      expect((await alice.api.delete(`${PASSKEYS}/${second.passkey.id}`)).body).toEqual({ deleted: true });
      const { body } = await alice.api.get('/settings/security');
      expect([body.passkeys, body.two_factor]).toEqual([
        0,
        { enabled: false, since: null, recovery_codes_left: 0 },
      ]);
      expect((await audited(alice)).slice(-4)).toEqual([
        'security.passkey_renamed',
        'security.passkey_removed',
        'security.passkey_removed',
        'security.second_factor_disabled',
      ]);
      expect(errorOf(await alice.api.delete(`${PASSKEYS}/${second.passkey.id}`))).toEqual([404, 'not_found']);
    });

    test('is of the own account', async () => {
      const [alice, mallory] = [
        await personWithPassword(app, 'alice'),
        await personWithPassword(app, 'mallory'),
      ];
      const { passkey } = await add(alice);
      await add(mallory);
      expect(errorOf(await mallory.api.patch(`${PASSKEYS}/${passkey.id}`, { name: 'x' }))).toEqual([
        404,
        'not_found',
      ]);
      expect(errorOf(await mallory.api.delete(`${PASSKEYS}/${passkey.id}`))).toEqual([404, 'not_found']);
      expect((await alice.api.get(PASSKEYS)).body.passkeys).toEqual([passkey]);
    });

    test('is empty after the account was closed', async () => {
      const alice = await personWithPassword(app, 'alice');
      await add(alice);
      const identity = app.get<IdentityApi>(IdentityApi);
      await app.get<Db>(Db).tx((tx) => identity.deactivate(tx, alice.id));
      expect(await app.sql('SELECT id FROM passkeys WHERE account_id = $1', [alice.id])).toEqual([]);
    });
  });

  test('a passkey that is added while the second factor is being disabled is removed with it', async () => {
    const { person: alice, authenticator } = await enrolled(app, 'alice');
    const other = await session(app, alice, { aal2: true });
    const credential = new SoftPasskey(origin).create(await creation(alice));
    const disable = { password: PASSWORD, code: authenticator.code() };
    await inTransaction(app.databaseUrl, async (holder) => {
      await holder.query('SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [alice.id]);
      const adding = alice.api.post(PASSKEYS, { name: 'Laptop', credential });
      await lockWaiters(holder);
      const disabling = other.api.post('/auth/disable-2fa', disable);
      await lockWaiters(holder, 2);
      await holder.query('COMMIT');
      expect([(await adding).status, (await disabling).status]).toEqual([201, 200]);
    });
    const { body } = await alice.api.get('/settings/security');
    expect([body.two_factor.enabled, body.passkeys]).toEqual([false, 0]);
  });

  describe('the page', () => {
    const open = async (person: TestUser) => {
      const { body } = await person.api.post(`${PASSKEYS}/page`, { password: PASSWORD });
      const browser = new Browser(app.base, { 'accept-language': 'en' });
      return { browser, path: new URL(body.url).pathname };
    };
    const optionsOf = (html: string) => JSON.parse(unescape(/data-options="([^"]*)"/.exec(html)![1]!));

    test('ends when another session enables a second factor, until its session proves it', async () => {
      const alice = await personWithPassword(app, 'alice');
      const { browser, path } = await open(alice);
      const credential = JSON.stringify(
        new SoftPasskey(origin).create(optionsOf((await browser.open(path)).html)),
      );
      const other = await session(app, alice);
      const { secret } = (await other.api.post('/auth/initiate-2fa', { password: PASSWORD })).body;
      const authenticator = new Authenticator(secret);
      expect((await other.api.post('/auth/enable-2fa', { code: authenticator.code(-1) })).status).toBe(200);
      const body = new URLSearchParams({ step: 'add', name: 'Phone', credential });
      expect((await browser.open(path, { method: 'POST', body })).status).toBe(404);
      expect((await browser.open(path)).status).toBe(404);
      expect((await other.api.get(PASSKEYS)).body.passkeys).toEqual([]);
      expect((await alice.api.post('/auth/verify-2fa', { code: authenticator.code() })).status).toBe(200);
      expect((await browser.open(path)).status).toBe(200);
    });

    test('adds, renames and removes passkeys in four languages, with one script', async () => {
      const alice = await personWithPassword(app, 'alice');
      const { browser, path } = await open(alice);
      const page = await browser.open(path);
      expect([page.status, page.headers.get('referrer-policy')]).toEqual([200, 'no-referrer']);
      const policy = page.headers.get('content-security-policy');
      expect(policy).toContain(`script-src ${origin}/apis/v1/oidc/passkey.js;`);
      expect(policy).toContain("default-src 'none'");
      const key = new SoftPasskey(origin);
      const send = (fields: Record<string, string>) =>
        browser.open(path, { method: 'POST', body: new URLSearchParams(fields) });
      const credential = JSON.stringify(key.create(optionsOf(page.html)));
      const added = await send({ step: 'add', name: 'Phone', credential });
      expect([added.status, added.html.match(/<code>/g)!.length]).toEqual([200, 10]);
      expect((await send({ step: 'add', name: 'Phone', credential })).status).toBe(422);
      const [{ id }] = (await alice.api.get(PASSKEYS)).body.passkeys;
      expect((await send({ step: 'rename', passkey_id: id, name: 'Tablet' })).html).toContain('Tablet');
      expect((await send({ step: 'rename', passkey_id: id, name: ' ' })).status).toBe(422);
      expect((await send({ step: 'remove', passkey_id: 'x' })).status).toBe(422);
      for (const [language, text] of Object.entries({ de: 'Entfernen', pt: 'Remover', vi: 'Xóa' }))
        expect((await browser.open(path, { headers: { 'accept-language': language } })).html).toContain(text);
      expect((await send({ step: 'remove', passkey_id: id })).html).toContain('has no passkey yet');
      expect((await alice.api.get(PASSKEYS)).body.passkeys).toEqual([]);
    });

    test('ends with its session and with a newer link', async () => {
      const alice = await personWithPassword(app, 'alice');
      const [older, newer] = [await open(alice), await open(alice)];
      expect((await older.browser.open(older.path)).status).toBe(404);
      expect((await newer.browser.open(newer.path)).status).toBe(200);
      await alice.api.post('/auth/sign-out', {});
      expect((await newer.browser.open(newer.path)).status).toBe(404);
      const remove = { method: 'POST', body: new URLSearchParams({ step: 'remove' }) };
      expect((await newer.browser.open(newer.path, remove)).status).toBe(404);
    });
  });

  test('exist only where browsers have WebAuthn, and not with an external issuer', async () => {
    const ownAddress = await TestApp.start({ PUBLIC_URL: 'https://192.0.2.7' }, app.databaseUrl);
    const external = await TestApp.start(
      { OIDC_ISSUER: 'https://issuer.example', OIDC_AUDIENCE: 'workspace' },
      app.databaseUrl,
    );
    try {
      const { token } = await personWithPassword(app, 'alice');
      for (const [other, error] of [
        [ownAddress, 'passkeys_unavailable'],
        [external, 'managed_externally'],
      ] as const)
        for (const path of [`${PASSKEYS}/options`, `${PASSKEYS}/page`, '/auth/passkey-options'])
          expect(errorOf(await other.as(token).post(path, {}))).toEqual([409, error]);
    } finally {
      await ownAddress.stop();
      await external.stop();
    }
  });
});
