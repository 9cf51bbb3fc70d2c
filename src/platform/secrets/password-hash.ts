import { Algorithm, hash, verify } from '@node-rs/argon2';

/**
 * One of the equivalent argon2id settings of OWASP's password storage cheat sheet (46 MiB and one pass to 7 MiB and five).
 * This one is the fastest: its memory fits a processor cache.
 */
export const ARGON2ID = { algorithm: Algorithm.Argon2id, memoryCost: 7_168, timeCost: 5, parallelism: 1 };

/** @returns a PHC string with salt and parameters */
export async function hashPassword(password: string): Promise<string> {
  return hash(password.normalize('NFKC'), ARGON2ID);
}

/**
 * Like `hashPassword`, but faster: for a random password, which cannot be guessed.
 * @param password of at least 128 bits of randomness
 */
export async function hashRandomPassword(password: string): Promise<string> {
  return hash(password, { ...ARGON2ID, memoryCost: 64, timeCost: 1 });
}

export async function verifyPassword(phc: string, password: string): Promise<boolean> {
  return verify(phc, password.normalize('NFKC'));
}
