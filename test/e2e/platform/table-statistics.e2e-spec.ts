import pg from 'pg';
import { statements } from '../../../src/platform/database/statement.js';
import { TableStatistics } from '../../../src/platform/statistics/table-statistics.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { until } from '../../support/until.ts';

const NOTES = 600;

/** The largest number of rows that a part of a plan has read. */
function mostRows(plan: unknown): number {
  let most = 0;
  JSON.stringify(plan, (_, value) => {
    const removed = value?.['Rows Removed by Join Filter'] ?? 0;
    if (value?.['Actual Loops']) most = Math.max(most, removed, value['Actual Rows'] * value['Actual Loops']);
    return value;
  });
  return most;
}

describe('tables that grow from nothing, before autovacuum comes', () => {
  let app: TestApp;
  let alice: TestUser;
  let client: pg.Client;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('growing', 'alice');
    for (const table of ['notes', 'note_members', 'note_revisions'])
      await app.sql(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
    // The statement must be known before it can be prepared.
    for (const query of ['sort=title', 'limit=20', 'sort=created_at'])
      expect((await alice.api.get(`/notes?${query}`)).status).toBe(200);
    client = new pg.Client(await app.databaseOf(String(alice.tenantId)));
    await client.connect();
    await client.query(`SET plan_cache_mode = force_generic_plan`);
    for (const { name, text } of lists()) {
      await client.query(`PREPARE "${name}" AS ${text}`);
      await explain(name);
    }
    for (let n = 0; n < NOTES; n += 100) {
      const requests = Array.from({ length: 100 }, (_, k) => ({
        method: 'POST',
        path: '/apis/v1/notes',
        body: { title: `Note ${n + k}`, content: '<p>Text</p>' },
      }));
      expect((await alice.api.post('/batch', { mode: 'independent', requests })).status).toBe(200);
    }
  });
  afterAll(async () => {
    await client?.end();
    await app?.stop();
  });

  /** Those with the parameters of a first page without filters: other test files of this process have made further ones. */
  const lists = () =>
    statements().filter(({ name, text }) => /^notes\.list\.\d+$/.test(name) && !text.includes('$5'));
  const explain = async (name: string): Promise<unknown> => {
    const literal = (value: string | null) => client.escapeLiteral(String(value));
    const values = `${literal(alice.tenantId)}, ${literal(alice.id)}, 20, 4194304`;
    return (await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE "${name}" (${values})`)).rows;
  };
  const refresh = () => app.inCells(() => app.get<TableStatistics>(TableStatistics).refresh());
  const analyzed = async (table: string): Promise<string | null> => {
    const { rows } = await client.query<{ at: string | null }>(
      `SELECT last_analyze::text AS at FROM pg_stat_user_tables WHERE relname = $1 AND schemaname = current_schema()`,
      [table],
    );
    return rows[0]!.at;
  };

  test('no order of the list finds its page again for each note, even by a plan for empty tables', async () => {
    const ofPages = lists().filter(({ text }) => text.includes('WITH page'));
    expect(ofPages.length).toBeGreaterThanOrEqual(2);
    for (const { name } of ofPages) expect(mostRows(await explain(name))).toBeLessThan(NOTES * 30);
  });

  test('get statistics once they have grown, and plans follow', async () => {
    // A session reports its counters up to ten seconds after its transactions.
    const first = await until('the statistics of notes', async () => {
      await refresh();
      return (await analyzed('notes')) ?? undefined;
    });
    await refresh();
    for (const { name } of lists()) expect(mostRows(await explain(name))).toBeLessThanOrEqual(NOTES * 2);
    await refresh();
    expect(await analyzed('notes')).toBe(first);
  });
});
