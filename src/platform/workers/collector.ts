import { setImmediate as nextTurn } from 'node:timers/promises';
import { ConcurrencyLimiter, QueueFullError } from './concurrency-limiter.js';

type Limiter = Pick<ConcurrencyLimiter, 'run'>;

/**
 * Limits for names, such as those of users: each name has slots of its own.
 * @param limit of the tasks of a name that run at the same time. As with each limiter, those of one user take half of them, rounded up
 * @param queue maximum number of waiting tasks of a name; those of one user take two fifths
 * @param maxWaitMs time in the queue of a name, after which a task ends with QueueFullError
 * @returns the limiter of a name
 */
export function limitEach(limit: number, queue: number, maxWaitMs: number): (name: string) => Limiter {
  const limiters = new Map<string, ConcurrencyLimiter>();
  return (name) => ({
    async run(task) {
      const limiter = limiters.get(name) ?? new ConcurrencyLimiter(limit, queue, maxWaitMs);
      limiters.set(name, limiter);
      try {
        return await limiter.run(task);
      } finally {
        if (limiter.active + limiter.pending === 0 && limiters.get(name) === limiter) limiters.delete(name);
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

/** Limits of one group, and of all waiting items of a name. */
interface GroupLimits<Item> {
  /** Maximum number of items in a group; default: 64. */
  most?: number;
  /** Returns the size of an item; default: 0. */
  sizeOf?: (item: Item) => number;
  /** Maximum size of the items of a group together. A larger item is a group of its own. */
  maxSize?: number;
  /** Maximum number of waiting items of a name. Further ones end with QueueFullError. */
  mostWaiting?: number;
}

/**
 * Collects items while they wait for a slot: one statement has all of a group. The more work there is, the more items it has; a single
 * item waits for one turn of the event loop.
 */
export class Collector<Item, Result = void> {
  /** The group of a name that takes further items. */
  private readonly waiting = new Map<string, Group<Item, Result>>();
  /** Items of a name in all groups that have not begun. */
  private readonly counts = new Map<string, number>();
  private readonly limits: Required<GroupLimits<Item>>;

  /**
   * @param limiter gives the slots; a function returns the limiter of a group
   * @param work results in the order of the items; may be empty where there are none
   */
  constructor(
    private readonly limiter: Limiter | ((group: string) => Limiter),
    private readonly work: (group: string, items: readonly Item[]) => Promise<readonly Result[]>,
    limits: GroupLimits<Item> = {},
  ) {
    this.limits = { most: 64, sizeOf: () => 0, maxSize: Infinity, mostWaiting: Infinity, ...limits };
  }

  /** @param group name, e.g. the workspace of a statement. @throws QueueFullError, also after the limiter's time in the queue */
  async add(group: string, item: Item): Promise<Result> {
    const { most, sizeOf, maxSize, mostWaiting } = this.limits;
    if (this.countWaiting(group) >= mostWaiting) throw new QueueFullError();
    const size = sizeOf(item);
    const known = this.waiting.get(group);
    const fits = known && known.items.length < most && known.size + size <= maxSize;
    const own = fits ? known : this.begin(group);
    own.size += size;
    const place = own.items.push(item) - 1;
    this.counts.set(group, this.countWaiting(group) + 1);
    return (await own.results)[place] as Result;
  }

  /** Items of a group that have not begun. */
  countWaiting(group: string): number {
    return this.counts.get(group) ?? 0;
  }

  private begin(name: string): Group<Item, Result> {
    const items: Item[] = [];
    const limiter = typeof this.limiter === 'function' ? this.limiter(name) : this.limiter;
    let hasBegun = false;
    const leave = (): void => {
      if (this.waiting.get(name) === group) this.waiting.delete(name);
      const left = this.countWaiting(name) - items.length;
      if (left > 0) this.counts.set(name, left);
      else this.counts.delete(name);
    };
    const run = async (): Promise<readonly Result[]> => {
      try {
        return await limiter.run(async () => {
          await nextTurn();
          hasBegun = true;
          leave();
          return this.work(name, items);
        });
      } catch (error) {
        // The queue of the limiter is full: further items form a new group.
        if (!hasBegun) leave();
        throw error;
      }
    };
    const group: Group<Item, Result> = { items, size: 0, results: run() };
    this.waiting.set(name, group);
    return group;
  }
}
