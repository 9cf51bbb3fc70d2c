import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { type Statement, workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { fitsPage, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import { MESSAGE_BYTES } from '../chat.schema.js';

/** A page of messages, and the room in the same snapshot. */
export interface MessagePage {
  last_seq: number;
  mod_seq: number;
  /** JSON. */
  messages: string[];
  /** Whether there are further ones. */
  hasMore: boolean;
}

interface PageRow {
  last_seq: number;
  mod_seq: number;
  /** Null in the only row of an empty page. */
  fits: boolean | null;
  message: string | null;
}

/** Which messages, from which position on. `seq` is exclusive. */
export interface PageRequest {
  direction: 'before' | 'after' | 'changes';
  position: number;
  limit: number;
  /** Bytes of the page. */
  bytes?: number;
  /** Text form of a tsquery. */
  query?: string;
}

export interface Party {
  room_id: string | null;
  unread: number;
  user_id: string;
  display_name: string;
  email: string;
}

const markRead = workspace.statement<{ last_read_seq: number; unread: number }>(
  'chat_messages.mark_read',
  `UPDATE chat_members member SET last_read_seq = greatest(member.last_read_seq, least($4::bigint, room.last_seq))
     FROM chat_rooms room
    WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.room_id = $3
      AND room.tenant_id = $1 AND room.id = $3 AND room.deleted_at IS NULL
   RETURNING member.last_read_seq::float8 AS last_read_seq,
             CASE WHEN member.last_read_seq < room.last_seq THEN chat_unread($1, $2, $3, member.last_read_seq) ELSE 0 END AS unread`,
);

// The direct room is found by its id, or by the id of the other user.
const party = workspace.statement<Party>(
  'chat_messages.party',
  `SELECT room.id AS room_id, CASE WHEN mine.last_read_seq < room.last_seq THEN chat_unread($1, $2, room.id, mine.last_read_seq) ELSE 0 END AS unread,
          other.user_id, other.display_name, other.email
     FROM (SELECT direct.id, direct.last_seq, member.user_id FROM chat_rooms direct
             JOIN chat_members member ON member.tenant_id = $1 AND member.room_id = direct.id AND member.user_id <> $2
            WHERE direct.tenant_id = $1 AND direct.id = $3 AND direct.type = 'direct'
            UNION ALL
           SELECT direct.id, direct.last_seq, profile.user_id FROM member_profiles profile
             LEFT JOIN chat_rooms direct ON direct.tenant_id = $1
                  AND direct.direct_key = least($2::uuid, $3::uuid) || ' ' || greatest($2::uuid, $3::uuid)
            WHERE profile.tenant_id = $1 AND profile.user_id = $3 AND profile.user_id <> $2) room
     JOIN member_profiles other ON other.tenant_id = $1 AND other.user_id = room.user_id
     LEFT JOIN chat_members mine ON mine.tenant_id = $1 AND mine.room_id = room.id AND mine.user_id = $2
    WHERE room.id IS NULL OR mine.user_id IS NOT NULL`,
);

const ORDERS = {
  before: { condition: 'message.seq < $4', order: 'seq DESC' },
  after: { condition: 'message.seq > $4', order: 'seq' },
  changes: { condition: 'message.mod_seq > $4', order: 'mod_seq' },
};

const PAGES = Object.fromEntries(
  Object.entries(ORDERS).flatMap(([name, { condition, order }]) =>
    ['', '_search'].map((suffix) => [`${name}${suffix}`, pageStatement(name + suffix, condition, order)]),
  ),
);

// Indexes: the primary key, chat_messages_changes, chat_messages_words. One row without `fits` where the page is empty.
function pageStatement(name: string, condition: string, order: string): Statement<PageRow> {
  const search = name.endsWith('_search') ? ' AND message.tsv @@ $7::tsquery' : '';
  return workspace.statement<PageRow>(
    `chat_messages.${name}`,
    `SELECT room.last_seq::float8 AS last_seq, room.mod_seq::float8 AS mod_seq, page.fits, shown.message
       FROM chat_rooms room
       JOIN chat_members member ON member.tenant_id = $1 AND member.room_id = room.id AND member.user_id = $2
       LEFT JOIN LATERAL (
         SELECT sized.seq, row_number() OVER page_order AS position, ${fitsPage('sized.bytes', '$5', '$6')} AS fits FROM (
           SELECT message.seq, message.mod_seq, ${MESSAGE_BYTES} AS bytes FROM chat_messages message
            WHERE message.tenant_id = $1 AND message.room_id = $3 AND ${condition}${search}
            ORDER BY message.${order} LIMIT $5 + 1) sized
         WINDOW page_order AS (ORDER BY sized.${order} ROWS UNBOUNDED PRECEDING)) page ON true
       LEFT JOIN LATERAL (
         SELECT view.message FROM chat_message_views view
          WHERE page.fits AND view.tenant_id = $1 AND view.room_id = $3 AND view.seq = page.seq OFFSET 0) shown ON true
      WHERE room.tenant_id = $1 AND room.id = $3 AND room.deleted_at IS NULL
      ORDER BY page.position`,
    { pipelined: search === '' },
  );
}

/** Reads of messages, and the positions up to which members have read them. */
@Injectable()
export class MessagesRepository {
  constructor(private readonly db: Db) {}

  /** @returns undefined for a room that the caller is not a member of */
  async markRead(
    tx: Tx,
    ctx: RequestContext,
    roomId: string,
    seq: number,
  ): Promise<{ last_read_seq: number; unread: number } | undefined> {
    return (await tx.query(markRead, [...keyOf(ctx, roomId), seq]))[0];
  }

  /** @returns undefined for a room that the caller is not a member of */
  async page(
    ctx: RequestContext,
    roomId: string,
    { direction, position, limit, bytes = PAGE_BYTES, query }: PageRequest,
  ): Promise<MessagePage | undefined> {
    const statement = PAGES[query === undefined ? direction : `${direction}_search`] as Statement<PageRow>;
    const words = query === undefined ? [] : [query];
    const values = [...keyOf(ctx, roomId), position, limit, bytes, ...words];
    const rows = await this.db.query(statement, values);
    const [first] = rows;
    if (!first) return undefined;
    const { last_seq, mod_seq } = first;
    const messages = rows.flatMap(({ message }) => message ?? []);
    return { last_seq, mod_seq, messages, hasMore: rows.some(({ fits }) => fits === false) };
  }

  /** @param id of another member of the workspace, or of a direct room of the caller */
  async party({ tenantId, userId }: RequestContext, id: string): Promise<Party | undefined> {
    return (await this.db.query(party, [tenantId, userId, id]))[0];
  }
}

const keyOf = ({ tenantId, userId }: RequestContext, roomId: string) => [tenantId, userId, roomId];
