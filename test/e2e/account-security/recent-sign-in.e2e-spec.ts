import { TestApp, type TestUser } from '../../support/app.ts';
import { session } from '../../support/sign-in/account.ts';
import { secondFactorOf } from '../../support/sign-in/sign-in.ts';
import { stopClock } from '../../support/sign-in/totp.ts';

describe('an account without a password', () => {
  let app: TestApp;
  let n = 0;

  beforeAll(async () => {
    stopClock();
    app = await TestApp.start();
  });
  afterAll(() => app?.stop());

  /** Owner and member of a new workspace. Their accounts have no passwords. */
  const users = () => app.tenant(`bare${(n += 1)}`, 'ann', 'bob');
  /** Moves the sign-in of all sessions of an account into the past. */
  const age = ({ id }: TestUser, interval = '11 minutes') =>
    app.sql('UPDATE sessions SET created_at = created_at - $2::interval WHERE account_id = $1', [
      id,
      interval,
    ]);
  const ACTIONS = {
    'the options of a passkey': ({ api }: TestUser) => api.post('/settings/security/passkeys/options', {}),
    'the page of passkeys': ({ api }: TestUser) => api.post('/settings/security/passkeys/page', {}),
    'an export of personal data': ({ api }: TestUser) => api.post('/settings/export', {}),
    'leaving the workspace': ({ api }: TestUser) => api.delete('/settings/profile', {}),
  };

  test.each(Object.entries(ACTIONS))('%s needs a sign-in of the last ten minutes', async (_, act) => {
    const [, bob] = await users();
    await age(bob);
    const { status, body } = await act(bob);
    expect([status, body.error]).toEqual([403, 'recent_sign_in_required']);
    // A second sign-in of the user does not help the bearer of the first token.
    const again = await session(app, bob);
    expect((await act(bob)).status).toBe(403);
    expect([200, 202]).toContain((await act(again)).status);
  });

  test.each(Object.entries(ACTIONS))(
    '%s: an ended session is no proof, before its process knows',
    async (_, act) => {
      const [, bob] = await users();
      expect((await bob.api.get('/settings/profile')).status).toBe(200);
      await app.sql('UPDATE sessions SET revoked_at = now() WHERE account_id = $1', [bob.id]);
      const { status, body } = await act(bob);
      expect([status, body.error]).toEqual([403, 'recent_sign_in_required']);
    },
  );

  test('an address is never changed by a sign-in alone', async () => {
    const [, bob] = await users();
    for (const interval of ['0 s', '11 minutes']) {
      await age(bob, interval);
      const { body } = await bob.api.put('/settings/email', { email: 'thief@far.example' });
      expect(body.error).toBe('invalid_password');
    }
  });

  test('with a second factor, a code is the proof, however old the sign-in is', async () => {
    const [, bob] = await users();
    const { authenticator } = await secondFactorOf(app, bob.id);
    await app.sql('UPDATE sessions SET aal2_at = now() - interval $$1 hour$$ WHERE account_id = $1', [
      bob.id,
    ]);
    await app.readAccessChanges();
    await age(bob, '1 hour');
    const without = await bob.api.post('/settings/export', {});
    expect([without.status, without.body.error]).toEqual([403, 'second_factor_required']);
    expect((await bob.api.post('/settings/export', { code: authenticator.code() })).status).toBe(202);
  });
});
