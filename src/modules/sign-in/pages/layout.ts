import { createHash } from 'node:crypto';
import { Html, html } from '../../../platform/html/html-tag.js';
import {
  acceptedLanguage,
  type Catalogues,
  type Language,
  languageOf,
  type Translate,
  translator,
} from '../../../platform/languages/languages.js';
import { de } from './messages/de.js';
import { en, type Messages } from './messages/en.js';
import { pt } from './messages/pt.js';
import { vi } from './messages/vi.js';
import { PASSKEY_SCRIPT_PATH } from './passkey-script.js';

const CATALOGUES: Catalogues<keyof Messages> = { en, de, pt, vi };

export type TranslatePage = Translate<keyof Messages>;

export const pageTranslator = (language: Language): TranslatePage => translator(CATALOGUES, language);

/**
 * @param uiLocales requested languages: BCP 47 tags, best first
 * @param accepted the browser's Accept-Language header
 */
export function chooseLanguage(uiLocales: unknown, accepted: string | undefined): Language {
  const requested = typeof uiLocales === 'string' ? uiLocales.slice(0, 200).split(' ') : [];
  return (
    requested.map(languageOf).find((language) => language !== null) ?? acceptedLanguage(accepted) ?? 'en'
  );
}

/** The inline style sheet of every page, allowed by hash in the policy. Pages need no further requests. */
export const STYLE = `
:root{color-scheme:light dark;--page:#f3f4f7;--card:#fff;--text:#1b1d22;--soft:#565c68;--line:#8a909c;--accent:#1d4ed8;--on-accent:#fff;--bad:#b3261e;--bad-soft:#fdeceb;--shadow:0 1px 2px #0001,0 8px 28px #0f172a14}
@media(prefers-color-scheme:dark){:root{--page:#101216;--card:#191c22;--text:#eceef2;--soft:#a9b0bd;--line:#757d8c;--accent:#9db8ff;--on-accent:#0d1530;--bad:#ffb4ab;--bad-soft:#3a1d1b;--shadow:0 0 0 1px #2a2e37}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;min-height:100dvh;display:grid;grid-template-rows:1fr auto;background:var(--page);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere}
main{width:min(26rem,100% - 2rem);margin:auto;padding:2.25rem 2rem 2rem;background:var(--card);border-radius:14px;box-shadow:var(--shadow)}
a{color:var(--accent)}
.brand{margin:0 0 1.5rem;font-weight:650;letter-spacing:-.01em;display:flex;align-items:center;gap:.55rem;color:var(--soft)}
.brand::before{content:"";width:1.15rem;height:1.15rem;border-radius:.35rem;background:var(--accent)}
h1{margin:0 0 .35rem;font-size:1.5rem;line-height:1.25;letter-spacing:-.015em}
p{margin:0 0 1rem}
.lead{color:var(--soft);margin-bottom:1.5rem}
.below{margin:.75rem 0;text-align:center;font-size:.9375rem}
.hint{display:block;color:var(--soft);font-size:.875rem;font-weight:400;margin-top:.1rem}
.field{margin:0 0 1.1rem}
label,legend{display:block;font-weight:600;font-size:.9375rem;margin:0 0 .45rem;padding:0}
input[type=text],input[type=email],input[type=password]{width:100%;min-height:2.875rem;padding:.5rem .75rem;font:inherit;color:inherit;background:transparent;border:1px solid var(--line);border-radius:8px}
input[aria-invalid=true]{border-color:var(--bad);border-width:2px}
.code{font-size:1.375rem!important;letter-spacing:.18em;font-variant-numeric:tabular-nums;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace!important}
button{width:100%;min-height:2.875rem;padding:.5rem 1rem;font:inherit;font-weight:600;border-radius:8px;cursor:pointer;border:1px solid transparent;background:var(--accent);color:var(--on-accent)}
a.button{display:block;padding:.65rem 1rem;font-weight:600;text-align:center;text-decoration:none;border-radius:8px;background:var(--accent);color:var(--on-accent)}
button:hover{filter:brightness(1.08)}
button.second{background:transparent;color:var(--text);border-color:var(--line)}
button.plain{background:transparent;color:var(--accent);border:0;text-decoration:underline;text-underline-offset:.2em;font-weight:500}
form>button+button,form>button+input+button,form>.plain,form+form{margin-top:.65rem}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.alert{margin:0 0 1.25rem;padding:.75rem .9rem;border-left:4px solid var(--bad);border-radius:4px 8px 8px 4px;background:var(--bad-soft);color:var(--text)}
fieldset{margin:0 0 1.25rem;padding:0;border:0}
.choice{display:flex;gap:.75rem;align-items:flex-start;min-height:2.875rem;padding:.65rem .75rem;margin:.4rem 0 0;border:1px solid var(--line);border-radius:8px;font-weight:500;cursor:pointer}
.choice:has(:checked){border-color:var(--accent);box-shadow:inset 0 0 0 1px var(--accent)}
.choice input{width:1.15rem;height:1.15rem;margin:.2rem 0 0;flex:none;accent-color:var(--accent)}
ul{margin:0 0 1.25rem;padding:0 0 0 1.25rem}
li{margin:.3rem 0}
.qr{width:11rem;margin:0 auto 1rem;background:#fff;border-radius:8px;overflow:hidden}
.qr svg{display:block}
.codes{columns:2;padding:0;list-style:none;text-align:center;font-size:1.0625rem}
.codes li{margin:0;padding:.2rem 0}
.big{display:block;margin:0 0 1.25rem;padding:.75rem;text-align:center;border:1px dashed var(--line);border-radius:8px;font:600 1.5rem/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;letter-spacing:.12em}
footer{padding:1rem;text-align:center;color:var(--soft);font-size:.8125rem}
@media(max-width:30rem){body{background:var(--card)}main{width:100%;margin:0;padding:1.5rem 1.25rem;border-radius:0;box-shadow:none}}
@media(forced-colors:active){button,a.button,main{border:1px solid}}
`;

const hash = createHash('sha256').update(STYLE).digest('base64');

/**
 * The Content-Security-Policy of a page.
 * @param formTarget further origin or scheme for forms: browsers apply `form-action` also to the redirect after a form
 * @param script address of the only script; null: none
 */
export function pagePolicy(formTarget: string | null = null, script: string | null = null): string {
  const forms = formTarget === null ? "'self'" : `'self' ${formTarget}`;
  return [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    ...(script === null ? [] : [`script-src ${script}`]),
    `form-action ${forms}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

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
