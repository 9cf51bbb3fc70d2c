import { currentWork } from '../../current-work/current-work.js';
import { PrimaryClient, StandbyError } from './primary-client.js';
import type { SessionConfig } from './session-client.js';
import { receivedBy, socketOf } from './fair-pool.js';
import { runOn } from '../run-on.js';
import type { Statement } from '../statement.js';

interface Pipeline {
  client: PrimaryClient;
  /** Settles with the start of the connection; undefined: it is open. */
  opening: Promise<unknown> | undefined;
  /** Statements without a result yet. */
  pending: number;
  /** Whether statements are buffered until the end of this turn of the event loop, to be sent together. */
  collecting: boolean;
  /** Bytes received until the last result. Results arrive in the order of the statements. */
  received: number;
}

/**
 * Connections that many callers share for short reads. A statement is sent without waiting for the results of earlier ones, and one
 * system call sends the statements of all requests that arrived together. PostgreSQL runs the statements of a connection in order,
 * so a slow one delays the next ones: only statements declared `pipelined` run here.
 */
export class ReadPipelines {
  private readonly pipelines: (Pipeline | undefined)[];
  private closed = false;

  /**
   * @param config of each connection
   * @param size number of connections; opened at their first statement, again after a failure
   */
  constructor(
    private readonly config: SessionConfig,
    size: number,
  ) {
    this.pipelines = Array.from({ length: size }, () => undefined);
  }

  get size(): number {
    return this.pipelines.length;
  }

  /** Changes the number of connections. Excess connections close after their pending statements. */
  resize(size: number): void {
    while (this.pipelines.length < size) this.pipelines.push(undefined);
    for (const pipeline of this.pipelines.splice(size)) void pipeline?.client.end();
  }

  /** Opens other connections for the next statements. */
  reconnect(): void {
    const { size } = this;
    this.resize(0);
    this.resize(size);
  }

  /** Statements sent, without a result yet. */
  get pending(): number {
    return this.pipelines.reduce((sum, pipeline) => sum + (pipeline?.pending ?? 0), 0);
  }

  /** Runs the statement on the connection with the fewest pending ones. A lost connection fails all that are pending on it. */
  async query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    const pipeline = this.leastBusy();
    pipeline.pending += 1;
    collect(pipeline);
    try {
      const running = runOn<Row>(pipeline.client, statement, values);
      // pg does not fail the statements of a connection for which no host was found.
      const rows = pipeline.opening ? (await Promise.all([running, pipeline.opening]))[0] : await running;
      if (pipeline.client.isRefused) throw new StandbyError(pipeline.client.host);
      return rows;
    } finally {
      pipeline.pending -= 1;
      countBytes(pipeline);
    }
  }

  /** Waits for the pending statements. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all(this.pipelines.map(async (pipeline) => pipeline?.client.end()));
  }

  private leastBusy(): Pipeline {
    let best = 0;
    for (let n = 1; n < this.pipelines.length; n += 1)
      if ((this.pipelines[n]?.pending ?? 0) < (this.pipelines[best]?.pending ?? 0)) best = n;
    return (this.pipelines[best] ??= this.open(best));
  }

  private open(index: number): Pipeline {
    if (this.closed) throw new Error('Connection terminated: the application is stopping');
    const client = new PrimaryClient({ ...this.config, pipeline: true });
    const drop = () => {
      if (this.pipelines[index]?.client === client) this.pipelines[index] = undefined;
    };
    client.once('end', drop);
    // The statements that are pending fail with the same error, and the next one opens a new connection.
    client.on('error', drop);
    const opening = client.connect();
    const pipeline: Pipeline = { client, opening, pending: 0, collecting: false, received: 0 };
    opening.then(() => (pipeline.opening = undefined), drop);
    return pipeline;
  }
}

/** Sends all statements of this turn of the event loop by one system call, which is a fifth of the time of a short read. */
function collect(pipeline: Pipeline): void {
  if (pipeline.collecting) return;
  pipeline.collecting = true;
  const stream = socketOf(pipeline.client);
  stream.cork();
  setImmediate(() => {
    pipeline.collecting = false;
    stream.uncork();
  });
}

/** Counts the bytes since the last result for the request of this one; a part of the next result may have arrived with it. */
function countBytes(pipeline: Pipeline): void {
  const received = receivedBy(pipeline.client);
  const work = currentWork();
  if (work) work.databaseBytes += received - pipeline.received;
  pipeline.received = received;
}
