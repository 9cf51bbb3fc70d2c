import type { Request, Response } from 'express';
import pino, { type DestinationStream, type Logger } from 'pino';
import type { Config } from '../../config/config.js';
import type { AuthenticatedRequest } from '../context/request-context.js';

/** Bytes of each connection that earlier requests have accounted for. */
const accounted = new WeakMap<object, number>();

/** A request with the members that the access log reads. */
export type LoggedRequest = Request & Partial<Pick<AuthenticatedRequest, 'id' | 'ctx' | 'tenantId'>>;

/** The end of a request. */
export interface RequestEnd {
  /** Pattern of the route, or `unknown`. */
  route: string;
  /** 499 when the client disconnected before the end of the response. */
  status: number;
  seconds: number;
  /** Bytes sent, with headers; 0 for requests of a batch, which have no connection of their own. */
  bytes: number;
  /** Bytes of the results of its statements. */
  databaseBytes: number;
}

/** Route and status of a request whose response has closed. `route` is undefined when no route matched. */
export const statusOf = (
  request: LoggedRequest,
  response: Response,
): { route: string | undefined; status: number } => ({
  route: (request.route as { path?: string } | undefined)?.path,
  status: response.writableFinished ? response.statusCode : 499,
});

/**
 * Writes a JSON line for each request (ACCESS_LOG `on`), or for each error and a share of the others (`sampled`). The lines contain
 * patterns of routes: no path, query, header or body. They do not depend on LOG_LEVEL.
 */
export class AccessLog {
  private readonly logger: Logger | undefined;
  /** Probability of a line for a request without an error. */
  private readonly share: number;

  /**
   * @param destination default: stdout
   * @param random from 0 to 1, exclusive
   */
  constructor(
    config: Pick<Config, 'ACCESS_LOG' | 'ACCESS_LOG_SAMPLE_PERCENT'>,
    destination?: DestinationStream,
    private readonly random: () => number = Math.random,
  ) {
    this.share = config.ACCESS_LOG === 'on' ? 1 : config.ACCESS_LOG_SAMPLE_PERCENT / 100;
    if (config.ACCESS_LOG === 'off') return;
    // One write for each line: workers share stdout, and only short single writes stay whole.
    const options = { base: { log: 'access', pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime };
    this.logger = pino(options, destination ?? pino.destination({ dest: 1, sync: true }));
  }

  get isEnabled(): boolean {
    return this.logger !== undefined;
  }

  /** Records the end of a request. Call it once for each response, when it has ended. */
  record(request: LoggedRequest, { route, status, seconds, bytes }: RequestEnd): void {
    if (!this.logger) return;
    if (status < 400 && this.share < 1 && this.random() >= this.share) return;
    const { id, ctx, method, tenantId } = request;
    this.logger.info({
      request_id: id,
      tenant_id: ctx?.tenantId ?? tenantId ?? null,
      user_id: ctx?.userId ?? null,
      method,
      route,
      status,
      duration_ms: Math.round(seconds * 1e4) / 10,
      bytes,
    });
  }
}

/** Bytes that the connection of a response has sent since the previous call. Requests of a batch have no connection of their own: 0. */
export function bytesOf({ req }: Pick<Response, 'req'>): number {
  const { socket } = req;
  const { bytesWritten = 0 } = socket as { bytesWritten?: number };
  const bytes = bytesWritten - (accounted.get(socket) ?? 0);
  accounted.set(socket, bytesWritten);
  return bytes;
}
