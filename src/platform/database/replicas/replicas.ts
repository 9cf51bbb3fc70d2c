import { awaitWithin } from '../../../lib/turns/index.js';
import { forProcess } from '../../current-work/current-work.js';
import type { Shares } from '../connections/fair-pool.js';
import type { SessionSettings } from '../connections/session-client.js';
import { TIMEOUTS } from '../connections/timeouts.js';
import { runOn } from '../run-on.js';
import type { Statement } from '../statement.js';
import type { Reader } from '../tx.js';
import { type Miss, Replica, type ReplicaWork, RESPONSE_MS } from './replica.js';
import { inSnapshot } from './snapshot.js';
import { type Identity, identityOf, type Position, positionOf } from './standby.js';

/** Where reads ran that may run on a replica: there, or, for one of these reasons, on the primary. */
export type ReadOutcome = 'replica' | Miss | 'none';

/** Runs a statement on the primary, beside other reads. */
type OnPrimary = <Row>(statement: Statement<Row>) => Promise<Row[]>;

interface ReplicasOptions {
  urls: readonly string[];
  /** The cell; undefined: the database of DATABASE_URL. */
  cell?: string | undefined;
  session: SessionSettings;
  /** Connections for reads to each replica. */
  shares: Shares;
  onPrimary: OnPrimary;
}

/**
 * The standbys of a database that serve reads (adr/0075). A read first asks the primary for its position in the WAL, and runs on a standby
 * that has replayed it: it sees what it would see on the primary, also the writes of other callers and processes.
 */
export class Replicas {
  readonly all: readonly Replica[];
  /** Number of reads by their outcome. */
  readonly reads: Record<ReadOutcome, number> = { replica: 0, behind: 0, failed: 0, busy: 0, none: 0 };
  private readonly position: () => Promise<Position>;
  private turn = 0;

  constructor({ urls, cell, session, shares, onPrimary }: ReplicasOptions) {
    const positions = new Positions(onPrimary);
    // A primary that takes longer delays no read of a replica further: it runs on another connection of the primary.
    this.position = () => awaitWithin(RESPONSE_MS, positions.current());
    const identity = async (): Promise<Identity> =>
      (await awaitWithin(RESPONSE_MS, onPrimary(identityOf)))[0] as Identity;
    const { position } = this;
    this.all = urls.map((url) => new Replica({ url, cell, session, shares, identity, position }));
  }

  /** Begins to use the replicas that respond. */
  start(): void {
    for (const replica of this.all) forProcess(() => replica.start());
  }

  /** Changes the number of connections to each replica. */
  resize(shares: Shares): void {
    for (const replica of this.all) replica.resize(shares);
  }

  /**
   * @returns the rows; undefined: the statement must run on the primary
   * @throws as `Replica.read`
   */
  async read<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[] | undefined> {
    const run: ReplicaWork<Row[]> = (client, limit) =>
      runOn(client, statement, values, limit + TIMEOUTS.response);
    return (await this.run(run))?.value;
  }

  /**
   * Runs several statements in one snapshot.
   * @returns the result of `work`; undefined: it must run on the primary
   * @throws as `Replica.read`, and what `work` throws besides the errors of its statements
   */
  async readSnapshot<T>(
    work: (reader: Pick<Reader, 'query'>) => Promise<T>,
  ): Promise<{ value: T } | undefined> {
    const result = await this.run(inSnapshot(work));
    return result && { value: result.value() };
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((replica) => replica.close()));
  }

  private async run<T>(work: ReplicaWork<T>): Promise<{ value: T } | undefined> {
    const result = await this.tryRead(work);
    this.reads[typeof result === 'string' ? result : 'replica'] += 1;
    return typeof result === 'string' ? undefined : result;
  }

  /** Asks the usable replicas until one serves the read, or fails: then it has taken time enough. */
  private async tryRead<T>(work: ReplicaWork<T>): Promise<{ value: T } | Miss | 'none'> {
    for (const replica of this.all) replica.expectReads();
    const usable = this.byLoad();
    if (usable.length === 0) return 'none';
    // Without its position, the primary decides about the statement.
    const position = await this.position().catch(() => undefined);
    if (!position) return 'failed';
    let result: { value: T } | Miss = 'failed';
    for (const replica of usable) {
      result = await replica.read(work, position);
      if (result !== 'busy' && result !== 'behind') return result;
    }
    return result;
  }

  /** The usable replicas: those with the fewest running reads first, equal ones by turns. */
  private byLoad(): Replica[] {
    this.turn = (this.turn + 1) % this.all.length;
    return [...this.all.slice(this.turn), ...this.all.slice(0, this.turn)]
      .filter(({ isUsable }) => isUsable)
      .sort((one, other) => one.busy - other.busy);
  }
}

/** Reads the position of the primary: one statement for all reads that begin while the previous one is running. */
class Positions {
  private next: Promise<Position> | undefined;
  private running: Promise<unknown> = Promise.resolve();

  constructor(private readonly read: OnPrimary) {}

  /** The position at a time after this call. @throws the error of the primary */
  current(): Promise<Position> {
    // The statement that is running may have read its position before this call.
    this.next ??= this.readAfter(this.running);
    return this.next;
  }

  private async readAfter(previous: Promise<unknown>): Promise<Position> {
    await previous;
    this.next = undefined;
    const rows = this.read(positionOf);
    this.running = rows.catch(() => undefined);
    return (await rows)[0] as Position;
  }
}
