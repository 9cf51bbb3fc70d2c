import fc from 'fast-check';
import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Config } from '../../src/config/config.js';
import { ApiError } from '../../src/platform/http/errors.js';
import type { RateLimitKey } from '../../src/platform/rate-limits/rate-limits.js';
import {
  RateLimited,
  RateLimitGuard,
  RequestLimiter,
  type RouteLimit,
} from '../../src/platform/rate-limits/rate-limit.guard.js';

describe('the limit of each user', () => {
  /** @returns null for an allowed request, else the headers of the rejection */
  const taking = (limiter: RequestLimiter, user: string, now: number) => {
    try {
      limiter.take(user, now);
      return null;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      expect([error.kind.status, error.kind.code]).toEqual([429, 'too_many_requests']);
      return error.extras.headers;
    }
  };

  test('allows a burst of a minute, then an even rate, for each user', () => {
    const limiter = new RequestLimiter(Config.parse({}));
    const at = 5_000_000;
    for (let n = 0; n < 600; n += 1) expect(taking(limiter, 'alice', at)).toBeNull();
    expect(taking(limiter, 'alice', at)).toEqual({
      'Retry-After': '1',
      'RateLimit-Limit': '600',
      'RateLimit-Remaining': '0',
      'RateLimit-Reset': '1',
    });
    expect(taking(limiter, 'bob', at)).toBeNull();
    // A rejected request costs nothing.
    expect(taking(limiter, 'alice', at + 100)).toBeNull();
    expect(taking(limiter, 'alice', at + 100)).not.toBeNull();
    expect(taking(limiter, 'alice', at + 60_100)).toBeNull();
  });

  test('never allows more than the burst and the rate, and never rejects a slower client', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600 }),
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        steps,
        (limit, start, waits) => {
          const limiter = new RequestLimiter(Config.parse({ API_REQUESTS_PER_MINUTE: String(limit) }));
          let now = start;
          let allowed = 0;
          for (const wait of waits) {
            now += wait;
            if (taking(limiter, 'alice', now) === null) allowed += 1;
            expect(allowed).toBeLessThanOrEqual(limit + ((now - start) / 60_000) * limit + 1e-4);
          }
          const slow = 60_000 / limit;
          now += 60_000;
          for (let n = 0; n < 20; n += 1) expect(taking(limiter, 'alice', (now += slow + 0.001))).toBeNull();
        },
      ),
    );
  });

  test('is off with 0', () => {
    const limiter = new RequestLimiter(Config.parse({ API_REQUESTS_PER_MINUTE: '0' }));
    for (let n = 0; n < 2_000; n += 1) expect(taking(limiter, 'alice', 0)).toBeNull();
  });
});

describe('limits of routes', () => {
  const limit = (by: RouteLimit['by']): RouteLimit => ({ scope: by, by, requests: 1, perSeconds: 1 });
  const handler = (...limits: RouteLimit[]) => {
    const route = () => undefined;
    if (limits.length > 0) RateLimited(...limits)({}, 'route', { value: route });
    return route;
  };

  /** The rate limit keys of a call. */
  const takings = async (route: () => void, request: object): Promise<RateLimitKey[] | null> => {
    let taken: RateLimitKey[] | null = null;
    const limits = { enforce: async (...given: RateLimitKey[]) => void (taken = given) };
    const users = new RequestLimiter(Config.parse({}));
    const guard = new RateLimitGuard(limits as never, users, new Reflector());
    const context = { getHandler: () => route, switchToHttp: () => ({ getRequest: () => request }) };
    expect(await guard.canActivate(context as unknown as ExecutionContext)).toBe(true);
    return taken;
  };
  const ctx = (userId: string, sessionId: string | null) => ({ userId, sessionId });

  test('a route without limits counts nothing and does not wait', async () => {
    expect(await takings(handler(), { ip: '192.0.2.1', headers: {} })).toBeNull();
  });

  test('count by network, account or session, as the route declares', async () => {
    const route = handler(limit('ip'), limit('account'), limit('token'));
    const request = { ip: '2001:db8::1', headers: { authorization: 'Bearer x' }, ctx: ctx('alice', 's1') };
    expect((await takings(route, request))?.map(({ subject }) => subject)).toEqual([
      'ip 2001:db8:0:0::/64',
      'account alice',
      'token s1',
    ]);
  });

  test('a token of an external issuer has no session: it counts by its hash', async () => {
    const subject = async (token: string) =>
      (await takings(handler(limit('token')), {
        ip: '192.0.2.1',
        headers: { authorization: `Bearer ${token}` },
        ctx: ctx('alice', null),
      }))![0]!.subject;
    expect(await subject('one')).toBe(await subject('one'));
    expect(await subject('one')).not.toBe(await subject('two'));
    expect(await subject('one')).not.toContain('one');
  });

  test('visitors count by their network for every route', async () => {
    for (const by of ['ip', 'account', 'token'] as const)
      expect((await takings(handler(limit(by)), { ip: '192.0.2.1', headers: {} }))?.[0]?.subject).toBe(
        'ip 192.0.2.1',
      );
  });
});
