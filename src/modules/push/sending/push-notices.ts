import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { outsideRequests } from '../../../platform/current-work/current-work.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { NOTIFICATIONS_ADDED, NotificationsApi } from '../../notifications/index.js';
import { PushDispatcher } from './push-dispatcher.js';
import { PushQueue } from './push-queue.js';

/** Queues messages for new notifications, and withdrawals for those that their recipient has read or that are no longer of use. */
@Injectable()
export class PushNotices implements OnModuleInit {
  private readonly logger = new Logger(PushNotices.name);

  constructor(
    private readonly hooks: TxHooks,
    private readonly notifications: NotificationsApi,
    private readonly queue: PushQueue,
    private readonly dispatcher: PushDispatcher,
  ) {}

  onModuleInit(): void {
    this.hooks.on(NOTIFICATIONS_ADDED, async (tx, added) => {
      if ((await this.queue.add(tx, added)) > 0) tx.afterCommit(() => this.dispatcher.wake());
    });
    this.notifications.onSettled((member) => void outsideRequests(() => this.withdraw(member)));
  }

  /** Withdraws the messages of notifications that are no longer unread. */
  async withdraw(member: MemberKey): Promise<void> {
    try {
      const shown = await this.queue.shown(member);
      if (shown.length === 0) return;
      const unread = await this.notifications.unreadAmong(member, shown);
      const ended = shown.filter((id) => !unread.has(id));
      if (ended.length > 0 && (await this.queue.withdraw(member, ended)) > 0) this.dispatcher.wake();
    } catch (error) {
      this.logger.warn({ err: error }, 'push messages are not withdrawn');
    }
  }
}
