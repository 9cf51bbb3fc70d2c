import { Algorithm, hash, verify } from '@node-rs/argon2';

/** Argon2id parameters of OWASP's password storage cheat sheet. */
const OPTIONS = { algorithm: Algorithm.Argon2id, memoryCost: 7_168, timeCost: 5, parallelism: 1 };

/** @returns a PHC string with salt and parameters */
export async function hashPassword(password: string): Promise<string> {
  return hash(password.normalize('NFKC'), OPTIONS);
}

/**
 * Like `hashPassword`, but faster: for a random password, which cannot be guessed.
 * @param password of at least 128 bits of randomness
 */
export async function hashRandomPassword(password: string): Promise<string> {
  return hash(password, { ...OPTIONS, memoryCost: 64, timeCost: 1 });
}

export async function verifyPassword(phc: string, password: string): Promise<boolean> {
  return verify(phc, password.normalize('NFKC'));
}
