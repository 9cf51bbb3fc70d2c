import { type Html, html } from '../../../platform/html/html-tag.js';
import { form, type Page, page, type PageLocale } from './layout.js';
import { passkeyButton } from './passkey-script.js';

/** Common properties of the sign-in pages. */
export interface SignInPage extends PageLocale {
  /** Action of the form. */
  action: string;
  csrf: string;
  clientName: string;
  formTarget: string | null;
  alert?: string | undefined;
  status?: number;
}

/** Follows the other buttons: the Enter key presses the first button of a form. */
export const cancelButton = ({ t }: PageLocale, text = t('cancel')): Html =>
  html`<button class="second" name="step" value="cancel" formnovalidate>${text}</button>`;

export const commonParts = ({ formTarget, alert, status }: SignInPage) => ({
  formTarget,
  alert,
  status: status ?? (alert === undefined ? 200 : 422),
});

const invalid = (alert: string | undefined): Html | false =>
  alert !== undefined && html` aria-invalid="true" aria-describedby="alert"`;

interface PasswordDetails {
  email: string;
  /** Options of a sign-in by passkey; null without passkeys. */
  passkey: object | null;
  /** Whether a workspace has an issuer of its own. */
  hasIssuers: boolean;
}

/** E-mail address and password, a passkey, or the issuer of the workspace. */
export function passwordPage(signIn: SignInPage, { email, passkey, hasIssuers }: PasswordDetails): Page {
  const { t, alert } = signIn;
  const focusEmail = email === '';
  const content = html`<div class="field">
      <label for="email">${t('email')}</label>
      <input
        id="email"
        name="email"
        type="email"
        value="${email}"
        autocomplete="username"
        inputmode="email"
        autocapitalize="none"
        spellcheck="false"
        maxlength="320"
        required${focusEmail && html` autofocus`}${invalid(alert)}
      />
    </div>
    <div class="field">
      <label for="password">${t('password')}</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="current-password"
        maxlength="1000"
        required${!focusEmail && html` autofocus`}${invalid(alert)}
      />
    </div>
    <button name="step" value="password">${t('sign_in')}</button>
    ${
      passkey !== null &&
      passkeyButton({
        ceremony: 'get',
        options: passkey,
        label: t('passkey_sign_in'),
        error: t('passkey_missing'),
        step: 'credential',
        isSecond: true,
      })
    }
    ${
      hasIssuers &&
      html`<button class="second" name="step" value="issuer" formnovalidate>${t('issuer_sign_in')}</button>`
    }
    <p class="below"><a href="/apis/v1/account/password">${t('forgot_password')}</a></p>
    ${cancelButton(signIn)}`;
  return page(signIn, {
    heading: t('sign_in'),
    lead: t('to_continue', { client: signIn.clientName }),
    content: form(signIn.action, { csrf: signIn.csrf }, content),
    needsScript: passkey !== null,
    ...commonParts(signIn),
  });
}

/** Methods that prove the second factor. */
export type FactorMethod = 'totp' | 'recovery' | 'passkey';

interface FactorDetails {
  email: string;
  method: FactorMethod;
  /** The methods of the account. */
  methods: Record<FactorMethod, boolean>;
  /** Options for the method `passkey`; else null. */
  options: object | null;
}

/** The second factor: a passkey, an authenticator code or a recovery code. */
export function factorPage(signIn: SignInPage, { email, method, methods, options }: FactorDetails): Page {
  const { t } = signIn;
  const others = (['passkey', 'totp', 'recovery'] as const).filter(
    (other) => other !== method && (methods[other] || other === 'recovery'),
  );
  const content = html`${
      options === null
        ? html`<div class="field">${codeField(signIn, method)}</div>
            <button name="step" value="code">${t('verify')}</button>`
        : passkeyButton({
            ceremony: 'get',
            options,
            label: t('passkey_button'),
            error: t('passkey_missing'),
            step: 'credential',
          })
    }
    ${others.map(
      (other) =>
        html`<button class="plain" name="step" value="${other}" formnovalidate>
          ${t(`use_${other}`)}
        </button> `,
    )} <button class="plain" name="step" value="restart" formnovalidate>${t('other_account')}</button>`;
  return page(signIn, {
    heading: options === null ? t('second_factor') : t('passkey_heading'),
    lead: t('second_factor_lead', { email }),
    content: form(signIn.action, { csrf: signIn.csrf }, content),
    needsScript: options !== null,
    ...commonParts(signIn),
  });
}

/** The field for an authenticator code or a recovery code. */
export function codeField({ t, alert }: SignInPage, method: FactorMethod): Html {
  if (method === 'recovery')
    return html`<label for="code"
        >${t('recovery_code')}<span class="hint" id="hint">${t('recovery_hint')}</span></label
      >
      <input
        class="code"
        id="code"
        name="recovery_code"
        type="text"
        autocomplete="off"
        autocapitalize="none"
        spellcheck="false"
        maxlength="40"
        required
        autofocus${invalid(alert)}
      />`;
  return html`<label for="code">${t('code')}<span class="hint" id="hint">${t('code_hint')}</span></label>
    <input
      class="code"
      id="code"
      name="code"
      type="text"
      inputmode="numeric"
      pattern="[0-9 ]*"
      autocomplete="one-time-code"
      maxlength="20"
      required
      autofocus${invalid(alert)}
    />`;
}

interface WorkspaceChoice {
  id: string;
  name: string;
  slug: string;
}

interface ConsentDetails {
  /** Null without a choice. */
  workspaces: WorkspaceChoice[] | null;
  /** Requested scopes of a third-party client; null for a first-party client. */
  scopes: string[] | null;
  /** Host of the redirect; null for a device. */
  host: string | null;
  /** Name and address of the account, which the client may read. */
  name: string;
  email: string;
}

/** Choice of workspace, and consent for a third-party client. */
export function consentPage(signIn: SignInPage, details: ConsentDetails): Page {
  const { workspaces, scopes, host, email } = details;
  const { t, clientName: client } = signIn;
  const asks = scopes !== null;
  const content = html`${
      asks &&
      html`<ul>
        ${scopes.map((scope) => html`<li>${scopeText(signIn, scope, details)}</li>`)}
      </ul>`
    }
    ${workspaces !== null && workspaceField(signIn, workspaces, !asks)}
    <p class="hint">
      ${t('signed_in_as', { email })}.${asks && host !== null && html` ${t('returns_to', { host })}`}
    </p>
    <button name="step" value="consent">${asks ? t('allow') : t('continue')}</button>
    ${cancelButton(signIn, asks ? t('deny') : t('cancel'))}`;
  return page(signIn, {
    heading: asks ? t('consent', { client }) : t('choose_workspace'),
    lead: asks ? t('consent_lead', { client }) : t('choose_lead', { client }),
    content: form(signIn.action, { csrf: signIn.csrf }, content),
    ...commonParts(signIn),
  });
}

/** @param focus false on consent pages, where Enter must not give consent */
function workspaceField({ t, alert }: SignInPage, workspaces: WorkspaceChoice[], focus: boolean): Html {
  const choices = workspaces.map(
    ({ id, name, slug }, n) =>
      html`<label class="choice"
        ><input
          type="radio"
          name="workspace"
          value="${id}"
          required${n === 0 && html` checked`}${focus && n === 0 && html` autofocus`}
        /><span>${name}<span class="hint">${slug}</span></span></label
      > `,
  );
  return html`<fieldset${alert !== undefined && html` aria-describedby="alert"`}><legend>${t('workspace')}</legend>
${choices}</fieldset>`;
}

/** The permission of a scope, with the values that the client learns. */
function scopeText(
  { t }: PageLocale,
  scope: string,
  { name, email }: Pick<ConsentDetails, 'name' | 'email'>,
): string {
  switch (scope) {
    case 'openid':
      return t('scope_openid');
    case 'profile':
      return t('scope_profile', { name });
    case 'email':
      return t('scope_email', { email });
    case 'offline_access':
      return t('scope_offline_access');
    case 'workspace':
      return t('scope_workspace');
    default:
      return scope;
  }
}

/** Shows that there were too many attempts. @param wait seconds */
export function limitedPage(signIn: PageLocale, wait: number): Page {
  const n = Math.max(1, Math.ceil(wait / 60));
  const minutes = n === 1 ? signIn.t('minute') : signIn.t('minutes', { n: String(n) });
  return page(signIn, {
    heading: signIn.t('limited'),
    lead: signIn.t('limited_lead', { minutes }),
    status: 429,
    retryAfter: Math.ceil(wait),
  });
}

/** The sign-in of this page has ended. */
export const expiredPage = (signIn: PageLocale): Page =>
  page(signIn, { heading: signIn.t('expired'), lead: signIn.t('expired_lead'), status: 400 });

/** Internal failure. */
export const failurePage = (signIn: PageLocale, status: number): Page =>
  page(signIn, {
    heading: signIn.t('trouble'),
    lead: signIn.t('trouble_lead'),
    status,
    ...(status === 503 && { retryAfter: 1 }),
  });

interface IssuerDetails {
  name: string;
  /** Address of the issuer; null after an error. */
  url: string | null;
}

/**
 * The page with a link to the issuer of a workspace. It has no redirect: browsers apply the policy `form-action` to redirects
 * after a form, and the user sees the host of the link first.
 */
export function issuerPage(signIn: SignInPage, { name, url }: IssuerDetails): Page {
  const { t, alert } = signIn;
  const host = url === null ? null : new URL(url).host;
  const content = html`${
      url !== null &&
      html`<p>
        <a class="button" href="${url}" rel="noreferrer" autofocus
          >${t('issuer_continue', { issuer: name })}</a
        >
      </p>`
    } <button class="plain" name="step" value="restart" formnovalidate>${t('other_account')}</button>`;
  return page(signIn, {
    heading: t('issuer_heading'),
    lead: host === null ? undefined : t('issuer_lead', { issuer: name, host }),
    content: form(signIn.action, { csrf: signIn.csrf }, content),
    formTarget: signIn.formTarget,
    alert,
    status: alert !== undefined && url === null ? 422 : 200,
  });
}
