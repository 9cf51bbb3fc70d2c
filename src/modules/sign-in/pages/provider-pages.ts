import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import {
  chooseLanguage,
  form,
  type Page,
  page,
  type PageLocale,
  pagePolicy,
  pageTranslator,
} from './layout.js';
import { html } from '../../../platform/html/html-tag.js';
import { expiredPage, failurePage } from './sign-in-pages.js';

/** Pages that the OpenID provider renders during its own requests. */
export interface ProviderPages {
  error(ctx: KoaContextWithOIDC, out: ErrorOut): void;
  deviceCode(ctx: KoaContextWithOIDC, out?: ErrorOut, error?: Error): void;
  deviceConfirm(
    ctx: KoaContextWithOIDC,
    client: { clientName?: string | undefined; clientId: string },
    code: string,
  ): void;
  deviceDone(ctx: KoaContextWithOIDC): void;
  signOut(ctx: KoaContextWithOIDC): void;
  signedOut(ctx: KoaContextWithOIDC): void;
}

/** Errors after which the user can enter another code. */
const CODE_ERRORS = new Set(['NoCodeError', 'NotFoundError', 'ExpiredError', 'AlreadyUsedError']);

const localeOf = (ctx: KoaContextWithOIDC): PageLocale => {
  const language = chooseLanguage(ctx.oidc.params?.['ui_locales'], ctx.get('accept-language'));
  return { language, t: pageTranslator(language) };
};

/** The CSRF token in the browser session. */
const xsrf = (ctx: KoaContextWithOIDC): string => {
  const secret = ctx.oidc.session?.state?.['secret'];
  return typeof secret === 'string' ? secret : '';
};

export const providerPages: ProviderPages = {
  error(ctx, out) {
    const locale = localeOf(ctx);
    if (ctx.status >= 500) return send(ctx, failurePage(locale, ctx.status));
    if (out.error === 'invalid_request' && /session|expired/.test(out.error_description ?? ''))
      return send(ctx, expiredPage(locale));
    const detail = [out.error, out.error_description].filter(Boolean).join(': ');
    const content = html`<p class="hint">${locale.t('failed_detail', { detail })}</p>`;
    return send(
      ctx,
      page(locale, {
        heading: locale.t('failed'),
        lead: locale.t('failed_lead'),
        content,
        status: ctx.status,
      }),
    );
  },

  deviceCode(ctx, out, error) {
    const locale = localeOf(ctx);
    const { t } = locale;
    if (error?.name === 'AbortedError')
      return send(ctx, page(locale, { heading: t('device_stopped'), lead: t('device_stopped_lead') }));
    if (out !== undefined && ctx.status >= 500) return send(ctx, failurePage(locale, ctx.status));
    if (out !== undefined && !CODE_ERRORS.has(error?.name ?? '')) {
      const content = html`<p><a href="${ctx.oidc.urlFor('code_verification')}">${t('device')}</a></p>`;
      return send(
        ctx,
        page(locale, { heading: t('expired'), lead: t('device_again'), content, status: ctx.status }),
      );
    }
    const alert =
      out === undefined ? undefined : t(error?.name === 'NoCodeError' ? 'device_missing' : 'device_invalid');
    const content = html`<div class="field">
        <label for="user_code">${t('device_code')}</label>
        <input
          class="code"
          id="user_code"
          name="user_code"
          type="text"
          autocomplete="off"
          autocapitalize="characters"
          spellcheck="false"
          maxlength="20"
          required
          autofocus${alert !== undefined && html` aria-invalid="true" aria-describedby="alert"`}
        />
      </div>
      <button>${t('continue')}</button>`;
    return send(
      ctx,
      page(locale, {
        heading: t('device'),
        lead: t('device_lead'),
        alert,
        content: form(ctx.oidc.urlFor('code_verification'), { xsrf: xsrf(ctx) }, content),
        status: alert === undefined ? 200 : 422,
      }),
    );
  },

  deviceConfirm(ctx, client, code) {
    const locale = localeOf(ctx);
    const { t } = locale;
    const content = html`<span class="big">${code}</span>
      <button name="confirm" value="yes">${t('device_yes')}</button>
      <button class="second" name="abort" value="yes">${t('device_no')}</button>`;
    send(
      ctx,
      page(locale, {
        heading: t('device_confirm'),
        lead: t('device_confirm_lead', { client: client.clientName ?? client.clientId }),
        content: form(ctx.oidc.urlFor('code_verification'), { xsrf: xsrf(ctx), user_code: code }, content),
      }),
    );
  },

  deviceDone(ctx) {
    const locale = localeOf(ctx);
    send(ctx, page(locale, { heading: locale.t('device_done'), lead: locale.t('device_done_lead') }));
  },

  signOut(ctx) {
    const locale = localeOf(ctx);
    const { t } = locale;
    const content = html`<button name="logout" value="yes" autofocus>${t('sign_out_yes')}</button>`;
    send(
      ctx,
      page(locale, {
        heading: t('sign_out'),
        lead: t('sign_out_lead'),
        content: form(ctx.oidc.urlFor('end_session_confirm'), { xsrf: xsrf(ctx) }, content),
        formTarget: formTargetOf(ctx.oidc.session?.state?.['postLogoutRedirectUri']),
      }),
    );
  },

  signedOut(ctx) {
    const locale = localeOf(ctx);
    send(ctx, page(locale, { heading: locale.t('signed_out'), lead: locale.t('signed_out_lead') }));
  },
};

/** The origin of a URI, or the scheme of an application, for the policy of a page. */
export function formTargetOf(uri: unknown): string | null {
  const url = typeof uri === 'string' ? URL.parse(uri) : null;
  if (url === null) return null;
  return url.origin === 'null' ? url.protocol : url.origin;
}

function send(ctx: KoaContextWithOIDC, { status, body, formTarget, retryAfter }: Page): void {
  ctx.status = status;
  ctx.type = 'html';
  ctx.set('Content-Security-Policy', pagePolicy(formTarget));
  if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
  ctx.body = body;
}
