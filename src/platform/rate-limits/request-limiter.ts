import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { growingTo } from '../memory/cache-size.js';
import { Config } from '../../config/config.js';
import type { ApiError } from '../http/api-error.js';
import { Errors } from '../http/errors.js';

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
  /** Milliseconds of one request; 0: no limit. */
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
