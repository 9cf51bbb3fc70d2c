import { html, type Html } from './html.js';
import { form, page, type Page, type Speaking } from './layout.js';

/** What the pages of one sign-in have in common. */
export interface SignInPage extends Speaking {
  /** Where its form is posted to. */
  action: string;
  csrf: string;
  clientName: string;
  formTarget: string | null;
  alert?: string | undefined;
  status?: number;
}

const cancel = ({ t }: Speaking, text = t('cancel')): Html =>
  html`<button class="second" name="step" value="cancel" formnovalidate>${text}</button>`;

/** A form needs its first button to be the one that the return key presses. */
const common = ({ formTarget, alert, status }: SignInPage) => ({
  formTarget,
  alert,
  status: status ?? (alert === undefined ? 200 : 422),
});

const invalid = (alert: string | undefined): Html | false =>
  alert !== undefined && html` aria-invalid="true" aria-describedby="alert"`;

/** E-mail address and password. */
export function passwordPage(at: SignInPage, email: string): Page {
  const { t, alert } = at;
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
    ${cancel(at)}`;
  return page(at, {
    heading: t('sign_in'),
    lead: t('to_continue', { client: at.clientName }),
    content: form(at.action, { csrf: at.csrf }, content),
    ...common(at),
  });
}

/** The second factor: a code of the authenticator, or a recovery code. */
export function codePage(at: SignInPage, email: string, method: 'totp' | 'recovery'): Page {
  const { t, alert } = at;
  const field =
    method === 'totp'
      ? html`<label for="code">${t('code')}<span class="hint" id="hint">${t('code_hint')}</span></label>
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
          />`
      : html`<label for="code"
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
  const content = html`<div class="field">${field}</div>
    <button name="step" value="code">${t('verify')}</button>
    <button class="plain" name="step" value="${method === 'totp' ? 'recovery' : 'totp'}" formnovalidate>
      ${t(method === 'totp' ? 'use_recovery' : 'use_code')}
    </button>
    <button class="plain" name="step" value="restart" formnovalidate>${t('other_account')}</button>`;
  return page(at, {
    heading: t('second_factor'),
    lead: t('second_factor_lead', { email }),
    content: form(at.action, { csrf: at.csrf }, content),
    ...common(at),
  });
}

export interface WorkspaceChoice {
  id: string;
  name: string;
  slug: string;
}

export interface ConsentQuestion {
  /** Null: there is nothing to choose. */
  workspaces: WorkspaceChoice[] | null;
  /** What a client that is not ours asks for; null for one of ours, which need not ask. */
  scopes: string[] | null;
  /** Where the browser is sent afterwards; null for a device. */
  host: string | null;
  /** Whose sign-in it is. */
  email: string;
}

/** In which workspace, and whether a client that is not ours may. */
export function consentPage(at: SignInPage, { workspaces, scopes, host, email }: ConsentQuestion): Page {
  const { t, clientName: client } = at;
  const asks = scopes !== null;
  const content = html`${
      asks &&
      html`<ul>
        ${scopes.map((scope) => html`<li>${scopeText(at, scope)}</li>`)}
      </ul>`
    }
    ${workspaces !== null && workspaceField(at, workspaces, !asks)}
    <p class="hint">
      ${t('signed_in_as', { email })}.${asks && host !== null && html` ${t('returns_to', { host })}`}
    </p>
    <button name="step" value="consent">${asks ? t('allow') : t('continue')}</button>
    ${cancel(at, asks ? t('deny') : t('cancel'))}`;
  return page(at, {
    heading: asks ? t('consent', { client }) : t('choose_workspace'),
    lead: asks ? t('consent_lead', { client }) : t('choose_lead', { client }),
    content: form(at.action, { csrf: at.csrf }, content),
    ...common(at),
  });
}

/** @param focus not where the return key would allow something */
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

function scopeText({ t }: Speaking, scope: string): string {
  switch (scope) {
    case 'openid':
      return t('scope_openid');
    case 'profile':
      return t('scope_profile');
    case 'email':
      return t('scope_email');
    case 'offline_access':
      return t('scope_offline_access');
    case 'workspace':
      return t('scope_workspace');
    default:
      return scope;
  }
}

/** Too many attempts. @param wait seconds */
export function limitedPage(at: Speaking, wait: number): Page {
  const n = Math.max(1, Math.ceil(wait / 60));
  const minutes = n === 1 ? at.t('minute') : at.t('minutes', { n: String(n) });
  return page(at, {
    heading: at.t('limited'),
    lead: at.t('limited_lead', { minutes }),
    status: 429,
    retryAfter: Math.ceil(wait),
  });
}

/** The sign-in this page belonged to is over. */
export const expiredPage = (at: Speaking): Page =>
  page(at, { heading: at.t('expired'), lead: at.t('expired_lead'), status: 400 });

/** Our own trouble. */
export const troublePage = (at: Speaking, status: number): Page =>
  page(at, {
    heading: at.t('trouble'),
    lead: at.t('trouble_lead'),
    status,
    ...(status === 503 && { retryAfter: 1 }),
  });
