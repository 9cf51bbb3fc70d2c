import { ProcessorShares } from '../../../src/platform/workers/processor-shares.js';

const ALICE = { workspace: 'acme', user: 'alice' };
const BOB = { workspace: 'other', user: 'bob' };

describe('shares of the processor time', () => {
  let shares: ProcessorShares;
  let now: number;
  let computed: number;

  beforeEach(() => {
    shares = new ProcessorShares();
    [now, computed] = [1_000, 0];
    shares.sample({ at: now, computed });
  });
  afterEach(() => shares.onModuleDestroy());

  const begin = (owner: typeof ALICE) => {
    const share = shares.arrive(owner, now);
    shares.begin(share, now);
    return { share, end: () => share.count(-1, now) };
  };
  const pass = (ms: number, used: number) => {
    now += ms;
    computed += used;
    shares.sample({ at: now, computed });
  };
  const mustWait = (owner: typeof ALICE) => shares.mustWait(shares.arrive(owner, now), now);

  test('a user with much of the time waits for the own requests while others send requests, too', () => {
    for (let n = 0; n < 11; n += 1) begin(ALICE);
    begin(BOB).end();
    for (let n = 0; n < 10; n += 1) pass(50, 40);
    expect(mustWait(ALICE)).toBe(true);
    expect(mustWait(BOB)).toBe(false);
  });

  test('a user alone does not wait', () => {
    for (let n = 0; n < 11; n += 1) begin(ALICE);
    for (let n = 0; n < 10; n += 1) pass(50, 50);
    expect(mustWait(ALICE)).toBe(false);
  });

  test('a user does not wait 2 s after the last request of another one, nor 2 s after the own computations', () => {
    const { share, end } = begin(ALICE);
    begin(BOB).end();
    for (let n = 0; n < 10; n += 1) pass(50, 50);
    expect(shares.mustWait(share, now)).toBe(true);
    for (let n = 0; n < 40; n += 1) pass(50, 50);
    expect(shares.mustWait(share, now)).toBe(false);
    begin(BOB).end();
    expect(shares.mustWait(share, now)).toBe(true);
    end();
    pass(2_000, 0);
    begin(BOB).end();
    expect(shares.mustWait(share, now)).toBe(false);
  });

  test('the time is divided by the time that requests are open, and one that waits for a change is not', () => {
    const waiting = begin(BOB);
    waiting.share.count(-1, now);
    begin(ALICE);
    pass(100, 80);
    expect(waiting.share.partAt(now)).toBe(0);
    waiting.share.count(1, now);
    waiting.end();
    const second = begin(BOB);
    now += 25;
    second.end();
    const before = second.share.partAt(now + 75);
    pass(75, 50);
    // 25 ms of 125 ms in which requests were open.
    expect(second.share.partAt(now) - before).toBeCloseTo(0.01, 5);
  });

  test('little time costs nobody turns', () => {
    for (let n = 0; n < 20; n += 1) begin(ALICE);
    begin(BOB);
    for (let n = 0; n < 40; n += 1) pass(50, 10);
    expect(mustWait(ALICE)).toBe(false);
  });
});
