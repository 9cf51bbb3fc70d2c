import { Injectable } from '@nestjs/common';
import { Audit } from '../../../platform/audit/audit.js';
import { Db } from '../../../platform/database/db.js';
import { Notifications } from '../../../platform/notifications/notifications.js';
import type { DisabledReason, Webhook } from '../webhooks.schema.js';
import { WEBHOOK_DISABLED } from '../webhooks.notifications.js';
import { WebhooksRepository } from '../webhooks.repository.js';

/** Deactivates webhooks whose receiver or owner is gone. Pending deliveries stay, for an activation. */
@Injectable()
export class WebhookDisabling {
  constructor(
    private readonly webhooks: WebhooksRepository,
    private readonly notifications: Notifications,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  /** Notifies the owner, unless the webhook was changed meanwhile. */
  async disable({ tenant_id: tenantId, id, revision }: Webhook, reason: DisabledReason): Promise<void> {
    await this.db.tx(async (tx) => {
      const before = await this.webhooks.lock(tx, tenantId, id);
      if (!before?.active || before.revision !== revision) return;
      const changes = { active: false, disabled_reason: reason, disabled_at: new Date() };
      await this.webhooks.update(tx, before, changes);
      await this.audit.record(
        tx,
        { tenantId, userId: null, origin: 'job' },
        { action: 'webhook.disabled', objectKind: 'webhook', objectId: id, data: { reason } },
      );
      await this.notifications.notify(tx, tenantId, WEBHOOK_DISABLED, {
        recipients: [before.owner_id],
        actorId: null,
        subject: { kind: 'webhook', id },
        data: { reason },
      });
    });
  }
}
