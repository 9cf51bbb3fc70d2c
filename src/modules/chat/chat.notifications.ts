import { Injectable } from '@nestjs/common';
import type { RequestContext, WorkspaceKey } from '../../platform/context/request-context.js';
import { type Statement, workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import type {
  CurrentNotification,
  NotificationType,
} from '../../platform/notifications/notification-type.js';
import { DomainNotifications } from '../../platform/notifications/notifications.js';
import type { ChatRoom } from './chat.schema.js';

export const CHAT_ROOM = 'chat_room';

/** Remaining messages that are counted; the count of a notification with more stays as it is. */
const MAX_COUNTED = 100;

/** Notifications whose messages exist and fit the condition: from the first to the last one that they count. */
const remaining = (name: string, condition: string): Statement<CurrentNotification> =>
  workspace.statement(
    `chat.${name}`,
    `SELECT about.id, CASE WHEN found.messages < ${MAX_COUNTED} THEN least(about.count, found.messages) ELSE about.count END AS count,
            found.actor_id,
            about.data || jsonb_build_object('seq', found.seq, 'message_id', found.message_id) AS data
       FROM jsonb_to_recordset($3) AS about (id uuid, subject_id uuid, count int, data jsonb)
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS messages, max(newest.seq) AS seq, (array_agg(newest.id ORDER BY newest.seq DESC))[1] AS message_id,
               (array_agg(newest.actor_id ORDER BY newest.seq DESC))[1] AS actor_id
          FROM (SELECT message.seq, message.id, CASE WHEN message.guest_name IS NULL THEN message.sender_id END AS actor_id
                  FROM chat_messages message
                 WHERE message.tenant_id = $1 AND message.room_id = about.subject_id AND message.deleted_at IS NULL
                   AND message.seq BETWEEN coalesce(about.data->>'first_seq', about.data->>'seq')::bigint AND (about.data->>'seq')::bigint
                   AND ${condition} ORDER BY message.seq DESC LIMIT ${MAX_COUNTED}) newest) found
      WHERE found.messages > 0`,
  );

const path: NotificationType['path'] = ({ subject }) => `/chat/rooms/${subject.id}`;

export const CHAT_MESSAGE: NotificationType = {
  key: 'chat.message',
  preference: 'chat.message',
  texts: {
    en: { one: 'New message in {title}', other: '{count} new messages in {title}' },
    de: { one: 'Neue Nachricht in {title}', other: '{count} neue Nachrichten in {title}' },
    pt: { one: 'Nova mensagem em {title}', other: '{count} novas mensagens em {title}' },
    vi: '{count} tin nhắn mới trong {title}',
  },
  directTexts: {
    en: { one: 'New message from {title}', other: '{count} new messages from {title}' },
    de: { one: 'Neue Nachricht von {title}', other: '{count} neue Nachrichten von {title}' },
    pt: { one: 'Nova mensagem de {title}', other: '{count} novas mensagens de {title}' },
    vi: '{count} tin nhắn mới từ {title}',
  },
  path,
  // A message that mentions the recipient has a notification of its own.
  lasts: remaining(
    'current_messages',
    `message.kind = 'text' AND message.sender_id <> $2 AND NOT message.mentions @> ARRAY[$2::uuid]`,
  ),
  isGrouped: true,
  orderedBy: 'seq',
};

export const CHAT_MENTION: NotificationType = {
  key: 'chat.mention',
  preference: 'chat.mention',
  texts: {
    en: { one: '{actor} mentioned you in {title}', other: '{count} mentions of you in {title}' },
    de: { one: '{actor} hat Sie in {title} erwähnt', other: '{count} Erwähnungen in {title}' },
    pt: { one: '{actor} mencionou você em {title}', other: '{count} menções a você em {title}' },
    vi: '{actor} đã nhắc đến bạn trong {title}',
  },
  directTexts: {
    en: { one: '{title} mentioned you', other: '{count} mentions of you by {title}' },
    de: { one: '{title} hat Sie erwähnt', other: '{count} Erwähnungen durch {title}' },
    pt: { one: '{title} mencionou você', other: '{count} menções a você de {title}' },
    vi: '{title} đã nhắc đến bạn',
  },
  path,
  // Index: chat_messages_mentions.
  lasts: remaining('current_mentions', `message.mentions <> '{}' AND message.mentions @> ARRAY[$2::uuid]`),
  isGrouped: true,
  orderedBy: 'seq',
};

const ROOM_ADDED_TYPE: NotificationType = {
  key: 'room.added',
  preference: 'room.added',
  texts: {
    en: '{actor} added you to {title}',
    de: '{actor} hat Sie zu {title} hinzugefügt',
    pt: '{actor} adicionou você a {title}',
    vi: '{actor} đã thêm bạn vào {title}',
  },
  path,
  lasts: 'while_readable',
};

// The title of a direct room is the name of the other user.
const titles = workspace.statement<Pick<ChatRoom, 'id'> & { title: string }>(
  'chat.room_titles',
  `SELECT room.id, coalesce(room.name, other.display_name, '') AS title
     FROM chat_members member
     JOIN chat_rooms room ON room.tenant_id = $1 AND room.id = member.room_id AND room.deleted_at IS NULL
     LEFT JOIN LATERAL (
       SELECT profile.display_name FROM chat_members partner
         JOIN member_profiles profile ON profile.tenant_id = $1 AND profile.user_id = partner.user_id
        WHERE room.type = 'direct' AND partner.tenant_id = $1 AND partner.room_id = room.id AND partner.user_id <> $2
        LIMIT 1) AS other ON true
    WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.room_id = ANY ($3::uuid[])`,
);

/** Members whose clients learn at once that a notification has ended; those of others learn it when they next read. */
const MAX_REVIEWED = 200;

const unreadMembers = workspace.statement<{ user_id: string }>(
  'chat.unread_members',
  `SELECT user_id FROM chat_members
    WHERE tenant_id = $1 AND room_id = $2 AND ($3::bigint IS NULL OR last_read_seq < $3) AND notify <> 'none' LIMIT $4`,
);

const direct = workspace.statement<{ direct: boolean }>(
  'chat.is_direct',
  `SELECT type = 'direct' AS direct FROM chat_rooms WHERE tenant_id = $1 AND id = $2`,
);

/** Notifications of rooms and messages. `ChatNotifier` makes those of messages. */
@Injectable()
export class ChatNotifications extends DomainNotifications {
  protected readonly types = [CHAT_MESSAGE, CHAT_MENTION, ROOM_ADDED_TYPE];
  protected override readonly titles = { [CHAT_ROOM]: titles };

  /** Notifies users that became members of a room. */
  async notifyAdded(tx: Tx, ctx: RequestContext, roomId: string, userIds: readonly string[]): Promise<void> {
    await this.notifications.notify(tx, ctx.tenantId, ROOM_ADDED_TYPE, {
      recipients: userIds,
      actorId: ctx.userId,
      subject: { kind: CHAT_ROOM, id: roomId },
    });
  }

  /** Notifies users whom an edit of a message mentions. A repeated mention by the same message is ignored. */
  async notifyMentioned(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    roomId: string,
    { id, seq }: { id: string; seq: number },
    users: readonly string[],
  ): Promise<void> {
    const [room] = users.length > 0 ? await tx.query(direct, [tenantId, roomId]) : [];
    await this.notifications.notify(tx, tenantId, CHAT_MENTION, {
      recipients: users,
      actorId: userId,
      subject: { kind: CHAT_ROOM, id: roomId },
      data: { seq, message_id: id, ...(room?.direct && { direct: true }) },
      key: id,
    });
  }

  /** A message was deleted, or the room (`seq` null): its notifications end for the clients of members who have not read it. */
  async endOf(tx: Tx, { tenantId }: WorkspaceKey, roomId: string, seq: number | null): Promise<void> {
    const rows = await tx.query(unreadMembers, [tenantId, roomId, seq, MAX_REVIEWED]);
    const users = rows.map(({ user_id }) => user_id);
    this.endFor(tx, { tenantId }, roomId, users);
  }

  /** These users are no longer members of a room: its notifications end for their clients. */
  endFor(tx: Tx, { tenantId }: WorkspaceKey, roomId: string, users: readonly string[]): void {
    const subject = { kind: CHAT_ROOM, id: roomId };
    tx.afterCommit(() => this.notifications.reviewSubject(tenantId, users, subject));
  }

  /** Marks the caller's notifications of a room up to this message as read. */
  read(tx: Tx, { tenantId, userId }: RequestContext, roomId: string, seq: number): void {
    const subject = { kind: CHAT_ROOM, id: roomId };
    tx.afterCommit(() => this.notifications.markSettled(tenantId, userId, subject, seq));
  }
}
