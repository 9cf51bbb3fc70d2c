import type { Identity } from './request-context.js';

/** Resolves an access token to an identity. Implemented by the identity module. */
export abstract class TokenResolver {
  /** @returns the identity of a recently verified token that is not revoked */
  abstract cached(token: string): Identity | undefined;

  /** Verifies signature, claims, session, account and membership. @returns null for an invalid token */
  abstract resolve(token: string): Promise<Identity | null>;

  /** Whether session, account and membership of a verified identity are still valid: read now, not cached. */
  abstract isValid(identity: Pick<Identity, 'userId' | 'tenantId' | 'sessionId'>): Promise<boolean>;
}
