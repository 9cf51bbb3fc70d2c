import type { ZxcvbnFactory } from '@zxcvbn-ts/core';

/** The estimate takes quadratic time, and 64 characters suffice to recognise a weak password. */
const MAX_ESTIMATED = 64;
/** Minimum estimated guesses: common passwords, keyboard walks and repetitions need fewer. */
const MIN_GUESSES_LOG10 = 6;

let estimator: Promise<ZxcvbnFactory> | undefined;

/** The word lists take 30 MB, so they are loaded with the first estimate. */
async function load(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary: { ...dictionary }, graphs: adjacencyGraphs });
}

/**
 * Whether an attacker needs fewer than a million guesses.
 * @param userInputs words that an attacker knows: address, user name, service name
 */
export async function isEasilyGuessed(password: string, userInputs: string[]): Promise<boolean> {
  estimator ??= load();
  const result = (await estimator).check(password.slice(0, MAX_ESTIMATED), userInputs);
  return result.guessesLog10 < MIN_GUESSES_LOG10;
}
