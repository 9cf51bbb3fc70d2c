import type { Language } from '../languages/languages.js';

/** The content of a mail. The layout makes its plain text and its HTML. Texts are plain. */
export interface MailContent {
  subject: string;
  /** The heading; default: the subject. */
  title?: string;
  /** Paragraphs before the other parts. */
  paragraphs: readonly string[];
  /** A code that the recipient types, shown large. */
  code?: string;
  items?: readonly MailItem[];
  /** The main link, as a button. */
  action?: MailLink;
  /** Paragraphs at the end. */
  closing?: readonly string[];
  /** Reason for the mail, in small print. */
  footer?: readonly string[];
  /** One-click unsubscribe (RFC 8058): accepts POST. Shown in the footer. */
  unsubscribe?: MailLink;
  /** Name of the sender; the address stays that of the system. */
  senderName?: string;
  replyTo?: { name?: string; address: string };
  /** An iMIP message (RFC 6047), as a part of the mail and as a file. */
  calendar?: { method: string; content: string };
}

export interface MailLink {
  label: string;
  url: string;
}

export interface MailItem {
  title: string;
  /** A second line. */
  detail?: string;
  url?: string;
}

/** A mail as its template receives it. */
export interface MailRequest<Values> {
  tenantId: string;
  recipient: string;
  language: Language;
  values: Values;
}

/**
 * A kind of mail, registered by its domain. The content is made when the mail is sent, so a template checks again what may have
 * changed since.
 */
export interface MailTemplate<Values extends object> {
  /** `<domain>.<kind>`, unique. */
  readonly name: string;
  /** @returns null when the mail is no longer needed */
  compose(request: MailRequest<Values>): Promise<MailContent | null> | MailContent | null;
}
