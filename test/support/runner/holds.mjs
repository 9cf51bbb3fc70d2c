import { appendFileSync } from 'node:fs';
import { subscribe } from 'node:diagnostics_channel';
const holds = [];
subscribe('workspace:event-loop-held', (hold) => holds.push(hold));
export function takeHolds(file) {
  const taken = holds.splice(0);
  if (process.env.TEST_HOLDS)
    for (const { ms, routes } of taken)
      appendFileSync(
        process.env.TEST_HOLDS,
        `${Math.round(ms)}\t${routes.length}\t${file}\t${routes.slice(0, 3).join(', ')}\n`,
      );
}
