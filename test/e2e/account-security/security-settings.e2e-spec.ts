import { SessionActivity } from '../../../src/modules/identity/sessions/sessions.repository.js';
import { Db } from '../../../src/platform/database/db.js';
import { acceptApplicationPasswords } from '../../support/sign-in/application-passwords.ts';
import { enrolled, PASSWORD, personWithPassword, session } from '../../support/sign-in/account.ts';
import { type TestUser, TestApp } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { stopClock } from '../../support/sign-in/totp.ts';
import { until } from '../../support/until.ts';
import { leastTrips } from '../../support/database/round-trips.ts';

const errorOf = ({ status, body }: ApiResponse) => [status, body?.error];
const UNKNOWN = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';

describe('security settings of an account', () => {
  let app: TestApp;
  let twin: TestApp;

  beforeAll(async () => {
    stopClock();
    app = await TestApp.start();
    twin = await TestApp.start({}, app.databaseUrl);
    acceptApplicationPasswords(app);
  });
  afterAll(async () => {
    await twin?.stop();
    await app?.stop();
  });

  const read = async ({ api }: TestUser) => (await api.get('/settings/security')).body;
  const isOver = async (token: string) => {
    expect((await app.as(token).get('/notes')).status).toBe(401);
    await twin.readAccessChanges();
    await until('the other process', async () => (await twin.as(token).get('/notes')).status === 401);
  };

  test('a new account', async () => {
    const alice = await personWithPassword(app, 'alice');
    expect(await read(alice)).toEqual({
      managed_externally: false,
      two_factor: { enabled: false, since: null, recovery_codes_left: 0 },
      passkeys: 0,
      password_changed_at: null,
      application_passwords: 0,
      application_password_protocols: ['imap', 'pop3', 'smtp', 'caldav', 'carddav'],
      sessions: [
        {
          id: expect.any(String),
          current: true,
          created_at: expect.any(String),
          last_seen: null,
          expires_at: expect.any(String),
          client: 'workspace-cli',
          ua: null,
          ip: null,
          second_factor: false,
        },
      ],
      // The events of their token and of their membership.
      recent_events: [
        expect.objectContaining({ action: 'identity.token.issued' }),
        expect.objectContaining({ action: 'rbac.role.set' }),
      ],
    });
  });

  test('sessions: this one first, then by last use, of every workspace, without ended ones', async () => {
    const alice = await personWithPassword(app, 'alice');
    const phone = await session(app, alice, { userAgent: 'Phone/1.0' });
    const tenantless = await session(app, alice, { tenantId: null });
    const ended = await session(app, alice);
    await ended.api.post('/auth/sign-out');
    await app.sql(
      `UPDATE sessions SET last_seen_at = now() + interval '1 minute' WHERE user_agent = 'Phone/1.0'`,
    );
    const { sessions } = await read(alice);
    expect(sessions.map(({ current, ua }: any) => [current, ua])).toEqual([
      [true, null],
      [false, 'Phone/1.0'],
      [false, null],
    ]);
    for (const client of [phone, tenantless]) {
      const seen = (await read(client)).sessions;
      expect(seen.map(({ id }: any) => id).toSorted()).toEqual(sessions.map(({ id }: any) => id).toSorted());
      expect(seen[0].current).toBe(true);
      expect(seen[0].id).not.toBe(sessions[0].id);
    }
  });

  test('the last use of a session is written once a minute, not with each request', async () => {
    const alice = await personWithPassword(app, 'alice');
    const { api } = alice;
    await api.get('/notes');
    const activity = app.get<SessionActivity>(SessionActivity);
    await activity.flush();
    expect(await leastTrips(app.get<Db>(Db), () => api.get('/notes'))).toBe(1);
    const flushes = await leastTrips(app.get<Db>(Db), async () => {
      await api.get('/notes');
      await api.get('/notes');
      await activity.flush();
      await activity.flush();
    });
    expect(flushes).toBe(3);
    const { sessions } = await read(alice);
    expect(sessions[0].last_seen).toMatch(/:00\.000Z$/);
  });

  test('recent events, newest first, without data', async () => {
    const { person, recoveryCodes } = await enrolled(app, 'alice');
    await person.api.post('/auth/verify-2fa', { recovery_code: recoveryCodes[0] });
    await person.api.post('/settings/application-passwords', { description: 'hidden', scopes: ['imap'] });
    const { body, text } = await person.api.get('/settings/security');
    expect(body.recent_events.map(({ action }: any) => action)).toEqual([
      'security.application_password_created',
      'security.recovery_code_used',
      'security.second_factor_enabled',
      'identity.token.issued',
      'rbac.role.set',
    ]);
    expect(body.recent_events[0].ip).toBe('127.0.0.1');
    expect(body.two_factor.recovery_codes_left).toBe(9);
    expect(text).not.toContain('hidden');
  });

  describe('ends', () => {
    test('one session', async () => {
      const alice = await personWithPassword(app, 'alice');
      const other = await session(app, alice);
      for (const each of [app, twin]) expect((await each.as(other.token).get('/notes')).status).toBe(200);
      const id = (await read(alice)).sessions[1].id;
      const response = await alice.api.delete(`/settings/security/sessions/${id}`);
      expect([response.status, response.body]).toEqual([200, { deleted: true }]);
      await isOver(other.token);
      expect((await alice.api.get('/notes')).status).toBe(200);
      expect(errorOf(await alice.api.delete(`/settings/security/sessions/${id}`))).toEqual([
        404,
        'not_found',
      ]);
    });

    test('no session of another account', async () => {
      const [alice, bob] = [await personWithPassword(app, 'alice'), await personWithPassword(app, 'bob')];
      const id = (await read(bob)).sessions[0].id;
      for (const each of [id, UNKNOWN])
        expect(errorOf(await alice.api.delete(`/settings/security/sessions/${each}`))).toEqual([
          404,
          'not_found',
        ]);
      expect(errorOf(await alice.api.delete('/settings/security/sessions/x'))).toEqual([422, 'invalid_id']);
      expect((await bob.api.get('/notes')).status).toBe(200);
    });

    test('this session: signed out', async () => {
      const alice = await personWithPassword(app, 'alice');
      const other = await session(app, alice);
      for (const each of [app, twin]) expect((await each.as(alice.token).get('/notes')).status).toBe(200);
      const response = await alice.api.post('/auth/sign-out');
      expect([response.status, response.body]).toEqual([200, { signed_out: true, sessions_ended: 1 }]);
      await isOver(alice.token);
      expect((await other.api.get('/notes')).status).toBe(200);
    });

    test('all sessions: signed out everywhere', async () => {
      const alice = await personWithPassword(app, 'alice');
      const others = [await session(app, alice), await session(app, alice, { tenantId: null })];
      for (const { token } of others) await twin.as(token).get('/settings/security');
      const response = await alice.api.post('/auth/sign-out', { everywhere: true });
      expect(response.body).toEqual({ signed_out: true, sessions_ended: 3 });
      for (const { token } of [alice, ...others]) await isOver(token);
      expect((await (await session(app, alice)).api.get('/notes')).status).toBe(200);
    });

    test('nothing for invalid input', async () => {
      const alice = await personWithPassword(app, 'alice');
      for (const body of [{ everywhere: 'yes' }, { everywhere: null }, [], 'x'])
        expect(errorOf(await alice.api.post('/auth/sign-out', body))).toEqual([422, 'validation_failed']);
      expect((await alice.api.get('/notes')).status).toBe(200);
    });
  });

  test('the check of the second factor costs nothing: one round trip for a read', async () => {
    const { person } = await enrolled(app, 'cheap');
    await person.api.get('/notes');
    expect(await leastTrips(app.get<Db>(Db), () => person.api.get('/notes'))).toBe(1);
  });

  test('an operator resets lost credentials', async () => {
    const { AccountRecovery } = await import('../../../src/modules/account-security/index.js');
    const { person } = await enrolled(app, 'lost');
    const pending = await session(app, person);
    expect((await pending.api.get('/notes')).status).toBe(403);
    const recovery = app.get<InstanceType<typeof AccountRecovery>>(AccountRecovery);
    expect(await recovery.removeSecondFactor(person.id)).toBe(true);
    expect(await recovery.removeSecondFactor(person.id)).toBe(false);
    expect((await pending.api.get('/notes')).status).toBe(200);
    expect((await pending.api.post('/auth/initiate-2fa', { password: PASSWORD })).status).toBe(200);
    await expect(recovery.setPassword(person.id, 'password')).rejects.toMatchObject({
      kind: { code: 'weak_password' },
    });
    await recovery.setPassword(person.id, 'seven purple teapots dance');
    await app.readAccessChanges();
    await until('the end of the session', async () => (await pending.api.get('/notes')).status === 401);
  });
});
