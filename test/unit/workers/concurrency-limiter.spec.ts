import { inWorkOf } from '../../../src/platform/current-work/current-work.js';
import {
  ClosedError,
  ConcurrencyLimiter,
  QueueFullError,
} from '../../../src/platform/workers/concurrency-limiter.js';

/** Work that the test ends. */
function held() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { work: () => promise, end: () => resolve('done'), fail: reject };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the concurrency limiter', () => {
  it('runs so many at once, each in a slot of its own, in order', async () => {
    const limiter = new ConcurrencyLimiter(2, 10);
    const busy = new Set<number>();
    const order: number[] = [];
    let most = 0;
    await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        limiter.run(async (slot) => {
          expect(busy.has(slot)).toBe(false);
          busy.add(slot);
          order.push(n);
          most = Math.max(most, busy.size);
          await turn();
          busy.delete(slot);
        }),
      ),
    );
    expect([most, order]).toEqual([2, [0, 1, 2, 3, 4, 5, 6, 7]]);
  });

  it('rejects work beyond the queue', async () => {
    const limiter = new ConcurrencyLimiter(1, 1);
    const first = held();
    const running = limiter.run(first.work);
    const waiting = limiter.run(async () => 'second');
    await expect(limiter.run(async () => 'third')).rejects.toBeInstanceOf(QueueFullError);
    first.end();
    expect(await Promise.all([running, waiting])).toEqual(['done', 'second']);
    expect(await limiter.run(async () => 'fourth')).toBe('fourth');
  });

  it('frees the slot of work that fails', async () => {
    const limiter = new ConcurrencyLimiter(1, 0);
    await expect(limiter.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await limiter.run(async () => 'next')).toBe('next');
  });

  it('frees the place of a cancelled task', async () => {
    const limiter = new ConcurrencyLimiter(1, 1);
    const first = held();
    const running = limiter.run(first.work);
    const leaving = new AbortController();
    let began = false;
    const left = limiter.run(async () => (began = true), leaving.signal);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    const second = limiter.run(async () => 'second');
    first.end();
    expect(await Promise.all([running, second])).toEqual(['done', 'second']);
    expect(began).toBe(false);
    await expect(limiter.run(async () => 'never', AbortSignal.abort(new Error('early')))).rejects.toThrow(
      'early',
    );
  });

  it('rejects all work when closed, and finishes running work', async () => {
    const limiter = new ConcurrencyLimiter(1, 1);
    const first = held();
    const running = limiter.run(first.work);
    const waiting = limiter.run(async () => 'second');
    limiter.close();
    await expect(waiting).rejects.toBeInstanceOf(ClosedError);
    await expect(limiter.run(async () => 'third')).rejects.toBeInstanceOf(ClosedError);
    first.end();
    expect(await running).toBe('done');
  });
});

describe('the shares of users and workspaces', () => {
  const ann = { workspace: 'a', user: 'ann' };
  const amy = { workspace: 'a', user: 'amy' };
  const bob = { workspace: 'b', user: 'bob' };

  /** Tasks that run until the test ends them, in the order of their start. */
  class Tasks {
    readonly started: string[] = [];
    private readonly ends: (() => void)[] = [];

    constructor(private readonly limiter: ConcurrencyLimiter) {}

    add(name: string, owner?: typeof ann): Promise<unknown> {
      const run = () =>
        this.limiter.run(() => {
          this.started.push(name);
          const { promise, resolve } = Promise.withResolvers<void>();
          this.ends.push(resolve);
          return promise;
        });
      return owner ? inWorkOf(owner, run) : run();
    }

    /** Ends the task that has run for the longest time. */
    async end(): Promise<void> {
      this.ends.shift()?.();
      await turn();
    }
  }

  it('a user takes half of the slots, a workspace seven tenths, and both leave the rest to others', async () => {
    const tasks = new Tasks(new ConcurrencyLimiter(10, 100));
    for (let n = 0; n < 8; n += 1) void tasks.add(`ann ${n}`, ann);
    for (let n = 0; n < 8; n += 1) void tasks.add(`amy ${n}`, amy);
    await turn();
    expect(tasks.started).toEqual(['ann 0', 'ann 1', 'ann 2', 'ann 3', 'ann 4', 'amy 0', 'amy 1']);
    for (let n = 0; n < 4; n += 1) void tasks.add(`bob ${n}`, bob);
    await turn();
    expect(tasks.started.slice(7)).toEqual(['bob 0', 'bob 1', 'bob 2']);
  });

  it('the next task is that of the workspace, then of the user, with the fewest running ones', async () => {
    const tasks = new Tasks(new ConcurrencyLimiter(1, 100));
    for (const [name, owner] of [
      ['ann 1', ann],
      ['ann 2', ann],
      ['ann 3', ann],
      ['amy 1', amy],
      ['bob 1', bob],
      ['bob 2', bob],
    ] as const)
      void tasks.add(name, owner);
    void tasks.add('a job');
    for (let n = 0; n < 7; n += 1) await tasks.end();
    expect(tasks.started).toEqual(['ann 1', 'bob 1', 'a job', 'amy 1', 'bob 2', 'ann 2', 'ann 3']);
  });

  it('a user fills two fifths of the queue, and work of others still waits there', async () => {
    const limiter = new ConcurrencyLimiter(1, 10);
    const tasks = new Tasks(limiter);
    const all = Array.from({ length: 6 }, (_, n) => tasks.add(`ann ${n}`, ann));
    await expect(all[5]).rejects.toBeInstanceOf(QueueFullError);
    void tasks.add('bob', bob);
    await turn();
    expect(limiter.pending).toBe(5);
    await tasks.end();
    expect(tasks.started).toEqual(['ann 0', 'bob']);
  });

  it('work without a request takes all slots', async () => {
    const tasks = new Tasks(new ConcurrencyLimiter(4, 100));
    for (let n = 0; n < 5; n += 1) void tasks.add(`job ${n}`);
    await turn();
    expect(tasks.started).toHaveLength(4);
  });
});
