import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { Db } from '../../../src/platform/database/db.js';
import { EventIndexer } from '../../../src/modules/calendar/search/event-search.controller.js';
import { PersonalErasureWorker } from '../../../src/modules/personal-data/erasure/personal-erasures.js';
import { NoteIndexer } from '../../../src/modules/notes/search/notes-search.controller.js';
import { PresenceDevices } from '../../../src/modules/presence/devices/presence-devices.js';
import { TaskIndexer } from '../../../src/modules/tasks/lists/search/task-search.controller.js';
import type { ItemIndexer } from '../../../src/platform/search/item-indexer.js';
import { TenantsApi } from '../../../src/modules/tenants/index.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';
import { Bus } from '../../../src/platform/bus/bus.js';
import { CatchUp } from '../../../src/platform/realtime/catch-up.js';
import { HeadWatch } from '../../../src/platform/sync/head-watch.js';
import { provision } from '../../../src/provision/provision.js';
import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { workspace } from '../../../src/platform/database/statement.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { schema } from '../../../src/schema.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { addCells, cellOf, type TestCell } from '../../support/database/cells.ts';
import { inDatabase } from '../../support/database/database.ts';
import { TestSocket } from '../../support/network/socket.ts';
import { until } from '../../support/until.ts';

describe('workspaces in cells', () => {
  let app: TestApp;
  let north: TestCell;
  let south: TestCell;
  let ann: TestUser;
  let ben: TestUser;
  let gil: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [north, south] = (await addCells(app.served.nest, 'north', 'south')) as [TestCell, TestCell];
    [ann, ben] = await app.tenant('acme', 'ann', 'ben');
    [gil] = await app.tenant('globex', 'gil');
  });
  afterAll(async () => {
    await app?.stop();
    await north?.drop();
    await south?.drop();
  });

  /** Names of the tables with rows. @param home of the tables */
  const filled = async (url: string, home: 'directory' | 'workspace'): Promise<string[]> => {
    const { dataSource } = app.get(Db);
    const names = schema.parts.flatMap(({ entities }) =>
      (entities[home] ?? []).map((entity) => dataSource.getMetadata(entity).tableName),
    );
    const counts = names.map((name) => `SELECT '${name}' AS name WHERE EXISTS (SELECT FROM ${name})`);
    return (await inDatabase(url, counts.join(' UNION ALL '))).map((row) => row.name);
  };

  test('new workspaces go to the open cell with the fewest', async () => {
    expect([await cellOf(app, ann.tenantId!), await cellOf(app, gil.tenantId!)]).toEqual(['north', 'south']);
    const cells = await app.sql('SELECT name, state, workspaces::int FROM cells ORDER BY name');
    expect(cells).toEqual([
      { name: 'main', state: 'draining', workspaces: 0 },
      { name: 'north', state: 'open', workspaces: 1 },
      { name: 'south', state: 'open', workspaces: 1 },
    ]);
  });

  test('serves every domain from the cell of the workspace', async () => {
    for (const user of [ann, gil]) {
      const created: [path: string, body: object][] = [
        ['/notes', { title: 'Plan', content: '<p>harbour</p>' }],
        ['/note_folders', { name: 'Work' }],
        ['/tasks', { title: 'Paint' }],
        ['/calendar', { name: 'Team' }],
        ['/contact/addressbooks', { name: 'Friends' }],
        ['/chat/rooms', { type: 'group', name: 'Talk', member_ids: [] }],
        ['/forms', { title: 'Survey' }],
      ];
      for (const [path, body] of created) {
        const response = await user.api.post(path, body);
        expect([path, response.status, response.text.slice(0, 200)]).toEqual([path, 201, expect.anything()]);
      }
      const [note] = (await user.api.get('/notes')).body.notes;
      const changed = await user.api.patch(`/notes/${note.id}`, { title: 'Plan 2', base_revision: 1 });
      expect(changed.status).toBe(200);
      const conflict = await user.api.patch(`/notes/${note.id}`, { title: 'Plan 3', base_revision: 1 });
      expect(conflict.status).toBe(409);
      await app.get(OutboxWorker).drain();
      const found = await user.api.get('/search/notes?q=harbour');
      expect(found.body.notes.map(({ id }: any) => id)).toEqual([note.id]);
      for (const path of [
        '/tasks',
        '/calendar',
        '/forms',
        '/chat/rooms',
        '/notifications',
        '/tenant',
        '/settings/profile',
      ])
        expect([path, (await user.api.get(path)).status]).toEqual([path, 200]);
    }
  });

  test('a repeated key of a write finds the first response', async () => {
    const key = { headers: { 'idempotency-key': randomUUID() } };
    const first = await gil.api.post('/notes', { title: 'Once' }, key);
    const again = await gil.api.post('/notes', { title: 'Once' }, key);
    expect([again.status, again.body.note.id]).toEqual([201, first.body.note.id]);
  });

  test('an id of a workspace in another cell is like an unknown one', async () => {
    const [note] = (await ann.api.get('/notes')).body.notes;
    const foreign = await gil.api.get(`/notes/${note.id}`);
    const unknown = await gil.api.get(`/notes/${randomUUID()}`);
    expect([foreign.status, foreign.body.error]).toEqual([unknown.status, unknown.body.error]);
  });

  test('jobs run in each cell', async () => {
    for (const cell of [north, south]) await cell.sql('DELETE FROM job_runs');
    await app.get(PeriodicJobs).runDue();
    for (const cell of [north, south]) {
      const runs = await cell.sql('SELECT name, error FROM job_runs');
      expect(runs.length).toBeGreaterThan(20);
      expect(runs.filter(({ error }) => error !== null)).toEqual([]);
    }
  });

  test('jobs of the directory run once', async () => {
    const runs = 'SELECT name FROM job_runs ORDER BY name';
    const names = (rows: any[]): string[] => rows.map(({ name }) => name);
    const directory = names(await inDatabase(app.databaseUrl, runs));
    const cell = names(await north.sql(runs));
    expect(directory.filter((name) => !cell.includes(name))).toEqual([
      'account-tokens.forget',
      'cells.finish-moves',
      'encode-tenant-logos',
      'forget-ended-sessions',
      'guess-locks.forget',
      'passkey-challenges.forget',
      'rate-limits.forget',
      'sign-in.forget-expired',
    ]);
    expect(cell.filter((name) => !directory.includes(name))).toEqual([]);
  });

  test.each([
    ['note_search', NoteIndexer],
    ['task_search', TaskIndexer],
    ['event_search', EventIndexer],
  ])('the repair of %s reaches the items of each cell', async (table, type) => {
    for (const { api } of [ann, gil]) {
      const [calendar] = (await api.get('/calendar')).body.calendars;
      const event = { title: 'Launch', start: '2030-05-06T10:00:00Z', end: '2030-05-06T11:00:00Z' };
      expect((await api.post(`/calendar/${calendar.id}/events`, event)).status).toBe(201);
    }
    const rows = (cell: TestCell) => cell.sql(`SELECT count(*)::int AS rows FROM ${table}`);
    for (const cell of [north, south]) await cell.sql(`DELETE FROM ${table}`);
    for (const cell of ['north', 'south'])
      expect(await app.get(Db).inCell(cell, () => app.get<ItemIndexer>(type).repair())).toBe(true);
    for (const cell of [north, south]) expect((await rows(cell))[0].rows).toBeGreaterThan(0);
  });

  test('a user is a member of workspaces in several cells', async () => {
    const guest = await app.member('globex', ann.email);
    expect(guest.id).toBe(ann.id);
    expect((await guest.api.post('/notes', { title: 'In globex' })).status).toBe(201);
    const workspaces = await app.get(TenantsApi).workspacesOf(ann.id);
    expect(workspaces.map(({ slug }) => slug)).toEqual(['acme', 'globex']);
    const [mine, theirs] = [north, south].map((cell) =>
      cell.sql('SELECT status FROM tenant_members WHERE user_id = $1', [ann.id]),
    );
    expect(await mine).toEqual([{ status: 'active' }]);
    expect(await theirs).toEqual([{ status: 'active' }]);
  });

  test('statements of a transaction that run at the same time share its connection to a cell', async () => {
    const backend = workspace.statement<{ pid: number }>(
      '',
      'SELECT pg_backend_pid() AS pid WHERE $1::uuid IS NOT NULL',
    );
    const rows = await app
      .get(Db)
      .tx((tx) => Promise.all([ann, ben, gil].map(({ tenantId }) => tx.query(backend, [tenantId]))));
    const [first, second, third] = rows.map(([row]) => row?.pid);
    expect([first === second, first === third]).toEqual([true, false]);
  });

  test('no row is in a wrong database', async () => {
    expect(await filled(app.databaseUrl, 'workspace')).toEqual([]);
    for (const [cell, tenantId] of [
      [north, ann.tenantId],
      [south, gil.tenantId],
    ] as const) {
      expect(await filled(cell.url, 'directory')).toEqual([]);
      expect((await filled(cell.url, 'workspace')).length).toBeGreaterThan(10);
      expect(await cell.sql('SELECT DISTINCT tenant_id FROM notes')).toEqual([{ tenant_id: tenantId }]);
    }
  });

  test('without a cell the presence of other workspaces goes on', async () => {
    const devices = app.get(PresenceDevices);
    const [southern, follower] = [await TestSocket.open(app, gil), await TestSocket.open(app, ann)];
    const sockets = [southern, follower];
    await follower.send('presence.subscribe', { user_ids: [ben.id] });
    await devices.flush();
    await south.stop();
    try {
      await southern.send('presence.active', { active: false });
      sockets.push(await TestSocket.open(app, ben));
      await devices.flush();
      await follower.next('presence', ({ user_id, status }) => user_id === ben.id && status === 'online');
      await north.sql(`UPDATE presence_devices SET expires_at = now() + interval '1 second'`);
      await devices.beat();
      const expiring = `SELECT id FROM presence_devices WHERE expires_at < now() + interval '30 seconds'`;
      expect(await north.sql(expiring)).toEqual([]);
    } finally {
      await south.resume();
    }
    await until('the change of the lost cell', async () => {
      await devices.beat();
      await devices.flush();
      const { presence } = (await gil.api.get(`/presence/${gil.id}`)).body;
      return presence?.[0].status === 'away';
    });
    for (const socket of sockets) socket.close();
  });

  test('without a cell the erasures of the other workspaces are scheduled', async () => {
    // By their ids, the workspace of the lost cell comes first.
    expect(ann.tenantId! < gil.tenantId!).toBe(true);
    const former: TestUser[] = [];
    for (const [owner, slug] of [
      [ann, 'acme'],
      [gil, 'globex'],
    ] as const) {
      const member = await app.member(slug, `former@${slug}.example`);
      expect((await owner.api.put('/tenant/policy', { erase_after_days: 1 })).status).toBe(200);
      expect((await owner.api.post(`/tenant/members/${member.id}/deactivate`, {})).status).toBe(200);
      former.push(member);
    }
    const schedule = () => app.inCells(() => app.get(PersonalErasureWorker).schedule());
    const scheduled = (cell: TestCell) => cell.sql('SELECT user_id FROM personal_erasures');
    for (const cell of [north, south])
      await cell.sql(
        `UPDATE tenant_members SET deactivated_at = now() - interval '2 days' WHERE status = 'deactivated'`,
      );
    await north.stop();
    try {
      await expect(schedule()).rejects.toBeInstanceOf(Error);
    } finally {
      await north.resume();
    }
    expect(await scheduled(south)).toEqual([{ user_id: former[1]!.id }]);
    await schedule();
    expect(await scheduled(north)).toEqual([{ user_id: former[0]!.id }]);
  });

  test('without a cell changes of other workspaces are found that were not reported', async () => {
    const watch = app.get(HeadWatch);
    const room = async (user: TestUser): Promise<string> =>
      (await user.api.post('/chat/rooms', { type: 'group', name: 'Lost', member_ids: [] })).body.room.id;
    const write = (user: TestUser, id: string) =>
      user.api.post(`/chat/rooms/${id}/messages`, { client_msg_id: randomUUID(), body: 'Hello' });
    // The lost cell comes first in each comparison.
    const sockets = [await TestSocket.open(app, gil), await TestSocket.open(app, ann)] as const;
    await ann.api.post('/notes', { title: 'Counted' });
    await room(gil);
    const northern = await room(ann);
    for (const socket of sockets) await socket.send('session.resume', { rooms: {} });
    const heads = 'SELECT head::int FROM sync_heads WHERE tenant_id = $1 AND user_id = $2';
    const [{ head }] = await north.sql(heads, [ann.tenantId, ann.id]);
    const waits = new AbortController();
    const wait = ({ tenantId, id }: TestUser, known: number) =>
      watch.wait({ tenantId: tenantId!, userId: id, sessionId: null }, [[id, known]], 60_000, waits.signal);
    await south.stop();
    try {
      const found = [wait(gil, 1_000_000), wait(ann, head)];
      await north.sql(`UPDATE sync_heads SET head = head + 1 WHERE tenant_id = $1 AND user_id = $2`, [
        ann.tenantId,
        ann.id,
      ]);
      expect(await found[1]).toBe(true);
      waits.abort();
      expect(await found[0]).toBe(false);

      const reports = jest.spyOn(app.get(Bus), 'publish').mockReturnValue(undefined);
      expect((await write(ann, northern)).status).toBe(201);
      const created = await room(ann);
      reports.mockRestore();
      await app.get(CatchUp).run();
      await sockets[1].next('message.created', ({ room_id }) => room_id === northern);
      await sockets[1].next('room.added', ({ room_id }) => room_id === created);
    } finally {
      jest.restoreAllMocks();
      await south.resume();
      for (const socket of sockets) socket.close();
    }
  });

  test('a commit that the directory rejects leaves no part in a cell', async () => {
    await inDatabase(
      app.databaseUrl,
      `CREATE FUNCTION reject_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'rejected'; END $$;
       CREATE CONSTRAINT TRIGGER reject_commit AFTER INSERT ON commit_decisions DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION reject_commit()`,
    );
    try {
      const file = { tenants: [{ slug: 'acme', users: [{ email: 'ida@acme.example', name: 'Ida' }] }] };
      await expect(provision(app.served.nest, file)).rejects.toThrow('rejected');
    } finally {
      await inDatabase(
        app.databaseUrl,
        'DROP TRIGGER reject_commit ON commit_decisions; DROP FUNCTION reject_commit()',
      );
    }
    for (const cell of [north, south])
      expect(await cell.sql('SELECT gid FROM pg_prepared_xacts WHERE database = current_database()')).toEqual(
        [],
      );
  });

  test('without a cell only requests for its workspaces are rejected, until it is back', async () => {
    await south.stop();
    try {
      const lost = await gil.api.get('/notes');
      expect([lost.status, lost.body.error]).toEqual([503, 'database_unavailable']);
      expect(lost.headers.get('retry-after')).not.toBeNull();
      expect((await ben.api.post('/notes', { title: 'North goes on' })).status).toBe(201);
      expect((await app.anonymous.get('/health/ready')).status).toBe(200);
      const { installation } = await app.get(Metrics).read({ installation: true });
      const up = installation.find(({ name }) => name === 'cell_up')?.values as any[];
      expect(up.map(({ labels, value }) => [labels.cell, value])).toEqual([
        ['main', 1],
        ['north', 1],
        ['south', 0],
      ]);
    } finally {
      await south.resume();
    }
    expect((await gil.api.get('/notes')).status).toBe(200);
  });
});
