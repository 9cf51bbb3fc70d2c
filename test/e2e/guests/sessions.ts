import { type GuestWorkspace } from '../../support/domains/guest-workspace.ts';

export const sessionsTests = (world: GuestWorkspace): void =>
  describe('sessions', () => {
    const { ok, rejected, browser, openLink, newGuest, newCall } = world;
    test('the use of any earlier guest token ends all sessions, also after several renewals', async () => {
      const gina = await newGuest(await newCall());
      const first = gina.guestToken;
      ok(await gina.renew());
      ok(await gina.renew());
      rejected(await gina.renew(first), 401, 'session_reused');
      rejected(await gina.post('call_session'), 401, 'guest_session_required');
      rejected(await gina.renew(), 401, 'guest_token_invalid');
    });

    test('of parallel renewals with one token one succeeds, and the family ends', async () => {
      const gina = await newGuest(await newCall());
      const token = gina.guestToken;
      const all = await Promise.all([1, 2, 3, 4, 5].map(() => browser(gina.token).renew(token)));
      expect(all.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401]);
    });

    test('a session is valid for 15 minutes, and for its own invite', async () => {
      const call = await newCall();
      const gina = await newGuest(call);
      const other = browser((await openLink(call)).token);
      other.session = gina.session;
      rejected(await other.post('call_session'), 401, 'guest_session_required');
      rejected(await other.renew(gina.guestToken), 401, 'guest_token_invalid');
      await world.app.sql(
        `UPDATE guests SET session_expires_at = now() - make_interval(secs => 1) WHERE id = $1`,
        [gina.id],
      );
      rejected(await gina.post('call_session'), 401, 'guest_session_required');
      ok(await gina.renew());
      ok(await gina.post('call_session'));
    });

    test('tokens are stored as hashes only', async () => {
      const call = await newCall();
      const { token } = await openLink(call);
      const gina = browser(token);
      ok(await gina.claim({ name: 'Gina' }), 201);
      const rows = JSON.stringify([
        await world.app.sql(`SELECT * FROM guests`),
        await world.app.sql(`SELECT * FROM external_invites`),
      ]);
      for (const secret of [token, gina.session, gina.guestToken]) expect(rows).not.toContain(secret);
    });
  });
