import { setImmediate } from 'node:timers/promises';
import { jest } from '@jest/globals';
import fc from 'fast-check';
import { PresenceDevices } from '../../../src/modules/presence/devices/presence-devices.js';
import { PresenceOptions, PresenceWrites } from '../../../src/modules/presence/presence-writes.js';
import { UserConnections } from '../../../src/platform/realtime/user-connections.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { TestSocket } from '../../support/network/socket.ts';
import { until } from '../../support/until.ts';

const UNKNOWN = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';

describe('presence', () => {
  let one: TestApp;
  let two: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let eve: TestUser;
  let count = 0;
  const open: TestSocket[] = [];

  beforeAll(async () => {
    one = await TestApp.start();
    two = await TestApp.start({}, one.databaseUrl);
    [eve] = await one.tenant('globex', 'eve');
  });
  beforeEach(async () => {
    count += 1;
    [alice, bob] = await one.tenant(`acme-${count}`, 'alice', 'bob');
    // A grace period that does not end during a test on a busy machine.
    grace(1_000);
  });
  afterEach(() => {
    for (const socket of open.splice(0)) socket.close();
  });
  afterAll(async () => {
    await two?.stop();
    await one?.stop();
  });

  const grace = (seconds: number): void => {
    for (const app of [one, two]) app.get(PresenceOptions).graceSeconds = seconds;
  };
  const flush = async (): Promise<void> => {
    for (const app of [one, two]) await app.get(PresenceDevices).flush();
  };
  const sweep = async (): Promise<void> => {
    await flush();
    await one.get(PresenceDevices).sweep();
  };
  const connect = async (app: TestApp, user: TestUser): Promise<TestSocket> => {
    const socket = await TestSocket.open(app, user);
    open.push(socket);
    await flush();
    return socket;
  };
  const disconnect = async (socket: TestSocket, app: TestApp): Promise<void> => {
    const { id } = socket.socket;
    socket.close();
    await until('the end of the socket', () => app.get(UserConnections).all.every((each) => each.id !== id));
    await flush();
  };
  const shown = async (reader: TestUser, user: TestUser): Promise<any> => {
    const { status, body } = await reader.api.get(`/presence/${user.id}`);
    expect([status, body.presence.length]).toEqual([200, 1]);
    return body.presence[0];
  };
  const follow = async (user: TestUser, ...others: TestUser[]): Promise<TestSocket> => {
    const socket = await connect(two, user);
    const user_ids = others.map(({ id }) => id);
    expect((await socket.send('presence.subscribe', { user_ids })).ok).toBe(true);
    return socket;
  };
  const received = (socket: TestSocket, user: TestUser): string[] =>
    socket
      .named('presence')
      .filter(({ user_id }) => user_id === user.id)
      .map(({ status }) => status);

  test('the best status of all devices, at any process', async () => {
    const follower = await follow(bob, alice);
    const { presence, as_of } = await follower.send('presence.subscribe', { user_ids: [alice.id, UNKNOWN] });
    expect(presence).toEqual([{ user_id: alice.id, status: 'offline', text: '', last_active_at: null }]);
    expect(as_of).toEqual(expect.any(String));
    const desk = await connect(one, alice);
    await follower.next('presence', ({ status }) => status === 'online');
    const phone = await connect(two, alice);
    await desk.send('presence.active', { active: false });
    await flush();
    expect(await shown(bob, alice)).toMatchObject({ status: 'online', last_active_at: expect.any(String) });
    await phone.send('presence.active', { active: false });
    await follower.next('presence', ({ status }) => status === 'away');
    expect((await alice.api.put('/presence/me', { status: 'dnd', text: 'Focus' })).body).toEqual({
      presence: { status: 'dnd', text: 'Focus', until: null },
    });
    expect(await follower.next('presence', ({ status }) => status === 'dnd')).toMatchObject({
      text: 'Focus',
    });
    expect(await desk.next('presence.own')).toEqual({ status: 'dnd', text: 'Focus', until: null });
    expect((await desk.send('presence.set', { status: 'online' })).presence).toMatchObject({ text: '' });
    await until('the own status', () => phone.named('presence.own').length === 2);
    await phone.send('presence.active', { active: true });
    await flush();
    expect(await shown(bob, alice)).toMatchObject({ status: 'online', text: '' });
    grace(0);
    await disconnect(desk, one);
    await sweep();
    expect((await shown(bob, alice)).status).toBe('online');
    await disconnect(phone, two);
    await sweep();
    await follower.next('presence', ({ status }) => status === 'offline');
    expect(received(follower, alice)).toEqual(['online', 'away', 'dnd', 'away', 'online', 'offline']);
  });

  test('a reconnect within the grace period is no event; the end of it is one', async () => {
    const follower = await follow(bob, alice);
    const socket = await connect(one, alice);
    const first = socket.socket.id;
    await disconnect(socket, one);
    await sweep();
    expect((await shown(bob, alice)).status).toBe('online');
    const again = await connect(two, alice);
    await one.sql(`UPDATE presence_devices SET expires_at = now() - make_interval(secs => 1) WHERE id = $1`, [
      first,
    ]);
    grace(0);
    await sweep();
    await disconnect(again, two);
    await sweep();
    await follower.next('presence', ({ status }) => status === 'offline');
    expect(received(follower, alice)).toEqual(['online', 'offline']);
  });

  test('the devices of a killed process expire, once over all processes', async () => {
    const follower = await follow(bob, alice);
    await connect(one, alice);
    // No heartbeat: the process has ended.
    await one.sql(`UPDATE presence_devices SET expires_at = now() - interval '1 second' WHERE user_id = $1`, [
      alice.id,
    ]);
    await Promise.all([one, two, one, two].map((app) => app.get(PresenceDevices).sweep()));
    await follower.next('presence', ({ status }) => status === 'offline');
    // The process was alive after all: its next heartbeat writes the device again.
    await one.get(PresenceDevices).beat();
    await flush();
    await until('the second event', () => received(follower, alice).length === 3);
    expect(received(follower, alice)).toEqual(['online', 'offline', 'online']);
  });

  /** Adds 1,000 devices that expired a minute ago. @param user with one device */
  const addExpiredDevices = async (user: TestUser) => {
    const devices = 'tenant_id, user_id, active, active_at, rooms';
    await one.sql(
      `INSERT INTO presence_devices (${devices}, id, expires_at)
       SELECT ${devices}, n::text, now() - interval '1 minute' FROM presence_devices, generate_series(1, 1000) n WHERE user_id = $1`,
      [user.id],
    );
  };

  test('many expired devices of one user do not delay those of others', async () => {
    await connect(one, alice);
    await connect(one, bob);
    await addExpiredDevices(alice);
    await one.sql(
      `UPDATE presence_devices SET expires_at = now() - CASE WHEN user_id = $1 THEN interval '1 minute' ELSE interval '1 second' END
        WHERE user_id = ANY ($2)`,
      [alice.id, [alice.id, bob.id]],
    );
    await one.get(PresenceDevices).sweep();
    const users = [alice, bob];
    const statuses = await Promise.all(users.map(async (user) => (await shown(alice, user)).status));
    expect(statuses).toEqual(['offline', 'offline']);
  });

  test('many expired devices of connected users do not delay the disconnections of others', async () => {
    await connect(one, alice);
    await connect(one, bob);
    await addExpiredDevices(alice);
    await one.sql(`UPDATE presence_devices SET expires_at = now() - interval '1 second' WHERE user_id = $1`, [
      bob.id,
    ]);
    await one.inCells(() => one.get(PresenceDevices).sweep());
    const users = [alice, bob];
    const statuses = await Promise.all(users.map(async (user) => (await shown(alice, user)).status));
    expect(statuses).toEqual(['online', 'offline']);
  });

  test('the next heartbeat repeats a change that could not be written', async () => {
    const socket = await connect(one, alice);
    // Until it is restored: the timer of the process may write before `flush`.
    const join = jest.spyOn(one.get(PresenceWrites), 'join');
    join.mockRejectedValue(new Error('no connection'));
    await socket.send('presence.active', { active: false });
    await flush();
    expect((await shown(bob, alice)).status).toBe('online');
    join.mockRestore();
    await one.get(PresenceDevices).beat();
    await flush();
    expect((await shown(bob, alice)).status).toBe('away');
  });

  test('the next heartbeat repeats a disconnection that could not be written', async () => {
    const socket = await connect(one, alice);
    grace(0);
    jest.spyOn(one.get(PresenceWrites), 'leave').mockRejectedValueOnce(new Error('no connection'));
    await disconnect(socket, one);
    await one.get(PresenceDevices).beat();
    await sweep();
    expect((await shown(bob, alice)).status).toBe('offline');
  });

  test.each(['known', 'missing'])(
    'a heartbeat does not extend a socket that closes meanwhile: %s',
    async (device) => {
      const { socket } = await connect(one, alice);
      grace(0);
      if (device === 'missing') await one.sql('DELETE FROM presence_devices WHERE user_id = $1', [alice.id]);
      const devices = one.get(PresenceDevices);
      const writes = one.get(PresenceWrites);
      const sockets = one.get(UserConnections);
      const beat = writes.beat.bind(writes);
      const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      jest.spyOn(writes, 'beat').mockImplementationOnce(async (...parameters) => {
        started.resolve();
        await finish.promise;
        return beat(...parameters);
      });
      const beating = devices.beat();
      await started.promise;
      const { id } = socket;
      socket.close();
      await until('the end of the socket', () => sockets.all.every((each) => each.id !== id));
      const flushed = devices.flush();
      await setImmediate();
      finish.resolve();
      await Promise.all([beating, flushed]);
      await sweep();
      expect(await one.sql('SELECT id FROM presence_devices WHERE user_id = $1', [alice.id])).toEqual([]);
    },
  );

  test('a crash of PostgreSQL loses devices and no status', async () => {
    const follower = await follow(bob, alice);
    await connect(one, alice);
    // After a restart of PostgreSQL a sweep waits for the heartbeats. PostgreSQL was not restarted here, so the sweeps of earlier tests must not run.
    const timed = [one, two].map((app) => jest.spyOn(app.get(PresenceDevices), 'sweep').mockResolvedValue());
    await one.sql('TRUNCATE presence_devices');
    await one.get(PresenceDevices).beat();
    await two.get(PresenceDevices).beat();
    for (const spy of timed) spy.mockRestore();
    await sweep();
    expect((await shown(bob, alice)).status).toBe('online');
    await until('the event', () => received(follower, alice).length > 0);
    expect(received(follower, alice)).toEqual(['online']);
  });

  describe('the text of a status', () => {
    const set = (user: TestUser, fields: object) => user.api.put('/presence/me', fields);

    test('is shown while its user is offline, until its end', async () => {
      await set(alice, { status: 'away', text: 'On leave', until: new Date(Date.now() + 3_600_000) });
      expect(await shown(bob, alice)).toMatchObject({ status: 'offline', text: 'On leave' });
      const listed = (await bob.api.get('/chat/users')).body.users;
      expect(listed.find(({ id }: any) => id === alice.id)).toMatchObject({ status_text: 'On leave' });
      const follower = await follow(bob, alice);
      await one.sql(
        `UPDATE presence_users SET choice_until = now() - make_interval(secs => 1), due_at = now() - make_interval(secs => 1)
          WHERE user_id = $1`,
        [alice.id],
      );
      expect(await shown(bob, alice)).toMatchObject({ status: 'offline', text: '' });
      await sweep();
      await follower.next('presence', ({ user_id, text }) => user_id === alice.id && text === '');
    });

    test('stays after a disconnect, and likewise when its user becomes invisible, until its end', async () => {
      const [carol, dora] = await one.tenant(`acme-${count}`, 'carol', 'dora');
      const follower = await follow(bob, carol, dora);
      const [hidden, leaving] = [await connect(one, carol), await connect(one, dora)];
      const until = new Date(Date.now() + 3_600_000);
      for (const user of [carol, dora]) await set(user, { status: 'away', text: 'At lunch', until });
      await hidden.send('presence.set', { status: 'invisible', text: 'marker-7721' });
      await disconnect(leaving, one);
      await one.sql(
        `UPDATE presence_users SET hidden_at = now(), due_at = now() - make_interval(secs => 1) WHERE user_id = $1`,
        [carol.id],
      );
      await one.sql(
        `UPDATE presence_devices SET expires_at = now() - make_interval(secs => 1) WHERE user_id = $1`,
        [dora.id],
      );
      await sweep();
      for (const user of [carol, dora]) {
        await follower.next('presence', (event) => event.user_id === user.id && event.status === 'offline');
        expect(await shown(bob, user)).toMatchObject({ status: 'offline', text: 'At lunch' });
      }
      await one.sql(
        `UPDATE presence_users
            SET choice_until = CASE WHEN user_id = $1 THEN now() - make_interval(secs => 1) END,
                shown_until = CASE WHEN user_id = $2 THEN now() - make_interval(secs => 1) END,
                due_at = now() - make_interval(secs => 1) WHERE user_id IN ($1, $2)`,
        [dora.id, carol.id],
      );
      for (const user of [carol, dora])
        expect(await shown(bob, user)).toMatchObject({ status: 'offline', text: '' });
      await sweep();
      for (const user of [carol, dora])
        await follower.next('presence', (event) => event.user_id === user.id && event.text === '');
      expect(JSON.stringify(follower.events)).not.toContain('marker-77');
    });
  });

  describe('an invisible user', () => {
    test('has the same history as one who disconnects', async () => {
      const [carol, dora] = await one.tenant(`acme-${count}`, 'carol', 'dora');
      const follower = await follow(bob, carol, dora);
      const [hidden, leaving] = [await connect(one, carol), await connect(one, dora)];
      const both = async () => {
        const { presence } = (await bob.api.get(`/presence?user_ids=${carol.id},${dora.id}`)).body;
        return presence.map(({ status, text, last_active_at }: any) => [
          status,
          text,
          last_active_at !== null,
        ]);
      };
      await hidden.send('presence.set', { status: 'invisible', text: 'marker-7719' });
      await disconnect(leaving, one);
      // Both keep their status during the grace period.
      await sweep();
      expect(await both()).toEqual([
        ['online', '', true],
        ['online', '', true],
      ]);
      await one.sql(
        `UPDATE presence_users SET hidden_at = now(), due_at = now() - make_interval(secs => 1) WHERE user_id = $1`,
        [carol.id],
      );
      await one.sql(
        `UPDATE presence_devices SET expires_at = now() - make_interval(secs => 1) WHERE user_id = $1`,
        [dora.id],
      );
      await sweep();
      for (const user of [carol, dora])
        await follower.next('presence', (event) => event.user_id === user.id && event.status === 'offline');
      expect(await both()).toEqual([
        ['offline', '', true],
        ['offline', '', true],
      ]);
      const frozen = (await shown(bob, carol)).last_active_at;
      // Others do not see further devices, activity and texts.
      const other = await connect(two, carol);
      await other.send('presence.active', { active: false });
      await other.send('presence.active', { active: true });
      await other.send('presence.set', { status: 'invisible', text: 'marker-7720' });
      await sweep();
      expect((await shown(bob, carol)).last_active_at).toBe(frozen);
      const listed = (await bob.api.get('/presence')).body.presence.map(({ user_id }: any) => user_id);
      expect(listed).toEqual([bob.id]);
      const users = (await bob.api.get('/chat/users')).body.users;
      expect(users.find(({ id }: any) => id === carol.id)).toMatchObject({
        presence: 'offline',
        status_text: '',
      });
      expect(JSON.stringify([follower.events, users])).not.toContain('marker-77');
      expect((await carol.api.get('/presence/me')).body.presence).toMatchObject({ status: 'invisible' });
      expect(received(follower, carol)).toEqual(['online', 'offline']);
      expect(received(follower, dora)).toEqual(['online', 'offline']);
    });

    test('is not shown in the rooms that they have open', async () => {
      const member_ids = [bob.id];
      const { room } = (await alice.api.post('/chat/rooms', { type: 'group', name: 'r', member_ids })).body;
      grace(0);
      await alice.api.put('/presence/me', { status: 'invisible' });
      const socket = await connect(one, alice);
      const other = await connect(two, bob);
      await socket.send('room.open', { room_id: room.id });
      await flush();
      const { presence, mod_seq } = await other.send('room.open', { room_id: room.id });
      expect([presence.map(({ user_id }: any) => user_id), mod_seq]).toEqual([[bob.id], 0]);
      await flush();
      const read = async () => (await alice.api.get(`/presence/rooms/${room.id}`)).body.presence;
      expect(await read()).toEqual([expect.objectContaining({ user_id: bob.id, viewing: true })]);
      await other.send('room.close', { room_id: room.id });
      await socket.send('presence.set', { status: 'online' });
      await flush();
      const both = (await read()).map(({ user_id, viewing }: any) => [user_id, viewing]);
      expect(new Map(both)).toEqual(
        new Map([
          [alice.id, true],
          [bob.id, false],
        ]),
      );
      expect((await eve.api.get(`/presence/rooms/${room.id}`)).status).toBe(404);
    });
  });

  test('a status ends at its time', async () => {
    const follower = await follow(bob, alice);
    await connect(one, alice);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await alice.api.put('/presence/me', { status: 'dnd', text: 'Call', until });
    expect((await alice.api.get('/presence/me')).body.presence).toEqual({
      status: 'dnd',
      text: 'Call',
      until,
    });
    await one.sql(
      `UPDATE presence_users SET choice_until = now() - make_interval(secs => 1), due_at = now() - make_interval(secs => 1) WHERE user_id = $1`,
      [alice.id],
    );
    await sweep();
    expect(
      await follower.next('presence', ({ status, text }) => status === 'online' && text === ''),
    ).toBeDefined();
    await sweep();
    expect((await alice.api.get('/presence/me')).body.presence).toEqual({
      status: 'online',
      text: '',
      until: null,
    });
    expect((await shown(bob, alice)).status).toBe('online');
    const empty = await alice.api.put('/presence/me', { status: 'dnd', text: null });
    expect([empty.status, empty.body.presence?.text]).toEqual([200, '']);
    const past = await alice.api.put('/presence/me', { status: 'dnd', until: '2020-01-01T00:00:00Z' });
    expect([past.status, past.body.error]).toEqual([422, 'validation_failed']);
  });

  test('the end of a status holds in each read before the sweep', async () => {
    await connect(one, alice);
    const ended = async (status: string): Promise<void> => {
      const until = new Date(Date.now() + 3_600_000).toISOString();
      await alice.api.put('/presence/me', { status, text: 'Call', until });
      await one.sql(
        `UPDATE presence_users SET choice_until = now() - make_interval(secs => 1), due_at = NULL WHERE user_id = $1`,
        [alice.id],
      );
    };
    await ended('dnd');
    const online = { user_id: alice.id, status: 'online', text: '' };
    expect(await shown(bob, alice)).toMatchObject(online);
    const { presence } = (await bob.api.get('/presence')).body;
    expect(presence).toMatchObject([online]);
    await alice.api.put('/presence/me', { status: 'online' });
    grace(0);
    await ended('invisible');
    expect(await shown(bob, alice)).toMatchObject(online);
  });

  test('members of a workspace only, active ones only', async () => {
    await connect(one, alice);
    const foreign = await connect(one, eve);
    expect((await eve.api.get(`/presence/${alice.id}`)).status).toBe(404);
    expect((await bob.api.get(`/presence/${UNKNOWN}`)).status).toBe(404);
    expect((await eve.api.get(`/presence?user_ids=${alice.id}`)).body.presence).toEqual([]);
    const subscribed = await foreign.send('presence.subscribe', { user_ids: [alice.id] });
    expect(subscribed.presence).toEqual([]);
    await alice.api.put('/presence/me', { status: 'dnd' });
    await alice.api.post(`/tenant/members/${bob.id}/deactivate`);
    expect((await alice.api.get(`/presence/${bob.id}`)).status).toBe(404);
    expect(foreign.named('presence')).toEqual([]);
    for (const path of [
      'user_ids=x',
      `user_ids=${Array(201)
        .fill(UNKNOWN)
        .map((id, n) => `${id.slice(0, -3)}${100 + n}`)
        .join()}`,
    ])
      expect((await alice.api.get(`/presence?${path}`)).status).toBe(422);
  });

  test('pages of all users who are not offline', async () => {
    const others = await one.tenant(`acme-${count}`, 'p1', 'p2', 'p3', 'p4');
    for (const user of others) await connect(one, user);
    const ids: string[] = [];
    let cursor = '';
    do {
      const { presence, next } = (await alice.api.get(`/presence?limit=2${cursor}`)).body;
      ids.push(...presence.map(({ user_id }: any) => user_id));
      cursor = next && `&cursor=${next}`;
    } while (cursor);
    expect(ids).toEqual(others.map(({ id }) => id).toSorted());
  });

  test('any order of events at two processes ends with the status of the devices that are left', async () => {
    grace(0);
    const actions = fc.array(
      fc.constantFrom('open one', 'open two', 'close', 'idle', 'active', 'dnd', 'online'),
      {
        minLength: 3,
        maxLength: 10,
      },
    );
    await fc.assert(
      fc.asyncProperty(actions, async (steps) => {
        const live: { socket: TestSocket; app: TestApp; active: boolean }[] = [];
        let dnd = false;
        await alice.api.put('/presence/me', { status: 'online' });
        for (const step of steps) {
          const last = live.at(-1);
          if (step.startsWith('open')) {
            const app = step === 'open one' ? one : two;
            live.push({ socket: await TestSocket.open(app, alice), app, active: true });
          } else if (step === 'close' && last) {
            live.pop();
            const { id } = last.socket.socket;
            last.socket.close();
            await until('the end', () => last.app.get(UserConnections).all.every((each) => each.id !== id));
          } else if ((step === 'idle' || step === 'active') && last) {
            last.active = step === 'active';
            await last.socket.send('presence.active', { active: last.active });
          } else if (step === 'dnd' || step === 'online') {
            dnd = step === 'dnd';
            await alice.api.put('/presence/me', { status: step });
          }
        }
        await Promise.all([one, two].map((app) => app.get(PresenceDevices).flush()));
        await Promise.all([one, two].map((app) => app.get(PresenceDevices).sweep()));
        const active = live.some((device) => device.active);
        const expected = live.length === 0 ? 'offline' : dnd ? 'dnd' : active ? 'online' : 'away';
        expect((await shown(bob, alice)).status).toBe(expected);
        for (const { socket, app } of live) await disconnect(socket, app);
        await sweep();
      }),
      { numRuns: 12 },
    );
  });
});
