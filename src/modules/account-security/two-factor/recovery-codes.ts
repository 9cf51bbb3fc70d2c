import { randomBytes } from 'node:crypto';

const RECOVERY_CODES = 10;
/** Crockford's base 32, without ambiguous characters. Five bits per character, 50 per code. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 10;

/** Creates recovery codes in the form `xxxxx-xxxxx`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const code = Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte & 31]).join('');
    return `${code.slice(0, 5)}-${code.slice(5)}`;
  });
}

/** Normalises a typed code; null if it cannot be one. */
export function plainRecoveryCode(typed: string): string | null {
  const plain = typed.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1');
  return plain.length === LENGTH && [...plain].every((letter) => ALPHABET.includes(letter)) ? plain : null;
}
