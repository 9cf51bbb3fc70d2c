import { createRequire } from 'node:module';

// The package that the installed Jest uses.
const jest = createRequire(createRequire(import.meta.resolve('jest')).resolve('@jest/core'));
const { default: Sequencer } = jest('@jest/test-sequencer');

/** Short files that run for a long time: fuzzers, and tests of started processes. */
const LONG = /\/test\/(?:contract\/fuzz|realtime|runtime|sync)[./]/;

/** Before Jest knows how long files take it begins with the largest. The long ones would be last, with idle cores beside them. */
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
