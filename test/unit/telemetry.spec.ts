import { createLogger } from '../../src/platform/observability/logger.js';
import { ExportReport } from '../../src/platform/observability/telemetry/sdk.js';

test('a collector that fails is logged once, and once when it accepts data again', () => {
  const lines: string[] = [];
  const log = createLogger('info', { write: (line: string) => void lines.push(line) });
  const results: { code: number; error?: Error }[] = [];
  const done: number[] = [];
  const exporter = new ExportReport(log, 'traces').watch({
    export(_items: string[], callback: (result: { code: number; error?: Error }) => void) {
      callback(results.shift() ?? { code: 0 });
    },
  });
  const failure = { code: 1, error: new Error('ECONNREFUSED') };
  results.push({ code: 0 }, failure, failure, failure, { code: 0 }, { code: 0 }, failure);
  for (let n = 0; n < 7; n += 1) exporter.export(['span'], ({ code }) => void done.push(code));
  expect(done).toEqual([0, 1, 1, 1, 0, 0, 1]);
  expect(lines.map((line) => JSON.parse(line)).map(({ level, signal }) => [level, signal])).toEqual([
    [40, 'traces'],
    [30, 'traces'],
    [40, 'traces'],
  ]);
});
