import { randomKey } from '../random-key.js';

/** @returns a UUID of version 4 (RFC 9562, section 5.4). `crypto.randomUUID` exists in secure contexts only. */
export function randomUuid(): string {
  const digits = randomKey();
  const variant = '89ab'[Number.parseInt(digits[16]!, 16) % 4];
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20),
  ].join('-');
}
