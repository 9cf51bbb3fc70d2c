import { createHash } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { LRUCache } from 'lru-cache';
import { Config } from '../../config/config.js';
import type { AuthenticatedRequest } from '../context/request-context.js';
import { networkOf } from '../current-work/current-work.js';
import { type ApiError, Errors } from '../http/errors.js';
import { growingTo } from '../memory/cache-size.js';
import { type RateLimit, type RateLimitKey, RateLimits } from './rate-limits.js';

const WINDOW_MS = 60_000;
/** Sums of fractions of milliseconds are inexact. */
const ROUNDING_MS = 0.001;
/** Maximum number of users in the cache of counters. The least recently active user is removed first. */
const MAX_USERS = 50_000;

/**
 * Limits the requests of each user of the API: a token bucket of `API_REQUESTS_PER_MINUTE` requests, refilled evenly within a
 * minute. It is counted in the memory of each process, without a query (generic cell rate algorithm: one number for each user).
 */
@Injectable()
export class RequestLimiter {
  /** Milliseconds of one request; 0 means no limit. */
  private readonly interval: number;
  private readonly limit: number;
  /** Theoretical arrival times of the next requests by user (`performance.now()`). */
  private readonly paidUntil = new LRUCache<string, number>(growingTo(MAX_USERS));

  constructor({ API_REQUESTS_PER_MINUTE: limit }: Config) {
    this.limit = limit;
    this.interval = limit === 0 ? 0 : WINDOW_MS / limit;
  }

  /** Counts one request. @param now milliseconds @throws ApiError 429 `too_many_requests` */
  take(userId: string, now = performance.now()): void {
    if (this.interval === 0) return;
    const paidUntil = Math.max(this.paidUntil.get(userId) ?? 0, now) + this.interval;
    const excess = paidUntil - now - WINDOW_MS;
    if (excess > ROUNDING_MS) throw this.rejection(Math.ceil(excess / 1_000));
    this.paidUntil.set(userId, paidUntil);
  }

  /** @param wait seconds until the next request */
  private rejection(wait: number): ApiError {
    const headers = {
      'Retry-After': String(wait),
      'RateLimit-Limit': String(this.limit),
      'RateLimit-Remaining': '0',
      'RateLimit-Reset': String(wait),
    };
    return Errors.tooManyRequests.with({ headers });
  }
}

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
