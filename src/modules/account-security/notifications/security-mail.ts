import { translator } from '../../../platform/languages/languages.js';
import type { MailedNotification } from '../../../platform/notifications/notification-type.js';
import type { MailContent, MailFact } from '../../../platform/system-mail/mail-template.js';
import { SECURITY_MAIL_TEXTS } from './security-texts.js';

/** Page of the client for the security settings. */
const SETTINGS_PATH = '/settings/security';

/** The e-mail about a security event: its facts, and advice for an owner who did not cause it. */
export function securityMail(notification: MailedNotification): MailContent {
  const { text: subject, data, language, clientUrl } = notification;
  const text = translator(SECURITY_MAIL_TEXTS, language);
  return {
    subject,
    paragraphs: data['by_operator'] === true ? [text('by_operator')] : [],
    facts: factsOf(notification),
    action: { label: text('action'), url: `${clientUrl}${SETTINGS_PATH}` },
    closing: [text('was_you'), text('was_not_you')],
    footer: [text('reason')],
  };
}

function factsOf({ data, createdAt, language, timeZone }: MailedNotification): MailFact[] {
  const text = translator(SECURITY_MAIL_TEXTS, language);
  const time = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'long', timeZone });
  const { ip, browser, system, description } = data;
  const facts: MailFact[] = [{ label: text('time'), value: time.format(createdAt) }];
  const add = (label: 'address' | 'browser' | 'application', value: unknown) => {
    if (typeof value === 'string') facts.push({ label: text(label), value });
  };
  add('application', description);
  add('address', ip);
  if (browser !== undefined) add('browser', browserText(text, browser, system));
  return facts;
}

function browserText(
  text: (key: 'browser_on_system' | 'unknown_browser', values?: Record<string, string>) => string,
  browser: unknown,
  system: unknown,
): string {
  if (typeof browser !== 'string') return text('unknown_browser');
  return typeof system === 'string' ? text('browser_on_system', { browser, system }) : browser;
}
