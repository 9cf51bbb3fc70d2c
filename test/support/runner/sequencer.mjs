import { createRequire } from 'node:module';

// The package that the installed Jest uses.
const jest = createRequire(createRequire(import.meta.resolve('jest')).resolve('@jest/core'));
const { default: Sequencer } = jest('@jest/test-sequencer');

/** Short files that run for a long time: fuzzers, and tests of started processes. */
const LONG = /\/test\/(?:contract\/fuzz|realtime|runtime|sync)[./]/;
const LONG_MS = 600_000;
/** A test file of 10 kB takes about five seconds. */
const MS_PER_BYTE = 0.5;

/** The recorded duration of a file, or an estimate. */
const durationOf = ({ duration, path, context }) =>
  duration ?? (LONG.test(path) ? LONG_MS : (context.hasteFS.getSize(path) ?? 0) * MS_PER_BYTE);

/**
 * Begins with the files that failed, then with the longest ones. Jest runs files with a recorded duration after those without:
 * after a run of a few files, long ones would be last, while other cores are idle.
 */
export default class LongFilesFirst extends Sequencer {
  sort(tests) {
    // It reads the recorded durations.
    const sorted = super.sort(tests);
    const hasFailed = (test) => Number(this.hasFailed(test));
    return sorted.toSorted((a, b) => hasFailed(b) - hasFailed(a) || durationOf(b) - durationOf(a));
  }
}
