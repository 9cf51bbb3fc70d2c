import { createHash, randomBytes } from 'node:crypto';
import { parse, stringify, validate } from 'uuid';

const OWNER_BYTES = 16;
const SECRET_BYTES = 32;
const TOKEN = /^[\w-]{64}$/;

/** The secret of a link, and the hash of it that is stored. */
export interface LinkToken {
  token: string;
  hash: Buffer;
}

/** @param owner UUID of the workspace or account that the link belongs to; the token contains it */
export function newLinkToken(owner: string): LinkToken {
  const token = Buffer.concat([parse(owner), randomBytes(SECRET_BYTES)]).toString('base64url');
  return { token, hash: hashOf(token) };
}

/** @returns the owner and the stored hash of a token; null for text that is no token */
export function readLinkToken(token: string): { owner: string; hash: Buffer } | null {
  if (!TOKEN.test(token)) return null;
  const hex = Buffer.from(token, 'base64url').subarray(0, OWNER_BYTES).toString('hex');
  const owner = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return validate(owner) ? { owner: stringify(parse(owner)), hash: hashOf(token) } : null;
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
