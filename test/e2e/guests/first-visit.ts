import { randomUUID } from 'node:crypto';
import { GINA, MARKER, type GuestWorkspace } from '../../support/domains/guest-workspace.ts';
import { claimsOf, codeOf, type GuestBrowser } from '../../support/domains/guests.ts';
import { TestSocket } from '../../support/network/socket.ts';

/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export const firstVisitTests = (world: GuestWorkspace): void =>
  describe('the journey', () => {
    const { browser, drain, invite, newCall, newRoom, ok, openLink, rejected, review, say } = world;
    test('from an invite by mail to a token, a message and the end', async () => {
      const room = await newRoom();
      await say(room, `before the guest ${MARKER}`);
      const call = await newCall({ room });
      const socket = await TestSocket.open(world.app, world.alice);
      const made = await invite(call, {
        emails: [' Gina@Partner.Example\u200b'],
        message: 'Bring the figures.',
      });
      expect(made).toMatchObject({
        target: { kind: 'call', id: call },
        kind: 'personal',
        email: GINA,
        state: 'active',
        require_otp: true,
        require_approval: true,
        chat_allowed: true,
        uses: 0,
        max_uses: 1,
      });
      await drain();
      expect(world.relay.received.at(-1)).toMatchObject({ to: [GINA] });
      const gina = browser(made.token);

      const status = ok(await gina.get('status'));
      expect(status).toEqual({
        invite: {
          kind: 'personal',
          target_kind: 'call',
          role: 'guest',
          title: 'Quarterly review',
          tenant: { name: 'acme', logo_url: null },
          starts_at: expect.any(String),
          requires: { otp: true, approval: true, name: true },
          chat_allowed: true,
          state: 'active',
        },
        call: { live: true, locked: false },
        poll_after: 3,
      });
      rejected(await gina.claim({ name: 'Gina' }), 422, 'validation_failed');
      const sent = world.relay.received.length;
      const accepted = await gina.post('otp', { email: GINA, locale: 'de-AT' });
      expect(ok(accepted, 202)).toEqual({ sent: true, expires_in: 600, resend_after: 60 });
      expect(accepted.headers.get('cache-control')).toContain('no-store');
      expect(accepted.headers.get('referrer-policy')).toBe('no-referrer');
      const code = await codeOf(world.app, world.relay, GINA, sent);
      const claimed = ok(await gina.claim({ name: ' Gina\u200b  Guest\u202e ', email: GINA, code }), 201);
      expect(claimed.guest).toEqual({ id: gina.id, state: 'waiting', name: 'Gina Guest' });

      const { approval } = await socket.next('guest.waiting');
      expect(approval).toMatchObject({
        id: gina.id,
        kind: 'guest',
        state: 'waiting',
        guest: { name: 'Gina Guest', email: GINA, email_verified: true },
        call_id: call,
      });
      expect(ok(await gina.post('call_session'), 202)).toEqual({ state: 'waiting', poll_after: 3 });
      rejected(await gina.get('chat/messages'), 403, 'guest_waiting');
      rejected(await review(gina.id as string, 'approve', world.carol), 404, 'not_found');
      rejected(await review(gina.id as string, 'approve', world.eve), 404, 'not_found');
      expect(ok(await review(gina.id as string, 'approve')).approval).toMatchObject({ state: 'approved' });
      ok(await review(gina.id as string, 'approve'));
      expect(
        rejected(await review(gina.id as string, 'deny'), 409, 'already_reviewed').approval,
      ).toMatchObject({
        id: gina.id,
        state: 'approved',
      });
      await socket.next('guest.updated', ({ approval: updated }) => updated.state === 'approved');

      const session = ok(await gina.post('call_session'));
      expect(session).toMatchObject({
        url: world.livekit.settings['LIVEKIT_URL'],
        identity: `g:${gina.id}`,
        expires_in: 120,
      });
      const claims = claimsOf(session.token);
      expect(claims.video.room).toBe(`t${world.alice.tenantId!.replaceAll('-', '')}.${call}`);
      expect(claims.video).toMatchObject({ roomJoin: true });
      expect([claims.video.roomAdmin, claims.video.roomCreate, claims.video.roomList]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);

      const after = await say(room, 'welcome');
      const page = ok(await gina.get('chat/messages'));
      expect(page).toMatchObject({
        has_more: false,
        messages: [{ id: after.id, body: 'welcome', own: false }],
      });
      expect(JSON.stringify(page)).not.toContain(MARKER);
      const message = { client_msg_id: randomUUID(), body: 'I am here.' };
      const own = ok(await gina.post('chat/messages', message), 201).message;
      expect(own.sender).toEqual({ kind: 'guest', display_name: 'Gina Guest' });
      expect(ok(await gina.post('chat/messages', message)).message.id).toBe(own.id);
      const seen = ok(await world.bob.api.get(`/chat/rooms/${room}/messages`)).messages.at(-1);
      expect(seen).toMatchObject({
        id: own.id,
        sender: { kind: 'guest', id: gina.id, display_name: 'Gina Guest' },
        body: 'I am here.',
      });
      expect(
        (await socket.next('message.created', ({ message: each }) => each.id === own.id)).message.sender.kind,
      ).toBe('guest');

      expect(ok(await gina.post('session/leave'))).toEqual({ left: true });
      expect(ok(await gina.post('session/leave'))).toEqual({ left: true });
      rejected(await gina.post('call_session'), 401, 'guest_session_required');
      ok(await gina.renew());
      expect(ok(await gina.post('call_session')).identity).toBe(`g:${gina.id}`);
      socket.socket.close();
    });

    test('a claim with the same address continues as the same guest, on another device', async () => {
      const call = await newCall();
      const { token } = await invite(call, { emails: [GINA], require_approval: false });
      const [first, second] = [browser(token), browser(token)];
      const claimWith = async (device: GuestBrowser, name: string) => {
        const sent = world.relay.received.length;
        ok(await device.post('otp', { email: GINA }), 202);
        return ok(
          await device.claim({ name, email: GINA, code: await codeOf(world.app, world.relay, GINA, sent) }),
          201,
        );
      };
      await claimWith(first, 'Gina');
      await claimWith(second, 'Gina M.');
      expect(second.id).toBe(first.id);
      rejected(await first.post('call_session'), 401, 'guest_session_required');
      ok(await second.post('call_session'));
      rejected(await first.renew(), 401, 'session_reused');
      rejected(await second.post('call_session'), 401, 'guest_session_required');
    });

    test('the status has the address of the logo, which needs no session', async () => {
      const { eve } = world;
      const headers = { 'content-type': 'image/png' };
      ok(await eve.api.put('/tenant/logo', undefined, { raw: PNG, headers }));
      const made = await invite(await newCall({}, eve), { kind: 'link' }, eve);
      const guest = browser(made.token);
      const { logo_url: url } = ok(await guest.get('status')).invite.tenant;
      expect(url).toMatch(new RegExp(`^/apis/v1/call/external/${made.token}/logo\\?v=[0-9a-f]{16}$`));
      const logo = await guest.api.get(url.replace('/apis/v1', ''));
      expect([logo.status, logo.headers.get('content-type')]).toEqual([200, 'image/png']);
      expect(logo.headers.get('cache-control')).toBe('private, no-store');
      ok(await eve.api.delete(`/call/external_invites/${made.id}`));
      rejected(await guest.get('logo'), 410, 'invite_revoked');
      rejected(await browser((await openLink(await newCall())).token).get('logo'), 404, 'not_found');
    });
  });
