import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { Config } from '../../config/config.js';
import { ClientDisconnectedError } from '../http/abort-signal.js';
import { IS_LONG_WORK } from '../http/api-docs.js';
import { ConcurrencyLimiter, type Lease } from '../workers/concurrency-limiter.js';
import { currentWork } from '../current-work/current-work.js';

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
    if (!this.reflector.get<boolean | undefined>(IS_LONG_WORK, context.getHandler())) return true;
    return this.begin(context.switchToHttp().getResponse<Response>());
  }

  /** @throws QueueFullError */
  private async begin(response: Response): Promise<boolean> {
    if (response.closed) throw new ClientDisconnectedError();
    const disconnected = new AbortController();
    let lease: Lease | undefined;
    response.once('close', () => {
      if (lease) lease.release();
      else disconnected.abort(new ClientDisconnectedError());
    });
    lease = await this.places.take(disconnected.signal);
    if (response.closed) {
      lease.release();
      throw new ClientDisconnectedError();
    }
    const work = currentWork();
    if (work) work.isLong = true;
    return true;
  }
}
