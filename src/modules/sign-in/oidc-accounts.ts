import { Injectable } from '@nestjs/common';
import type { Account, KoaContextWithOIDC } from 'oidc-provider';
import { Config } from '../../config/config.js';
import { type SignInAccount, SignInSessions } from '../identity/index.js';
import { SignInGrants } from './sign-in-grants.js';

const DAY_SECONDS = 86_400;

/** The accounts as the OpenID provider asks for them. */
@Injectable()
export class OidcAccounts {
  constructor(
    private readonly sessions: SignInSessions,
    private readonly grants: SignInGrants,
    private readonly config: Config,
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
    if (token === undefined && this.signedOut(ctx.oidc.session?.loginTs, account)) return undefined;
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

  /**
   * Whether a browser must sign in anew: it did so too long ago, or before everything was signed out or the password or
   * factor changed.
   * @param at seconds since 1970; undefined: nobody has signed in
   */
  private signedOut(at: number | undefined, { signInsValidAfter, now }: SignInAccount): boolean {
    if (at === undefined) return false;
    if (now - at > this.config.SIGN_IN_DAYS * DAY_SECONDS) return true;
    return signInsValidAfter !== null && at * 1000 <= signInsValidAfter.getTime();
  }
}
