import { randomUUID } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { EgressStatus } from '@livekit/protocol';
import { RecordingEvents } from '../../../src/modules/calls/recordings/recording-events.js';
import { BlobStore } from '../../../src/platform/blobs/store/blob-store.js';
import { BlobStoreError } from '../../../src/platform/blobs/store/object-store.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { LiveKit } from '../../support/livekit/livekit.ts';
import { TestSocket } from '../../support/network/socket.ts';
import { until } from '../../support/until.ts';

describe('notifications, declines and recordings of calls', () => {
  let app: TestApp;
  let livekit: LiveKit;
  let alice: TestUser;
  let bob: TestUser;
  let carol: TestUser;
  let dave: TestUser;
  let mallory: TestUser;
  let room: string;

  beforeAll(async () => {
    livekit = await LiveKit.start();
    app = await TestApp.start(livekit.settings);
    livekit.webhooks.targets.push(app.base);
    [alice, bob, carol, dave] = await app.tenant('acme', 'alice', 'bob', 'carol', 'dave');
    [mallory] = await app.tenant('evil', 'mallory');
    const body = { type: 'group', name: 'Offsite', member_ids: [bob.id, carol.id] };
    room = (await alice.api.post('/chat/rooms', body)).body.room.id;
    const recorders = { name: 'Recorders', permissions: ['calls.record'] };
    const { group } = (await alice.api.post('/rbac/groups', recorders)).body;
    for (const { id } of [bob, dave])
      expect((await alice.api.post(`/rbac/groups/${group.id}/members`, { user_id: id })).status).toBe(201);
  });
  afterAll(async () => {
    await app?.stop();
    await livekit?.stop();
  });
  beforeEach(async () => {
    await drain();
    await app.sql('DELETE FROM notifications');
  });

  const drain = () => app.get<OutboxWorker>(OutboxWorker).drain();
  const startCall = async (title = 'Budget'): Promise<string> => {
    const created = await alice.api.post('/call/rooms', { room_id: room, title });
    expect(created.status).toBe(201);
    return created.body.room.id;
  };
  const end = async (call: string, by = alice) =>
    expect((await by.api.post(`/call/${call}/end`)).status).toBe(200);
  const join = async (call: string, by: TestUser) => {
    const connection = await livekit.join((await by.api.post(`/call/tokens/${call}/mint`)).body.token);
    await livekit.webhooks.settled();
    return connection;
  };
  const listOf = async (user: TestUser, type: string): Promise<any[]> => {
    await drain();
    const { body } = await user.api.get('/notifications?limit=200');
    return body.notifications.filter((each: any) => each.type === type);
  };
  const decline = (call: string, by: TestUser) => by.api.post(`/call/${call}/decline`);
  const record = async (call: string, by = alice) => {
    const { status, body } = await by.api.post(`/call/${call}/recordings`);
    expect(status).toBe(201);
    const name = `t${alice.tenantId!.replaceAll('-', '')}.${call}`;
    return { recording: body.recording, egressId: livekit.egressOf(name).egressId };
  };
  const ready = async (id: string) =>
    until('the file', async () => {
      await livekit.webhooks.settled();
      await drain();
      const { recordings } = (await alice.api.get('/meetings/recordings?limit=200')).body;
      const found = recordings.find((each: any) => each.id === id);
      return found?.state === 'ready' && found;
    });

  /** Reconciles the recording as if it had not changed for these hours. */
  const hoursPass = async (id: string, hours: number) => {
    await app.sql(`UPDATE recordings SET updated_at = now() - make_interval(hours => $2) WHERE id = $1`, [
      id,
      hours,
    ]);
    await app.get<RecordingEvents>(RecordingEvents).reconcile();
    await drain();
  };

  test('a started call notifies the other members, with its title and its page', async () => {
    const call = await startCall('Budget 2027');
    for (const user of [bob, carol])
      expect(await listOf(user, 'call.started')).toMatchObject([
        {
          title: 'Alice started the call “Budget 2027”',
          actor: { id: alice.id },
          subject: { kind: 'call', id: call },
          url_path: `/calls/${call}`,
        },
      ]);
    expect(await listOf(alice, 'call.started')).toEqual([]);
    await end(call);
  });

  test('a missed call is for members who neither joined nor declined, and not for the one who ended it', async () => {
    const call = await startCall();
    await join(call, bob);
    expect(await listOf(carol, 'call.started')).toMatchObject([{ state: 'unread' }]);
    expect((await decline(call, carol)).body).toEqual({ call_id: call, user_id: carol.id });
    await until(
      'the notification to be read',
      async () => (await listOf(carol, 'call.started'))[0].state === 'read',
    );
    await end(call);
    for (const user of [alice, bob, carol]) expect(await listOf(user, 'call.missed')).toEqual([]);
    const second = await startCall('Second');
    await end(second);
    for (const user of [bob, carol])
      expect(await listOf(user, 'call.missed')).toMatchObject([
        { title: 'You missed the call “Second”', subject: { kind: 'call', id: second } },
      ]);
    expect(await listOf(alice, 'call.missed')).toEqual([]);
  });

  test('a call without a title in a direct room has the name of the caller', async () => {
    const { room: pair } = (await alice.api.post('/chat/rooms', { type: 'direct', member_ids: [bob.id] }))
      .body;
    const created = await alice.api.post('/call/rooms', { room_id: pair.id });
    expect(created.status).toBe(201);
    expect(await listOf(bob, 'call.started')).toMatchObject([
      { title: 'Call from Alice', subject: { title: 'Alice' } },
    ]);
    await end(created.body.room.id);
    expect(await listOf(bob, 'call.missed')).toMatchObject([{ title: 'You missed a call from Alice' }]);
    const titled = await alice.api.post('/call/rooms', { room_id: pair.id, title: 'Sync' });
    expect(await listOf(bob, 'call.started')).toMatchObject([{ title: 'Alice started the call “Sync”' }]);
    await end(titled.body.room.id);
  });

  test('a call of an event can be missed at each start', async () => {
    const { calendar } = (await alice.api.post('/calendar', { name: 'Team', time_zone: 'Europe/Berlin' }))
      .body;
    const { event } = (
      await alice.api.post(`/calendar/${calendar.id}/events`, {
        title: 'Weekly',
        start: '2027-03-01T09:00:00',
        attendees: [{ user_id: bob.id }, { user_id: carol.id }],
        conference: { create: true },
      })
    ).body;
    const call = event.conference.room_id as string;
    await join(call, alice);
    await join(call, bob);
    expect((await decline(call, carol)).status).toBe(200);
    await end(call);
    expect([await listOf(bob, 'call.missed'), await listOf(carol, 'call.missed')]).toEqual([[], []]);
    await join(call, alice);
    await end(call);
    for (const user of [bob, carol])
      expect(await listOf(user, 'call.missed')).toMatchObject([{ title: 'You missed the call “Weekly”' }]);
  });

  test('the recording of a call of an event notifies the participants since its last start', async () => {
    const { calendar } = (await alice.api.post('/calendar', { name: 'Recorded' })).body;
    const { event } = (
      await alice.api.post(`/calendar/${calendar.id}/events`, {
        title: 'Review',
        start: '2027-03-01T09:00:00Z',
        attendees: [{ user_id: bob.id }, { user_id: carol.id }],
        conference: { create: true },
      })
    ).body;
    const call = event.conference.room_id as string;
    for (const user of [alice, bob]) await join(call, user);
    await end(call);
    await drain();
    for (const user of [alice, carol]) await join(call, user);
    const { recording, egressId } = await record(call);
    await livekit.complete(egressId);
    await ready(recording.id);
    const notified = await Promise.all([alice, bob, carol].map((user) => listOf(user, 'recording.ready')));
    expect(notified.map(({ length }) => length)).toEqual([1, 0, 1]);
    await end(call);
  });

  test('a decline reaches the host and all clients of the user; only a live call of the user can be declined', async () => {
    const call = await startCall();
    const sockets = await Promise.all([alice, bob, bob, carol].map((each) => TestSocket.open(app, each)));
    const [host, phone, desktop, other] = sockets as [TestSocket, TestSocket, TestSocket, TestSocket];
    expect(await phone.send('call.decline', { call_id: call })).toEqual({
      ok: true,
      call_id: call,
      user_id: bob.id,
    });
    for (const socket of [host, phone, desktop])
      expect(await socket.next('call.declined')).toEqual({ call_id: call, user_id: bob.id });
    expect(other.named('call.declined')).toEqual([]);
    expect((await decline(call, bob)).status).toBe(200);
    expect(await phone.send('call.decline', { call_id: randomUUID() })).toMatchObject({ status: 404 });
    expect(await phone.send('call.decline', { call_id: 'x' })).toMatchObject({ status: 422 });
    expect((await decline(call, mallory)).status).toBe(404);
    expect((await bob.api.post(`/call/tokens/${call}/mint`)).status).toBe(200);
    await end(call);
    expect((await decline(call, bob)).body.error).toBe('call_not_live');
    for (const socket of sockets) socket.close();
  });

  test('a recording notifies its participants when it is ready, and its requester when it fails', async () => {
    const call = await startCall('Recorded');
    await join(call, alice);
    await join(call, bob);
    const { recording, egressId } = await record(call);
    await livekit.complete(egressId);
    await ready(recording.id);
    for (const user of [alice, bob])
      expect(await listOf(user, 'recording.ready')).toMatchObject([
        {
          title: 'The recording of “Recorded” is ready',
          subject: { kind: 'recording', id: recording.id },
          url_path: `/recordings/${recording.id}`,
        },
      ]);
    expect(await listOf(carol, 'recording.ready')).toEqual([]);
    const failed = await record(call, bob);
    await livekit.fail(failed.egressId, EgressStatus.EGRESS_FAILED);
    await livekit.webhooks.settled();
    expect(await listOf(bob, 'recording.failed')).toMatchObject([
      { title: 'The recording of “Recorded” failed', subject: { id: failed.recording.id } },
    ]);
    expect(await listOf(alice, 'recording.failed')).toEqual([]);
    await end(call);
  });

  const storeDown = new BlobStoreError('write', new Error('down'));

  /**
   * Completes a recording while another function replaces `write` of the blob store.
   * @param replace gets the store's own function
   * @returns restores that function
   */
  const completeWith = async (
    egressId: string,
    replace: (write: BlobStore['write'], restore: () => void) => BlobStore['write'],
  ): Promise<() => void> => {
    const store = app.get<BlobStore>(BlobStore);
    const write = store.write.bind(store);
    const restore = (): void => void (store.write = write);
    store.write = replace(write, restore);
    await livekit.complete(egressId);
    await livekit.webhooks.settled();
    await drain();
    return restore;
  };

  test('a recording whose file could not be stored for hours is stored later', async () => {
    const call = await startCall('Store down');
    await join(call, alice);
    const { recording, egressId } = await record(call);
    const file = path.join(livekit.directory, `${recording.id}.mp4`);
    const stateOf = async () =>
      (await app.sql('SELECT state, error FROM recordings WHERE id = $1', [recording.id]))[0];
    const restore = await completeWith(egressId, () => () => Promise.reject(storeDown));
    expect(await stateOf()).toMatchObject({ state: 'processing' });
    // No attempt of the outbox is left.
    await app.sql(`DELETE FROM outbox WHERE type = 'call.recording_complete'`);
    await hoursPass(recording.id, 2);
    expect(await stateOf()).toMatchObject({ state: 'processing' });
    restore();
    await hoursPass(recording.id, 5);
    await ready(recording.id);
    expect(existsSync(file)).toBe(false);
    // A process that ended before it removed the file: the next attempt removes it.
    writeFileSync(file, 'video');
    await app.sql(
      `INSERT INTO outbox (tenant_id, id, type, payload) VALUES ($1, gen_random_uuid(), 'call.recording_complete', $2)`,
      [alice.tenantId, { recording_id: recording.id, call_id: call }],
    );
    await drain();
    expect(existsSync(file)).toBe(false);
    await end(call);
  });

  test('a recording whose file is missing fails after an hour', async () => {
    const call = await startCall('Lost');
    await join(call, alice);
    const { recording, egressId } = await record(call);
    const restore = await completeWith(egressId, () => () => Promise.reject(storeDown));
    restore();
    rmSync(path.join(livekit.directory, `${recording.id}.mp4`));
    const type = 'call.recording_complete';
    await app.sql('UPDATE outbox SET due_at = now() - make_interval(secs => 1) WHERE type = $1', [type]);
    await drain();
    const [event] = await app.sql('SELECT last_error FROM outbox WHERE type = $1', [type]);
    expect(event.last_error).toContain('ENOENT');
    await hoursPass(recording.id, 2);
    expect(await app.sql('SELECT state, error FROM recordings WHERE id = $1', [recording.id])).toEqual([
      { state: 'failed', error: 'file_missing' },
    ]);
    await end(call);
  });

  test('a recording that fails while its file is stored keeps the file', async () => {
    const call = await startCall('Given up');
    await join(call, alice);
    const { recording, egressId } = await record(call);
    await completeWith(egressId, (write, restore) => async (key, source) => {
      restore();
      await write(key, source);
      await app.sql(`UPDATE recordings SET state = 'failed' WHERE id = $1`, [recording.id]);
    });
    expect(existsSync(path.join(livekit.directory, `${recording.id}.mp4`))).toBe(true);
    await end(call);
  });

  test('a member who joins the room after a recording gets no link to it', async () => {
    const fields = { type: 'group', name: 'Board', member_ids: [bob.id] };
    const board = (await alice.api.post('/chat/rooms', fields)).body.room.id;
    const call = (await alice.api.post('/call/rooms', { room_id: board })).body.room.id;
    await join(call, alice);
    const [member, late] = await Promise.all([TestSocket.open(app, bob), TestSocket.open(app, dave)]);
    const { recording, egressId } = await record(call);
    await livekit.complete(egressId);
    await livekit.webhooks.settled();
    await alice.api.post(`/chat/rooms/${board}/members`, { user_id: dave.id });
    await ready(recording.id);
    const isReady = (payload: any) => payload.recording.state === 'ready';
    expect((await member.next('recording.updated', isReady)).recording.url).toEqual(expect.any(String));
    // Later than the recording, for both.
    await alice.api.post(`/call/${call}/external/lock`);
    await late.next('call.updated', (payload) => payload.call.external_locked);
    expect(late.named('recording.updated')).toEqual([]);
    const stop = (by: TestUser) => by.api.post(`/call/${call}/recordings/${recording.id}/stop`);
    expect((await stop(dave)).status).toBe(404);
    const stopped = (await stop(bob)).body;
    expect(stopped).toMatchObject({ recording: { state: 'ready', url: expect.any(String) } });
    for (const socket of [member, late]) socket.close();
    await end(call);
  });

  test('a host who has left the room receives no declines', async () => {
    const open = { type: 'group', name: 'Open', member_ids: [bob.id, dave.id] };
    const other = (await alice.api.post('/chat/rooms', open)).body.room.id;
    const call = (await dave.api.post('/call/rooms', { room_id: other })).body.room.id;
    const [host, decliner] = await Promise.all([TestSocket.open(app, dave), TestSocket.open(app, bob)]);
    await dave.api.delete(`/chat/rooms/${other}/members/${dave.id}`);
    await host.next('room.removed');
    expect((await decline(call, bob)).status).toBe(200);
    await decliner.next('call.declined');
    await alice.api.post(`/chat/rooms/${other}/members`, { user_id: dave.id });
    await host.next('room.added', (payload) => payload.room_id === other);
    expect(host.named('call.declined')).toEqual([]);
    for (const socket of [host, decliner]) socket.close();
    await end(call);
  });

  test('the requester, the host and moderators delete a recording, its file and its links', async () => {
    const call = await startCall('Deleted');
    await join(call, alice);
    await join(call, bob);
    const { recording, egressId } = await record(call, bob);
    const remove = (id: string, by: TestUser, of = call) => by.api.delete(`/call/${of}/recordings/${id}`);
    expect((await remove(recording.id, bob)).body.error).toBe('recording_not_finished');
    await livekit.complete(egressId);
    const { url } = await ready(recording.id);
    const [{ blob_id: blob }] = (await app.sql(`SELECT blob_id FROM recordings WHERE id = $1`, [
      recording.id,
    ])) as [{ blob_id: string }];
    expect((await remove(recording.id, carol)).status).toBe(403);
    expect((await remove(recording.id, mallory)).status).toBe(404);
    expect((await remove(randomUUID(), bob)).status).toBe(404);
    const other = (await alice.api.post('/call/rooms', { title: 'Other' })).body.room.id;
    expect((await remove(recording.id, alice, other)).status).toBe(404);
    const socket = await TestSocket.open(app, carol);
    const deleted = await remove(recording.id, bob);
    expect(deleted.body).toMatchObject({
      recording: { id: recording.id, state: 'ready', url: null },
      deleted: true,
    });
    expect(await socket.next('recording.deleted')).toEqual({ recording_id: recording.id, call_id: call });
    socket.close();
    expect((await remove(recording.id, bob)).status).toBe(404);
    expect((await app.anonymous.get(url.replace('/apis/v1', ''))).status).toBe(404);
    expect(await app.sql(`SELECT state FROM blobs WHERE id = $1`, [blob])).toEqual([{ state: 'released' }]);
    // The host deletes the failed recording of another member, with the file that the media server left.
    const failed = await record(call, bob);
    await livekit.complete(failed.egressId, Buffer.from('half'), EgressStatus.EGRESS_FAILED);
    await livekit.webhooks.settled();
    const file = path.join(livekit.directory, `${failed.recording.id}.mp4`);
    expect(existsSync(file)).toBe(true);
    expect((await remove(failed.recording.id, alice)).status).toBe(200);
    expect(existsSync(file)).toBe(false);
    const entries = await app.sql(
      `SELECT actor_id FROM audit_log WHERE action = 'call.recording.deleted' ORDER BY occurred_at`,
    );
    expect(entries.map(({ actor_id }) => actor_id)).toEqual([bob.id, alice.id]);
    await end(call);
  });
});
