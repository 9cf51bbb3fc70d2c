import { jest } from '@jest/globals';
import { PasswordSignIn, type SignInOutcome } from '../../../src/modules/account-security/index.js';
import { Passwords } from '../../../src/modules/identity/index.js';
import { Errors } from '../../../src/platform/http/errors.js';
import { provision } from '../../../src/provision/provision.js';
import { TestApp } from '../../support/app.ts';

const PASSWORD = 'correct horse battery staple';

describe('verifying a password at sign-in', () => {
  let app: TestApp;
  let twin: TestApp;

  beforeAll(async () => {
    app = await TestApp.start({ SIGN_IN_PER_MINUTE: '100000' });
    twin = await TestApp.start({ SIGN_IN_PER_MINUTE: '100000' }, app.databaseUrl);
  });
  afterAll(async () => {
    await twin?.stop();
    await app?.stop();
  });

  const account = async (name: string, password: string | undefined = PASSWORD) => {
    const email = `${name}@acme.example`;
    const { users } = await provision(app.served.nest, { accounts: [{ email, name, password }] });
    return { id: users[0]!.id, email };
  };
  const attempt = (email: string, password: string, on = app, ip = '192.0.2.1'): Promise<SignInOutcome> =>
    on.get(PasswordSignIn).verify({ email, password, ip });

  test('returns the account for any spelling of the address', async () => {
    const { id, email } = await account('alice');
    for (const typed of [email, ` ${email.toUpperCase()} `])
      expect(await attempt(typed, PASSWORD)).toEqual({
        outcome: 'ok',
        accountId: id,
        email,
        displayName: 'alice',
        secondFactor: false,
        passwordChangedAt: null,
      });
  });

  test('rejects alike an incorrect password, an unknown address, no password, a closed account and invalid input', async () => {
    const { email } = await account('bob');
    const closed = await account('carol');
    await app.sql(`UPDATE accounts SET status = 'deactivated' WHERE id = $1`, [closed.id]);
    const bare = await account('dave', undefined);
    await app.sql('UPDATE accounts SET password_hash = NULL WHERE id = $1', [bare.id]);
    for (const [who, password] of [
      [email, 'wrong'],
      [email, ''],
      ['nobody@acme.example', PASSWORD],
      [closed.email, PASSWORD],
      [bare.email, PASSWORD],
      [bare.email, ''],
      ['', ''],
      ['\0', PASSWORD],
      ['\ud800', '\ud800'],
      [`${'x'.repeat(400)}@acme.example`, PASSWORD],
      [email, 'x'.repeat(5_000)],
    ] as const)
      expect([who, await attempt(who, password)]).toEqual([who, { outcome: 'rejected' }]);
  });

  test.each(['known', 'unknown'])(
    'ten incorrect passwords lock a %s address in every process',
    async (kind) => {
      const email = kind === 'known' ? (await account('erin')).email : 'nobody-at-all@acme.example';
      const outcomes = await Promise.all(
        Array.from({ length: 30 }, (_, n) => attempt(email, `wrong ${n}`, n % 2 ? app : twin)),
      );
      const rejected = outcomes.filter(({ outcome }) => outcome === 'rejected');
      expect([rejected.length, outcomes.length - rejected.length]).toEqual([10, 20]);
      for (const process of [app, twin]) {
        const locked = await attempt(email, PASSWORD, process);
        expect(locked).toEqual({ outcome: 'limited', wait: expect.any(Number) });
        expect((locked as { wait: number }).wait).toBeGreaterThan(800);
      }
    },
  );

  test('passwords that cannot be compared, because too many are queued, lock no address', async () => {
    const { email } = await account('olga');
    const full = jest.spyOn(app.get(Passwords), 'verify').mockRejectedValue(Errors.overloaded.with());
    try {
      for (let n = 0; n < 10; n += 1)
        await expect(attempt(email, PASSWORD)).rejects.toMatchObject({ kind: Errors.overloaded });
    } finally {
      full.mockRestore();
    }
    expect((await attempt(email, PASSWORD)).outcome).toBe('ok');
  });

  describe('locks', () => {
    const fail = async (email: string, count: number, ip: string, knownBrowser: string | null = null) => {
      for (let n = 0; n < count; n += 1)
        await app.get(PasswordSignIn).verify({ email, password: `wrong ${n}`, ip, knownBrowser });
    };
    const signIn = async (email: string, ip: string, knownBrowser: string | null = null) =>
      (await app.get(PasswordSignIn).verify({ email, password: PASSWORD, ip, knownBrowser })).outcome;

    test('apply to the network of the failures, then to all networks; a known browser has its own', async () => {
      const { email } = await account('heidi');
      await fail(email, 10, '198.51.100.1');
      expect(await signIn(email, '198.51.100.1')).toBe('limited');
      expect(await signIn(email, '198.51.100.2')).toBe('ok');
      for (let n = 1; n <= 6; n += 1) await fail(email, 9, `203.0.113.${n}`);
      expect(await signIn(email, '198.51.100.3')).toBe('limited');
      expect(await signIn(email, '198.51.100.3', 'known')).toBe('ok');
      expect(await signIn(email, '203.0.113.1', 'known')).toBe('ok');
      expect(await signIn(email, '198.51.100.3')).toBe('limited');
    });

    test('a known browser is locked by its own failures only', async () => {
      const { email } = await account('ivan');
      await fail(email, 10, '198.51.100.1', 'first');
      expect(await signIn(email, '198.51.100.1', 'first')).toBe('limited');
      expect(await signIn(email, '198.51.100.1', 'second')).toBe('ok');
      expect(await signIn(email, '198.51.100.1')).toBe('ok');
    });

    test('an attempt that a lock rejects is no failure of its network', async () => {
      const { email } = await account('judith');
      for (let n = 1; n <= 6; n += 1) await fail(email, 9, `203.0.113.${n}`);
      await fail(email, 12, '198.51.100.7');
      expect(await signIn(email, '198.51.100.7')).toBe('limited');
      await app.sql(
        `UPDATE guess_locks SET locked_until = now() - make_interval(secs => 1) WHERE purpose = 'sign-in-anywhere'`,
      );
      expect(await signIn(email, '198.51.100.7')).toBe('ok');
    });

    test('failures and locks are in the audit log of the workspace; an unknown address is not stored', async () => {
      const [owner, judy] = await app.tenant('watched', 'owner', 'judy');
      await fail(judy.email, 10, '198.51.100.9');
      const { body } = await owner.api.get(`/tenant/audit?object_kind=user&object_id=${judy.id}&limit=50`);
      const signIns = body.events.filter(({ action }: any) => action.startsWith('identity.sign_in.'));
      expect(signIns.filter(({ action }: any) => action === 'identity.sign_in.failed')).toHaveLength(10);
      expect(signIns[0]).toMatchObject({
        action: 'identity.sign_in.locked',
        ip: '198.51.100.9',
        actor_id: null,
        data: { factor: 'password', scope: 'network' },
      });
      await attempt('nobody-here@acme.example', 'x', app, '198.51.100.10');
      const [entry] = await app.sql(`SELECT * FROM audit_log WHERE ip = '198.51.100.10'`);
      expect(entry).toMatchObject({ action: 'identity.sign_in.failed', object_id: null });
      expect(JSON.stringify(await app.sql('SELECT * FROM audit_log'))).not.toContain('nobody-here');
    });
  });

  test('the lock expires, and success resets the failures', async () => {
    const { id, email } = await account('frank');
    for (let n = 0; n < 10; n += 1) await attempt(email, 'wrong');
    expect((await attempt(email, PASSWORD)).outcome).toBe('limited');
    await app.sql(`UPDATE guess_locks SET locked_until = now() - interval '1 second'`);
    expect(await attempt(email, PASSWORD)).toMatchObject({ outcome: 'ok', accountId: id });
    for (let round = 0; round < 2; round += 1) {
      for (let n = 0; n < 9; n += 1) expect((await attempt(email, 'wrong')).outcome).toBe('rejected');
      expect((await attempt(email, PASSWORD)).outcome).toBe('ok');
    }
  });

  test('a hash with outdated parameters is replaced', async () => {
    const { id, email } = await account('grace');
    const { hash } = await import('@node-rs/argon2');
    await app.sql('UPDATE accounts SET password_hash = $2 WHERE id = $1', [
      id,
      await hash(PASSWORD, { memoryCost: 1024, timeCost: 1 }),
    ]);
    expect((await attempt(email, PASSWORD)).outcome).toBe('ok');
    const [{ password_hash: phc }] = (await app.sql('SELECT password_hash FROM accounts WHERE id = $1', [
      id,
    ])) as [{ password_hash: string }];
    expect(phc).toMatch(/^\$argon2id\$v=19\$m=7168,t=5,p=1\$/);
    expect((await attempt(email, PASSWORD)).outcome).toBe('ok');
  });

  test('attempts are limited per network, for any addresses', async () => {
    const strict = await TestApp.start({ SIGN_IN_PER_MINUTE: '3' }, app.databaseUrl);
    try {
      const tries = [];
      for (let n = 0; n < 5; n += 1)
        tries.push(await attempt(`x${n}@acme.example`, 'x', strict, `2001:db8:0:1::${n + 1}`));
      expect(tries.map(({ outcome }) => outcome)).toEqual([
        'rejected',
        'rejected',
        'rejected',
        'limited',
        'limited',
      ]);
      expect((await attempt('x@acme.example', 'x', strict, '2001:db8:0:2::1')).outcome).toBe('rejected');
    } finally {
      await strict.stop();
    }
  });
});
