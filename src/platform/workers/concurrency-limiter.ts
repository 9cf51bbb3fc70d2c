import { ownerOfWork, type WorkOwner } from '../current-work/current-work.js';

/** The queue is full, or a task has waited too long. The HTTP layer maps it to 503. */
export class QueueFullError extends Error {
  constructor() {
    super('the queue is full');
    this.name = 'QueueFullError';
  }
}

/** The task was rejected or aborted because the service is stopping. */
export class ClosedError extends Error {
  constructor() {
    super('closed');
    this.name = 'ClosedError';
  }
}

/** Shares of the slots that the requests of a workspace and of a user take at most, and at least one slot. */
const RUNNING = { workspace: 0.7, user: 0.5 };
/** Shares of the places of the queue that the requests of a workspace and of a user take at most. */
const WAITING = { workspace: 0.6, user: 0.4 };

/** The tasks of a workspace or of a user. */
interface Usage {
  running: number;
  waiting: number;
  /** Number of the task that started last; 0 means none. */
  last: number;
}

interface Waiter {
  usages: Usages | undefined;
  start(lease: Lease): void;
  reject(error: unknown): void;
}

interface Usages {
  workspace: Usage;
  user: Usage;
}

/** A slot until its release. */
export interface Lease {
  /** A number that no other running task has. */
  readonly slot: number;
  release(): void;
}

/**
 * Runs a limited number of tasks at the same time and queues a limited number. Each running task has a slot, a number that no other
 * running task has, so that resources of a slot (a thread, a directory) are used by one task at a time.
 *
 * The tasks of requests share the slots: a user and a workspace take a part of the slots and of the queue at most, and the next task is
 * that of the workspace, then of the user, with the fewest running tasks; among equal ones, of the one that has waited longest for its
 * turn. Tasks without a request, as those of jobs, form a group of their own without a maximum.
 */
export class ConcurrencyLimiter {
  private readonly free: number[] = [];
  /** No `Set`: see `LoopWatch`. */
  private readonly waiting: Waiter[] = [];
  private readonly workspaces = new UsageTable();
  private readonly users = new UsageTable();
  private readonly others: Usage = { running: 0, waiting: 0, last: 0 };
  private running = 0;
  private slots = 0;
  private started = 0;
  private closed = false;

  /**
   * @param limit tasks that run at the same time
   * @param queue maximum number of waiting tasks
   * @param maxWaitMs time in the queue; default: unlimited
   */
  constructor(
    private limit: number,
    private queue: number,
    private readonly maxWaitMs?: number,
  ) {}

  /**
   * Runs `task` as soon as a slot is free.
   *
   * @param signal removes a waiting task from the queue; a running task must observe it itself
   * @throws QueueFullError, ClosedError, or the signal's reason, without calling `task`
   */
  async run<T>(task: (slot: number) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const lease = await this.take(signal);
    try {
      return await task(lease.slot);
    } finally {
      lease.release();
    }
  }

  /** A slot as soon as one is free. The caller releases it. @throws as `run` */
  take(signal?: AbortSignal): Lease | Promise<Lease> {
    if (this.closed) throw new ClosedError();
    signal?.throwIfAborted();
    const usages = this.usagesOf(ownerOfWork());
    if (this.running < this.limit && this.mayRun(usages)) return this.begin(usages);
    if (this.waiting.length >= this.queue || this.isQueueShareFull(usages)) throw new QueueFullError();
    return this.wait(usages, signal);
  }

  /** A slot if one is free, beyond the shares and before waiting tasks. The caller releases it. */
  takeFree(): Lease | undefined {
    if (this.closed || this.running >= this.limit) return undefined;
    return this.begin(this.usagesOf(ownerOfWork()));
  }

  /** A slot if one is free and the caller may have it. The caller releases it. */
  takeShare(): Lease | undefined {
    if (this.closed || this.running >= this.limit) return undefined;
    const usages = this.usagesOf(ownerOfWork());
    return this.mayRun(usages) ? this.begin(usages) : undefined;
  }

  /** Changes the limits. Tasks beyond them continue. */
  resize(limit: number, queue: number): void {
    this.limit = limit;
    this.queue = queue;
    this.startWaiting();
  }

  /** Number of waiting tasks. */
  get pending(): number {
    return this.waiting.length;
  }

  /** Number of running tasks. */
  get active(): number {
    return this.running;
  }

  /** Rejects waiting and new tasks. Running tasks continue. */
  close(): void {
    this.closed = true;
    for (const waiter of this.waiting.splice(0)) waiter.reject(new ClosedError());
  }

  private async wait(usages: Usages | undefined, signal: AbortSignal | undefined): Promise<Lease> {
    const { promise, resolve, reject } = Promise.withResolvers<Lease>();
    const waiter: Waiter = { usages, start: resolve, reject };
    const leave = (reason: unknown): void => {
      this.removeWaiting(waiter);
      reject(reason);
    };
    const abort = (): void => leave(signal?.reason);
    const { maxWaitMs } = this;
    const timer =
      maxWaitMs === undefined ? undefined : setTimeout(() => leave(new QueueFullError()), maxWaitMs);
    this.waiting.push(waiter);
    this.count(usages, 'waiting', 1);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await promise;
    } finally {
      this.count(usages, 'waiting', -1);
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  private begin(usages: Usages | undefined): Lease {
    const slot = this.free.pop() ?? this.slots++;
    this.running += 1;
    this.started += 1;
    this.count(usages, 'running', 1);
    if (usages) usages.workspace.last = usages.user.last = this.started;
    else this.others.last = this.started;
    let isReleased = false;
    return {
      slot,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.running -= 1;
        this.free.push(slot);
        this.count(usages, 'running', -1);
        this.startWaiting();
      },
    };
  }

  private startWaiting(): void {
    while (this.running < this.limit) {
      const next = this.next();
      if (!next) return;
      this.removeWaiting(next);
      next.start(this.begin(next.usages));
    }
  }

  private removeWaiting(waiter: Waiter): void {
    const place = this.waiting.indexOf(waiter);
    if (place >= 0) this.waiting.splice(place, 1);
  }

  private next(): Waiter | undefined {
    let best: Waiter | undefined;
    for (const waiter of this.waiting)
      if (this.mayRun(waiter.usages) && (!best || this.isBefore(waiter.usages, best.usages))) best = waiter;
    return best;
  }

  private mayRun(usages: Usages | undefined): boolean {
    return (
      usages === undefined ||
      (usages.workspace.running < share(this.limit, RUNNING.workspace) &&
        usages.user.running < share(this.limit, RUNNING.user))
    );
  }

  private isQueueShareFull(usages: Usages | undefined): boolean {
    return (
      usages !== undefined &&
      (usages.workspace.waiting >= share(this.queue, WAITING.workspace) ||
        usages.user.waiting >= share(this.queue, WAITING.user))
    );
  }

  /** Whether one starts before the other, which has waited longer. */
  private isBefore(one: Usages | undefined, other: Usages | undefined): boolean {
    const [ofOne, ofOther] = [one?.workspace ?? this.others, other?.workspace ?? this.others];
    if (ofOne !== ofOther) return isLess(ofOne, ofOther);
    return one !== undefined && other !== undefined && isLess(one.user, other.user);
  }

  private usagesOf(owner: WorkOwner | undefined): Usages | undefined {
    if (!owner) return undefined;
    return {
      workspace: this.workspaces.of(owner.workspace),
      user: this.users.of(owner.user),
    };
  }

  private count(usages: Usages | undefined, what: 'running' | 'waiting', by: 1 | -1): void {
    if (usages) {
      usages.workspace[what] += by;
      usages.user[what] += by;
    } else this.others[what] += by;
  }
}

const share = (of: number, part: number): number => Math.ceil(of * part);

const isLess = (one: Usage, other: Usage): boolean =>
  one.running === other.running ? one.last < other.last : one.running < other.running;

const isIdle = ({ running, waiting }: Usage): boolean => running + waiting === 0;

/** Idle usages that a table keeps, besides as many as are busy. */
const KEPT_IDLE = 256;

/**
 * The usages of workspaces or users by their ids. An idle one stays for the next task, and the idle ones are removed together: a `Map` that entries
 * enter and leave with each task would replace its table every few tasks (see `LoopWatch`).
 */
class UsageTable {
  private readonly byId = new Map<string, Usage>();
  /** Size from which on idle usages are removed. */
  private most = KEPT_IDLE;

  of(id: string): Usage {
    const known = this.byId.get(id);
    if (known) {
      if (isIdle(known)) known.last = 0;
      return known;
    }
    if (this.byId.size >= this.most) this.removeIdle();
    const usage: Usage = { running: 0, waiting: 0, last: 0 };
    this.byId.set(id, usage);
    return usage;
  }

  private removeIdle(): void {
    for (const [id, usage] of this.byId) if (isIdle(usage)) this.byId.delete(id);
    this.most = KEPT_IDLE + 2 * this.byId.size;
  }
}
