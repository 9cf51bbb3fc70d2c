import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { isAnonymous, makeId } from '../../platform/events/anonymous-events.js';
import { type DomainEvent, Outbox } from '../../platform/events/outbox.js';
import type { NotificationCause, NotificationType } from '../../platform/notifications/notification-type.js';
import { NOTIFICATION_DUE, Notifications } from '../../platform/notifications/notifications.js';
import { SystemMail } from '../../platform/system-mail/system-mail.js';
import { type NotificationSettings, NotificationSettingsApi } from '../settings/index.js';
import { Announcements } from './inbox/announcements.js';
import { emailTime } from './mails/email-time.js';
import { NotificationsApi } from './notifications.api.js';
import { NotificationSockets } from './notification-sockets.js';
import { NotificationsRepository } from './notifications.repository.js';
import type { NotificationEntity } from './notifications.schema.js';

interface NewRow extends Pick<NotificationEntity, 'user_id' | 'id' | 'shown' | 'email_due_at' | 'actor_id'> {
  data: NotificationCause['data'];
  causes: { key: string; count: number }[];
}

/** A cause, and the id and workspace of its event. */
interface IdentifiedCause {
  id: string;
  tenantId: string;
  cause: NotificationCause;
}

// Skips causes of which a recipient was notified before. The recipients of the others get their next numbers, locked in the order
// of their ids. An unread notification of the same group counts the causes, and is mailed once. $7: `orderedBy` of the type, or null.
// Causes may come out of order: `data` is that of the last one.
const add = workspace.statement<Pick<NotificationEntity, 'tenant_id' | 'user_id' | 'id'>>(
  'notifications.add',
  `WITH input AS (
     SELECT * FROM jsonb_to_recordset($6) AS row (
       user_id uuid, id uuid, shown boolean, email_due_at timestamptz, actor_id uuid, data jsonb, causes jsonb)),
   causes AS (
     SELECT input.user_id, cause.key, cause.count
       FROM input CROSS JOIN LATERAL jsonb_to_recordset(input.causes) AS cause (key text, count int)),
   fresh AS (
     INSERT INTO notification_causes (tenant_id, user_id, key)
     SELECT $1, user_id, key FROM causes ORDER BY user_id, key
     ON CONFLICT (tenant_id, user_id, key) DO NOTHING RETURNING user_id, key),
   counted AS (
     SELECT fresh.user_id, sum(causes.count)::int AS count
       FROM fresh JOIN causes ON causes.user_id = fresh.user_id AND causes.key = fresh.key GROUP BY fresh.user_id),
   heads AS (
     INSERT INTO notification_heads AS head (tenant_id, user_id, seq)
     SELECT $1, user_id, 1 FROM counted ORDER BY user_id
     ON CONFLICT (tenant_id, user_id) DO UPDATE SET seq = head.seq + 1 RETURNING head.user_id, head.seq)
   INSERT INTO notifications AS stored
     (tenant_id, user_id, id, seq, type, actor_id, subject_kind, subject_id, group_key, data, count, shown, email_due_at)
   SELECT $1, input.user_id, input.id, heads.seq, $2, input.actor_id, $3, $4, $5, input.data, counted.count, input.shown,
          input.email_due_at
     FROM input JOIN counted ON counted.user_id = input.user_id JOIN heads ON heads.user_id = input.user_id
    ORDER BY input.user_id
   ON CONFLICT (tenant_id, user_id, group_key) WHERE state = 'unread' AND group_key IS NOT NULL DO UPDATE
     SET seq = excluded.seq, count = stored.count + excluded.count, actor_id = excluded.actor_id, seen_at = NULL,
         data = CASE WHEN stored.data->$7 > excluded.data->$7 THEN stored.data ELSE excluded.data END
           || CASE WHEN stored.data ? ('first_' || $7) THEN jsonb_build_object(
                'first_' || $7, least(stored.data->('first_' || $7), excluded.data->('first_' || $7))) ELSE '{}' END,
         shown = stored.shown OR excluded.shown, updated_at = now(),
         email_due_at = coalesce(stored.email_due_at, CASE WHEN stored.emailed_at IS NULL THEN excluded.email_due_at END)
   RETURNING tenant_id, user_id, id`,
);

/** Remembered events whose notifications a batch has stored, until their handlers run: more than one batch of the outbox. */
const MAX_STORED = 1_000;

/** Stores the notifications of causes: consumes the events of all registered types. */
@Injectable()
export class NotificationWriter implements OnApplicationBootstrap {
  private readonly logger = new Logger(NotificationWriter.name);
  /** Type and id of events that a batch has stored. */
  private readonly stored = new LRUCache<string, true>({ max: MAX_STORED });

  constructor(
    private readonly notifications: Notifications,
    private readonly outbox: Outbox,
    private readonly settings: NotificationSettingsApi,
    private readonly rows: NotificationsRepository,
    private readonly sockets: NotificationSockets,
    private readonly mail: SystemMail,
    private readonly announcements: Announcements,
    private readonly api: NotificationsApi,
    private readonly db: Db,
  ) {}

  /** Domains register their types in `onModuleInit`. */
  onApplicationBootstrap(): void {
    for (const type of this.notifications.all) {
      for (const { event, causes } of type.triggers ?? []) {
        this.outbox.subscribe(event, `notification ${type.key}`, async (happened) => {
          if (this.stored.delete(storedKey(type, happened.id))) return;
          const cause = await causes(happened, this.db);
          const { tenantId, id } = happened;
          if (cause) await this.store(type, [{ tenantId, id, cause }]);
        });
      }
    }
    this.outbox.subscribe(NOTIFICATION_DUE, 'notifications', (event) => this.handle(event));
    this.outbox.prepareBatches('notifications', (events) => this.prepare(events));
    this.notifications.onSettled(({ tenantId, userId, subject, upTo }) => {
      this.rows
        .settle({ tenantId, userId }, subject, upTo)
        .then((count) => count > 0 && this.sockets.publishCounts({ tenantId, userId }))
        .catch((error: unknown) => this.logger.warn({ err: error }, 'notifications stay unread'));
    });
    this.notifications.onReview(({ tenantId, userIds, subject }) => {
      this.api
        .review(tenantId, userIds, subject)
        .catch((error: unknown) => this.logger.warn({ err: error }, 'notifications are not withdrawn'));
    });
  }

  private async handle(event: DomainEvent): Promise<void> {
    const due = this.dueOf(event);
    if (due && !this.stored.delete(storedKey(due.type, event.id)))
      await this.store(due.type, [{ id: event.id, tenantId: event.tenantId, cause: due.cause }]);
  }

  private dueOf({ payload }: DomainEvent): { type: NotificationType; cause: NotificationCause } | null {
    const { type: key, ...cause } = payload as unknown as NotificationCause & { type: string };
    const type = this.notifications.find(key);
    return type ? { type, cause } : null;
  }

  /** Stores the causes that one notification counts together: a busy form or room costs one write for each batch of events. */
  private async prepare(events: readonly DomainEvent[]): Promise<void> {
    const due = events.flatMap((event) => {
      const found = event.type === NOTIFICATION_DUE ? this.dueOf(event) : null;
      return found ? [{ event, ...found }] : [];
    });
    for (const type of this.notifications.all.filter(({ isGrouped }) => isGrouped)) {
      const causes = [...due.filter((each) => each.type === type), ...(await this.triggered(type, events))];
      for (const group of bySubject(causes)) {
        await this.store(type, group);
        for (const { id } of group) this.stored.set(storedKey(type, id), true);
      }
    }
  }

  /** The causes of the events that the type reads together. */
  private async triggered(
    type: NotificationType,
    events: readonly DomainEvent[],
  ): Promise<{ event: DomainEvent; cause: NotificationCause | null }[]> {
    const found = [];
    for (const { event: name, causesOfMany } of type.triggers ?? []) {
      if (!causesOfMany) continue;
      const own = events.filter((event) => event.type === name);
      for (const tenantId of new Set(own.map((event) => event.tenantId))) {
        const together = own.filter((event) => event.tenantId === tenantId);
        const causes = await causesOfMany(tenantId, together, this.db);
        found.push(...together.map((event, index) => ({ event, cause: causes[index] ?? null })));
      }
    }
    return found;
  }

  /** @param causes at least one, all with the same workspace and subject; only one if the type is not grouped */
  private async store(type: NotificationType, causes: readonly IdentifiedCause[]): Promise<void> {
    const { tenantId, cause } = causes[0]!;
    const byUser = causesByUser(type, causes);
    if (byUser.size === 0) return;
    const settings = await this.settings.readSettings(this.db, tenantId, [...byUser.keys()]);
    const rows = settings.flatMap((each) => this.rowFor(type, each, byUser.get(each.userId) ?? []) ?? []);
    if (rows.length === 0) return;
    const { subject } = cause;
    const group = type.isGrouped && subject ? `${type.key} ${subject.id}` : null;
    const about = [type.key, subject?.kind ?? null, subject?.id ?? null, group];
    const values = [tenantId, ...about, JSON.stringify(rows), type.orderedBy ?? null];
    const wanted = settings.filter((each) => this.announcements.isWanted(type, each));
    const pushed = new Set(wanted.map(({ userId }) => userId));
    const store = async (tx: Tx) => {
      const added = await tx.query(add, values);
      this.sockets.reportChanges(tx, added);
      return added.filter(({ user_id }) => pushed.has(user_id));
    };
    if (pushed.size === 0) return void (await this.db.single(store));
    await this.db.tx(async (tx) => {
      const notifications = (await store(tx)).map(({ user_id, id }) => ({ user_id, id }));
      await this.announcements.announce(tx, { tenantId, type: type.key, notifications });
    });
  }

  /** @returns null when the user wants neither the list nor an e-mail */
  private rowFor(
    type: NotificationType,
    settings: NotificationSettings,
    causes: readonly UserCause[],
  ): NewRow | null {
    const shown = settings.uses('in_app', type.preference);
    const isRequired = type.isRequired === true;
    const isMailed = this.mail.isConfigured && (isRequired || settings.uses('email', type.preference));
    const email_due_at = isMailed ? emailTime(new Date(), settings, isRequired) : null;
    const [first, last] = [causes[0], causes.at(-1)];
    if (!first || !last || (!shown && email_due_at === null)) return null;
    const data = dataOf(type, first.data ?? {}, last.data ?? {});
    return {
      user_id: settings.userId,
      id: makeId(isAnonymous(data)),
      shown,
      email_due_at,
      actor_id: last.actorId,
      data,
      causes: causes.map(({ key, count = 1 }) => ({ key, count })),
    };
  }
}

type CauseData = NonNullable<NotificationCause['data']>;
type UserCause = NotificationCause & { key: string };

/** The data of the last cause, with the position of the first one. */
function dataOf({ orderedBy }: NotificationType, first: CauseData, last: CauseData): CauseData {
  if (orderedBy === undefined) return last;
  const name = `first_${orderedBy}`;
  return { ...last, [name]: first[name] ?? first[orderedBy] ?? null };
}

/** The causes of each recipient, by their keys. The actor of a cause is not notified of it. */
function causesByUser(type: NotificationType, causes: readonly IdentifiedCause[]): Map<string, UserCause[]> {
  const byUser = new Map<string, UserCause[]>();
  for (const { id, cause } of causes) {
    const key = `${type.key} ${cause.key ?? id}`;
    for (const user of new Set(cause.recipients)) {
      const own = byUser.get(user) ?? [];
      if (user === cause.actorId || own.some((each) => each.key === key)) continue;
      byUser.set(user, [...own, { ...cause, key }]);
    }
  }
  return byUser;
}

const storedKey = ({ key }: NotificationType, event: string): string => `${key} ${event}`;

/** Groups of two and more causes with the same workspace and subject. */
function bySubject(
  causes: readonly { event: DomainEvent; cause: NotificationCause | null }[],
): IdentifiedCause[][] {
  const groups = new Map<string, IdentifiedCause[]>();
  for (const { event, cause } of causes) {
    if (!cause?.subject) continue;
    const key = `${event.tenantId} ${cause.subject.id}`;
    groups.set(key, [...(groups.get(key) ?? []), { id: event.id, tenantId: event.tenantId, cause }]);
  }
  return [...groups.values()].filter(({ length }) => length > 1);
}
