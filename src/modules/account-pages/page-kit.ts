import type { Request } from 'express';
import { html, type Html } from '../../platform/html/html-tag.js';
import { ApiError } from '../../platform/http/errors.js';
import { BodyReply } from '../../platform/http/replies/body-reply.js';
import { isStorable } from '../../platform/http/storable-text.js';
import {
  type Language,
  type Translate,
  translator,
  type Catalogues,
} from '../../platform/languages/languages.js';
import { SecurityErrors } from '../account-security/index.js';
import {
  chooseLanguage,
  limitedPage,
  page,
  type Page,
  pagePolicy,
  pageTranslator,
} from '../sign-in/index.js';
import { de } from './messages/de.js';
import { en } from './messages/en.js';
import { pt } from './messages/pt.js';
import { vi } from './messages/vi.js';

/** The language and the origin of a request for a page. */
export interface PageRequest {
  language: Language;
  t: Translate<MessageKey>;
  ip: string | null;
  requestId: string | null;
  /**
   * A field of the submitted form; missing, repeated, unstorable and too long fields are empty.
   * @param max characters; default: 2,000
   */
  field(name: string, max?: number): string;
}

const MAX_FIELD = 2_000;

/** @param body of a form, URL-encoded */
export function pageRequest(request: Request & { id?: string }, body?: Buffer): PageRequest {
  const language = chooseLanguage(undefined, request.headers['accept-language']);
  const fields = new URLSearchParams(body?.toString() ?? '');
  return {
    language,
    t: translator(MESSAGES, language),
    ip: request.ip ?? null,
    requestId: request.id ?? null,
    field: (name, max = MAX_FIELD) => {
      const [value = '', ...more] = fields.getAll(name);
      return more.length === 0 && value.length <= max && isStorable(value) ? value : '';
    },
  };
}

interface Parts {
  heading: string;
  lead?: string;
  alert?: string | undefined;
  content?: Html;
  status?: number;
  /** Address of the script for passkeys, if the page needs it. */
  script?: string;
}

export function showPage({ language }: PageRequest, parts: Parts): BodyReply {
  const { script, status = parts.alert === undefined ? 200 : 422 } = parts;
  const needsScript = script !== undefined;
  const shown = page({ language, t: pageTranslator(language) }, { ...parts, status, needsScript });
  return replyOf(shown, script);
}

/** An unknown, used or expired link. @param lead name of the text */
export const showInvalidLink = (page: PageRequest, lead: Parameters<PageRequest['t']>[0]): BodyReply =>
  showPage(page, { heading: page.t('link_invalid'), lead: page.t(lead), status: 404 });

/** Shows that there were too many requests. @param wait seconds */
export const showLimited = ({ language }: PageRequest, wait: number): BodyReply =>
  replyOf(limitedPage({ language, t: pageTranslator(language) }, wait));

function replyOf({ status, body, retryAfter }: Page, script?: string): BodyReply {
  return new BodyReply(Buffer.from(body), {
    status,
    contentType: 'text/html; charset=utf-8',
    headers: {
      'Content-Security-Policy': pagePolicy(null, script),
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    },
  });
}

/** A form that posts to the address of its page. */
export const postForm = (content: Html): Html => html`<form method="post" action="">${content}</form>`;

interface FieldOptions {
  type: 'text' | 'email' | 'password';
  autocomplete: string;
  value?: string;
  hint?: string;
  focus?: boolean;
  maxLength?: number;
  optional?: boolean;
}

/** A labelled input. */
export function inputField(name: string, label: string, options: FieldOptions): Html {
  const {
    type,
    autocomplete,
    value = '',
    hint,
    focus = false,
    maxLength = 1_000,
    optional = false,
  } = options;
  return html`<div class="field">
    <label for="${name}">${label}${hint !== undefined && html`<span class="hint">${hint}</span>`}</label>
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      value="${value}"
      autocomplete="${autocomplete}"
      maxlength="${maxLength}"
      ${!optional && html` required`}${focus && html` autofocus`}
    />
  </div>`;
}

/** The field for a new password. */
export const newPasswordField = ({ t }: PageRequest, focus = false): Html =>
  inputField('new_password', t('new_password'), {
    type: 'password',
    autocomplete: 'new-password',
    hint: t('new_password_hint'),
    focus,
  });

/** The text for a rejected password; other errors are thrown again. */
export function passwordProblem({ t }: PageRequest, error: unknown): string {
  if (!(error instanceof ApiError) || error.kind !== SecurityErrors.weakPassword) throw error;
  const [detail] = error.extras.details ?? [];
  switch (detail?.code) {
    case 'min_length': {
      const [length = '12'] = /\d+/.exec(detail.message) ?? [];
      return t('password_short', { length });
    }
    case 'breached':
      return t('password_breached');
    case 'max_length':
      return t('password_long');
    default:
      return t('password_common');
  }
}

type MessageKey = keyof typeof en;

/** Texts of the pages of links in mails. */
const MESSAGES: Catalogues<MessageKey> = { en, de, pt, vi };
