import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { networkOf } from '../../platform/current-work/network-of.js';
import { RateLimits } from '../../platform/rate-limits/rate-limits.js';
import { type IssuerAttempt, IssuerSignIn, type SignInIssuer } from '../issuers/index.js';
import { expiredPage, issuerPage, limitedPage, type Page } from './pages/index.js';
import { frameOf, originOf, type SignIn } from './sign-in-state.js';

/** A user whom the issuer of a workspace has signed in. */
export interface IssuerSignedIn {
  accountId: string;
  issuer: SignInIssuer;
  /** Authentication methods that the issuer reports (RFC 8176). */
  amr: string[];
}

/** The sign-in by the issuer of a workspace: the page with the link to the issuer, and its response. */
@Injectable()
export class IssuerSteps {
  constructor(
    private readonly issuers: IssuerSignIn,
    private readonly limits: RateLimits,
    private readonly config: Config,
  ) {}

  async isOffered(): Promise<boolean> {
    return this.issuers.isOffered();
  }

  /** The page with the link to the issuer for the domain of an address; null: the domain has none. */
  async offer(signIn: SignIn, email: string, alert?: string): Promise<Page | null> {
    const issuer = await this.issuers.forEmail(email);
    if (!issuer) return null;
    const limit = { scope: 'issuer-start', requests: this.config.SIGN_IN_PER_MINUTE, perSeconds: 60 };
    const wait = await this.limits.take({ limit, subject: networkOf(signIn.request.ip) });
    if (wait > 0) return limitedPage(signIn.locale, wait);
    const request = { email, statePrefix: signIn.details.uid };
    const started = await this.issuers.start(issuer, request, originOf(signIn.request));
    const { name } = issuer;
    if (!started) {
      const error = signIn.locale.t('issuer_unavailable', { issuer: name });
      return issuerPage(frameOf(signIn, error), { name, url: null });
    }
    await this.save(signIn, started.attempt);
    return issuerPage(frameOf(signIn, alert), { name, url: started.url });
  }

  /** Handles the response of the issuer. @returns the user, or the page with the error */
  async returned(signIn: SignIn, query: URLSearchParams): Promise<IssuerSignedIn | Page> {
    const attempt = signIn.details.result?.['issuer'] as IssuerAttempt | undefined;
    if (!attempt) return expiredPage(signIn.locale);
    // Deletes the attempt first, so that a response is used once.
    await this.save(signIn, undefined);
    const issuerId = query.get('callback') ?? '';
    query.delete('callback');
    const result = await this.issuers.finish(attempt, issuerId, query, originOf(signIn.request));
    if (result.outcome === 'signed_in') return result;
    if (!result.issuer) return expiredPage(signIn.locale);
    const { name } = result.issuer;
    const key = result.outcome === 'rejected' ? 'issuer_rejected' : 'issuer_unavailable';
    return issuerPage(frameOf(signIn, signIn.locale.t(key, { issuer: name })), { name, url: null });
  }

  private async save({ provider, request, response }: SignIn, issuer: IssuerAttempt | undefined) {
    await provider.interactionResult(request, response, { issuer }, { mergeWithLastSubmission: true });
  }
}
