import { Injectable } from '@nestjs/common';
import type { MemberKey, RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { MembersReader } from '../../platform/database/members-reader.js';
import type { Reader } from '../../platform/database/tx.js';
import type { NotificationSubject } from '../../platform/notifications/notification-type.js';
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

/** Notifications that one review examines. */
const MAX_REVIEWED = 500;

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
    const settings = await this.settings.readSettings(this.db, tenantId, users);
    const settingsOf = new Map(settings.map((each) => [each.userId, each]));
    // One statement reads what all recipients see.
    const reader = new MembersReader(this.db);
    const present = await this.examine(tenantId, wanted, requestId, reader);
    await Promise.all(
      present.map(async ({ ctx, rows: left }) => {
        const of = settingsOf.get(ctx.userId);
        if (!of) return;
        const unread = left.filter(({ state }) => state === 'unread');
        const ringing = await this.ringing(ctx, unread, reader);
        for (const notification of await this.presenter.present(reader, ctx, ringing, of.language))
          if (notification.subject === null || notification.subject.title !== null)
            found.set(`${ctx.userId} ${notification.id}`, { notification, settings: of });
      }),
    );
    return wanted.map(({ userId, id }) => found.get(`${userId} ${id}`) ?? null);
  }

  /** Withdraws the unread notifications of users about a subject that are no longer of use, and reports them to the sockets of the users. */
  async review(tenantId: string, userIds: readonly string[], subject: NotificationSubject): Promise<void> {
    const wanted = await this.rows.unreadAbout(tenantId, userIds, subject, MAX_REVIEWED);
    if (wanted.length > 0) await this.examine(tenantId, wanted, 'notifications', new MembersReader(this.db));
  }

  /** Ends the notifications that are no longer of use. @returns the others, by recipients that are active members */
  private async examine(
    tenantId: string,
    wanted: readonly { userId: string; id: string }[],
    requestId: string,
    reader: Reader,
  ): Promise<OwnNotifications[]> {
    const users = [...new Set(wanted.map(({ userId }) => userId))];
    const contexts = await this.rows.contextsOf(tenantId, users, requestId);
    const rows = await this.rows.ofUsers(tenantId, wanted);
    const examined = await Promise.all(
      contexts.map(async (ctx) => {
        const own = rows.get(ctx.userId) ?? [];
        return { ctx, rows: own, outcome: await this.relevance.outcomeOf(ctx, own, reader) };
      }),
    );
    return this.settled(tenantId, examined);
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
  private async settled(
    tenantId: string,
    examined: readonly (OwnNotifications & { outcome: Outcome })[],
  ): Promise<OwnNotifications[]> {
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
