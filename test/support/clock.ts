import { jest } from '@jest/globals';

const FAKEABLE = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const;

/** Fakes these and leaves the rest of the clock as it is: connections and the database need it. @param now milliseconds */
export function fakeOnly(names: (typeof FAKEABLE)[number][], now = Date.now()): void {
  jest.useFakeTimers({ now, doNotFake: FAKEABLE.filter((name) => !names.includes(name)) });
}
