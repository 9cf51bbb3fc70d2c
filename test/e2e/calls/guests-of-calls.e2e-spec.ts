import { randomBytes, randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { CallServer } from '../../../src/modules/calls/call-server.js';
import { Kicks } from '../../../src/modules/calls/changes/kicks.js';
import { guestIdentity } from '../../../src/modules/calls/model/call-events.js';
import { Reconciler } from '../../../src/modules/calls/events/participant-events.js';
import { AuditReader } from '../../../src/platform/audit/audit-reader.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { type Connection, LiveKit } from '../../support/livekit/livekit.ts';
import { until } from '../../support/until.ts';

const REMOVE = 'RoomService/RemoveParticipant';

describe('calls with guests, and calls of events', () => {
  let app: TestApp;
  let livekit: LiveKit;
  let alice: TestUser;
  let bob: TestUser;
  let mallory: TestUser;

  beforeAll(async () => {
    livekit = await LiveKit.start();
    app = await TestApp.start(livekit.settings);
    livekit.webhooks.targets.push(app.base);
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    [mallory] = await app.tenant('evil', 'mallory');
  });
  afterAll(async () => {
    await app?.stop();
    await livekit?.stop();
  });
  beforeEach(() => livekit.webhooks.deliverBy(() => 'deliver'));

  const makeCall = async () => {
    const { room } = (await alice.api.post('/call/rooms', { title: 'Guests', member_ids: [bob.id] })).body;
    expect((await alice.api.post(`/call/tokens/${room.id}/mint`)).status).toBe(200);
    return room.id as string;
  };

  /** An admitted guest of a call, as the claim of an invite makes one. */
  const makeGuest = async (callId: string, email = 'guest@example.org', creator = alice) => {
    const [inviteId, id] = [randomUUID(), randomUUID()];
    const { tenantId } = alice;
    await app.sql(
      `INSERT INTO external_invites (tenant_id, id, target_kind, call_id, kind, role, token_hash, require_otp, require_approval,
                                     chat_allowed, max_uses, created_by, expires_at)
       VALUES ($1, $2, 'call', $3, 'link', 'guest', $4, true, true, true, 10, $5, now() + interval '1 day')`,
      [tenantId, inviteId, callId, randomBytes(32), creator.id],
    );
    await app.sql(
      `INSERT INTO guests (tenant_id, id, invite_id, call_id, role, state, display_name, email, email_verified_at, token_hash)
       VALUES ($1, $2, $3, $4, 'guest', 'admitted', 'Gus', $5, now(), $6)`,
      [tenantId, id, inviteId, callId, email, randomBytes(32)],
    );
    return id;
  };
  const join = async (callId: string, guestId: string): Promise<Connection> => {
    const key = { tenantId: alice.tenantId!, callId };
    const request = { identity: guestIdentity('guest', guestId), name: 'Gus', role: 'guest' } as const;
    const connection = await livekit.join(await app.get(CallServer).mintToken(key, request));
    await livekit.webhooks.settled();
    return connection;
  };
  const stateOf = async (id: string) =>
    (await app.sql(`SELECT state, kick_pending FROM guests WHERE id = $1`, [id]))[0];

  test('a removed guest is disconnected, and again with each old token', async () => {
    const callId = await makeCall();
    const id = await makeGuest(callId);
    const connection = await join(callId, id);
    expect(await stateOf(id)).toEqual({ state: 'in_session', kick_pending: false });
    const remove = (by: TestUser) =>
      by.api.post(`/call/${callId}/external/participants/${id}/remove`, { reason: 'x' });
    expect((await remove(mallory)).status).toBe(404);
    expect((await remove(bob)).status).toBe(403);
    expect(
      (await alice.api.post(`/call/${callId}/external/participants/${randomUUID()}/remove`)).status,
    ).toBe(404);
    const removed = await remove(alice);
    expect(removed.body).toEqual({ guest: { id, state: 'removed' }, kick: 'done' });
    expect((await remove(alice)).body).toEqual(removed.body);
    await livekit.webhooks.settled();
    expect(livekit.isConnected(connection)).toBe(false);
    const again = await livekit.join(connection.freshToken);
    await livekit.webhooks.settled();
    expect(livekit.isConnected(again)).toBe(false);
    expect(await stateOf(id)).toEqual({ state: 'removed', kick_pending: false });
    const bans = await app.sql(`SELECT subject FROM call_bans WHERE call_id = $1 ORDER BY subject`, [callId]);
    expect(bans.map(({ subject }) => subject)).toEqual(['email:guest@example.org', `guest:${id}`]);
  });

  test('a removal works without the media server, and is repeated until it succeeds', async () => {
    const callId = await makeCall();
    const id = await makeGuest(callId, 'second@example.org');
    const connection = await join(callId, id);
    livekit.unavailable = true;
    const removed = await alice.api.post(`/call/${callId}/external/participants/${id}/remove`);
    expect(removed.body).toEqual({ guest: { id, state: 'removed' }, kick: 'pending' });
    livekit.unavailable = false;
    expect(await stateOf(id)).toEqual({ state: 'removed', kick_pending: true });
    await app.get(Reconciler).run();
    expect(livekit.isConnected(connection)).toBe(false);
    expect(await stateOf(id)).toEqual({ state: 'removed', kick_pending: false });
  });

  test('a lock leaves guests in the call; with eject they wait for a new approval', async () => {
    const callId = await makeCall();
    const id = await makeGuest(callId, 'third@example.org');
    const connection = await join(callId, id);
    const lock = (body: object, by = alice) => by.api.post(`/call/${callId}/external/lock`, body);
    expect((await lock({}, bob)).status).toBe(403);
    expect((await lock({}, mallory)).status).toBe(404);
    expect((await lock({ locked: 'yes' })).status).toBe(422);
    expect((await lock({})).body.call).toMatchObject({ external_locked: true });
    expect((await alice.api.get('/meetings/live')).body.meetings).toContainEqual(
      expect.objectContaining({ call_id: callId, locked: true, external: true, participants: 1 }),
    );
    expect(livekit.isConnected(connection)).toBe(true);
    expect((await lock({ eject: true })).status).toBe(200);
    await livekit.webhooks.settled();
    expect(livekit.isConnected(connection)).toBe(false);
    const again = await livekit.join(connection.freshToken);
    await livekit.webhooks.settled();
    expect(livekit.isConnected(again)).toBe(false);
    expect(await stateOf(id)).toEqual({ state: 'waiting', kick_pending: false });
    expect((await lock({ locked: false })).body.call.external_locked).toBe(false);
    await alice.api.post(`/call/${callId}/end`);
    expect((await lock({})).body.error).toBe('call_ended');
  });

  test('guests are disconnected when the creator of their invite has no access any more', async () => {
    const fields = { type: 'group', name: 'Offsite', member_ids: [bob.id] };
    const chat = (await alice.api.post('/chat/rooms', fields)).body.room;
    const callId = (await alice.api.post('/call/rooms', { room_id: chat.id })).body.room.id as string;
    expect((await alice.api.post(`/call/tokens/${callId}/mint`)).status).toBe(200);
    const [mine, bobs] = [
      await makeGuest(callId, 'a@example.org'),
      await makeGuest(callId, 'b@example.org', bob),
    ];
    const [stays, ends] = [await join(callId, mine), await join(callId, bobs)];
    expect((await alice.api.delete(`/chat/rooms/${chat.id}/members/${bob.id}`)).status).toBe(200);
    await app.get<OutboxWorker>(OutboxWorker).drain();
    expect([livekit.isConnected(stays), livekit.isConnected(ends)]).toEqual([true, false]);
    const again = await livekit.join(ends.freshToken);
    await livekit.webhooks.settled();
    expect(livekit.isConnected(again)).toBe(false);
  });

  test('a guest who disconnects has left and may come back', async () => {
    const callId = await makeCall();
    const id = await makeGuest(callId, 'fourth@example.org');
    const connection = await join(callId, id);
    await livekit.leave(connection);
    await livekit.webhooks.settled();
    expect((await stateOf(id)).state).toBe('left');
    const again = await join(callId, id);
    expect(livekit.isConnected(again)).toBe(true);
    expect((await stateOf(id)).state).toBe('in_session');
  });

  test('a guest who connects again stays although the first connection ended before it was checked', async () => {
    const callId = await makeCall();
    const id = await makeGuest(callId, 'fifth@example.org');
    const kicks = app.get(Kicks);
    const admit = kicks.admit.bind(kicks);
    let again: Connection | undefined;
    jest.spyOn(kicks, 'admit').mockImplementationOnce(async (call, identity) => {
      await livekit.leave(first);
      await until('the end of the connection', async () => (await stateOf(id)).state === 'left');
      // The service does not know the second connection yet.
      livekit.webhooks.deliverBy(() => 'hold');
      again = await livekit.join(first.freshToken);
      await admit(call, identity);
    });
    const key = { tenantId: alice.tenantId!, callId };
    const request = { identity: guestIdentity('guest', id), name: 'Gus', role: 'guest' } as const;
    livekit.webhooks.deliverBy(() => 'hold');
    const first = await livekit.join(await app.get(CallServer).mintToken(key, request));
    livekit.webhooks.deliverBy(() => 'deliver');
    await livekit.webhooks.release();
    expect(livekit.isConnected(again!)).toBe(true);
    await livekit.webhooks.release();
    expect(livekit.isConnected(again!)).toBe(true);
    expect((await stateOf(id)).state).toBe('in_session');
  });

  test('only connected guests are disconnected, until the media server does not respond', async () => {
    const callId = await makeCall();
    const emails = ['one@example.org', 'two@example.org', 'three@example.org'];
    const ids = await Promise.all(emails.map((email) => makeGuest(callId, email)));
    const connections = [await join(callId, ids[0]!), await join(callId, ids[1]!)];
    const removals = () => livekit.requests.filter((each) => each === REMOVE).length;
    let before = removals();
    livekit.failing.add(REMOVE);
    try {
      expect((await alice.api.post(`/call/${callId}/external/lock`, { eject: true })).status).toBe(200);
      expect(removals() - before).toBe(1);
    } finally {
      livekit.failing.delete(REMOVE);
    }
    const states = await Promise.all(ids.map(stateOf));
    expect(states.map(({ state, kick_pending }) => [state, kick_pending])).toEqual([
      ['waiting', true],
      ['waiting', true],
      ['waiting', false],
    ]);
    await app.get(Reconciler).run();
    expect(connections.map((each) => livekit.isConnected(each))).toEqual([false, false]);
    const [{ invite_id }] = await app.sql(`SELECT invite_id FROM guests WHERE id = $1`, [ids[2]]);
    before = removals();
    expect((await alice.api.delete(`/call/external_invites/${invite_id}`)).status).toBe(200);
    expect(removals() - before).toBe(0);
  });

  test('an event with conference.create has a call, which its attendees join and which starts again', async () => {
    const calendar = (await alice.api.post('/calendar', { name: 'Team', time_zone: 'Europe/Berlin' })).body
      .calendar;
    const created = await alice.api.post(`/calendar/${calendar.id}/events`, {
      title: 'Weekly',
      start: '2027-03-01T09:00:00',
      attendees: [{ user_id: bob.id }],
      conference: { create: true },
    });
    expect(created.status).toBe(201);
    const { event } = created.body;
    const { room_id: callId } = event.conference;
    expect(event.conference).toEqual({
      kind: 'call',
      url: expect.stringContaining(`/calls/${callId}`),
      room_id: callId,
    });
    expect((await bob.api.get(`/call/${callId}`)).body.call).toMatchObject({
      title: 'Weekly',
      state: 'scheduled',
      scheduled_at: '2027-03-01T08:00:00.000Z',
    });
    expect((await bob.api.post(`/call/tokens/${callId}/mint`)).status).toBe(200);
    expect((await alice.api.post(`/call/${callId}/end`)).body.call.state).toBe('scheduled');
    expect((await alice.api.post(`/call/tokens/${callId}/mint`)).status).toBe(200);
    const path = `/calendar/${calendar.id}/events/${event.id}`;
    const update = {
      title: 'Weekly call',
      conference: { kind: 'call' },
      attendees: [],
      base_revision: event.revision,
    };
    const updated = await alice.api.put(path, update);
    expect(updated.body.event.conference).toEqual(event.conference);
    expect((await bob.api.get(`/call/${callId}`)).status).toBe(404);
    const deleted = await alice.api.delete(path, { base_revision: updated.body.event.revision });
    expect(deleted.status).toBe(200);
    expect((await alice.api.get(`/call/${callId}`)).body.call.state).toBe('ended');
    await app.get(OutboxWorker).drain();
  });

  test('the end of a call that starts again counts the participants since its last start', async () => {
    const { calendar } = (await alice.api.post('/calendar', { name: 'Daily' })).body;
    const body = { title: 'Daily', start: '2027-03-01T09:00:00Z', attendees: [{ user_id: bob.id }] };
    const created = await alice.api.post(`/calendar/${calendar.id}/events`, {
      ...body,
      conference: { create: true },
    });
    const { room_id: callId } = created.body.event.conference;
    const attend = async (user: TestUser) => {
      const connection = await livekit.join((await user.api.post(`/call/tokens/${callId}/mint`)).body.token);
      await livekit.webhooks.settled();
      return connection;
    };
    for (const users of [[alice, bob], [bob]]) {
      for (const user of users) await attend(user);
      expect((await alice.api.post(`/call/${callId}/end`)).status).toBe(200);
      await app.get(OutboxWorker).drain();
    }
    const filter = { action: 'call.ended', objectKind: 'call', objectId: callId };
    const ends = await app.get(AuditReader).page(alice.tenantId, filter, 50);
    // The newest entry comes first.
    expect(ends.map(({ data }) => data)).toEqual([{ participants: 1 }, { participants: 2 }]);
  });

  test('the later part of a series that is split has a call of its own, which stays when the earlier part is deleted', async () => {
    const { calendar } = (await alice.api.post('/calendar', { name: 'Split' })).body;
    const { event } = (
      await alice.api.post(`/calendar/${calendar.id}/events`, {
        title: 'Weekly',
        start: '2027-03-01T09:00:00Z',
        recurrence: { rules: ['FREQ=WEEKLY;COUNT=4'] },
        attendees: [{ user_id: bob.id }],
        conference: { create: true },
      })
    ).body;
    const path = `/calendar/${calendar.id}/events/${event.id}`;
    const echoed = await alice.api.put(path, { ...event, conference: { kind: 'call' } });
    expect([echoed.status, echoed.body.revision]).toEqual([200, event.revision]);
    const { body } = await alice.api.put(path, {
      scope: 'this_and_following',
      recurrence_id: '2027-03-15T09:00:00Z',
      title: 'Later',
    });
    const { room_id: earlier } = body.event.conference;
    const { room_id: later } = body.new_event.conference;
    expect([earlier, later === earlier]).toEqual([event.conference.room_id, false]);
    expect((await alice.api.delete(path)).status).toBe(200);
    expect((await alice.api.get(`/call/${earlier}`)).body.call.state).toBe('ended');
    expect((await bob.api.get(`/call/${later}`)).body.call).toMatchObject({
      state: 'scheduled',
      scheduled_at: '2027-03-15T09:00:00.000Z',
    });
    await app.get(OutboxWorker).drain();
  });
});
