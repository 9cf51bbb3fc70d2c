import { createHash, randomBytes } from 'node:crypto';
import { parse, stringify } from 'uuid';

const SECRET_BYTES = 24;
const TENANT_BYTES = 16;
const TOKEN = /^[\w-]{54}$/;

/** A new secret of a feed: the workspace, which the address must name, and 192 random bits. */
export function newFeedToken(tenantId: string): string {
  return Buffer.concat([parse(tenantId), randomBytes(SECRET_BYTES)]).toString('base64url');
}

/** The workspace and the stored hash of a token, or null for other text. */
export function readFeedToken(token: string): { tenantId: string; hash: Buffer } | null {
  if (!TOKEN.test(token)) return null;
  const bytes = Buffer.from(token, 'base64url');
  try {
    return { tenantId: stringify(bytes.subarray(0, TENANT_BYTES)), hash: feedHash(token) };
  } catch {
    return null;
  }
}

export const feedHash = (token: string): Buffer => createHash('sha256').update(token).digest();
