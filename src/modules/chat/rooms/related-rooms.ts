import { Injectable } from '@nestjs/common';
import { addressForms } from '../../../lib/text/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import {
  type RelatedItem,
  RelatedItems,
  type RelatedQuery,
} from '../../../platform/references/related-items.js';

interface RelatedRoomRow {
  id: string;
  /** Null means a direct room, which has the name of the other user. */
  title: string | null;
  /** Share of the given addresses whose users are members, from 0 to 1. */
  share: number;
  active_at: Date;
}

// Rooms of the caller; the primary key of chat_members finds the other members.
const relatedRooms = workspace.statement<RelatedRoomRow>(
  'chat_rooms.related',
  `WITH known AS (
     SELECT user_id, display_name FROM member_profiles WHERE tenant_id = $1 AND lower(email) = ANY ($3) AND user_id <> $2)
   SELECT room.id, coalesce(room.name, min(known.display_name)) AS title, room.active_at,
          count(*)::float8 / $5::int AS share
     FROM chat_members mine
     JOIN chat_rooms room ON room.tenant_id = $1 AND room.id = mine.room_id
     JOIN chat_members other ON other.tenant_id = $1 AND other.room_id = room.id
     JOIN known ON known.user_id = other.user_id
    WHERE mine.tenant_id = $1 AND mine.user_id = $2 AND room.deleted_at IS NULL AND room.archived_at IS NULL
    GROUP BY room.id, room.name, room.active_at, room.members_count
    ORDER BY share DESC, room.members_count, room.active_at DESC LIMIT $4`,
);

/** The caller's rooms with some of the named users. */
@Injectable()
export class RelatedRooms {
  constructor(
    private readonly db: Db,
    related: RelatedItems,
  ) {
    related.register('rooms', (ctx, query) => this.find(ctx, query));
  }

  private async find(
    { tenantId, userId }: RequestContext,
    { emails, limit }: RelatedQuery,
  ): Promise<RelatedItem[]> {
    if (emails.length === 0) return [];
    const rows = await this.db.query(relatedRooms, [
      tenantId,
      userId,
      emails.flatMap(addressForms),
      limit,
      emails.length,
    ]);
    return rows.map(({ id, title, share, active_at: active }) => ({
      id,
      title: title ?? '',
      reason: 'attendee',
      score: Math.round(share * 600) / 1000,
      date: active.toISOString(),
    }));
  }
}
