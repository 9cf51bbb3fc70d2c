import type { RouteLimit } from '../../platform/rate-limits/rate-limit.guard.js';

// The locks on guesses stop guessing; these stop somebody from keeping the processors busy with it.

/** Routes that compare a password: each takes tens of milliseconds of a processor. */
export const PASSWORD_LIMIT: RouteLimit = {
  scope: 'password-routes',
  by: 'account',
  requests: 60,
  perSeconds: 600,
  burst: 30,
};

/** Routes that take a code. */
export const PROOF_LIMIT: RouteLimit = {
  scope: 'proof-routes',
  by: 'account',
  requests: 120,
  perSeconds: 600,
  burst: 60,
};
