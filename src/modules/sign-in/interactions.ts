import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { errors, type Interaction, type InteractionResults, type Provider } from 'oidc-provider';
import { Db } from '../../platform/database/db.js';
import { isUuid } from '../../platform/http/id.pipe.js';
import { browserName } from '../../platform/http/user-agent.js';
import { asApiError } from '../../platform/http/server/exception.filter.js';
import { PasswordSignIn, SecondFactors, SecurityLog } from '../account-security/index.js';
import { type SignInAccount, SignInSessions } from '../identity/index.js';
import { TenantsApi } from '../tenants/index.js';
import { OidcClientsApi } from './clients/oidc-clients.api.js';
import type { ClientRow } from './clients/oidc-clients.repository.js';
import { KnownBrowsers } from './known-browsers.js';
import { OIDC_PATH, SIGN_IN_COOKIE } from './oidc-configuration.js';
import { OidcProvider } from './oidc-provider.js';
import { API_SCOPE, isOidcScope } from './oidc-scopes.js';
import * as pages from './pages/index.js';
import { OidcRecords } from './records/oidc-records.js';
import { SignInForms } from './sign-in-forms.js';
import { type Origin, SignInGrants } from './sign-in-grants.js';

/** A sign-in with a verified password that awaits the second factor. */
interface Pending {
  accountId: string;
  email: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** The state of a browser sign-in during one request. */
interface SignIn {
  request: Request & { id?: string };
  response: Response;
  provider: Provider;
  details: Interaction;
  locale: pages.PageLocale;
  client: ClientRow;
}

/** Time between password and second factor. */
const PENDING_MS = 10 * 60_000;

/** The pages of a sign-in: password, second factor, workspace and consent. Plain forms, no script. */
@Injectable()
export class Interactions {
  constructor(
    private readonly oidc: OidcProvider,
    private readonly passwords: PasswordSignIn,
    private readonly factors: SecondFactors,
    private readonly sessions: SignInSessions,
    private readonly tenants: TenantsApi,
    private readonly clients: OidcClientsApi,
    private readonly grants: SignInGrants,
    private readonly records: OidcRecords,
    private readonly forms: SignInForms,
    private readonly browsers: KnownBrowsers,
    private readonly log: SecurityLog,
    private readonly db: Db,
  ) {}

  /** @returns the page to show; null after a redirect */
  async handle(request: Request, response: Response, uid: string): Promise<pages.Page | null> {
    const acceptLanguage = request.headers['accept-language'];
    let locale = localeOf(undefined, acceptLanguage);
    try {
      const provider = await this.oidc.current();
      const details = await provider.interactionDetails(request, response);
      const { params } = details;
      locale = localeOf(params['ui_locales'], acceptLanguage);
      const client = await this.clients.find(String(params['client_id']));
      if (details.uid !== uid || client === null) return pages.expiredPage(locale);
      const signIn: SignIn = { request, response, provider, details, locale, client };
      return request.method === 'POST' ? await this.submitted(signIn) : await this.currentPage(signIn);
    } catch (error) {
      if (error instanceof errors.SessionNotFound) return pages.expiredPage(locale);
      const { kind } = asApiError(error);
      if (kind.status < 500) return pages.expiredPage(locale);
      if (kind.status === 503) return pages.failurePage(locale, 503);
      throw error;
    }
  }

  /** The page of the current step. */
  private async currentPage(signIn: SignIn): Promise<pages.Page> {
    if (signIn.details.prompt.name === 'consent') return this.consentPage(signIn);
    const pending = pendingOf(signIn.details);
    if (pending) return pages.codePage(this.frame(signIn), pending.email, 'totp');
    const hint = signIn.details.params['login_hint'];
    return pages.passwordPage(this.frame(signIn), typeof hint === 'string' ? hint.slice(0, 320) : '');
  }

  private async submitted(signIn: SignIn): Promise<pages.Page | null> {
    const fields = await this.forms.fields(signIn.request, signIn.response);
    if (!this.forms.isSameSite(signIn.request, signIn.details.uid, fields))
      return pages.expiredPage(signIn.locale);
    const login = signIn.details.prompt.name === 'login';
    switch (fields('step')) {
      case 'cancel':
        return this.finish(signIn, {
          error: 'access_denied',
          error_description: 'the user cancelled the sign-in',
        });
      case 'password':
        return login
          ? this.password(signIn, fields('email').trim(), fields('password'))
          : this.currentPage(signIn);
      case 'code':
        return login ? this.code(signIn, fields) : this.currentPage(signIn);
      case 'totp':
      case 'recovery':
        return this.otherMethod(signIn, fields('step') as 'totp' | 'recovery');
      case 'restart':
        await this.savePending(signIn, undefined);
        return pages.passwordPage(this.frame(signIn), '');
      case 'consent':
        return login ? this.currentPage(signIn) : this.consent(signIn, fields('workspace'));
      default:
        return this.currentPage(signIn);
    }
  }

  private async password(signIn: SignIn, email: string, password: string): Promise<pages.Page | null> {
    const { t } = signIn.locale;
    if (email === '' || password === '')
      return pages.passwordPage(this.frame(signIn, t('password_missing')), email);
    const ip = signIn.request.ip ?? null;
    const knownBrowser = this.browsers.idOf(signIn.request, email);
    const attempt = await this.passwords.verify({ email, password, ip, knownBrowser });
    if (attempt.outcome === 'limited') return pages.limitedPage(signIn.locale, attempt.wait);
    if (attempt.outcome === 'rejected')
      return pages.passwordPage(this.frame(signIn, t('invalid_password')), email);
    if (!attempt.secondFactor) return this.signedIn(signIn, attempt.accountId, ['pwd']);
    const { accountId, email: address } = attempt;
    await this.savePending(signIn, { accountId, email: address, at: Date.now() });
    return pages.codePage(this.frame(signIn), address, 'totp');
  }

  private async code(signIn: SignIn, fields: (name: string) => string): Promise<pages.Page | null> {
    const pending = pendingOf(signIn.details);
    if (!pending) return pages.passwordPage(this.frame(signIn), '');
    const recovery = fields('recovery_code') !== '';
    const method = recovery ? 'recovery' : 'totp';
    const code = fields(recovery ? 'recovery_code' : 'code').replaceAll(/\s/g, '');
    const { t } = signIn.locale;
    if (code === '') return pages.codePage(this.frame(signIn, t('code_missing')), pending.email, method);
    const proof = recovery ? { recoveryCode: code } : { code };
    const { ip } = originOf(signIn.request);
    const result = await this.factors.verify(pending.accountId, proof, { ip });
    switch (result.outcome) {
      case 'proven':
        return this.signedIn(signIn, pending.accountId, ['pwd', recovery ? 'mca' : 'otp', 'mfa']);
      case 'invalid':
        if (result.locked) await this.savePending(signIn, undefined);
        return pages.codePage(this.frame(signIn, t('invalid_code')), pending.email, method);
      case 'locked':
        await this.savePending(signIn, undefined);
        return pages.limitedPage(signIn.locale, result.wait);
      case 'not_enabled':
        // Disabled since the password was verified: restart.
        await this.savePending(signIn, undefined);
        return pages.passwordPage(this.frame(signIn), pending.email);
    }
  }

  private otherMethod(signIn: SignIn, method: 'totp' | 'recovery'): pages.Page {
    const pending = pendingOf(signIn.details);
    return pending
      ? pages.codePage(this.frame(signIn), pending.email, method)
      : pages.passwordPage(this.frame(signIn), '');
  }

  /** Opens the grant at once when no consent or choice of workspace is needed. */
  private async signedIn(signIn: SignIn, accountId: string, amr: string[]): Promise<null> {
    const account = await this.sessions.account(accountId);
    if (!account) return this.finish(signIn, { error: 'access_denied' });
    await this.noteBrowser(signIn, account);
    const login = { accountId, ts: account.now, amr };
    const workspaces = await this.workspacesOf(signIn, accountId);
    if (!signIn.client.firstParty || workspaces.length > 1) return this.finish(signIn, { login });
    const grantId = await this.open(signIn, { accountId, ts: account.now, amr }, workspaces[0]?.id ?? null);
    return this.finish(signIn, { login, consent: { grantId } });
  }

  /** Reports a sign-in from an unknown browser to the owner, and makes the browser known. */
  private async noteBrowser({ request, response }: SignIn, { id, email }: SignInAccount): Promise<void> {
    if (this.browsers.idOf(request, email) !== null) return;
    const { ip, userAgent, requestId } = originOf(request);
    const actor = { tenantId: null, userId: id, ip, ...(requestId !== null && { requestId }) };
    await this.db.tx((tx) =>
      this.log.record(tx, actor, 'security.new_browser', { ...browserName(userAgent) }),
    );
    this.browsers.remember(response, email);
  }

  private async consentPage(signIn: SignIn, alert?: string): Promise<pages.Page> {
    const accountId = signIn.details.session?.accountId;
    const account = accountId === undefined ? null : await this.sessions.account(accountId);
    if (!account) return pages.expiredPage(signIn.locale);
    const workspaces = await this.workspacesOf(signIn, account.id);
    if (workspaces.length === 0 && signIn.client.ownerTenantId !== null) return this.notAMember(signIn);
    const host = pages.formTargetOf(signIn.details.params['redirect_uri']);
    return pages.consentPage(this.frame(signIn, alert), {
      workspaces: workspaces.length > 1 || signIn.client.firstParty ? workspaces : null,
      scopes: signIn.client.firstParty ? null : requestedScopes(signIn.details),
      host: host?.replace(/^https?:\/\//, '') ?? null,
      name: account.displayName,
      email: account.email,
    });
  }

  /** Workspaces that the account may choose. The client of a workspace is for this workspace only. */
  private async workspacesOf({ client }: SignIn, accountId: string) {
    const workspaces = await this.tenants.workspacesOf(accountId);
    return client.ownerTenantId === null
      ? workspaces
      : workspaces.filter(({ id }) => id === client.ownerTenantId);
  }

  private notAMember({ locale }: SignIn): pages.Page {
    const { t } = locale;
    return pages.page(locale, { heading: t('not_a_member'), lead: t('not_a_member_lead'), status: 403 });
  }

  private async consent(signIn: SignIn, workspace: string): Promise<pages.Page | null> {
    const { session, lastSubmission } = signIn.details;
    const accountId = session?.accountId;
    if (accountId === undefined) return pages.expiredPage(signIn.locale);
    const workspaces = await this.workspacesOf(signIn, accountId);
    if (workspaces.length === 0 && signIn.client.ownerTenantId !== null) return this.notAMember(signIn);
    const chosen =
      workspaces.length === 1 && workspace === ''
        ? workspaces[0]
        : workspaces.find(({ id }) => id === workspace);
    if (!chosen && workspaces.length > 0) return this.consentPage(signIn, signIn.locale.t('choose_missing'));
    const login = lastSubmission?.login;
    const browser = await signIn.provider.Session.findByUid(session!.uid);
    const proof = {
      accountId,
      ts: login?.ts ?? browser?.loginTs ?? 0,
      amr: login?.amr ?? browser?.amr ?? [],
    };
    const opened = await this.open(signIn, proof, chosen?.id ?? null);
    return this.finish(signIn, { ...(login && { login }), consent: { grantId: opened } });
  }

  /** Opens a grant and ends the one that it replaces: a browser has one per client, and a second would survive the sign-out. */
  private async open(
    { provider, client, details, request }: SignIn,
    { accountId, ts, amr }: { accountId: string; ts: number; amr: string[] },
    tenantId: string | null,
  ): Promise<string> {
    const secondFactorAt = amr.includes('mfa') ? ts : null;
    const scopes = requestedScopes(details);
    const grant = { accountId, clientId: client.id, tenantId, scopes, secondFactorAt };
    const opened = await this.grants.open(provider, grant, originOf(request));
    const browser = details.session && (await provider.Session.findByUid(details.session.uid));
    const replaced = browser?.grantIdFor(client.id);
    // Devices share a browser only to confirm their codes, and stay signed in.
    if (replaced && client.kind !== 'device') await this.records.endGrant(replaced);
    return opened;
  }

  private async finish(
    { provider, details, request, response }: SignIn,
    result: InteractionResults,
  ): Promise<null> {
    // The provider does not clear its cookies, and browsers store a limited number.
    const cookie = {
      path: `${OIDC_PATH}/interaction/${details.uid}`,
      httpOnly: true,
      sameSite: 'lax',
    } as const;
    for (const name of [SIGN_IN_COOKIE, `${SIGN_IN_COOKIE}.sig`]) response.clearCookie(name, cookie);
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    return null;
  }

  /** Stores the account with the verified password on the server; undefined clears it. */
  private async savePending(
    { provider, request, response }: SignIn,
    pending: Pending | undefined,
  ): Promise<void> {
    await provider.interactionResult(request, response, { pending }, { mergeWithLastSubmission: true });
  }

  private frame(signIn: SignIn, alert?: string): pages.SignInPage {
    return {
      ...signIn.locale,
      action: `${OIDC_PATH}/interaction/${signIn.details.uid}`,
      csrf: this.forms.token(signIn.details.uid),
      clientName: signIn.client.name,
      formTarget: pages.formTargetOf(signIn.details.params['redirect_uri']),
      alert,
    };
  }
}

function localeOf(uiLocales: unknown, acceptLanguage: string | undefined): pages.PageLocale {
  const language = pages.chooseLanguage(uiLocales, acceptLanguage);
  return { language, t: pages.pageTranslator(language) };
}

function pendingOf({ result }: Interaction): Pending | null {
  const pending = result?.['pending'] as Pending | undefined;
  return pending && isUuid(pending.accountId) && Date.now() - pending.at < PENDING_MS ? pending : null;
}

/** The supported scopes that the client requests. */
function requestedScopes({ params }: Interaction): string[] {
  const scopes = typeof params['scope'] === 'string' ? params['scope'].split(' ') : [];
  return [...new Set(scopes)].filter((scope) => scope === API_SCOPE || isOidcScope(scope));
}

const originOf = (request: Request & { id?: string }): Origin => ({
  ip: request.ip ?? null,
  userAgent: request.headers['user-agent'] ?? null,
  requestId: request.id ?? null,
});
