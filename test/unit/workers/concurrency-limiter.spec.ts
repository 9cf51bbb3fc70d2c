import {
  ClosedError,
  ConcurrencyLimiter,
  QueueFullError,
} from '../../../src/platform/workers/concurrency-limiter.js';

/** Work that ends when the test says so. */
function held() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { work: () => promise, end: () => resolve('done'), fail: reject };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('lanes', () => {
  it('run so many at once, each in a lane of its own, in order', async () => {
    const lanes = new ConcurrencyLimiter(2, 10);
    const busy = new Set<number>();
    const order: number[] = [];
    let most = 0;
    await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        lanes.run(async (lane) => {
          expect(busy.has(lane)).toBe(false);
          busy.add(lane);
          order.push(n);
          most = Math.max(most, busy.size);
          await turn();
          busy.delete(lane);
        }),
      ),
    );
    expect([most, order]).toEqual([2, [0, 1, 2, 3, 4, 5, 6, 7]]);
  });

  it('reject work beyond the queue', async () => {
    const lanes = new ConcurrencyLimiter(1, 1);
    const first = held();
    const running = lanes.run(first.work);
    const waiting = lanes.run(async () => 'second');
    await expect(lanes.run(async () => 'third')).rejects.toBeInstanceOf(QueueFullError);
    first.end();
    expect(await Promise.all([running, waiting])).toEqual(['done', 'second']);
    expect(await lanes.run(async () => 'fourth')).toBe('fourth');
  });

  it('free the lane of work that fails', async () => {
    const lanes = new ConcurrencyLimiter(1, 0);
    await expect(lanes.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await lanes.run(async () => 'next')).toBe('next');
  });

  it('free the place of who no longer waits', async () => {
    const lanes = new ConcurrencyLimiter(1, 1);
    const first = held();
    const running = lanes.run(first.work);
    const leaving = new AbortController();
    let began = false;
    const left = lanes.run(async () => (began = true), leaving.signal);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    const second = lanes.run(async () => 'second');
    first.end();
    expect(await Promise.all([running, second])).toEqual(['done', 'second']);
    expect(began).toBe(false);
    await expect(lanes.run(async () => 'never', AbortSignal.abort(new Error('early')))).rejects.toThrow(
      'early',
    );
  });

  it('reject all work when closed, and finish running work', async () => {
    const lanes = new ConcurrencyLimiter(1, 1);
    const first = held();
    const running = lanes.run(first.work);
    const waiting = lanes.run(async () => 'second');
    lanes.close();
    await expect(waiting).rejects.toBeInstanceOf(ClosedError);
    await expect(lanes.run(async () => 'third')).rejects.toBeInstanceOf(ClosedError);
    first.end();
    expect(await running).toBe('done');
  });
});
