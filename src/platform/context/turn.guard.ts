import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { currentWork, PUBLIC } from '../current-work/current-work.js';
import { ClientDisconnectedError } from '../http/abort-signal.js';
import { REQUEST_WORK } from '../http/api-docs.js';
import { type ProcessorShare, ProcessorShares } from '../workers/processor-shares.js';
import { leaseUntilClosed } from './lease-of-response.js';

/** A turn ends after this time at the latest: a request that waits for something else must not delay the others of its user. */
const TURN_MS = 250;

/**
 * Lets the requests of a user run one after the other while the user has much of the processor time of a process that others use, too
 * (`ProcessorShares`). A request beyond the queue of its user, or that waited too long, gets 503 `overloaded`. Requests without a caller
 * take no turns, because many people may share the address of their network; nor do batches, whose requests do: a user has
 * two batches at a time. Global, before the body is read.
 */
@Injectable()
export class TurnGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly shares: ProcessorShares,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const response = context.switchToHttp().getResponse<Response>();
    if (this.reflector.get(REQUEST_WORK, context.getHandler()) === 'parts') return this.beginBatch(response);
    const turn = this.begin(response);
    return turn ? turn.then(() => true) : true;
  }

  /**
   * Counts the current request, after its turn has come.
   * @returns undefined: it does not wait
   * @throws QueueFullError, ClientDisconnectedError
   */
  begin(response: Response): Promise<void> | undefined {
    const work = currentWork();
    if (!work) return undefined;
    // The sign-in and the rate limits wait: a response that has closed meanwhile would stay counted, because it closes only once.
    if (response.closed) throw new ClientDisconnectedError();
    if (work.owner.workspace === PUBLIC) {
      this.count(this.shares.visitors);
      return undefined;
    }
    const share = this.shares.arrive(work.owner);
    if (this.shares.mustWait(share)) return this.wait(share, response);
    this.count(share);
    return undefined;
  }

  private async beginBatch(response: Response): Promise<boolean> {
    const work = currentWork();
    if (work) await leaseUntilClosed(this.shares.arrive(work.owner).batches, response);
    return true;
  }

  private async wait(share: ProcessorShare, response: Response): Promise<void> {
    const turn = await leaseUntilClosed(share.turns, response);
    setTimeout(() => turn.release(), TURN_MS).unref();
    this.count(share);
  }

  private count(share: ProcessorShare): void {
    const work = currentWork();
    if (!work) return;
    this.shares.begin(share);
    work.share = share;
  }
}
