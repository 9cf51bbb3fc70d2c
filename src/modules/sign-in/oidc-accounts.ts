import { Injectable } from '@nestjs/common';
import type { Account, KoaContextWithOIDC } from 'oidc-provider';
import { SignInSessions } from '../identity/index.js';
import { SignInGrants } from './sign-in-grants.js';

/** The accounts as the OpenID provider asks for them. */
@Injectable()
export class OidcAccounts {
  constructor(
    private readonly sessions: SignInSessions,
    private readonly grants: SignInGrants,
  ) {}

  /**
   * @param token the code or token that names the account; without one the browser's own session does
   * @returns undefined when the account is closed or the sign-in has been ended meanwhile
   */
  async find(
    ctx: KoaContextWithOIDC,
    accountId: string,
    token?: { grantId?: string | undefined },
  ): Promise<Account | undefined> {
    const account = await this.sessions.account(accountId);
    if (!account) return undefined;
    if (token?.grantId !== undefined && !(await this.grants.alive(token.grantId, accountId)))
      return undefined;
    if (token === undefined && signedOutSince(ctx, account.signInsValidAfter)) return undefined;
    return {
      accountId,
      claims: () => ({
        sub: accountId,
        name: account.displayName,
        email: account.email,
        email_verified: true,
      }),
    };
  }
}

/** Whether this browser had signed in before everything was signed out, or before the password or factor changed. */
function signedOutSince(ctx: KoaContextWithOIDC, validAfter: Date | null): boolean {
  const signedInAt = ctx.oidc.session?.loginTs;
  return validAfter !== null && signedInAt !== undefined && signedInAt * 1000 <= validAfter.getTime();
}
