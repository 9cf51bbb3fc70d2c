import type { GuessLimit } from '../../../platform/rate-limits/guess-locks.js';
import type { RouteLimit } from '../../../platform/rate-limits/rate-limit.guard.js';

const LOCK_SECONDS = 15 * 60;

/** Codes of the second factor, including recovery codes; per account, across its sessions. */
export const SECOND_FACTOR: GuessLimit = {
  purpose: 'second-factor',
  allowed: 5,
  lockSeconds: LOCK_SECONDS,
};

/** Passwords at sign-in; per e-mail address, with or without an account, and per network or known browser. */
export const SIGN_IN: GuessLimit = { purpose: 'sign-in', allowed: 10, lockSeconds: LOCK_SECONDS };

/** Passwords at sign-in; per e-mail address, from all networks and unknown browsers together. */
export const SIGN_IN_ANYWHERE: GuessLimit = {
  purpose: 'sign-in-anywhere',
  allowed: 50,
  lockSeconds: LOCK_SECONDS,
};

/**
 * Password confirmation inside a session; per account. Counted separately from sign-in, so that failures of one do not lock
 * the other.
 */
export const CONFIRMATION: GuessLimit = { purpose: 'confirmation', allowed: 5, lockSeconds: LOCK_SECONDS };

/** Maximum length of a password, in UTF-16 code units. */
export const MAX_PASSWORD = 1_000;

/** Application passwords of programs; per e-mail address and network. A program sends a wrong password with each of its requests. */
export const APPLICATION_SIGN_IN: GuessLimit = {
  purpose: 'application-sign-in',
  allowed: 30,
  lockSeconds: LOCK_SECONDS,
};

/** Application passwords of programs; per e-mail address, from all networks together. */
export const APPLICATION_SIGN_IN_ANYWHERE: GuessLimit = {
  purpose: 'application-sign-in-anywhere',
  allowed: 150,
  lockSeconds: LOCK_SECONDS,
};

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
