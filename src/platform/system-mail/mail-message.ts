import { encodeLookalikes, protectNames } from '../../lib/encoded-words/index.js';
import { Html, html } from '../html/html-tag.js';
import type { Language } from '../languages/languages.js';
import type { MailContent, MailFact, MailItem, MailLink } from './mail-template.js';

const FONT = `font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif`;
const TEXT = `margin:0 0 16px;${FONT};font-size:16px;line-height:24px;color:#1f2933`;
const SMALL = `margin:0 0 8px;${FONT};font-size:13px;line-height:18px;color:#616e7c`;
const CODE = `margin:0 0 16px;font-family:Menlo,Consolas,monospace;font-size:32px;line-height:40px;letter-spacing:6px;color:#1f2933`;
const LABEL = `padding:4px 16px 4px 0;vertical-align:top;text-align:left;font-weight:normal;${FONT};font-size:14px;line-height:20px;color:#616e7c`;
const VALUE = `padding:4px 0;vertical-align:top;${FONT};font-size:14px;line-height:20px;color:#1f2933;overflow-wrap:anywhere`;
const HEADING = `margin:0 0 16px;${FONT};font-size:20px;line-height:28px;color:#1f2933`;
const BUTTON = `display:inline-block;padding:12px 20px;border-radius:6px;background:#1f4e8c;color:#ffffff;text-decoration:none;${FONT};font-size:16px`;
const PAGE = `margin:0;padding:24px 12px;background:#f5f7fa`;
const CARD = `max-width:560px;margin:0 auto;padding:32px 24px;background:#ffffff;border-radius:8px`;

/** @returns the plain text of a mail */
export function textOf(content: MailContent): string {
  const {
    paragraphs,
    code,
    facts = [],
    items = [],
    action,
    closing = [],
    footer = [],
    unsubscribe,
  } = content;
  const small = [...footer, ...(unsubscribe ? [`${unsubscribe.label}: ${unsubscribe.url}`] : [])];
  const parts = [
    headingOf(content),
    ...paragraphs,
    ...(code === undefined ? [] : [code]),
    ...(facts.length === 0 ? [] : [facts.map(({ label, value }) => `${label}: ${value}`).join('\n')]),
    ...items.map(({ title, detail, url }) =>
      [`- ${title}`, detail, url]
        .filter(Boolean)
        .map((line, n) => (n === 0 ? line : `  ${line}`))
        .join('\n'),
    ),
    ...(action ? [`${action.label}: ${action.url}`] : []),
    ...closing,
    ...(small.length > 0 ? [`-- \n${small.join('\n')}`] : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** @returns the HTML of a mail, without remote content */
export function htmlOf(content: MailContent, language: Language): string {
  const {
    paragraphs,
    code,
    facts = [],
    items = [],
    action,
    closing = [],
    footer = [],
    unsubscribe,
  } = content;
  const body = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${content.subject}</title>
      </head>
      <body style="${PAGE}">
        <div style="${CARD}">
          <h1 style="${HEADING}">${headingOf(content)}</h1>
          ${paragraphs.map((text) => paragraph(text, TEXT))}
          ${code !== undefined && html`<p style="${CODE}">${code}</p>`} ${factsOf(facts)} ${items.map(itemOf)}
          ${action && html`<p style="${TEXT}"><a href="${action.url}" style="${BUTTON}">${action.label}</a></p>`}
          ${closing.map((text) => paragraph(text, TEXT))} ${footer.map((text) => paragraph(text, SMALL))}
          ${unsubscribe && paragraphOfLink(unsubscribe)}
        </div>
      </body>
    </html>`;
  return body.text.replace(/>\s+</g, '><');
}

const headingOf = ({ title, subject }: MailContent): string => title ?? subject;

/** Line breaks stay. */
function paragraph(text: string, style: string): Html {
  const lines = text.split('\n').map((line, n) => (n === 0 ? html`${line}` : html`<br />${line}`));
  return html`<p style="${style}">${lines}</p>`;
}

const paragraphOfLink = ({ label, url }: MailLink): Html =>
  html`<p style="${SMALL}"><a href="${url}" style="color:#616e7c">${label}</a></p>`;

function factsOf(facts: readonly MailFact[]): Html | false {
  const rows = facts.map(
    ({ label, value }) =>
      html`<tr>
        <th scope="row" style="${LABEL}">${label}</th>
        <td style="${VALUE}">${value}</td>
      </tr>`,
  );
  return (
    rows.length > 0 &&
    html`<table style="margin:0 0 16px;border-collapse:collapse">
      <tbody>
        ${rows}
      </tbody>
    </table>`
  );
}

function itemOf({ title, detail, url }: MailItem): Html {
  const name = url === undefined ? html`${title}` : html`<a href="${url}" style="color:#1f4e8c">${title}</a>`;
  return html`<p style="${TEXT}">
    <strong>${name}</strong>${detail !== undefined && html`<br />${detail}`}
  </p>`;
}

/** A mail that is ready to be sent. */
export interface MailMessage {
  id: string;
  from: string;
  to: string;
  subject: string;
  /** MIME. */
  raw: Buffer;
}

/** @param id of the mail; its Message-ID contains it, so that mail servers recognise a repeated delivery */
export async function mailMessage(
  content: MailContent,
  envelope: {
    id: string;
    from: { name: string; address: string };
    to: string;
    date: Date;
    language: Language;
  },
): Promise<MailMessage> {
  // Loaded on first use: a process that sends no mail is smaller.
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const { id, from, to, date, language } = envelope;
  const { subject, senderName, replyTo, unsubscribe, calendar } = content;
  const composer = new MailComposer({
    from: {
      name: senderName === undefined ? from.name : `${senderName} (${from.name})`,
      address: from.address,
    },
    to,
    ...(replyTo && { replyTo: { name: replyTo.name ?? '', address: replyTo.address } }),
    subject: encodeLookalikes(subject),
    date,
    messageId: `<${id}@${from.address.split('@')[1]}>`,
    text: textOf(content),
    html: htmlOf(content, language),
    ...(calendar && { icalEvent: { method: calendar.method, content: calendar.content } }),
    headers: {
      'Auto-Submitted': 'auto-generated',
      'Content-Language': language,
      ...(unsubscribe && {
        'List-Unsubscribe': `<${unsubscribe.url}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const node = composer.compile();
  protectNames(node);
  return { id, from: from.address, to, subject, raw: await node.build() };
}
