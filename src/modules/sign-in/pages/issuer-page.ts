import { html } from '../../../platform/html/html-tag.js';
import { form, page, type Page } from './layout.js';
import type { SignInPage } from './sign-in-pages.js';

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
