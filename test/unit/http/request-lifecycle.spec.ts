import { EventEmitter } from 'node:events';
import { Config } from '../../../src/config/config.js';
import { AccessLog } from '../../../src/platform/observability/access-log.js';
import { createLogger } from '../../../src/platform/observability/logger.js';
import { requestLifecycle } from '../../../src/platform/observability/request-lifecycle.js';

test('secrets in paths are not logged', () => {
  const lines: string[] = [];
  const logger = createLogger('debug', { write: (line: string) => void lines.push(line) });
  const metrics = { isEnabled: false, observe: () => undefined };
  const handle = requestLifecycle({ logger, accessLog: new AccessLog(Config.parse({})), metrics });
  for (const path of [
    '/apis/v1/calendar/feeds/secret-token.ics',
    '/apis/v1/hooks/secret-token',
    '/apis/v1/call/external/secret-token/status',
    '/apis/v1/call/external/secret-token/chat/attachments/0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000',
    '/apis/v1/call/external_invites',
  ]) {
    const response = Object.assign(new EventEmitter(), {
      statusCode: 200,
      writableFinished: true,
      req: { socket: {} },
    });
    handle({ headers: {}, method: 'GET', baseUrl: '', path } as never, response as never, () => undefined);
    response.emit('close');
  }
  expect(lines).toHaveLength(5);
  expect(lines.join('')).not.toContain('secret-token');
  expect(lines.map((line) => (JSON.parse(line) as { path: string }).path)).toEqual([
    '/apis/v1/calendar/feeds/[redacted]',
    '/apis/v1/hooks/[redacted]',
    '/apis/v1/call/external/[redacted]/status',
    '/apis/v1/call/external/[redacted]/chat/attachments/0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000',
    '/apis/v1/call/external_invites',
  ]);
});

describe('the access log', () => {
  /** Handles requests one after the other on one connection. @returns the lines of the log */
  function linesOf(
    settings: Record<string, string>,
    requests: { status: number; bytes: number; finished?: boolean; members?: object }[],
    random = () => 0.5,
  ): Record<string, unknown>[] {
    const lines: string[] = [];
    const accessLog = new AccessLog(
      Config.parse({ LOG_LEVEL: 'silent', ...settings }),
      { write: (line: string) => void lines.push(line) },
      random,
    );
    const metrics = { isEnabled: false, observe: () => undefined };
    const handle = requestLifecycle({ logger: createLogger('silent'), accessLog, metrics });
    const socket = { bytesWritten: 0 };
    for (const { status, bytes, finished = true, members = {} } of requests) {
      const request = { headers: {}, method: 'GET', route: { path: '/apis/v1/notes/:id' }, ...members };
      const response = Object.assign(new EventEmitter(), {
        statusCode: status,
        writableFinished: finished,
        req: { socket },
      });
      handle(request as never, response as never, () => undefined);
      socket.bytesWritten += bytes;
      response.emit('close');
    }
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  test('on: a line for each request, with the caller, the pattern of the route and its own bytes', () => {
    const members = {
      headers: { 'x-request-id': 'r-1', authorization: 'Bearer SECRET' },
      originalUrl: '/apis/v1/notes/1?q=SECRET',
      ctx: { tenantId: 't', userId: 'u' },
    };
    const requests = [
      { status: 200, bytes: 1000, members },
      { status: 200, bytes: 20, finished: false },
      { status: 201, bytes: 300, members: { route: undefined, tenantId: 'provisioned' } },
    ];
    const lines = linesOf({ ACCESS_LOG: 'on' }, requests);
    const common = { level: 30, log: 'access', pid: process.pid, time: expect.any(String), method: 'GET' };
    expect(lines).toEqual([
      {
        ...common,
        request_id: 'r-1',
        tenant_id: 't',
        user_id: 'u',
        route: '/apis/v1/notes/:id',
        status: 200,
        duration_ms: expect.any(Number),
        bytes: 1000,
      },
      expect.objectContaining({ tenant_id: null, user_id: null, status: 499, bytes: 20 }),
      expect.objectContaining({ tenant_id: 'provisioned', user_id: null, route: 'unknown', bytes: 300 }),
    ]);
    expect(JSON.stringify(lines)).not.toContain('SECRET');
  });

  test('sampled: each error, and the share of the others', () => {
    const requests = [200, 204, 399, 400, 499, 503].map((status) => ({ status, bytes: 10 }));
    const sampled = (percent: string, random: number) =>
      linesOf({ ACCESS_LOG: 'sampled', ACCESS_LOG_SAMPLE_PERCENT: percent }, requests, () => random);
    const statuses = (lines: Record<string, unknown>[]) => lines.map(({ status }) => status);
    expect(statuses(sampled('10', 0.1))).toEqual([400, 499, 503]);
    expect(statuses(sampled('10', 0.099))).toEqual([200, 204, 399, 400, 499, 503]);
    expect(statuses(sampled('100', 0.999))).toEqual([200, 204, 399, 400, 499, 503]);
    // The bytes of lines that are left out belong to their requests.
    expect(sampled('10', 0.5).map(({ bytes }) => bytes)).toEqual([10, 10, 10]);
  });

  test('off: no line', () => {
    expect(linesOf({}, [{ status: 500, bytes: 1 }])).toEqual([]);
  });
});
