import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ConcurrencyLimiter } from './concurrency-limiter.js';

type Limiter = Pick<ConcurrencyLimiter, 'run'>;

/**
 * One slot for each name. Work runs in the order of the calls; a failure ends only its own.
 * @returns the limiter of a name
 */
export function oneSlotForEach(): (name: string) => Limiter {
  const last = new Map<string, Promise<void>>();
  return (name) => ({
    async run(task) {
      const before = last.get(name);
      const { promise: end, resolve: release } = Promise.withResolvers<void>();
      last.set(name, end);
      await before;
      try {
        return await task(0);
      } finally {
        if (last.get(name) === end) last.delete(name);
        release();
      }
    },
  });
}

/** Items that wait for a slot, and their results. */
interface Group<Item, Result> {
  items: Item[];
  size: number;
  results: Promise<readonly Result[]>;
}

/** Limits of a group. */
interface GroupLimits<Item> {
  /** Items; default: 64. */
  most?: number;
  /** Size of an item. Items beyond `maxSize` in all form a further group; a larger one is a group of its own. */
  sizeOf?: (item: Item) => number;
  maxSize?: number;
}

/**
 * Collects items while they wait for a slot: one statement has all of a group. The more work there is, the more items it has; a single
 * item waits for one turn of the event loop.
 */
export class Collector<Item, Result = void> {
  private readonly waiting = new Map<string, Group<Item, Result>>();
  private readonly limits: Required<GroupLimits<Item>>;

  /**
   * @param limiter gives the slots; a function: those of a group
   * @param work results in the order of the items; may be empty where there are none
   */
  constructor(
    private readonly limiter: Limiter | ((group: string) => Limiter),
    private readonly work: (group: string, items: readonly Item[]) => Promise<readonly Result[]>,
    limits: GroupLimits<Item> = {},
  ) {
    this.limits = { most: 64, sizeOf: () => 0, maxSize: Infinity, ...limits };
  }

  /** @param group name, e.g. the workspace of a statement */
  async add(group: string, item: Item): Promise<Result> {
    const { most, sizeOf, maxSize } = this.limits;
    const size = sizeOf(item);
    const known = this.waiting.get(group);
    const fits = known && known.items.length < most && known.size + size <= maxSize;
    const own = fits ? known : this.begin(group);
    own.size += size;
    const place = own.items.push(item) - 1;
    return (await own.results)[place] as Result;
  }

  private begin(name: string): Group<Item, Result> {
    const items: Item[] = [];
    const limiter = typeof this.limiter === 'function' ? this.limiter(name) : this.limiter;
    const results = limiter.run(async () => {
      await nextTurn();
      if (this.waiting.get(name) === group) this.waiting.delete(name);
      return this.work(name, items);
    });
    const group: Group<Item, Result> = { items, size: 0, results };
    this.waiting.set(name, group);
    return group;
  }
}
