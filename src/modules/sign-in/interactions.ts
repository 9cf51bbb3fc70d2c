import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { asApiError } from '../../platform/http/server/exception.filter.js';
import { PasskeyProofs, PasswordSignIn, SecondFactors } from '../account-security/index.js';
import { SignInSessions } from '../identity/index.js';
import { OidcClientsApi } from './clients/oidc-clients.api.js';
import { IssuerSteps, SignInCompletion } from './sign-in-completion.js';
import { KnownBrowsers } from './interaction/known-browsers.js';
import { type EnrolmentStep, isEnrolling, SignInEnrolment } from './sign-in-enrolment.js';
import { parseField, SignInForms } from './interaction/sign-in-forms.js';
import { OidcProvider } from './oidc-provider.js';
import * as pages from './pages/index.js';
import { acrOf } from './protocol/issuer-mark.js';
import { frameOf, localeOf, originOf, type Pending, pendingOf, type SignIn } from './sign-in-state.js';
import { oidcLibrary } from './model/oidc-scopes.js';

/** Methods of the second factor on its page. */
const METHODS: readonly string[] = ['totp', 'recovery', 'passkey'] satisfies pages.FactorMethod[];

/** The pages of a sign-in: password or passkey, second factor, workspace and consent. Only passkeys need a script. */
@Injectable()
export class Interactions {
  constructor(
    private readonly oidc: OidcProvider,
    private readonly passwords: PasswordSignIn,
    private readonly factors: SecondFactors,
    private readonly passkeys: PasskeyProofs,
    private readonly sessions: SignInSessions,
    private readonly clients: OidcClientsApi,
    private readonly completion: SignInCompletion,
    private readonly issuers: IssuerSteps,
    private readonly forms: SignInForms,
    private readonly browsers: KnownBrowsers,
    private readonly enrolment: SignInEnrolment,
  ) {}

  /** @returns the page to show; null after a redirect */
  async handle(request: Request, response: Response, uid: string): Promise<pages.Page | null> {
    const acceptLanguage = request.headers['accept-language'];
    let locale = localeOf(undefined, acceptLanguage);
    try {
      const provider = await this.oidc.readCurrent();
      const details = await provider.interactionDetails(request, response);
      const { params } = details;
      locale = localeOf(params['ui_locales'], acceptLanguage);
      const client = await this.clients.find(String(params['client_id']));
      if (details.uid !== uid || client === null) return pages.expiredPage(locale);
      const csrf = this.forms.token(uid);
      const pending = await this.pendingIn(details);
      const signIn: SignIn = { request, response, provider, details, pending, locale, client, csrf };
      return request.method === 'POST' ? await this.submitted(signIn) : await this.currentPage(signIn);
    } catch (error) {
      const { errors } = await oidcLibrary();
      if (error instanceof errors.SessionNotFound) return pages.expiredPage(locale);
      const { kind } = asApiError(error);
      if (kind.status < 500) return pages.expiredPage(locale);
      if (kind.status === 503) return pages.failurePage(locale, 503);
      throw error;
    }
  }

  /** The steps so far. Null also after a change of the password: an intruder who knew the old one must not continue. */
  private async pendingIn(details: SignIn['details']): Promise<Pending | null> {
    const pending = pendingOf(details);
    if (!pending || pending.acr !== undefined) return pending;
    const account = await this.sessions.account(pending.accountId);
    return account?.passwordChangedAt?.getTime() === pending.passwordAt ? pending : null;
  }

  /** The page of the current step. */
  private async currentPage(signIn: SignIn): Promise<pages.Page | null> {
    const { query } = signIn.request;
    if (signIn.request.method !== 'POST' && typeof query['callback'] === 'string')
      return this.issuerReturned(signIn);
    if (signIn.details.prompt.name === 'consent') return this.completion.consentPage(signIn);
    const { pending } = signIn;
    if (pending) return this.factorPage(signIn, pending);
    const hint = signIn.details.params['login_hint'];
    return this.passwordPage(signIn, typeof hint === 'string' ? hint.slice(0, 320) : '');
  }

  private async submitted(signIn: SignIn): Promise<pages.Page | null> {
    const fields = await this.forms.fields(signIn.request, signIn.response);
    if (!this.forms.isSameSite(signIn.request, signIn.details.uid, fields))
      return pages.expiredPage(signIn.locale);
    const step = fields('step');
    if (step === 'restart' && signIn.details.prompt.name !== 'login') {
      await this.savePending(signIn, undefined);
      return this.currentPage(signIn);
    }
    if (step === 'cancel')
      return this.completion.finish(signIn, {
        error: 'access_denied',
        error_description: 'the user cancelled the sign-in',
      });
    if (signIn.details.prompt.name !== 'login')
      return step === 'consent'
        ? this.completion.consent(signIn, fields('workspace'))
        : this.currentPage(signIn);
    const { pending } = signIn;
    const enrolled =
      pending && isEnrolling(pending) && (await this.enrolment.handleSubmission(signIn, pending, fields));
    if (pending && enrolled) return this.enrolled(signIn, pending, enrolled);
    return this.loginStep(signIn, step, fields);
  }

  private async loginStep(
    signIn: SignIn,
    step: string,
    fields: (name: string) => string,
  ): Promise<pages.Page | null> {
    switch (step) {
      case 'password':
        return this.password(signIn, fields('email').trim(), fields('password'));
      case 'code':
        return this.code(signIn, fields);
      case 'credential':
        return this.passkey(signIn, fields('credential'));
      case 'issuer':
        return this.issuer(signIn, fields('email').trim());
      case 'restart':
        await this.savePending(signIn, undefined);
        return this.passwordPage(signIn, '');
      default:
        return METHODS.includes(step)
          ? this.otherMethod(signIn, step as pages.FactorMethod)
          : this.currentPage(signIn);
    }
  }

  private async password(signIn: SignIn, email: string, password: string): Promise<pages.Page | null> {
    const { t } = signIn.locale;
    if (email !== '' && password === '') {
      const offer = await this.issuers.offer(signIn, email);
      if (offer) return offer;
    }
    if (email === '' || password === '') return this.passwordPage(signIn, email, t('password_missing'));
    const ip = signIn.request.ip ?? null;
    const knownBrowser = this.browsers.idOf(signIn.request, email);
    const attempt = await this.passwords.verify({ email, password, ip, knownBrowser });
    if (attempt.outcome === 'limited') return pages.limitedPage(signIn.locale, attempt.wait);
    if (attempt.outcome === 'rejected') return this.passwordPage(signIn, email, t('invalid_password'));
    const enrolment = attempt.secondFactor ? null : await this.enrolment.begin(signIn, attempt.accountId);
    if (!attempt.secondFactor && !enrolment) return this.signedIn(signIn, attempt.accountId, ['pwd']);
    const pending: Pending = {
      accountId: attempt.accountId,
      email: attempt.email,
      at: Date.now(),
      amr: ['pwd'],
    };
    if (attempt.passwordChangedAt) pending.passwordAt = attempt.passwordChangedAt.getTime();
    if (enrolment) pending.enrolment = enrolment;
    await this.savePending(signIn, pending);
    return this.factorPage(signIn, pending);
  }

  private async enrolled(signIn: SignIn, pending: Pending, step: EnrolmentStep): Promise<pages.Page | null> {
    if ('amr' in step) return this.signedIn(signIn, pending.accountId, step.amr);
    if ('restart' in step) await this.savePending(signIn, undefined);
    else if (step.enrolment)
      await this.savePending(signIn, { ...pending, at: Date.now(), enrolment: step.enrolment });
    return step.page;
  }

  private async code(signIn: SignIn, fields: (name: string) => string): Promise<pages.Page | null> {
    const { pending } = signIn;
    if (!pending) return this.passwordPage(signIn, '');
    const recovery = fields('recovery_code') !== '';
    const method = recovery ? 'recovery' : 'totp';
    const code = fields(recovery ? 'recovery_code' : 'code').replaceAll(/\s/g, '');
    const { t } = signIn.locale;
    if (code === '') return this.factorPage(signIn, pending, method, t('code_missing'));
    const proof = recovery ? { recoveryCode: code } : { code };
    const { ip } = originOf(signIn.request);
    const result = await this.factors.verify(pending.accountId, proof, { ip });
    switch (result.outcome) {
      case 'proven':
        return this.factorProven(signIn, pending, recovery ? 'mca' : 'otp');
      case 'invalid':
        if (result.locked) await this.savePending(signIn, undefined);
        return this.factorPage(signIn, pending, method, t('invalid_code'));
      case 'locked':
        await this.savePending(signIn, undefined);
        return pages.limitedPage(signIn.locale, result.wait);
      case 'not_enabled':
        // Disabled since the password was verified: restart.
        await this.savePending(signIn, undefined);
        return this.passwordPage(signIn, pending.email);
    }
  }

  /** Verifies a passkey: the second factor after a password, else the only factor. */
  private async passkey(signIn: SignIn, response: string): Promise<pages.Page | null> {
    const { pending } = signIn;
    const alert = signIn.locale.t(response === '' ? 'passkey_missing' : 'passkey_invalid');
    const proof = {
      subject: signIn.details.uid,
      credential: parseField(response),
      accountId: pending?.accountId ?? null,
    };
    const { ip } = originOf(signIn.request);
    const proven = response === '' ? null : await this.passkeys.verify(proof, { ip });
    if (proven) {
      return pending
        ? this.factorProven(signIn, pending, 'pop')
        : this.signedIn(signIn, proven.accountId, ['pop', 'user', 'mfa']);
    }
    return pending
      ? this.factorPage(signIn, pending, 'passkey', alert)
      : this.passwordPage(signIn, '', alert);
  }

  private async otherMethod(signIn: SignIn, method: pages.FactorMethod): Promise<pages.Page> {
    const { pending } = signIn;
    return pending ? this.factorPage(signIn, pending, method) : this.passwordPage(signIn, '');
  }

  private async passwordPage(signIn: SignIn, email: string, alert?: string): Promise<pages.Page> {
    const passkey = await this.passkeys.signInOptions(signIn.details.uid);
    const hasIssuers = await this.issuers.isOffered();
    return pages.passwordPage(frameOf(signIn, alert), { email, passkey, hasIssuers });
  }

  /**
   * The page after the password: the second factor, or its enrolment.
   * @param wanted method; default: a passkey, or else the authenticator
   */
  private async factorPage(
    signIn: SignIn,
    pending: Pending,
    wanted?: pages.FactorMethod,
    alert?: string,
  ): Promise<pages.Page> {
    const { accountId, email } = pending;
    if (isEnrolling(pending))
      return (await this.enrolment.page(signIn, pending, alert)) ?? this.passwordPage(signIn, email);
    const methods = await this.factors.methods(accountId);
    const usual = methods.passkey ? 'passkey' : 'totp';
    const method = wanted ?? usual;
    const options =
      method === 'passkey' ? await this.passkeys.secondFactorOptions(signIn.details.uid, accountId) : null;
    const shown = method === 'passkey' && options === null ? 'totp' : method;
    return pages.factorPage(frameOf(signIn, alert), { email, method: shown, methods, options });
  }

  /** The page of the issuer for the domain of an address. The result depends on the domain only, not on accounts. */
  private async issuer(signIn: SignIn, email: string): Promise<pages.Page> {
    const { t } = signIn.locale;
    if (email === '') return this.passwordPage(signIn, email, t('issuer_email_missing'));
    const offer = await this.issuers.offer(signIn, email);
    return offer ?? this.passwordPage(signIn, email, t('issuer_unknown'));
  }

  /** After the issuer's part, an account with a second factor proves it here, unless the issuer reports several factors. */
  private async issuerReturned(signIn: SignIn): Promise<pages.Page | null> {
    const { originalUrl } = signIn.request;
    const query = new URLSearchParams(originalUrl.slice(originalUrl.indexOf('?')));
    const result = await this.issuers.handleReturn(signIn, query);
    if ('body' in result) return result;
    const { accountId, issuer, amr } = result;
    const acr = acrOf({ tenantId: issuer.tenant_id, id: issuer.id });
    const account = await this.sessions.account(accountId);
    if (!account?.secondFactor || amr.includes('mfa')) return this.signedIn(signIn, accountId, amr, acr);
    const pending = { accountId, email: account.email, at: Date.now(), amr, acr };
    await this.savePending(signIn, pending);
    return this.factorPage(signIn, pending);
  }

  private async factorProven(signIn: SignIn, { accountId, amr, acr }: Pending, method: string) {
    return this.signedIn(signIn, accountId, [...new Set([...amr, method, 'mfa'])], acr);
  }

  /** @param acr mark of the issuer that signed in the user */
  private async signedIn(
    signIn: SignIn,
    accountId: string,
    amr: string[],
    acr?: string,
  ): Promise<pages.Page | null> {
    const account = await this.sessions.account(accountId);
    if (!account) return this.completion.finish(signIn, { error: 'access_denied' });
    await this.browsers.record(signIn, account);
    return this.completion.complete(signIn, {
      accountId,
      ts: account.now,
      amr,
      ...(acr !== undefined && { acr }),
    });
  }

  /** Stores the steps so far on the server; undefined clears them. */
  private async savePending(
    { provider, request, response }: SignIn,
    pending: Pending | undefined,
  ): Promise<void> {
    await provider.interactionResult(request, response, { pending }, { mergeWithLastSubmission: true });
  }
}
