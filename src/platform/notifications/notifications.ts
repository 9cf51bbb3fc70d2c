import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Statement } from '../database/statement.js';
import type { Tx } from '../database/tx.js';
import { Outbox } from '../events/outbox.js';
import { ReferenceTitles, titlesBy } from '../references/reference-titles.js';
import type { NotificationCause, NotificationSubject, NotificationType } from './notification-type.js';

/** The event of `notify`. Payload: the cause, and `type`. */
export const NOTIFICATION_DUE = 'notification.due';

interface SettledSubject {
  tenantId: string;
  userId: string;
  subject: NotificationSubject;
  upTo: number;
}
type Settle = (settled: SettledSubject) => void;

interface ReviewedSubject {
  tenantId: string;
  userIds: readonly string[];
  subject: NotificationSubject;
}
type Review = (reviewed: ReviewedSubject) => void;

/** Registers notification types, and notifies users in the transaction of a cause. */
@Injectable()
export class Notifications {
  private readonly types = new Map<string, NotificationType>();
  private settle: Settle = () => undefined;
  private review: Review = () => undefined;

  constructor(private readonly outbox: Outbox) {}

  /** Call it in `onModuleInit`. */
  register(...types: readonly NotificationType[]): void {
    for (const type of types) {
      if (this.types.has(type.key)) throw new Error(`two notification types are named ${type.key}`);
      this.types.set(type.key, type);
    }
  }

  /**
   * Notifies users of a cause, after the commit of its transaction and exactly once. It serves a domain that appends no event of its own;
   * otherwise declare a trigger.
   */
  async notify(tx: Tx, tenantId: string, type: NotificationType, cause: NotificationCause): Promise<void> {
    const recipients = cause.recipients.filter((id) => id !== cause.actorId);
    if (recipients.length === 0) return;
    const payload = { ...cause, recipients, type: type.key };
    await this.outbox.append(tx, { tenantId, type: NOTIFICATION_DUE, payload });
  }

  /** Called by the notifications module. */
  onSettled(settle: Settle): void {
    this.settle = settle;
  }

  /**
   * Marks the unread notifications about a subject as read, because the user has seen it. Call it after the commit.
   * @param upTo only notifications whose `data.seq` is at most this number, and those without one
   */
  markSettled(tenantId: string, userId: string, subject: NotificationSubject, upTo: number): void {
    this.settle({ tenantId, userId, subject, upTo });
  }

  /** Called by the notifications module. */
  onReview(review: Review): void {
    this.review = review;
  }

  /**
   * Withdraws the unread notifications of users about a subject that are no longer of use, so that their clients learn it at once. Call it
   * after the commit. Nothing depends on it: whatever it leaves out is withdrawn when the user next reads.
   */
  reviewSubject(tenantId: string, userIds: readonly string[], subject: NotificationSubject): void {
    if (userIds.length > 0) this.review({ tenantId, userIds, subject });
  }

  find(key: string): NotificationType | undefined {
    return this.types.get(key);
  }

  get all(): NotificationType[] {
    return [...this.types.values()];
  }
}

/** Base of the notifications of a domain: registers their types, and the titles that they show. */
@Injectable()
export abstract class DomainNotifications implements OnModuleInit {
  protected abstract readonly types: readonly NotificationType[];
  /** Statements for `titlesBy`, by the kind of the subject. */
  protected readonly titles: Readonly<Record<string, Statement<{ id: string; title: string }>>> = {};

  constructor(
    protected readonly notifications: Notifications,
    private readonly references: ReferenceTitles,
  ) {}

  onModuleInit(): void {
    this.notifications.register(...this.types);
    for (const [kind, statement] of Object.entries(this.titles))
      this.references.register(kind, titlesBy(statement));
  }
}
