import { TIMEOUTS } from '../../../src/platform/database/connections/timeouts.js';

/** Requests of tests wait for locks, and for a machine that is busy with other tests: they must not reach these limits. */
const TEST_TIMEOUTS = {
  statement: 100_000,
  request: 100_000,
  longRequest: 100_000,
  lock: 100_000,
  idleInTransaction: 100_000,
  connect: 100_000,
  response: 110_000,
};

/** Gives the connections of this process limits that no test reaches, instead of those of production. */
export const raiseTimeouts = (): unknown => Object.assign(TIMEOUTS, TEST_TIMEOUTS);

/** Starts an application whose connections have these limits, milliseconds. */
export async function withTimeouts<T>(
  limits: Partial<typeof TEST_TIMEOUTS>,
  start: () => Promise<T>,
): Promise<T> {
  const usual = { ...TIMEOUTS };
  Object.assign(TIMEOUTS, limits);
  try {
    return await start();
  } finally {
    Object.assign(TIMEOUTS, usual);
  }
}
