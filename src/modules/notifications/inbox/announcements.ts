import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/tx.js';
import { TxHook, TxHooks } from '../../../platform/events/tx-hooks.js';
import type { NotificationType } from '../../../platform/notifications/notification-type.js';
import { Notifications } from '../../../platform/notifications/notifications.js';
import { type NotificationSettings, NotificationSettingsApi } from '../../settings/index.js';
import type { NotificationEntity } from '../notifications.schema.js';

/** Notifications of one type that are new, that count a further cause, or whose snooze has ended. */
export interface AddedNotifications {
  tenantId: string;
  /** Key of the type. */
  type: string;
  notifications: readonly { user_id: string; id: string }[];
}

type WokenNotification = Pick<NotificationEntity, 'tenant_id' | 'user_id' | 'id' | 'type'>;

/** Notifications are unread whose recipients want a push message. */
export const NOTIFICATIONS_ADDED = new TxHook<AddedNotifications>('notifications.added');

/** Announces notifications by push messages, in the transaction that makes them unread. */
@Injectable()
export class Announcements {
  constructor(
    private readonly notifications: Notifications,
    private readonly settings: NotificationSettingsApi,
    private readonly hooks: TxHooks,
  ) {}

  /** Whether a user wants push messages of a type. They announce notifications of the list. */
  isWanted({ preference }: NotificationType, settings: NotificationSettings): boolean {
    return settings.uses('in_app', preference) && settings.uses('push', preference);
  }

  /** @param added whose recipients want push messages */
  async announce(tx: Tx, added: AddedNotifications): Promise<void> {
    if (added.notifications.length > 0) await this.hooks.run(tx, NOTIFICATIONS_ADDED, added);
  }

  /** Announces notifications of several workspaces and types, by the settings of their recipients. */
  async announceWoken(tx: Tx, woken: readonly WokenNotification[]): Promise<void> {
    for (const [tenantId, own] of Map.groupBy(woken, ({ tenant_id }) => tenant_id)) {
      const settings = await this.settings.readSettings(tx, tenantId, [
        ...new Set(own.map(({ user_id }) => user_id)),
      ]);
      for (const [type, some] of Map.groupBy(own, (row) => row.type)) {
        const found = this.notifications.find(type);
        if (!found) continue;
        const wanted = settings.filter((each) => this.isWanted(found, each));
        const users = new Set(wanted.map(({ userId }) => userId));
        const notifications = some.flatMap(({ user_id, id }) =>
          users.has(user_id) ? [{ user_id, id }] : [],
        );
        await this.announce(tx, { tenantId, type, notifications });
      }
    }
  }
}
