import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { BlobCollector } from '../../../src/platform/blobs/blob-collector.js';
import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { upload } from '../../support/network/multipart.ts';

const UNKNOWN = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';

describe('chat', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let carol: TestUser;
  let dora: TestUser;
  let eve: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob, carol, dora] = await app.tenant('acme', 'alice', 'bob', 'carol', 'dora');
    [eve] = await app.tenant('globex', 'eve');
  });
  afterAll(() => app?.stop());

  const ok = (response: ApiResponse, status = 200): any => {
    expect({ status: response.status, body: response.body }).toMatchObject({ status });
    return response.body;
  };
  const rejected = (response: ApiResponse, status: number, error: string): any => {
    expect({ status: response.status, error: response.body?.error }).toEqual({ status, error });
    return response.body;
  };
  const newRoom = async (fields: object = {}, owner = alice): Promise<any> =>
    ok(await owner.api.post('/chat/rooms', { type: 'group', name: 'Offsite', ...fields }), 201).room;
  const post = (room: string, fields: object = {}, sender = alice): Promise<ApiResponse> =>
    sender.api.post(`/chat/rooms/${room}/messages`, {
      client_msg_id: randomUUID(),
      body: 'hello',
      ...fields,
    });
  const send = async (room: string, fields: object = {}, sender = alice): Promise<any> =>
    ok(await post(room, fields, sender), 201).message;
  const list = async (room: string, query = '', reader = alice): Promise<any> =>
    ok(await reader.api.get(`/chat/rooms/${room}/messages${query}`));
  const read = async (room: string, reader = alice): Promise<any> =>
    ok(await reader.api.get(`/chat/rooms/${room}`)).room;
  const runJob = async (name: string): Promise<void> => {
    const { jobs } = app.get(PeriodicJobs) as unknown as { jobs: { name: string; run(): Promise<void> }[] };
    await app.inCells(() => jobs.find((job) => job.name === name)!.run());
  };

  describe('rooms', () => {
    test('a group has its creator as owner, and the other members', async () => {
      const room = await newRoom({ topic: 'May', member_ids: [bob.id, alice.id, bob.id] });
      expect(room).toMatchObject({
        type: 'group',
        name: 'Offsite',
        topic: 'May',
        visibility: 'private',
        user: null,
        role: 'owner',
        members_count: 2,
        last_message: null,
        last_seq: 0,
        mod_seq: 0,
        unread: 0,
      });
      expect(room.members.map(({ id, role }: any) => [id, role])).toEqual([
        [alice.id, 'owner'],
        [bob.id, 'member'],
      ]);
      expect(await read(room.id, bob)).toMatchObject({ role: 'member', id: room.id });
      rejected(await carol.api.get(`/chat/rooms/${room.id}`), 404, 'not_found');
      rejected(await eve.api.get(`/chat/rooms/${room.id}`), 404, 'not_found');
    });

    test('fields that do not fit the type, and unknown users, are rejected', async () => {
      const create = (body: object) => alice.api.post('/chat/rooms', body);
      rejected(await create({ type: 'group' }), 422, 'validation_failed');
      rejected(await create({ type: 'meeting', name: 'x' }), 422, 'validation_failed');
      rejected(await create({ type: 'group', name: 'x', visibility: 'tenant' }), 422, 'validation_failed');
      rejected(await create({ type: 'direct', member_ids: [] }), 422, 'validation_failed');
      rejected(await create({ type: 'direct', member_ids: [alice.id] }), 422, 'validation_failed');
      rejected(await create({ type: 'direct', member_ids: [bob.id, carol.id] }), 422, 'validation_failed');
      rejected(await create({ type: 'direct', name: 'x', member_ids: [bob.id] }), 422, 'direct_room');
      rejected(await create({ type: 'group', name: 'x', member_ids: [eve.id] }), 404, 'not_found');
      rejected(await create({ type: 'direct', member_ids: [UNKNOWN] }), 404, 'not_found');
    });

    test('a creation is repeatable with an Idempotency-Key', async () => {
      const options = { headers: { 'idempotency-key': randomUUID() } };
      const create = () => alice.api.post('/chat/rooms', { type: 'group', name: 'once' }, options);
      const [first, second] = [await create(), await create()];
      expect([first.status, second.status]).toEqual([201, 201]);
      expect(second.body.room.id).toBe(first.body.room.id);
    });

    test('two users have one direct room, which each finds by the other', async () => {
      const party = (person: TestUser, id: string) => person.api.get(`/chat/user/parties/${id}`);
      expect(ok(await party(alice, dora.id)).party).toEqual({
        id: dora.id,
        room_id: null,
        users: [{ id: dora.id, display_name: 'Dora', email: dora.email }],
        unread: 0,
      });
      expect(ok(await alice.api.get(`/chat/user/parties/${dora.id}/messages`))).toEqual({
        messages: [],
        has_more: false,
        room: { last_seq: 0, mod_seq: 0 },
      });
      const room = await newRoom({ type: 'direct', name: undefined, member_ids: [dora.id] });
      expect(room).toMatchObject({ name: null, user: { id: dora.id, display_name: 'Dora' } });
      const again = await dora.api.post('/chat/rooms', { type: 'direct', member_ids: [alice.id] });
      expect(ok(again).room).toMatchObject({ id: room.id, user: { id: alice.id } });
      await send(room.id);
      for (const id of [room.id, alice.id]) {
        expect(ok(await party(dora, id)).party).toMatchObject({ room_id: room.id, unread: 1, id });
        const { messages } = ok(await dora.api.get(`/chat/user/parties/${id}/messages`));
        expect(messages).toHaveLength(1);
      }
      for (const id of [room.id, dora.id, UNKNOWN, eve.id])
        if (id !== dora.id) rejected(await party(eve, id), id === eve.id ? 404 : 404, 'not_found');
      rejected(await party(bob, room.id), 404, 'not_found');
      rejected(await party(alice, alice.id), 404, 'not_found');
      rejected(await alice.api.put(`/chat/rooms/${room.id}`, { name: 'x' }), 422, 'direct_room');
      rejected(await alice.api.delete(`/chat/rooms/${room.id}`), 422, 'direct_room');
      const members = `/chat/rooms/${room.id}/members`;
      rejected(await alice.api.post(members, { user_id: bob.id }), 422, 'direct_room');
      rejected(await alice.api.delete(`${members}/${alice.id}`), 422, 'direct_room');
    });

    test('the direct room with a deactivated user is found; a new one is not made', async () => {
      const [owner, leaver, other] = await app.tenant('leavers', 'owner', 'leaver', 'other');
      const open = ({ api }: TestUser) =>
        api.post('/chat/rooms', { type: 'direct', member_ids: [leaver.id] });
      const { room } = ok(await open(owner), 201);
      ok(await owner.api.post(`/tenant/members/${leaver.id}/deactivate`));
      expect(ok(await open(owner)).room).toMatchObject({ id: room.id, user: { id: leaver.id } });
      rejected(await open(other), 404, 'not_found');
    });

    test('the list has the last active room first, in pages and by filters', async () => {
      const [zoe] = await app.tenant('lists', 'zoe', 'yan');
      const rooms: string[] = [];
      for (const name of ['one', 'two', 'three', 'four']) rooms.push((await newRoom({ name }, zoe)).id);
      await send(rooms[0]!, {}, zoe);
      await zoe.api.put(`/chat/rooms/${rooms[2]}`, { archived: true });
      const pages: string[] = [];
      for (let cursor = ''; ;) {
        const { rooms: page, next } = ok(await zoe.api.get(`/chat/rooms?limit=1${cursor}`));
        pages.push(...page.map(({ id }: any) => id));
        if (next === null) break;
        cursor = `&cursor=${next}`;
      }
      expect(pages).toEqual([rooms[0], rooms[3], rooms[1]]);
      const { rooms: archived } = ok(await zoe.api.get('/chat/rooms?archived=true'));
      expect(archived.map(({ id }: any) => id)).toEqual([rooms[2]]);
      const { rooms: direct } = ok(await zoe.api.get('/chat/rooms?type=direct'));
      expect(direct).toEqual([]);
      const future = new Date(Date.now() + 60_000).toISOString();
      expect(ok(await zoe.api.get(`/chat/rooms?updated_after=${future}`)).rooms).toEqual([]);
      const past = new Date(Date.now() - 3_600_000).toISOString();
      expect(ok(await zoe.api.get(`/chat/rooms?updated_after=${past}`)).rooms).toHaveLength(3);
    });

    test('updated_after finds rooms whose messages were edited, deleted or got a reaction', async () => {
      const { id: room } = await newRoom();
      const message = await send(room);
      const path = `/chat/rooms/${room}/messages/${message.id}`;
      const since = new Date(Date.now() - 60_000).toISOString();
      const find = async (): Promise<boolean> => {
        const { rooms } = ok(await alice.api.get(`/chat/rooms?limit=200&updated_after=${since}`));
        return rooms.some(({ id }: any) => id === room);
      };
      for (const change of [
        () => alice.api.put(`${path}/reactions`, { emoji: '👍' }),
        () => alice.api.patch(path, { body: 'edited' }),
        () => alice.api.delete(path),
      ]) {
        await app.sql(
          `UPDATE chat_rooms SET active_at = now() - interval '1 day', updated_at = now() - interval '1 day' WHERE id = $1`,
          [room],
        );
        expect(await find()).toBe(false);
        ok(await change());
        expect(await find()).toBe(true);
      }
    });

    test('a room may be written back as it was read', async () => {
      const direct = await newRoom({ type: 'direct', name: undefined, member_ids: [carol.id] });
      const group = await newRoom({ topic: 't' });
      for (const { id } of [direct, group]) {
        const before = await read(id);
        expect(ok(await alice.api.put(`/chat/rooms/${id}`, before)).room).toEqual(before);
      }
      rejected(await alice.api.put(`/chat/rooms/${group.id}`, { name: null }), 422, 'validation_failed');
    });

    test('any user finds and joins a channel of the workspace', async () => {
      const { id } = await newRoom({ type: 'channel', name: 'all', visibility: 'tenant' });
      await send(id, { body: 'before' });
      const open = ok(await dora.api.get('/chat/rooms?joined=false')).rooms.find(
        (room: any) => room.id === id,
      );
      expect(open).toMatchObject({ role: null, last_message: null, unread: 0 });
      expect(await read(id, dora)).toMatchObject({ role: null, members: [] });
      rejected(await dora.api.get(`/chat/rooms/${id}/messages`), 404, 'not_found');
      rejected(await dora.api.post(`/chat/rooms/${id}/members`, { user_id: bob.id }), 403, 'forbidden');
      ok(await dora.api.post(`/chat/rooms/${id}/members`, { user_id: dora.id }), 201);
      expect(await read(id, dora)).toMatchObject({ role: 'member', members_count: 2, unread: 0 });
      expect((await list(id, '', dora)).messages).toHaveLength(2);
      ok(await dora.api.post(`/chat/rooms/${id}/members`, { user_id: bob.id }), 201);
      expect(ok(await eve.api.get('/chat/rooms?joined=false')).rooms).toEqual([]);
      rejected(await eve.api.post(`/chat/rooms/${id}/members`, { user_id: eve.id }), 404, 'not_found');
    });

    test('moderators change the room, each member changes own settings; changes appear as messages', async () => {
      const { id } = await newRoom({ member_ids: [bob.id] });
      rejected(await bob.api.put(`/chat/rooms/${id}`, { name: 'mine' }), 403, 'forbidden');
      const until = '2999-01-01T00:00:00.000Z';
      const own = ok(await bob.api.put(`/chat/rooms/${id}`, { notify: 'mentions', muted_until: until })).room;
      expect(own).toMatchObject({ notify: 'mentions', muted_until: until, mod_seq: 0 });
      const beyond = { muted_until: '9999-12-31T23:59:59-01:00' };
      rejected(await bob.api.put(`/chat/rooms/${id}`, beyond), 422, 'validation_failed');
      expect(await read(id)).toMatchObject({ notify: 'all', muted_until: null });
      ok(await alice.api.post(`/chat/rooms/${id}/members`, { user_id: bob.id, role: 'moderator' }), 201);
      ok(await bob.api.put(`/chat/rooms/${id}`, { name: 'Ours', topic: 't' }));
      ok(await bob.api.put(`/chat/rooms/${id}`, { name: 'Ours' }));
      const { messages } = await list(id);
      expect(messages.map(({ kind, event, sender }: any) => [kind, event, sender.id])).toEqual([
        ['system', { type: 'role_changed', user_ids: [bob.id], role: 'moderator' }, alice.id],
        ['system', { type: 'room_updated', changes: { name: 'Ours', topic: 't' } }, bob.id],
      ]);
      rejected(await alice.api.put(`/chat/rooms/${UNKNOWN}`, { name: '' }), 404, 'not_found');
      rejected(await alice.api.put(`/chat/rooms/${id}`, { name: '' }), 422, 'validation_failed');
    });

    test('an archived room can be read only', async () => {
      const { id } = await newRoom({ member_ids: [bob.id] });
      const { id: message } = await send(id);
      expect(ok(await alice.api.put(`/chat/rooms/${id}`, { archived: true })).room.archived_at).toEqual(
        expect.any(String),
      );
      rejected(await post(id), 409, 'room_archived');
      const path = `/chat/rooms/${id}/messages/${message}`;
      rejected(await alice.api.patch(path, { body: 'x' }), 409, 'room_archived');
      rejected(await alice.api.put(`${path}/reactions`, { emoji: '👍' }), 409, 'room_archived');
      rejected(
        await alice.api.post(`/chat/rooms/${id}/members`, { user_id: carol.id }),
        409,
        'room_archived',
      );
      expect((await list(id, '', bob)).messages).toHaveLength(2);
      ok(await alice.api.put(`/chat/rooms/${id}`, { archived: false }));
      await send(id);
    });

    test('a deleted room is not found by any path, and its content is deleted', async () => {
      const { id } = await newRoom({ member_ids: [bob.id] });
      const file = ok(await upload(alice.api, '/chat/attachments', 'secret'), 201).attachment;
      const { id: message } = await send(id, { attachment_ids: [file.id] });
      rejected(await bob.api.delete(`/chat/rooms/${id}`), 403, 'forbidden');
      expect(ok(await alice.api.delete(`/chat/rooms/${id}`))).toMatchObject({ deleted: true, room: { id } });
      for (const response of [
        await alice.api.get(`/chat/rooms/${id}`),
        await alice.api.get(`/chat/rooms/${id}/messages`),
        await alice.api.get(`/chat/rooms/${id}/members`),
        await alice.api.delete(`/chat/rooms/${id}`),
        await alice.api.delete(`/chat/rooms/${id}/messages/${message}`),
        await alice.api.put(`/chat/rooms/${id}/read`, { seq: 1 }),
        await alice.api.get(`/chat/attachments/${file.id}`),
        await post(id),
      ])
        rejected(response, 404, 'not_found');
      expect(ok(await bob.api.get('/chat/rooms')).rooms.map((room: any) => room.id)).not.toContain(id);
      await runJob('chat.purge-rooms');
      expect(await app.sql('SELECT FROM chat_messages WHERE room_id = $1', [id])).toEqual([]);
      expect(await app.sql('SELECT FROM chat_rooms WHERE id = $1', [id])).toEqual([]);
      expect(await app.sql(`SELECT FROM blobs WHERE state = 'released'`)).toHaveLength(1);
      expect(await app.inCells(() => app.get(BlobCollector).collect())).toContain(1);
    });
  });

  describe('members', () => {
    test('are added once, listed by name, and removed by moderators', async () => {
      const { id } = await newRoom({ type: 'channel', name: 'private', member_ids: [bob.id] });
      const path = `/chat/rooms/${id}/members`;
      rejected(await bob.api.post(path, { user_id: carol.id }), 403, 'forbidden');
      rejected(await carol.api.post(path, { user_id: carol.id }), 404, 'not_found');
      rejected(await alice.api.post(path, {}), 422, 'validation_failed');
      for (const [field, body] of [
        ['user_id', { user_id: eve.id, user_ids: [carol.id] }],
        ['user_ids', { user_id: carol.id, user_ids: [eve.id] }],
      ] as const)
        expect(rejected(await alice.api.post(path, body), 404, 'not_found').details).toMatchObject([
          { field, code: 'unknown_user' },
        ]);
      const { members } = ok(await alice.api.post(path, { user_ids: [carol.id, dora.id] }), 201);
      expect(members.map(({ id: user }: any) => user)).toEqual([carol.id, dora.id]);
      ok(await alice.api.post(path, { user_ids: [carol.id] }), 200);
      const first = ok(await bob.api.get(`${path}?limit=3`));
      const second = ok(await bob.api.get(`${path}?limit=3&cursor=${first.next}`));
      expect([...first.members, ...second.members].map(({ display_name }: any) => display_name)).toEqual([
        'Alice',
        'Bob',
        'Carol',
        'Dora',
      ]);
      rejected(await bob.api.delete(`${path}/${carol.id}`), 403, 'forbidden');
      rejected(await alice.api.delete(`${path}/${UNKNOWN}`), 404, 'not_found');
      expect(ok(await alice.api.delete(`${path}/${carol.id}`))).toEqual({ removed: true });
      ok(await dora.api.delete(`${path}/${dora.id}`));
      expect(await read(id)).toMatchObject({ members_count: 2 });
      rejected(await dora.api.get(path), 404, 'not_found');
    });

    test('one owner remains', async () => {
      const { id } = await newRoom({ member_ids: [bob.id, carol.id] });
      const path = `/chat/rooms/${id}/members`;
      rejected(await alice.api.delete(`${path}/${alice.id}`), 409, 'last_owner');
      rejected(await alice.api.post(path, { user_id: alice.id, role: 'member' }), 409, 'last_owner');
      rejected(await bob.api.post(path, { user_id: bob.id, role: 'owner' }), 403, 'forbidden');
      ok(await alice.api.post(path, { user_id: bob.id, role: 'owner' }), 201);
      ok(await alice.api.delete(`${path}/${alice.id}`));
      expect(await read(id, bob)).toMatchObject({ role: 'owner', members_count: 2 });
    });

    test('a removed member sees nothing of the room on any path', async () => {
      const marker = 'wombat-7731';
      const { id } = await newRoom({ name: marker, topic: marker, member_ids: [bob.id] });
      const file = ok(
        await upload(alice.api, '/chat/attachments', marker, { filename: marker }),
        201,
      ).attachment;
      const { id: message } = await send(id, { body: marker, attachment_ids: [file.id], mentions: [bob.id] });
      expect((await bob.api.get(`/chat/attachments/${file.id}`)).text).toBe(marker);
      ok(await alice.api.delete(`/chat/rooms/${id}/members/${bob.id}`));
      await send(id, { body: `${marker} later` });
      const room = `/chat/rooms/${id}`;
      const responses = [
        await bob.api.get('/chat/rooms'),
        await bob.api.get('/chat/rooms?joined=false'),
        await bob.api.get('/chat/user'),
        await bob.api.get(room),
        await bob.api.get(`${room}/messages`),
        await bob.api.get(`${room}/messages?q=${marker}`),
        await bob.api.get(`${room}/messages?after_mod_seq=0`),
        await bob.api.get(`${room}/members`),
        await bob.api.get(`/chat/user/parties/${id}`),
        await bob.api.get(`/chat/user/parties/${id}/messages`),
        await bob.api.get(`/chat/attachments/${file.id}`),
        await post(id, { reply_to: message }, bob),
        await bob.api.patch(`${room}/messages/${message}`, { body: 'x' }),
        await bob.api.delete(`${room}/messages/${message}`),
        await bob.api.put(`${room}/messages/${message}/reactions`, { emoji: '👍' }),
        await bob.api.put(`${room}/read`, { seq: 1 }),
        await bob.api.put(room, { notify: 'none' }),
        await bob.api.post(`${room}/members`, { user_id: bob.id }),
        await bob.api.delete(`${room}/members/${alice.id}`),
        await bob.api.delete(room),
      ];
      expect(responses.filter(({ text }) => text.includes(marker))).toEqual([]);
      expect(responses.slice(3).map(({ status }) => status)).toEqual(responses.slice(3).map(() => 404));
      expect(ok(await bob.api.get('/chat/user')).user.unread_total).toBeGreaterThanOrEqual(0);
    });
  });

  describe('messages', () => {
    test('are numbered without gaps and listed in every direction', async () => {
      const { id } = await newRoom({ member_ids: [bob.id] });
      for (let n = 1; n <= 7; n += 1) await send(id, { body: `message ${n}` }, n % 2 ? alice : bob);
      const seqs = async (query: string) => {
        const { messages, has_more, room } = await list(id, query);
        expect(room).toEqual({ last_seq: 7, mod_seq: 7 });
        return [messages.map(({ seq }: any) => seq), has_more];
      };
      expect(await seqs('')).toEqual([[1, 2, 3, 4, 5, 6, 7], false]);
      expect(await seqs('?limit=3')).toEqual([[5, 6, 7], true]);
      expect(await seqs('?limit=3&before_seq=4')).toEqual([[1, 2, 3], false]);
      expect(await seqs('?limit=2&after_seq=4')).toEqual([[5, 6], true]);
      expect(await seqs('?limit=2&after_mod_seq=5')).toEqual([[6, 7], false]);
      expect(await seqs('?limit=4&around=4')).toEqual([[3, 4, 5, 6], true]);
      expect(await seqs('?after_seq=7')).toEqual([[], false]);
      const both = await alice.api.get(`/chat/rooms/${id}/messages?after_seq=1&before_seq=3`);
      rejected(both, 422, 'validation_failed');
      expect((await list(id)).messages[0]).toEqual({
        id: expect.any(String),
        room_id: id,
        seq: 1,
        mod_seq: 1,
        kind: 'text',
        sender: { kind: 'user', id: alice.id, display_name: 'Alice' },
        via: null,
        body: 'message 1',
        format: 'plain',
        event: null,
        reply_to: null,
        reply_to_seq: null,
        mentions: [],
        attachments: [],
        reactions: [],
        client_msg_id: expect.any(String),
        created_at: expect.any(String),
        edited_at: null,
        deleted_at: null,
        deleted_by: null,
      });
    });

    test('a repeated request returns the first message; another body under its id is rejected', async () => {
      const { id } = await newRoom();
      const client_msg_id = randomUUID();
      const first = ok(await post(id, { client_msg_id }), 201);
      const repeated = ok(await post(id, { client_msg_id: client_msg_id.toUpperCase() }));
      expect(repeated).toEqual({ message: first.message, duplicate: true });
      expect(first.duplicate).toBe(false);
      rejected(await post(id, { client_msg_id, body: 'other' }), 409, 'idempotency_key_reused');
      expect((await list(id)).room).toEqual({ last_seq: 1, mod_seq: 1 });
      // The key of one sender is free for others, and for other rooms.
      const other = await newRoom({ member_ids: [bob.id] });
      ok(await post(other.id, { client_msg_id }), 201);
      ok(await post(other.id, { client_msg_id }, bob), 201);
    });

    test('invalid messages are rejected, for members only by the body', async () => {
      const { id } = await newRoom();
      const other = await newRoom();
      const { id: elsewhere } = await send(other.id);
      for (const fields of [
        { body: ' \n' },
        { body: 'x'.repeat(32_001) },
        { client_msg_id: 'x' },
        { format: 'html' },
      ])
        rejected(await post(id, fields), 422, 'validation_failed');
      rejected(await post(id, { body: 'a\0b' }), 422, 'validation_failed');
      rejected(await post(id, { reply_to: elsewhere }), 422, 'unknown_reply');
      rejected(await post(id, { attachment_ids: [UNKNOWN] }), 422, 'unknown_attachment');
      rejected(await post(id, { body: '' }, bob), 404, 'not_found');
      expect((await list(id)).room.last_seq).toBe(0);
    });

    test('an edit replaces the mentions; without the field they stay', async () => {
      const { id } = await newRoom({ member_ids: [bob.id, carol.id] });
      const message = await send(id, { body: 'Bob, the crane', mentions: [bob.id] });
      const edit = async (fields: object) =>
        ok(
          await alice.api.patch(`/chat/rooms/${id}/messages/${message.id}`, { body: 'The crane', ...fields }),
        );
      expect((await edit({})).message.mentions).toEqual([bob.id]);
      expect((await edit({ mentions: [carol.id, UNKNOWN] })).message.mentions).toEqual([carol.id]);
      expect([(await read(id, bob)).mentions, (await read(id, carol)).mentions]).toEqual([0, 1]);
      const { mod_seq } = (await edit({ mentions: [carol.id] })).message;
      expect((await read(id)).mod_seq).toBe(mod_seq);
      expect((await edit({ mentions: [] })).message).toMatchObject({ mentions: [], body: 'The crane' });
      expect((await read(id, carol)).mentions).toBe(0);
    });

    test('a mentioned member who has left stays mentioned in an edit that names the member', async () => {
      const { id } = await newRoom({ member_ids: [bob.id, carol.id] });
      const message = await send(id, { mentions: [bob.id] });
      ok(await bob.api.delete(`/chat/rooms/${id}/members/${bob.id}`));
      const edit = { body: 'both', mentions: [bob.id, carol.id] };
      const { mentions } = ok(
        await alice.api.patch(`/chat/rooms/${id}/messages/${message.id}`, edit),
      ).message;
      expect(mentions).toEqual([bob.id, carol.id].toSorted());
    });

    test('an edit removes the text of a message with files only', async () => {
      const { id } = await newRoom();
      const file = await upload(alice.api, '/chat/attachments', 'a', { filename: 'a.txt' });
      const { attachment } = ok(file, 201);
      const path = (message: any) => `/chat/rooms/${id}/messages/${message.id}`;
      const captioned = ok(await post(id, { body: 'caption', attachment_ids: [attachment.id] }), 201).message;
      const edited = ok(await alice.api.patch(path(captioned), { body: '' })).message;
      expect(edited).toMatchObject({
        body: '',
        attachments: [{ name: 'a.txt' }],
        edited_at: expect.any(String),
      });
      const plain = ok(await post(id), 201).message;
      for (const body of ['', ' \u200b'])
        rejected(await alice.api.patch(path(plain), { body }), 422, 'validation_failed');
    });

    test('an edit with a reference or files is rejected, since it cannot change them', async () => {
      const { id } = await newRoom();
      const message = await send(id);
      const edit = (fields: object) =>
        alice.api.patch(`/chat/rooms/${id}/messages/${message.id}`, { body: 'new', ...fields });
      rejected(await edit({ reply_to: message.id }), 422, 'validation_failed');
      rejected(await edit({ attachment_ids: [UNKNOWN] }), 422, 'validation_failed');
      ok(await edit({}));
    });

    test('only existing messages of others are unread', async () => {
      const { id } = await newRoom({ member_ids: [bob.id] });
      const unread = async (user: TestUser) => {
        const { rooms } = ok(await user.api.get('/chat/rooms?limit=100'));
        const { unread: listed } = rooms.find((room: any) => room.id === id);
        expect((await read(id, user)).unread).toBe(listed);
        return listed;
      };
      const total = async () => ok(await bob.api.get('/chat/user')).user;
      const before = await total();
      ok(await alice.api.put(`/chat/rooms/${id}`, { topic: 'tides' }));
      ok(await alice.api.post(`/chat/rooms/${id}/members`, { user_ids: [carol.id] }), 201);
      expect(await unread(bob)).toBe(0);
      const [oops] = [await send(id), await send(id)];
      expect(await unread(bob)).toBe(2);
      ok(await alice.api.delete(`/chat/rooms/${id}/messages/${oops.id}`));
      await send(id, { mentions: [bob.id] }, bob);
      expect(await unread(bob)).toBe(1);
      expect((await read(id, bob)).mentions).toBe(0);
      const after = await total();
      expect([after.unread_total - before.unread_total, after.unread_rooms - before.unread_rooms]).toEqual([
        1, 1,
      ]);
      const mark = async (seq: number) => ok(await bob.api.put(`/chat/rooms/${id}/read`, { seq }));
      expect((await mark(oops.seq)).unread).toBe(1);
      expect((await mark(oops.seq + 1)).unread).toBe(0);
      expect((await total()).unread_total).toBe(before.unread_total);
    });

    test('a direct room with a deactivated user accepts no message', async () => {
      const [owner, leaver] = await app.tenant('quitters', 'owner', 'leaver');
      const open = { type: 'direct', name: undefined, member_ids: [leaver.id] };
      const { id } = await newRoom(open, owner);
      const message = { client_msg_id: randomUUID(), body: 'there?' };
      ok(await post(id, message, owner), 201);
      ok(await owner.api.post(`/tenant/members/${leaver.id}/deactivate`));
      rejected(await post(id, {}, owner), 404, 'not_found');
      ok(await post(id, message, owner));
      ok(await owner.api.post(`/tenant/members/${leaver.id}/activate`));
      ok(await post(id, {}, owner), 201);
    });

    test('unread messages and mentions are counted until they are read', async () => {
      const { id } = await newRoom({ member_ids: [bob.id] });
      await send(id);
      const { mentions } = await send(id, { mentions: [bob.id, carol.id, eve.id] });
      expect(mentions).toEqual([bob.id]);
      expect(await read(id, bob)).toMatchObject({ unread: 2, mentions: 1, last_read_seq: 0 });
      expect(await read(id)).toMatchObject({ unread: 0, last_read_seq: 2 });
      const mark = async (seq: number) => ok(await bob.api.put(`/chat/rooms/${id}/read`, { seq }));
      expect(await mark(1)).toEqual({ last_read_seq: 1, unread: 1 });
      expect(await mark(0)).toEqual({ last_read_seq: 1, unread: 1 });
      expect(ok(await bob.api.get('/chat/user')).user.unread_total).toBeGreaterThan(0);
      expect(await mark(99)).toEqual({ last_read_seq: 2, unread: 0 });
      expect(await read(id, bob)).toMatchObject({ unread: 0, mentions: 0 });
      rejected(await carol.api.put(`/chat/rooms/${id}/read`, { seq: 1 }), 404, 'not_found');
    });

    test('an edit keeps the number; a stale one is rejected with the current message', async () => {
      const { id } = await newRoom({ member_ids: [bob.id] });
      const message = await send(id);
      const path = `/chat/rooms/${id}/messages/${message.id}`;
      const edited = ok(await alice.api.patch(path, { body: 'better', base_mod_seq: 1 })).message;
      expect(edited).toMatchObject({ seq: 1, mod_seq: 2, body: 'better', edited_at: expect.any(String) });
      const stale = rejected(
        await alice.api.patch(path, { body: 'stale', base_mod_seq: 1 }),
        409,
        'conflict',
      );
      expect(stale.current).toEqual(edited);
      expect(ok(await alice.api.patch(path, { body: 'better' })).message).toEqual(edited);
      rejected(await bob.api.patch(path, { body: 'x' }), 403, 'forbidden');
      rejected(await carol.api.patch(path, { body: '' }), 404, 'not_found');
      rejected(await alice.api.patch(path, { body: '' }), 422, 'validation_failed');
      expect((await list(id, '?after_mod_seq=1')).messages).toEqual([edited]);
    });

    test('a deleted message is a tombstone, also for clients that were away', async () => {
      const { id } = await newRoom({ member_ids: [bob.id, carol.id] });
      const file = ok(await upload(bob.api, '/chat/attachments', 'bytes'), 201).attachment;
      const message = await send(id, { body: 'marsupial', attachment_ids: [file.id] }, bob);
      const reply = await send(id, { reply_to: message.id });
      expect(reply).toMatchObject({ reply_to: message.id, reply_to_seq: 1 });
      const path = `/chat/rooms/${id}/messages/${message.id}`;
      ok(await alice.api.put(`${path}/reactions`, { emoji: '👍' }));
      rejected(await carol.api.delete(path), 403, 'forbidden');
      const deleted = ok(await alice.api.delete(path)).message;
      expect(deleted).toMatchObject({
        seq: 1,
        mod_seq: 4,
        body: '',
        attachments: [],
        reactions: [],
        deleted_at: expect.any(String),
        deleted_by: alice.id,
      });
      expect(ok(await bob.api.delete(path)).message).toEqual(deleted);
      rejected(await bob.api.patch(path, { body: 'x' }), 409, 'message_deleted');
      rejected(await bob.api.put(`${path}/reactions`, { emoji: '👍' }), 409, 'message_deleted');
      rejected(await bob.api.get(`/chat/attachments/${file.id}`), 404, 'not_found');
      expect((await list(id, '?q=marsupial')).messages).toEqual([]);
      expect((await list(id, '?after_mod_seq=3')).messages).toEqual([deleted]);
      const other = await newRoom();
      const misplaced = `/chat/rooms/${other.id}/messages/${message.id}`;
      rejected(await alice.api.delete(misplaced), 404, 'not_found');
    });

    test.each(['   ', '\u200b', '\u3164', '\u2800', '\u00ad\ufe0f'])(
      'a text without a visible character (%j) is rejected, new and in edits',
      async (body) => {
        const { id } = await newRoom();
        const { id: message } = await send(id);
        rejected(await post(id, { body }), 422, 'validation_failed');
        rejected(
          await alice.api.patch(`/chat/rooms/${id}/messages/${message}`, { body }),
          422,
          'validation_failed',
        );
        await send(id, { body: '\u2764\ufe0f\u200d\u{1f525}' });
      },
    );

    test('reactions are counted for each emoji', async () => {
      const { id } = await newRoom({ member_ids: [bob.id] });
      const message = await send(id);
      const react = (person: TestUser, emoji: string, on = true) =>
        person.api.put(`/chat/rooms/${id}/messages/${message.id}/reactions`, { emoji, on });
      ok(await react(alice, '👍'));
      ok(await react(bob, '🎉'));
      const both = ok(await react(bob, '👍')).message;
      expect(both.reactions).toEqual([
        { emoji: '👍', count: 2, user_ids: [alice.id, bob.id] },
        { emoji: '🎉', count: 1, user_ids: [bob.id] },
      ]);
      expect(ok(await react(bob, '👍')).message.mod_seq).toBe(both.mod_seq);
      ok(await react(alice, '👍', false));
      expect(ok(await react(bob, '👍', false)).message.reactions).toEqual([
        { emoji: '🎉', count: 1, user_ids: [bob.id] },
      ]);
      for (let n = 0; n < 19; n += 1) ok(await react(alice, `:e${n}:`));
      rejected(await react(alice, ':more:'), 422, 'too_many_reactions');
      rejected(await react(alice, '<b>'), 422, 'validation_failed');
    });

    test.each([
      ['a heart', '\u2764\ufe0f', '\u2764'],
      ['a heart as text', '\u2764\ufe0e', '\u2764\ufe0f'],
      ['a thumb', '\u{1f44d}', '\u{1f44d}\ufe0f'],
      ['a sequence', '\u2764\ufe0f\u200d\u{1f525}', '\u2764\u200d\u{1f525}'],
      ['a keycap', '1\ufe0f\u20e3', '1\u20e3'],
      ['a composed name', '\u00e9t\u00e9', 'e\u0301te\u0301'],
      ['a name in another case', ':tada:', ':Tada:'],
      ['an accented name in another case', '\u00e9t\u00e9', 'E\u0301TE\u0301'],
    ])('%s is one reaction in each of its forms', async (_, form, other) => {
      const { id } = await newRoom({ member_ids: [bob.id] });
      const message = await send(id);
      const react = async (person: TestUser, emoji: string, on = true) =>
        ok(await person.api.put(`/chat/rooms/${id}/messages/${message.id}/reactions`, { emoji, on })).message;
      await react(alice, form);
      const both = await react(bob, other);
      expect(both.reactions).toEqual([{ emoji: form, count: 2, user_ids: [alice.id, bob.id] }]);
      expect((await react(alice, other)).mod_seq).toBe(both.mod_seq);
      await react(bob, form, false);
      expect((await react(alice, other, false)).reactions).toEqual([]);
    });

    test('the colour of the skin makes another reaction', async () => {
      const { id } = await newRoom();
      const path = `/chat/rooms/${id}/messages/${(await send(id)).id}/reactions`;
      ok(await alice.api.put(path, { emoji: '\u{1f44d}' }));
      const { reactions } = ok(await alice.api.put(path, { emoji: '\u{1f44d}\u{1f3fd}' })).message;
      expect(reactions.map(({ count }: any) => count)).toEqual([1, 1]);
    });

    test('a reaction joins forms that are stored separately', async () => {
      const { id } = await newRoom({ member_ids: [bob.id] });
      const message = await send(id);
      const stored = ['\u2764', '\u2764\ufe0f'].map((emoji) => ({ emoji, count: 1, user_ids: [bob.id] }));
      await app.sql('UPDATE chat_messages SET reactions = $2 WHERE id = $1', [
        message.id,
        JSON.stringify(stored),
      ]);
      const path = `/chat/rooms/${id}/messages/${message.id}/reactions`;
      expect(ok(await alice.api.put(path, { emoji: '\u2764' })).message.reactions).toEqual([
        { emoji: '\u2764', count: 2, user_ids: [bob.id, alice.id] },
      ]);
    });

    test('a search finds words of any language in the room only', async () => {
      const { id } = await newRoom({ member_ids: [bob.id] });
      const other = await newRoom();
      await send(other.id, { body: 'Budget elsewhere' });
      await send(id, { body: 'The BUDGET of the offsite: 4,000 €' });
      await send(id, { body: 'Đặt phòng khách sạn' });
      const { id: third } = await send(id, { body: 'budgets and 会議の予定' });
      const found = async (q: string, more = '') =>
        (await list(id, `?q=${encodeURIComponent(q)}${more}`)).messages.map(({ seq }: any) => seq);
      expect(await found('budget')).toEqual([1, 3]);
      expect(await found('budget', '&limit=1')).toEqual([3]);
      expect(await found('budget', '&limit=1&before_seq=3')).toEqual([1]);
      expect(await found('khach san')).toEqual([2]);
      expect(await found('会議')).toEqual([3]);
      expect(await found('...')).toEqual([]);
      ok(await alice.api.patch(`/chat/rooms/${id}/messages/${third}`, { body: 'nothing' }));
      expect(await found('budget')).toEqual([1]);
      const many = Array.from({ length: 20 }, (_, n) => `w${n}`).join(' ');
      rejected(await alice.api.get(`/chat/rooms/${id}/messages?q=${many}`), 422, 'validation_failed');
    });
  });

  describe('attachments', () => {
    test('belong to their owner until a message contains them, then to the room', async () => {
      const { id } = await newRoom({ member_ids: [bob.id] });
      const sent = await upload(alice.api, '/chat/attachments', '<svg onload=alert(1)>', {
        filename: '../evil.svg',
        type: 'image/svg+xml',
      });
      const { attachment } = ok(sent, 201);
      expect(attachment).toEqual({
        id: expect.any(String),
        name: expect.stringContaining('evil.svg'),
        size: 21,
        content_type: 'application/octet-stream',
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        url: `/apis/v1/chat/attachments/${attachment.id}`,
        thumbnail_url: null,
      });
      const path = `/chat/attachments/${attachment.id}`;
      rejected(await bob.api.get(path), 404, 'not_found');
      rejected(await post(id, { attachment_ids: [attachment.id] }, bob), 422, 'unknown_attachment');
      const message = await send(id, { body: '', attachment_ids: [attachment.id] });
      expect(message.attachments).toEqual([attachment]);
      const download = await bob.api.get(path);
      expect(download.text).toBe('<svg onload=alert(1)>');
      expect(download.headers.get('content-disposition')).toMatch(/^attachment/);
      rejected(await carol.api.get(path), 404, 'not_found');
      rejected(await eve.api.get(path), 404, 'not_found');
      rejected(await post(id, { attachment_ids: [attachment.id] }), 422, 'unknown_attachment');
    });

    test('unsent ones are deleted after a day', async () => {
      const old = ok(await upload(carol.api, '/chat/attachments', 'old'), 201).attachment;
      const fresh = ok(await upload(carol.api, '/chat/attachments', 'fresh'), 201).attachment;
      await app.sql(`UPDATE chat_attachments SET created_at = now() - interval '25 hours' WHERE id = $1`, [
        old.id,
      ]);
      await runJob('chat.sweep-attachments');
      rejected(await carol.api.get(`/chat/attachments/${old.id}`), 404, 'not_found');
      expect((await carol.api.get(`/chat/attachments/${fresh.id}`)).text).toBe('fresh');
      await app.get(BlobCollector).collect();
    });

    test('one user may have 50 unsent ones, each of at most 20 MiB', async () => {
      const large = await upload(dora.api, '/chat/attachments', Buffer.alloc(20 * 1024 * 1024 + 1));
      rejected(large, 413, 'file_too_large');
      await app.sql(
        `INSERT INTO chat_attachments (tenant_id, id, owner_id, blob_id, name, size, content_type, sha256)
         SELECT $1, gen_random_uuid(), $2, gen_random_uuid(), 'x', 1, 'text/plain', '' FROM generate_series(1, 50)`,
        [dora.tenantId, dora.id],
      );
      rejected(await upload(dora.api, '/chat/attachments', 'x'), 422, 'too_many_unsent_attachments');
    });
  });

  test('users are listed by name and found by the beginnings of words', async () => {
    const { users } = ok(await alice.api.get('/chat/users'));
    expect(users.map(({ display_name }: any) => display_name)).toEqual(['Alice', 'Bob', 'Carol', 'Dora']);
    const { users: found } = ok(await alice.api.get('/chat/users?q=CAR'));
    expect(found).toEqual([
      {
        id: carol.id,
        display_name: 'Carol',
        email: carol.email,
        avatar_url: null,
        presence: 'offline',
        status_text: '',
      },
    ]);
    const { next } = ok(await alice.api.get('/chat/users?limit=3'));
    expect(ok(await alice.api.get(`/chat/users?limit=3&cursor=${next}`)).users).toHaveLength(1);
    expect(ok(await alice.api.get('/chat/user')).user).toMatchObject({ id: alice.id, display_name: 'Alice' });
  });

  test('a client that follows mod_seq has the same messages as the server, whatever happens', async () => {
    const people = [alice, bob];
    const action = fc.record({
      kind: fc.constantFrom('send', 'resend', 'edit', 'delete', 'react', 'update'),
      person: fc.nat(1),
      target: fc.nat(9),
      text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter((text) => /\S/.test(text)),
      page: fc.integer({ min: 1, max: 4 }),
    });
    const follow = async (room: string, replica: Map<number, any>, limit: number, from: number) => {
      let known = from;
      for (;;) {
        const { messages, has_more } = await list(room, `?after_mod_seq=${known}&limit=${limit}`);
        for (const message of messages) {
          expect(message.mod_seq).toBeGreaterThan(known);
          known = message.mod_seq;
          replica.set(message.seq, message);
        }
        if (!has_more) return known;
      }
    };
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 12 }), async (actions) => {
        const { id } = await newRoom({ member_ids: [bob.id] });
        await alice.api.post(`/chat/rooms/${id}/members`, { user_id: bob.id, role: 'owner' });
        const sent: { id: string; body: object; by: TestUser }[] = [];
        const replica = new Map<number, any>();
        let known = 0;
        for (const { kind, person, target, text, page } of actions) {
          const by = people[person]!;
          const one = sent[target % Math.max(1, sent.length)];
          if (kind === 'send') {
            const body = { client_msg_id: randomUUID(), body: text };
            const response = await post(id, body, by);
            if (response.status === 201) sent.push({ id: response.body.message.id, body, by });
            else rejected(response, 422, 'validation_failed');
          } else if (kind === 'update') await by.api.put(`/chat/rooms/${id}`, { topic: text });
          else if (one) {
            const path = `/chat/rooms/${id}/messages/${one.id}`;
            if (kind === 'resend') await post(id, one.body, one.by);
            if (kind === 'edit') await by.api.patch(path, { body: text });
            if (kind === 'delete') await by.api.delete(path);
            if (kind === 'react') await by.api.put(`${path}/reactions`, { emoji: '👍', on: person === 0 });
          }
          if (page > 2) known = await follow(id, replica, page, known);
        }
        known = await follow(id, replica, 3, known);
        const { messages, room } = await list(id, '?limit=200');
        expect([...replica.values()].toSorted((a, b) => a.seq - b.seq)).toEqual(messages);
        expect(messages.map(({ seq }: any) => seq)).toEqual(messages.map((_: unknown, n: number) => n + 1));
        expect(room).toEqual({ last_seq: messages.length, mod_seq: known });
      }),
      { numRuns: 25 },
    );
  });

  test('a deactivated member gets no role that acts for the room, and may lose one', async () => {
    const [owner, leaver] = await app.tenant('roles', 'owner', 'leaver');
    const { id } = await newRoom({ member_ids: [leaver.id] }, owner);
    ok(await owner.api.post(`/tenant/members/${leaver.id}/deactivate`));
    const path = `/chat/rooms/${id}/members`;
    for (const role of ['owner', 'moderator'])
      rejected(await owner.api.post(path, { user_id: leaver.id, role }), 404, 'not_found');
    ok(await owner.api.post(path, { user_id: leaver.id, role: 'member' }));
  });

  test('a transfer gives the rooms without another owner a new one', async () => {
    const [owner, leaver, heir] = await app.tenant('heirs', 'owner', 'leaver', 'heir');
    const sole = await newRoom({ member_ids: [heir.id] }, leaver);
    const unseen = await newRoom({}, leaver);
    const shared = await newRoom({ member_ids: [leaver.id] }, owner);
    ok(await owner.api.post(`/chat/rooms/${shared.id}/members`, { user_id: leaver.id, role: 'owner' }), 201);
    await leaver.api.post('/chat/rooms', { type: 'direct', member_ids: [heir.id] });
    await owner.api.post(`/tenant/members/${leaver.id}/deactivate`);
    expect(ok(await owner.api.get(`/tenant/members/${leaver.id}/content`)).content).toMatchObject({
      chat_rooms: 2,
    });
    const moved = ok(await owner.api.post(`/tenant/members/${leaver.id}/transfer`, { to: heir.id }));
    expect(moved.transferred).toMatchObject({ chat_rooms: 2 });
    for (const { id } of [sole, unseen]) {
      const room = await read(id, heir);
      expect(room).toMatchObject({ role: 'owner', members_count: 2, mod_seq: 2 });
      const roles = new Map(room.members.map(({ id: member, role }: any) => [member, role]));
      expect(roles.get(leaver.id)).toBe('member');
    }
    const events = (await list(unseen.id, '', heir)).messages.map(({ event }: any) => [
      event.type,
      event.user_ids,
    ]);
    expect(events).toEqual([
      ['members_added', [heir.id]],
      ['role_changed', [leaver.id]],
    ]);
    rejected(await heir.api.get(`/chat/rooms/${shared.id}`), 404, 'not_found');
  });
});
