import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Tx } from '../../platform/database/tx.js';
import { Bus } from '../../platform/bus/bus.js';
import type { Connection } from '../../platform/realtime/connection.js';
import { defineServerEvent } from '../../platform/realtime/event-declarations.js';
import { UserConnections } from '../../platform/realtime/user-connections.js';
import { NotificationEnvelope, UnreadCounts } from './notification.response.js';
import { NotificationPresenter } from './notification.presenter.js';
import { type Member, NotificationsRepository } from './notifications.repository.js';

const CHANGED = 'notifications.changed';
const COUNTS = 'notifications.counts';
/** Pairs of user and notification in one message of the bus. */
const PAIRS_PER_MESSAGE = 80;

const NOTIFICATION = defineServerEvent(
  'notification',
  'A notification is new or has changed.',
  NotificationEnvelope,
);
const UNREAD = defineServerEvent(
  'unread',
  'You have read several notifications on one of your devices.',
  UnreadCounts,
);

/** Sends `notification` and `unread` to the sockets of a user, in every process. */
@Injectable()
export class NotificationSockets implements OnModuleInit {
  private readonly logger = new Logger(NotificationSockets.name);

  constructor(
    private readonly bus: Bus,
    private readonly connections: UserConnections,
    private readonly presenter: NotificationPresenter,
    private readonly rows: NotificationsRepository,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.bus.subscribe(CHANGED, ({ tenant, pairs }) => {
      for (const [userId, id] of pairs as [string, string][])
        this.run({ tenantId: tenant as string, userId }, (member, sockets) => this.send(member, sockets, id));
    });
    this.bus.subscribe(COUNTS, ({ tenant, user }) =>
      this.run({ tenantId: tenant as string, userId: user as string }, async (member, sockets) => {
        const counts = await this.rows.counts(this.db, member);
        for (const socket of sockets) socket.send(UNREAD, counts);
      }),
    );
  }

  /** Notifications are new or changed. */
  changed(tx: Tx, tenant: string, changes: readonly { userId: string; id: string }[]): void {
    const pairs = changes.map(({ userId, id }) => [userId, id]);
    tx.afterCommit(() => {
      for (let at = 0; at < pairs.length; at += PAIRS_PER_MESSAGE)
        this.bus.publish(CHANGED, { tenant, pairs: pairs.slice(at, at + PAIRS_PER_MESSAGE) });
    });
  }

  /** Several notifications of a user were read. */
  countsChanged(tx: Tx, member: Member): void {
    tx.afterCommit(() => this.publishCounts(member));
  }

  /** Call it after the commit. */
  publishCounts({ tenantId: tenant, userId: user }: Member): void {
    this.bus.publish(COUNTS, { tenant, user });
  }

  private run(
    member: Member,
    work: (member: Member, sockets: ReadonlySet<Connection>) => Promise<void>,
  ): void {
    const sockets = this.connections.of(member.tenantId, member.userId);
    if (sockets.size === 0) return;
    work(member, sockets).catch((error: unknown) =>
      this.logger.warn({ err: error }, 'a notification was not sent to sockets'),
    );
  }

  private async send(member: Member, sockets: ReadonlySet<Connection>, id: string): Promise<void> {
    const [first] = sockets;
    if (!first) return;
    const rows = await this.rows.byIds(this.db, member, [id]);
    const [notification] = await this.presenter.present(
      this.db,
      first.ctx,
      rows.filter(({ shown }) => shown),
    );
    if (!notification) return;
    const counts = await this.rows.counts(this.db, member);
    for (const socket of sockets) socket.send(NOTIFICATION, { notification, ...counts });
  }
}
