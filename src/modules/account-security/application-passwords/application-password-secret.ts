import { randomInt, timingSafeEqual } from 'node:crypto';
import type { SecretBox } from '../../../platform/secrets/secret-box.js';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
/** 16 letters are 75 bits and cannot be guessed, so a fast hash is sufficient. */
const LENGTH = 16;
/** Prefix of the HMAC that selects candidates: long enough for a look-up, too short to help a reader of the table. */
const SELECTOR_CHARACTERS = 4;

export function newApplicationPassword(): string {
  return Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** Normalises a typed password: removes grouping and case. Null for anything else. */
export function plainApplicationPassword(typed: string): string | null {
  const plain = typed.replaceAll(/[\s-]/g, '').toLowerCase();
  return /^[a-z]{16}$/.test(plain) ? plain : null;
}

/** Selectors and hashes of a password, one per key, the current key first. */
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

export function sameHash(stored: string, expected: string): boolean {
  const [a, b] = [Buffer.from(stored), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
