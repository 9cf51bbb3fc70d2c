import { Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { foldedWords } from '../../../lib/search-text/index.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { PresenceStatus } from '../../presence/index.js';
import { ChatUserListEnvelope, ListChatUsers, OwnChatUserEnvelope } from './chat-users.dto.js';

export interface ChatUser {
  id: string;
  display_name: string;
  email: string;
  presence: PresenceStatus;
  status_text: string;
}

export interface OwnChatUser extends ChatUser {
  unread_total: number;
  unread_rooms: number;
}

const PRESENCE = `coalesce(presence.status, 'offline') AS presence, coalesce(presence.text, '') AS status_text`;

const own = workspace.statement<OwnChatUser>(
  'chat_users.own',
  `SELECT profile.user_id AS id, profile.display_name, profile.email, ${PRESENCE},
          unread.total::float8 AS unread_total, unread.rooms AS unread_rooms
     FROM member_profiles profile
     LEFT JOIN presence_views presence ON presence.tenant_id = $1 AND presence.user_id = profile.user_id
    CROSS JOIN (
       SELECT coalesce(sum(counted.messages), 0) AS total, (count(*) FILTER (WHERE counted.messages > 0))::int AS rooms
         FROM chat_members mine JOIN chat_rooms room ON room.tenant_id = $1 AND room.id = mine.room_id
        CROSS JOIN LATERAL chat_unread($1, $2, room.id, mine.last_read_seq) AS counted (messages)
        WHERE mine.tenant_id = $1 AND mine.user_id = $2 AND room.deleted_at IS NULL AND room.archived_at IS NULL
          AND mine.last_read_seq < room.last_seq) unread
    WHERE profile.tenant_id = $1 AND profile.user_id = $2`,
);

// Patterns of words use the index of member_profiles; without words the members are sorted.
const list = workspace.statement<ChatUser>(
  'chat_users.list',
  `SELECT page.*, ${PRESENCE} FROM (
     SELECT user_id AS id, display_name, email FROM member_profiles
      WHERE tenant_id = $1 AND status = 'active' AND NOT is_service AND folded LIKE ALL ($2::text[])
        AND ($3::text IS NULL OR (display_name, user_id) > ($3, $4::uuid))
      ORDER BY display_name, user_id LIMIT $5) page
     LEFT JOIN presence_views presence ON presence.tenant_id = $1 AND presence.user_id = page.id
    ORDER BY page.display_name, page.id`,
);

/** SQL of the users of a workspace, as the chat shows them. */
@Injectable()
export class ChatUsersRepository {
  constructor(private readonly db: Db) {}

  async readOwn({ tenantId, userId }: RequestContext): Promise<OwnChatUser> {
    return (await this.db.query(own, [tenantId, userId]))[0] as OwnChatUser;
  }

  /** Active members by name. @param words folded, without wildcards of LIKE */
  async list(
    { tenantId }: RequestContext,
    words: readonly string[],
    after: readonly [string, string] | undefined,
    limit: number,
  ): Promise<ChatUser[]> {
    const patterns = words.map((word) => `% ${word}%`);
    return this.db.query(list, [tenantId, patterns, after?.[0] ?? null, after?.[1] ?? null, limit]);
  }
}

/** Further words of a query are ignored. */
const MAX_WORDS = 6;

@ApiTags('chat')
@Controller('chat')
export class ChatUsersController {
  constructor(
    private readonly users: ChatUsersRepository,
    private readonly cursors: Cursors,
  ) {}

  @Endpoint('GET user', {
    id: 'readChatUser',
    summary: 'Read yourself as a chat user',
    description: 'Your name and presence as other users see them, and your unread messages in all rooms.',
    response: [OwnChatUserEnvelope, 'You, with the number of unread messages.'],
  })
  async readOwn(@Ctx() ctx: RequestContext): Promise<OwnChatUserEnvelope> {
    return { user: { ...(await this.users.readOwn(ctx)), avatar_url: null } };
  }

  @Endpoint('GET users', {
    id: 'listChatUsers',
    summary: 'List the users you can chat with',
    description: 'Active members of the workspace, by name.',
    response: [ChatUserListEnvelope, 'A page of users.'],
  })
  async list(@Ctx() ctx: RequestContext, @Query() query: ListChatUsers): Promise<ChatUserListEnvelope> {
    const words = foldedWords(query.q ?? '').slice(0, MAX_WORDS);
    if (words.length === 0 && query.q?.trim()) return { users: [], next: null };
    const { rows, next } = await this.cursors.page(query, {
      scope: `chat_users ${ctx.tenantId} ${words.join(' ')}`,
      key: (user: ChatUser): [string, string] => [user.display_name, user.id],
      rows: (after, limit) => this.users.list(ctx, words, after, limit),
    });
    return { users: rows.map((user) => ({ ...user, avatar_url: null })), next };
  }
}
