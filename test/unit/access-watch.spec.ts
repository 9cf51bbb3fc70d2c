import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type AccessChangeRow, AccessWatch } from '../../src/modules/identity/access-watch.js';
import { TokenVerifier } from '../../src/modules/identity/token-verifier.js';
import type { Db } from '../../src/platform/database/db.js';

const change = (id: string, account: string, tenant: string | null = null): AccessChangeRow => ({
  id,
  account_id: account,
  tenant_id: tenant,
  session_id: null,
});

/** A bus that nothing sends to, except the test. */
const silentBus = () => {
  const handlers: (() => void)[] = [];
  const bus = { subscribe: (_: string, handler: () => void) => handlers.push(handler), listeningSince: 0 };
  return { bus: bus as never, deliver: () => handlers.forEach((handler) => handler()) };
};
const noNotices = { on: () => undefined } as never;

/** A verifier of tokens that are named like their sessions. */
function verifierOf(
  watch: AccessWatch,
  identities: Record<string, { accountId: string; tenantId: string | null }>,
  expiresAt: Date,
): TokenVerifier {
  const own = {
    verify: async (token: string) => ({
      ...identities[token],
      sessionId: token,
      issuedAt: new Date(),
      expiresAt,
    }),
  };
  const repository = {
    bySession: async (_: string, id: string) => ({
      id,
      email: 'ann@acme.example',
      status: 'active',
      tokens_valid_after: null,
      has_second_factor: false,
      session_expires_at: expiresAt,
    }),
  };
  const tenants = {
    activeRole: async () => 'member',
    membership: async () => ({ role: 'member', since: new Date() }),
  };
  const policies = {
    accepts: async () => true,
    secondFactorDeadline: async () => null,
    forget: () => undefined,
  };
  return new TokenVerifier(
    own as never,
    { isFromIssuer: () => false } as never,
    repository as never,
    {} as never,
    tenants as never,
    policies as never,
    watch,
    { period: 0, record: () => undefined } as never,
    {} as never,
  );
}

describe('polling of access changes', () => {
  let deliver: () => void;
  let rows: AccessChangeRow[];
  /** When the rows were written. */
  let madeAt: number;
  let reachable: boolean;
  let watch: AccessWatch;

  beforeAll(() => Logger.overrideLogger(false));

  beforeEach(async () => {
    jest.useFakeTimers({ now: 0 });
    rows = [];
    reachable = true;
    madeAt = Number.POSITIVE_INFINITY;
    const queryAlways = async (_: unknown, [seconds]: [number]) => {
      if (!reachable) throw new Error('no database');
      return madeAt > Date.now() - seconds * 1_000 ? rows : [];
    };
    const silent = silentBus();
    deliver = silent.deliver;
    const db = { queryAlways } as unknown as Db;
    watch = new AccessWatch(db, silent.bus, noNotices);
    await watch.onModuleInit();
  });
  afterEach(async () => {
    await watch.onModuleDestroy();
    jest.useRealTimers();
  });

  test('the cache is valid while polls succeed, and expires soon after failures', async () => {
    await jest.advanceTimersByTimeAsync(60_000);
    expect(watch.fresh).toBe(true);
    reachable = false;
    await jest.advanceTimersByTimeAsync(2_000);
    expect(watch.fresh).toBe(true);
    await jest.advanceTimersByTimeAsync(3_000);
    expect(watch.fresh).toBe(false);
    reachable = true;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(watch.fresh).toBe(true);
  });

  test('a hanging poll counts as failed, and the next one works', async () => {
    let response: (rows: AccessChangeRow[]) => void = () => undefined;
    const queryAlways = () => new Promise<AccessChangeRow[]>((resolve) => (response = resolve));
    const db = { queryAlways } as unknown as Db;
    const hanging = new AccessWatch(db, silentBus().bus, noNotices);
    const started = hanging.onModuleInit();
    response([]);
    await started;
    await jest.advanceTimersByTimeAsync(5_000);
    expect(hanging.fresh).toBe(false);
    // Its result has the age of its start.
    response([]);
    await jest.advanceTimersByTimeAsync(0);
    expect(hanging.fresh).toBe(false);
    await jest.advanceTimersByTimeAsync(1_000);
    response([]);
    await jest.advanceTimersByTimeAsync(0);
    expect(hanging.fresh).toBe(true);
    const end = hanging.onModuleDestroy();
    await end;
  });

  test('reports each change once, while it stays in the window', async () => {
    const heard: string[] = [];
    watch.onChange(({ id }) => heard.push(id));
    rows = [change('one', 'a')];
    await jest.advanceTimersByTimeAsync(3_000);
    rows = [change('one', 'a'), change('two', 'b')];
    await jest.advanceTimersByTimeAsync(3_000);
    rows = [];
    await jest.advanceTimersByTimeAsync(3_000);
    expect(heard).toEqual(['one', 'two']);
  });

  test('after an interruption, a poll reads the changes since the last successful one', async () => {
    const heard: string[] = [];
    watch.onChange(({ id }) => heard.push(id));
    reachable = false;
    await jest.advanceTimersByTimeAsync(1_000);
    rows = [change('one', 'a')];
    madeAt = Date.now();
    await jest.advanceTimersByTimeAsync(120_000);
    reachable = true;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(heard).toEqual(['one']);
  });

  test('after an interruption longer than changes are stored, no earlier verification is used', async () => {
    const tokens = { a1: { accountId: 'a', tenantId: 't1' } };
    const verifier = verifierOf(watch, tokens, new Date(Date.now() + 86_400_000));
    await verifier.resolve('a1');
    expect(verifier.cached('a1')).toBeDefined();
    reachable = false;
    await jest.advanceTimersByTimeAsync(3_600_000);
    reachable = true;
    await jest.advanceTimersByTimeAsync(1_000);
    expect([watch.fresh, verifier.cached('a1')]).toEqual([true, undefined]);
  });

  test('a message of the bus starts a poll at once, also during another one', async () => {
    const heard: string[] = [];
    watch.onChange(({ id }) => heard.push(id));
    deliver();
    rows = [change('one', 'a')];
    deliver();
    await jest.advanceTimersByTimeAsync(0);
    expect(heard).toEqual(['one']);
  });

  test('finds changes since a time', async () => {
    const before = performance.now();
    rows = [change('one', 'a')];
    await jest.advanceTimersByTimeAsync(1_000);
    const after = performance.now() + 1;
    expect(watch.changedSince(before, ({ account_id }) => account_id === 'a')).toBe(true);
    expect(watch.changedSince(before, ({ account_id }) => account_id === 'b')).toBe(false);
    expect(watch.changedSince(after, () => true)).toBe(false);
  });

  test('a change drops only the affected cache entries; without the database none is used', async () => {
    const identities = {
      a1: { accountId: 'a', tenantId: 't1' },
      a2: { accountId: 'a', tenantId: 't2' },
      a0: { accountId: 'a', tenantId: null },
      b1: { accountId: 'b', tenantId: 't1' },
    };
    const expiresAt = new Date(Date.now() + 600_000);
    const verifier = verifierOf(watch, identities, expiresAt);
    const cached = () => Object.keys(identities).filter((token) => verifier.cached(token));
    for (const token of Object.keys(identities)) await verifier.resolve(token);
    expect(cached()).toEqual(['a1', 'a2', 'a0', 'b1']);

    rows = [change('one', 'a', 't1')];
    await jest.advanceTimersByTimeAsync(1_000);
    expect(cached()).toEqual(['a2', 'a0', 'b1']);
    rows = [...rows, change('two', 'a')];
    await jest.advanceTimersByTimeAsync(1_000);
    expect(cached()).toEqual(['b1']);

    reachable = false;
    await jest.advanceTimersByTimeAsync(4_000);
    expect(cached()).toEqual([]);
    reachable = true;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(cached()).toEqual(['b1']);
    await jest.advanceTimersByTimeAsync(600_000);
    expect(cached()).toEqual([]);
  });
});
