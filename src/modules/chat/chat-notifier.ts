import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Db } from '../../platform/database/db.js';
import { rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { ItemFailures } from '../../platform/jobs/sweep.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import type { NotificationCause } from '../../platform/notifications/notification-type.js';
import { Notifications } from '../../platform/notifications/notifications.js';
import { ChatChanges } from './chat-changes.js';
import { CHAT_MENTION, CHAT_MESSAGE, CHAT_ROOM } from './chat.notifications.js';
import { ChatNotified } from './chat.schema.js';
import { growingTo } from '../../platform/memory/cache-size.js';

const EVERY_SECONDS = 15;
/** Name of the job for the rooms that this process has changed. */
const CHANGED_ROOMS = 'notify-changed-rooms';
/** Milliseconds from a message to its notifications. */
const COLLECT_MS = 500;
/** Milliseconds between two runs of a busy room. */
const PAUSE_MS = 5_000;
/** Messages of one room in one step. */
const BATCH = 500;
/** Maximum age of messages in the first run of a process. Older messages cause no notification. */
const MAX_AGE_SECONDS = 86_400;
/** A message may become visible this long after its `created_at`: the time limit of a transaction. */
const OVERLAP_SECONDS = 60;

type RoomKey = Pick<ChatNotified, 'tenant_id' | 'room_id'>;

interface NewMessage {
  seq: number;
  id: string;
  /** Null means a guest. */
  user_id: string | null;
  mentions: string[];
}

interface Reader {
  user_id: string;
  notify: 'all' | 'mentions';
  direct: boolean;
  last_read_seq: number;
}

// Indexes chat_messages_age and the primary keys.
const pending = workspace.statement<RoomKey>(
  'chat.pending_notifications',
  `SELECT DISTINCT message.tenant_id, message.room_id FROM chat_messages message
     LEFT JOIN chat_notified notified ON notified.tenant_id = message.tenant_id AND notified.room_id = message.room_id
    WHERE message.created_at > now() - make_interval(secs => $1) AND message.seq > coalesce(notified.seq, 0)`,
  { reach: 'cell' },
);

const begin = workspace.statement<never>(
  'chat.begin_notified',
  `INSERT INTO chat_notified (tenant_id, room_id, seq) SELECT tenant_id, id, 0 FROM chat_rooms WHERE tenant_id = $1 AND id = $2
   ON CONFLICT (tenant_id, room_id) DO NOTHING`,
);

// System messages advance the position. Edits are not notified again, except for new mentions (`ChatNotifications.notifyMentioned`).
const messages = workspace.statement<NewMessage & { is_text: boolean }>(
  'chat.new_messages',
  `SELECT seq::float8 AS seq, id, CASE WHEN guest_name IS NULL THEN sender_id END AS user_id, mentions,
          kind = 'text' AND deleted_at IS NULL AND created_at > now() - make_interval(secs => $4) AS is_text
     FROM chat_messages WHERE tenant_id = $1 AND room_id = $2 AND seq > $3 ORDER BY seq LIMIT ${BATCH}`,
);

const readers = workspace.statement<Reader>(
  'chat.notified_readers',
  `SELECT member.user_id, member.notify, room.type = 'direct' AS direct, member.last_read_seq::float8 AS last_read_seq
     FROM chat_members member
     JOIN chat_rooms room ON room.tenant_id = $1 AND room.id = $2 AND room.deleted_at IS NULL
    WHERE member.tenant_id = $1 AND member.room_id = $2 AND member.notify <> 'none' AND member.last_read_seq < $3
      AND (member.muted_until IS NULL OR member.muted_until <= now())`,
);

/**
 * Makes the notifications of messages. The messages themselves are the queue: a position for each room marks the last handled
 * message and is written in the transaction of the notifications, so that sending a message has no extra cost. The process that
 * writes a message handles its room half a second later, or a busy room every five seconds, with one notification for each
 * member. A periodic job handles the rooms of processes that ended.
 */
@Injectable()
export class ChatNotifier implements OnModuleInit {
  private readonly logger = new Logger(ChatNotifier.name);
  /** Start of the last run by cell, from `performance.now()`. */
  private readonly lastRuns = new Map<string | undefined, number>();
  private readonly changed = new Map<string, RoomKey>();
  private readonly paused = new LRUCache<string, true>({ ...growingTo(10_000), ttl: PAUSE_MS });
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly notifications: Notifications,
    private readonly changes: ChatChanges,
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    const everySeconds = EVERY_SECONDS;
    this.jobs.register({ name: 'notify-chat', everySeconds, run: () => this.run() });
    this.jobs.register({ name: CHANGED_ROOMS, everySeconds, run: () => this.runChanged() });
    this.changes.onWrite(({ tenant, room }) => {
      this.changed.set(`${tenant} ${room}`, { tenant_id: tenant, room_id: room });
      this.schedule();
    });
  }

  /**
   * Handles all rooms with new messages. A failure in one room does not affect the others.
   * @throws Error after the last room if one failed; the next run handles it again
   */
  async run(): Promise<void> {
    const started = performance.now();
    const cell = this.db.currentCell;
    const lastRun = this.lastRuns.get(cell) ?? -Infinity;
    const since = Math.min((started - lastRun) / 1_000 + OVERLAP_SECONDS, MAX_AGE_SECONDS);
    const failures = new ItemFailures(this.logger, 'the notification of a room');
    for (const room of await this.db.query(pending, [since]))
      await failures.guard(room, () => this.handle(room));
    failures.report();
    this.lastRuns.set(cell, started);
  }

  private schedule(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.jobs.trigger(CHANGED_ROOMS);
    }, COLLECT_MS).unref();
  }

  /** Handles the rooms that this process has changed, except for those that it handled less than `PAUSE_MS` ago. */
  private async runChanged(): Promise<void> {
    try {
      for (const [key, room] of this.changed) {
        if (this.paused.has(key)) continue;
        this.changed.delete(key);
        this.paused.set(key, true);
        await this.handle(room);
      }
    } finally {
      if (this.changed.size > 0) this.schedule();
    }
  }

  private async handle(room: RoomKey): Promise<void> {
    for (let isMore = true; isMore;) isMore = await this.db.tx((tx) => this.step(tx, room));
  }

  /** @returns whether the room has more messages */
  private async step(tx: Tx, room: RoomKey): Promise<boolean> {
    const key = [room.tenant_id, room.room_id];
    await tx.query(begin, key);
    const positions = rowsOf(tx, ChatNotified);
    const position = await positions.lock(room);
    if (!position) return false;
    const found = await tx.query(messages, [...key, position.seq, MAX_AGE_SECONDS]);
    const last = found.at(-1);
    if (!last) return false;
    const texts = found.filter(({ is_text }) => is_text);
    if (texts.length > 0) await this.notify(tx, room, texts, last.seq);
    await positions.update(room, { seq: String(last.seq) });
    return found.length === BATCH;
  }

  private async notify(tx: Tx, room: RoomKey, texts: readonly NewMessage[], seq: number): Promise<void> {
    const audience = await tx.query(readers, [room.tenant_id, room.room_id, seq]);
    const about = { subject: { kind: CHAT_ROOM, id: room.room_id } };
    const facts: Record<string, boolean> = audience[0]?.direct ? { direct: true } : {};
    const mentioned = new Set<string>();
    for (const message of texts.filter(({ mentions }) => mentions.length > 0)) {
      const recipients = audience
        .filter((each) => message.mentions.includes(each.user_id) && isUnread(message, each))
        .map(({ user_id }) => user_id);
      for (const user of recipients) mentioned.add(user);
      const data = { seq: message.seq, message_id: message.id, ...facts };
      const cause = { ...about, recipients, actorId: message.user_id, data, key: message.id };
      await this.notifications.notify(tx, room.tenant_id, CHAT_MENTION, cause);
    }
    const others = audience.filter(({ user_id, notify }) => notify === 'all' && !mentioned.has(user_id));
    for (const cause of causesOf(others, texts))
      await this.notifications.notify(tx, room.tenant_id, CHAT_MESSAGE, {
        ...about,
        ...cause,
        data: { ...cause.data, ...facts },
        key: `${room.room_id} ${seq}`,
      });
  }
}

const isUnread = (message: NewMessage, reader: Reader): boolean =>
  message.seq > reader.last_read_seq && message.user_id !== reader.user_id;

/** One cause for all members with the same unread messages. */
function causesOf(
  audience: readonly Reader[],
  texts: readonly NewMessage[],
): Omit<NotificationCause, 'subject'>[] {
  const groups = new Map<string, { unread: NewMessage[]; recipients: string[] }>();
  for (const reader of audience) {
    const unread = texts.filter((message) => isUnread(message, reader));
    const [first, last] = [unread[0], unread.at(-1)];
    if (!first || !last) continue;
    const key = `${first.seq} ${unread.length} ${last.seq}`;
    const group = groups.get(key) ?? { unread, recipients: [] };
    group.recipients.push(reader.user_id);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ unread, recipients }) => {
    const [first, last] = [unread[0], unread.at(-1)] as [NewMessage, NewMessage];
    const data = { seq: last.seq, first_seq: first.seq, message_id: last.id };
    return { recipients, actorId: last.user_id, count: unread.length, data };
  });
}
