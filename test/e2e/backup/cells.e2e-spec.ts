import { createBackup } from '../../../src/backup/create-backup.js';
import { restoreBackup } from '../../../src/backup/restore-backup.js';
import { verifyBackup } from '../../../src/backup/verify-backup.js';
import { provision } from '../../../src/provision/provision.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { configOf, Directories, silent } from '../../support/installation/backup.ts';
import { addCells, type TestCell } from '../../support/database/cells.ts';
import { emptyDatabase } from '../../support/database/database.ts';
import { inTransaction, lockWaiters } from '../../support/database/locks.ts';
import { upload } from '../../support/network/multipart.ts';

/** Facts of each workspace that commit in the directory and in a cell together. */
const HALVES = `
  SELECT tenants.id FROM tenants WHERE NOT EXISTS (SELECT FROM tenant_members WHERE tenant_id = tenants.id)
  UNION ALL SELECT tenant_id FROM tenant_members WHERE NOT EXISTS (SELECT FROM tenants WHERE id = tenant_id)
  UNION ALL SELECT tenant_id FROM tenant_members WHERE NOT EXISTS (SELECT FROM accounts WHERE id = user_id)`;

describe('the backup of an installation with cells', () => {
  const directories = new Directories();
  let app: TestApp;
  let cells: TestCell[];
  let users: TestUser[];

  beforeAll(async () => {
    app = await TestApp.start();
    const [main] = await app.tenant('main-town', 'ann');
    cells = await addCells(app.served.nest, 'east', 'west');
    const [ben] = await app.tenant('east-town', 'ben');
    const [cleo] = await app.tenant('west-town', 'cleo');
    users = [main, ben, cleo];
  });
  afterAll(async () => {
    await app?.stop();
    for (const cell of cells ?? []) await cell.drop();
    directories.remove();
  });

  const config = () => configOf(app.databaseUrl, app.dataDir);

  test('has the rows and files of all cells, and both parts of each commit or none; a restore puts all workspaces into one database', async () => {
    const files: { user: TestUser; task: string; id: string }[] = [];
    for (const user of users) {
      const { body } = await user.api.post('/tasks', { title: `of ${user.email}` });
      const made = await upload(user.api, `/tasks/${body.task.id}/attachments`, Buffer.from(user.email));
      files.push({ user, task: body.task.id, id: made.body.attachment.id });
    }
    const state = { over: false, made: 0 };
    const writing = (async () => {
      for (; !state.over; state.made += 1) {
        const slug = `town-${state.made}`;
        const file = { tenants: [{ slug, users: [{ email: `d@${slug}.example`, name: 'Dora' }] }] };
        await provision(app.served.nest, file);
      }
    })();
    const place = directories.make();
    const summary = await createBackup(config(), app.databaseUrl, { to: place }, silent);
    state.over = true;
    await writing;
    expect(summary).toMatchObject({ files: 3, faults: [] });
    expect(state.made).toBeGreaterThan(0);
    expect(await verifyBackup(place, undefined, silent)).toMatchObject({ faults: [], files: 3 });

    const empty = await emptyDatabase();
    const dataDir = directories.make();
    await restoreBackup(configOf(empty.url, dataDir), empty.url, { from: place }, silent);
    const restored = await TestApp.start({ DATA_DIR: dataDir }, empty.url);
    for (const { user, task, id } of files) {
      const api = restored.as(user.token);
      const [before, after] = [await user.api.get('/tasks'), await api.get('/tasks')];
      expect(after.body).toEqual(before.body);
      expect((await api.get(`/tasks/${task}/attachments/${id}`)).text).toBe(user.email);
    }
    expect(await restored.sql(HALVES)).toEqual([]);
    const [row] = await restored.sql(
      `SELECT array_agg(name) AS names, sum(workspaces)::int AS workspaces FROM cells`,
    );
    const [{ count }] = await restored.sql('SELECT count(*)::int AS count FROM tenants');
    expect(row).toEqual({ names: ['main'], workspaces: count });
    expect(count).toBeGreaterThanOrEqual(3);
    await restored.stop();
    await empty.drop();
  });

  test('has opened its connections to all cells before commits of several databases wait for it', async () => {
    let backup: Promise<unknown> | undefined;
    const counts = await inTransaction(app.databaseUrl, async (client) => {
      await client.query('INSERT INTO commit_decisions (id, committed) VALUES (gen_random_uuid(), true)');
      backup = createBackup(config(), app.databaseUrl, { to: directories.make() }, silent);
      await lockWaiters(client);
      const open = `SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'backup'`;
      return Promise.all(cells.map(async (cell) => (await cell.sql(open))[0].count));
    });
    expect(await backup).toMatchObject({ faults: [] });
    // One holds the snapshot, one reads the rows.
    expect(counts).toEqual([2, 2]);
  });

  test('is rejected while a workspace is moved or a cell is unavailable', async () => {
    const [, ben] = users;
    const attempt = () => createBackup(config(), app.databaseUrl, { to: directories.make() }, silent);
    await app.sql(
      `INSERT INTO workspace_moves (tenant_id, source, target, state) VALUES ('${ben!.tenantId}', 'east', 'west', 'copying')`,
    );
    await expect(attempt()).rejects.toThrow('is being moved');
    await app.sql('DELETE FROM workspace_moves');
    await cells[1]!.stop();
    await expect(attempt()).rejects.toThrow();
    await cells[1]!.resume();
    expect(await attempt()).toMatchObject({ faults: [] });
  });
});
