import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { AccessWatch } from '../../src/modules/identity/access-watch.js';
import {
  type AccessChangeRow,
  type IdentityRepository,
} from '../../src/modules/identity/identity.repository.js';
import { TokenVerifier } from '../../src/modules/identity/token-verifier.js';

const change = (id: string, account: string, tenant: string | null = null): AccessChangeRow => ({
  id,
  account_id: account,
  tenant_id: tenant,
  session_id: null,
});

describe('the watch on access changes', () => {
  let rows: AccessChangeRow[];
  let reachable: boolean;
  let watch: AccessWatch;

  beforeAll(() => Logger.overrideLogger(false));

  beforeEach(async () => {
    jest.useFakeTimers({ now: 0 });
    rows = [];
    reachable = true;
    const recentAccessChanges = async () => {
      if (!reachable) throw new Error('no database');
      return rows;
    };
    watch = new AccessWatch({ recentAccessChanges } as unknown as IdentityRepository);
    await watch.onModuleInit();
  });
  afterEach(async () => {
    await watch.onModuleDestroy();
    jest.useRealTimers();
  });

  test('believes what is cached while it can ask, and soon no longer when it cannot', async () => {
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

  test('a poll that hangs is as good as none, and the one after it works', async () => {
    let answer: (rows: AccessChangeRow[]) => void = () => undefined;
    const hanging = new AccessWatch({
      recentAccessChanges: () => new Promise<AccessChangeRow[]>((resolve) => (answer = resolve)),
    } as unknown as IdentityRepository);
    const started = hanging.onModuleInit();
    answer([]);
    await started;
    await jest.advanceTimersByTimeAsync(5_000);
    expect(hanging.fresh).toBe(false);
    // What it brings back is as old as its question.
    answer([]);
    await jest.advanceTimersByTimeAsync(0);
    expect(hanging.fresh).toBe(false);
    await jest.advanceTimersByTimeAsync(1_000);
    answer([]);
    await jest.advanceTimersByTimeAsync(0);
    expect(hanging.fresh).toBe(true);
    const end = hanging.onModuleDestroy();
    await end;
  });

  test('tells of each change once, however long it stays in the window', async () => {
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

  test('knows which changes it saw since a moment', async () => {
    const before = performance.now();
    rows = [change('one', 'a')];
    await jest.advanceTimersByTimeAsync(1_000);
    const after = performance.now() + 1;
    expect(watch.changedSince(before, ({ account_id }) => account_id === 'a')).toBe(true);
    expect(watch.changedSince(before, ({ account_id }) => account_id === 'b')).toBe(false);
    expect(watch.changedSince(after, () => true)).toBe(false);
  });

  test('what is cached is dropped for just those a change concerns, and not believed without the database', async () => {
    const identities: Record<string, { accountId: string; tenantId: string | null }> = {
      a1: { accountId: 'a', tenantId: 't1' },
      a2: { accountId: 'a', tenantId: 't2' },
      a0: { accountId: 'a', tenantId: null },
      b1: { accountId: 'b', tenantId: 't1' },
    };
    const expiresAt = new Date(Date.now() + 600_000);
    const own = {
      verify: async (token: string) => ({
        ...identities[token],
        sessionId: token,
        issuedAt: new Date(),
        expiresAt,
      }),
    };
    const repository = {
      bySession: async (_: string, id: string) => ({ id, status: 'active', tokens_valid_after: null }),
    };
    const tenants = { activeRole: async () => 'member' };
    const verifier = new TokenVerifier(
      own as never,
      { claimsToBe: () => false } as never,
      repository as never,
      tenants as never,
      watch,
      { period: 0, note: () => undefined } as never,
      {} as never,
    );
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
