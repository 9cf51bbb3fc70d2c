import pg from 'pg';
import { lockedEach } from './locked.js';
import type { MovedTable } from './moved-table.js';

const { escapeIdentifier: quoted, escapeLiteral: literal } = pg;

const nameFor = (tenantId: string): string => `moving_${tenantId.replaceAll('-', '')}`;

/**
 * Makes every write of rows of the workspace fail with an error that clients see as 503 with Retry-After. Its creation waits for
 * the transactions that have written, so afterwards the rows do not change.
 */
export async function stopWrites(
  client: pg.Client,
  tables: readonly MovedTable[],
  tenantId: string,
): Promise<void> {
  const [name, tenant] = [nameFor(tenantId), literal(tenantId)];
  // Repeated attempts meet triggers that an earlier one has made.
  const trigger = (table: MovedTable, kind: string, events: string, row: string) =>
    `CREATE OR REPLACE TRIGGER ${kind}_${name} BEFORE ${events} ON ${quoted(table.name)} FOR EACH ROW
       WHEN (${row}.tenant_id = ${tenant}) EXECUTE FUNCTION workspace_is_moving();`;
  await lockedEach(
    client,
    tables.map((table) => [
      trigger(table, 'write', 'INSERT OR UPDATE', 'NEW'),
      trigger(table, 'delete', 'DELETE', 'OLD'),
    ]),
  );
}

/** Ends {@link stopWrites}. Does nothing for tables without it. */
export async function allowWrites(
  client: pg.Client,
  tables: readonly MovedTable[],
  tenantId: string,
): Promise<void> {
  const name = nameFor(tenantId);
  const { rows } = await client.query<{ table: string }>(
    `SELECT DISTINCT relname AS table FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
      WHERE relnamespace = current_schema()::regnamespace AND tgname IN ($1, $2)`,
    [`write_${name}`, `delete_${name}`],
  );
  const found = new Set(rows.map(({ table }) => table));
  await lockedEach(
    client,
    tables
      .filter((table) => found.has(table.name))
      .map((table) =>
        ['write', 'delete'].map((kind) => `DROP TRIGGER IF EXISTS ${kind}_${name} ON ${quoted(table.name)};`),
      ),
  );
}
