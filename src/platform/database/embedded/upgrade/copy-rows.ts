import { createHash } from 'node:crypto';
import { Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';

/** A table with rows to copy. */
export interface CopiedTable {
  /** With its schema, quoted. */
  name: string;
  /** For SQL, without generated ones; empty: no column to copy. */
  columns: string;
  bytes: number;
}

/** Tables of the product and of the operator. Extensions create theirs. */
const TABLES = `
SELECT format('%I.%I', nspname, relname) AS name,
       coalesce((SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
                  WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''), '') AS columns,
       pg_table_size(class.oid)::float8 AS bytes
  FROM pg_class AS class JOIN pg_namespace AS namespace ON namespace.oid = relnamespace
 WHERE relkind = 'r' AND relpersistence <> 't' AND nspname <> 'information_schema' AND nspname !~ '^pg_'
   AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = class.oid AND deptype = 'e')
 ORDER BY bytes DESC, name`;

const SEQUENCES = `
SELECT format('%I.%I', nspname, relname) AS name
  FROM pg_class AS class JOIN pg_namespace AS namespace ON namespace.oid = relnamespace
 WHERE relkind = 'S' AND nspname !~ '^pg_'
   AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = class.oid AND deptype = 'e')`;

/** The largest first, so that connections that copy beside each other end at the same time. */
export async function listTables(client: pg.Client): Promise<CopiedTable[]> {
  return (await client.query<CopiedTable>(TABLES)).rows;
}

/** Sets the sequences of `target` to the values of `source`. */
export async function copySequences(source: pg.Client, target: pg.Client): Promise<void> {
  const { rows } = await source.query<{ name: string }>(SEQUENCES);
  for (const { name } of rows) {
    const state = await source.query<{ value: string; called: boolean }>(
      `SELECT last_value::text AS value, is_called AS called FROM ${name}`,
    );
    const { value, called } = state.rows[0]!;
    await target.query('SELECT setval($1, $2, $3)', [name, value, called]);
  }
}

/** Number of rows, and a checksum of their text in the order in which they are stored. */
interface Content {
  rows: number;
  checksum: string;
}

/**
 * Copies the rows of a table into an empty one without triggers, foreign keys and indexes, then reads them back and compares.
 * The rows pass as a stream: memory does not depend on their number.
 * @param onBytes receives the number of bytes of each part
 * @returns the number of rows
 * @throws Error when the copy differs
 */
export async function copyTable(
  source: pg.Client,
  target: pg.Client,
  { name, columns }: CopiedTable,
  onBytes: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<number> {
  if (columns === '') return rejectRows(source, name);
  const list = `${name} (${columns})`;
  await target.query(`BEGIN; TRUNCATE ONLY ${name}`);
  const rows = source.query(copyTo(`COPY ${list} TO STDOUT`));
  const hash = createHash('sha256');
  const tee = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      onBytes(chunk.length);
      done(null, chunk);
    },
  });
  // Frozen rows need no vacuum, and none of them is visible before the end.
  await pipeline(rows, tee, target.query(copyFrom(`COPY ${list} FROM STDIN WITH (FREEZE)`)), { signal });
  await target.query('COMMIT');
  const sent: Content = { rows: rows.rowCount, checksum: hash.digest('hex') };
  const stored = await readContent(target, list, signal);
  if (sent.rows !== stored.rows || sent.checksum !== stored.checksum)
    throw new Error(`The copy of the table ${name} differs: ${sent.rows} rows, ${stored.rows} in the copy.`);
  return sent.rows;
}

async function readContent(client: pg.Client, list: string, signal?: AbortSignal): Promise<Content> {
  const hash = createHash('sha256');
  const rows = client.query(copyTo(`COPY ${list} TO STDOUT`));
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done();
    },
  });
  await pipeline(rows, sink, { signal });
  return { rows: rows.rowCount, checksum: hash.digest('hex') };
}

/** COPY of a table with generated columns only has no rows to read back. */
async function rejectRows(source: pg.Client, name: string): Promise<number> {
  const { rowCount } = await source.query(`SELECT FROM ${name} LIMIT 1`);
  if (rowCount) throw new Error(`The table ${name} has rows without columns.`);
  return 0;
}
