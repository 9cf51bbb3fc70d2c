import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { DomainNotifications } from '../../platform/notifications/notifications.js';
import { type Catalogues, translator } from '../../platform/languages/languages.js';
import type { MailedNotification, NotificationType } from '../../platform/notifications/notification-type.js';
import type { MailContent } from '../../platform/system-mail/mail-template.js';
import type { Webhook } from './webhooks.schema.js';

// Its description, or the host of its address.
const titles = workspace.statement<Pick<Webhook, 'id'> & { title: string }>(
  'webhooks.titles',
  `SELECT webhook.id, CASE WHEN webhook.description = '' THEN split_part(webhook.url, '/', 3) ELSE webhook.description END AS title
     FROM webhooks webhook WHERE webhook.tenant_id = $1 AND webhook.owner_id = $2 AND webhook.id = ANY ($3::uuid[])`,
);

const PATH = '/settings/webhooks';

const MAIL_TEXTS: Catalogues<'pending' | 'action' | 'reason'> = {
  en: {
    pending:
      'Events that wait are kept, and are sent when you activate the webhook again. Events that happen until then are not sent.',
    action: 'Open the webhooks',
    reason: 'Messages about deactivated webhooks cannot be switched off.',
  },
  de: {
    pending:
      'Wartende Ereignisse bleiben erhalten und werden gesendet, wenn Sie den Webhook wieder aktivieren. Ereignisse bis dahin werden nicht gesendet.',
    action: 'Webhooks öffnen',
    reason: 'Nachrichten über deaktivierte Webhooks lassen sich nicht abschalten.',
  },
  pt: {
    pending:
      'Os eventos pendentes são mantidos e enviados quando você ativa o webhook novamente. Os eventos que ocorrem até lá não são enviados.',
    action: 'Abrir os webhooks',
    reason: 'Mensagens sobre webhooks desativados não podem ser desligadas.',
  },
  vi: {
    pending:
      'Các sự kiện đang chờ được giữ lại và được gửi khi bạn bật lại webhook. Các sự kiện xảy ra cho đến lúc đó không được gửi.',
    action: 'Mở các webhook',
    reason: 'Không thể tắt thư về webhook đã bị tắt.',
  },
};

function mail({ text: subject, language, clientUrl }: MailedNotification): MailContent {
  const text = translator(MAIL_TEXTS, language);
  return {
    subject,
    paragraphs: [text('pending')],
    action: { label: text('action'), url: `${clientUrl}${PATH}` },
    footer: [text('reason')],
  };
}

/** The service has deactivated a webhook. `data.reason`: why. The e-mail cannot be switched off. */
export const WEBHOOK_DISABLED: NotificationType = {
  key: 'webhook.disabled',
  preference: 'webhook.disabled',
  texts: {
    en: 'The webhook “{title}” was deactivated, because its receiver does not accept events',
    de: 'Der Webhook „{title}“ wurde deaktiviert, weil sein Empfänger keine Ereignisse annimmt',
    pt: 'O webhook “{title}” foi desativado porque o destinatário não aceita eventos',
    vi: 'Webhook “{title}” đã bị tắt vì bên nhận không chấp nhận sự kiện',
  },
  path: () => PATH,
  lasts: 'while_readable',
  isRequired: true,
  mail,
  mailExample: { title: 'Survey results for the warehouse' },
};

/** Notifications of webhooks. */
@Injectable()
export class WebhookNotifications extends DomainNotifications {
  protected readonly types = [WEBHOOK_DISABLED];
  protected override readonly titles = { webhook: titles };
}
