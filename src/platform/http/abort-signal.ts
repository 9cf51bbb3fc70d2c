import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';

/** The client disconnected before the response. Nothing is sent for this error. */
export class ClientDisconnectedError extends Error {
  constructor() {
    super('the client disconnected');
    this.name = 'ClientDisconnectedError';
  }
}

/** The client may have disconnected already: before a handler, guards wait for the database. */
function onDisconnect(response: Response, listener: (error: ClientDisconnectedError) => void): void {
  const check = (): void => {
    if (!response.writableFinished) listener(new ClientDisconnectedError());
  };
  if (response.closed) check();
  else response.once('close', check);
}

/** @returns a signal that aborts with a ClientDisconnectedError when the client disconnects before the end of the response */
export function disconnectSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  onDisconnect(response, (error) => controller.abort(error));
  return controller.signal;
}

/**
 * The part of AbortSignal that HTTP clients use. For short requests, where creating an AbortSignal and listening to it is a
 * measurable part of the whole.
 */
export class ClientDisconnect {
  private readonly listeners = new Set<() => void>();
  private error: ClientDisconnectedError | undefined;

  constructor(response: Response) {
    onDisconnect(response, (error) => {
      this.error = error;
      for (const listener of this.listeners) listener();
    });
  }

  get aborted(): boolean {
    return this.error !== undefined;
  }

  get reason(): ClientDisconnectedError | undefined {
    return this.error;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.delete(listener);
  }
}

/** Injects `disconnectSignal()`, for handlers that wait or stream. */
export const DisconnectSignal = createParamDecorator((_: unknown, context: ExecutionContext): AbortSignal =>
  disconnectSignal(context.switchToHttp().getResponse<Response>()),
);
