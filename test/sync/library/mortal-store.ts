import type { Store, StoreTransaction } from '@workspace-backend/client/sync';

/** A promise of its own for each caller: a common one would keep all that wait for it. */
const waitForEver = (): Promise<never> => new Promise(() => undefined);

/** A store of a program that ends without notice, also in the middle of a transaction, which is then not stored. */
export class MortalStore implements Store {
  /** Resolves when the program has ended. */
  readonly death: Promise<void>;
  private readonly inner: Store;
  private die!: () => void;
  private isDead = false;
  private stepsLeft = Infinity;

  /** @param onDeath closes what the operating system would close */
  constructor(inner: Store, onDeath: () => void) {
    this.inner = inner;
    this.death = new Promise((resolve) => {
      this.die = () => {
        if (this.isDead) return;
        this.isDead = true;
        onDeath();
        resolve();
      };
    });
  }

  /** Ends the program. @param steps of transactions that it still makes */
  killAfter(steps: number): void {
    if (steps === 0) this.die();
    else this.stepsLeft = steps;
  }

  /** After the end of the program nothing of it runs: its promises stay pending. */
  async transaction<T>(mode: 'read' | 'write', work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
    if (this.isDead) return waitForEver();
    try {
      const result = await this.inner.transaction(mode, (tx) => work(this.counted(tx)));
      // The program may end after the commit and before it learns of it.
      this.step();
      return result;
    } catch (error) {
      if (this.isDead) return waitForEver();
      throw error;
    }
  }

  async close(): Promise<void> {
    if (!this.isDead) await this.inner.close();
  }

  private counted(tx: StoreTransaction): StoreTransaction {
    const after = async <Result>(call: () => Promise<Result>): Promise<Result> => {
      this.step();
      return call();
    };
    return {
      get: (feed, id) => after(() => tx.get(feed, id)),
      put: (row) => after(() => tx.put(row)),
      delete: (feed, id) => after(() => tx.delete(feed, id)),
      rows: (feed, first, limit) => after(() => tx.rows(feed, first, limit)),
      pending: (first, limit) => after(() => tx.pending(first, limit)),
      readMeta: (key) => after(() => tx.readMeta(key)),
      writeMeta: (key, value) => after(() => tx.writeMeta(key, value)),
    };
  }

  private step(): void {
    this.stepsLeft -= 1;
    if (this.stepsLeft <= 0) this.die();
    if (this.isDead) throw new Error('The program has ended.');
  }
}
