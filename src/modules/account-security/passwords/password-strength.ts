import type * as Zxcvbn from '@zxcvbn-ts/core';
import type * as CommonWords from '@zxcvbn-ts/language-common';
import { lazy } from '../../../lib/lazy/index.js';

/** The estimate takes quadratic time, and 64 characters suffice to recognise a weak password. */
const MAX_ESTIMATED = 64;
/** Minimum estimated guesses: common passwords, keyboard walks and repetitions need fewer. */
const MIN_GUESSES_LOG10 = 6;

/** The word lists take 30 MB, so they are loaded with the first estimate. */
const estimator = lazy((require) => {
  const { ZxcvbnFactory } = require('@zxcvbn-ts/core') as typeof Zxcvbn;
  const { dictionary, adjacencyGraphs } = require('@zxcvbn-ts/language-common') as typeof CommonWords;
  return new ZxcvbnFactory({ dictionary: { ...dictionary }, graphs: adjacencyGraphs });
});

/**
 * Whether an attacker needs fewer than a million guesses.
 * @param userInputs words that an attacker knows: address, user name, service name
 */
export function isEasilyGuessed(password: string, userInputs: string[]): boolean {
  const result = estimator().check(password.slice(0, MAX_ESTIMATED), userInputs);
  return result.guessesLog10 < MIN_GUESSES_LOG10;
}
