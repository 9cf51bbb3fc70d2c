import type { Guessable } from '../../platform/rate-limits/guess-locks.js';

const LOCK_SECONDS = 15 * 60;

/** Codes of the second factor, recovery codes included; per account, over all its sessions. */
export const SECOND_FACTOR: Guessable = {
  purpose: 'second-factor',
  allowed: 5,
  lockSeconds: LOCK_SECONDS,
};

/** Passwords at sign-in; per address, whether anybody has it or not. */
export const SIGN_IN: Guessable = { purpose: 'sign-in', allowed: 10, lockSeconds: LOCK_SECONDS };

/**
 * The password asked again inside a session; per account. Counted apart from sign-in: who guesses at one door must not be
 * able to shut the other.
 */
export const CONFIRMATION: Guessable = { purpose: 'confirmation', allowed: 5, lockSeconds: LOCK_SECONDS };
