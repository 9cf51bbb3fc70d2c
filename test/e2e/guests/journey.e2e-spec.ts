import { randomUUID } from 'node:crypto';
import { Reconciler } from '../../../src/modules/calls/events/participant-events.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { codeOf, GuestBrowser } from '../../support/domains/guests.ts';
import { LiveKit } from '../../support/livekit/livekit.ts';
import { OtherServer } from '../../support/mail/smtp.ts';
import { until } from '../../support/until.ts';

const GINA = 'gina@partner.example';

/** Two members and guests, with the media server and a mail server. */
describe('a call with guests', () => {
  let app: TestApp;
  let livekit: LiveKit;
  let relay: OtherServer;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    [livekit, relay] = await Promise.all([LiveKit.start(), OtherServer.start()]);
    app = await TestApp.start({ ...livekit.settings, SMTP_URL: relay.url });
    livekit.webhooks.targets.push(app.base);
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(async () => {
    await app?.stop();
    await livekit?.stop();
    await relay?.stop();
  });
  beforeEach(() => livekit.webhooks.deliverBy(() => 'deliver'));

  const ok = (response: ApiResponse, status = 200): any => {
    expect({ status: response.status, body: response.body }).toMatchObject({ status });
    return response.body;
  };
  const rejected = (response: ApiResponse, status: number, error: string): void =>
    expect({ status: response.status, error: response.body?.error }).toEqual({ status, error });
  const newCall = async () => {
    const body = { type: 'group', name: 'Offsite', member_ids: [bob.id] };
    const room = ok(await alice.api.post('/chat/rooms', body), 201).room.id as string;
    const call = ok(await alice.api.post('/call/rooms', { room_id: room }), 201).room.id as string;
    return { room, call };
  };
  const joinAs = async (user: TestUser, call: string) =>
    livekit.join(ok(await user.api.post(`/call/tokens/${call}/mint`)).token);
  const linkOf = async (call: string) => {
    const body = { call_id: call, kind: 'link', require_approval: false };
    return ok(await alice.api.post('/call/external_invites', body), 201).invites[0].token as string;
  };
  const guestIn = async (call: string) => {
    const guest = new GuestBrowser(app.anonymous, await linkOf(call));
    ok(await guest.claim({ name: 'Gina' }), 201);
    const session = ok(await guest.post('call_session'));
    const connection = await livekit.join(session.token);
    await livekit.webhooks.settled();
    return { guest, connection };
  };
  const stateOf = async (guest: GuestBrowser) =>
    (await app.sql(`SELECT state FROM guests WHERE id = $1`, [guest.id]))[0].state;

  test('from the invite to the recording', async () => {
    const { room, call } = await newCall();
    await joinAs(alice, call);
    await joinAs(bob, call);
    const invites = { call_id: call, emails: [GINA] };
    const { token } = ok(await alice.api.post('/call/external_invites', invites), 201).invites[0];
    await app.get<OutboxWorker>(OutboxWorker).drain();
    const mail = await until('the invite', () => relay.received.find(({ to }) => to.includes(GINA)));
    expect(mail.raw.replaceAll('=\r\n', '')).toContain(token);
    const gina = new GuestBrowser(app.anonymous, token);
    ok(await gina.post('otp', { email: GINA }), 202);
    ok(await gina.claim({ name: 'Gina Guest', email: GINA, code: await codeOf(app, relay, GINA) }), 201);
    ok(await gina.post('call_session'), 202);
    ok(await alice.api.post(`/call/external_invites/approvals/${gina.id}/review`, { decision: 'approve' }));
    const connection = await livekit.join(ok(await gina.post('call_session')).token);
    await livekit.webhooks.settled();
    expect(connection.identity).toBe(`g:${gina.id}`);
    expect(livekit.connected(connection.room)).toHaveLength(3);
    const [live] = ok(await bob.api.get('/meetings/live')).meetings;
    expect(live).toMatchObject({ call_id: call, participants: 3 });

    ok(await gina.post('chat/messages', { client_msg_id: randomUUID(), body: 'hello' }), 201);
    const { recording } = ok(await alice.api.post(`/call/${call}/recordings`), 201);
    await livekit.activate(livekit.egressOf(connection.room).egressId);
    await livekit.webhooks.settled();
    ok(await alice.api.post(`/call/${call}/recordings/${recording.id}/stop`));
    await livekit.webhooks.settled();
    await until('the file', async () => {
      await app.get<OutboxWorker>(OutboxWorker).drain();
      const { recordings } = ok(await bob.api.get(`/chat/rooms/${room}/recordings`));
      return recordings[0]?.state === 'ready';
    });
    ok(await gina.post('session/leave'));
    await livekit.webhooks.settled();
    expect(livekit.isConnected(connection)).toBe(false);
    ok(await alice.api.post(`/call/${call}/end`));
    ok(await gina.renew());
    rejected(await gina.post('call_session'), 409, 'call_not_live');
  });

  test('guests and viewers enter a live call that no member has joined, and keep it from ending', async () => {
    const { call } = await newCall();
    const aged = `UPDATE calls SET empty_since = now() - interval '299 seconds' WHERE id = $1`;
    await app.sql(aged, [call]);
    const { connection } = await guestIn(call);
    expect(livekit.connected(connection.room)).toEqual([connection.identity]);
    const body = { title: 'Town hall', kind: 'livestream' };
    const stream = ok(await alice.api.post('/call/rooms', body), 201).room.id as string;
    await app.sql(aged, [stream]);
    const invite = { call_id: stream, kind: 'link', role: 'viewer' };
    const { token } = ok(await alice.api.post('/call/external_invites', invite), 201).invites[0];
    const viewer = new GuestBrowser(app.anonymous, token);
    const joined = ok(await viewer.post('livestream_join', {}));
    const recent = `SELECT id FROM calls WHERE id = $1 AND empty_since > now() - interval '200 seconds'`;
    expect(await app.sql(recent, [stream])).toHaveLength(1);
    expect(livekit.isConnected(await livekit.join(joined.token))).toBe(true);
    await livekit.webhooks.settled();
  });

  test('a removed guest is disconnected, also with a token that the media server has issued', async () => {
    const { room, call } = await newCall();
    await joinAs(alice, call);
    const { guest, connection } = await guestIn(call);
    const path = `/call/${call}/external/participants/${guest.id}/remove`;
    expect(ok(await alice.api.post(path, {})).guest).toMatchObject({ id: guest.id, state: 'removed' });
    await livekit.webhooks.settled();
    expect(livekit.isConnected(connection)).toBe(false);
    rejected(await guest.post('call_session'), 403, 'guest_removed');
    rejected(await guest.get('chat/messages'), 403, 'guest_removed');
    rejected(await guest.renew(), 403, 'guest_removed');
    const again = await livekit.join(connection.freshToken);
    await livekit.webhooks.settled();
    await until('the second removal', () => !livekit.isConnected(again));
    livekit.webhooks.deliverBy(() => 'drop');
    const third = await livekit.join(connection.freshToken);
    await app.get<Reconciler>(Reconciler).run();
    expect(livekit.isConnected(third)).toBe(false);
    ok(await alice.api.get(`/chat/rooms/${room}/messages`));
  });

  test('a lock keeps guests inside, and ejects them on request', async () => {
    const { call } = await newCall();
    await joinAs(alice, call);
    const { guest, connection } = await guestIn(call);
    ok(await alice.api.post(`/call/${call}/external/lock`, { locked: true }));
    expect(livekit.isConnected(connection)).toBe(true);
    rejected(await guest.post('call_session'), 403, 'call_locked');
    ok(await alice.api.post(`/call/${call}/external/lock`, { locked: true, eject: true }));
    await livekit.webhooks.settled();
    expect(livekit.isConnected(connection)).toBe(false);
    ok(await alice.api.post(`/call/${call}/external/lock`, { locked: false }));
    expect(ok(await guest.post('call_session'), 202).state).toBe('waiting');
  });

  test('a revoked invite disconnects its guests', async () => {
    const { call } = await newCall();
    await joinAs(alice, call);
    const body = { call_id: call, kind: 'link', require_approval: false };
    const invite = ok(await alice.api.post('/call/external_invites', body), 201).invites[0];
    const guest = new GuestBrowser(app.anonymous, invite.token);
    ok(await guest.claim({ name: 'Gina' }), 201);
    const connection = await livekit.join(ok(await guest.post('call_session')).token);
    await livekit.webhooks.settled();
    ok(await alice.api.delete(`/call/external_invites/${invite.id}`));
    expect(livekit.isConnected(connection)).toBe(false);
    const again = await livekit.join(connection.freshToken);
    await livekit.webhooks.settled();
    await until('the removal', () => !livekit.isConnected(again));
    expect(await stateOf(guest)).toBe('removed');
  });

  test('a guest who disconnects comes back without approval; requests work without the media server', async () => {
    const { call } = await newCall();
    await joinAs(alice, call);
    const { guest, connection } = await guestIn(call);
    expect(await stateOf(guest)).toBe('in_session');
    await livekit.leave(connection);
    await livekit.webhooks.settled();
    await until('the disconnection', async () => (await stateOf(guest)) === 'left');
    livekit.unavailable = true;
    try {
      ok(await guest.post('call_session'));
      ok(await guest.get('status'));
      ok(await guest.post('session/leave'));
    } finally {
      livekit.unavailable = false;
    }
  });

  test('viewers of a livestream watch, and the media server knows them as hidden', async () => {
    const call = ok(await alice.api.post('/call/rooms', { title: 'Town hall', kind: 'livestream' }), 201).room
      .id;
    await joinAs(alice, call);
    const body = { call_id: call, kind: 'link', role: 'viewer' };
    const { token } = ok(await alice.api.post('/call/external_invites', body), 201).invites[0];
    const viewer = new GuestBrowser(app.anonymous, token);
    const joined = ok(await viewer.post('livestream_join', {}));
    const connection = await livekit.join(joined.token);
    await livekit.webhooks.settled();
    expect(connection.identity).toBe(`v:${joined.viewer.id}`);
    // A place is held while connected, however long ago the token was issued.
    await app.sql(`UPDATE guests SET active_at = now() - interval '1 hour' WHERE id = $1`, [
      joined.viewer.id,
    ]);
    await app.sql(`UPDATE calls SET max_viewers = 1 WHERE id = $1`, [call]);
    rejected(await viewer.post('livestream_join', {}), 429, 'livestream_full');
    await livekit.leave(connection);
    await livekit.webhooks.settled();
    await until('the free place', async () => (await viewer.post('livestream_join', {})).status === 200);
  });
});
