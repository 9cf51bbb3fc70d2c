import { type Catalogues, type Language, type Translate, translator } from '../languages/languages.js';

/** The content of a mail. The layout makes its plain text and its HTML. Texts are plain. */
export interface MailContent {
  subject: string;
  /** The heading; default: the subject. */
  title?: string;
  /** Paragraphs before the other parts. */
  paragraphs: readonly string[];
  /** A code that the recipient types, shown large. */
  code?: string;
  /** Facts with their labels, such as time and place of an event. */
  facts?: readonly MailFact[];
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

export interface MailFact {
  label: string;
  value: string;
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
 * A kind of mail, registered by its domain. The content is made when the mail is sent, so a template checks facts that may
 * have changed since the mail was queued.
 */
export interface MailTemplate<Values extends object> {
  /** `<domain>.<kind>`, unique. */
  readonly name: string;
  /** @returns null when the mail is no longer needed */
  compose(request: MailRequest<Values>): Promise<MailContent | null> | MailContent | null;
  /** Examples of the content, by name. Tests render each in each language as a picture. */
  previews(language: Language): Readonly<Record<string, MailContent>>;
}

/** The parts of a mail with a catalogue of texts. */
interface CatalogueMail<Key extends string, Values extends object> {
  name: string;
  texts: Catalogues<Key>;
  /** @returns null when no mail is to be sent */
  content: (text: Translate<Key>, values: Values, request: MailRequest<Values>) => MailContent | null;
  /** Values of the previews, by name. */
  examples: Readonly<Record<string, Values>>;
}

/** Makes a template whose content depends on a catalogue of texts and on the values of the mail only. */
export function catalogueMail<Key extends string, Values extends object>({
  name,
  texts,
  content,
  examples,
}: CatalogueMail<Key, Values>): MailTemplate<Values> {
  const compose = (request: MailRequest<Values>) =>
    content(translator(texts, request.language), request.values, request);
  return {
    name,
    compose,
    previews: (language) =>
      Object.fromEntries(
        Object.entries(examples).flatMap(([example, values]) => {
          const shown = compose({ tenantId: '', recipient: 'ann@example.com', language, values });
          return shown ? [[example, shown]] : [];
        }),
      ),
  };
}
