import { randomInt, timingSafeEqual } from 'node:crypto';
import type { SecretBox } from '../../../platform/secrets/secret-box.js';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
/** 16 letters are 75 bits: nobody guesses them, so a fast hash is enough. */
const LENGTH = 16;
/** Bits of the HMAC that say which password it may be: enough to find it, too few to help anybody who reads the table. */
const SELECTOR_CHARACTERS = 4;

export function newApplicationPassword(): string {
  return Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** As it is compared: programs show and people type it in groups. Null: it cannot be one. */
export function plainApplicationPassword(typed: string): string | null {
  const plain = typed.replaceAll(/[\s-]/g, '').toLowerCase();
  return /^[a-z]{16}$/.test(plain) ? plain : null;
}

/** Its selectors and hashes, one for each key there is, the current one first. */
export function applicationPasswordHashes(
  box: SecretBox,
  owner: string,
  plain: string,
): { selectors: [string, ...string[]]; hashes: [string, ...string[]] } {
  const selectors = box.hashes('application password selector', owner, plain);
  return {
    selectors: selectors.map((text) =>
      text.slice(0, text.indexOf('.') + 1 + SELECTOR_CHARACTERS),
    ) as typeof selectors,
    hashes: box.hashes('application password', owner, plain),
  };
}

export function sameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
