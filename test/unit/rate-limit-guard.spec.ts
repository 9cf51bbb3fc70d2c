import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { RateLimitKey } from '../../src/platform/rate-limits/rate-limit.js';
import {
  RateLimited,
  RateLimitGuard,
  type RouteLimit,
} from '../../src/platform/rate-limits/rate-limit.guard.js';

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
    const guard = new RateLimitGuard(limits as never, new Reflector());
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
