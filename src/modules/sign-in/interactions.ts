import { Injectable } from '@nestjs/common';
import express, { type Request, type Response } from 'express';
import { errors, type Interaction, type InteractionResults, type Provider } from 'oidc-provider';
import { asApiError } from '../../platform/http/exception.filter.js';
import { isUuid } from '../../platform/http/id.pipe.js';
import { Keyring } from '../../platform/secrets/keyring.js';
import { PasswordSignIn, SecondFactors } from '../account-security/index.js';
import { SignInSessions } from '../identity/index.js';
import { TenantsApi } from '../tenants/index.js';
import { OidcClientsApi } from './oidc-clients.api.js';
import { OIDC_PATH, SIGN_IN_COOKIE } from './oidc-configuration.js';
import { OidcProvider } from './oidc-provider.js';
import { OidcRecords } from './oidc-records.js';
import { API_SCOPE, isOidcScope } from './oidc-scopes.js';
import * as pages from './pages/index.js';
import { type Origin, SignInGrants } from './sign-in-grants.js';

/** Somebody whose password was right and who has yet to prove the second factor. */
interface Pending {
  accountId: string;
  email: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** A sign-in in a browser, at the moment of one request. */
interface SignIn {
  request: Request & { id?: string };
  response: Response;
  provider: Provider;
  details: Interaction;
  speaking: pages.Speaking;
  client: { id: string; name: string; firstParty: boolean };
}

/** How long a right password waits for its second factor. */
const PENDING_MS = 10 * 60_000;
const BODY = { limit: '16kb', parameterLimit: 20, extended: false };

/** The pages of a sign-in: who are you, prove it, in which workspace, may this client. Plain forms, no script. */
@Injectable()
export class Interactions {
  private readonly parse = express.urlencoded(BODY);

  constructor(
    private readonly oidc: OidcProvider,
    private readonly passwords: PasswordSignIn,
    private readonly factors: SecondFactors,
    private readonly sessions: SignInSessions,
    private readonly tenants: TenantsApi,
    private readonly clients: OidcClientsApi,
    private readonly grants: SignInGrants,
    private readonly records: OidcRecords,
    private readonly keyring: Keyring,
  ) {}

  /** @returns the page to show; null when the browser has been sent on */
  async handle(request: Request, response: Response, uid: string): Promise<pages.Page | null> {
    const accepted = request.headers['accept-language'];
    let speaking = speakingOf(undefined, accepted);
    try {
      const provider = await this.oidc.current();
      const details = await provider.interactionDetails(request, response);
      const { params } = details;
      speaking = speakingOf(params['ui_locales'], accepted);
      const client = await this.clients.find(String(params['client_id']));
      if (details.uid !== uid || client === null) return pages.expiredPage(speaking);
      const at: SignIn = { request, response, provider, details, speaking, client };
      return request.method === 'POST' ? await this.submitted(at) : await this.asked(at);
    } catch (error) {
      if (error instanceof errors.SessionNotFound) return pages.expiredPage(speaking);
      const { kind } = asApiError(error);
      if (kind.status < 500) return pages.expiredPage(speaking);
      if (kind.status === 503) return pages.troublePage(speaking, 503);
      throw error;
    }
  }

  /** The page that the sign-in has come to. */
  private async asked(at: SignIn): Promise<pages.Page> {
    if (at.details.prompt.name === 'consent') return this.consentPage(at);
    const pending = pendingOf(at.details);
    if (pending) return pages.codePage(this.frame(at), pending.email, 'totp');
    const hint = at.details.params['login_hint'];
    return pages.passwordPage(this.frame(at), typeof hint === 'string' ? hint.slice(0, 320) : '');
  }

  private async submitted(at: SignIn): Promise<pages.Page | null> {
    const fields = await this.fields(at);
    if (!this.isOurs(at, fields)) return pages.expiredPage(at.speaking);
    const login = at.details.prompt.name === 'login';
    switch (fields('step')) {
      case 'cancel':
        return this.finish(at, { error: 'access_denied', error_description: 'the person did not sign in' });
      case 'password':
        return login ? this.password(at, fields('email').trim(), fields('password')) : this.asked(at);
      case 'code':
        return login ? this.code(at, fields) : this.asked(at);
      case 'totp':
      case 'recovery':
        return this.otherMethod(at, fields('step') as 'totp' | 'recovery');
      case 'restart':
        await this.remember(at, undefined);
        return pages.passwordPage(this.frame(at), '');
      case 'consent':
        return login ? this.asked(at) : this.consent(at, fields('workspace'));
      default:
        return this.asked(at);
    }
  }

  private async password(at: SignIn, email: string, password: string): Promise<pages.Page | null> {
    const { t } = at.speaking;
    if (email === '' || password === '')
      return pages.passwordPage(this.frame(at, t('password_missing')), email);
    const ip = at.request.ip ?? null;
    const attempt = await this.passwords.verify({ email, password, ip });
    if (attempt.outcome === 'limited') return pages.limitedPage(at.speaking, attempt.wait);
    if (attempt.outcome === 'refused') return pages.passwordPage(this.frame(at, t('wrong_password')), email);
    if (!attempt.secondFactor) return this.signedIn(at, attempt.accountId, ['pwd']);
    const { accountId, email: address } = attempt;
    await this.remember(at, { accountId, email: address, at: Date.now() });
    return pages.codePage(this.frame(at), address, 'totp');
  }

  private async code(at: SignIn, fields: (name: string) => string): Promise<pages.Page | null> {
    const pending = pendingOf(at.details);
    if (!pending) return pages.passwordPage(this.frame(at), '');
    const recovery = fields('recovery_code') !== '';
    const method = recovery ? 'recovery' : 'totp';
    const code = fields(recovery ? 'recovery_code' : 'code').replaceAll(/\s/g, '');
    const { t } = at.speaking;
    if (code === '') return pages.codePage(this.frame(at, t('code_missing')), pending.email, method);
    const proof = recovery ? { recoveryCode: code } : { code };
    const result = await this.factors.verify(pending.accountId, proof);
    switch (result.outcome) {
      case 'proven':
        return this.signedIn(at, pending.accountId, ['pwd', recovery ? 'mca' : 'otp', 'mfa']);
      case 'wrong':
        if (result.locked) await this.remember(at, undefined);
        return pages.codePage(this.frame(at, t('wrong_code')), pending.email, method);
      case 'locked':
        await this.remember(at, undefined);
        return pages.limitedPage(at.speaking, result.wait);
      case 'off':
        // Switched off since the password was taken: to begin again is the safe answer.
        await this.remember(at, undefined);
        return pages.passwordPage(this.frame(at), pending.email);
    }
  }

  private otherMethod(at: SignIn, method: 'totp' | 'recovery'): pages.Page {
    const pending = pendingOf(at.details);
    return pending
      ? pages.codePage(this.frame(at), pending.email, method)
      : pages.passwordPage(this.frame(at), '');
  }

  /** Where there is nothing left to ask, the client gets its grant in the same step. */
  private async signedIn(at: SignIn, accountId: string, amr: string[]): Promise<null> {
    const account = await this.sessions.account(accountId);
    if (!account) return this.finish(at, { error: 'access_denied' });
    const login = { accountId, ts: account.now, amr };
    const workspaces = await this.tenants.workspacesOf(accountId);
    if (!at.client.firstParty || workspaces.length > 1) return this.finish(at, { login });
    const grantId = await this.open(at, { accountId, ts: account.now, amr }, workspaces[0]?.id ?? null);
    return this.finish(at, { login, consent: { grantId } });
  }

  private async consentPage(at: SignIn, alert?: string): Promise<pages.Page> {
    const accountId = at.details.session?.accountId;
    const account = accountId === undefined ? null : await this.sessions.account(accountId);
    if (!account) return pages.expiredPage(at.speaking);
    const workspaces = await this.tenants.workspacesOf(account.id);
    const host = pages.formTargetOf(at.details.params['redirect_uri']);
    return pages.consentPage(this.frame(at, alert), {
      workspaces: workspaces.length > 1 || at.client.firstParty ? workspaces : null,
      scopes: at.client.firstParty ? null : requestedScopes(at.details),
      host: host?.replace(/^https?:\/\//, '') ?? null,
      email: account.email,
    });
  }

  private async consent(at: SignIn, workspace: string): Promise<pages.Page | null> {
    const { session, lastSubmission, grantId } = at.details;
    const accountId = session?.accountId;
    if (accountId === undefined) return pages.expiredPage(at.speaking);
    const workspaces = await this.tenants.workspacesOf(accountId);
    const chosen =
      workspaces.length === 1 && workspace === ''
        ? workspaces[0]
        : workspaces.find(({ id }) => id === workspace);
    if (!chosen && workspaces.length > 0) return this.consentPage(at, at.speaking.t('choose_missing'));
    const login = lastSubmission?.login;
    const browser = await at.provider.Session.findByUid(session!.uid);
    const proof = {
      accountId,
      ts: login?.ts ?? browser?.loginTs ?? 0,
      amr: login?.amr ?? browser?.amr ?? [],
    };
    const opened = await this.open(at, proof, chosen?.id ?? null);
    // A browser has one sign-in with a client: the one this replaces would never be signed out.
    if (grantId) await this.records.endGrant(grantId);
    return this.finish(at, { ...(login && { login }), consent: { grantId: opened } });
  }

  private async open(
    { provider, client, details, request }: SignIn,
    { accountId, ts, amr }: { accountId: string; ts: number; amr: string[] },
    tenantId: string | null,
  ): Promise<string> {
    const secondFactorAt = amr.includes('mfa') ? ts : null;
    const scopes = requestedScopes(details);
    const grant = { accountId, clientId: client.id, tenantId, scopes, secondFactorAt };
    return this.grants.open(provider, grant, originOf(request));
  }

  private async finish(
    { provider, details, request, response }: SignIn,
    result: InteractionResults,
  ): Promise<null> {
    // The provider leaves its cookie to time; browsers keep a limited number of them.
    const gone = {
      path: `${OIDC_PATH}/interaction/${details.uid}`,
      httpOnly: true,
      sameSite: 'lax',
    } as const;
    for (const name of [SIGN_IN_COOKIE, `${SIGN_IN_COOKIE}.sig`]) response.clearCookie(name, gone);
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    return null;
  }

  /** Keeps, on our side, whose password was right; undefined: nobody's. */
  private async remember(
    { provider, request, response }: SignIn,
    pending: Pending | undefined,
  ): Promise<void> {
    await provider.interactionResult(request, response, { pending }, { mergeWithLastSubmission: true });
  }

  private frame(at: SignIn, alert?: string): pages.SignInPage {
    return {
      ...at.speaking,
      action: `${OIDC_PATH}/interaction/${at.details.uid}`,
      csrf: this.csrf(at.details.uid),
      clientName: at.client.name,
      formTarget: pages.formTargetOf(at.details.params['redirect_uri']),
      alert,
    };
  }

  private csrf(uid: string): string {
    return this.keyring.sign('sign-in form', uid, 16).toString('base64url');
  }

  /** The form must be one of ours: it brings our token, and no browser says that another site has sent it. */
  private isOurs({ request, details }: SignIn, fields: (name: string) => string): boolean {
    const site = request.headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
    const token = Buffer.from(fields('csrf').slice(0, 100), 'base64url');
    return token.length === 16 && this.keyring.verify('sign-in form', details.uid, token);
  }

  /** The fields of the form; what is missing or was sent twice is empty. */
  private async fields({ request, response }: SignIn): Promise<(name: string) => string> {
    await new Promise<void>((resolve, reject) => {
      this.parse(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
    });
    const body = Object(request.body) as Record<string, unknown>;
    return (name) => {
      const value = Object.hasOwn(body, name) ? body[name] : undefined;
      return typeof value === 'string' ? value : '';
    };
  }
}

function speakingOf(uiLocales: unknown, accepted: string | undefined): pages.Speaking {
  const language = pages.chooseLanguage(uiLocales, accepted);
  return { language, t: pages.translator(language) };
}

function pendingOf({ result }: Interaction): Pending | null {
  const pending = result?.['pending'] as Pending | undefined;
  return pending && isUuid(pending.accountId) && Date.now() - pending.at < PENDING_MS ? pending : null;
}

/** Of what the client asks for, what there is. */
function requestedScopes({ params }: Interaction): string[] {
  const scopes = typeof params['scope'] === 'string' ? params['scope'].split(' ') : [];
  return [...new Set(scopes)].filter((scope) => scope === API_SCOPE || isOidcScope(scope));
}

const originOf = (request: Request & { id?: string }): Origin => ({
  ip: request.ip ?? null,
  userAgent: request.headers['user-agent'] ?? null,
  requestId: request.id ?? null,
});
