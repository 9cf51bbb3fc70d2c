import type { Rules } from './changes.js';
import { COLLECTIONS, partsOf } from '../collections.js';
import type { FeedState } from '../exchange/feeds.js';
import type { Resolve } from '../merge/fields.js';
import type { Row } from './row.js';
import type { Store, StoreTransaction, TransactionMode } from '../store.js';

/** Ids of changed objects by feed. */
export type ChangedIds = Record<string, string[]>;

const LAST_PLACE = 'place';
const stateKey = (feed: string) => `feed ${feed}`;

/** The rows of a store: every step of a row is a transaction, or a part of one. */
export class Rows {
  private readonly rules = new Map<string, Rules>();

  constructor(
    private readonly store: Store,
    private readonly resolve: Resolve,
    private readonly onChanged: (changed: ChangedIds) => void,
  ) {}

  rulesOf(feed: string): Rules {
    let rules = this.rules.get(feed);
    if (!rules) {
      const { name, scope } = partsOf(feed);
      const { idField, hasTrash, texts } = COLLECTIONS[name];
      rules = { collection: name, scope, idField, hasTrash, texts, resolve: this.resolve };
      this.rules.set(feed, rules);
    }
    return rules;
  }

  read<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T> {
    return this.store.transaction('read', work);
  }

  /** Changes rows in one durable transaction, and reports them after it. */
  change<T>(work: (edit: RowsEdit) => Promise<T>): Promise<T> {
    return this.run('write', work);
  }

  /**
   * Does what `change` does, for results that the service delivers again: after a loss of power, feeds and requests continue from the last
   * stored state.
   */
  receive<T>(work: (edit: RowsEdit) => Promise<T>): Promise<T> {
    return this.run('relaxed', work);
  }

  private async run<T>(mode: TransactionMode, work: (edit: RowsEdit) => Promise<T>): Promise<T> {
    const edits: RowsEdit[] = [];
    const result = await this.store.transaction(mode, (tx) => {
      const edit = new RowsEdit(tx, (feed) => this.rulesOf(feed));
      edits.push(edit);
      return work(edit);
    });
    const changed = edits.at(-1)!.changed;
    if (Object.keys(changed).length > 0) this.onChanged(changed);
    return result;
  }
}

/** A transaction on rows. */
export class RowsEdit {
  readonly changed: ChangedIds = {};

  constructor(
    readonly tx: StoreTransaction,
    private readonly rulesOf: (feed: string) => Rules,
  ) {}

  /** @param step returns the row as it is without a change, undefined to delete it */
  async step(
    feed: string,
    id: string,
    step: (row: Row | undefined, rules: Rules) => Row | undefined,
  ): Promise<Row | undefined> {
    const before = await this.tx.get(feed, id);
    return this.replace(before, step(before, this.rulesOf(feed)));
  }

  /** Stores a row that was read in this transaction. */
  async replace(before: Row | undefined, after: Row | undefined): Promise<Row | undefined> {
    if (before === after) return after;
    const { feed, id } = (after ?? before)!;
    (this.changed[feed] ??= []).push(id);
    if (!after) {
      await this.tx.delete(feed, id);
      return undefined;
    }
    const placed = await this.placed(before, after);
    await this.tx.put(placed);
    return placed;
  }

  async feedState(feed: string): Promise<FeedState | undefined> {
    return (await this.tx.readMeta(stateKey(feed))) as FeedState | undefined;
  }

  setFeedState(feed: string, state: FeedState | undefined): Promise<void> {
    return this.tx.writeMeta(stateKey(feed), state);
  }

  /** A removal comes after everything that was saved before it, also by the place of an earlier change of the object. */
  private async placed(before: Row | undefined, { place, ...row }: Row): Promise<Row> {
    if (!row.sent && !row.open) return row;
    const isNewRemoval = row.open?.remove === true && !before?.open?.remove;
    if (place !== undefined && !isNewRemoval) return { ...row, place };
    const next = (((await this.tx.readMeta(LAST_PLACE)) as number | undefined) ?? 0) + 1;
    await this.tx.writeMeta(LAST_PLACE, next);
    return { ...row, place: next };
  }
}

/** The states of feeds, outside of a change. */
export async function readFeedState(tx: StoreTransaction, feed: string): Promise<FeedState | undefined> {
  return (await tx.readMeta(stateKey(feed))) as FeedState | undefined;
}
