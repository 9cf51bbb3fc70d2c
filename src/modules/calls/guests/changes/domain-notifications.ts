import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import type { Tx } from '../../../../platform/database/tx.js';
import { Notifications } from '../../../../platform/notifications/notifications.js';
import { DOMAIN_REQUESTED, GUEST_APPROVAL } from './guests.notifications.js';

/** Notifies administrators of requested domains. */
@Injectable()
export class DomainNotifications implements OnModuleInit {
  constructor(private readonly notifications: Notifications) {}

  onModuleInit(): void {
    this.notifications.register(DOMAIN_REQUESTED);
  }

  async requested(
    tx: Tx,
    { tenantId, userId: actorId }: RequestContext,
    id: string,
    recipients: string[],
  ): Promise<void> {
    const data = { approval_id: id };
    await this.notifications.notify(tx, tenantId, DOMAIN_REQUESTED, {
      recipients,
      actorId,
      subject: { kind: GUEST_APPROVAL, id },
      data,
    });
  }
}
