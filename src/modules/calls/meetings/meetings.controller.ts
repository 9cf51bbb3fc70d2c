import { Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { LiveMeetingListEnvelope } from './meetings.response.js';

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

  async listLive(
    { tenantId, userId }: RequestContext,
    after: readonly [string, string] | undefined,
    limit: number,
  ): Promise<LiveMeeting[]> {
    const [startedAt = null, id = null] = after ?? [];
    return this.db.query(live, [tenantId, userId, startedAt, id, limit]);
  }
}

@ApiTags('meetings')
@Controller('meetings')
export class MeetingsController {
  constructor(
    private readonly meetings: MeetingsRepository,
    private readonly cursors: Cursors,
  ) {}

  @Endpoint('GET live', {
    id: 'listLiveMeetings',
    summary: 'List live calls',
    description: 'Live calls that you may join, the last started first.',
    response: [LiveMeetingListEnvelope, 'A page of live calls.'],
  })
  async listLive(
    @Ctx() ctx: RequestContext,
    @Query() query: PageQuery,
  ): Promise<JsonReply<LiveMeetingListEnvelope>> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `live_meetings ${ctx.tenantId} ${ctx.userId}`,
      key: (row: LiveMeeting): [string, string] => [row.listed, row.id],
      rows: (after, limit) => this.meetings.listLive(ctx, after, limit),
    });
    return JsonReply.listOf(
      'meetings',
      rows.map(({ meeting }) => meeting),
      { next },
    );
  }
}
