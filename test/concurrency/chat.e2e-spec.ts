import { randomUUID } from 'node:crypto';
import { type TestUser, TestApp } from '../support/app.ts';
import { afterChange } from '../support/database/locks.ts';
import { ADD_MESSAGES } from '../support/domains/chat.ts';

/** Two applications on one database, so that locks in memory have no effect. */
describe('concurrent use of chat rooms', () => {
  let one: TestApp;
  let two: TestApp;
  let users: TestUser[];

  beforeAll(async () => {
    one = await TestApp.start();
    two = await TestApp.start({}, one.databaseUrl);
    users = await one.tenant('acme', 'alice', 'bob', 'carol', 'dora', 'eve', 'fred');
  });
  afterAll(async () => {
    await two?.stop();
    await one?.stop();
  });

  const api = (n: number, user: TestUser) => (n % 2 ? one : two).as(user.token);
  const all = <T>(n: number, run: (n: number) => Promise<T>) =>
    Promise.all(Array.from({ length: n }, (_, i) => run(i)));
  const newRoom = async (fields: object = {}): Promise<string> => {
    const member_ids = users.slice(1).map(({ id }) => id);
    const { body } = await users[0]!.api.post('/chat/rooms', {
      type: 'group',
      name: 'r',
      member_ids,
      ...fields,
    });
    return body.room.id;
  };

  test('parallel senders get numbers without gaps, and each retry the same message', async () => {
    const room = await newRoom();
    const responses = await all(60, (n) => {
      const user = users[n % users.length]!;
      // Each message is sent twice at the same time, to different processes.
      const client_msg_id = `00000000-0000-4000-8000-${String(Math.floor(n / 12)).padStart(12, '0')}`;
      return api(Math.floor(n / users.length), user).post(`/chat/rooms/${room}/messages`, {
        client_msg_id,
        body: `from ${user.email}`,
      });
    });
    expect(responses.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(30);
    expect(responses.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(30);
    const { messages, room: state } = (await users[0]!.api.get(`/chat/rooms/${room}/messages`)).body;
    expect(messages.map(({ seq }: any) => seq)).toEqual(Array.from({ length: 30 }, (_, n) => n + 1));
    expect(messages.map(({ mod_seq }: any) => mod_seq)).toEqual(messages.map(({ seq }: any) => seq));
    expect(state).toEqual({ last_seq: 30, mod_seq: 30 });
    const bySeq = new Map(responses.map(({ body }) => [body.message.seq, body.message.id]));
    expect([...bySeq].every(([seq, id]) => messages[seq - 1].id === id)).toBe(true);
  });

  test('concurrent creations of a direct room converge', async () => {
    for (const other of users.slice(1)) {
      const responses = await all(8, (n) => {
        const [from, to] = n % 4 < 2 ? [users[0]!, other] : [other, users[0]!];
        return api(n, from).post('/chat/rooms', { type: 'direct', member_ids: [to.id] });
      });
      expect(responses.map(({ status }) => status).toSorted()).toEqual([
        200, 200, 200, 200, 200, 200, 200, 201,
      ]);
      expect(new Set(responses.map(({ body }) => body.room.id)).size).toBe(1);
      expect(new Set(responses.map(({ body }) => body.room.members.length))).toEqual(new Set([2]));
    }
  });

  test('a removed member sends nothing after the removal', async () => {
    const room = await newRoom();
    const [alice, bob] = users as [TestUser, TestUser];
    const path = `/chat/rooms/${room}`;
    const [removal, ...sends] = await Promise.all([
      alice.api.delete(`${path}/members/${bob.id}`),
      ...Array.from({ length: 20 }, (_, n) =>
        api(n, bob).post(`${path}/messages`, { client_msg_id: randomUUID(), body: 'x' }),
      ),
    ]);
    expect(removal.status).toBe(200);
    const { messages } = (await alice.api.get(`${path}/messages`)).body;
    const removedAt = messages.find(({ event }: any) => event?.type === 'member_removed').seq;
    const sent = messages.filter(({ sender }: any) => sender.id === bob.id);
    expect(sent.every(({ seq }: any) => seq < removedAt)).toBe(true);
    expect(sends.filter(({ status }) => status === 201)).toHaveLength(sent.length);
    expect(new Set(sends.map(({ status }) => status))).not.toContain(500);
  });

  test('of two owners who leave at the same time, one remains', async () => {
    for (let round = 0; round < 5; round += 1) {
      const room = await newRoom();
      const [alice, bob] = users as [TestUser, TestUser];
      const members = `/chat/rooms/${room}/members`;
      await alice.api.post(members, { user_id: bob.id, role: 'owner' });
      const responses = await Promise.all([
        one.as(alice.token).delete(`${members}/${alice.id}`),
        two.as(bob.token).delete(`${members}/${bob.id}`),
      ]);
      expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    }
  });

  test('edits with the same base: one wins; a file goes into one message', async () => {
    const room = await newRoom();
    const [alice] = users as [TestUser];
    const path = `/chat/rooms/${room}/messages`;
    const { message } = (await alice.api.post(path, { client_msg_id: randomUUID(), body: 'x' })).body;
    const edits = await all(10, (n) =>
      api(n, alice).patch(`${path}/${message.id}`, { body: `y${n}`, base_mod_seq: message.mod_seq }),
    );
    expect(edits.map(({ status }) => status).toSorted()).toEqual([
      200,
      ...Array.from({ length: 9 }, () => 409),
    ]);
    const reactions = await all(users.length, (n) =>
      api(n, users[n]!).put(`${path}/${message.id}/reactions`, { emoji: '👍' }),
    );
    expect(Math.max(...reactions.map(({ body }) => body.message.reactions[0].count))).toBe(users.length);
  });

  test('no message is unread, not minus one, for a user who reads while an own message commits', async () => {
    const room = await newRoom();
    const [alice] = users as [TestUser];
    const { body } = await afterChange(
      await one.databaseOf(alice.tenantId!),
      (other) => other.query(ADD_MESSAGES, [alice.tenantId, alice.id, room, 1]),
      () => alice.api.put(`/chat/rooms/${room}/read`, { seq: 0 }),
    );
    expect(body).toEqual({ last_read_seq: 1, unread: 0 });
  });

  test.each<[string, string[], number]>([
    [
      'its sender leaves',
      [
        `UPDATE chat_rooms SET members_count = members_count - 1 WHERE id = $1`,
        `DELETE FROM chat_members WHERE room_id = $1 AND user_id = $2`,
      ],
      404,
    ],
    ['the room is archived', [`UPDATE chat_rooms SET archived_at = now() WHERE id = $1`], 409],
    ['the room is deleted', [`UPDATE chat_rooms SET deleted_at = now() WHERE id = $1`], 404],
    [
      'the role of its sender changes',
      [
        `UPDATE chat_rooms SET mod_seq = mod_seq WHERE id = $1`,
        `UPDATE chat_members SET role = 'moderator' WHERE room_id = $1 AND user_id = $2`,
      ],
      201,
    ],
  ])('a message that waits while %s', async (_, changes, status) => {
    const room = await newRoom();
    const [alice, bob] = users as [TestUser, TestUser];
    const path = `/chat/rooms/${room}/messages`;
    const { message } = (await alice.api.post(path, { client_msg_id: randomUUID(), body: 'x' })).body;
    const results = await afterChange(
      await one.databaseOf(alice.tenantId!),
      async (other) => {
        for (const change of changes)
          await other.query(change, change.includes('$2') ? [room, bob.id] : [room]);
      },
      () =>
        Promise.all([
          bob.api.post(path, { client_msg_id: randomUUID(), body: 'y' }),
          bob.api.put(`${path}/${message.id}/reactions`, { emoji: '👍' }),
        ]),
      { waits: 2 },
    );
    expect(results.map((result) => result.status)).toEqual([status, status === 201 ? 200 : status]);
    const [{ last_seq }] = (await one.sql(`SELECT last_seq::int FROM chat_rooms WHERE id = $1`, [room])) as [
      { last_seq: number },
    ];
    expect(last_seq).toBe(status === 201 ? 2 : 1);
  });
});
