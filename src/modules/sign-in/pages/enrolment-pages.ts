import { html, Html } from '../../../platform/html/html-tag.js';
import { form, page, type Page } from './layout.js';
import { passkeyButton } from './passkey-script.js';
import { cancelButton, codeField, commonParts, type SignInPage } from './sign-in-pages.js';

/** A required second factor that the account does not have yet. */
interface EnrolmentDetails {
  email: string;
  /** Name of the workspace that requires it. */
  workspace: string;
  /** Whether the user can sign in to another workspace without it. */
  isOptional: boolean;
  secret: string;
  /** Key URI of the authenticator application. */
  url: string;
  /** SVG element of the library that draws QR codes. */
  qr: string;
  /** Options for a new passkey; null: not available. */
  passkey: object | null;
}

/** Enrolment of an authenticator application or a passkey. */
export function enrolmentPage(signIn: SignInPage, details: EnrolmentDetails): Page {
  const { t } = signIn;
  const { email, workspace, isOptional, passkey } = details;
  const content = html`${authenticatorParts(signIn, details)}
    <div class="field">${codeField(signIn, 'totp')}</div>
    <button name="step" value="enrol_code">${t('enrol_confirm')}</button>
    ${
      passkey !== null &&
      passkeyButton({
        ceremony: 'create',
        options: passkey,
        label: t('use_passkey'),
        error: t('passkey_missing'),
        step: 'enrol_passkey',
        isSecond: true,
        skipsFields: true,
      })
    }
    ${
      isOptional &&
      html`<button class="plain" name="step" value="enrol_skip" formnovalidate>${t('enrol_skip')}</button>
        <p class="below hint">${t('enrol_skip_hint', { workspace })}</p>`
    }
    ${cancelButton(signIn)}`;
  return page(signIn, {
    heading: t('enrol'),
    lead: t('enrol_lead', { workspace, email }),
    content: form(signIn.action, { csrf: signIn.csrf }, content),
    needsScript: passkey !== null,
    ...commonParts(signIn),
  });
}

const authenticatorParts = ({ t }: SignInPage, { secret, url, qr }: EnrolmentDetails): Html =>
  html`<p>${t('enrol_scan')}</p>
    <div class="qr" role="img" aria-label="${t('enrol_qr')}">${new Html(qr)}</div>
    <p class="below"><a href="${url}">${t('enrol_open')}</a></p>
    <p class="hint">${t('enrol_secret')} <code id="secret">${grouped(secret)}</code></p>`;

/** Groups of four characters are easier to type. */
const grouped = (secret: string): string => secret.replaceAll(/(.{4})(?=.)/g, '$1 ');

/** The recovery codes of a new second factor. @param codes null: shown before */
export function recoveryCodesPage(signIn: SignInPage, codes: string[] | null): Page {
  const { t } = signIn;
  const content = html`${
      codes !== null &&
      html`<ul class="codes">
        ${codes.map((code) => html`<li><code>${code}</code></li>`)}
      </ul>`
    }
    <button name="step" value="enrol_done">${t(codes === null ? 'continue' : 'enrol_codes_saved')}</button>`;
  return page(signIn, {
    heading: t(codes === null ? 'enrol_on' : 'enrol_codes'),
    lead: t(codes === null ? 'enrol_codes_shown' : 'enrol_codes_lead'),
    content: form(signIn.action, { csrf: signIn.csrf }, content),
    ...commonParts(signIn),
  });
}
