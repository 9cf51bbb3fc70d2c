import type { ZxcvbnFactory } from '@zxcvbn-ts/core';

/** The time it takes grows with the square of the length, and what makes a password weak shows at its beginning. */
const MAX_JUDGED = 64;
/** Guesses a password has to stand: common ones, keyboard walks, repetitions and the like fall below. */
const MIN_GUESSES_LOG10 = 6;

let judge: Promise<ZxcvbnFactory> | undefined;

/** The word lists take 30 MB: they are loaded when the first password is judged. */
async function load(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary: { ...dictionary }, graphs: adjacencyGraphs });
}

/**
 * Whether a password is among the first million that somebody would try.
 * @param about words an attacker knows: address, name, the name of the service
 */
export async function isEasilyGuessed(password: string, about: string[]): Promise<boolean> {
  judge ??= load();
  const result = (await judge).check(password.slice(0, MAX_JUDGED), about);
  return result.guessesLog10 < MIN_GUESSES_LOG10;
}
