import { Injectable } from '@nestjs/common';
import { Db } from '../database/db.js';
import { either, type Statement } from '../database/statement.js';
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
