import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { Outbox } from '../../../src/platform/events/outbox.js';
import { enrolled, PASSWORD, personWithPassword, session } from '../../support/sign-in/account.ts';
import { type TestUser, TestApp } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { Authenticator, stopClock } from '../../support/sign-in/totp.ts';
import { until } from '../../support/until.ts';

const errorOf = ({ status, body }: ApiResponse) => [status, body?.error];

describe('the second factor', () => {
  let app: TestApp;
  let twin: TestApp;
  const events: { type: string; payload: any }[] = [];

  beforeAll(async () => {
    stopClock();
    app = await TestApp.start();
    twin = await TestApp.start({}, app.databaseUrl);
    for (const name of [
      'second_factor_enabled',
      'second_factor_disabled',
      'second_factor_locked',
      'recovery_codes_renewed',
    ])
      for (const each of [app, twin])
        each.get<Outbox>(Outbox).subscribe(`security.${name}`, 'test', async ({ type, payload }) => {
          events.push({ type, payload });
        });
  });
  afterAll(async () => {
    await twin?.stop();
    await app?.stop();
  });

  const eventsOf = async (person: TestUser) => {
    await app.get<OutboxWorker>(OutboxWorker).drain();
    return events.filter(({ payload }) => payload.user_id === person.id).map(({ type }) => type);
  };
  const endLock = () =>
    app.sql(
      `UPDATE guess_locks SET last_at = last_at - interval '1 hour', locked_until = locked_until - interval '1 hour'`,
    );

  describe('enabling', () => {
    test('with a secret, its QR code and the first code', async () => {
      const alice = await personWithPassword(app, 'alice');
      const begun = await alice.api.post('/auth/initiate-2fa', { password: PASSWORD });
      expect(begun.status).toBe(200);
      expect(begun.body).toEqual({
        secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
        otpauth_url: expect.any(String),
        qr_code: expect.stringMatching(/^data:image\/png;base64,iVBOR/),
        expires_in: 900,
      });
      const url = new URL(begun.body.otpauth_url);
      expect(`${url.protocol}//${url.host}${decodeURIComponent(url.pathname)}`).toBe(
        `otpauth://totp/Workspace:${alice.email}`,
      );
      expect(Object.fromEntries(url.searchParams)).toEqual({
        issuer: 'Workspace',
        secret: begun.body.secret,
        algorithm: 'SHA1',
        digits: '6',
        period: '30',
      });
      const code = new Authenticator(begun.body.secret).code();
      const on = await alice.api.post('/auth/enable-2fa', { code: `${code.slice(0, 3)} ${code.slice(3)}` });
      expect(on.status).toBe(200);
      expect(on.body).toEqual({ enabled: true, recovery_codes: expect.any(Array) });
      expect(new Set(on.body.recovery_codes).size).toBe(10);
      for (const each of on.body.recovery_codes)
        expect(each).toMatch(/^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/);
      const { body } = await alice.api.get('/settings/security');
      expect(body.two_factor).toEqual({ enabled: true, since: expect.any(String), recovery_codes_left: 10 });
      expect(await eventsOf(alice)).toEqual(['security.second_factor_enabled']);
    });

    test('stored data reveals neither secret nor codes', async () => {
      const { person, recoveryCodes } = await enrolled(app, 'stored');
      const rows = await app.sql(
        `SELECT f::text AS t FROM second_factors f WHERE account_id = $1
         UNION ALL SELECT c::text FROM recovery_codes c WHERE account_id = $1
         UNION ALL SELECT o::text FROM outbox o UNION ALL SELECT a::text FROM audit_log a`,
        [person.id],
      );
      const stored = rows.map(({ t }: any) => t.toLowerCase()).join('\n');
      for (const code of recoveryCodes) {
        expect(stored).not.toContain(code);
        expect(stored).not.toContain(code.replace('-', ''));
      }
      const [{ secret }] = (await app.sql('SELECT secret FROM second_factors WHERE account_id = $1', [
        person.id,
      ])) as [{ secret: string }];
      expect(secret).toMatch(/^own\.[\w-]{64}$/);
    });

    test('only with the correct password, and not twice', async () => {
      const alice = await personWithPassword(app, 'alice');
      expect(errorOf(await alice.api.post('/auth/initiate-2fa', { password: 'wrong' }))).toEqual([
        403,
        'invalid_password',
      ]);
      expect(errorOf(await alice.api.post('/auth/enable-2fa', { code: '123456' }))).toEqual([
        409,
        'second_factor_not_initiated',
      ]);
      const { person } = await enrolled(app, 'twice');
      for (const path of ['initiate', 'enable'])
        expect(errorOf(await person.api.post(`/auth/${path}-2fa`, {}))).toEqual([
          409,
          'second_factor_enabled',
        ]);
      expect(errorOf(await person.api.post('/auth/initiate-2fa', { password: PASSWORD }))).toEqual([
        409,
        'second_factor_enabled',
      ]);
    });

    test('only with the latest secret, before it expires', async () => {
      const alice = await personWithPassword(app, 'alice');
      const begin = async () =>
        new Authenticator((await alice.api.post('/auth/initiate-2fa', { password: PASSWORD })).body.secret);
      const first = await begin();
      const second = await begin();
      expect(errorOf(await alice.api.post('/auth/enable-2fa', { code: first.code() }))).toEqual([
        422,
        'invalid_code',
      ]);
      await app.sql(
        `UPDATE second_factors SET expires_at = now() - make_interval(secs => 1) WHERE account_id = $1`,
        [alice.id],
      );
      expect(errorOf(await alice.api.post('/auth/enable-2fa', { code: second.code() }))).toEqual([
        409,
        'second_factor_not_initiated',
      ]);
      const third = await begin();
      expect((await alice.api.post('/auth/enable-2fa', { code: third.code() })).status).toBe(200);
    });

    test('not in a session that has ended, before its process knows', async () => {
      const alice = await personWithPassword(app, 'alice');
      const intruder = twin.as((await session(app, alice)).token);
      const { body } = await intruder.post('/auth/initiate-2fa', { password: PASSWORD });
      const changed = await alice.api.put('/settings/password', {
        current_password: PASSWORD,
        new_password: 'seven purple teapots dance',
      });
      expect(changed.status).toBe(200);
      const late = await intruder.post('/auth/enable-2fa', { code: new Authenticator(body.secret).code() });
      expect(errorOf(late)).toEqual([401, 'unauthorized']);
      expect(late.headers.get('www-authenticate')).toContain('invalid_token');
      expect((await alice.api.get('/settings/security')).body.two_factor.enabled).toBe(false);
    });

    test('a pending secret requires no proof', async () => {
      const alice = await personWithPassword(app, 'alice');
      await alice.api.post('/auth/initiate-2fa', { password: PASSWORD });
      const other = await session(app, alice);
      expect((await other.api.get('/notes')).status).toBe(200);
      expect(errorOf(await other.api.post('/auth/verify-2fa', { code: '123456' }))).toEqual([
        409,
        'second_factor_not_enabled',
      ]);
    });
  });

  describe('a session that has not proven it', () => {
    test('may prove it or sign out only', async () => {
      const { person } = await enrolled(app, 'pending');
      const pending = await session(app, person);
      for (const [method, path] of [
        ['GET', '/notes'],
        ['POST', '/notes'],
        ['GET', '/settings/security'],
        ['PUT', '/settings/password'],
        ['GET', '/settings/application-passwords'],
        ['POST', '/settings/application-passwords'],
        ['POST', '/auth/initiate-2fa'],
        ['POST', '/auth/enable-2fa'],
        ['POST', '/auth/disable-2fa'],
        ['POST', '/auth/recovery-codes'],
      ] as const)
        expect([path, errorOf(await pending.api.request(method, path))]).toEqual([
          path,
          [403, 'second_factor_required'],
        ]);
      expect(errorOf(await pending.api.post('/auth/sign-out', { everywhere: true }))).toEqual([
        403,
        'second_factor_required',
      ]);
      expect((await pending.api.post('/auth/sign-out')).status).toBe(200);
      expect(errorOf(await pending.api.post('/auth/verify-2fa', { code: '123456' }))).toEqual([
        401,
        'unauthorized',
      ]);
      expect((await person.api.get('/notes')).status).toBe(200);
    });

    test('has proven it from its next request on, in every process', async () => {
      const { person, authenticator } = await enrolled(app, 'raised');
      const pending = await session(app, person);
      const elsewhere = twin.as(pending.token);
      for (let n = 0; n < 3; n += 1)
        for (const client of [pending.api, elsewhere])
          expect(errorOf(await client.get('/notes'))).toEqual([403, 'second_factor_required']);
      const response = await pending.api.post('/auth/verify-2fa', { code: authenticator.code() });
      expect([response.status, response.body]).toEqual([200, { verified: true, method: 'totp' }]);
      expect((await elsewhere.get('/notes')).status).toBe(200);
      expect((await pending.api.get('/notes')).status).toBe(200);
    });

    test('is any other session after the factor was enabled', async () => {
      const alice = await personWithPassword(app, 'alice');
      const other = await session(app, alice);
      const clients = [other.api, twin.as(other.token)];
      for (const client of clients) expect((await client.get('/notes')).status).toBe(200);
      const { body } = await alice.api.post('/auth/initiate-2fa', { password: PASSWORD });
      await alice.api.post('/auth/enable-2fa', { code: new Authenticator(body.secret).code() });
      expect(errorOf(await other.api.get('/notes'))).toEqual([403, 'second_factor_required']);
      await twin.readAccessChanges();
      await until('the other process', async () => (await clients[1]!.get('/notes')).status === 403);
      expect((await alice.api.get('/notes')).status).toBe(200);
    });

    test('may have no workspace', async () => {
      const { person, authenticator } = await enrolled(app, 'tenantless');
      const pending = await session(app, person, { tenantId: null });
      expect(errorOf(await pending.api.get('/settings/security'))).toEqual([403, 'second_factor_required']);
      expect((await pending.api.post('/auth/verify-2fa', { code: authenticator.code() })).status).toBe(200);
      expect((await pending.api.get('/settings/security')).status).toBe(200);
    });
  });

  describe('codes', () => {
    test('of one step before and after now are valid, others are not', async () => {
      const { person, authenticator } = await enrolled(app, 'window');
      const verify = (code: string) => person.api.post('/auth/verify-2fa', { code });
      expect(errorOf(await verify(authenticator.code(-3)))).toEqual([422, 'invalid_code']);
      expect(errorOf(await verify(authenticator.code(3)))).toEqual([422, 'invalid_code']);
      expect((await verify(authenticator.code(1))).status).toBe(200);
    });

    test('are valid once: not the one that enabled it, nor one older than the last', async () => {
      const { person, authenticator, used } = await enrolled(app, 'replay');
      const verify = (code: string) => person.api.post('/auth/verify-2fa', { code });
      expect(errorOf(await verify(used))).toEqual([422, 'invalid_code']);
      const [now, next] = [authenticator.code(), authenticator.code(1)];
      expect((await verify(next)).status).toBe(200);
      expect(errorOf(await verify(next))).toEqual([422, 'invalid_code']);
      expect(errorOf(await verify(now))).toEqual([422, 'invalid_code']);
    });

    test('sent twice do not lock', async () => {
      const { person, authenticator } = await enrolled(app, 'twice');
      const code = authenticator.code();
      const responses = [];
      for (let n = 0; n < 12; n += 1)
        responses.push((await person.api.post('/auth/verify-2fa', { code })).status);
      expect(responses).toEqual([200, ...Array.from({ length: 11 }, () => 422)]);
      expect((await person.api.post('/auth/verify-2fa', { code: authenticator.code(1) })).status).toBe(200);
    });

    test('of recovery are valid once each, in any typed form', async () => {
      const { person, recoveryCodes } = await enrolled(app, 'recovery');
      const use = (text: string) => person.api.post('/auth/verify-2fa', { recovery_code: text });
      const [one, two, three] = recoveryCodes as [string, string, string];
      expect((await use(one)).body).toEqual({
        verified: true,
        method: 'recovery_code',
        recovery_codes_left: 9,
      });
      expect(errorOf(await use(one))).toEqual([422, 'invalid_code']);
      expect((await use(` ${two.toUpperCase().replace('-', '')} `)).body.recovery_codes_left).toBe(8);
      expect((await use(three.replaceAll('0', 'O').replaceAll('1', 'l'))).body.recovery_codes_left).toBe(7);
      const { body } = await person.api.get('/settings/security');
      expect(body.two_factor.recovery_codes_left).toBe(7);
    });

    test('of another account are invalid', async () => {
      const [one, other] = [await enrolled(app, 'one'), await enrolled(app, 'other')];
      const proofs = [{ code: other.authenticator.code() }, { recovery_code: other.recoveryCodes[0] }];
      for (const proof of proofs)
        expect(errorOf(await one.person.api.post('/auth/verify-2fa', proof))).toEqual([422, 'invalid_code']);
      expect((await other.person.api.post('/auth/verify-2fa', proofs[1])).status).toBe(200);
    });

    test('of another form are rejected and do not count as a guess', async () => {
      const { person } = await enrolled(app, 'nonsense');
      const nonsense = [
        {},
        { code: '123456', recovery_code: 'abcde-fghjk' },
        { code: 123456 },
        { code: null },
        { code: '12345' },
        { code: '1234567' },
        { code: '١٢٣٤٥٦' },
        { code: ['123456'] },
        { recovery_code: 5 },
        { recovery_code: 'x'.repeat(65) },
        [],
        '123456',
      ];
      for (const body of nonsense)
        expect([body, ...errorOf(await person.api.post('/auth/verify-2fa', body))]).toEqual([
          body,
          422,
          'validation_failed',
        ]);
    });
  });

  describe('guessing', () => {
    test('five failures lock the account across its sessions and processes for 15 minutes', async () => {
      const { person, authenticator, recoveryCodes } = await enrolled(app, 'guessed');
      const sessions = [
        (await session(app, person, { aal2: true })).api,
        twin.as((await session(app, person, { aal2: true })).token),
      ];
      for (let n = 0; n < 5; n += 1) {
        const wrong = n % 2 ? { code: authenticator.wrong(n) } : { recovery_code: `0000${n}-00000` };
        expect(errorOf(await sessions[n % 2]!.post('/auth/verify-2fa', wrong))).toEqual([
          422,
          'invalid_code',
        ]);
      }
      for (const [client, proof] of [
        [sessions[0]!, { code: authenticator.code() }],
        [sessions[1]!, { recovery_code: recoveryCodes[0] }],
        [person.api, { code: authenticator.code() }],
      ] as const) {
        const response = await client.post('/auth/verify-2fa', proof);
        expect(errorOf(response)).toEqual([429, 'too_many_attempts']);
        const wait = Number(response.headers.get('retry-after'));
        expect(wait > 850 && wait <= 900).toBe(true);
      }
      expect(
        errorOf(await person.api.post('/auth/disable-2fa', { password: PASSWORD, code: '123456' })),
      ).toEqual([429, 'too_many_attempts']);
      expect(await eventsOf(person)).toContain('security.second_factor_locked');
      expect((await sessions[0]!.get('/notes')).status).toBe(200);
      await endLock();
      expect((await person.api.post('/auth/verify-2fa', { code: authenticator.code() })).status).toBe(200);
    });

    test('the lock ends the sessions that have not proven it', async () => {
      const { person, authenticator } = await enrolled(app, 'ended');
      const [guesser, bystander] = [await session(app, person), await session(app, person)];
      for (let n = 0; n < 4; n += 1)
        expect(errorOf(await guesser.api.post('/auth/verify-2fa', { code: authenticator.wrong(n) }))).toEqual(
          [422, 'invalid_code'],
        );
      const last = await guesser.api.post('/auth/verify-2fa', { code: authenticator.wrong(5) });
      expect(errorOf(last)).toEqual([429, 'too_many_attempts']);
      expect(last.headers.get('retry-after')).toBe('900');
      for (const { token } of [guesser, bystander])
        for (const process of [app, twin])
          expect((await process.as(token).post('/auth/verify-2fa', { code: '123456' })).status).toBe(401);
      expect((await person.api.get('/notes')).status).toBe(200);
    });

    test('the code that enables it cannot be guessed either', async () => {
      const alice = await personWithPassword(app, 'alice');
      const { body } = await alice.api.post('/auth/initiate-2fa', { password: PASSWORD });
      const authenticator = new Authenticator(body.secret);
      for (let n = 0; n < 5; n += 1)
        expect(errorOf(await alice.api.post('/auth/enable-2fa', { code: authenticator.wrong(n) }))).toEqual([
          422,
          'invalid_code',
        ]);
      expect(errorOf(await alice.api.post('/auth/enable-2fa', { code: authenticator.code() }))).toEqual([
        429,
        'too_many_attempts',
      ]);
    });

    test('the password confirmation locks too, apart from the sign-in page', async () => {
      const { person, authenticator } = await enrolled(app, 'password');
      const disable = (password: string) =>
        person.api.post('/auth/disable-2fa', { password, code: authenticator.code() });
      for (let n = 0; n < 5; n += 1)
        expect(errorOf(await disable(`wrong ${n}`))).toEqual([403, 'invalid_password']);
      expect(errorOf(await disable(PASSWORD))).toEqual([429, 'too_many_attempts']);
      const { PasswordSignIn } = await import('../../../src/modules/account-security/index.js');
      const outcome = await app
        .get(PasswordSignIn)
        .verify({ email: person.email, password: PASSWORD, ip: '192.0.2.1' });
      expect(outcome).toMatchObject({ outcome: 'ok', secondFactor: true });
    });

    test('a route under constant requests returns Retry-After', async () => {
      const alice = await personWithPassword(app, 'flood');
      // Sent at once, because the limit regains requests as time passes.
      const responses = await Promise.all(
        Array.from({ length: 100 }, () => alice.api.post('/auth/verify-2fa', { code: '123456' })),
      );
      const limited = responses.filter(({ status }) => status === 429);
      expect(limited.length).toBeGreaterThan(0);
      expect(limited[0]!.body.error).toBe('too_many_requests');
      expect(limited[0]!.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    });
  });

  describe('new recovery codes', () => {
    test('with the password and a proof, replace the old ones', async () => {
      const { person, authenticator, recoveryCodes } = await enrolled(app, 'renewal');
      const renew = (body: object) => person.api.post('/auth/recovery-codes', body);
      const use = (code: string) => person.api.post('/auth/verify-2fa', { recovery_code: code });
      const code = authenticator.code();
      expect(errorOf(await renew({ password: PASSWORD }))).toEqual([422, 'validation_failed']);
      expect(errorOf(await renew({ password: 'wrong', code }))).toEqual([403, 'invalid_password']);
      expect(errorOf(await renew({ password: PASSWORD, code: authenticator.wrong() }))).toEqual([
        422,
        'invalid_code',
      ]);
      expect((await use(recoveryCodes[0]!)).body.recovery_codes_left).toBe(9);
      const { status, body } = await renew({ password: PASSWORD, code });
      expect([status, Object.keys(body)]).toEqual([200, ['recovery_codes']]);
      expect(body.recovery_codes.filter((each: string) => recoveryCodes.includes(each))).toEqual([]);
      expect(new Set(body.recovery_codes).size).toBe(10);
      expect(errorOf(await use(recoveryCodes[1]!))).toEqual([422, 'invalid_code']);
      expect((await use(body.recovery_codes[1])).body.recovery_codes_left).toBe(9);
      expect((await eventsOf(person)).filter((type) => type.includes('codes'))).toEqual([
        'security.recovery_codes_renewed',
      ]);
    });

    test('also with the last of the old ones, which is then used', async () => {
      const { person, recoveryCodes } = await enrolled(app, 'last-code');
      const renew = () =>
        person.api.post('/auth/recovery-codes', { password: PASSWORD, recovery_code: recoveryCodes[9] });
      expect((await renew()).status).toBe(200);
      expect(errorOf(await renew())).toEqual([422, 'invalid_code']);
    });

    test('none without a second factor', async () => {
      const person = await personWithPassword(app, 'no-factor');
      expect(
        errorOf(await person.api.post('/auth/recovery-codes', { password: PASSWORD, code: '123456' })),
      ).toEqual([409, 'second_factor_not_enabled']);
    });
  });

  describe('disabling', () => {
    test('with the password and a code; then no proof is required', async () => {
      const { person, authenticator, recoveryCodes } = await enrolled(app, 'off');
      const off = (body: object) => person.api.post('/auth/disable-2fa', body);
      const code = authenticator.code();
      expect(errorOf(await off({ password: PASSWORD }))).toEqual([422, 'validation_failed']);
      expect(errorOf(await off({ password: 'wrong', code }))).toEqual([403, 'invalid_password']);
      expect(errorOf(await off({ password: PASSWORD, code: authenticator.wrong() }))).toEqual([
        422,
        'invalid_code',
      ]);
      const done = await off({ password: PASSWORD, code });
      expect([done.status, done.body]).toEqual([200, { enabled: false }]);
      expect((await (await session(app, person)).api.get('/notes')).status).toBe(200);
      expect(await eventsOf(person)).toEqual([
        'security.second_factor_enabled',
        'security.second_factor_disabled',
      ]);
      expect(errorOf(await person.api.post('/auth/verify-2fa', { recovery_code: recoveryCodes[0] }))).toEqual(
        [409, 'second_factor_not_enabled'],
      );
      expect((await app.sql('SELECT FROM recovery_codes WHERE account_id = $1', [person.id])).length).toBe(0);
    });

    test('with a recovery code; enabled again, every session must prove it again', async () => {
      const { person, recoveryCodes } = await enrolled(app, 'again');
      const other = await session(app, person, { aal2: true });
      await person.api.post('/auth/disable-2fa', { password: PASSWORD, recovery_code: recoveryCodes[3] });
      const { body } = await person.api.post('/auth/initiate-2fa', { password: PASSWORD });
      const authenticator = new Authenticator(body.secret);
      const on = await person.api.post('/auth/enable-2fa', { code: authenticator.code() });
      expect(on.status).toBe(200);
      expect(errorOf(await other.api.get('/notes'))).toEqual([403, 'second_factor_required']);
      expect(errorOf(await person.api.post('/auth/verify-2fa', { recovery_code: recoveryCodes[4] }))).toEqual(
        [422, 'invalid_code'],
      );
    });
  });

  test('an account without a password cannot confirm', async () => {
    const [bare] = await app.tenant(`bare${Date.now()}`, 'bare');
    expect(errorOf(await bare.api.post('/auth/initiate-2fa', { password: '' }))).toEqual([
      403,
      'invalid_password',
    ]);
    expect(errorOf(await bare.api.post('/auth/initiate-2fa', { password: 'anything' }))).toEqual([
      403,
      'invalid_password',
    ]);
  });
});
