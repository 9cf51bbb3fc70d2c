/**
 * Runs pg_dump (WebAssembly) in a thread. pg_dump writes and reads in blocking calls, so the main thread owns the connection, and
 * this one sleeps until bytes arrive.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';

/** What the main thread passes to this one. */
export interface DumpTask {
  /** URL of the module with pg_dump. */
  module: string;
  args: string[];
  /** Bytes to and from the server. */
  port: MessagePort;
  /** Number of messages from the server so far. */
  received: Int32Array;
}

/** The part of PGlite that pg_dump uses. */
interface Connection {
  query(sql: string): Promise<{ rows: { search_path: string }[] }>;
  exec(sql: string): Promise<void>;
  /** Sends bytes, and receives all bytes of the responses to the requests among them. */
  execProtocolRawStream(bytes: Uint8Array, options: { onRawData: (bytes: Uint8Array) => void }): void;
}

interface PgDumpModule {
  pgDump: (options: { pg: Connection; args: string[] }) => Promise<File>;
}

const LENGTH_BYTES = 4;
const TYPE_BYTES = 1;
/** Requests after which the server is ready for the next one: Query, Sync. */
const REQUESTS = new Set(['Q', 'S']);
const READY_FOR_QUERY = 'Z';

const { module, args, port, received } = workerData as DumpTask;

/** Cuts a stream of bytes into messages (PostgreSQL: Frontend/Backend Protocol). */
class Messages {
  private rest = Buffer.alloc(0);

  /** @param hasType false for the start-up message of the client, the first one, which has no type */
  constructor(private hasType: boolean) {}

  /** @returns the types of the messages that these bytes complete; `startup` for the first one without type */
  add(bytes: Uint8Array): string[] {
    this.rest = Buffer.concat([this.rest, bytes]);
    const types: string[] = [];
    for (;;) {
      const head = this.hasType ? TYPE_BYTES : 0;
      if (this.rest.length < head + LENGTH_BYTES) return types;
      const end = head + this.rest.readInt32BE(head);
      if (this.rest.length < end) return types;
      types.push(this.hasType ? String.fromCharCode(this.rest[0]!) : 'startup');
      this.hasType = true;
      this.rest = this.rest.subarray(end);
    }
  }
}

let hasEnded = false;

/** Sleeps until a message of the server has arrived. @throws Error at the end of the connection, and after it */
function receive(): Uint8Array {
  for (;;) {
    if (hasEnded) throw new Error('The server has ended the connection of pg_dump.');
    const before = Atomics.load(received, 0);
    const found = receiveMessageOnPort(port);
    if (found?.message !== undefined) return found.message as Uint8Array;
    hasEnded = found !== undefined;
    if (!hasEnded) Atomics.wait(received, 0, before);
  }
}

const requests = new Messages(false);
const responses = new Messages(true);

const connection: Connection = {
  // The module reads and restores a setting of PGlite, which is no concern of a connection that ends.
  query: async () => ({ rows: [{ search_path: '' }] }),
  exec: async () => undefined,
  execProtocolRawStream(bytes, { onRawData }) {
    // A copy: the memory belongs to pg_dump.
    port.postMessage(Uint8Array.from(bytes));
    const sent = requests.add(bytes);
    let expected = sent.filter((type) => type === 'startup' || REQUESTS.has(type)).length;
    while (expected > 0) {
      const chunk = receive();
      onRawData(chunk);
      expected -= responses.add(chunk).filter((type) => type === READY_FOR_QUERY).length;
    }
  },
};

const { pgDump } = (await import(module)) as PgDumpModule;
const dump = await pgDump({ pg: connection, args });
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(await dump.text());
port.close();
