import { Bus } from '../../../src/platform/bus/bus.js';
import type { Db } from '../../../src/platform/database/db.js';
import { until } from '../../support/until.ts';

test('a message that is dropped while others are being sent is reported as a loss', async () => {
  const sent: string[] = [];
  const first = Promise.withResolvers<void>();
  const queryAlways = async (_: unknown, [batch]: [string[]]) => {
    sent.push(...batch);
    await first.promise;
    return [];
  };
  const bus = new Bus({ queryAlways } as unknown as Db);
  for (let n = 0; n < 10_000; n += 1) bus.publish('t', { n });
  await until('the first statement', () => sent.length > 0);
  for (let n = 0; n < 600; n += 1) bus.publish('t', { n });
  first.resolve();
  await bus.onModuleDestroy();
  expect(sent.filter((message) => message.includes('bus.loss'))).toHaveLength(1);
});
