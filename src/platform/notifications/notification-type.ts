import type { Statement } from '../database/statement.js';
import type { Reader } from '../database/tx.js';
import type { DomainEvent } from '../events/outbox.js';
import type { Language, Text } from '../languages/languages.js';
import type { MailContent } from '../system-mail/mail-template.js';

/** The kinds of notifications that users can configure. `.*` covers all types of a kind. */
export const NOTIFICATION_PREFERENCES = [
  'chat.message',
  'chat.mention',
  'room.added',
  'call.started',
  'call.missed',
  'guest.waiting',
  'domain.requested',
  'recording.ready',
  'recording.failed',
  'form.response',
  'form.closed',
  'report.shared',
  'task.*',
  'calendar.*',
  'note.shared',
  'webhook.disabled',
  'security.*',
] as const;
export type NotificationPreference = (typeof NOTIFICATION_PREFERENCES)[number];

/** The kinds whose e-mail cannot be switched off. */
export const REQUIRED_PREFERENCES: ReadonlySet<string> = new Set<NotificationPreference>([
  'security.*',
  'webhook.disabled',
]);

/** The object that a notification is about. `ReferenceTitles` must have a source for its kind. */
export interface NotificationSubject {
  kind: string;
  id: string;
}

/** The facts of one cause. */
export interface NotificationCause {
  /** Ids of users. The actor, and unknown or deactivated members, get no notification. */
  recipients: readonly string[];
  /** The user who caused it; null for the system. */
  actorId: string | null;
  /** Null means the account of the recipient. */
  subject: NotificationSubject | null;
  /** Facts for clients and for the text. Without titles and contents: these are read with the permissions of the reader. */
  data?: Readonly<Record<string, string | number | boolean | null>>;
  /** Number of occurrences that the cause represents; default: 1. */
  count?: number;
  /** Identifies the cause for each recipient within 30 days; a second one is ignored. Default: the id of the event. */
  key?: string;
}

/** Turns an event of the outbox into notifications. */
export interface NotificationTrigger {
  /** The type of the event. */
  readonly event: string;
  /** @returns null when no user is to be notified */
  readonly causes: (
    event: DomainEvent,
    reader: Reader,
  ) => Promise<NotificationCause | null> | NotificationCause | null;
  /**
   * The causes of several events of one workspace, in their order. For a grouped type with frequent events: a batch needs one
   * read and one write.
   */
  readonly causesOfMany?: (
    tenantId: string,
    events: readonly DomainEvent[],
    reader: Reader,
  ) => Promise<(NotificationCause | null)[]>;
}

/** A notification that is still of use. */
export interface CurrentNotification {
  id: string;
  /** Of a grouped type: the causes that remain, with the actor and `data` of the newest of them. Absent: unchanged. */
  count?: number;
  /** Null means no member. */
  actor_id?: string | null;
  data?: Record<string, unknown>;
}

/**
 * How long a notification is of use; later it is withdrawn from lists, counts and e-mails. `always`: it has no subject. `while_readable`:
 * while `ReferenceTitles` has a title of its subject for its recipient. A statement: while that holds and the statement returns the
 * notification. Its parameters: the workspace, the recipient (which it must use, as PostgreSQL requires), JSON `[{id, subject_id, count,
 * data}]` of notifications.
 */
export type NotificationTerm = 'always' | 'while_readable' | Statement<CurrentNotification>;

/** A notification for which an e-mail of its own is composed. */
export interface MailedNotification {
  /** The text of the notification in the language of the recipient. */
  text: string;
  data: Readonly<Record<string, unknown>>;
  createdAt: Date;
  language: Language;
  /** IANA name of the time zone of the recipient. */
  timeZone: string;
  /** Address of the web client, without a slash at the end. */
  clientUrl: string;
}

/** A type of notification. Its domain declares it in `<domain>.notifications.ts` and registers it at `Notifications`. */
export interface NotificationType {
  /** `<domain>.<past tense>`, unique. */
  readonly key: string;
  /** The preference that switches it on and off. */
  readonly preference: NotificationPreference;
  /** One line. Placeholders: `{actor}`, `{title}` (of the subject), `{count}`, and the members of `data`. */
  readonly texts: Readonly<Record<Language, Text>>;
  /** A second line in e-mails, such as time and place; empty: none. */
  readonly detail?: (notification: Pick<MailedNotification, 'data' | 'language' | 'timeZone'>) => string;
  /** In place of `texts` where `data.direct` is true: the title of the subject is the name of a person, the other one of a direct room. */
  readonly directTexts?: Readonly<Record<Language, Text>>;
  /** Path of the subject in the client. */
  readonly path?: (about: { subject: NotificationSubject; data: Record<string, unknown> }) => string;
  readonly lasts: NotificationTerm;
  /**
   * Of a type that rings, such as a call: returns the notifications, among those of `$3` as in {@link NotificationTerm}, that their recipient
   * has neither accepted nor declined. Push messages ring for this long, at most a minute.
   */
  readonly rings?: Statement<CurrentNotification>;
  /** Causes with the same subject share one unread notification, which counts them. */
  readonly isGrouped?: boolean;
  /** Of a grouped type: the member of `data` that orders its causes. The notification has `first_<member>` of the first one too. */
  readonly orderedBy?: 'seq' | 'comment_id';
  /** E-mail is sent at once and cannot be switched off. */
  readonly isRequired?: boolean;
  /** The content of an e-mail of its own; default: a line in the common e-mail. */
  readonly mail?: (notification: MailedNotification) => MailContent;
  /** Data of the preview of `mail`. */
  readonly mailExample?: Readonly<Record<string, string | number>>;
  /** Events that cause it. Others call `Notifications.notify`. */
  readonly triggers?: readonly NotificationTrigger[];
}
