import { randomUUID } from 'node:crypto';
import type { ApiResponse } from '../../support/network/client.ts';
import { GINA, MARKER, type GuestWorkspace } from '../../support/domains/guest-workspace.ts';
import { codeOf, type GuestBrowser } from '../../support/domains/guests.ts';
import { form } from '../../support/network/multipart.ts';

const PREFIX = '/apis/v1/call/external/{invite_token}';
const HUGO = 'hugo@partner.example';

/** The marker in text that no guest may read. */
const secret = (name: string): string => `${name} ${MARKER}`;

export const markerTests = (world: GuestWorkspace): void =>
  describe('what guests see', () => {
    const { ok, browser, newRoom, newCall, invite, say, review, newGuest } = world;
    const message = (body: string) => ({ client_msg_id: randomUUID(), body });
    const file = (guest: GuestBrowser): Promise<ApiResponse> => {
      const body = form({ filename: 'a.txt', content: 'x' });
      const headers = { ...body.headers, ...(guest.session && { 'x-guest-session': guest.session }) };
      return guest.api.request('POST', guest.path('chat/attachments'), { raw: body.raw, headers });
    };
    /** A request to each public operation. The last ones end the session of the guest. */
    const operations: Record<string, (guest: GuestBrowser) => Promise<ApiResponse>> = {
      'GET /status': (guest) => guest.get('status'),
      'GET /logo': (guest) => guest.get('logo'),
      'GET /chat/messages': (guest) => guest.get('chat/messages?limit=100'),
      'GET /chat/attachments/{id}': (guest) => guest.get(`chat/attachments/${hidden.file}`),
      'POST /chat/messages': (guest) => guest.post('chat/messages', message('hello')),
      'POST /chat/attachments': file,
      'POST /call_session': (guest) => guest.post('call_session'),
      'POST /otp': (guest) => guest.post('otp', { email: HUGO }),
      'POST /claim': (guest) => guest.post('claim', { name: 'Hugo', email: HUGO, code: '000000' }),
      'POST /livestream_join': (guest) => guest.post('livestream_join', {}),
      'POST /livestream_verify/request': (guest) => guest.post('livestream_verify/request', { email: HUGO }),
      'POST /livestream_verify': (guest) => guest.post('livestream_verify', { email: HUGO, code: '000000' }),
      'POST /session/mint': (guest) => guest.renew(guest.guestToken ?? 'x'),
      'POST /session/leave': (guest) => guest.post('session/leave'),
    };
    let hidden: { room: string; call: string; file: string; texts: string[] };
    let token: string;

    /** A room with text, files, guests and decisions that a new guest of its call must not see. */
    beforeAll(async () => {
      const { alice, bob, app } = world;
      const room = await newRoom({ name: secret('room'), topic: secret('topic') });
      const other = await newRoom({ name: secret('other') });
      await say(other, secret('other room'));
      const body = form(
        { field: 'room_id', content: room },
        { filename: `${secret('file')}.txt`, content: MARKER },
      );
      const sent = await alice.api.request('POST', '/chat/attachments', {
        raw: body.raw,
        headers: body.headers,
      });
      const { attachment } = ok(sent, 201);
      const first = { ...message(secret('before')), attachment_ids: [attachment.id] };
      ok(await alice.api.post(`/chat/rooms/${room}/messages`, first), 201);
      const call = await newCall({ room });
      const inviteOfGina = await invite(call, {
        emails: [GINA],
        name: secret('name'),
        message: secret('message'),
        require_otp: false,
        send_email: false,
      });
      const gina = browser(inviteOfGina.token);
      ok(await gina.claim({ name: secret('guest') }), 201);
      ok(await review(gina.id as string, 'deny', alice, { reason: secret('reason') }));
      const removed = await newGuest(call, secret('removed'));
      const path = `/call/${call}/external/participants/${removed.id}/remove`;
      ok(await alice.api.post(path, { reason: secret('ban') }));
      ok(
        await bob.api.post('/call/external_invites/domain_request', {
          domain: 'secretive.example',
          reason: secret('domain'),
        }),
        201,
      );
      token = (await invite(call, { kind: 'link', name: secret('link') })).token;
      await app.sql('DELETE FROM rate_limits');
      const ids = [alice, bob, world.carol].flatMap(({ id, email }) => [id, email]);
      const texts = [
        MARKER,
        ...ids,
        room,
        other,
        inviteOfGina.id,
        gina.id as string,
        removed.id as string,
        GINA,
        'secretive',
      ];
      hidden = { room, call, file: attachment.id, texts };
    });

    /** @param words searched as whole words, because random tokens may contain them */
    const check = async (
      guest: GuestBrowser,
      words: readonly string[] = [],
    ): Promise<Record<string, number>> => {
      const statuses: Record<string, number> = {};
      for (const [name, send] of Object.entries(operations)) {
        const response = await send(guest);
        statuses[name] = response.status;
        expect([name, response.status < 500]).toEqual([name, true]);
        const wordsShown = response.text.split(/[^\w-]+/);
        const shown = [
          ...hidden.texts.filter((text) => response.text.includes(text)),
          ...words.filter((word) => wordsShown.includes(word)),
        ];
        expect([name, shown]).toEqual([name, []]);
        expect([name, response.headers.get('cache-control')]).toEqual([name, 'private, no-store']);
        expect(response.headers.get('referrer-policy')).toBe('no-referrer');
      }
      return statuses;
    };

    test('the matrix covers every public operation', async () => {
      const { paths } = ok(await world.app.anonymous.get('/openapi.json'));
      const documented = Object.entries<Record<string, { security?: unknown[] }>>(paths)
        .filter(([path]) => path.startsWith(`${PREFIX}/`))
        .flatMap(([path, item]) =>
          Object.entries(item).map(([method, { security }]) => {
            expect([path, security]).toEqual([path, []]);
            return `${method.toUpperCase()} ${path.slice(PREFIX.length)}`;
          }),
        );
      expect(documented.toSorted()).toEqual(Object.keys(operations).toSorted());
    });

    test('without a session', async () => {
      const statuses = await check(browser(token), ['Alice', 'Bob', 'Carol', 'approved', 'denied']);
      expect(Object.values(statuses).filter((status) => status < 300)).toHaveLength(4);
    });

    test('while waiting, after a denial, after the admission, and after the removal', async () => {
      const { app, alice } = world;
      const guest = browser(token);
      ok(await guest.claim({ name: 'Ines' }), 201);
      const again = async () => {
        await app.sql('DELETE FROM rate_limits');
        await app.sql('DELETE FROM guest_limits');
        await guest.renew();
      };
      const names = ['Alice', 'Bob', 'Carol'];
      expect(await check(guest, names)).toMatchObject({
        'POST /call_session': 202,
        'GET /chat/messages': 403,
      });
      await again();
      ok(await guest.post('call_session'), 202);
      ok(await review(guest.id as string, 'deny', alice, { reason: secret('reason') }));
      expect(await check(guest, names)).toMatchObject({
        'POST /call_session': 403,
        'GET /chat/messages': 403,
      });
      await again();
      await app.sql(`UPDATE guests SET decided_at = decided_at - interval '2 minutes' WHERE id = $1`, [
        guest.id,
      ]);
      ok(await guest.post('call_session'), 202);
      ok(await review(guest.id as string, 'approve', alice, { reason: secret('reason') }));
      await say(hidden.room, 'welcome');
      const admitted = await check(guest, ['Bob', 'Carol']);
      expect(admitted).toMatchObject({
        'GET /chat/messages': 200,
        'GET /chat/attachments/{id}': 404,
        'POST /chat/messages': 201,
        'POST /chat/attachments': 201,
        'POST /call_session': 200,
      });
      await again();
      ok(
        await alice.api.post(`/call/${hidden.call}/external/participants/${guest.id}/remove`, {
          reason: secret('ban'),
        }),
      );
      const removed = await check(guest, names);
      expect(removed).toMatchObject({
        'POST /call_session': 403,
        'GET /chat/messages': 403,
        'POST /session/mint': 403,
      });
    });

    test('as a viewer of a livestream', async () => {
      const { app } = world;
      await app.sql('DELETE FROM rate_limits');
      const call = await newCall({ kind: 'livestream' });
      const viewer = browser((await invite(call, { kind: 'link', role: 'viewer' })).token);
      expect(await check(viewer, ['Alice', 'Bob'])).toMatchObject({
        'POST /livestream_join': 200,
        'POST /claim': 403,
      });
    });

    test('the code of an address and its limits show nothing of other guests', async () => {
      const gina = browser((await invite(hidden.call, { emails: [GINA], require_approval: false })).token);
      const sent = world.relay.received.length;
      ok(await gina.post('otp', { email: GINA }), 202);
      const code = await codeOf(world.app, world.relay, GINA, sent);
      ok(await gina.claim({ name: 'Gina', email: GINA, code }), 201);
      const texts = hidden.texts.filter((text) => text !== GINA);
      for (const route of ['status', 'chat/messages'])
        for (const text of texts)
          expect([route, (await gina.get(route)).text.includes(text)]).toEqual([route, false]);
    });
  });
