import { GINA, type GuestWorkspace } from '../../support/domains/guest-workspace.ts';
import { claimsOf, codeOf, type GuestBrowser } from '../../support/domains/guests.ts';

export const livestreamsTests = (world: GuestWorkspace): void =>
  describe('livestreams', () => {
    const { ok, rejected, browser, invite, newCall, newRoom } = world;
    const stream = async (fields: object = {}, viewers = 1000): Promise<GuestBrowser> => {
      const call = await newCall({ kind: 'livestream' });
      await world.app.sql(`UPDATE calls SET max_viewers = $2 WHERE id = $1`, [call, viewers]);
      return browser((await invite(call, { kind: 'link', role: 'viewer', ...fields })).token);
    };

    test('a viewer proves an address, joins, and can only watch', async () => {
      const viewer = await stream({ require_otp: true });
      rejected(await viewer.post('livestream_join', {}), 403, 'verification_required');
      const sent = world.relay.received.length;
      ok(await viewer.post('livestream_verify/request', { email: GINA }), 202);
      const code = await codeOf(world.app, world.relay, GINA, sent);
      rejected(await viewer.claim({ name: 'x', email: GINA, code }), 403, 'wrong_invite');
      const { viewer_token } = ok(await viewer.post('livestream_verify', { email: GINA, code }));
      rejected(
        await viewer.post('livestream_join', { viewer_token: `${viewer_token}x` }),
        403,
        'verification_required',
      );
      const joined = ok(await viewer.post('livestream_join', { viewer_token, name: 'Gina' }));
      expect(joined.identity).toBe(`v:${joined.viewer.id}`);
      expect(claimsOf(joined.token).video).toMatchObject({
        roomJoin: true,
        canPublish: false,
        canPublishData: false,
        hidden: true,
      });
      expect(ok(await viewer.post('livestream_join', { viewer_token })).viewer.id).toBe(joined.viewer.id);
    });

    test('the number of viewers is exact with parallel joins; an unused place becomes free', async () => {
      const viewer = await stream({}, 3);
      const all = await Promise.all(Array.from({ length: 12 }, () => viewer.post('livestream_join', {})));
      const inside = all.filter(({ status }) => status === 200);
      expect(inside).toHaveLength(3);
      expect(all.filter(({ status }) => status === 429).map(({ body }) => body.error)).toEqual(
        Array(9).fill('livestream_full'),
      );
      const { viewer_token } = inside[0]!.body;
      ok(await viewer.post('livestream_join', { viewer_token }));
      await world.app.sql(`UPDATE guests SET token_at = now() - interval '151 seconds' WHERE id = $1`, [
        inside[1]!.body.viewer.id,
      ]);
      ok(await viewer.post('livestream_join', {}));
      rejected(await viewer.post('livestream_join', {}), 429, 'livestream_full');
    });

    test('viewers need no approval and have no chat', async () => {
      const call = await newCall({ kind: 'livestream', room: await newRoom() });
      const made = await invite(call, { kind: 'link', role: 'viewer' });
      expect(made).toMatchObject({ role: 'viewer', require_approval: false, chat_allowed: false });
      expect(ok(await browser(made.token).get('status')).invite).toMatchObject({
        requires: { otp: false, approval: false, name: false },
        chat_allowed: false,
      });
      const chatLink = `/call/external_invites/${made.id}/chat_link`;
      rejected(await world.alice.api.post(chatLink, {}), 403, 'chat_not_allowed');
      for (const field of ['require_approval', 'chat_allowed']) {
        const body = { call_id: call, kind: 'link', role: 'viewer', [field]: true };
        const rejection = await world.alice.api.post('/call/external_invites', body);
        expect(rejected(rejection, 422, 'validation_failed').details).toMatchObject([
          { field, code: 'guests_only' },
        ]);
      }
    });

    test('a livestream that is not live has no audience', async () => {
      const call = await newCall({ kind: 'livestream' });
      const viewer = browser((await invite(call, { kind: 'link', role: 'viewer' })).token);
      ok(await world.alice.api.post(`/call/${call}/end`));
      rejected(await viewer.post('livestream_join', {}), 409, 'not_live');
      const meeting = await newCall();
      rejected(
        await world.alice.api.post('/call/external_invites', {
          call_id: meeting,
          kind: 'link',
          role: 'viewer',
        }),
        422,
        'validation_failed',
      );
    });
  });
