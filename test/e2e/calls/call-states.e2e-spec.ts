import fc from 'fast-check';
import { EgressStatus } from '@livekit/protocol';
import { Reconciler } from '../../../src/modules/calls/events/participant-events.js';
import { RecordingEvents } from '../../../src/modules/calls/recordings/recording-events.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { type Connection, LiveKit } from '../../support/livekit/livekit.ts';
import type { Delivery } from '../../support/livekit/webhooks.ts';

const PEOPLE = ['alice', 'bob', 'carol'];

const who = fc.integer({ min: 0, max: PEOPLE.length - 1 });
/** The process that a request reaches. */
const at = fc.integer({ min: 0, max: 1 });
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('start' as const), who, at }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('join' as const), who, at }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('leave' as const), who, at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('rejoin' as const), who, at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const), who, at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('exclude' as const), who, at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('include' as const), who, at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('record' as const), who, at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('stop' as const), who, at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('progress' as const), who, at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reconcile' as const), who, at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), who, at }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const deliveries = fc.infiniteStream(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Delivery>('deliver') },
    { weight: 2, arbitrary: fc.constant<Delivery>('drop') },
    { weight: 2, arbitrary: fc.constant<Delivery>('double') },
    { weight: 3, arbitrary: fc.constant<Delivery>('hold') },
  ),
);

/**
 * Members, webhooks and two processes in random order. Events are lost, repeated, late and reordered. After each sequence one
 * reconciliation must make the database equal to the media server.
 */
describe('calls under lost and reordered events, in two processes', () => {
  let apps: TestApp[];
  let livekit: LiveKit;
  let users: TestUser[];

  beforeAll(async () => {
    livekit = await LiveKit.start();
    const first = await TestApp.start(livekit.settings);
    apps = [first, await TestApp.start(livekit.settings, first.databaseUrl)];
    livekit.webhooks.targets.push(...apps.map(({ base }) => base));
    users = await first.tenant('acme', ...PEOPLE);
  });
  afterAll(async () => {
    for (const app of (apps ?? []).toReversed()) await app.stop();
    await livekit?.stop();
  });

  /** One sequence in a room of its own. */
  class Run {
    private readonly connections = new Map<number, Connection>();
    private readonly left: Connection[] = [];
    private readonly members = new Set(users.keys());
    readonly calls = new Set<string>();
    room = '';

    api = (n: number, app: number) => apps[app]!.as(users[n]!.token);

    async open(): Promise<void> {
      const member_ids = users.slice(1).map(({ id }) => id);
      const created = await this.api(0, 0).post('/chat/rooms', { type: 'group', name: 'Random', member_ids });
      this.room = created.body.room.id;
    }

    async take({ do: what, who: n, at: app }: Step): Promise<void> {
      await this[what](n, app);
      await livekit.webhooks.settled();
      await this.checkDatabase();
    }

    async start(n: number, app: number): Promise<void> {
      const { status, body } = await this.api(n, app).post('/call/rooms', { room_id: this.room });
      expect(this.members.has(n) ? [200, 201] : [404]).toContain(status);
      if (status === 201) this.calls.add(body.room.id);
    }

    async join(n: number, app: number): Promise<void> {
      const { status, body } = await this.api(n, app).post(`/call/tokens/${this.room}/mint`);
      expect([200, 404]).toContain(status);
      if (!this.members.has(n)) expect(status).toBe(404);
      if (status === 200) this.connections.set(n, await livekit.join(body.token));
    }

    async leave(n: number): Promise<void> {
      const connection = this.connections.get(n);
      if (!connection) return;
      await livekit.leave(connection);
      this.connections.delete(n);
      this.left.push(connection);
    }

    /** Connects with the token that the media server gave an earlier connection. */
    async rejoin(): Promise<void> {
      const connection = this.left.pop();
      if (connection) await livekit.join(connection.freshToken).catch(() => undefined);
    }

    async end(_: number, app: number): Promise<void> {
      const { body } = await this.api(0, app).get(`/chat/rooms/${this.room}`);
      const id = body.room.active_call?.call_id;
      if (id) expect((await this.api(0, app).post(`/call/${id}/end`)).status).toBe(200);
    }

    async exclude(n: number, app: number): Promise<void> {
      if (n === 0) return;
      await this.api(0, app).delete(`/chat/rooms/${this.room}/members/${users[n]!.id}`);
      this.members.delete(n);
    }

    async include(n: number, app: number): Promise<void> {
      await this.api(0, app).post(`/chat/rooms/${this.room}/members`, { user_id: users[n]!.id });
      this.members.add(n);
    }

    async record(_: number, app: number): Promise<void> {
      const { body } = await this.api(0, app).get(`/chat/rooms/${this.room}`);
      const id = body.room.active_call?.call_id;
      if (!id) return;
      const { status } = await this.api(0, app).post(`/call/${id}/recordings`);
      // Without a participant before, the media server has no room to record.
      expect([201, 409, 503]).toContain(status);
    }

    async stop(_: number, app: number): Promise<void> {
      for (const { id, call_id } of await this.recordings(app))
        expect((await this.api(0, app).post(`/call/${call_id}/recordings/${id}/stop`)).status).toBe(200);
    }

    /** Moves recordings of the media server to their next state. */
    async progress(n: number): Promise<void> {
      for (const { egressId, status, roomName } of livekit.egresses.values()) {
        if (!this.rooms.includes(roomName) || status >= EgressStatus.EGRESS_ENDING) continue;
        if (status === EgressStatus.EGRESS_STARTING) await livekit.activate(egressId);
        else if (n === 0) await livekit.fail(egressId);
      }
    }

    async reconcile(_: number, app: number): Promise<void> {
      await apps[app]!.get(Reconciler).run();
      await apps[app]!.get(RecordingEvents).reconcile();
    }

    async release(n: number): Promise<void> {
      await livekit.webhooks.release((events) => (n === 0 ? events : events.toReversed()));
    }

    /** All late events arrive in reverse order, then one reconciliation. */
    async settle(): Promise<void> {
      livekit.webhooks.deliverBy(() => 'drop');
      await livekit.webhooks.release((events) => events.toReversed());
      await apps[0]!.get(OutboxWorker).drain();
      for (const { egressId, status, roomName } of livekit.egresses.values())
        if (this.rooms.includes(roomName) && status < EgressStatus.EGRESS_COMPLETE)
          await livekit.complete(egressId);
      await this.reconcile(0, 1);
      await apps[1]!.get(OutboxWorker).drain();
      await this.reconcile(0, 0);
      await apps[0]!.get(OutboxWorker).drain();
    }

    /** The database equals the media server, which has no participant without access. */
    async checkEnd(): Promise<void> {
      const rows = await apps[0]!.sql<{ id: string; state: string; connected: string[] }>(
        `SELECT call.id, call.state, ARRAY(SELECT identity FROM call_participants participant
           WHERE participant.call_id = call.id AND participant.left_at IS NULL ORDER BY identity) AS connected
           FROM calls call WHERE call.room_id = $1`,
        [this.room],
      );
      for (const { id, state, connected } of rows) {
        const room = this.nameOf(id);
        expect({ id, connected }).toEqual({ id, connected: livekit.connected(room) });
        if (state === 'ended') expect(livekit.rooms.has(room)).toBe(false);
      }
      const allowed = new Set([...this.members].map((n) => users[n]!.id));
      const connected = this.rooms.flatMap((room) =>
        livekit.connected(room).map((identity) => identity.split(':')[1]),
      );
      expect(connected.filter((user) => !allowed.has(user!))).toEqual([]);
      const states = (await this.recordings(0)).map(({ state }) => state);
      expect(states.filter((state) => !['ready', 'failed', 'aborted'].includes(state))).toEqual([]);
    }

    private async checkDatabase(): Promise<void> {
      const [row] = await apps[0]!.sql<{ live: number; recording: number; odd: number }>(
        `SELECT (SELECT count(*)::int FROM calls WHERE room_id = $1 AND state = 'live') AS live,
                (SELECT count(*)::int FROM recordings WHERE room_id = $1 AND state IN ('starting', 'active', 'stopping')) AS recording,
                (SELECT count(*)::int FROM calls call JOIN call_participants participant ON participant.call_id = call.id
                  WHERE call.room_id = $1 AND call.state = 'ended' AND participant.left_at IS NULL) AS odd`,
        [this.room],
      );
      expect(row!.live).toBeLessThanOrEqual(1);
      expect(row!.recording).toBeLessThanOrEqual(row!.live + this.calls.size);
      expect(row!.odd).toBe(0);
    }

    private async recordings(app: number): Promise<{ id: string; call_id: string; state: string }[]> {
      return (await this.api(0, app).get(`/chat/rooms/${this.room}/recordings`)).body.recordings;
    }

    private nameOf = (call: string) => `t${users[0]!.tenantId!.replaceAll('-', '')}.${call}`;

    private get rooms(): string[] {
      return [...this.calls].map(this.nameOf);
    }
  }

  test('one reconciliation makes the database equal to the media server', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 30 }), deliveries, async (steps, stream) => {
        const run = new Run();
        livekit.webhooks.deliverBy(() => stream.next().value as Delivery);
        await run.open();
        for (const each of steps) await run.take(each);
        await run.settle();
        await run.checkEnd();
      }),
      { numRuns: 15, endOnFailure: true },
    );
  });

  test('a process that starts later continues with the calls of the others', async () => {
    const run = new Run();
    livekit.webhooks.deliverBy(() => 'drop');
    await run.open();
    await run.start(0, 0);
    await run.join(0, 0);
    await run.join(1, 1);
    await run.record(0, 1);
    await apps.pop()!.stop();
    const restarted = await TestApp.start(livekit.settings, apps[0]!.databaseUrl);
    apps.push(restarted);
    livekit.webhooks.targets.splice(0, 2, ...apps.map(({ base }) => base));
    await run.leave(1);
    await run.settle();
    await run.checkEnd();
  });
});
