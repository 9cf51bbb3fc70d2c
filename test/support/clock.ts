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

/** Fakes these parts of the clock only: connections and the database need the others. @param now milliseconds */
export function fakeOnly(names: (typeof FAKEABLE)[number][], now = Date.now()): void {
  jest.useFakeTimers({ now, doNotFake: FAKEABLE.filter((name) => !names.includes(name)) });
}
