import { randomUUID } from 'node:crypto';
import { Reconciler } from '../../../src/modules/calls/events/participant-events.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { LiveKit } from '../../support/livekit/livekit.ts';
import { until } from '../../support/until.ts';
import { session } from '../../support/sign-in/account.ts';

describe('rights to calls at the time of use', () => {
  let app: TestApp;
  let livekit: LiveKit;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    livekit = await LiveKit.start();
    app = await TestApp.start(livekit.settings);
    livekit.webhooks.targets.push(app.base);
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(async () => {
    await app?.stop();
    await livekit?.stop();
  });

  const makeRoom = async (): Promise<string> => {
    const created = await alice.api.post('/chat/rooms', { type: 'group', name: 'r', member_ids: [bob.id] });
    expect(created.status).toBe(201);
    return created.body.room.id;
  };
  const makeCall = async (body: object, by = alice) => {
    const created = await by.api.post('/call/rooms', body);
    expect(created.status).toBe(201);
    return created.body.room;
  };
  const mint = (id: string, by = alice) => by.api.post(`/call/tokens/${id}/mint`);
  const later = () => new Date(Date.now() + 3_600_000).toISOString();

  test('a call with auto_record needs the permission to record, at its creation and at its first participant', async () => {
    const body = { title: 'Auto', settings: { auto_record: true } };
    expect((await bob.api.post('/call/rooms', body)).status).toBe(403);
    const recorders = { name: 'Recorders', permissions: ['calls.record'] };
    const { group } = (await alice.api.post('/rbac/groups', recorders)).body;
    const member = `/rbac/groups/${group.id}/members`;
    expect((await alice.api.post(member, { user_id: bob.id })).status).toBe(201);
    const call = await makeCall(body, bob);
    expect((await alice.api.delete(`${member}/${bob.id}`)).status).toBe(200);
    await livekit.join((await mint(call.id, bob)).body.token);
    await livekit.webhooks.settled();
    await app.get(OutboxWorker).drain();
    const { recordings } = (await alice.api.get(`/meetings/recordings?call_id=${call.id}`)).body;
    expect(recordings).toEqual([]);
  });

  test.each([
    ['an empty object', {}],
    ['a list', []],
    ['another type', { roomName: 1 }],
    ['an unknown state', { egressId: 'EG_1', roomName: 'r', status: 'EGRESS_UNKNOWN' }],
  ])(
    'an invalid response of the media server to the start of a recording, %s, is reported as 502',
    async (_, response) => {
      const call = await makeCall({ title: 'Faulty' });
      await livekit.join((await mint(call.id)).body.token);
      livekit.faulty.set('Egress/StartRoomCompositeEgress', response);
      const { status, body } = await alice.api.post(`/call/${call.id}/recordings`);
      livekit.faulty.clear();
      expect([status, body.error]).toEqual([502, 'call_server_failed']);
    },
  );

  test('a recording that auto_record could not start is tried again, with one notification', async () => {
    const call = await makeCall({ title: 'Retried', settings: { auto_record: true } });
    const recordings = async (state: string): Promise<any[]> => {
      await app.sql(
        'UPDATE outbox SET due_at = now() - make_interval(secs => 1) WHERE last_error IS NOT NULL',
      );
      await app.get(OutboxWorker).drain();
      const { body } = await alice.api.get(`/meetings/recordings?call_id=${call.id}`);
      return body.recordings.filter((recording: any) => recording.state === state);
    };
    livekit.failing.add('Egress/StartRoomCompositeEgress');
    await livekit.join((await mint(call.id)).body.token);
    await until('two failed attempts', async () => (await recordings('failed')).length >= 2);
    livekit.failing.clear();
    await until('the recording', async () => (await recordings('starting')).length === 1);
    const { notifications } = (await alice.api.get('/notifications?limit=200')).body;
    const failures = notifications.filter(({ type }: any) => type === 'recording.failed');
    expect(failures.filter(({ subject }: any) => subject.title === 'Retried')).toHaveLength(1);
  });

  test('the end of a session ends its connections to calls, and those with its old tokens', async () => {
    const call = await makeCall({ title: 'Sessions', member_ids: [bob.id] });
    const other = await session(app, bob);
    const [kept, ended] = [
      await livekit.join((await mint(call.id, bob)).body.token),
      await livekit.join((await mint(call.id, other)).body.token),
    ];
    await livekit.webhooks.settled();
    expect((await other.api.post('/auth/sign-out')).status).toBe(200);
    await app.get(Reconciler).run();
    expect([livekit.isConnected(kept), livekit.isConnected(ended)]).toEqual([true, false]);
    const again = await livekit.join(ended.freshToken);
    await livekit.webhooks.settled();
    expect([livekit.isConnected(kept), livekit.isConnected(again)]).toEqual([true, false]);
  });

  test('a moderator of a livestream who is a member from now on no longer publishes', async () => {
    const room = await makeRoom();
    const setRole = (role: string) =>
      alice.api.post(`/chat/rooms/${room}/members`, { user_id: bob.id, role });
    expect((await setRole('moderator')).status).toBe(201);
    const call = await makeCall({ room_id: room, kind: 'livestream' });
    const [host, moderator] = [
      await livekit.join((await mint(call.id)).body.token),
      await livekit.join((await mint(call.id, bob)).body.token),
    ];
    await livekit.webhooks.settled();
    await app.get(Reconciler).run();
    expect([host, moderator].map(livekit.canPublish)).toEqual([true, true]);
    expect((await setRole('member')).status).toBe(201);
    await app.get(Reconciler).run();
    expect([host, moderator].map(livekit.canPublish)).toEqual([true, false]);
    expect(livekit.isConnected(moderator)).toBe(true);
  });

  test('a scheduled call does not start in an archived room', async () => {
    const room = await makeRoom();
    const call = await makeCall({ room_id: room, scheduled_at: later() });
    expect((await alice.api.put(`/chat/rooms/${room}`, { archived: true })).status).toBe(200);
    const rejected = await mint(call.id);
    expect([rejected.status, rejected.body.error]).toEqual([409, 'room_archived']);
    expect((await alice.api.get(`/call/${call.id}`)).body.call.state).toBe('scheduled');
    expect((await alice.api.put(`/chat/rooms/${room}`, { archived: false })).status).toBe(200);
    expect((await mint(call.id)).status).toBe(200);
  });

  test('a client_id does not return a call of a room that the caller has left', async () => {
    const room = await makeRoom();
    const body = { room_id: room, client_id: randomUUID() };
    await makeCall(body, bob);
    expect((await bob.api.delete(`/chat/rooms/${room}/members/${bob.id}`)).status).toBe(200);
    const repeated = await bob.api.post('/call/rooms', { client_id: body.client_id });
    expect([repeated.status, repeated.body?.error]).toEqual([404, 'not_found']);
  });

  test('viewers of a livestream leave the places of members free', async () => {
    const call = await makeCall({ title: 'Stream', kind: 'livestream', member_ids: [bob.id] });
    await app.sql(
      `INSERT INTO call_participants
         (tenant_id, call_id, identity, principal_kind, principal_id, connection_id, joined_at, first_joined_at)
       SELECT $1, $2, 'v:' || id, 'viewer', id, 'PA_' || id, now(), now()
         FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 100)) made`,
      [alice.tenantId, call.id],
    );
    const shown = async () =>
      (await bob.api.get('/meetings/live')).body.meetings.find(({ call_id }: any) => call_id === call.id);
    expect(await shown()).toMatchObject({ participants: 100, can_join: true });
    expect((await mint(call.id, bob)).status).toBe(200);
    await app.sql(`UPDATE call_participants SET principal_kind = 'guest' WHERE call_id = $1`, [call.id]);
    expect(await shown()).toMatchObject({ can_join: false });
    expect((await mint(call.id, bob)).body.error).toBe('call_full');
  });
});
