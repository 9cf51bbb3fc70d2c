import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import { type DomainEvent, Outbox } from '../../platform/events/outbox.js';
import type { NotificationCause, NotificationType } from '../../platform/notifications/notification-type.js';
import { NOTIFICATION_DUE, Notifications } from '../../platform/notifications/notifications.js';
import { SystemMail } from '../../platform/system-mail/system-mail.js';
import { type NotificationSettings, NotificationSettingsApi } from '../settings/index.js';
import { emailTime } from './mails/email-time.js';
import { NotificationSockets } from './notification-sockets.js';
import { NotificationsRepository } from './notifications.repository.js';

interface NewRow {
  user_id: string;
  id: string;
  shown: boolean;
  email_due_at: Date | null;
}

// One statement: a cause that a recipient has had is left out, the others take the next numbers in the order of their ids. An
// unread notification of the same group counts the cause, and is mailed once.
const add = workspace.statement<{ user_id: string; id: string }>(
  'notifications.add',
  `WITH input AS (
     SELECT * FROM jsonb_to_recordset($9) AS row (user_id uuid, id uuid, shown boolean, email_due_at timestamptz)),
   fresh AS (
     INSERT INTO notification_causes (tenant_id, user_id, key)
     SELECT $1, user_id, $8 FROM input ORDER BY user_id
     ON CONFLICT (tenant_id, user_id, key) DO NOTHING RETURNING user_id),
   heads AS (
     INSERT INTO notification_heads AS head (tenant_id, user_id, seq)
     SELECT $1, user_id, 1 FROM fresh ORDER BY user_id
     ON CONFLICT (tenant_id, user_id) DO UPDATE SET seq = head.seq + 1 RETURNING head.user_id, head.seq)
   INSERT INTO notifications AS stored
     (tenant_id, user_id, id, seq, type, actor_id, subject_kind, subject_id, group_key, data, count, shown, email_due_at)
   SELECT $1, input.user_id, input.id, heads.seq, $2, $3, $4, $5, $6, $7, $10, input.shown, input.email_due_at
     FROM input JOIN heads ON heads.user_id = input.user_id
   ON CONFLICT (tenant_id, user_id, group_key) WHERE state = 'unread' AND group_key IS NOT NULL DO UPDATE
     SET seq = excluded.seq, count = stored.count + excluded.count, actor_id = excluded.actor_id, data = excluded.data, seen_at = NULL,
         shown = stored.shown OR excluded.shown, updated_at = now(),
         email_due_at = coalesce(stored.email_due_at, CASE WHEN stored.emailed_at IS NULL THEN excluded.email_due_at END)
   RETURNING user_id, id`,
);

/** Stores the notifications of causes: consumes the events of all registered types. */
@Injectable()
export class NotificationWriter implements OnApplicationBootstrap {
  private readonly logger = new Logger(NotificationWriter.name);

  constructor(
    private readonly notifications: Notifications,
    private readonly outbox: Outbox,
    private readonly settings: NotificationSettingsApi,
    private readonly rows: NotificationsRepository,
    private readonly sockets: NotificationSockets,
    private readonly mail: SystemMail,
    private readonly db: Db,
  ) {}

  /** Domains register their types in `onModuleInit`. */
  onApplicationBootstrap(): void {
    for (const type of this.notifications.all) {
      for (const { event, causes } of type.triggers ?? []) {
        this.outbox.subscribe(event, `notification ${type.key}`, async (happened) => {
          const cause = await causes(happened, this.db);
          if (cause) await this.store(happened, type, cause);
        });
      }
    }
    this.outbox.subscribe(NOTIFICATION_DUE, 'notifications', (event) => this.handle(event));
    this.notifications.onSettled(({ tenantId, userId, subject, upTo }) => {
      this.rows
        .settle({ tenantId, userId }, subject, upTo)
        .then((count) => count > 0 && this.sockets.publishCounts({ tenantId, userId }))
        .catch((error: unknown) => this.logger.warn({ err: error }, 'notifications stay unread'));
    });
  }

  private async handle(event: DomainEvent): Promise<void> {
    const { type, ...cause } = event.payload as unknown as NotificationCause & { type: string };
    const found = this.notifications.find(type);
    if (found) await this.store(event, found, cause);
  }

  private async store(
    { tenantId, id }: DomainEvent,
    type: NotificationType,
    { recipients, actorId, subject, data = {}, count = 1, key = id }: NotificationCause,
  ): Promise<void> {
    const others = [...new Set(recipients)].filter((user) => user !== actorId);
    if (others.length === 0) return;
    const settings = await this.settings.of(this.db, tenantId, others);
    const rows = settings.flatMap((each) => this.rowFor(type, each) ?? []);
    if (rows.length === 0) return;
    const group = type.isGrouped && subject ? `${type.key} ${subject.id}` : null;
    const values = [type.key, actorId, subject?.kind ?? null, subject?.id ?? null, group, data];
    await this.db.single(async (tx) => {
      const added = await tx.query(add, [
        tenantId,
        ...values,
        `${type.key} ${key}`,
        JSON.stringify(rows),
        count,
      ]);
      this.sockets.changed(
        tx,
        tenantId,
        added.map((row) => ({ userId: row.user_id, id: row.id })),
      );
    });
  }

  /** @returns null when the user wants neither the list nor an e-mail */
  private rowFor(type: NotificationType, settings: NotificationSettings): NewRow | null {
    const shown = settings.uses('in_app', type.preference);
    const isMailed =
      this.mail.isConfigured && (type.isRequired === true || settings.uses('email', type.preference));
    if (!shown && !isMailed) return null;
    const email_due_at = isMailed ? emailTime(new Date(), settings, type.isRequired === true) : null;
    return { user_id: settings.userId, id: uuidv7(), shown, email_due_at };
  }
}
