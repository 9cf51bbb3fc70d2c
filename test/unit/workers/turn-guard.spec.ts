import { jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import { TurnGuard } from '../../../src/platform/context/turn.guard.js';
import { inWorkOf, PUBLIC, type WorkOwner } from '../../../src/platform/current-work/current-work.js';
import { ClientDisconnectedError } from '../../../src/platform/http/abort-signal.js';
import { QueueFullError } from '../../../src/platform/workers/concurrency-limiter.js';
import { ProcessorShares } from '../../../src/platform/workers/processor-shares.js';

const ALICE = { workspace: 'acme', user: 'alice' };
const BOB = { workspace: 'other', user: 'bob' };

class FakeResponse extends EventEmitter {
  closed = false;
  close(): void {
    this.closed = true;
    this.emit('close');
  }
}

describe('turns of the requests of a user with much processor time', () => {
  let shares: ProcessorShares;
  let guard: TurnGuard;

  beforeEach(() => {
    jest.useFakeTimers();
    shares = new ProcessorShares();
    guard = new TurnGuard({ get: () => undefined } as never, shares);
    shares.arrive(BOB);
    shares.arrive(ALICE).charge(10_000, performance.now());
  });
  afterEach(() => {
    shares.onModuleDestroy();
    jest.useRealTimers();
  });

  const begin = (owner: WorkOwner) => {
    const response = new FakeResponse();
    const request = { response, hasBegun: false, error: undefined as unknown };
    const turn = inWorkOf(owner, () => guard.begin(response as unknown as Response));
    if (!turn) request.hasBegun = true;
    else
      turn.then(
        () => (request.hasBegun = true),
        (error: unknown) => (request.error = error),
      );
    return request;
  };
  const settle = () => jest.advanceTimersByTimeAsync(0);
  const begun = (requests: { hasBegun: boolean }[]) => requests.filter(({ hasBegun }) => hasBegun).length;

  test('one begins when the one before has its response, and those of others at once', async () => {
    const requests = [begin(ALICE), begin(ALICE), begin(ALICE)];
    await settle();
    expect(begun(requests)).toBe(1);
    expect(begin(BOB).hasBegun).toBe(true);
    requests[0]!.response.close();
    await settle();
    expect(begun(requests)).toBe(2);
  });

  test('a turn ends after 250 ms, so that a request that waits for something else delays nothing longer', async () => {
    const requests = [begin(ALICE), begin(ALICE)];
    await jest.advanceTimersByTimeAsync(249);
    expect(begun(requests)).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun(requests)).toBe(2);
  });

  test('a request whose client has disconnected leaves the queue', async () => {
    const requests = [begin(ALICE), begin(ALICE), begin(ALICE)];
    requests[1]!.response.close();
    requests[0]!.response.close();
    await settle();
    expect(requests[1]!.error).toBeInstanceOf(ClientDisconnectedError);
    expect(requests[2]!.hasBegun).toBe(true);
  });

  test('a user has 100 places in the queue, each for 10 s', async () => {
    const requests = Array.from({ length: 102 }, () => begin(ALICE));
    await settle();
    expect(requests.filter(({ error }) => error instanceof QueueFullError)).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(requests.at(-2)!.error).toBeInstanceOf(QueueFullError);
  });

  test('a request whose client disconnected during the sign-in is not counted', async () => {
    const closed = new FakeResponse();
    closed.close();
    const bob = shares.arrive(BOB);
    const begun = (async () => inWorkOf(BOB, () => guard.begin(closed as unknown as Response)))();
    await expect(begun).rejects.toBeInstanceOf(ClientDisconnectedError);
    expect(bob.isOpen).toBe(false);
  });

  test('requests without a caller take no turns', () => {
    const visitor = { workspace: PUBLIC, user: '192.0.2.1' };
    shares.arrive(visitor).charge(10_000, performance.now());
    expect(begun([begin(visitor), begin(visitor)])).toBe(2);
  });

  test('the time of requests without a caller is not charged to users with open requests', () => {
    let sample = { at: performance.now(), computed: 0 };
    shares.sample(sample);
    begin(BOB);
    for (let n = 0; n < 9; n += 1) begin({ workspace: PUBLIC, user: `192.0.2.${n}` });
    // Without samples of the real time.
    shares.onModuleDestroy();
    for (let n = 0; n < 20; n += 1) {
      jest.advanceTimersByTime(50);
      sample = { at: performance.now(), computed: sample.computed + 50 };
      shares.sample(sample);
    }
    expect(shares.arrive(BOB).partAt(performance.now())).toBeLessThan(0.2);
  });
});
