import { visible } from './rows/changes.js';
import type { Channel } from './tabs/channel.js';
import { copyOf } from './copy-of.js';
import { isEqual } from './equal.js';
import { eachRow } from './rows/each-row.js';
import type { Item } from './rows/row.js';
import type { Rows } from './rows/rows.js';

/** Which objects of a collection are read, and in which order. */
export interface Query<T> {
  /** Whether an object belongs to the result. Default: all do. */
  where?: (item: T) => boolean;
  /** Default: by id. */
  sort?: (a: T, b: T) => number;
  limit?: number;
  /** Only what is in the trash. Default: only what is not. */
  trash?: boolean;
}

/** Reads the objects of a feed that match. */
export async function readItems<T>(rows: Rows, feed: string, query: Query<T>): Promise<T[]> {
  const rules = rows.rulesOf(feed);
  const isEnough = ({ length }: Item[]) => !query.sort && query.limit !== undefined && length >= query.limit;
  const items = await rows.read(async (tx) => {
    const found: Item[] = [];
    for await (const row of eachRow(tx, feed)) {
      if (isEnough(found)) break;
      const item = visible(row, rules);
      if (item && matches(item, query)) found.push(item);
    }
    return found;
  });
  return ordered(items as T[], query);
}

function matches<T>(item: Item, { where, trash = false }: Query<T>): boolean {
  return (item['deleted'] === true) === trash && (where?.(item as T) ?? true);
}

function ordered<T>(items: T[], { sort, limit }: Query<T>): T[] {
  return (sort ? [...items].sort(sort) : items).slice(0, limit);
}

/** Result of a query that follows the changes of this tab, of the others, and of the service. */
export class LiveItems<T> {
  private readonly items = new Map<string, Item>();
  private working: Promise<void> = Promise.resolve();
  private isClosed = false;
  private readonly unsubscribe: () => void;

  /** @param onError the store cannot be read: the result stays what it was until the next change */
  constructor(
    private readonly rows: Rows,
    channel: Channel,
    private readonly feed: string,
    private readonly query: Query<T>,
    private readonly listener: (items: T[]) => void,
    private readonly onError: (error: unknown) => void,
  ) {
    // Changes during the first read are read again after it.
    this.unsubscribe = channel.on((message) => {
      const ids = message.kind === 'changed' ? message.changed[feed] : undefined;
      if (ids) this.enqueue(() => this.follow(ids));
    });
    this.enqueue(() => this.begin());
  }

  close(): void {
    this.isClosed = true;
    this.unsubscribe();
  }

  private enqueue(work: () => Promise<void>): void {
    this.working = this.working.then(work).catch(this.onError);
  }

  private async begin(): Promise<void> {
    const rules = this.rows.rulesOf(this.feed);
    await this.rows.read(async (tx) => {
      for await (const row of eachRow(tx, this.feed)) this.take(row.id, visible(row, rules));
    });
    this.emit();
  }

  private async follow(ids: readonly string[]): Promise<void> {
    if (this.isClosed) return;
    const rules = this.rows.rulesOf(this.feed);
    const found = await this.rows.read((tx) =>
      Promise.all([...new Set(ids)].map((id) => tx.get(this.feed, id))),
    );
    const known = new Map(found.map((row) => [row?.id, row]));
    const changes = [...new Set(ids)].map((id) => {
      const row = known.get(id);
      return this.take(id, row && visible(row, rules));
    });
    if (changes.includes(true)) this.emit();
  }

  /** @returns whether the result changes */
  private take(id: string, item: Item | undefined): boolean {
    const before = this.items.get(id);
    if (!item || !matches(item, this.query)) return this.items.delete(id);
    this.items.set(id, item);
    return !isEqual(before, item);
  }

  private emit(): void {
    if (this.isClosed) return;
    // Listeners may change what they get.
    const items = copyOf([...this.items].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item));
    this.listener(ordered(items as T[], this.query));
  }
}
