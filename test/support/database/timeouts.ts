import { TIMEOUTS } from '../../../src/platform/database/data-source.js';

/** For tests in which requests wait for a lock until the test has seen them: a busy machine must not reach these limits. */
export const PATIENT = { lock: 100_000, statement: 100_000, response: 110_000 };

/** Starts an application whose connections have these limits instead of those of production, milliseconds. */
export async function withTimeouts<T>(
  limits: Partial<Record<keyof typeof TIMEOUTS, number>>,
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
