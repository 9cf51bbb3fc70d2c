import { Injectable } from '@nestjs/common';
import type { MemberKey, RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { Notifications } from '../../platform/notifications/notifications.js';
import { NotificationSettingsApi, type NotificationSettings } from '../settings/index.js';
import { NotificationRelevance } from './inbox/notification-relevance.js';
import { afterQuiet } from './mails/email-time.js';
import type { NotificationResponse } from './notification.response.js';
import { NotificationPresenter } from './notification.presenter.js';
import { NotificationSockets } from './notification-sockets.js';
import { type NotificationRow, NotificationsRepository } from './notifications.repository.js';

/** A notification as its recipient sees it now, with the settings of the recipient. */
export interface CurrentNotificationView {
  notification: NotificationResponse;
  settings: NotificationSettings;
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
   * The notification with the present rights of its recipient. One that is no longer of use is withdrawn.
   * @param requestId names the job in logs
   * @returns null unless it is unread, of use and readable, and its recipient is an active member
   */
  async current(member: MemberKey, id: string, requestId: string): Promise<CurrentNotificationView | null> {
    const ctx = await this.rows.contextOf(member, requestId);
    if (!ctx) return null;
    const [settings] = await this.settings.of(this.db, member.tenantId, [member.userId]);
    const row = await this.unread(ctx, id);
    if (!settings || !row) return null;
    const [notification] = await this.presenter.present(this.db, ctx, [row], settings.language);
    const isReadable = notification && (notification.subject === null || notification.subject.title !== null);
    return isReadable ? { notification, settings } : null;
  }

  /** The notifications among these that are still unread. */
  async unreadAmong(member: MemberKey, ids: readonly string[]): Promise<Set<string>> {
    const rows = await this.rows.byIds(this.db, member, ids);
    return new Set(rows.flatMap(({ id, state }) => (state === 'unread' ? [id] : [])));
  }

  /** The end of the quiet hours of now; null outside of them. */
  quietUntil(settings: NotificationSettings): Date | null {
    const now = new Date();
    const end = afterQuiet(now, settings);
    return end > now ? end : null;
  }

  private async unread(ctx: RequestContext, id: string): Promise<NotificationRow | null> {
    const read = () => this.rows.byIds(this.db, ctx, [id]);
    const rows = await read();
    const changed = await this.relevance.examine(ctx, rows);
    this.sockets.withdrawn(ctx, changed);
    const [row] = changed.length > 0 ? await read() : rows;
    return row?.state === 'unread' && (await this.rings(ctx, row)) ? row : null;
  }

  /** Whether a notification that rings still does; true for any other one. */
  private async rings({ tenantId, userId }: MemberKey, row: NotificationRow): Promise<boolean> {
    const rings = this.notifications.find(row.type)?.rings;
    if (!rings) return true;
    const { id, subject_id, count, data } = row;
    const about = JSON.stringify([{ id, subject_id, count, data }]);
    return (await this.db.query(rings, [tenantId, userId, about])).length > 0;
  }
}
