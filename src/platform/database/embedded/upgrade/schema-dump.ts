import { once } from 'node:events';
import net from 'node:net';
import { MessageChannel, Worker } from 'node:worker_threads';
import type { DumpTask } from './schema-dump-worker.js';

export interface DumpOptions {
  /** `pre-data`: what tables need, and the tables. `post-data`: indexes, constraints, triggers. Default: both. */
  section?: 'pre-data' | 'post-data';
  /** Begins with the creation of the database. */
  withDatabase?: boolean;
  signal?: AbortSignal;
}

/** A server and the module with pg_dump. */
export interface DumpSource {
  /** Path of the socket of the server. */
  socket: string;
  pgDump: URL;
}

const WORKER = new URL('./schema-dump-worker.js', import.meta.url);

/** The definitions of a database as SQL, by pg_dump: of all kinds, with owners, privileges and comments. */
export async function dumpSchema(
  { socket, pgDump }: DumpSource,
  database: string,
  { section, withDatabase = false, signal }: DumpOptions,
): Promise<string> {
  // A plain name with `=` would be a list of parameters.
  const name = database.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`);
  const args = ['--schema-only', `--dbname=dbname='${name}'`];
  if (section) args.push(`--section=${section}`);
  if (withDatabase) args.push('--create');
  return runPgDump(socket, pgDump, args, signal);
}

async function runPgDump(
  socket: string,
  module: URL,
  args: string[],
  signal: AbortSignal | undefined,
): Promise<string> {
  signal?.throwIfAborted();
  const server = net.connect(socket);
  const { port1: port, port2 } = new MessageChannel();
  const received = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: DumpTask = { module: module.href, args, port: port2, received };
  const worker = new Worker(WORKER, { workerData, transferList: [port2], execArgv: [], env: {} });
  port.on('message', (bytes: Uint8Array) => server.write(bytes));
  const pass = (bytes: Uint8Array | undefined) => {
    port.postMessage(bytes);
    Atomics.add(received, 0, 1);
    Atomics.notify(received, 0);
  };
  server.on('data', (bytes) => pass(Uint8Array.from(bytes)));
  // pg_dump ends the connection before it returns; if it still waits for a response, the end is an error.
  server.on('close', () => pass(undefined)).on('error', () => undefined);
  try {
    const ended = new AbortController();
    worker.once('exit', (code) => ended.abort(new Error(`pg_dump ended with ${code} and printed nothing`)));
    const either = AbortSignal.any([ended.signal, ...(signal ? [signal] : [])]);
    const [text] = (await once(worker, 'message', { signal: either }).catch((error: unknown) => {
      throw either.aborted ? either.reason : error;
    })) as [string];
    return text;
  } finally {
    server.destroy();
    port.close();
    await worker.terminate();
  }
}
