import { Injectable } from '@nestjs/common';
import type { InteractionResults } from 'oidc-provider';
import { Config } from '../../config/config.js';
import { networkOf } from '../../platform/current-work/current-work.js';
import { RateLimits } from '../../platform/rate-limits/rate-limits.js';
import { SignInSessions } from '../identity/index.js';
import { type IssuerAttempt, IssuerSignIn, type SignInIssuer } from '../issuers/index.js';
import { TenantsApi } from '../tenants/index.js';
import { SIGN_IN_COOKIE } from './oidc-configuration.js';
import * as pages from './pages/index.js';
import { expiredPage, issuerPage, limitedPage, type Page } from './pages/index.js';
import { issuerOf } from './protocol/issuer-mark.js';
import { OidcRecords } from './records/oidc-records.js';
import { SignInGrants } from './sign-in-grants.js';
import { frameOf, interactionPath, originOf, requestedScopes, type SignIn } from './sign-in-state.js';

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
  async handleReturn(signIn: SignIn, query: URLSearchParams): Promise<IssuerSignedIn | Page> {
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

/** The result of a sign-in: account, time in seconds since 1970, and methods (RFC 8176). */
interface Login {
  accountId: string;
  ts: number;
  amr: string[];
  /** Mark of the issuer that signed in the user; absent: this service. */
  acr?: string;
}

/** The end of a sign-in: choice of workspace, consent, grant and redirect. */
@Injectable()
export class SignInCompletion {
  constructor(
    private readonly sessions: SignInSessions,
    private readonly tenants: TenantsApi,
    private readonly grants: SignInGrants,
    private readonly records: OidcRecords,
    private readonly issuers: IssuerSignIn,
    private readonly issuerSteps: IssuerSteps,
  ) {}

  /** Opens the grant at once when no consent or choice of workspace is needed. */
  async complete(signIn: SignIn, login: Login): Promise<pages.Page | null> {
    const { workspaces, issuer, isConfined, required } = await this.choices(
      signIn,
      login.accountId,
      login.acr,
    );
    if (required && workspaces.length === 0) return this.requiredPage(signIn, login.accountId, required);
    if (isConfined && workspaces.length === 0) return notAMember(signIn);
    if (!signIn.client.firstParty || workspaces.length > 1)
      return this.finish(signIn, { login: { ...login } });
    const grantId = await this.open(signIn, login, workspaces[0]?.id ?? null, issuer);
    return this.finish(signIn, { login: { ...login }, consent: { grantId } });
  }

  async consentPage(signIn: SignIn, alert?: string): Promise<pages.Page> {
    const accountId = signIn.details.session?.accountId;
    const account = accountId === undefined ? null : await this.sessions.account(accountId);
    if (!account) return pages.expiredPage(signIn.locale);
    const { acr } = await this.loginOf(signIn);
    const { workspaces, isConfined, required } = await this.choices(signIn, account.id, acr);
    if (workspaces.length === 0 && required) return this.requiredPage(signIn, account.id, required);
    if (workspaces.length === 0 && (isConfined || signIn.client.ownerTenantId !== null))
      return notAMember(signIn);
    const host = pages.formTargetOf(signIn.details.params['redirect_uri']);
    return pages.consentPage(frameOf(signIn, alert), {
      workspaces: workspaces.length > 1 || signIn.client.firstParty ? workspaces : null,
      scopes: signIn.client.firstParty ? null : requestedScopes(signIn.details),
      host: host?.replace(/^https?:\/\//, '') ?? null,
      name: account.displayName,
      email: account.email,
    });
  }

  /** @param workspace id of the chosen workspace; empty without a choice */
  async consent(signIn: SignIn, workspace: string): Promise<pages.Page | null> {
    const { session, lastSubmission } = signIn.details;
    const accountId = session?.accountId;
    if (accountId === undefined) return pages.expiredPage(signIn.locale);
    const login = await this.loginOf(signIn);
    const { workspaces, issuer, isConfined, required } = await this.choices(signIn, accountId, login.acr);
    if (workspaces.length === 0 && required) return this.requiredPage(signIn, accountId, required);
    if (workspaces.length === 0 && (isConfined || signIn.client.ownerTenantId !== null))
      return notAMember(signIn);
    const chosen =
      workspaces.length === 1 && workspace === ''
        ? workspaces[0]
        : workspaces.find(({ id }) => id === workspace);
    if (!chosen && workspaces.length > 0) return this.consentPage(signIn, signIn.locale.t('choose_missing'));
    const opened = await this.open(signIn, { ...login, accountId }, chosen?.id ?? null, issuer);
    const submitted = lastSubmission?.login;
    return this.finish(signIn, { ...(submitted && { login: submitted }), consent: { grantId: opened } });
  }

  /** Time and methods of the sign-in: of this interaction, or else of the browser session. */
  private async loginOf({ details, provider }: SignIn): Promise<Omit<Login, 'accountId'>> {
    const submitted = details.lastSubmission?.login;
    if (submitted) return { ts: submitted.ts ?? 0, amr: submitted.amr ?? [], ...markOf(submitted) };
    const browser = details.session && (await provider.Session.findByUid(details.session.uid));
    return { ts: browser?.loginTs ?? 0, amr: browser?.amr ?? [], ...markOf(browser) };
  }

  async finish({ provider, details, request, response }: SignIn, result: InteractionResults): Promise<null> {
    // The provider does not clear its cookies, and browsers store a limited number.
    const cookie = { path: interactionPath(details.uid), httpOnly: true, sameSite: 'lax' } as const;
    for (const name of [SIGN_IN_COOKIE, `${SIGN_IN_COOKIE}.sig`]) response.clearCookie(name, cookie);
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    return null;
  }

  /**
   * Workspaces that the account may choose. After a sign-in by an issuer (`isConfined`): the workspace of the issuer, or none if the
   * issuer was removed meanwhile. After any other sign-in: all except a workspace that requires its own issuer (`required`).
   */
  private async choices(signIn: SignIn, accountId: string, acr: string | undefined) {
    const workspaces = await this.workspacesOf(signIn, accountId);
    const mark = issuerOf(acr);
    if (mark) {
      const issuer = await this.issuers.find(mark.tenantId, mark.id);
      return {
        workspaces: workspaces.filter(({ id }) => id === issuer?.tenant_id),
        issuer,
        isConfined: true,
        required: null,
      };
    }
    const account = await this.sessions.account(accountId);
    const required = account && (await this.issuers.requiredFor(accountId, account.email));
    return {
      workspaces: workspaces.filter(({ id }) => id !== required?.tenant_id),
      issuer: null,
      isConfined: false,
      required,
    };
  }

  private async requiredPage(signIn: SignIn, accountId: string, { name }: SignInIssuer): Promise<pages.Page> {
    const account = await this.sessions.account(accountId);
    const alert = signIn.locale.t('issuer_required', { issuer: name });
    const offer = account && (await this.issuerSteps.offer(signIn, account.email, alert));
    return offer ?? pages.expiredPage(signIn.locale);
  }

  /** Workspaces of the account. The client of a workspace is for this workspace only. */
  private async workspacesOf({ client }: SignIn, accountId: string) {
    const workspaces = await this.tenants.workspacesOf(accountId);
    return client.ownerTenantId === null
      ? workspaces
      : workspaces.filter(({ id }) => id === client.ownerTenantId);
  }

  /** Opens a grant and ends the one that it replaces: a browser has one per client, and a second would survive the sign-out. */
  private async open(
    { provider, client, details, request }: SignIn,
    { accountId, ts, amr }: Login,
    tenantId: string | null,
    issuer: SignInIssuer | null,
  ): Promise<string> {
    const secondFactorAt = amr.includes('mfa') ? ts : null;
    const scopes = requestedScopes(details);
    const grant = {
      accountId,
      clientId: client.id,
      tenantId,
      scopes,
      signedInAt: ts,
      secondFactorAt,
      issuer: issuer?.issuer ?? null,
    };
    const opened = await this.grants.open(provider, grant, originOf(request));
    const browser = details.session && (await provider.Session.findByUid(details.session.uid));
    const replaced = browser?.grantIdFor(client.id);
    // Devices share a browser only to confirm their codes, and stay signed in.
    if (replaced && client.kind !== 'device') await this.records.endGrant(replaced);
    return opened;
  }
}

const markOf = (login: { acr?: string } | null | undefined): { acr?: string } =>
  login?.acr === undefined ? {} : { acr: login.acr };

function notAMember({ locale }: SignIn): pages.Page {
  const { t } = locale;
  return pages.page(locale, { heading: t('not_a_member'), lead: t('not_a_member_lead'), status: 403 });
}
