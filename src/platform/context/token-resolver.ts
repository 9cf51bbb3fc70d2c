import type { Identity } from './request-context.js';

/** Turns an access token into an identity. Implemented by the identity module; platform knows no accounts. */
export abstract class TokenResolver {
  /** The identity of a token verified lately and not revoked since; never waits. */
  abstract cached(token: string): Identity | undefined;

  /** Verifies signature, claims, session, account and membership. Null: the token is not good. */
  abstract resolve(token: string): Promise<Identity | null>;
}
