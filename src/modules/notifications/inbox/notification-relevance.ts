import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Reader } from '../../../platform/database/tx.js';
import type {
  CurrentNotification,
  NotificationTerm,
} from '../../../platform/notifications/notification-type.js';
import { Notifications } from '../../../platform/notifications/notifications.js';
import { ReferenceTitles } from '../../../platform/references/reference-titles.js';
import { type NotificationRow, NotificationsRepository, type Outcome } from '../notifications.repository.js';

/** Notifications that are examined together. */
const BATCH = 500;

/**
 * Withdraws notifications that are no longer of use, such as that of a deleted message or a completed task: they become `dismissed` and
 * are not mailed. What ends a notification, `NotificationType.lasts` says; whether it has ended is read with the rights of the recipient.
 * Nothing else needs to report the end, so lists, counts and e-mails examine the notifications before they use them.
 */
@Injectable()
export class NotificationRelevance {
  constructor(
    private readonly notifications: Notifications,
    private readonly references: ReferenceTitles,
    private readonly rows: NotificationsRepository,
    private readonly db: Db,
  ) {}

  /** Examines all unread notifications of the user. @returns ids of changed and withdrawn ones */
  async examineUnread(ctx: RequestContext): Promise<string[]> {
    const changed: string[] = [];
    for (let [after, size] = [0, BATCH]; size === BATCH;) {
      const rows = await this.rows.listUnread(ctx, after, BATCH);
      changed.push(...(await this.examine(ctx, rows)));
      size = rows.length;
      after = rows.at(-1)?.seq ?? after;
    }
    return changed;
  }

  /** @param rows notifications of the user @returns ids of changed and withdrawn ones */
  async examine(ctx: RequestContext, rows: readonly NotificationRow[]): Promise<string[]> {
    const outcome = await this.outcomeOf(ctx, rows, this.db);
    return (await this.rows.settleEnded(ctx.tenantId, [outcome])).get(ctx.userId) ?? [];
  }

  /** @param rows notifications of the user */
  async outcomeOf(ctx: RequestContext, rows: readonly NotificationRow[], reader: Reader): Promise<Outcome> {
    const open = rows.filter(({ state }) => state !== 'dismissed');
    const { userId } = ctx;
    if (open.length === 0) return { userId, ended: [], changed: [] };
    const current = await this.current(ctx, open, reader);
    const ended = open.filter(({ id }) => !current.has(id)).map(({ id, seq }) => ({ id, seq }));
    const changed = open.flatMap(({ id, seq, count, actor_id, data }) => {
      const now = current.get(id);
      if (now?.count === undefined) return [];
      const actor = now.actor_id === undefined ? actor_id : now.actor_id;
      return now.count === count && actor === actor_id
        ? []
        : [{ id, seq, count: now.count, actor_id: actor, data: now.data ?? data }];
    });
    return { userId, ended, changed };
  }

  /** The notifications that are of use, by id. A notification of an unknown type, as of another release, stays. */
  private async current(
    ctx: RequestContext,
    rows: readonly NotificationRow[],
    reader: Reader,
  ): Promise<Map<string, CurrentNotification>> {
    const readable = await this.readable(
      reader,
      ctx,
      rows.filter(({ type }) => this.termOf(type) !== 'always'),
    );
    const current: CurrentNotification[] = [];
    for (const [term, some] of Map.groupBy(rows, ({ type }) => this.termOf(type))) {
      const left = term === 'always' ? some : some.filter((row) => readable.has(row));
      if (typeof term === 'string') current.push(...left.map(({ id }) => ({ id })));
      else if (left.length > 0) {
        const about = left.map(({ id, subject_id, count, data }) => ({ id, subject_id, count, data }));
        const { tenantId, userId } = ctx;
        current.push(...(await reader.query(term, [tenantId, userId, JSON.stringify(about)])));
      }
    }
    return new Map(current.map((each) => [each.id, each]));
  }

  private termOf(type: string): NotificationTerm {
    return this.notifications.find(type)?.lasts ?? 'always';
  }

  /** The notifications whose subjects have titles for the user. */
  private async readable(
    reader: Reader,
    ctx: RequestContext,
    rows: readonly NotificationRow[],
  ): Promise<Set<NotificationRow>> {
    const readable = new Set<NotificationRow>();
    for (const [kind, some] of Map.groupBy(rows, ({ subject_kind }) => subject_kind)) {
      if (kind === null) continue;
      const ids = some.map(({ subject_id }) => subject_id as string);
      const titles = await this.references.readTitles(reader, ctx, kind, ids);
      for (const row of some) if (titles.has(row.subject_id as string)) readable.add(row);
    }
    return readable;
  }
}
