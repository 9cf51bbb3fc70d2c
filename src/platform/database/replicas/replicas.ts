import { forProcess } from '../../current-work/current-work.js';
import type { SessionSettings } from '../connections/session-client.js';
import type { Statement } from '../statement.js';
import { Positions } from './positions.js';
import { type Miss, Replica } from './replica.js';
import type { Identity } from './replica-client.js';
import { identityOf } from './standby-check.js';

/** Where reads ran that may run on a replica: there, or, for one of these reasons, on the primary. */
export type ReadOutcome = 'replica' | Miss | 'none';

interface ReplicasOptions {
  urls: readonly string[];
  session: SessionSettings;
  /** Connections for reads to each replica. */
  max: number;
  /** Runs a statement on the primary, beside other reads. */
  onPrimary: <Row>(statement: Statement<Row>) => Promise<Row[]>;
}

/**
 * The standbys of a database that serve reads (adr/0075). A read first asks the primary for its position in the WAL, and runs on a standby
 * that has replayed it: it sees what it would see on the primary, also the writes of other callers and processes.
 */
export class Replicas {
  readonly all: readonly Replica[];
  /** Number of reads by their outcome. */
  readonly reads: Record<ReadOutcome, number> = { replica: 0, behind: 0, failed: 0, busy: 0, none: 0 };
  private readonly positions: Positions;
  private identity: Promise<Identity> | undefined;
  private turn = 0;

  constructor({ urls, session, max, onPrimary }: ReplicasOptions) {
    this.positions = new Positions(onPrimary);
    const identity = (): Promise<Identity> => {
      this.identity ??= onPrimary(identityOf).then(([row]) => row as Identity);
      this.identity.catch(() => (this.identity = undefined));
      return this.identity;
    };
    this.all = urls.map((url) => new Replica({ url, session, max, identity, positions: this.positions }));
  }

  /** Begins to use the replicas that respond. */
  start(): void {
    for (const replica of this.all) forProcess(() => replica.start());
  }

  /** @returns the rows; undefined: the statement must run on the primary */
  async read<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[] | undefined> {
    const result = await this.tryRead(statement, values);
    this.reads[typeof result === 'string' ? result : 'replica'] += 1;
    return typeof result === 'string' ? undefined : result;
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((replica) => replica.close()));
  }

  private async tryRead<Row>(
    statement: Statement<Row>,
    values: readonly unknown[],
  ): Promise<Row[] | Miss | 'none'> {
    const replica = this.leastBusy();
    if (!replica) return 'none';
    try {
      return await replica.read(statement, values, await this.positions.current());
    } catch {
      // The primary has not told its position: the statement meets the same error there.
      return 'failed';
    }
  }

  /** Of the usable replicas with the fewest running reads, the next one. */
  private leastBusy(): Replica | undefined {
    const { all } = this;
    this.turn = (this.turn + 1) % all.length;
    let best: Replica | undefined;
    for (let n = 0; n < all.length; n += 1) {
      const replica = all[(this.turn + n) % all.length] as Replica;
      if (replica.isUsable && (!best || replica.busy < best.busy)) best = replica;
    }
    return best;
  }
}
