import { createHash, randomBytes } from 'node:crypto';
import { NIL, parse, stringify, validate } from 'uuid';

const TENANT_BYTES = 16;

/** A secret, and the hash of it that is stored. */
export interface NewToken {
  token: string;
  hash: Buffer;
}

/**
 * A token of a public address. It names its workspace, so that its look-up reaches one workspace.
 * @param secretBytes random bytes; `readToken` needs the same number
 * @returns base64url of the 16 bytes of the workspace's id and the random bytes
 */
export function newToken(tenantId: string, secretBytes = 32): NewToken {
  const token = Buffer.concat([parse(tenantId), randomBytes(secretBytes)]).toString('base64url');
  return { token, hash: hashOf(token) };
}

/** SHA-256. */
export const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The workspace and the hash of a token. Other text gets the nil UUID: it takes the same look-up, which finds nothing. */
export function readToken(token: string, secretBytes = 32): { tenantId: string; hash: Buffer } {
  return { tenantId: tenantOf(token, TENANT_BYTES + secretBytes), hash: hashOf(token) };
}

function tenantOf(token: string, bytes: number): string {
  const content = Buffer.from(token, 'base64url');
  if (content.length !== bytes || content.toString('base64url') !== token) return NIL;
  const hex = content.toString('hex', 0, TENANT_BYTES);
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return validate(id) ? stringify(content) : NIL;
}
