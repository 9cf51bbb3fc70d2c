import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';

/** The client went away while its answer was being made; there is nobody to tell. */
export class ClientDisconnectedError extends Error {
  constructor() {
    super('the client is gone');
    this.name = 'ClientDisconnectedError';
  }
}

function onDisconnect(response: Response, tell: (error: ClientDisconnectedError) => void): void {
  response.once('close', () => {
    if (!response.writableFinished) tell(new ClientDisconnectedError());
  });
}

/** Fires, with a ClientDisconnectedError, when the client goes away before the answer. */
export function disconnectSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  onDisconnect(response, (error) => controller.abort(error));
  return controller.signal;
}

/**
 * The same, for short work: as much of an AbortSignal as HTTP clients ask of one. Making a whole one and listening to it
 * is a dear part of a request that does little else.
 */
export class ClientDisconnect {
  private readonly listeners = new Set<() => void>();
  private gone: ClientDisconnectedError | undefined;

  constructor(response: Response) {
    onDisconnect(response, (error) => {
      this.gone = error;
      for (const listener of this.listeners) listener();
    });
  }

  get aborted(): boolean {
    return this.gone !== undefined;
  }

  get reason(): ClientDisconnectedError | undefined {
    return this.gone;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.delete(listener);
  }
}

/** An `AbortSignal` that fires when the client goes away before the answer: for work that waits or streams. */
export const DisconnectSignal = createParamDecorator((_: unknown, context: ExecutionContext): AbortSignal =>
  disconnectSignal(context.switchToHttp().getResponse<Response>()),
);
