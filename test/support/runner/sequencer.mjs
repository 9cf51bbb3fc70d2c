import { createRequire } from 'node:module';

// The package that the installed Jest uses.
const jest = createRequire(createRequire(import.meta.resolve('jest')).resolve('@jest/core'));
const { default: Sequencer } = jest('@jest/test-sequencer');

/** Short files that run for a long time: fuzzers, and tests of started processes. */
const LONG = /\/test\/(?:contract\/fuzz|realtime|runtime|sync)[./]/;

/** Without recorded durations Jest begins with the largest files. These would be last, while other cores are idle. */
export default class LongFilesFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    const [long = [], others = []] = [true, false].map((wanted) =>
      sorted.filter(({ path }) => LONG.test(path) === wanted),
    );
    return [...long, ...others];
  }
}
