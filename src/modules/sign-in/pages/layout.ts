import type { Language } from '../../../platform/languages/languages.js';
import type { TranslatePage } from './language.js';
import { html, Html } from '../../../platform/html/html-tag.js';
import { PASSKEY_SCRIPT_PATH } from './passkey-script.js';
import { STYLE } from './style.js';

/** Language and texts of a page. */
export interface PageLocale {
  language: Language;
  t: TranslatePage;
}

/** A page and its response headers. */
export interface Page {
  status: number;
  body: string;
  /** Origin or scheme that a form may redirect to. */
  formTarget?: string | null;
  /** Whether the page loads the script for passkeys. */
  needsScript?: boolean;
  /** Seconds until a retry. */
  retryAfter?: number;
}

interface PageParts extends Pick<Page, 'formTarget' | 'retryAfter' | 'needsScript'> {
  heading: string;
  lead?: string | undefined;
  /** Error of the last attempt. */
  alert?: string | undefined;
  content?: Html | undefined;
  status?: number;
}

/** One constant, as the policy contains the hash of the exact text. */
const style = new Html(`<style>${STYLE}</style>`);

/** The layout of every page. */
export function page({ language, t }: PageLocale, parts: PageParts): Page {
  const { heading, lead, alert, content, status = 200, formTarget = null, retryAfter } = parts;
  const { needsScript = false } = parts;
  const title = `${alert === undefined ? '' : t('error_prefix')}${heading} · ${t('title')}`;
  const { text } = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        ${style}${needsScript && html`<script src="${PASSKEY_SCRIPT_PATH}" defer></script>`}
      </head>
      <body>
        <main>
          <p class="brand">${t('title')}</p>
          <h1>${heading}</h1>
          ${lead !== undefined && html`<p class="lead">${lead}</p>`}
          ${alert !== undefined && html`<p class="alert" role="alert" id="alert">${alert}</p>`} ${content}
        </main>
      </body>
    </html> `;
  return { status, body: text, formTarget, needsScript, ...(retryAfter !== undefined && { retryAfter }) };
}

/** A form that posts to `action` with hidden fields such as the CSRF token. */
export function form(action: string, hidden: Record<string, string>, content: Html): Html {
  const fields = Object.entries(hidden).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" /> `,
  );
  return html`<form method="post" action="${action}">${fields}${content}</form>`;
}
