import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  Logger,
  Optional,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  DatabaseBusyError,
  isConnectionError,
  isLockTimeout,
  isRetryable,
  isStatementTimeout,
  isStorageFull,
  isUnstorableText,
} from '../../database/database-errors.js';
import { QueueFullError } from '../../workers/concurrency-limiter.js';
import { ClientDisconnectedError } from '../abort-signal.js';
import { ApiError, type ErrorKind, Errors } from '../errors.js';
import { writeJson } from '../replies/reply-writer.js';

const RETRY_AFTER = { headers: { 'Retry-After': '1' } };
/** The same request would end in the same way at once. */
const TIMEOUT_RETRY_AFTER = { headers: { 'Retry-After': '10' } };
/** An operator has to free space, so a retry every second would not succeed earlier. */
export const STORAGE_RETRY_AFTER = { headers: { 'Retry-After': '10' } };

/** Writes errors of the requests of a protocol that has an error shape of its own. */
export interface ErrorShape {
  /** @param target of the request: its path and query */
  readonly applies: (target: string) => boolean;
  readonly write: (response: Response, error: ApiError) => void;
}

/** Maps every thrown value to the error shape of the API. The details of unknown errors do not reach the client. */
@Catch()
export class ApiExceptionFilter implements ExceptionFilter {
  private readonly logger = new Logger('HTTP');

  /**
   * @param onStorageFull called when the database rejects a statement because its disk is full
   * @param shapes for requests that reach no controller, such as those with a malformed path
   */
  constructor(
    @Optional() private readonly onStorageFull?: () => void,
    @Optional() private readonly shapes: readonly ErrorShape[] = [],
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    if (thrown instanceof ClientDisconnectedError) return;
    const response = host.switchToHttp().getResponse<Response>();
    const request = host.switchToHttp().getRequest<Request & { id?: string }>();
    const error = asApiError(thrown);
    if (error.kind === Errors.storageFull && thrown !== error) this.onStorageFull?.();
    if (error.kind.status >= 500) this.log(thrown, error, request);
    if (response.headersSent) {
      // The status is sent already. A broken connection is the only way left to report the failure.
      response.destroy();
      return;
    }
    this.write(response, error);
  }

  /** An error that the code declares, such as a service that is not installed, is no failure: it has no stack worth reading. */
  private log(thrown: unknown, error: ApiError, request: Request & { id?: string }): void {
    const where = { request_id: request.id, method: request.method, route: request.route?.path };
    const message = `${error.kind.code} on ${request.method}`;
    if (thrown === error && error.cause === undefined && error.kind.status !== 500)
      this.logger.warn(where, message);
    else this.logger.error({ err: thrown, ...where }, message);
  }

  /** Writes the error in the shape of the API; routes of another protocol override it. */
  protected write(response: Response, error: ApiError): void {
    const shape = this.shapes.find((each) => each.applies(response.req.originalUrl));
    if (shape) shape.write(response, error);
    else
      writeJson(response, error.kind.status, JSON.stringify(error.body), { headers: error.extras.headers });
  }
}

/** @returns the client-visible error for anything that the controllers, Express or its parsers throw */
export function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (isStorageFull(thrown)) return Errors.storageFull.with(STORAGE_RETRY_AFTER);
  if (thrown instanceof HttpException) return byStatus(thrown.getStatus());
  if (thrown instanceof DatabaseBusyError || thrown instanceof QueueFullError)
    return Errors.overloaded.with(RETRY_AFTER);
  if (isStatementTimeout(thrown)) return Errors.timedOut.with(TIMEOUT_RETRY_AFTER);
  if (isLockTimeout(thrown) || isRetryable(thrown)) return Errors.overloaded.with(RETRY_AFTER);
  if (isConnectionError(thrown)) return Errors.unavailable.with(RETRY_AFTER);
  if (isUnstorableText(thrown))
    return Errors.validationFailed.with({ message: 'Some text contains characters that cannot be stored.' });
  const status = (thrown as { status?: unknown } | null)?.status;
  // Express and its parsers mark invalid requests with a 4xx status (http-errors).
  if (typeof status === 'number' && status >= 400 && status < 500) return byStatus(status);
  return Errors.internal.with();
}

const BY_STATUS: Record<number, ErrorKind> = {
  401: Errors.unauthorized,
  403: Errors.forbidden,
  404: Errors.notFound,
  413: Errors.bodyTooLarge,
  415: Errors.unsupportedMediaType,
  422: Errors.validationFailed,
  503: Errors.overloaded,
};

function byStatus(status: number): ApiError {
  return (BY_STATUS[status] ?? (status >= 500 ? Errors.internal : Errors.badRequest)).with();
}
