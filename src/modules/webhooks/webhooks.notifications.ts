import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { DomainNotifications } from '../../platform/notifications/domain-notifications.js';
import type { NotificationType } from '../../platform/notifications/notification-type.js';

// Its description, or the host of its address.
const titles = workspace.statement<{ id: string; title: string }>(
  'webhooks.titles',
  `SELECT webhook.id, CASE WHEN webhook.description = '' THEN split_part(webhook.url, '/', 3) ELSE webhook.description END AS title
     FROM webhooks webhook WHERE webhook.tenant_id = $1 AND webhook.owner_id = $2 AND webhook.id = ANY ($3::uuid[])`,
);

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
  path: () => '/settings/webhooks',
  lasts: 'while_readable',
  isRequired: true,
};

/** Notifications of webhooks. */
@Injectable()
export class WebhookNotifications extends DomainNotifications {
  protected readonly types = [WEBHOOK_DISABLED];
  protected override readonly titles = { webhook: titles };
}
