import { createHash } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { AuthenticatedRequest } from '../context/request-context.js';
import type { RateLimit, RateLimitKey } from './rate-limit.js';
import { networkOf } from '../current-work/network-of.js';
import { RateLimits } from './rate-limits.js';
import { RequestLimiter } from './request-limiter.js';

const RATE_LIMITED = 'workspace:rate-limited';

/** A limit of a route and its key. */
export interface RouteLimit extends RateLimit {
  /** `ip`: network of the client; `account`: account of the caller; `token`: the session or, without one, the token. */
  readonly by: 'ip' | 'account' | 'token';
}

/** Beyond these limits the route returns 429 `too_many_requests`; document it with `Errors.tooManyRequests`. */
export const RateLimited = (...limits: RouteLimit[]): MethodDecorator => SetMetadata(RATE_LIMITED, limits);

/** For public forms: their tokens are guessed or repeated by a program. */
export const PUBLIC_FORM_LIMIT: RouteLimit = {
  scope: 'public-form',
  by: 'ip',
  requests: 300,
  perSeconds: 60,
};

/** Enforces the limit of each user and the limits of routes. Global, between the bearer guard and the body parser. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    private readonly limits: RateLimits,
    private readonly requests: RequestLimiter,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (request.ctx) this.requests.take(request.ctx.userId);
    const limits = this.reflector.get<RouteLimit[] | undefined>(RATE_LIMITED, context.getHandler());
    if (limits === undefined) return true;
    return this.limits
      .enforce(...limits.map((limit): RateLimitKey => ({ limit, subject: subjectOf(limit, request) })))
      .then(() => true);
  }
}

function subjectOf({ by }: RouteLimit, request: AuthenticatedRequest): string {
  const { ctx } = request;
  if (by === 'ip' || !ctx) return `ip ${networkOf(request.ip)}`;
  if (by === 'account') return `account ${ctx.userId}`;
  const token = createHash('sha256').update(request.headers.authorization ?? '');
  return `token ${ctx.sessionId ?? token.digest('base64')}`;
}
