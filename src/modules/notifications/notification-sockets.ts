import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { MemberKey, RequestContext } from '../../platform/context/request-context.js';
import { growingTo } from '../../platform/memory/cache-size.js';
import { Db } from '../../platform/database/db.js';
import type { Tx } from '../../platform/database/tx.js';
import { Bus } from '../../platform/bus/bus.js';
import { CatchUp } from '../../platform/realtime/catch-up.js';
import type { Connection } from '../../platform/realtime/connection.js';
import { defineServerEvent } from '../../platform/realtime/event-declarations.js';
import { UserConnections } from '../../platform/realtime/user-connections.js';
import { NotificationEnvelope, UnreadCounts } from './notifications.dto.js';
import { NotificationPresenter } from './notification.presenter.js';
import { NotificationRelevance } from './inbox/notification-relevance.js';
import { NotificationsRepository, type RecentNotification } from './notifications.repository.js';

const CHANGED = 'notifications.changed';
const COUNTS = 'notifications.counts';
/** Pairs of user and notification in one message of the bus. */
const PAIRS_PER_MESSAGE = 80;
/** Cached versions of notifications, and cached times of `unread` by user: more than `sendLost` compares. */
const MAX_DELIVERED = 50_000;
/** Lost changes of one user that are sent one by one; for more, the user gets `unread`. */
const MAX_LOST = 20;

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
  /** Versions of notifications by id, as this process has sent or compared them. */
  private readonly delivered = new LRUCache<string, string>(growingTo(MAX_DELIVERED));
  /** `performance.now()` of the last report of counts, by user. It covers all earlier changes to `read`. */
  private readonly counted = new LRUCache<string, number>(growingTo(MAX_DELIVERED));
  private readonly listeners: ((member: MemberKey) => void)[] = [];

  constructor(
    private readonly bus: Bus,
    private readonly connections: UserConnections,
    private readonly catchUp: CatchUp,
    private readonly presenter: NotificationPresenter,
    private readonly relevance: NotificationRelevance,
    private readonly rows: NotificationsRepository,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.bus.subscribe(CHANGED, ({ tenant, pairs }) => {
      for (const [userId, id] of pairs as [string, string][])
        void this.run({ tenantId: tenant as string, userId }, (member, sockets) =>
          this.send(member, sockets, id),
        );
    });
    this.bus.subscribe(COUNTS, (message) => {
      const { tenant, user } = message as { tenant: string; user: string };
      this.counted.set(`${tenant} ${user}`, performance.now());
      void this.sendCounts({ tenantId: tenant, userId: user });
    });
    this.catchUp.register('notifications', (seconds) => this.sendLost(seconds));
  }

  /** @param listener called in the process of a change by which notifications of a user may be no longer unread, after its commit */
  onSettled(listener: (member: MemberKey) => void): void {
    this.listeners.push(listener);
  }

  /** Notifications are new or changed. */
  reportChanges(tx: Tx, changes: readonly { tenant_id: string; user_id: string; id: string }[]): void {
    tx.afterCommit(() => this.publishChanges(changes));
  }

  /** The user has changed the state of a notification. */
  stateChanged(tx: Tx, { tenantId, userId }: MemberKey, id: string): void {
    this.reportChanges(tx, [{ tenant_id: tenantId, user_id: userId, id }]);
    tx.afterCommit(() => this.reportSettled({ tenantId, userId }));
  }

  /**
   * Withdraws the unread notifications of a user that are no longer of use, and reports them to the sockets of the user. Call it before
   * unread notifications are counted or mailed.
   */
  async examine(ctx: RequestContext): Promise<void> {
    this.reportWithdrawal(ctx, await this.relevance.examineUnread(ctx));
  }

  /** Notifications of a user were withdrawn or changed. Call it after the commit. */
  reportWithdrawal({ tenantId, userId }: MemberKey, ids: readonly string[]): void {
    if (ids.length === 0) return;
    if (ids.length > MAX_LOST) return this.publishCounts({ tenantId, userId });
    this.publishChanges(ids.map((id) => ({ tenant_id: tenantId, user_id: userId, id })));
    this.reportSettled({ tenantId, userId });
  }

  private publishChanges(changes: readonly { tenant_id: string; user_id: string; id: string }[]): void {
    for (const [tenant, rows] of Map.groupBy(changes, (row) => row.tenant_id)) {
      const pairs = rows.map(({ user_id, id }) => [user_id, id]);
      for (let at = 0; at < pairs.length; at += PAIRS_PER_MESSAGE)
        this.bus.publish(CHANGED, { tenant, pairs: pairs.slice(at, at + PAIRS_PER_MESSAGE) });
    }
  }

  /** Several notifications of a user were read. */
  countsChanged(tx: Tx, member: MemberKey): void {
    tx.afterCommit(() => this.publishCounts(member));
  }

  /** Call it after the commit. */
  publishCounts(member: MemberKey): void {
    this.bus.publish(COUNTS, { tenant: member.tenantId, user: member.userId });
    this.reportSettled(member);
  }

  private reportSettled({ tenantId, userId }: MemberKey): void {
    for (const listener of this.listeners) listener({ tenantId, userId });
  }

  private sendCounts(to: MemberKey): Promise<void> {
    return this.run(to, async (member, sockets) => {
      const [first] = sockets;
      if (!first) return;
      await this.examine(first.ctx);
      const counts = await this.rows.counts(this.db, member);
      for (const socket of sockets) socket.send(UNREAD, counts);
    });
  }

  /** Sends the changes of the last seconds that this process has not sent. */
  private async sendLost(seconds: number): Promise<void> {
    if (this.connections.size === 0) return;
    const recent = await this.rows.listRecent(seconds);
    const lost = recent.filter((row) => !this.isDelivered(row));
    for (const rows of Map.groupBy(lost, (row) => `${row.tenant_id} ${row.user_id}`).values()) {
      const [{ tenant_id: tenantId, user_id: userId }] = rows as [RecentNotification];
      const member = { tenantId, userId };
      if (this.connections.connectionsOf(tenantId, userId).size === 0 || rows.length > MAX_LOST) {
        for (const row of rows) this.delivered.set(row.id, versionOf(row));
        await this.sendCounts(member);
      } else for (const { id } of rows) await this.run(member, (to, sockets) => this.send(to, sockets, id));
    }
  }

  private isDelivered(row: RecentNotification): boolean {
    const counted = this.counted.get(`${row.tenant_id} ${row.user_id}`);
    const isCounted =
      row.state === 'read' && counted !== undefined && row.age * 1_000 >= performance.now() - counted;
    return isCounted || this.delivered.get(row.id) === versionOf(row);
  }

  private async run(
    member: MemberKey,
    work: (member: MemberKey, sockets: ReadonlySet<Connection>) => Promise<void>,
  ): Promise<void> {
    const sockets = this.connections.connectionsOf(member.tenantId, member.userId);
    if (sockets.size === 0) return;
    try {
      await work(member, sockets);
    } catch (error) {
      this.logger.warn({ err: error }, 'a notification was not sent to sockets');
    }
  }

  private async send(member: MemberKey, sockets: ReadonlySet<Connection>, id: string): Promise<void> {
    const [first] = sockets;
    if (!first) return;
    await this.examine(first.ctx);
    const rows = await this.rows.byIds(this.db, member, [id]);
    const [row] = rows;
    if (!row || this.delivered.get(id) === versionOf(row)) return;
    this.delivered.set(id, versionOf(row));
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

/** Differs for any two states of a notification. */
const versionOf = ({
  seq,
  state,
  updated_at,
}: Pick<RecentNotification, 'seq' | 'state' | 'updated_at'>): string =>
  `${seq} ${state} ${updated_at.getTime()}`;
