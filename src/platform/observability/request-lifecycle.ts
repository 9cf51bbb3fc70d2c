import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import type { Metrics } from './metrics.js';

/** Routes whose next segment is a credential: links of mails, calendar feeds, routes for guests and recordings. */
const SECRET_PATH = new RegExp(
  `^(/apis/v1/(?:${[
    'account/(?:invitations|password|email|passkeys)',
    'calendar/(?:feeds|polls/outside)',
    'call/(?:external|recordings)',
    'notifications/unsubscribe',
  ].join('|')})/)[^/]*`,
);
const SAFE_ID = /^[\w.:-]{1,128}$/;

/** A path as logs may contain it. */
export const loggedPath = (path: string): string => path.replace(SECRET_PATH, '$1[redacted]');

/**
 * The first middleware: assigns the request id (a valid `X-Request-Id` of the client, or a new one) and records the end of the
 * request in the metrics and, at level debug, in the log. The path is logged without its query, which may contain personal data.
 */
export function requestLifecycle(logger: Logger, metrics: Metrics, measured: boolean) {
  const logs = logger.isLevelEnabled('debug');
  return (request: Request & { id?: string }, response: Response, next: NextFunction): void => {
    const given = request.headers['x-request-id'];
    request.id = typeof given === 'string' && SAFE_ID.test(given) ? given : randomUUID();
    if (measured || logs) {
      const started = process.hrtime.bigint();
      response.once('close', () => {
        const seconds = Number(process.hrtime.bigint() - started) / 1e9;
        const route = (request.route as { path?: string } | undefined)?.path ?? 'unknown';
        const { method } = request;
        const status = response.writableFinished ? response.statusCode : 499;
        metrics.observe(method, route, status, seconds);
        if (logs)
          logger.debug(
            {
              request_id: request.id,
              method,
              // The handler of unknown routes is mounted at the prefix, which `path` then lacks.
              path: loggedPath(request.baseUrl + request.path),
              route,
              status,
              ms: Math.round(seconds * 1e4) / 10,
            },
            'request',
          );
      });
    }
    next();
  };
}
