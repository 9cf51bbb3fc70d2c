import { randomBytes, randomUUID } from 'node:crypto';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { type Person, TestApp } from '../../support/app.ts';
import type { Answer } from '../../support/client.ts';
import { claimsOf, codeOf, GuestBrowser, liveCall, MEDIA } from '../../support/guests.ts';
import { form } from '../../support/multipart.ts';
import { OtherServer } from '../../support/smtp.ts';
import { TestSocket } from '../../support/socket.ts';

const GINA = 'gina@partner.example';
const MARKER = 'marker-7f3a91';

describe('guests', () => {
  let app: TestApp;
  let relay: OtherServer;
  let alice: Person;
  let bob: Person;
  let carol: Person;
  let eve: Person;

  beforeAll(async () => {
    relay = await OtherServer.start();
    app = await TestApp.start({ ...MEDIA, SMTP_URL: relay.url, TRUST_PROXY: 'loopback' });
    [alice, bob, carol] = (await app.tenant('acme', 'alice', 'bob', 'carol')) as [Person, Person, Person];
    [eve] = (await app.tenant('globex', 'eve')) as [Person];
  });
  afterAll(async () => {
    await app?.stop();
    await relay?.stop();
  });
  // Limits of networks hold for a minute: each test has a clean one.
  beforeEach(async () => {
    await app.sql('DELETE FROM rate_limits');
    await app.sql(`DELETE FROM guest_limits`);
  });

  const ok = (response: Answer, status = 200): any => {
    expect({ status: response.status, body: response.body }).toMatchObject({ status });
    return response.body;
  };
  const rejected = (response: Answer, status: number, error: string): any => {
    expect({ status: response.status, error: response.body?.error }).toEqual({ status, error });
    return response.body;
  };
  const browser = (token: string): GuestBrowser => new GuestBrowser(app.anonymous, token);
  const newRoom = async (fields: object = {}): Promise<string> =>
    ok(
      await alice.api.post('/chat/rooms', {
        type: 'group',
        name: 'Offsite',
        member_ids: [bob.id],
        ...fields,
      }),
      201,
    ).room.id;
  const say = async (room: string, body: string, person = alice): Promise<any> =>
    ok(await person.api.post(`/chat/rooms/${room}/messages`, { client_msg_id: randomUUID(), body }), 201)
      .message;
  const invite = async (call: string, fields: object, person = alice): Promise<any> =>
    ok(await person.api.post('/call/external_invites', { call_id: call, ...fields }), 201).invites[0];
  const openLink = (call: string, fields: object = {}) =>
    invite(call, { kind: 'link', require_approval: false, ...fields });
  const review = (id: string, decision: string, person = alice, fields = {}): Promise<Answer> =>
    person.api.post(`/call/external_invites/approvals/${id}/review`, { decision, ...fields });
  const runJob = async (name: string): Promise<void> => {
    const { jobs } = app.get(PeriodicJobs) as unknown as { jobs: { name: string; run(): Promise<void> }[] };
    await jobs.find((job) => job.name === name)!.run();
  };
  const guestRow = async (id: string): Promise<any> =>
    (await app.sql(`SELECT * FROM guests WHERE id = $1`, [id]))[0];
  const newGuest = async (call: string, name = 'Gina Guest'): Promise<GuestBrowser> => {
    const gina = browser((await openLink(call)).token);
    ok(await gina.claim({ name }), 201);
    return gina;
  };

  describe('the journey', () => {
    test('from an invite by mail to a token, a message and the end', async () => {
      const room = await newRoom();
      await say(room, `before the guest ${MARKER}`);
      const call = await liveCall(app, alice, { room });
      const socket = await TestSocket.open(app, alice);
      const made = await invite(call, { emails: [' Gina@Partner.Example'], message: 'Bring the figures.' });
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
      await app.get<OutboxWorker>(OutboxWorker).drain();
      expect(relay.received.at(-1)).toMatchObject({ to: [GINA] });
      const gina = browser(made.token);

      const status = ok(await gina.get('status'));
      expect(status).toEqual({
        invite: {
          kind: 'personal',
          target_kind: 'call',
          role: 'guest',
          title: 'Quarterly review',
          tenant: { name: 'acme' },
          starts_at: expect.any(String),
          requires: { otp: true, approval: true, name: true },
          chat_allowed: true,
          state: 'active',
        },
        call: { live: true, locked: false },
        poll_after: 3,
      });
      rejected(await gina.claim({ name: 'Gina' }), 422, 'validation_failed');
      const sent = relay.received.length;
      const accepted = await gina.post('otp', { email: GINA, locale: 'de-AT' });
      expect(ok(accepted, 202)).toEqual({ sent: true, expires_in: 600, resend_after: 60 });
      expect(accepted.headers.get('cache-control')).toContain('no-store');
      expect(accepted.headers.get('referrer-policy')).toBe('no-referrer');
      const code = await codeOf(app, relay, GINA, sent);
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
      rejected(await review(gina.id as string, 'approve', carol), 404, 'not_found');
      rejected(await review(gina.id as string, 'approve', eve), 404, 'not_found');
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
      expect(session).toMatchObject({ url: MEDIA.LIVEKIT_URL, identity: `g:${gina.id}`, expires_in: 120 });
      const claims = claimsOf(session.token);
      expect(claims.video.room).toBe(`t${alice.tenantId!.replaceAll('-', '')}.${call}`);
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
      const seen = ok(await bob.api.get(`/chat/rooms/${room}/messages`)).messages.at(-1);
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
      const call = await liveCall(app, alice);
      const { token } = await invite(call, { emails: [GINA], require_approval: false });
      const [first, second] = [browser(token), browser(token)];
      const claimWith = async (device: GuestBrowser, name: string) => {
        const sent = relay.received.length;
        ok(await device.post('otp', { email: GINA }), 202);
        return ok(await device.claim({ name, email: GINA, code: await codeOf(app, relay, GINA, sent) }), 201);
      };
      await claimWith(first, 'Gina');
      await claimWith(second, 'Gina M.');
      expect(second.id).toBe(first.id);
      rejected(await first.post('call_session'), 401, 'guest_session_required');
      ok(await second.post('call_session'));
      rejected(await first.renew(), 401, 'session_reused');
      rejected(await second.post('call_session'), 401, 'guest_session_required');
    });
  });

  describe('codes', () => {
    test('no response shows whether an address fits the invite', async () => {
      const call = await liveCall(app, alice);
      const gina = browser((await invite(call, { emails: [GINA], send_email: false })).token);
      const sent = relay.received.length;
      const [fits, other] = [
        await gina.post('otp', { email: GINA }),
        await gina.post('otp', { email: 'mallory@evil.example' }),
      ];
      expect([fits.status, fits.text]).toEqual([other.status, other.text]);
      await app.get<OutboxWorker>(OutboxWorker).drain();
      const code = await codeOf(app, relay, GINA, sent);
      expect(relay.received.slice(sent).flatMap(({ to }) => to)).toEqual([GINA]);
      // Both requests queued a mail: their work is the same.
      const mails = await app.sql(
        `SELECT recipient, state FROM system_mails WHERE template = 'guests.code' ORDER BY id DESC LIMIT 2`,
      );
      expect(mails).toEqual([
        { recipient: 'mallory@evil.example', state: 'cancelled' },
        { recipient: GINA, state: 'sent' },
      ]);
      const wrong = code === '000000' ? '111111' : '000000';
      for (const left of [4, 3, 2, 1, 0])
        for (const email of [GINA, 'mallory@evil.example', 'never-asked@evil.example'])
          expect(
            rejected(await gina.claim({ name: 'x', email, code: wrong }), 422, 'otp_invalid'),
          ).toMatchObject({
            attempts_left: left,
          });
      for (const email of [GINA, 'mallory@evil.example', 'never-asked@evil.example']) {
        const locked = await gina.claim({ name: 'x', email, code });
        rejected(locked, 429, 'otp_locked');
        expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      const stored = JSON.stringify(await app.sql(`SELECT * FROM guest_otps`));
      expect(stored).not.toContain(code);
    });

    test('50 guesses at once have five attempts; a new code voids the old one; a code is used once', async () => {
      const call = await liveCall(app, alice);
      const gina = browser((await invite(call, { emails: [GINA], require_approval: false })).token);
      let sent = relay.received.length;
      ok(await gina.post('otp', { email: GINA }), 202);
      const first = await codeOf(app, relay, GINA, sent);
      const guesses = Array.from({ length: 50 }, (_, n) => String(n).padStart(6, '7'));
      const results = await Promise.all(
        guesses.filter((code) => code !== first).map((code) => gina.claim({ name: 'x', email: GINA, code })),
      );
      expect(results.filter(({ body }) => body.error === 'otp_invalid')).toHaveLength(5);
      sent = relay.received.length;
      ok(await gina.post('otp', { email: GINA }), 202);
      const second = await codeOf(app, relay, GINA, sent);
      if (first !== second)
        rejected(await gina.claim({ name: 'x', email: GINA, code: first }), 422, 'otp_invalid');
      const race = await Promise.all(
        [1, 2, 3, 4].map(() => browser(gina.token).claim({ name: 'Gina', email: GINA, code: second })),
      );
      expect(race.map(({ status }) => status).toSorted()).toEqual([201, 422, 422, 422]);
    });

    test('a code is for one address, one purpose, ten minutes', async () => {
      const call = await liveCall(app, alice);
      const link = await openLink(call, { require_otp: true });
      const gina = browser(link.token);
      const sent = relay.received.length;
      ok(await gina.post('otp', { email: GINA }), 202);
      const code = await codeOf(app, relay, GINA, sent);
      rejected(await gina.claim({ name: 'x', email: 'hugo@partner.example', code }), 422, 'otp_invalid');
      rejected(await gina.post('livestream_verify', { email: GINA, code }), 403, 'wrong_invite');
      await app.sql(`UPDATE guest_otps SET expires_at = now() WHERE invite_id = $1 AND email = $2`, [
        link.id,
        GINA,
      ]);
      rejected(await gina.claim({ name: 'x', email: GINA, code }), 422, 'otp_invalid');
    });

    test('3 codes in 15 minutes and 10 in a day for an address, 20 in an hour for a network, in sliding windows', async () => {
      const call = await liveCall(app, alice);
      const gina = browser((await openLink(call, { require_otp: true })).token);
      const requests = async (email: string, count: number) => {
        const all = await Promise.all(Array.from({ length: count }, () => gina.post('otp', { email })));
        await app.sql('DELETE FROM rate_limits');
        return all.filter(({ status }) => status === 202).length;
      };
      const older = (seconds: number) =>
        app.sql(
          `UPDATE guest_limits SET times = ARRAY(SELECT at - make_interval(secs => $1) FROM unnest(times) at ORDER BY at)`,
          [seconds],
        );
      expect(await requests(GINA, 6)).toBe(3);
      const limited = await gina.post('otp', { email: GINA });
      rejected(limited, 429, 'too_many_requests');
      expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(850);
      await older(901);
      expect(await requests(GINA, 6)).toBe(3);
      await older(901);
      expect(await requests(GINA, 6)).toBe(3);
      await older(901);
      expect(await requests(GINA, 6)).toBe(1);
      await app.sql(`DELETE FROM guest_limits`);
      const many = await Promise.all(
        Array.from({ length: 30 }, (_, n) => gina.post('otp', { email: `guest${n}@partner.example` })),
      );
      expect(many.filter(({ status }) => status === 202)).toHaveLength(20);
    });

    test('a workspace sends 200 mails in a day; the response does not change', async () => {
      const call = await liveCall(app, alice);
      const gina = browser((await openLink(call, { require_otp: true })).token);
      await app.sql(
        `INSERT INTO guest_limits (tenant_id, scope, subject, times) VALUES ($1, 'code_mails', '', array_fill(now()::timestamptz(3), ARRAY[199]))`,
        [alice.tenantId],
      );
      await app.get<OutboxWorker>(OutboxWorker).drain();
      const before = relay.received.length;
      ok(await gina.post('otp', { email: 'a@partner.example' }), 202);
      ok(await gina.post('otp', { email: 'b@partner.example' }), 202);
      await app.get<OutboxWorker>(OutboxWorker).drain();
      await codeOf(app, relay, 'a@partner.example', before);
      expect(relay.received.slice(before).flatMap(({ to }) => to)).toEqual(['a@partner.example']);
    });
  });

  describe('sessions', () => {
    test('the use of any earlier guest token ends all sessions, also after several renewals', async () => {
      const gina = await newGuest(await liveCall(app, alice));
      const first = gina.guestToken;
      ok(await gina.renew());
      ok(await gina.renew());
      rejected(await gina.renew(first), 401, 'session_reused');
      rejected(await gina.post('call_session'), 401, 'guest_session_required');
      rejected(await gina.renew(), 401, 'guest_token_invalid');
    });

    test('of parallel renewals with one token one succeeds, and the family ends', async () => {
      const gina = await newGuest(await liveCall(app, alice));
      const token = gina.guestToken;
      const all = await Promise.all([1, 2, 3, 4, 5].map(() => browser(gina.token).renew(token)));
      expect(all.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401]);
    });

    test('a session is valid for 15 minutes, and for its own invite', async () => {
      const call = await liveCall(app, alice);
      const gina = await newGuest(call);
      const other = browser((await openLink(call)).token);
      other.session = gina.session;
      rejected(await other.post('call_session'), 401, 'guest_session_required');
      rejected(await other.renew(gina.guestToken), 401, 'guest_token_invalid');
      await app.sql(`UPDATE guests SET session_expires_at = now() WHERE id = $1`, [gina.id]);
      rejected(await gina.post('call_session'), 401, 'guest_session_required');
      ok(await gina.renew());
      ok(await gina.post('call_session'));
    });

    test('tokens are stored as hashes only', async () => {
      const call = await liveCall(app, alice);
      const { token } = await openLink(call);
      const gina = browser(token);
      ok(await gina.claim({ name: 'Gina' }), 201);
      const rows = JSON.stringify([
        await app.sql(`SELECT * FROM guests`),
        await app.sql(`SELECT * FROM external_invites`),
      ]);
      for (const secret of [token, gina.session, gina.guestToken]) expect(rows).not.toContain(secret);
    });
  });

  describe('the queue', () => {
    const waiting = async (call: string): Promise<GuestBrowser> => {
      const gina = browser((await invite(call, { kind: 'link' })).token);
      expect(ok(await gina.claim({ name: 'Gina' }), 201).guest.state).toBe('waiting');
      return gina;
    };

    test('a denied guest requests again after 60 seconds, three times in total', async () => {
      const gina = await waiting(await liveCall(app, alice));
      for (const n of [1, 2, 3]) {
        ok(await review(gina.id as string, 'deny', alice, { reason: 'not today' }));
        rejected(await gina.post('call_session'), 403, 'guest_denied');
        await app.sql(`UPDATE guests SET decided_at = decided_at - interval '61 seconds' WHERE id = $1`, [
          gina.id,
        ]);
        if (n < 3) ok(await gina.post('call_session'), 202);
        else rejected(await gina.post('call_session'), 403, 'guest_denied');
      }
    });

    test('a remembered denial is final', async () => {
      const gina = await waiting(await liveCall(app, alice));
      ok(await review(gina.id as string, 'deny', alice, { remember: true }));
      await app.sql(`UPDATE guests SET decided_at = decided_at - interval '61 seconds' WHERE id = $1`, [
        gina.id,
      ]);
      rejected(await gina.post('call_session'), 403, 'guest_denied');
    });

    test('no guest is admitted without a decision; ten minutes without a request end the wait', async () => {
      const call = await liveCall(app, alice);
      const gina = await waiting(call);
      await runJob('guests.time-out');
      ok(await gina.post('call_session'), 202);
      await app.sql(`UPDATE guests SET active_at = now() - interval '9 minutes' WHERE id = $1`, [gina.id]);
      expect(ok(await gina.get('status')).guest).toMatchObject({ state: 'waiting' });
      await runJob('guests.time-out');
      expect(ok(await gina.get('status')).guest).toMatchObject({ state: 'waiting' });
      await app.sql(`UPDATE guests SET active_at = now() - interval '11 minutes' WHERE id = $1`, [gina.id]);
      await runJob('guests.time-out');
      expect(ok(await gina.get('status')).guest).toMatchObject({ state: 'expired' });
      rejected(await review(gina.id as string, 'approve'), 409, 'already_reviewed');
      ok(await gina.post('call_session'), 202);
      ok(await review(gina.id as string, 'approve'));
      ok(await gina.post('call_session'));
      await app.sql(`UPDATE guests SET active_at = now() - interval '16 minutes' WHERE id = $1`, [gina.id]);
      await runJob('guests.time-out');
      expect((await guestRow(gina.id as string)).state).toBe('left');
      ok(await gina.post('call_session'));
    });

    test('two hosts who decide at once: one decision holds', async () => {
      const room = await newRoom();
      ok(await alice.api.post(`/chat/rooms/${room}/members`, { user_id: bob.id, role: 'moderator' }), 201);
      const call = await liveCall(app, alice, { room });
      for (let round = 0; round < 5; round += 1) {
        const gina = await waiting(call);
        const results = await Promise.all([
          review(gina.id as string, 'approve', alice),
          review(gina.id as string, 'deny', bob),
        ]);
        expect(results.map(({ status }) => status).toSorted()).toEqual([200, 409]);
        const winner = results.find(({ status }) => status === 200)!.body.approval.state;
        expect(ok(await gina.get('status')).guest.state).toBe(winner === 'approved' ? 'admitted' : 'denied');
      }
    });

    test('the list contains the guests of own calls, and all with the permission', async () => {
      const call = await liveCall(app, bob);
      const gina = browser((await invite(call, { kind: 'link' }, bob)).token);
      ok(await gina.claim({ name: 'Gina' }), 201);
      const of = async (person: Person, query = '') =>
        ok(await person.api.get(`/call/external_invites/approvals?call_id=${call}${query}`)).approvals.map(
          ({ id }: any) => id,
        );
      expect(await of(bob)).toEqual([gina.id]);
      expect(await of(alice)).toEqual([gina.id]);
      expect(await of(carol)).toEqual([]);
      expect(await of(eve)).toEqual([]);
      expect(await of(bob, '&state=approved')).toEqual([]);
    });
  });

  describe('the end of access', () => {
    test('a lock stops codes, claims and tokens, and not the chat', async () => {
      const room = await newRoom();
      const call = await liveCall(app, alice, { room });
      const gina = await newGuest(call);
      const late = browser((await openLink(call, { require_otp: true })).token);
      await app.sql(`UPDATE calls SET external_locked = true WHERE id = $1`, [call]);
      rejected(await late.post('otp', { email: GINA }), 403, 'call_locked');
      rejected(await late.claim({ name: 'x' }), 403, 'call_locked');
      rejected(await gina.post('call_session'), 403, 'call_locked');
      expect(ok(await gina.get('status')).call).toEqual({ live: true, locked: true });
      ok(await gina.get('chat/messages'));
    });

    test('a removed guest stays out of everything, also with a new claim', async () => {
      const room = await newRoom();
      const call = await liveCall(app, alice, { room });
      const gina = await newGuest(call);
      ok(await gina.post('call_session'));
      await app.sql(`UPDATE guests SET state = 'removed', removed_at = now() WHERE id = $1`, [gina.id]);
      rejected(await gina.post('call_session'), 403, 'guest_removed');
      rejected(await gina.get('chat/messages'), 403, 'guest_removed');
      rejected(
        await gina.post('chat/messages', { client_msg_id: randomUUID(), body: 'x' }),
        403,
        'guest_removed',
      );
      rejected(await gina.renew(), 403, 'guest_removed');
      // Without an address the guest is a new one. From the same network a host decides, whatever the invite requires.
      expect(ok(await browser(gina.token).claim({ name: 'Gina again' }), 201).guest.state).toBe('waiting');
    });

    test('a banned address gets no code and no session', async () => {
      const call = await liveCall(app, alice);
      const gina = browser((await openLink(call, { require_otp: true })).token);
      await app.sql(
        `INSERT INTO call_bans (tenant_id, call_id, subject, banned_by) VALUES ($1, $2, $3, $4)`,
        [alice.tenantId, call, `email:${GINA}`, alice.id],
      );
      await app.get<OutboxWorker>(OutboxWorker).drain();
      const before = relay.received.length;
      ok(await gina.post('otp', { email: GINA }), 202);
      await app.get<OutboxWorker>(OutboxWorker).drain();
      expect(relay.received).toHaveLength(before);
      rejected(
        await browser((await openLink(call)).token).claim({ name: 'x', email: GINA }),
        403,
        'guest_removed',
      );
    });

    test('a revoked invite ends the access of its guests', async () => {
      const room = await newRoom();
      const call = await liveCall(app, alice, { room });
      const made = await openLink(call);
      const gina = browser(made.token);
      ok(await gina.claim({ name: 'Gina' }), 201);
      ok(await gina.post('call_session'));
      rejected(await carol.api.delete(`/call/external_invites/${made.id}`), 404, 'not_found');
      rejected(await eve.api.delete(`/call/external_invites/${made.id}`), 404, 'not_found');
      expect(ok(await alice.api.delete(`/call/external_invites/${made.id}`)).invite.state).toBe('revoked');
      ok(await alice.api.delete(`/call/external_invites/${made.id}`));
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

    test('an invite ends with the access of its creator, with its time, and a day after the call', async () => {
      const room = await newRoom();
      const call = await liveCall(app, alice, { room });
      const ofBob = browser((await invite(call, { kind: 'link' }, bob)).token);
      ok(await ofBob.get('status'));
      ok(await alice.api.delete(`/chat/rooms/${room}/members/${bob.id}`));
      rejected(await ofBob.get('status'), 410, 'invite_revoked');
      const made = await openLink(call);
      const gina = browser(made.token);
      ok(await gina.claim({ name: 'Gina' }), 201);
      await app.sql(`UPDATE calls SET state = 'ended', ended_at = now() WHERE id = $1`, [call]);
      rejected(await gina.post('call_session'), 409, 'call_not_live');
      ok(await gina.get('chat/messages'));
      await app.sql(`UPDATE calls SET ended_at = now() - interval '25 hours' WHERE id = $1`, [call]);
      rejected(await gina.get('status'), 410, 'invite_expired');
      rejected(await gina.get('chat/messages'), 410, 'invite_expired');
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

    test('a link has a number of uses, exact under parallel claims', async () => {
      const { token } = await openLink(await liveCall(app, alice), { max_uses: 3 });
      const all = await Promise.all(
        Array.from({ length: 10 }, (_, n) => browser(token).claim({ name: `Guest ${n}` })),
      );
      expect(all.filter(({ status }) => status === 201)).toHaveLength(3);
      expect(all.filter(({ status }) => status === 410).map(({ body }) => body.error)).toEqual(
        Array(7).fill('invite_exhausted'),
      );
    });
  });

  describe('the chat', () => {
    test('shows a guest no ids of members, no system messages, nothing from before, and the files since', async () => {
      const room = await newRoom();
      await say(room, MARKER);
      const call = await liveCall(app, alice, { room });
      const gina = await newGuest(call);
      const body = form({ filename: 'figures.txt', content: 'one two' });
      const sent = await gina.api.request('POST', gina.path('chat/attachments'), {
        raw: body.raw,
        headers: { ...body.headers, 'x-guest-session': gina.session as string },
      });
      const { attachment } = ok(sent, 201);
      expect(attachment).toEqual({
        id: expect.any(String),
        name: 'figures.txt',
        size: 7,
        content_type: 'application/octet-stream',
      });
      const message = { client_msg_id: randomUUID(), body: '', attachment_ids: [attachment.id] };
      ok(await gina.post('chat/messages', message), 201);
      ok(await alice.api.post(`/chat/rooms/${room}/members`, { user_id: carol.id }), 201);
      const own = await say(room, 'for all of us');
      await alice.api.put(`/chat/rooms/${room}/messages/${own.id}/reactions`, { emoji: '👍' });
      const page = ok(await gina.get('chat/messages?limit=100'));
      expect(page.messages.map(({ body: text }: any) => text)).toEqual(['', 'for all of us']);
      const text = JSON.stringify(page);
      for (const secret of [MARKER, alice.id, bob.id, carol.id, alice.email, room, '/apis/v1'])
        expect(text).not.toContain(secret);
      const file = await gina.get(`chat/attachments/${attachment.id}`);
      expect([file.status, file.text, file.headers.get('content-disposition')]).toEqual([
        200,
        'one two',
        expect.stringContaining('attachment'),
      ]);
      const download = await bob.api.get(`/chat/attachments/${attachment.id}`);
      expect(download.text).toBe('one two');
      rejected(await eve.api.get(`/chat/attachments/${attachment.id}`), 404, 'not_found');
    });

    test('pages go forward and backward', async () => {
      const room = await newRoom();
      const gina = await newGuest(await liveCall(app, alice, { room }));
      const seqs: number[] = [];
      for (let n = 0; n < 5; n += 1) seqs.push((await say(room, `m${n}`)).seq);
      const list = async (query: string) => {
        const page = ok(await gina.get(`chat/messages?${query}`));
        return [page.messages.map(({ seq }: any) => seq), page.has_more];
      };
      expect(await list('limit=2')).toEqual([seqs.slice(3), true]);
      expect(await list(`limit=2&before_seq=${seqs[3]}`)).toEqual([seqs.slice(1, 3), true]);
      expect(await list(`limit=2&after_seq=${seqs[2]}`)).toEqual([seqs.slice(3), false]);
      expect(await list('after_seq=0&limit=100')).toEqual([seqs, false]);
      rejected(await gina.get('chat/messages?after_seq=1&before_seq=2'), 422, 'validation_failed');
    });

    test('the quota of files is exact; a body has 4,000 characters; a chat that the invite excludes is closed', async () => {
      const room = await newRoom();
      const call = await liveCall(app, alice, { room });
      const gina = await newGuest(call);
      await app.sql(`UPDATE guests SET upload_bytes = 50 * 1024 * 1024 - 10 WHERE id = $1`, [gina.id]);
      const send = (content: string) => {
        const body = form({ filename: 'a.txt', content });
        const headers = { ...body.headers, 'x-guest-session': gina.session as string };
        return gina.api.request('POST', gina.path('chat/attachments'), { raw: body.raw, headers });
      };
      const all = await Promise.all(['12345678', '12345678', '12345678'].map(send));
      expect(all.map(({ status }) => status).toSorted()).toEqual([201, 413, 413]);
      const post = (body: string) => gina.post('chat/messages', { client_msg_id: randomUUID(), body });
      ok(await post('😀'.repeat(4000)), 201);
      rejected(await post('x'.repeat(4001)), 422, 'validation_failed');
      const silent = browser((await openLink(call, { chat_allowed: false })).token);
      ok(await silent.claim({ name: 'Gina' }), 201);
      rejected(await silent.get('chat/messages'), 403, 'chat_not_allowed');
    });

    test('a chat link opens the chat and not the call; a new link replaces it', async () => {
      const room = await newRoom();
      const call = await liveCall(app, alice, { room });
      const made = await openLink(call);
      const path = `/call/external_invites/${made.id}/chat_link`;
      const { chat_link } = ok(await alice.api.post(path), 201);
      expect(chat_link).toMatchObject({
        room_id: room,
        token: expect.any(String),
        expires_at: made.expires_at,
      });
      const gina = browser(chat_link.token);
      ok(await gina.claim({ name: 'Gina' }), 201);
      ok(await gina.get('chat/messages'));
      rejected(await gina.post('call_session'), 403, 'chat_only');
      ok(await alice.api.post(path), 201);
      rejected(await gina.get('chat/messages'), 404, 'invite_not_found');
      ok(await alice.api.delete(path));
      expect(ok(await alice.api.get(`/call/external_invites/${made.id}`)).invite.has_chat_link).toBe(false);
      const roomless = await openLink(await liveCall(app, alice));
      rejected(await alice.api.post(`/call/external_invites/${roomless.id}/chat_link`), 422, 'no_chat_room');
    });

    test('invites to a room: by moderators, for its chat and its live call', async () => {
      const room = await newRoom();
      const path = `/chat/rooms/${room}/external_invites`;
      rejected(await bob.api.post(path, { kind: 'link' }), 403, 'forbidden');
      rejected(await carol.api.post(path, { kind: 'link' }), 404, 'not_found');
      rejected(await eve.api.post(path, { kind: 'link' }), 404, 'not_found');
      const [made] = ok(await alice.api.post(path, { kind: 'link', require_approval: false }), 201).invites;
      expect(made.target).toEqual({ kind: 'chat_room', id: room });
      expect(ok(await alice.api.get(path)).invites.map(({ id }: any) => id)).toEqual([made.id]);
      expect(
        ok(await alice.api.get('/call/external_invites?limit=200')).invites.map(({ id }: any) => id),
      ).not.toContain(made.id);
      rejected(await carol.api.get(path), 404, 'not_found');
      const gina = browser(made.token);
      ok(await gina.claim({ name: 'Gina' }), 201);
      ok(await gina.post('chat/messages', { client_msg_id: randomUUID(), body: 'hello' }), 201);
      rejected(await gina.post('call_session'), 409, 'call_not_live');
      const call = await liveCall(app, alice, { room });
      ok(await gina.post('call_session'));
      expect((await guestRow(gina.id as string)).call_id).toBe(call);
      const direct = { type: 'direct', member_ids: [bob.id] };
      const { room: pair } = ok(await alice.api.post('/chat/rooms', direct), 201);
      rejected(
        await alice.api.post(`/chat/rooms/${pair.id}/external_invites`, { kind: 'link' }),
        422,
        'direct_room',
      );
    });
  });

  describe('livestreams', () => {
    const stream = async (fields: object = {}, viewers = 1000): Promise<GuestBrowser> => {
      const call = await liveCall(app, alice, { kind: 'livestream', viewers });
      return browser((await invite(call, { kind: 'link', role: 'viewer', ...fields })).token);
    };

    test('a viewer proves an address, joins, and can only watch', async () => {
      const viewer = await stream({ require_otp: true });
      rejected(await viewer.post('livestream_join', {}), 403, 'verification_required');
      const sent = relay.received.length;
      ok(await viewer.post('livestream_verify/request', { email: GINA }), 202);
      const code = await codeOf(app, relay, GINA, sent);
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

    test('the number of viewers is exact under parallel joins; a place is free when it was not used', async () => {
      const viewer = await stream({}, 3);
      const all = await Promise.all(Array.from({ length: 12 }, () => viewer.post('livestream_join', {})));
      const inside = all.filter(({ status }) => status === 200);
      expect(inside).toHaveLength(3);
      expect(all.filter(({ status }) => status === 429).map(({ body }) => body.error)).toEqual(
        Array(9).fill('livestream_full'),
      );
      const { viewer_token } = inside[0]!.body;
      ok(await viewer.post('livestream_join', { viewer_token }));
      await app.sql(`UPDATE guests SET active_at = now() - interval '151 seconds' WHERE id = $1`, [
        inside[1]!.body.viewer.id,
      ]);
      ok(await viewer.post('livestream_join', {}));
      rejected(await viewer.post('livestream_join', {}), 429, 'livestream_full');
    });

    test('a livestream that is not live has no audience', async () => {
      const viewer = await stream();
      await app.sql(
        `UPDATE calls SET state = 'ended', ended_at = now() WHERE tenant_id = $1 AND kind = 'livestream'`,
        [alice.tenantId],
      );
      rejected(await viewer.post('livestream_join', {}), 409, 'not_live');
      const meeting = await liveCall(app, alice);
      rejected(
        await alice.api.post('/call/external_invites', { call_id: meeting, kind: 'link', role: 'viewer' }),
        422,
        'validation_failed',
      );
    });
  });

  describe('invites and domains', () => {
    test('inputs', async () => {
      const call = await liveCall(app, alice);
      const post = (fields: object, person = alice) =>
        person.api.post('/call/external_invites', { call_id: call, ...fields });
      for (const fields of [
        { kind: 'personal' },
        { kind: 'link', emails: [GINA] },
        { emails: ['nobody'] },
        { emails: [] },
        { emails: Array.from({ length: 51 }, (_, n) => `g${n}@partner.example`) },
        { kind: 'link', expires_at: '2020-01-01T00:00:00Z' },
        { kind: 'link', expires_at: '2099-01-01T00:00:00Z' },
        { kind: 'link', max_uses: 0 },
      ])
        rejected(await post(fields), 422, 'validation_failed');
      rejected(await post({ kind: 'link' }, bob), 404, 'not_found');
      rejected(await post({ kind: 'link' }, eve), 404, 'not_found');
      const two = ok(
        await post({ emails: [GINA, 'GINA@partner.example', 'hugo@partner.example'], send_email: false }),
        201,
      );
      expect(two.invites.map(({ email }: any) => email)).toEqual([GINA, 'hugo@partner.example']);
      const listed = ok(await alice.api.get(`/call/external_invites?call_id=${call}&limit=1`));
      expect(listed.invites).toHaveLength(1);
      expect(listed.invites[0]).not.toHaveProperty('token');
      expect(
        ok(await alice.api.get(`/call/external_invites?call_id=${call}&limit=1&cursor=${listed.next}`))
          .invites,
      ).toHaveLength(1);
      await app.sql(`UPDATE calls SET state = 'ended', ended_at = now() WHERE id = $1`, [call]);
      rejected(await post({ kind: 'link' }), 409, 'call_ended');
    });

    test('invites of a plain member are at least as strict as the call', async () => {
      const room = await newRoom();
      const call = await liveCall(app, alice, { room });
      const made = await invite(
        call,
        { emails: [GINA], require_otp: false, require_approval: false, send_email: false },
        bob,
      );
      expect(made).toMatchObject({ require_otp: true, require_approval: true });
    });

    test('a denied domain is rejected until administrators allow it', async () => {
      const call = await liveCall(app, bob);
      const request = (domain: string, person = bob) =>
        person.api.post('/call/external_invites/domain_request', { domain, reason: 'auditors' });
      for (const domain of ['localhost', '127.0.0.1', 'co.uk', 'a_b.example'])
        rejected(await request(domain), 422, 'invalid_domain');
      const { domain_request: made } = ok(await request('Rival.Example'), 201);
      expect(made).toMatchObject({ domain: 'rival.example', state: 'requested' });
      expect(ok(await request('rival.example')).domain_request.id).toBe(made.id);
      rejected(await review(made.id, 'deny', bob), 404, 'not_found');
      expect(ok(await review(made.id, 'deny')).approval).toMatchObject({ kind: 'domain', state: 'denied' });
      rejected(await review(made.id, 'approve'), 409, 'already_reviewed');
      const post = () =>
        bob.api.post('/call/external_invites', {
          call_id: call,
          emails: ['x@rival.example'],
          send_email: false,
        });
      expect(rejected(await post(), 403, 'domain_not_allowed')).toMatchObject({
        domain: 'rival.example',
        can_request: true,
      });
      const again = ok(await request('rival.example'), 201).domain_request;
      ok(await review(again.id, 'approve'));
      ok(await post(), 201);
    });
  });

  test('limits: per session, and per network without one', async () => {
    const gina = await newGuest(await liveCall(app, alice));
    await app.sql('DELETE FROM rate_limits');
    const polls = await Promise.all(Array.from({ length: 70 }, () => gina.get('status')));
    expect(polls.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(62);
    expect(polls.some(({ status }) => status === 429)).toBe(true);
    const flood = await Promise.all(
      Array.from({ length: 140 }, () => browser(randomBytes(48).toString('base64url')).get('status')),
    );
    expect(flood.filter(({ status }) => status === 404).length).toBeLessThanOrEqual(124);
    expect(flood.some(({ status }) => status === 429)).toBe(true);
  });
});
