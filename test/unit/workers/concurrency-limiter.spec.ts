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
