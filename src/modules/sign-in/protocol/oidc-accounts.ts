import { Injectable } from '@nestjs/common';
import type { Account, KoaContextWithOIDC } from 'oidc-provider';
import { Config } from '../../../config/config.js';
import { type SignInAccount, SignInSessions } from '../../identity/index.js';
import { RequiredEnrolment } from '../../account-security/index.js';
import { SignInGrants } from '../sign-in-grants.js';
import { issuerOf } from './issuer-mark.js';

const DAY_SECONDS = 86_400;

/** Provides accounts to the OpenID provider. */
@Injectable()
export class OidcAccounts {
  constructor(
    private readonly sessions: SignInSessions,
    private readonly grants: SignInGrants,
    private readonly enrolment: RequiredEnrolment,
    private readonly config: Config,
  ) {}

  /**
   * @param token the code or token with the account; undefined: the browser session has it
   * @returns undefined when the account is closed or the grant ended
   */
  async find(
    ctx: KoaContextWithOIDC,
    accountId: string,
    token?: { grantId?: string | undefined },
  ): Promise<Account | undefined> {
    const account = await this.sessions.account(accountId);
    if (!account) return undefined;
    if (token?.grantId !== undefined && !(await this.grants.isAlive(token.grantId, accountId)))
      return undefined;
    if (token === undefined && this.signedOut(ctx.oidc.session?.loginTs, account)) return undefined;
    if (token === undefined && (await this.mustEnrol(ctx, account))) return undefined;
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
   * Whether a browser must sign in again, because no workspace of the account can be used without a new second factor. An issuer that
   * reported several factors has replaced it.
   */
  private async mustEnrol({ oidc }: KoaContextWithOIDC, account: SignInAccount): Promise<boolean> {
    const { session } = oidc;
    if (session?.loginTs === undefined || oidc.result?.login !== undefined) return false;
    if (issuerOf(session.acr) !== null && session.amr?.includes('mfa')) return false;
    const due = account.secondFactor ? null : await this.enrolment.findDue(account.id);
    return due !== null && !due.isOptional;
  }

  /**
   * Whether a browser must sign in again: its sign-in expired, or is older than a global sign-out or a change of password
   * or factor.
   * @param at time of sign-in, seconds since 1970; undefined: not signed in
   */
  private signedOut(at: number | undefined, { signInsValidAfter, now }: SignInAccount): boolean {
    if (at === undefined) return false;
    if (now - at > this.config.SIGN_IN_DAYS * DAY_SECONDS) return true;
    return signInsValidAfter !== null && at * 1000 <= signInsValidAfter.getTime();
  }
}
