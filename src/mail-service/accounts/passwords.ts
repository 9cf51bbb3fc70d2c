import { Algorithm, hash, verify } from '@node-rs/argon2';

/** One of the settings for argon2id that OWASP's password storage cheat sheet lists as equal in defence. */
const OPTIONS = { algorithm: Algorithm.Argon2id, memoryCost: 7_168, timeCost: 5, parallelism: 1 };

/** @returns a PHC string, salt and parameters included */
export async function hashPassword(password: string): Promise<string> {
  return hash(password.normalize('NFKC'), OPTIONS);
}

export async function verifyPassword(phc: string, password: string): Promise<boolean> {
  return verify(phc, password.normalize('NFKC'));
}
