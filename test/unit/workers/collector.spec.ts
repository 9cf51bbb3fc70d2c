import { Collector, limitEach } from '../../../src/platform/workers/collector.js';
import { ConcurrencyLimiter, QueueFullError } from '../../../src/platform/workers/concurrency-limiter.js';

describe('items that are collected while they wait', () => {
  const groups: string[] = [];
  let release = (): void => undefined;

  /** Results are the doubled items. The first group waits for `release`. */
  function collector(): Collector<number, number> {
    groups.length = 0;
    const held = new Promise<void>((resolve) => (release = resolve));
    return new Collector(
      new ConcurrencyLimiter(1, Infinity),
      async (name, items) => {
        groups.push(`${name}: ${items.join(' ')}`);
        if (groups.length === 1) await held;
        if (items.includes(13)) throw new Error('unlucky');
        return items.map((item) => item * 2);
      },
      { most: 3 },
    );
  }

  test('are one call by group and at most, and get their own results', async () => {
    const all = collector();
    const first = all.add('a', 0);
    while (groups.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const others = [1, 2, 3, 4].map((item) => all.add('a', item));
    const other = all.add('b', 5);
    release();
    expect(await Promise.all([first, ...others, other])).toEqual([0, 2, 4, 6, 8, 10]);
    expect(groups).toEqual(['a: 0', 'a: 1 2 3', 'a: 4', 'b: 5']);
  });

  test('fail together; later ones do not', async () => {
    const all = collector();
    release();
    const results = await Promise.allSettled([all.add('a', 1), all.add('a', 13)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await all.add('a', 2)).toBe(4);
  });

  test('are a group of their own beyond the size of one', async () => {
    const sizes: number[] = [];
    const all = new Collector<number>(
      new ConcurrencyLimiter(1, Infinity),
      async (_, items) => {
        sizes.push(items.length);
        return [];
      },
      { sizeOf: (item) => item, maxSize: 10 },
    );
    await Promise.all([1, 9, 1, 50, 2, 8].map((item) => all.add('a', item)));
    expect(sizes).toEqual([2, 1, 1, 2]);
  });

  test('run one group of each name at a time, also after a failure', async () => {
    const running = new Map<string, number>();
    let most = 0;
    let together = 0;
    const all = new Collector<number, number>(
      limitEach(1, 100, 10_000),
      async (name, items) => {
        running.set(name, (running.get(name) ?? 0) + 1);
        most = Math.max(most, running.get(name)!);
        together = Math.max(together, [...running.values()].filter((n) => n > 0).length);
        for (let turns = 0; turns < 3; turns += 1) await new Promise((resolve) => setImmediate(resolve));
        running.set(name, running.get(name)! - 1);
        if (items.includes(13)) throw new Error('unlucky');
        return items;
      },
      { most: 2 },
    );
    const results = await Promise.allSettled(
      [1, 2, 13, 4, 5, 6].flatMap((item) => ['a', 'b'].map((name) => all.add(name, item))),
    );
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value : null))).toEqual([
      1,
      1,
      2,
      2,
      null,
      null,
      null,
      null,
      5,
      5,
      6,
      6,
    ]);
    expect([most, together]).toEqual([1, 2]);
  });

  test('have limits of the number that waits, and of its time', async () => {
    const held = Promise.withResolvers<void>();
    const all = new Collector<number, number>(
      limitEach(1, 100, 50),
      async (_, items) => {
        if (items[0] === 0) await held.promise;
        return items;
      },
      { most: 1, mostWaiting: 2 },
    );
    const first = all.add('a', 0);
    while (all.countWaiting('a') > 0) await new Promise((resolve) => setImmediate(resolve));
    const waiting = [all.add('a', 1), all.add('a', 2)];
    await expect(all.add('a', 3)).rejects.toBeInstanceOf(QueueFullError);
    expect(await all.add('b', 4)).toBe(4);
    for (const late of await Promise.allSettled(waiting))
      expect(late).toMatchObject({ status: 'rejected', reason: expect.any(QueueFullError) });
    held.resolve();
    expect(await first).toBe(0);
    expect([await all.add('a', 5), all.countWaiting('a')]).toEqual([5, 0]);
  });
});
