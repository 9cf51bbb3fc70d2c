import { createRequire } from 'node:module';
import path from 'node:path';
import { readDurations } from '../cells/durations.ts';

// The package that the installed Jest uses.
const jest = createRequire(createRequire(import.meta.resolve('jest')).resolve('@jest/core'));
const { default: Sequencer } = jest('@jest/test-sequencer');

/** Files whose number of requests is set from outside, and larger in CI. */
const VARIABLE = /\/test\/contract\/fuzz\//;
/** Files without a record that are short and may run for a long time: fuzzers, and tests of started processes. */
const LONG = /\/test\/(?:realtime|runtime|sync)\//;
const [VARIABLE_SECONDS, LONG_SECONDS] = [1_000, 600];
/** A test file of 10 kB takes about five seconds. */
const SECONDS_PER_BYTE = 0.0005;

const recorded = readDurations();

/** The seconds of a file in its last run here, in the recorded run, or an estimate. */
function secondsOf({ duration, path: file, context }) {
  if (VARIABLE.test(file)) return VARIABLE_SECONDS;
  if (duration !== undefined) return duration / 1_000;
  const known = recorded.get(path.relative(context.config.rootDir, file));
  return known ?? (LONG.test(file) ? LONG_SECONDS : (context.hasteFS.getSize(file) ?? 0) * SECONDS_PER_BYTE);
}

/**
 * Begins with the files that failed, then with the longest ones. Jest runs files with a recorded duration after those without:
 * after a run of a few files, long ones would be last, while other cores are idle.
 */
export default class LongFilesFirst extends Sequencer {
  sort(tests) {
    // It reads the durations of the last runs.
    const sorted = super.sort(tests);
    const hasFailed = (test) => Number(this.hasFailed(test));
    return sorted.toSorted((a, b) => hasFailed(b) - hasFailed(a) || secondsOf(b) - secondsOf(a));
  }
}
