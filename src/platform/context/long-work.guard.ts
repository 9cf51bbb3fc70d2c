import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { Config } from '../../config/config.js';
import { currentWork } from '../current-work/current-work.js';
import { REQUEST_WORK } from '../http/api-docs.js';
import { ConcurrencyLimiter } from '../workers/concurrency-limiter.js';
import { leaseUntilClosed } from './lease-of-response.js';

/** Share of the connections of the pool that long work uses: it may hold one for its whole time. */
const SHARE = 0.4;
/** Requests that may wait for their turn, and their time. */
const QUEUE = 40;
const MAX_WAIT_MS = 10_000;

/**
 * Limits the requests of this process that are declared as long work, such as exports and reports, and gives their statements more time.
 * A user and a workspace take a part of the places at most; further requests wait, and get 503 `overloaded` after a time. A request
 * has its place until the end of its response. Global, after the body has been read.
 */
@Injectable()
export class LongWorkGuard implements CanActivate {
  private readonly places: ConcurrencyLimiter;

  constructor(
    private readonly reflector: Reflector,
    { DATABASE_POOL_MAX }: Config,
  ) {
    this.places = new ConcurrencyLimiter(
      Math.max(1, Math.round(DATABASE_POOL_MAX * SHARE)),
      QUEUE,
      MAX_WAIT_MS,
    );
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (this.reflector.get(REQUEST_WORK, context.getHandler()) !== 'long') return true;
    return this.begin(context.switchToHttp().getResponse<Response>());
  }

  /** @throws QueueFullError */
  private async begin(response: Response): Promise<boolean> {
    await leaseUntilClosed(this.places, response);
    const work = currentWork();
    if (work) work.isLong = true;
    return true;
  }
}
