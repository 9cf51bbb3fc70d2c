import type { RouteLimit } from '../../../platform/rate-limits/rate-limit.guard.js';

// Guess locks stop guessing; these limits bound the processor time.

/** Routes that verify a password, which takes tens of milliseconds of processor time. */
export const PASSWORD_LIMIT: RouteLimit = {
  scope: 'password-routes',
  by: 'account',
  requests: 60,
  perSeconds: 600,
  burst: 30,
};

/** Routes that verify a code. */
export const PROOF_LIMIT: RouteLimit = {
  scope: 'proof-routes',
  by: 'account',
  requests: 120,
  perSeconds: 600,
  burst: 60,
};
