import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  EgressStatus,
  ParticipantInfo,
  Room,
  type RoomCompositeEgressRequest,
  WebhookEvent,
} from '@livekit/protocol';
import { CallsRepository } from '../../../src/modules/calls/calls.repository.js';
import { Reconciler } from '../../../src/modules/calls/events/participant-events.js';
import { RecordingEvents } from '../../../src/modules/calls/recordings/recording-events.js';
import { RecordingFiles } from '../../../src/modules/calls/recordings/recording-files.js';
import { BlobCollector } from '../../../src/platform/blobs/blob-collector.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { CatchUp } from '../../../src/platform/realtime/catch-up.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { LiveKit } from '../../support/livekit/livekit.ts';
import { inDatabase } from '../../support/database/database.ts';
import { TestSocket } from '../../support/network/socket.ts';
import { until } from '../../support/until.ts';

describe('calls of members', () => {
  let app: TestApp;
  let livekit: LiveKit;
  let alice: TestUser;
  let bob: TestUser;
  let carol: TestUser;
  let mallory: TestUser;

  beforeAll(async () => {
    livekit = await LiveKit.start();
    app = await TestApp.start(livekit.settings);
    livekit.webhooks.targets.push(app.base);
    [alice, bob, carol] = await app.tenant('acme', 'alice', 'bob', 'carol');
    [mallory] = await app.tenant('evil', 'mallory');
  });
  afterAll(async () => {
    await app?.stop();
    await livekit?.stop();
  });
  beforeEach(() => livekit.webhooks.deliverBy(() => 'deliver'));

  const makeRoom = async (members = [bob]) => {
    const body = { type: 'group', name: 'Offsite', member_ids: members.map(({ id }) => id) };
    const created = await alice.api.post('/chat/rooms', body);
    expect(created.status).toBe(201);
    return created.body.room.id as string;
  };
  const makeCall = async (body: object, by = alice) => {
    const created = await by.api.post('/call/rooms', body);
    expect([200, 201]).toContain(created.status);
    return created.body.room;
  };
  const mint = (id: string, by = alice, body?: object) => by.api.post(`/call/tokens/${id}/mint`, body);
  const join = async (id: string, by = alice) => {
    const minted = await mint(id, by);
    expect(minted.status).toBe(200);
    const connection = await livekit.join(minted.body.token);
    await livekit.webhooks.settled();
    return connection;
  };
  const grantsOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).video;
  const read = async (id: string, by = alice) => (await by.api.get(`/call/${id}`)).body.call;
  const drain = () => app.get(OutboxWorker).drain();

  test('a room has one live call, also when many members create it at once', async () => {
    const roomId = await makeRoom([bob, carol]);
    const users = [alice, bob, carol, alice, bob, carol, alice, bob];
    const responses = await Promise.all(users.map(({ api }) => api.post('/call/rooms', { room_id: roomId })));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([
      200, 200, 200, 200, 200, 200, 200, 201,
    ]);
    expect(new Set(responses.map(({ body }) => body.room.id)).size).toBe(1);
    const { room } = responses[0]!.body;
    expect(room).toMatchObject({
      call_id: room.id,
      room_id: roomId,
      title: 'Offsite',
      kind: 'meeting',
      state: 'live',
      external_locked: false,
      participants: 0,
      settings: { lobby: true, otp: true, guest_chat: true, auto_record: false },
    });
    const messages = (await bob.api.get(`/chat/rooms/${roomId}/messages`)).body.messages;
    expect(messages.filter((message: any) => message.kind === 'call')).toMatchObject([
      { kind: 'call', body: '', event: { type: 'call_started', call_id: room.id, title: 'Offsite' } },
    ]);
    const shown = (await bob.api.get(`/chat/rooms/${roomId}`)).body.room;
    expect(shown.active_call).toMatchObject({ call_id: room.id, title: 'Offsite', participants: 0 });
  });

  test('an open channel shows its live call to its members only', async () => {
    const channel = { type: 'channel', name: 'All', visibility: 'tenant' };
    const { id } = (await alice.api.post('/chat/rooms', channel)).body.room;
    const call = await makeCall({ room_id: id, title: 'Reorganisation' });
    const shownTo = async (user: TestUser) => (await user.api.get(`/chat/rooms/${id}`)).body.room.active_call;
    expect(await shownTo(alice)).toMatchObject({ call_id: call.id, title: 'Reorganisation' });
    expect((await bob.api.get(`/call/${call.id}`)).status).toBe(404);
    expect(await shownTo(bob)).toBeNull();
    expect((await bob.api.post(`/chat/rooms/${id}/members`, { user_id: bob.id })).status).toBe(201);
    expect(await shownTo(bob)).toMatchObject({ call_id: call.id });
  });

  test('client_id makes a repeated request return the same call', async () => {
    const body = { title: 'Once', client_id: randomUUID() };
    const responses = await Promise.all([1, 2, 3, 4].map(() => alice.api.post('/call/rooms', body)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 201]);
    expect(new Set(responses.map((each) => each.body.room.id)).size).toBe(1);
    expect((await bob.api.post('/call/rooms', body)).status).toBe(201);
  });

  test('a member of the room joins by a token for this room only, without administrative grants', async () => {
    const roomId = await makeRoom();
    const call = await makeCall({ room_id: roomId });
    const minted = await bob.api.get(`/call/tokens/${roomId}/mint`);
    expect(minted.status).toBe(200);
    expect(minted.headers.get('cache-control')).toContain('no-store');
    expect(minted.body).toEqual({
      token: expect.any(String),
      url: livekit.settings.LIVEKIT_URL,
      room: `t${alice.tenantId!.replaceAll('-', '')}.${call.id}`,
      identity: expect.stringMatching(new RegExp(`^u:${bob.id}:[0-9a-f]{8}$`)),
      expires_in: 120,
      call_id: call.id,
    });
    expect(grantsOf(minted.body.token)).toEqual({
      roomJoin: true,
      room: minted.body.room,
      canUpdateOwnMetadata: false,
      canPublish: true,
      canPublishSources: ['camera', 'microphone', 'screen_share', 'screen_share_audio'],
      canPublishData: true,
      canSubscribe: true,
      hidden: false,
    });
    const audio = await mint(call.id, bob, { audio_only: true });
    expect(grantsOf(audio.body.token).canPublishSources).toEqual(['microphone']);
    const first = await livekit.join(minted.body.token);
    await livekit.webhooks.settled();
    expect((await read(call.id)).participants).toBe(1);
    expect((await alice.api.get('/meetings/live')).body.meetings).toContainEqual(
      expect.objectContaining({
        call_id: call.id,
        participants: 1,
        role: 'host',
        can_join: true,
        locked: false,
      }),
    );
    // A second connection of the same session replaces the first.
    const second = await livekit.join(audio.body.token);
    await livekit.webhooks.settled();
    expect([livekit.isConnected(first), livekit.isConnected(second)]).toEqual([false, true]);
    expect((await read(call.id)).participants).toBe(1);
    await livekit.leave(second);
    await livekit.webhooks.settled();
    expect((await read(call.id)).participants).toBe(0);
  });

  test('tokens for others: no access without membership, listeners in a livestream', async () => {
    const roomId = await makeRoom();
    const call = await makeCall({ room_id: roomId, kind: 'livestream' });
    for (const outsider of [carol, mallory]) {
      for (const id of [call.id, roomId]) expect((await mint(id, outsider)).status).toBe(404);
      expect((await outsider.api.get(`/call/${call.id}`)).status).toBe(404);
      expect((await outsider.api.post(`/call/${call.id}/end`)).status).toBe(404);
      expect(
        (await outsider.api.get('/meetings/live')).body.meetings.map((m: any) => m.call_id),
      ).not.toContain(call.id);
    }
    expect((await mint(randomUUID())).status).toBe(404);
    const listener = await mint(call.id, bob);
    expect(grantsOf(listener.body.token)).toMatchObject({
      canPublish: false,
      canPublishData: false,
      hidden: false,
    });
    expect(grantsOf((await mint(call.id)).body.token)).toMatchObject({ canPublish: true });
  });

  test('a call without a room is for its host and its members', async () => {
    const call = await makeCall({ title: 'Private', member_ids: [bob.id] });
    expect((await mint(call.id, bob)).status).toBe(200);
    expect((await mint(call.id, carol)).status).toBe(404);
    expect((await bob.api.post(`/call/${call.id}/end`)).status).toBe(403);
    expect((await alice.api.post('/call/rooms', { title: 'x', member_ids: [mallory.id] })).status).toBe(404);
    const roomId = await makeRoom();
    const mixed = await alice.api.post('/call/rooms', { room_id: roomId, member_ids: [bob.id] });
    expect(mixed.status).toBe(422);
  });

  test('a deactivated member is not added to a call', async () => {
    const [owner, member] = await app.tenant('left', 'owner', 'member');
    const body = { title: 'Private', member_ids: [member.id] };
    expect((await owner.api.post('/call/rooms', body)).status).toBe(201);
    expect((await owner.api.post(`/tenant/members/${member.id}/deactivate`)).status).toBe(200);
    const { status, body: error } = await owner.api.post('/call/rooms', body);
    expect([status, error.error]).toEqual([404, 'not_found']);
  });

  test('a scheduled call starts with its first token; a second one in the room waits for the end of the first', async () => {
    const roomId = await makeRoom();
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
    const [first, second] = [
      await makeCall({ room_id: roomId, scheduled_at }),
      await makeCall({ room_id: roomId, scheduled_at }),
    ];
    expect([first.state, second.state]).toEqual(['scheduled', 'scheduled']);
    expect((await mint(roomId, bob)).status).toBe(404);
    const responses = await Promise.all([mint(first.id, bob), mint(first.id, alice), mint(first.id, bob)]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await read(first.id)).toMatchObject({ state: 'live' });
    const rejected = await mint(second.id, bob);
    expect(rejected.body).toMatchObject({ error: 'call_in_progress', call_id: first.id });
    await alice.api.post(`/call/${first.id}/end`);
    expect((await mint(first.id)).body.error).toBe('call_ended');
    expect((await mint(second.id, bob)).status).toBe(200);
  });

  test('the end of a call disconnects all and is reported once', async () => {
    const roomId = await makeRoom();
    const call = await makeCall({ room_id: roomId });
    const socket = await TestSocket.open(app, bob);
    const connections = [await join(call.id), await join(call.id, bob)];
    const ends = await Promise.all([1, 2, 3].map(() => alice.api.post(`/call/${call.id}/end`)));
    expect(ends.map(({ status }) => status)).toEqual([200, 200, 200]);
    await drain();
    expect(connections.map((each) => livekit.isConnected(each))).toEqual([false, false]);
    expect(await read(call.id)).toMatchObject({ state: 'ended', participants: 0 });
    const ended = await socket.next('call.ended', ({ call: { id } }) => id === call.id);
    expect(ended.call).toMatchObject({ state: 'ended', room_id: roomId });
    expect(socket.named('call.updated').length).toBeGreaterThan(0);
    socket.close();
    const messages = (await bob.api.get(`/chat/rooms/${roomId}/messages`)).body.messages;
    expect(messages.filter((m: any) => m.event?.type === 'call_ended')).toMatchObject([
      {
        sender: { id: alice.id },
        event: { call_id: call.id, participants: 2, duration_ms: expect.any(Number) },
      },
    ]);
    expect((await bob.api.get(`/chat/rooms/${roomId}`)).body.room.active_call).toBeNull();
    expect((await mint(roomId, bob)).status).toBe(404);
  });

  test('a member who leaves the room is disconnected, and again when they come back with an old token', async () => {
    const roomId = await makeRoom([bob, carol]);
    const call = await makeCall({ room_id: roomId });
    const [mine, bobs] = [await join(call.id), await join(call.id, bob)];
    expect((await alice.api.delete(`/chat/rooms/${roomId}/members/${bob.id}`)).status).toBe(200);
    await drain();
    expect([livekit.isConnected(mine), livekit.isConnected(bobs)]).toEqual([true, false]);
    const again = await livekit.join(bobs.freshToken);
    await livekit.webhooks.settled();
    expect(livekit.isConnected(again)).toBe(false);
    // The event of the connection is lost: the reconciler disconnects.
    livekit.webhooks.deliverBy(() => 'drop');
    const silent = await livekit.join(bobs.freshToken);
    await app.get(Reconciler).run();
    expect([livekit.isConnected(mine), livekit.isConnected(silent)]).toEqual([true, false]);
    livekit.webhooks.deliverBy(() => 'deliver');
    expect((await alice.api.delete(`/chat/rooms/${roomId}`)).status).toBe(200);
    await drain();
    expect(livekit.isConnected(mine)).toBe(false);
  });

  test('an empty call ends after five minutes, but not while a token was minted', async () => {
    const roomId = await makeRoom();
    const call = await makeCall({ room_id: roomId });
    const connection = await join(call.id);
    await livekit.leave(connection);
    await livekit.webhooks.settled();
    const age = (seconds: number) =>
      app.sql(`UPDATE calls SET empty_since = now() - make_interval(secs => $2) WHERE id = $1`, [
        call.id,
        seconds,
      ]);
    await age(150);
    await app.get(Reconciler).run();
    expect((await read(call.id)).state).toBe('live');
    await age(400);
    expect((await mint(call.id, bob)).status).toBe(200);
    await app.get(Reconciler).run();
    expect((await read(call.id)).state).toBe('live');
    await age(400);
    await app.get(Reconciler).run();
    expect((await read(call.id)).state).toBe('ended');
    await drain();
  });

  test('capacity is checked at each token, except for a connected identity', async () => {
    const call = await makeCall({ title: 'Full', member_ids: [bob.id] });
    await app.sql(`UPDATE calls SET max_participants = 1 WHERE id = $1`, [call.id]);
    await join(call.id);
    expect((await mint(call.id, bob)).body.error).toBe('call_full');
    expect((await mint(call.id)).status).toBe(200);
    expect((await alice.api.get('/meetings/live')).body.meetings).toContainEqual(
      expect.objectContaining({ call_id: call.id, can_join: false }),
    );
  });

  test('events need a signature over their body; repeated, foreign and unknown ones change nothing', async () => {
    const call = await makeCall({ title: 'Signed' });
    const room = new Room({ name: (await mint(call.id)).body.room });
    const participant = new ParticipantInfo({
      sid: 'PA_x',
      identity: `u:${alice.id}:00000000`,
      joinedAtMs: BigInt(Date.now()),
    });
    const event = new WebhookEvent({
      event: 'participant_joined',
      id: 'EV_1',
      createdAt: 1n,
      room,
      participant,
    });
    const post = livekit.webhooks.post.bind(livekit.webhooks);
    const token = await livekit.webhooks.signature(event.toJsonString());
    expect(await post(event, { authorization: '' })).toBe(401);
    expect(await post(event, { authorization: `Bearer ${token}` })).toBe(401);
    expect(await post(event, {}, event.toJsonString().replace('PA_x', 'PA_y'))).toBe(401);
    const forged = await livekit.webhooks.signature(event.toJsonString(), 'x'.repeat(48));
    expect(await post(event, { authorization: forged })).toBe(401);
    expect(await post(event, { 'content-type': 'application/json' })).toBe(415);
    expect((await read(call.id)).participants).toBe(0);
    expect([await post(event), await post(event)]).toEqual([200, 200]);
    expect((await read(call.id)).participants).toBe(1);
    const others = ['lobby', `t${alice.tenantId!.replaceAll('-', '')}.${randomUUID()}`, 't.'];
    for (const [n, name] of others.entries()) {
      const foreign = new WebhookEvent({ ...event, id: `EV_f${n}`, room: new Room({ name }) });
      expect(await post(foreign)).toBe(200);
    }
    expect(await post(new WebhookEvent({ event: 'track_published', id: 'EV_t', room, participant }))).toBe(
      200,
    );
    const recorder = new ParticipantInfo({ ...participant, identity: 'EG_recorder' });
    expect(await post(new WebhookEvent({ ...event, id: 'EV_r', participant: recorder }))).toBe(200);
    expect((await read(call.id)).participants).toBe(1);
    expect(livekit.webhooks.statuses.filter((status) => status >= 500)).toEqual([]);
  });

  test('calls of two workspaces with the same id are different calls', async () => {
    const [here, there] = [await TestSocket.open(app, alice), await TestSocket.open(app, mallory)];
    const { id } = await makeCall({ title: 'Here' });
    await here.next('call.started', ({ call }) => call.id === id);
    const [{ kind, state }] = await app.sql('SELECT kind, state FROM calls WHERE id = $1', [id]);
    await inDatabase(
      await app.databaseOf(mallory.tenantId!),
      `INSERT INTO calls (tenant_id, id, title, kind, state, host_id, started_at, empty_since)
       VALUES ($1, $2, 'There', $3, $4, $5, now(), now())`,
      [mallory.tenantId, id, kind, state, mallory.id],
    );
    await app.get(CatchUp).run();
    await there.next('call.started', ({ call }) => call.title === 'There');
    const calls = app.get(CallsRepository);
    const tenants: string[] = [];
    await app.inCells(async () => {
      for (let [next] = await calls.listLive(null, 1); next; [next] = await calls.listLive(next, 1))
        if (next.callId === id) tenants.push(next.tenantId);
    });
    expect(tenants.toSorted()).toEqual([alice.tenantId!, mallory.tenantId!].toSorted());
    await app.sql('DELETE FROM calls WHERE tenant_id = $1 AND id = $2', [mallory.tenantId, id]);
    for (const socket of [here, there]) socket.close();
  });

  describe('recordings', () => {
    const start = (id: string, by = alice) => by.api.post(`/call/${id}/recordings`);
    const list = async (by = alice, query = '') =>
      (await by.api.get(`/meetings/recordings${query}`)).body.recordings;
    const one = async (id: string, by = alice) => (await list(by)).find((each: any) => each.id === id);

    test('from the start to the file, its link and its expiry', async () => {
      const roomId = await makeRoom();
      const call = await makeCall({ room_id: roomId });
      await join(call.id);
      const socket = await TestSocket.open(app, bob);
      const starts = await Promise.all([start(call.id), start(call.id), start(call.id)]);
      expect(starts.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
      expect(starts.find(({ status }) => status === 409)!.body.error).toBe('recording_active');
      const { recording } = starts.find(({ status }) => status === 201)!.body;
      expect(recording).toMatchObject({ call_id: call.id, room_id: roomId, url: null, error: null });
      const { egressId } = livekit.egressOf((await mint(call.id)).body.room);
      await livekit.activate(egressId);
      await livekit.webhooks.settled();
      expect(await one(recording.id)).toMatchObject({ state: 'active', url: null });
      expect((await read(call.id)).recording).toBe(true);
      const stopped = await alice.api.post(`/call/${call.id}/recordings/${recording.id}/stop`);
      expect(stopped.status).toBe(200);
      // The outbox may have stored the file already.
      const ended = new Set(['processing', 'ready']);
      await until('the end of the recording', async () => ended.has((await one(recording.id)).state));
      await drain();
      const ready = await one(recording.id, bob);
      expect(ready).toMatchObject({ state: 'ready', duration_ms: 90_000, size: 5, limit_reached: false });
      expect(existsSync(path.join(livekit.directory, `${recording.id}.mp4`))).toBe(false);
      await socket.next('recording.updated', (payload) => payload.recording.state === 'ready');
      socket.close();
      const file = await app.anonymous.get(ready.url.replace('/apis/v1', ''));
      expect([file.status, file.text]).toEqual([200, 'video']);
      // The last character has bits that decoders ignore.
      const forged = ready.url.replace(/.(?=.{9}$)/, (one: string) => (one === 'A' ? 'B' : 'A'));
      expect((await app.anonymous.get(forged.replace('/apis/v1', ''))).status).toBe(404);
      expect((await list(bob, `?call_id=${call.id}`)).map((each: any) => each.id)).toEqual([recording.id]);
      const ofRoom = await bob.api.get(`/chat/rooms/${roomId}/recordings`);
      expect(ofRoom.body.recordings.map((each: any) => each.id)).toEqual([recording.id]);
      for (const outsider of [carol, mallory]) {
        expect(await one(recording.id, outsider)).toBeUndefined();
        expect((await outsider.api.get(`/chat/rooms/${roomId}/recordings`)).status).toBe(404);
        const stop = await outsider.api.post(`/call/${call.id}/recordings/${recording.id}/stop`);
        expect([403, 404]).toContain(stop.status);
      }
      const messages = (await bob.api.get(`/chat/rooms/${roomId}/messages`)).body.messages;
      expect(messages.at(-1)).toMatchObject({
        kind: 'call',
        event: { type: 'recording_ready', recording_id: recording.id, duration_ms: 90_000 },
      });
      // A member who joins the room later does not see it.
      await alice.api.post(`/chat/rooms/${roomId}/members`, { user_id: carol.id });
      expect(await one(recording.id, carol)).toBeUndefined();
      await app.sql(`UPDATE recordings SET expires_at = now() - make_interval(secs => 1) WHERE id = $1`, [
        recording.id,
      ]);
      // The job skips a row that another transaction has locked; its next run deletes it.
      await until('the recording to be deleted', async () => {
        await app.get(RecordingFiles).expire();
        return (await one(recording.id)) === undefined;
      });
      await app.get(BlobCollector).collect();
      expect(await one(recording.id)).toBeUndefined();
      expect((await app.anonymous.get(ready.url.replace('/apis/v1', ''))).status).toBe(404);
    });

    test('every end: failed, aborted, limit reached, unknown to the media server', async () => {
      const ends: [string, (egress: string) => Promise<void>, object][] = [
        ['failed', (id) => livekit.fail(id), { state: 'failed', error: 'pipeline' }],
        ['aborted', (id) => livekit.fail(id, EgressStatus.EGRESS_ABORTED, ''), { state: 'aborted' }],
        [
          'limit',
          (id) => livekit.complete(id, Buffer.from('long'), EgressStatus.EGRESS_LIMIT_REACHED),
          { state: 'ready', limit_reached: true },
        ],
        [
          'lost',
          async (id) => void livekit.egresses.delete(id),
          { state: 'failed', error: 'unknown_to_call_server' },
        ],
      ];
      for (const [title, end, expected] of ends) {
        const call = await makeCall({ title });
        const { room } = (await mint(call.id)).body;
        const { id } = (await start(call.id)).body.recording;
        livekit.webhooks.deliverBy(() => 'drop');
        await end(livekit.egressOf(room).egressId);
        await app.sql(`UPDATE recordings SET updated_at = now() - interval '2 minutes' WHERE id = $1`, [id]);
        await app.get(RecordingEvents).reconcile();
        await drain();
        expect(await one(id)).toMatchObject({ ...expected, expires_at: expect.any(String) });
        livekit.webhooks.deliverBy(() => 'deliver');
        expect((await start(call.id)).status).toBe(201);
      }
    });

    test('a failed recording is deleted after 90 days, with the file that the media server left', async () => {
      const call = await makeCall({ title: 'Half' });
      const { room } = (await mint(call.id)).body;
      const { id } = (await start(call.id)).body.recording;
      await livekit.complete(
        livekit.egressOf(room).egressId,
        Buffer.from('half'),
        EgressStatus.EGRESS_FAILED,
      );
      await livekit.webhooks.settled();
      const file = path.join(livekit.directory, `${id}.mp4`);
      const expire = async (days: number) => {
        const earlier = `UPDATE recordings SET expires_at = expires_at - make_interval(days => $2) WHERE id = $1`;
        await app.sql(earlier, [id, days]);
        await app.get(RecordingFiles).expire();
        return [await one(id), existsSync(file)];
      };
      expect(await expire(89)).toEqual([expect.objectContaining({ state: 'failed' }), true]);
      expect(await expire(1)).toEqual([undefined, false]);
    });

    test('a recording that started although the response was lost is stopped', async () => {
      const call = await makeCall({ title: 'Orphan' });
      const { room } = (await mint(call.id)).body;
      livekit.unavailable = true;
      const rejected = await start(call.id);
      livekit.unavailable = false;
      expect([rejected.status, rejected.body.error]).toEqual([503, 'call_server_unavailable']);
      const [failed] = await list(alice, `?call_id=${call.id}`);
      expect(failed).toMatchObject({ state: 'failed', error: 'not_started' });
      const { status } = await start(call.id);
      expect(status).toBe(201);
      const info = livekit.egressOf(room);
      const late = info.clone();
      late.egressId = 'EG_late';
      const { value } = late.request as { value: RoomCompositeEgressRequest };
      value.fileOutputs[0]!.filepath = path.join(livekit.directory, `${failed.id}.mp4`);
      livekit.completesOnStop = false;
      livekit.egresses.set('EG_late', late);
      await livekit.activate('EG_late');
      await livekit.webhooks.settled();
      expect(livekit.egresses.get('EG_late')?.status).toBe(EgressStatus.EGRESS_ENDING);
      livekit.completesOnStop = true;
    });

    test('a call with auto_record is recorded from its first participant, once', async () => {
      const call = await makeCall({ title: 'Auto', member_ids: [bob.id], settings: { auto_record: true } });
      await join(call.id);
      await join(call.id, bob);
      await drain();
      expect(await list(alice, `?call_id=${call.id}`)).toHaveLength(1);
    });

    test('need the permission and a live call', async () => {
      const call = await makeCall({ title: 'Plain', member_ids: [bob.id] });
      expect((await start(call.id, bob)).status).toBe(403);
      await alice.api.post(`/call/${call.id}/end`);
      expect((await start(call.id)).body.error).toBe('call_not_live');
      await drain();
    });
  });

  describe('the media server', () => {
    test('unreachable, hanging or rejecting: 503; lists, locks and the end of a call still work', async () => {
      const call = await makeCall({ title: 'Down' });
      await livekit.unlisten();
      const minted = await mint(call.id);
      expect([minted.status, minted.body.error]).toEqual([503, 'call_server_unavailable']);
      expect(minted.headers.get('retry-after')).toBe('5');
      expect((await alice.api.get('/meetings/live')).status).toBe(200);
      expect((await alice.api.get('/meetings/recordings')).status).toBe(200);
      expect((await alice.api.post(`/call/${call.id}/external/lock`, {})).body.call.external_locked).toBe(
        true,
      );
      expect((await makeCall({ title: 'New' })).state).toBe('live');
      expect((await alice.api.post(`/call/${call.id}/end`)).status).toBe(200);
      await expect(app.get(Reconciler).run()).rejects.toThrow();
      await livekit.listen();
      await drain();
      livekit.unavailable = true;
      const other = await makeCall({ title: 'Unavailable' });
      expect((await mint(other.id)).body.error).toBe('call_server_unavailable');
      livekit.unavailable = false;
      livekit.hanging.add('RoomService/CreateRoom');
      expect((await mint(other.id)).body.error).toBe('call_server_unavailable');
      livekit.hanging.clear();
      expect((await mint(other.id)).status).toBe(200);
    });

    test('not configured: 503 for calls, recordings and events; lists are empty', async () => {
      const bare = await TestApp.start({}, app.databaseUrl);
      try {
        const api = bare.as(alice.token);
        const rejected = [
          await api.post('/call/rooms', { title: 'x' }),
          await api.post(`/call/tokens/${randomUUID()}/mint`),
          await bare.anonymous.post('/call/livekit/webhook', undefined, {
            raw: '{}',
            headers: { 'content-type': 'application/webhook+json' },
          }),
        ];
        expect(rejected.map(({ status, body }) => [status, body.error])).toEqual(
          rejected.map(() => [503, 'call_server_not_configured']),
        );
        expect((await api.get('/meetings/live')).status).toBe(200);
        await bare.get(Reconciler).run();
      } finally {
        await bare.stop();
      }
    });
  });
});
