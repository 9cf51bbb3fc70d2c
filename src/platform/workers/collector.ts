import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ConcurrencyLimiter } from './concurrency-limiter.js';

/** Items that wait for a slot, and their results. */
interface Group<Item, Result> {
  items: Item[];
  results: Promise<readonly Result[]>;
}

/**
 * Collects items while they wait for a slot of a limiter: one statement has all of a group. The more work there is, the more items it
 * has; a single item waits for one turn of the event loop.
 */
export class Collector<Item, Result = void> {
  private readonly waiting = new Map<string, Group<Item, Result>>();

  /**
   * @param work results in the order of the items; may be empty where there are none
   * @param most items of a group
   */
  constructor(
    private readonly limiter: ConcurrencyLimiter,
    private readonly work: (group: string, items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly most = 64,
  ) {}

  /** @param group name, e.g. the workspace of a statement */
  async add(group: string, item: Item): Promise<Result> {
    const known = this.waiting.get(group);
    const own = known && known.items.length < this.most ? known : this.begin(group);
    const place = own.items.push(item) - 1;
    return (await own.results)[place] as Result;
  }

  private begin(name: string): Group<Item, Result> {
    const items: Item[] = [];
    const results = this.limiter.run(async () => {
      await nextTurn();
      if (this.waiting.get(name) === group) this.waiting.delete(name);
      return this.work(name, items);
    });
    const group: Group<Item, Result> = { items, results };
    this.waiting.set(name, group);
    return group;
  }
}
