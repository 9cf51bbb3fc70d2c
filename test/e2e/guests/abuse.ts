import { randomUUID } from 'node:crypto';
import { newToken } from '../../../src/platform/secrets/secret-box.js';
import type { ApiResponse } from '../../support/network/client.ts';
import type { GuestWorkspace } from '../../support/domains/guest-workspace.ts';
import { claimsOf, type GuestBrowser } from '../../support/domains/guests.ts';
import { form } from '../../support/network/multipart.ts';

/** Abuse cases that no other suite of this folder contains. */
export const abuseTests = (world: GuestWorkspace): void =>
  describe('abuse', () => {
    const { ok, rejected, browser, newRoom, newCall, newGuest, openLink, invite, say } = world;
    const send = (guest: GuestBrowser, fields: object): Promise<ApiResponse> =>
      guest.post('chat/messages', { client_msg_id: randomUUID(), body: 'x', ...fields });
    const upload = async (guest: GuestBrowser, filename: string, content: string | Buffer): Promise<any> => {
      const body = form({ filename, content });
      const headers = { ...body.headers, 'x-guest-session': guest.session as string };
      const response = await guest.api.request('POST', guest.path('chat/attachments'), {
        raw: body.raw,
        headers,
      });
      return ok(response, 201).attachment;
    };

    test('credentials of guests are no bearer tokens, and bearer tokens are no sessions', async () => {
      const { app, alice } = world;
      const room = await newRoom();
      const call = await newCall({ room });
      const gina = await newGuest(call);
      const media = ok(await gina.post('call_session')).token as string;
      const routes = [
        '/notes',
        '/chat/rooms',
        `/chat/rooms/${room}`,
        '/directory/search?q=al',
        '/presence',
        '/notifications',
        `/call/${call}`,
        '/meetings/live',
        '/meetings/recordings',
        '/call/external_invites',
        '/call/external_invites/approvals',
      ];
      for (const secret of [gina.token, gina.session, gina.guestToken, media])
        for (const route of routes) rejected(await app.as(secret as string).get(route), 401, 'unauthorized');
      gina.session = alice.token;
      rejected(await gina.get('chat/messages'), 401, 'guest_session_required');
      gina.session = gina.guestToken;
      rejected(await gina.get('chat/messages'), 401, 'guest_session_required');
    });

    test('a token with the id of another workspace is unknown', async () => {
      const { token } = await openLink(await newCall());
      const bytes = Buffer.from(token, 'base64url');
      const other = Buffer.from(newToken(world.eve.tenantId as string).token, 'base64url').subarray(0, 16);
      const moved = Buffer.concat([other, bytes.subarray(16)]).toString('base64url');
      rejected(await browser(moved).get('status'), 404, 'invite_not_found');
      const changed = Buffer.concat([bytes.subarray(0, -1), Buffer.from([bytes.at(-1)! ^ 1])]);
      rejected(await browser(changed.toString('base64url')).get('status'), 404, 'invite_not_found');
      // Characters that decode to the same bytes are another text.
      rejected(await browser(`${token}=`).get('status'), 404, 'invite_not_found');
    });

    test('files of members, of other guests and of other workspaces cannot be attached', async () => {
      const { alice } = world;
      const room = await newRoom();
      const call = await newCall({ room });
      const [gina, hugo] = [await newGuest(call), await newGuest(call, 'Hugo')];
      const body = form({ field: 'room_id', content: room }, { filename: 'a.txt', content: 'x' });
      const own = await alice.api.request('POST', '/chat/attachments', {
        raw: body.raw,
        headers: body.headers,
      });
      const ids = [ok(own, 201).attachment.id, (await upload(hugo, 'h.txt', 'x')).id, randomUUID()];
      for (const id of ids) rejected(await send(gina, { attachment_ids: [id] }), 422, 'unknown_attachment');
      const mine = await upload(gina, 'g.txt', 'x');
      rejected(await gina.get(`chat/attachments/${ids[1]}`), 404, 'not_found');
      ok(await send(gina, { attachment_ids: [mine.id] }), 201);
      rejected(
        await send(gina, { attachment_ids: Array.from({ length: 4 }, () => randomUUID()) }),
        422,
        'validation_failed',
      );
    });

    test('files of guests are downloads in a sandbox, also HTML and SVG', async () => {
      const room = await newRoom();
      const gina = await newGuest(await newCall({ room }));
      const script = '<script>fetch("/apis/v1/notes")</script>';
      for (const [name, content] of [
        ['page.html', `<!doctype html>${script}`],
        ['image.svg', `<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`],
        ['fake.png', Buffer.from(`\x89PNG\r\n\x1a\n${script}`, 'latin1')],
      ] as const) {
        const { id } = await upload(gina, name, content);
        ok(await send(gina, { attachment_ids: [id] }), 201);
        for (const response of [
          await gina.get(`chat/attachments/${id}`),
          await world.bob.api.get(`/chat/attachments/${id}`),
          await world.bob.api.get(`/chat/attachments/${id}?inline=true`),
        ]) {
          expect([name, response.status]).toEqual([name, 200]);
          expect(response.headers.get('content-disposition')).toMatch(/^attachment/);
          expect(response.headers.get('x-content-type-options')).toBe('nosniff');
          expect(response.headers.get('content-security-policy')).toContain('sandbox');
          expect(response.headers.get('content-type')).not.toMatch(/html|svg|xml/);
        }
      }
    });

    test('a guest with the name of a member is marked as a guest', async () => {
      const { bob } = world;
      const room = await newRoom();
      const fake = await newGuest(await newCall({ room }), 'Alice');
      const { message } = ok(await send(fake, { body: 'Send me the password.' }), 201);
      const seen = ok(await bob.api.get(`/chat/rooms/${room}/messages`)).messages.at(-1);
      expect(seen).toMatchObject({
        id: message.id,
        sender: { kind: 'guest', id: fake.id, display_name: 'Alice' },
      });
      const { identity, token } = ok(await fake.post('call_session'));
      expect([identity, claimsOf(token).sub]).toEqual([`g:${fake.id}`, `g:${fake.id}`]);
    });

    test('names are one line of visible text', async () => {
      const link = await openLink(await newCall());
      const claim = (name: unknown) => browser(link.token).claim({ name });
      for (const name of ['', ' ', 'a\u0000', '\u202e\u200b', '...', 'x'.repeat(81), 7, null, ['x']])
        rejected(await claim(name), 422, 'validation_failed');
      for (const [name, shown] of [
        ['Zoe\u0301', 'Zoé'],
        ['a\u202eb\n c', 'ab c'],
        ['\u{e0041}Ann\u{e007f}', 'Ann'],
        ['😀 Ann', '😀 Ann'],
      ])
        expect(ok(await claim(name), 201).guest.name).toBe(shown);
    });

    test('the token of a guest is for one room, for two minutes, without metadata and without administration', async () => {
      const call = await newCall();
      const gina = await newGuest(call);
      const { token } = ok(await gina.post('call_session', { audio_only: true }));
      const { exp, nbf, iat, video, metadata, attributes, ...claims } = claimsOf(token);
      expect(exp - (nbf ?? iat)).toBeLessThanOrEqual(120);
      expect([metadata, attributes, claims.sip, claims.roomConfig]).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
      expect(video).toEqual({
        roomJoin: true,
        room: `t${world.alice.tenantId!.replaceAll('-', '')}.${call}`,
        canUpdateOwnMetadata: false,
        canPublish: true,
        canPublishSources: ['microphone'],
        canPublishData: false,
        canSubscribe: true,
        hidden: false,
      });
    });

    test('the number of guests is checked at each token, also for guests who come back', async () => {
      const call = await newCall();
      await world.app.sql(`UPDATE calls SET max_guests = 1 WHERE id = $1`, [call]);
      const [gina, hugo] = [await newGuest(call), await newGuest(call, 'Hugo')];
      const both = await Promise.all([gina.post('call_session'), hugo.post('call_session')]);
      expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
      const [inside, outside] = both[0].status === 200 ? [gina, hugo] : [hugo, gina];
      ok(await inside.post('call_session'));
      rejected(await outside.post('call_session'), 409, 'call_full');
      ok(await inside.post('session/leave'));
      ok(await outside.post('call_session'));
      ok(await inside.renew());
      rejected(await inside.post('call_session'), 409, 'call_full');
    });

    test('a guest who only uses the chat takes no place in the call', async () => {
      const call = await newCall({ room: await newRoom() });
      await world.app.sql(`UPDATE calls SET max_guests = 1 WHERE id = $1`, [call]);
      const [gina, hugo] = [await newGuest(call), await newGuest(call, 'Hugo')];
      ok(await send(gina, {}), 201);
      ok(await hugo.post('call_session'));
      rejected(await gina.post('call_session'), 409, 'call_full');
    });

    test('a repeated message id with another text is rejected', async () => {
      const room = await newRoom();
      const gina = await newGuest(await newCall({ room }));
      const client_msg_id = randomUUID();
      ok(await send(gina, { client_msg_id, body: 'one' }), 201);
      rejected(await send(gina, { client_msg_id, body: 'two' }), 409, 'idempotency_key_reused');
      await say(room, 'for the others');
      ok(await send(gina, { client_msg_id, body: 'one' }));
    });

    test('domains that have no single owner are rejected', async () => {
      const request = (domain: string) =>
        world.bob.api.post('/call/external_invites/domain_request', { domain });
      for (const domain of [
        'com',
        'co.uk',
        'github.io',
        'kobe.jp',
        'blogspot.com',
        '10.0.0.1',
        '[::1]',
        'localhost',
        'x_y.example',
      ])
        rejected(await request(domain), 422, 'invalid_domain');
      for (const domain of [
        'partner.co.uk',
        'team.github.io',
        'city.kobe.jp',
        'bücher.example',
        'a.b.partner.example',
      ])
        ok(await request(domain), 201);
      expect(ok(await request('BÜCHER.example.')).domain_request.domain).toBe('xn--bcher-kva.example');
    });

    test('members invite to calls of their own workspace only', async () => {
      const { eve, alice } = world;
      const call = await newCall();
      rejected(
        await eve.api.post('/call/external_invites', { call_id: call, kind: 'link' }),
        404,
        'not_found',
      );
      const { id } = await invite(call, { kind: 'link' });
      for (const [method, path] of [
        ['GET', id],
        ['DELETE', id],
        ['POST', `${id}/chat_link`],
        ['DELETE', `${id}/chat_link`],
      ] as const)
        rejected(await eve.api.request(method, `/call/external_invites/${path}`), 404, 'not_found');
      const { invites } = ok(await eve.api.get('/call/external_invites?limit=200'));
      expect(invites.map((each: any) => each.id)).not.toContain(id);
      expect(ok(await alice.api.get(`/call/external_invites/${id}`)).invite.state).toBe('active');
    });
  });
