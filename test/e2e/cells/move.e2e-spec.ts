import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import type pg from 'pg';
import { CellAdministration } from '../../../src/platform/cells/cell-administration.js';
import { CellsRepository } from '../../../src/platform/cells/cells.repository.js';
import { MovesRepository, WorkspaceMoves } from '../../../src/platform/cells/move/workspace-moves.js';
import { UnfinishedCommits } from '../../../src/platform/cells/unfinished-commits.js';
import { Db } from '../../../src/platform/database/db.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TenantsApi } from '../../../src/modules/tenants/index.js';
import { workspace } from '../../../src/platform/database/statement.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { addCells, cellOf, type TestCell } from '../../support/database/cells.ts';
import { cloneDatabase, inDatabase } from '../../support/database/database.ts';
import { inTransaction } from '../../support/database/locks.ts';
import { loseResponse, socketError } from '../../support/database/lost-response.ts';
import { holdEvents } from '../../support/database/outbox.ts';
import { DatabaseProxy } from '../../support/network/proxy.ts';
import { until } from '../../support/until.ts';

describe('the move of a workspace to another cell', () => {
  let app: TestApp;
  let north: TestCell;
  let south: TestCell;
  let ann: TestUser;
  let ben: TestUser;
  let gil: TestUser;
  let moves: WorkspaceMoves;

  beforeAll(async () => {
    app = await TestApp.start();
    [north, south] = (await addCells(app.served.nest, 'north', 'south')) as [TestCell, TestCell];
    [ann, ben] = await app.tenant('acme', 'ann', 'ben');
    [gil] = await app.tenant('globex', 'gil');
    moves = app.get(WorkspaceMoves);
    // The only process of this installation reads the directory at each request below.
    const none = async () => undefined;
    moves.pauses = { known: none, clear: none };
  });
  afterAll(async () => {
    await app?.stop();
    await north?.drop();
    await south?.drop();
  });

  /** Runs SQL in the database of the directory. */
  const directory = (text: string, values?: unknown[]) => inDatabase(app.databaseUrl, text, values);

  const rowsOf = async (cell: TestCell, tenantId: string | null): Promise<number> => {
    const tables = await cell.sql(
      `SELECT DISTINCT table_name AS name FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
        WHERE table_schema = 'public' AND column_name = 'tenant_id' AND table_type = 'BASE TABLE'`,
    );
    const counts = tables.map(({ name }) => `(SELECT count(*) FROM ${name} WHERE tenant_id = $1)`);
    return Number((await cell.sql(`SELECT ${counts.join(' + ')} AS rows`, [tenantId]))[0].rows);
  };

  test('loses nothing during writes and reads of the feed, and cursors stay valid', async () => {
    for (let n = 0; n < 30; n += 1) await ann.api.post('/notes', { title: `before ${n}` });
    const deleted = (await ann.api.post('/notes', { title: 'to be deleted' })).body.note.id;
    await ann.api.post('/tasks', { title: 'shared', assignees: [ben.id] });
    await app.get(OutboxWorker).drain();
    let cursor = (await ann.api.get('/notes/index')).body.changes_cursor as string;
    const seen = new Map<string, string>();
    const acknowledged = new Map<string, string>();
    const other: ApiResponse[] = [];
    const state = { moving: true, writing: true, reads: 0 };
    /** Repeats a request while writes are stopped. */
    const write = (method: string, path: string, body?: object) => {
      const headers = { 'idempotency-key': randomUUID() };
      return until('a write', async () => {
        const response = await ann.api.request(method, path, { body, headers });
        if (response.status < 300) return response.body;
        if (response.status !== 503 || !response.headers.get('retry-after')) other.push(response);
        return undefined;
      });
    };
    const writer = async (): Promise<void> => {
      for (let n = 0; state.moving || n < 10; n += 1) {
        const { note } = await write('POST', '/notes', { title: `during ${n}` });
        acknowledged.set(note.id, note.title);
        const title = `changed ${n}`;
        await write('PATCH', `/notes/${note.id}`, { title, base_revision: note.revision });
        acknowledged.set(note.id, title);
      }
    };
    const reader = async (): Promise<void> => {
      for (let isLast = false; !isLast;) {
        isLast = !state.writing;
        const { status, body } = await ann.api.get(`/notes/changes?cursor=${cursor}`);
        if (status !== 200) throw new Error(`the feed: ${status} ${JSON.stringify(body)}`);
        for (const { id, title } of body.notes) seen.set(id, title);
        cursor = body.cursor;
        state.reads += 1;
        if (body.notes.length > 0) isLast = false;
      }
    };
    const writers = [writer(), writer()];
    const reading = reader();
    await write('DELETE', `/notes/${deleted}`, { base_revision: 1 });
    const phases: string[] = [];
    const { pauses } = moves;
    // Two more reads: then the read that began before the switch has ended.
    const clear = async () => {
      const { reads } = state;
      await until('two reads', () => state.reads >= reads + 2);
    };
    moves.pauses = { ...pauses, clear };
    const result = await moves.move(ann.tenantId!, 'south', ({ phase }) => phases.push(phase));
    moves.pauses = pauses;
    state.moving = false;
    await Promise.all(writers);
    state.writing = false;
    await reading;
    expect(result).toMatchObject({ from: 'north', to: 'south' });
    expect(result.rows).toBeGreaterThan(60);
    expect(phases).toEqual(['waiting', 'copied', 'stopped', 'switched', 'cleared']);
    expect(other.map(({ status, text }) => [status, text])).toEqual([]);
    expect(await cellOf(app, ann.tenantId!)).toBe('south');
    for (const [id, title] of acknowledged) {
      expect([id, (await ann.api.get(`/notes/${id}`)).body.note.title]).toEqual([id, title]);
      expect([id, seen.get(id)]).toEqual([id, title]);
    }
    expect((await ben.api.get('/tasks')).body.tasks.map(({ title }: any) => title)).toContain('shared');
    expect(await rowsOf(north, ann.tenantId)).toBe(0);
    expect(await north.sql(`SELECT tgname FROM pg_trigger WHERE tgname LIKE '%moving%'`)).toEqual([]);
    expect(await directory(`SELECT * FROM workspace_moves`)).toEqual([]);
    const counts = await directory(
      `SELECT name, workspaces::int FROM cells WHERE name <> 'main' ORDER BY name`,
    );
    expect(counts).toEqual([
      { name: 'north', workspaces: 0 },
      { name: 'south', workspaces: 2 },
    ]);
  });

  /** The cell of `gil`'s workspace, and the other one. */
  const sides = async (): Promise<[from: TestCell, to: TestCell]> =>
    (await cellOf(app, gil.tenantId!)) === 'south' ? [south, north] : [north, south];

  /** Moves `gil`'s workspace. @param check runs between the switch and the removal of the former rows */
  const moveGil = async (check: () => Promise<unknown> = async () => undefined): Promise<TestCell> => {
    const [from, to] = await sides();
    const pauses = moves.pauses;
    moves.pauses = { ...pauses, clear: check };
    try {
      await moves.move(gil.tenantId!, to.name);
    } finally {
      moves.pauses = pauses;
    }
    return from;
  };

  test('a transaction that has read the former cell may not write in the new one', async () => {
    const { note } = (await gil.api.post('/notes', { title: 'Read before' })).body;
    const read = workspace.statement<{ title: string }>('', 'SELECT title FROM notes WHERE tenant_id = $1');
    const write = workspace.statement<never>(
      '',
      `UPDATE notes SET title = 'Written after' WHERE tenant_id = $1`,
    );
    await moveGil(async () => {
      expect((await gil.api.get(`/notes/${note.id}`)).status).toBe(200);
    });
    const late = app.get(Db).tx(async (tx) => {
      await tx.query(read, [gil.tenantId]);
      await moveGil(() => expect(tx.query(write, [gil.tenantId])).rejects.toMatchObject({ code: '57P03' }));
      throw new Error('rolled back');
    });
    await expect(late).rejects.toThrow('rolled back');
    expect((await gil.api.get(`/notes/${note.id}`)).body.note.title).toBe('Read before');
  });

  test('an entry of the audit log that the copy has, and a transaction that is older than it', async () => {
    const [from] = await sides();
    await inTransaction(from.url, async (old) => {
      await old.query('SELECT pg_current_xact_id()');
      const { group } = (await gil.api.post('/rbac/groups', { name: 'Audited' })).body;
      const entries = (await gil.api.get('/tenant/audit')).text;
      expect(entries).toContain(group.id);
      await moveGil();
      expect((await gil.api.get('/tenant/audit')).text).toBe(entries);
    });
  });

  test('a row that was removed after the copy, and a new one with its unique value', async () => {
    const [book] = (await gil.api.get('/contact/addressbooks')).body.addressbooks;
    const contacts = `/contact/addressbooks/${book.id}/contacts`;
    const add = (full_name: string) => gil.api.post(contacts, { external_id: 'crm-1', full_name });
    const [from, to] = await sides();
    expect((await add('Former')).status).toBe(201);
    await inTransaction(from.url, async (holder) => {
      // The copy reads one snapshot, and waits before its last tables.
      await holder.query('LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE');
      const moving = moves.move(gil.tenantId!, to.name);
      await until('a copy that waits', async () => {
        const [{ waiting }] = await from.sql(
          `SELECT count(*)::int AS waiting FROM pg_locks WHERE NOT granted AND relation = 'tasks'::regclass`,
        );
        return waiting > 0;
      });
      // As retention removes a deleted contact.
      await from.sql(`DELETE FROM contacts WHERE tenant_id = $1 AND external_id = 'crm-1'`, [gil.tenantId]);
      expect((await add('New')).status).toBe(201);
      await holder.query('COMMIT');
      await moving;
    });
    expect((await gil.api.get(`${contacts}/crm-1`)).body.contact.full_name).toBe('New');
  });

  test('after the switch, no worker claims events in the former cell, and an account has each workspace once', async () => {
    const [from, to] = await sides();
    const release = await holdEvents(from);
    await gil.api.post('/notes', { title: 'An event' });
    const eventsOf = async (cell: TestCell): Promise<number> =>
      (await cell.sql('SELECT count(*)::int AS n FROM outbox WHERE tenant_id = $1', [gil.tenantId]))[0].n;
    expect(await eventsOf(from)).toBeGreaterThan(0);
    await moveGil(async () => {
      expect(await eventsOf(from)).toBe(0);
      const workspaces = await app.get(TenantsApi).workspacesOf(gil.id);
      expect(workspaces.map(({ slug }) => slug)).toEqual(['globex']);
    });
    await release();
    await to.sql('UPDATE outbox SET due_at = now() - make_interval(secs => 1) WHERE attempts = 0');
    await app.get(OutboxWorker).drain();
    expect((await gil.api.get('/search/notes?q=event')).body.notes).toHaveLength(1);
  });

  test('to the database of the directory and back', async () => {
    await app.tenant('initech', 'ida');
    const [{ id: tenant }] = await directory(`SELECT id FROM tenants WHERE slug = 'initech'`);
    const from = await cellOf(app, tenant);
    const [ida] = await app.tenant('initech', 'ida');
    const { note } = (await ida.api.post('/notes', { title: 'Kept' })).body;
    for (const cell of ['main', from]) {
      await moves.move(tenant, cell);
      const found = await ida.api.get(`/notes/${note.id}`);
      expect([cell, found.body.note]).toEqual([cell, note]);
    }
  });

  test('rejects an unknown cell, the cell of the workspace, and a second move', async () => {
    await expect(moves.move(gil.tenantId!, 'west')).rejects.toThrow('no cell "west"');
    const [{ name: source }, { name: target }] = await sides();
    await expect(moves.move(gil.tenantId!, source)).rejects.toThrow(`in the cell "${source}" already`);
    await directory(
      `INSERT INTO workspace_moves (tenant_id, source, target, state) VALUES ($1, $2, $3, 'copying')`,
      [gil.tenantId, source, target],
    );
    await expect(moves.move(gil.tenantId!, target)).rejects.toThrow('is being moved');
    await directory(`DELETE FROM workspace_moves`);
  });

  test('a move that fails leaves the workspace in its cell, and no rows in the target', async () => {
    // A row that the target has already.
    const [note] = await south.sql('SELECT * FROM notes WHERE tenant_id = $1 LIMIT 1', [ann.tenantId]);
    await north.sql(
      `SET session_replication_role = replica; INSERT INTO sync_heads (tenant_id, user_id, head) VALUES ('${note.tenant_id}', '${ann.id}', 1)`,
    );
    await expect(moves.move(ann.tenantId!, 'north')).rejects.toThrow('duplicate key');
    expect(await cellOf(app, ann.tenantId!)).toBe('south');
    expect((await ann.api.post('/notes', { title: 'Still writable' })).status).toBe(201);
    expect(await directory(`SELECT * FROM workspace_moves`)).toEqual([]);
    await north.sql('DELETE FROM sync_heads WHERE tenant_id = $1', [ann.tenantId]);
    expect(await rowsOf(north, ann.tenantId)).toBe(0);
  });

  test('the job ends the move of a process that has ended, before and after the switch', async () => {
    const [cell, other] = await sides();
    const row = `INSERT INTO workspace_moves (tenant_id, source, target, state, alive_at) VALUES ($1, $2, $3, $4, '2020-01-01')`;
    await directory(row, [gil.tenantId, cell.name, other.name, 'copying']);
    await cell.sql(`CREATE TRIGGER write_moving_${gil.tenantId!.replaceAll('-', '')} BEFORE INSERT OR UPDATE ON notes FOR EACH ROW
      WHEN (NEW.tenant_id = '${gil.tenantId}') EXECUTE FUNCTION workspace_is_moving()`);
    const stopped = await gil.api.post('/notes', { title: 'Not now' });
    expect([stopped.status, stopped.headers.get('retry-after')]).toEqual([503, expect.any(String)]);
    expect((await ann.api.post('/notes', { title: 'Others may' })).status).toBe(201);
    await moves.finish();
    expect((await gil.api.post('/notes', { title: 'Now' })).status).toBe(201);

    await other.sql(
      `SET session_replication_role = replica; INSERT INTO sync_heads (tenant_id, user_id, head) VALUES ('${gil.tenantId}', '${gil.id}', 1)`,
    );
    await directory(row, [gil.tenantId, other.name, cell.name, 'switched']);
    await moves.finish();
    expect(await rowsOf(other, gil.tenantId)).toBe(0);
    expect((await gil.api.get('/notes')).body.notes.length).toBeGreaterThan(0);
    expect(await directory(`SELECT * FROM workspace_moves`)).toEqual([]);
  });

  test('until the copy is committed, requests read the former cell; a decided move is completed after a fault', async () => {
    const { url, drop } = await cloneDatabase();
    const proxy = await DatabaseProxy.start(url);
    try {
      await app.get(CellAdministration).add('west', proxy.url);
      const read = async () => (await gil.api.get('/notes')).body.notes.map(({ id }: any) => id);
      const [{ name: former }] = await sides();
      await gil.api.post('/notes', { title: 'Read all the time' });
      const before = await read();
      const held = proxy.hold('COMMIT PREPARED');
      const moving = moves.move(gil.tenantId!, 'west');
      // Its error is expected below.
      moving.catch(() => undefined);
      await held;
      expect(await read()).toEqual(before);
      expect((await gil.api.post('/notes', { title: 'Not now' })).status).toBe(503);
      await proxy.cut();
      await expect(moving).rejects.toThrow(/Connection terminated|ECONNRESET/);
      await proxy.restore();
      await moves.finish(0);
      expect(await cellOf(app, gil.tenantId!)).toBe('west');
      expect(await read()).toEqual(before);
      expect(await rowsOf(former === 'north' ? north : south, gil.tenantId)).toBe(0);
      const counts = await directory('SELECT name, workspaces::int FROM cells ORDER BY name');
      expect(counts).toContainEqual({ name: 'west', workspaces: 1 });
      await moves.move(gil.tenantId!, former);
      await app.get(CellAdministration).setState('west', 'draining');
      await app.get(CellAdministration).remove('west');
    } finally {
      await proxy.cut();
      await drop();
    }
  });

  test.each(['ECONNRESET', 'ENETDOWN'])(
    'a decision whose response was lost (%s) is carried out, and loses nothing',
    async (code) => {
      const read = async () => (await gil.api.get('/notes')).body.notes.map(({ id }: any) => id);
      const before = await read();
      const [from, to] = await sides();
      const lost = socketError(code);
      const db = app.get<Db>(Db);
      const tx = db.tx.bind(db);
      let isDecided = false;
      const decide = jest.spyOn(app.get(CellsRepository), 'decide');
      const end = jest.spyOn(app.get(MovesRepository), 'end').mockRejectedValue(lost);
      db.tx = async (work) => {
        const result = await tx(work);
        if (decide.mock.calls.length === 0 || isDecided) return result;
        isDecided = true;
        throw lost;
      };
      try {
        await expect(moves.move(gil.tenantId!, to.name)).rejects.toBe(lost);
      } finally {
        db.tx = tx;
        decide.mockRestore();
        end.mockRestore();
      }
      await moves.finish(0);
      expect(await cellOf(app, gil.tenantId!)).toBe(to.name);
      expect(await read()).toEqual(before);
      expect(await rowsOf(from, gil.tenantId)).toBe(0);
    },
  );

  test.each(['ECONNRESET', 'ENETDOWN'])(
    'a move to the database of the directory whose response was lost (%s) is completed',
    async (code) => {
      const [una] = await app.tenant(`lost-${code.toLowerCase()}`, 'una');
      const { note } = (await una.api.post('/notes', { title: 'Kept' })).body;
      const former = (await cellOf(app, una.tenantId!)) === 'north' ? north : south;
      const sessions = moves as unknown as { connect: (cell: string) => Promise<pg.Client> };
      const connect = sessions.connect.bind(moves);
      const spy = jest.spyOn(sessions, 'connect').mockImplementation(async (cell) => {
        const client = await connect(cell);
        return cell === 'main' ? loseResponse(client, 'COMMIT', socketError(code)) : client;
      });
      try {
        await expect(moves.move(una.tenantId!, 'main')).rejects.toMatchObject({ code });
      } finally {
        spy.mockRestore();
      }
      await moves.finish(0);
      expect(await cellOf(app, una.tenantId!)).toBe('main');
      expect((await una.api.get(`/notes/${note.id}`)).body.note).toEqual(note);
      expect(await rowsOf(former, una.tenantId)).toBe(0);
    },
  );

  test('a move whose decision was never sent is undone at once', async () => {
    const [from, to] = await sides();
    jest.spyOn(app.get(CellsRepository), 'decide').mockRejectedValueOnce(socketError('ECONNRESET'));
    await expect(moves.move(gil.tenantId!, to.name)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await cellOf(app, gil.tenantId!)).toBe(from.name);
    expect((await gil.api.post('/notes', { title: 'Writable' })).status).toBe(201);
    expect(await directory(`SELECT * FROM workspace_moves`)).toEqual([]);
    expect(await to.sql('SELECT gid FROM pg_prepared_xacts WHERE database = current_database()')).toEqual([]);
  });

  test('a commit in several databases whose process ended is finished by its decision', async () => {
    const commits = app.get(UnfinishedCommits);
    commits.abandonedSeconds = 0;
    const part = async (title: string): Promise<string> => {
      const id = randomUUID();
      await south.sql(
        `BEGIN; INSERT INTO sync_heads (tenant_id, user_id, head) VALUES ('${gil.tenantId}', '${id}', 7); PREPARE TRANSACTION 'workspace:south:${id}'`,
      );
      if (title === 'decided')
        await directory('INSERT INTO commit_decisions (id, committed) VALUES ($1, true)', [id]);
      return id;
    };
    const [decided, undecided] = [await part('decided'), await part('undecided')];
    await app.get(Db).inCell('south', () => commits.run());
    expect(await south.sql('SELECT * FROM pg_prepared_xacts WHERE database = current_database()')).toEqual(
      [],
    );
    const found = await south.sql('SELECT user_id FROM sync_heads WHERE user_id = ANY ($1)', [
      [decided, undecided],
    ]);
    expect(found).toEqual([{ user_id: decided }]);
    // The slow process of the second one may not commit any more.
    expect(await directory('SELECT committed FROM commit_decisions WHERE id = $1', [undecided])).toEqual([
      { committed: false },
    ]);
  });
});
