import { acceptApplicationPasswords } from '../support/sign-in/application-passwords.ts';
import { enrolled, PASSWORD, personWithPassword, session } from '../support/sign-in/account.ts';
import { TestApp, type TestUser } from '../support/app.ts';
import type { Client } from '../support/network/client.ts';
import { Authenticator, stopClock } from '../support/sign-in/totp.ts';

/** Two applications on one database, so that locks in memory have no effect. */
describe('concurrent requests to two processes', () => {
  let one: TestApp;
  let two: TestApp;

  beforeAll(async () => {
    stopClock();
    one = await TestApp.start();
    two = await TestApp.start({}, one.databaseUrl);
    acceptApplicationPasswords(one, two);
  });
  afterAll(async () => {
    await two?.stop();
    await one?.stop();
  });

  const both = ({ token }: TestUser): Client[] => [one.as(token), two.as(token)];
  const race = async (clients: Client[], times: number, path: string, body: (n: number) => object) =>
    (
      await Promise.all(
        Array.from({ length: times }, (_, n) => clients[n % clients.length]!.post(path, body(n))),
      )
    ).map(({ status }) => status);
  const count = (statuses: number[], ...of: number[]) => statuses.filter((each) => of.includes(each)).length;

  test('one code ten times: it is valid once, and does not lock', async () => {
    const { person: user, authenticator } = await enrolled(one, 'alice');
    const sessions = [await session(one, user), await session(one, user)];
    const clients = sessions.flatMap(both);
    const code = authenticator.code();
    const statuses = await race(clients, 10, '/auth/verify-2fa', () => ({ code }));
    expect([count(statuses, 200), count(statuses, 422, 429)]).toEqual([1, 9]);
    const raised = await one.sql('SELECT id FROM sessions WHERE account_id = $1 AND aal2_at IS NOT NULL', [
      user.id,
    ]);
    expect(raised).toHaveLength(2);
    const next = await user.api.post('/auth/verify-2fa', { code: authenticator.code(1) });
    expect(next.status).toBe(200);
  });

  test('one recovery code five times: it is valid once', async () => {
    const { person: user, recoveryCodes } = await enrolled(one, 'bob');
    const statuses = await race(both(user), 5, '/auth/verify-2fa', () => ({
      recovery_code: recoveryCodes[0],
    }));
    expect([count(statuses, 200), count(statuses, 422, 429)]).toEqual([1, 4]);
    expect((await user.api.get('/settings/security')).body.two_factor.recovery_codes_left).toBe(9);
  });

  test('20 incorrect codes: at most five are verified', async () => {
    const { person: user, authenticator } = await enrolled(one, 'carol');
    const statuses = await race(both(user), 20, '/auth/verify-2fa', (n) => ({
      code: authenticator.wrong(n),
    }));
    expect([count(statuses, 422), count(statuses, 429)]).toEqual([5, 15]);
  });

  test('20 incorrect codes of an unproven session: at most five, and it ends', async () => {
    const { person: user, authenticator } = await enrolled(one, 'dave');
    const pending = await session(one, user);
    const statuses = await race(both(pending), 20, '/auth/verify-2fa', (n) => ({
      code: authenticator.wrong(n),
    }));
    expect(count(statuses, 422)).toBeLessThanOrEqual(4);
    expect(count(statuses, 422, 429, 401)).toBe(20);
    for (const client of both(pending))
      expect((await client.post('/auth/verify-2fa', { code: '123456' })).status).toBe(401);
  });

  test('the enabling code ten times: one set of recovery codes is returned', async () => {
    const user = await personWithPassword(one, 'erin');
    const { body } = await user.api.post('/auth/initiate-2fa', { password: PASSWORD });
    const code = new Authenticator(body.secret).code();
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, n) => both(user)[n % 2]!.post('/auth/enable-2fa', { code })),
    );
    const good = responses.filter(({ status }) => status === 200);
    expect(good).toHaveLength(1);
    const [recovery] = good[0]!.body.recovery_codes;
    const response = await user.api.post('/auth/verify-2fa', { recovery_code: recovery });
    expect(response.body).toMatchObject({ verified: true, recovery_codes_left: 9 });
  });

  test('enabling during a new enrolment: the enabled secret is active', async () => {
    const user = await personWithPassword(one, 'frank');
    const { body } = await user.api.post('/auth/initiate-2fa', { password: PASSWORD });
    const authenticator = new Authenticator(body.secret);
    const [enable, ...begun] = await Promise.all([
      both(user)[0]!.post('/auth/enable-2fa', { code: authenticator.code() }),
      ...Array.from({ length: 4 }, (_, n) =>
        both(user)[n % 2]!.post('/auth/initiate-2fa', { password: PASSWORD }),
      ),
    ]);
    if (enable.status === 200) {
      const proof = { code: authenticator.code(1) };
      expect((await user.api.post('/auth/verify-2fa', proof)).status).toBe(200);
    } else {
      expect([409, 422]).toContain(enable.status);
      expect(begun.map(({ status }) => status)).toContain(200);
      expect((await user.api.post('/auth/verify-2fa', { code: '123456' })).status).toBe(409);
    }
  });

  test('ten application passwords beside 49: one is created', async () => {
    const user = await personWithPassword(one, 'grace');
    const make = (client: Client) =>
      client.post('/settings/application-passwords', { description: 'x', scopes: ['imap'] });
    for (let n = 0; n < 49; n += 1) expect((await make(user.api)).status).toBe(201);
    const statuses = (await Promise.all(Array.from({ length: 10 }, (_, n) => make(both(user)[n % 2]!)))).map(
      ({ status }) => status,
    );
    expect([count(statuses, 201), count(statuses, 422)]).toEqual([1, 9]);
    const { body } = await user.api.get('/settings/application-passwords?limit=200');
    expect(body.application_passwords).toHaveLength(50);
  });

  test('60 application passwords: 50 are created', async () => {
    const user = await personWithPassword(one, 'heidi');
    const statuses = await race(both(user), 60, '/settings/application-passwords', () => ({
      description: 'x',
      scopes: ['imap'],
    }));
    expect([count(statuses, 201), count(statuses, 422)]).toEqual([50, 10]);
  });

  test('five changes of one password: one succeeds', async () => {
    const user = await personWithPassword(one, 'ivan');
    const responses = await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        both(user)[n % 2]!.put('/settings/password', {
          current_password: PASSWORD,
          new_password: `seven purple teapots ${n}`,
        }),
      ),
    );
    const statuses = responses.map(({ status }) => status);
    expect([count(statuses, 200), count(statuses, 403, 429)]).toEqual([1, 4]);
  });
});
