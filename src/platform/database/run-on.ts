import pg, { type ClientBase, type CustomTypesConfig, type QueryConfig, type QueryResult } from 'pg';
import { ownBytes } from '../memory/cache-size.js';
import type { Statement } from './statement.js';

/** Texts of at least this many characters are read as bytes. */
const LONG = 1024;

const longTextAsBytes = (text: string) => (text.length < LONG ? text : ownBytes(text));

const LONG_TEXTS_AS_BYTES: CustomTypesConfig = {
  getTypeParser: (type, format) =>
    type === pg.types.builtins.TEXT ? longTextAsBytes : pg.types.getTypeParser(type, format),
};

/**
 * Runs a statement on a connection, and then removes its values and rows from the query object of pg. For `query_timeout` and for
 * promises, pg assigns a function literal to a property of the query. V8 allocates such functions in the old generation, where
 * they keep all objects that they refer to until the whole heap is collected (test/bench/README.md).
 * @param responseLimit time without a response, milliseconds; default: that of the connection
 */
export async function runOn<Row>(
  client: ClientBase,
  { name, text, longTextsAsBytes }: Statement<Row>,
  values: readonly unknown[],
  responseLimit?: number,
): Promise<Row[]> {
  const sent = [...values];
  try {
    const types = longTextsAsBytes ? LONG_TEXTS_AS_BYTES : undefined;
    return await send<Row>(client, { name, text, values: sent, types, query_timeout: responseLimit });
  } catch (error) {
    // The stack that pg makes begins at its socket.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  } finally {
    sent.length = 0;
  }
}

function send<Row>(
  client: ClientBase,
  query: QueryConfig & { values: unknown[]; query_timeout: number | undefined },
): Promise<Row[]> {
  let pending: PromiseWithResolvers<Row[]> | undefined = Promise.withResolvers<Row[]>();
  const { promise } = pending;
  client.query(query, (error: Error | null, result: QueryResult) => {
    const settle = pending;
    pending = undefined;
    if (error) return settle?.reject(error);
    const { rows } = result;
    result.rows = [];
    settle?.resolve(rows as Row[]);
  });
  return promise;
}
