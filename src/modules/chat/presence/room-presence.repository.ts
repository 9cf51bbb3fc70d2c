import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { RoomPresenceResponse } from './room-presence.response.js';

const members = workspace.statement<RoomPresenceResponse>(
  'room_presence.members',
  `SELECT presence.user_id, presence.status, presence.text,
          rfc3339(presence.last_active_at) AS last_active_at,
          EXISTS (
            SELECT FROM presence_viewers viewer
             WHERE viewer.tenant_id = $1 AND viewer.user_id = member.user_id AND viewer.room_id = $2) AS viewing
     FROM chat_members member
     JOIN presence_views presence
       ON presence.tenant_id = $1 AND presence.user_id = member.user_id AND presence.status <> 'offline'
     JOIN member_profiles profile ON profile.tenant_id = $1 AND profile.user_id = member.user_id AND profile.status = 'active'
    WHERE member.tenant_id = $1 AND member.room_id = $2 AND ($3::uuid IS NULL OR member.user_id > $3)
    ORDER BY member.user_id LIMIT $4`,
);

/** SQL of the presence of members of rooms. */
@Injectable()
export class RoomPresenceRepository {
  constructor(private readonly db: Db) {}

  /** Members who are not offline, by id. */
  async members(
    { tenantId }: RequestContext,
    roomId: string,
    after: string | undefined,
    limit: number,
  ): Promise<RoomPresenceResponse[]> {
    return this.db.query(members, [tenantId, roomId, after ?? null, limit]);
  }
}
