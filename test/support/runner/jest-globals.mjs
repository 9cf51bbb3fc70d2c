// The module that tests import as `@jest/globals`: the part of Jest's interface that does not depend on a module registry.
let environment;

/** Makes `jest` act on the environment of the file that runs now. */
export function useJestGlobals(current) {
  environment = current;
}

const timers = () => environment.fakeTimersModern;
const mocker = () => environment.moduleMocker;

export const jest = {
  fn: (implementation) => mocker().fn(implementation),
  spyOn: (...args) => mocker().spyOn(...args),
  replaceProperty: (...args) => mocker().replaceProperty(...args),
  isMockFunction: (value) => mocker().isMockFunction(value),
  clearAllMocks: () => (mocker().clearAllMocks(), jest),
  resetAllMocks: () => (mocker().resetAllMocks(), jest),
  restoreAllMocks: () => (mocker().restoreAllMocks(), jest),
  useFakeTimers: (options) => (timers().useFakeTimers(options), jest),
  useRealTimers: () => (timers().useRealTimers(), jest),
  setSystemTime: (now) => (timers().setSystemTime(now), jest),
  now: () => timers().now(),
  getRealSystemTime: () => timers().getRealSystemTime(),
  getTimerCount: () => timers().getTimerCount(),
  clearAllTimers: () => timers().clearAllTimers(),
  runAllTimers: () => timers().runAllTimers(),
  runAllTimersAsync: () => timers().runAllTimersAsync(),
  runOnlyPendingTimers: () => timers().runOnlyPendingTimers(),
  runOnlyPendingTimersAsync: () => timers().runOnlyPendingTimersAsync(),
  advanceTimersByTime: (ms) => timers().advanceTimersByTime(ms),
  advanceTimersByTimeAsync: (ms) => timers().advanceTimersByTimeAsync(ms),
  advanceTimersToNextTimer: (steps) => timers().advanceTimersToNextTimer(steps),
  advanceTimersToNextTimerAsync: (steps) => timers().advanceTimersToNextTimerAsync(steps),
};

// jest-circus sets the other functions as globals for each file; tests use those without an import.
