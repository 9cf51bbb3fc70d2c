import { randomBytes, randomUUID } from 'node:crypto';
import type { TestUser } from '../../support/app.ts';
import { GINA, type GuestWorkspace } from '../../support/domains/guest-workspace.ts';

export const endOfAccessTests = (world: GuestWorkspace): void =>
  describe('the end of access', () => {
    const { ok, rejected, browser, newRoom, invite, openLink, guestRow, newGuest, newCall, drain } = world;
    const roomLink = async (room: string, user: TestUser) => {
      const body = { kind: 'link', require_approval: false };
      return ok(await user.api.post(`/chat/rooms/${room}/external_invites`, body), 201).invites[0];
    };

    test('a lock stops codes, claims and tokens, and not the chat', async () => {
      const room = await newRoom();
      const call = await newCall({ room });
      const gina = await newGuest(call);
      const late = browser((await openLink(call, { require_otp: true })).token);
      ok(await world.alice.api.post(`/call/${call}/external/lock`));
      rejected(await late.post('otp', { email: GINA }), 403, 'call_locked');
      rejected(await late.claim({ name: 'x' }), 403, 'call_locked');
      rejected(await gina.post('call_session'), 403, 'call_locked');
      expect(ok(await gina.get('status')).call).toEqual({ live: true, locked: true });
      ok(await gina.get('chat/messages'));
    });

    test('a removed guest stays out of everything, also with a new claim', async () => {
      const room = await newRoom();
      const call = await newCall({ room });
      const gina = await newGuest(call);
      ok(await gina.post('call_session'));
      ok(await world.alice.api.post(`/call/${call}/external/participants/${gina.id}/remove`));
      rejected(await gina.post('call_session'), 403, 'guest_removed');
      rejected(await gina.get('chat/messages'), 403, 'guest_removed');
      rejected(
        await gina.post('chat/messages', { client_msg_id: randomUUID(), body: 'x' }),
        403,
        'guest_removed',
      );
      rejected(await gina.renew(), 403, 'guest_removed');
      // Without an address this is a new guest, who waits for a host: a guest from the network of a removed one always does.
      expect(ok(await browser(gina.token).claim({ name: 'Gina again' }), 201).guest.state).toBe('waiting');
    });

    test('a banned address gets no code and no session', async () => {
      const call = await newCall();
      const gina = browser((await openLink(call, { require_otp: true })).token);
      await world.app.sql(
        `INSERT INTO call_bans (tenant_id, call_id, subject, banned_by) VALUES ($1, $2, $3, $4)`,
        [world.alice.tenantId, call, `email:${GINA}`, world.alice.id],
      );
      await drain();
      const before = world.relay.received.length;
      ok(await gina.post('otp', { email: GINA }), 202);
      await drain();
      expect(world.relay.received).toHaveLength(before);
      rejected(
        await browser((await openLink(call)).token).claim({ name: 'x', email: GINA }),
        403,
        'guest_removed',
      );
    });

    test('a revoked invite ends the access of its guests', async () => {
      const room = await newRoom();
      const call = await newCall({ room });
      const made = await openLink(call);
      const gina = browser(made.token);
      ok(await gina.claim({ name: 'Gina' }), 201);
      ok(await gina.post('call_session'));
      rejected(await world.carol.api.delete(`/call/external_invites/${made.id}`), 404, 'not_found');
      rejected(await world.eve.api.delete(`/call/external_invites/${made.id}`), 404, 'not_found');
      expect(ok(await world.alice.api.delete(`/call/external_invites/${made.id}`)).invite.state).toBe(
        'revoked',
      );
      ok(await world.alice.api.delete(`/call/external_invites/${made.id}`));
      for (const response of [
        await gina.get('status'),
        await gina.post('call_session'),
        await gina.post('otp', { email: GINA }),
        await gina.claim({ name: 'x' }),
        await gina.renew(),
        await gina.get('chat/messages'),
        await gina.post('chat/messages', { client_msg_id: randomUUID(), body: 'x' }),
      ])
        rejected(response, 410, 'invite_revoked');
      expect(await guestRow(gina.id as string)).toMatchObject({ state: 'removed', kick_pending: true });
    });

    test('an invite that is revoked while its creator has no access stays revoked', async () => {
      const room = await newRoom();
      const call = await newCall({ room });
      const made = await invite(call, { kind: 'link', require_approval: false }, world.bob);
      const gina = browser(made.token);
      ok(await gina.claim({ name: 'Gina' }), 201);
      ok(await world.alice.api.delete(`/chat/rooms/${room}/members/${world.bob.id}`));
      rejected(await gina.get('chat/messages'), 410, 'invite_revoked');
      const revoked = ok(await world.alice.api.delete(`/call/external_invites/${made.id}`));
      expect(revoked).toMatchObject({ revoked: true, invite: { state: 'revoked' } });
      ok(await world.alice.api.post(`/chat/rooms/${room}/members`, { user_id: world.bob.id }), 201);
      rejected(await gina.get('chat/messages'), 410, 'invite_revoked');
      rejected(await browser(made.token).claim({ name: 'Gina again' }), 410, 'invite_revoked');
      expect(await guestRow(gina.id as string)).toMatchObject({ state: 'removed' });
    });

    test('an invite ends with the access of its creator, with its time, and a day after the call', async () => {
      const room = await newRoom();
      const call = await newCall({ room });
      const ofBob = browser((await invite(call, { kind: 'link' }, world.bob)).token);
      ok(await ofBob.get('status'));
      ok(await world.alice.api.delete(`/chat/rooms/${room}/members/${world.bob.id}`));
      rejected(await ofBob.get('status'), 410, 'invite_revoked');
      const made = await openLink(call);
      const gina = browser(made.token);
      ok(await gina.claim({ name: 'Gina' }), 201);
      ok(await world.alice.api.post(`/call/${call}/end`));
      rejected(await gina.post('call_session'), 409, 'call_not_live');
      ok(await gina.get('chat/messages'));
      await world.app.sql(`UPDATE calls SET ended_at = now() - interval '25 hours' WHERE id = $1`, [call]);
      rejected(await gina.get('status'), 410, 'invite_expired');
      rejected(await gina.get('chat/messages'), 410, 'invite_expired');
    });

    test('an invite to a room ends while its creator may not moderate the room', async () => {
      const room = await newRoom();
      const setRole = async (role: string) =>
        ok(await world.alice.api.post(`/chat/rooms/${room}/members`, { user_id: world.bob.id, role }), 201);
      await setRole('moderator');
      const gina = browser((await roomLink(room, world.bob)).token);
      ok(await gina.claim({ name: 'Gina' }), 201);
      ok(await gina.get('chat/messages'));
      await setRole('member');
      rejected(await gina.get('chat/messages'), 410, 'invite_revoked');
      rejected(await browser(gina.token).claim({ name: 'Gina again' }), 410, 'invite_revoked');
      await setRole('moderator');
      ok(await gina.get('chat/messages'));
    });

    test('an invite to a room lasts while a permission of its creator moderates all rooms', async () => {
      const body = { type: 'group', name: 'Offsite', member_ids: [world.alice.id, world.carol.id] };
      const room = ok(await world.bob.api.post('/chat/rooms', body), 201).room.id;
      const ofOwner = browser((await roomLink(room, world.alice)).token);
      ok(await ofOwner.get('status'));
      const group = { name: `Moderators ${room}`, permissions: ['chat.rooms.moderate'] };
      const { id } = ok(await world.alice.api.post('/rbac/groups', group), 201).group;
      ok(await world.alice.api.post(`/rbac/groups/${id}/members`, { user_id: world.carol.id }), 201);
      const ofCarol = browser((await roomLink(room, world.carol)).token);
      ok(await ofCarol.get('status'));
      ok(await world.alice.api.delete(`/rbac/groups/${id}/members/${world.carol.id}`));
      rejected(await ofCarol.get('status'), 410, 'invite_revoked');
    });

    test('the policy of a call holds for the invites of a former moderator', async () => {
      const room = await newRoom();
      const setRole = async (role: string) =>
        ok(await world.alice.api.post(`/chat/rooms/${room}/members`, { user_id: world.bob.id, role }), 201);
      await setRole('moderator');
      const call = await newCall({ room });
      const link = await invite(call, { kind: 'link', require_approval: false }, world.bob);
      const fields = { emails: [GINA], require_approval: false, require_otp: false, send_email: false };
      const personal = await invite(call, fields, world.bob);
      const requires = async ({ token }: { token: string }) =>
        ok(await browser(token).get('status')).invite.requires;
      expect(await requires(personal)).toMatchObject({ otp: false, approval: false });
      await setRole('member');
      expect(await requires(link)).toMatchObject({ otp: false, approval: true });
      expect(await requires(personal)).toMatchObject({ otp: true, approval: true });
      expect(ok(await browser(link.token).claim({ name: 'Gina' }), 201).guest.state).toBe('waiting');
    });

    test('unknown and garbled tokens have one response', async () => {
      const tokens = [
        'x',
        'A'.repeat(64),
        `${'-'.repeat(63)}w`,
        randomBytes(48).toString('base64url'),
        '..%2f..',
      ];
      const bodies = new Set<string>();
      for (const token of tokens)
        for (const response of [
          await browser(token).get('status'),
          await browser(token).post('otp', { email: GINA }),
          await browser(token).claim({ name: 'x' }),
          await browser(token).post('call_session'),
          await browser(token).post('session/leave'),
          await browser(token).renew('x'),
          await browser(token).post('livestream_join', {}),
        ]) {
          rejected(response, 404, 'invite_not_found');
          bodies.add(response.text);
        }
      expect(bodies.size).toBe(1);
    });

    test('a link has a number of uses, exact with parallel claims', async () => {
      const { token } = await openLink(await newCall(), { max_uses: 3 });
      const all = await Promise.all(
        Array.from({ length: 10 }, (_, n) => browser(token).claim({ name: `Guest ${n}` })),
      );
      expect(all.filter(({ status }) => status === 201)).toHaveLength(3);
      expect(all.filter(({ status }) => status === 410).map(({ body }) => body.error)).toEqual(
        Array(7).fill('invite_exhausted'),
      );
    });
  });
