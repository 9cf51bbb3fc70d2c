import { createHash, randomBytes } from 'node:crypto';
import { NIL, parse, stringify, validate } from 'uuid';

const TENANT_BYTES = 16;
const SECRET_BYTES = 32;
const TOKEN = /^[\w-]{64}$/;

/** A secret, and the hash of it that is stored. */
export interface NewToken {
  token: string;
  hash: Buffer;
}

/** A token that names its workspace: 16 bytes of its id and 32 random bytes, in base64url. */
export function newToken(tenantId: string): NewToken {
  const token = Buffer.concat([parse(tenantId), randomBytes(SECRET_BYTES)]).toString('base64url');
  return { token, hash: hashOf(token) };
}

export const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The workspace and the hash of a token. Other text belongs to no workspace and is looked up like a token. */
export function readToken(token: string): { tenantId: string; hash: Buffer } {
  return { tenantId: tenantOf(token), hash: hashOf(token) };
}

function tenantOf(token: string): string {
  if (!TOKEN.test(token)) return NIL;
  const bytes = Buffer.from(token, 'base64url').subarray(0, TENANT_BYTES);
  const hex = bytes.toString('hex');
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  return validate(id) ? stringify(bytes) : NIL;
}
