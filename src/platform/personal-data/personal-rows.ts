import { Injectable } from '@nestjs/common';
import { Db } from '../database/db.js';
import { directory, either, type Statement, workspace } from '../database/statement.js';
import type { Tx } from '../database/tx.js';

/** Rows that are fetched at once, and the bytes after which no further one is. */
const BATCH = 200;
const BATCH_BYTES = 1024 * 1024;

/** The text of a statement that exports rows. @param select names each column; its rows become JSON objects */
export const personalRows = (select: string): string =>
  `DECLARE personal_data NO SCROLL CURSOR FOR SELECT to_jsonb(entry)::text AS item FROM (${select}) AS entry`;

const fetch = either.statement<{ item: string }>(
  'personal_data.fetch',
  `SELECT item FROM fetch_texts('personal_data', ${BATCH}, ${BATCH_BYTES}) AS item`,
  { reach: 'transaction' },
);

// The writer of the archive may pause the reader between two batches, and the rows of a large workspace take long.
const idleTimeout = either.statement<never>(
  'personal_data.idle_timeout',
  `SET LOCAL idle_in_transaction_session_timeout = '120s'`,
  { reach: 'transaction' },
);

/** Reads the rows of an export in batches, in one snapshot and with constant memory. */
@Injectable()
export class PersonalRows {
  constructor(private readonly db: Db) {}

  /**
   * The connection is held until `use` ends.
   * @param use consumes the batches; each row is the text of a JSON object
   */
  async read<T>(
    statement: Statement<never>,
    values: readonly unknown[],
    use: (batches: AsyncIterable<string[]>) => Promise<T>,
  ): Promise<T> {
    return this.db.tx(async (tx) => {
      await tx.allowLongStatements();
      await tx.query(statement, values);
      await tx.query(idleTimeout, []);
      return use(batchesOf(tx));
    });
  }
}

async function* batchesOf(tx: Tx): AsyncGenerator<string[]> {
  for (;;) {
    const rows = await tx.query(fetch, []);
    if (rows.length === 0) return;
    yield rows.map(({ item }) => item);
  }
}

/** SQL of the name that replaces the name of an erased user. */
export const ERASED_NAME = `'Deleted user'`;

/** SQL of the address that replaces the address of an erased user. @param id SQL of the id of the user, as text */
export const erasedAddress = (id: string): string => `'deleted-' || ${id} || '@deleted.invalid'`;

/** Delete the rows of a user in tables of a workspace, by `tenant_id` and `user_id`. @param domain prefix of their names */
export const eraseUserRows = (domain: string, ...tables: string[]): Statement<never>[] =>
  tables.map((table) =>
    workspace.statement(
      `${domain}.erase_${table}`,
      `DELETE FROM ${table} WHERE tenant_id = $1 AND user_id = $2`,
    ),
  );

/** Delete the rows of an account in tables of the directory, by `account_id`. @param domain prefix of their names */
export const eraseAccountRows = (domain: string, ...tables: string[]): Statement<never>[] =>
  tables.map((table) =>
    directory.statement(`${domain}.erase_${table}`, `DELETE FROM ${table} WHERE account_id = $1`),
  );
