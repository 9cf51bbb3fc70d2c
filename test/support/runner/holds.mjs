import { appendFileSync } from 'node:fs';
import { subscribe } from 'node:diagnostics_channel';
import { addFailure } from './add-failure.ts';

const TITLE = 'no request holds the event loop';

/**
 * Milliseconds of processor time for which a request may hold the event loop in a test. The tests share the thread of the application,
 * and processor time doubles where two threads share a core: the longest hold of a whole run was 0.9 s, the faults that this finds took
 * 5 s and more.
 */
const MAX_HOLD_MS = 2_000;

/** @type {import('../../../src/platform/observability/loop-watch.ts').LoopHold[]} */
const holds = [];
subscribe('workspace:event-loop-held', (hold) => void holds.push(hold));

/**
 * Fails a test file in which a request held the event loop for too long. If no request or several were open, the test may have
 * computed itself. Where TEST_HOLDS is set, it appends a line for each hold to this file: milliseconds, number of routes of open requests,
 * test file, routes.
 */
export function checkHolds(file, result) {
  const taken = holds.splice(0);
  const { TEST_HOLDS } = process.env;
  if (TEST_HOLDS)
    for (const { ms, routes } of taken)
      appendFileSync(TEST_HOLDS, `${Math.round(ms)}\t${routes.length}\t${file}\t${routes.join(', ')}\n`);
  const sentences = taken
    .filter(({ ms, routes }) => routes.length === 1 && ms > MAX_HOLD_MS)
    .map(({ ms, routes }) => `${routes[0]} held the event loop for ${Math.round(ms)} ms of processor time.`);
  return sentences.length === 0 ? result : addFailure(result, TITLE, sentences.join('\n'));
}
