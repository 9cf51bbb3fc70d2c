import type { ClientBase, QueryResult } from 'pg';
import type { Statement } from './statement.js';

/**
 * Runs a statement on a connection, and leaves nothing of it in the query object of pg: for `query_timeout`, and for its promises,
 * pg assigns a function literal to a property of the query. V8 allocates such functions in the old generation, where each keeps the
 * objects that it refers to until the whole heap is collected. Values and rows would stay with it (test/bench/README.md).
 */
export async function runOn<Row>(
  client: ClientBase,
  { name, text }: Statement<Row>,
  values: readonly unknown[],
): Promise<Row[]> {
  const sent = [...values];
  try {
    return await send<Row>(client, { name, text, values: sent });
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
  query: { name: string; text: string; values: unknown[] },
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
