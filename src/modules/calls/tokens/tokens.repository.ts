import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { CallState } from '../calls.entity.js';
import type { MemberRole } from '../calls.repository.js';
import type { CallPlaces } from '../server-rooms.js';

/** A call as a member is about to join it. `connected` counts neither viewers nor the identity of the member. */
export interface JoinableCall extends CallPlaces {
  id: string;
  state: CallState;
  role: MemberRole;
  display_name: string;
}

// By the id of the call, or of the chat room with its live call. Indexes: the primary key, calls_live_in_room.
const joinable = workspace.statement<JoinableCall>(
  'calls.joinable',
  `SELECT call.id, call.kind, call.state, access.role, access.display_name, call.max_participants, call.max_viewers, (
            SELECT count(*)::int FROM call_participants participant
             WHERE participant.tenant_id = $1 AND participant.call_id = call.id AND participant.left_at IS NULL
               AND participant.principal_kind <> 'viewer' AND participant.identity <> $4) AS connected
     FROM calls call
     JOIN call_access access ON access.tenant_id = $1 AND access.call_id = call.id AND access.user_id = $2
    WHERE call.tenant_id = $1 AND (call.id = $3 OR call.room_id = $3 AND call.state = 'live')
    ORDER BY call.id <> $3 LIMIT 1`,
  { pipelined: true },
);

/** SQL of tokens for members. */
@Injectable()
export class TokensRepository {
  constructor(private readonly db: Db) {}

  /** @returns undefined for an unknown id, a call without access, or a room without a live call */
  async joinable(
    { tenantId, userId }: RequestContext,
    id: string,
    identity: string,
  ): Promise<JoinableCall | undefined> {
    return (await this.db.query(joinable, [tenantId, userId, id, identity]))[0];
  }
}
