import { createHmac, type KeyObject } from 'node:crypto';
import { type ClaimGrants, claimsToJwtPayload } from 'livekit-server-sdk';

const HEADER = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');

/** The signing key of an application of the media server, and the bearer of the token. */
export interface TokenSubject {
  key: string;
  secret: KeyObject;
  identity: string;
  /** Seconds for which the token is valid. */
  seconds: number;
}

/**
 * An access token of LiveKit: a JWT (RFC 7519) with HS256 and the claims of the SDK. The SDK imports the key for each token and
 * signs in the thread pool, which takes four times the processor time.
 */
export function signToken({ key, secret, identity, seconds }: TokenSubject, grants: ClaimGrants): string {
  const now = Math.floor(Date.now() / 1_000);
  const claims = { ...claimsToJwtPayload(grants), iss: key, sub: identity, nbf: now, exp: now + seconds };
  const text = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}
