import { EventEmitter } from 'node:events';
import { createLogger } from '../../../src/platform/observability/logger.js';
import type { Metrics } from '../../../src/platform/observability/metrics.js';
import { requestLifecycle } from '../../../src/platform/observability/request-lifecycle.js';

test('secrets in paths are not logged', () => {
  const lines: string[] = [];
  const logger = createLogger('debug', { write: (line: string) => void lines.push(line) });
  const metrics = { observe: () => undefined } as unknown as Metrics;
  const handle = requestLifecycle(logger, metrics, true);
  for (const path of [
    '/apis/v1/calendar/feeds/secret-token.ics',
    '/apis/v1/call/external/secret-token/status',
    '/apis/v1/call/external/secret-token/chat/attachments/0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000',
    '/apis/v1/call/external_invites',
  ]) {
    const response = Object.assign(new EventEmitter(), { statusCode: 200, writableFinished: true });
    handle({ headers: {}, method: 'GET', baseUrl: '', path } as never, response as never, () => undefined);
    response.emit('close');
  }
  expect(lines).toHaveLength(4);
  expect(lines.join('')).not.toContain('secret-token');
  expect(lines.map((line) => (JSON.parse(line) as { path: string }).path)).toEqual([
    '/apis/v1/calendar/feeds/[redacted]',
    '/apis/v1/call/external/[redacted]/status',
    '/apis/v1/call/external/[redacted]/chat/attachments/0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000',
    '/apis/v1/call/external_invites',
  ]);
});
