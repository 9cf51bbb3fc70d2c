import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';

export interface LiveMeeting {
  id: string;
  /** Time of the start, as text that PostgreSQL reads back exactly. */
  listed: string;
  /** JSON. */
  meeting: string;
}

// Index: calls_live.
const live = workspace.statement<LiveMeeting>(
  'calls.live_meetings',
  `SELECT call.id, call.started_at::text AS listed, json_build_object(
            'call_id', call.id, 'room_id', call.room_id, 'title', call.title, 'kind', call.kind,
            'started_at', rfc3339(call.started_at), 'participants', view.participants, 'external', view.guests > 0,
            'locked', call.external_locked, 'role', access.role,
            'can_join', view.members < call.max_participants)::text AS meeting
     FROM calls call
     JOIN call_access access ON access.tenant_id = $1 AND access.call_id = call.id AND access.user_id = $2
     JOIN call_views view ON view.tenant_id = $1 AND view.id = call.id
    WHERE call.tenant_id = $1 AND call.state = 'live'
      AND ($3::timestamptz IS NULL OR (call.started_at, call.id) < ($3, $4::uuid))
    ORDER BY call.started_at DESC, call.id DESC LIMIT $5`,
);

/** SQL of live calls. */
@Injectable()
export class MeetingsRepository {
  constructor(private readonly db: Db) {}

  async live(
    { tenantId, userId }: RequestContext,
    after: readonly [string, string] | undefined,
    limit: number,
  ): Promise<LiveMeeting[]> {
    const [startedAt = null, id = null] = after ?? [];
    return this.db.query(live, [tenantId, userId, startedAt, id, limit]);
  }
}
