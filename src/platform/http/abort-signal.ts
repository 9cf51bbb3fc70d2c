import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';

/** The client went away while its answer was being made; there is nobody to tell. */
export class ClientGoneError extends Error {
  constructor() {
    super('the client is gone');
    this.name = 'ClientGoneError';
  }
}

/** Fires, with a ClientGoneError, when the client goes away before the answer. */
export function clientGone(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new ClientGoneError());
  });
  return controller.signal;
}

/** An `AbortSignal` that fires when the client goes away before the answer: for work that waits or streams. */
export const ClientGone = createParamDecorator((_: unknown, context: ExecutionContext): AbortSignal =>
  clientGone(context.switchToHttp().getResponse<Response>()),
);
