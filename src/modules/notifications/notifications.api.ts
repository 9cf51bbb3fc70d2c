import { Injectable } from '@nestjs/common';
import type { MemberKey, RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { MembersReader } from '../../platform/database/members-reader.js';
import type { Reader } from '../../platform/database/tx.js';
import { Notifications } from '../../platform/notifications/notifications.js';
import { NotificationSettingsApi, type NotificationSettings } from '../settings/index.js';
import { NotificationRelevance } from './inbox/notification-relevance.js';
import { afterQuiet } from './mails/email-time.js';
import type { NotificationResponse } from './notifications.dto.js';
import { NotificationPresenter } from './notification.presenter.js';
import { NotificationSockets } from './notification-sockets.js';
import { type NotificationRow, NotificationsRepository, type Outcome } from './notifications.repository.js';

/** A notification as its recipient sees it now, with the settings of the recipient. */
export interface CurrentNotificationView {
  notification: NotificationResponse;
  settings: NotificationSettings;
}

/** Notifications of a user, who reads them with these rights. */
interface OwnNotifications {
  ctx: RequestContext;
  rows: readonly NotificationRow[];
}

/** Notifications for other modules. */
@Injectable()
export class NotificationsApi {
  constructor(
    private readonly notifications: Notifications,
    private readonly relevance: NotificationRelevance,
    private readonly presenter: NotificationPresenter,
    private readonly sockets: NotificationSockets,
    private readonly settings: NotificationSettingsApi,
    private readonly rows: NotificationsRepository,
    private readonly db: Db,
  ) {}

  /** @param listener called in the process of a change by which notifications of a user may be no longer unread, after its commit */
  onSettled(listener: (member: MemberKey) => void): void {
    this.sockets.onSettled(listener);
  }

  /**
   * Notifications with the present rights of their recipients. Those that are no longer of use are withdrawn.
   * @param wanted user and id of each
   * @param requestId names the job in logs
   * @returns in their order; null unless the notification is unread, of use and readable, and its recipient is an active member
   */
  async readCurrent(
    tenantId: string,
    wanted: readonly { userId: string; id: string }[],
    requestId: string,
  ): Promise<(CurrentNotificationView | null)[]> {
    if (wanted.length === 0) return [];
    const found = new Map<string, CurrentNotificationView>();
    const users = [...new Set(wanted.map(({ userId }) => userId))];
    const contexts = await this.rows.contextsOf(tenantId, users, requestId);
    const settings = await this.settings.readSettings(this.db, tenantId, users);
    const settingsOf = new Map(settings.map((each) => [each.userId, each]));
    const rows = await this.rows.ofUsers(tenantId, wanted);
    // One statement reads what all recipients see.
    const reader = new MembersReader(this.db);
    const own = contexts.flatMap((ctx) => {
      const settings = settingsOf.get(ctx.userId);
      return settings ? [{ ctx, settings, rows: rows.get(ctx.userId) ?? [] }] : [];
    });
    const examined = await Promise.all(
      own.map(async (each) => ({
        ...each,
        outcome: await this.relevance.outcomeOf(each.ctx, each.rows, reader),
      })),
    );
    const present = await this.settled(tenantId, examined);
    await Promise.all(
      present.map(async ({ ctx, settings: of, rows: left }) => {
        const unread = left.filter(({ state }) => state === 'unread');
        const ringing = await this.ringing(ctx, unread, reader);
        for (const notification of await this.presenter.present(reader, ctx, ringing, of.language))
          if (notification.subject === null || notification.subject.title !== null)
            found.set(`${ctx.userId} ${notification.id}`, { notification, settings: of });
      }),
    );
    return wanted.map(({ userId, id }) => found.get(`${userId} ${id}`) ?? null);
  }

  /** The notifications among these that are still unread. */
  async unreadAmong(member: MemberKey, ids: readonly string[]): Promise<Set<string>> {
    const rows = await this.rows.byIds(this.db, member, ids);
    return new Set(rows.flatMap(({ id, state }) => (state === 'unread' ? [id] : [])));
  }

  /** The seconds until the end of the quiet hours: 0 outside of them, infinite when they have no end. */
  quietSeconds(settings: NotificationSettings): number {
    const now = new Date();
    const end = afterQuiet(now, settings);
    return end === null ? Infinity : (end.getTime() - now.getTime()) / 1_000;
  }

  /** With the rows that are left of each user, after the end of those that are no longer of use. */
  private async settled<Own extends OwnNotifications>(
    tenantId: string,
    examined: readonly (Own & { outcome: Outcome })[],
  ): Promise<Own[]> {
    const changed = await this.rows.settleEnded(
      tenantId,
      examined.map(({ outcome }) => outcome),
    );
    for (const [userId, ids] of changed) this.sockets.reportWithdrawal({ tenantId, userId }, ids);
    const stale = examined.filter(({ ctx }) => changed.has(ctx.userId));
    const wanted = stale.flatMap(({ ctx: { userId }, rows }) => rows.map(({ id }) => ({ userId, id })));
    const current =
      wanted.length > 0 ? await this.rows.ofUsers(tenantId, wanted) : new Map<string, NotificationRow[]>();
    return examined.map((each) =>
      changed.has(each.ctx.userId) ? { ...each, rows: current.get(each.ctx.userId) ?? [] } : each,
    );
  }

  /** Without the notifications that should ring and no longer do. */
  private async ringing(
    { tenantId, userId }: MemberKey,
    rows: readonly NotificationRow[],
    reader: Reader,
  ): Promise<NotificationRow[]> {
    const left: NotificationRow[] = [];
    for (const [rings, some] of Map.groupBy(rows, ({ type }) => this.notifications.find(type)?.rings)) {
      if (!rings) {
        left.push(...some);
        continue;
      }
      const about = some.map(({ id, subject_id, count, data }) => ({ id, subject_id, count, data }));
      const ids = new Set(
        (await reader.query(rings, [tenantId, userId, JSON.stringify(about)])).map(({ id }) => id),
      );
      left.push(...some.filter(({ id }) => ids.has(id)));
    }
    return left;
  }
}
