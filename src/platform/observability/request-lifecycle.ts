import { randomUUID } from 'node:crypto';
import type { NextFunction, Response } from 'express';
import type { Logger } from 'pino';
import { runDuring, workOf } from '../current-work/current-work.js';
import { type AccessLog, bytesOf, type LoggedRequest, type RequestEnd, statusOf } from './access-log.js';
import type { LoopWatch } from './loop-watch.js';
import type { Metrics } from './metrics.js';
import { tracer } from '../telemetry/tracer.js';

/** Routes whose next segment is a credential: links of mails, calendar feeds, routes for guests and recordings. */
const SECRET_PATH = new RegExp(
  `^(/apis/v1/(?:${[
    'account/(?:invitations|password|email|passkeys)',
    'calendar/(?:feeds|polls/outside)',
    'call/(?:external|recordings)',
    'hooks',
    'notifications/unsubscribe',
  ].join('|')})/)[^/]*`,
);
/** Bytes of the results of a request from which on the log names its route: all of them may be in memory at the same time. */
const MANY_BYTES = 64 * 1024 * 1024;
const SAFE_ID = /^[\w.:-]{1,128}$/;

/** A path as logs may contain it. */
export const loggedPath = (path: string): string => path.replace(SECRET_PATH, '$1[redacted]');

/** Receivers of the end of each request. */
interface RequestObservers {
  /** At level debug it gets the path, without the query, which may contain personal data. */
  logger: Logger;
  accessLog: AccessLog;
  metrics: Pick<Metrics, 'isEnabled' | 'observe'>;
  loop?: Pick<LoopWatch, 'begin' | 'end'>;
}

/**
 * The first middleware: assigns the request id (a valid `X-Request-Id` of the client, or a new one) and records the end of the
 * request in the metrics, in the access log, in the trace and, at level debug, in the log.
 */
export function requestLifecycle({ logger, accessLog, metrics, loop }: RequestObservers) {
  const logs = logger.isLevelEnabled('debug');
  const isObserved = logs || accessLog.isEnabled || metrics.isEnabled;
  const tracing = tracer();
  return (request: LoggedRequest, response: Response, next: NextFunction): void => {
    const given = request.headers['x-request-id'];
    request.id = typeof given === 'string' && SAFE_ID.test(given) ? given : randomUUID();
    const place = loop?.begin(request);
    const work = workOf(request);
    const started = isObserved ? process.hrtime.bigint() : 0n;
    // One listener for all observers: each one costs about a microsecond of a request.
    response.once('close', () => {
      if (place !== undefined) loop?.end(place);
      work.share?.count(-1);
      if (!isObserved) return;
      const { route = 'unknown', status } = statusOf(request, response);
      const end: RequestEnd = {
        route,
        status,
        seconds: Number(process.hrtime.bigint() - started) / 1e9,
        bytes: bytesOf(response),
        databaseBytes: work.databaseBytes,
      };
      metrics.observe(request.method, end);
      accessLog.record(request, end);
      if (end.databaseBytes >= MANY_BYTES)
        logger.warn(manyBytes(request, end), 'a request read many bytes from the database');
      if (logs) logger.debug(debugFields(request, end), 'request');
    });
    const proceed = () => runDuring(work, next);
    if (tracing) tracing.request(request, response, proceed);
    else proceed();
  };
}

const manyBytes = ({ id, method }: LoggedRequest, { route, bytes, databaseBytes }: RequestEnd): object => ({
  request_id: id,
  method,
  route,
  database_bytes: databaseBytes,
  bytes,
});

function debugFields(request: LoggedRequest, { route, status, seconds }: RequestEnd): object {
  return {
    request_id: request.id,
    method: request.method,
    // With `baseUrl`: in the handler of unknown routes, which is mounted at the prefix, `path` lacks the prefix.
    path: loggedPath(request.baseUrl + request.path),
    route,
    status,
    ms: Math.round(seconds * 1e4) / 10,
  };
}
