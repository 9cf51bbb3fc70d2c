import type { Language, Translate } from './language.js';
import { html, Html } from './html.js';
import { STYLE } from './style.js';

/** In which language a page speaks. */
export interface Speaking {
  language: Language;
  t: Translate;
}

/** A page: its text and what its answer says of it. */
export interface Page {
  status: number;
  body: string;
  /** Where a form of it may end up beside here: an origin or a scheme. */
  formTarget?: string | null;
  /** Seconds until it is worth trying again. */
  retryAfter?: number;
}

export interface PageParts extends Pick<Page, 'formTarget' | 'retryAfter'> {
  heading: string;
  lead?: string | undefined;
  /** What went wrong with the last attempt. */
  alert?: string | undefined;
  content?: Html | undefined;
  status?: number;
}

/** Whole, because its hash stands in the policy: nothing may come between the tags and the text. */
const style = new Html(`<style>${STYLE}</style>`);

/** The frame around every page. */
export function page({ language, t }: Speaking, parts: PageParts): Page {
  const { heading, lead, alert, content, status = 200, formTarget = null, retryAfter } = parts;
  const title = `${alert === undefined ? '' : t('error_prefix')}${heading} · ${t('title')}`;
  const { text } = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        ${style}
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
  return { status, body: text, formTarget, ...(retryAfter !== undefined && { retryAfter }) };
}

/** A form that is posted to `action` with a token that only our own pages know. */
export function form(action: string, hidden: Record<string, string>, content: Html): Html {
  const fields = Object.entries(hidden).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" /> `,
  );
  return html`<form method="post" action="${action}">${fields}${content}</form>`;
}
