import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { LiveMeetingListEnvelope } from './meetings.response.js';
import { type LiveMeeting, MeetingsRepository } from './meetings.repository.js';

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
  async live(
    @Ctx() ctx: RequestContext,
    @Query() query: PageQuery,
  ): Promise<JsonReply<LiveMeetingListEnvelope>> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `live_meetings ${ctx.tenantId} ${ctx.userId}`,
      key: (row: LiveMeeting): [string, string] => [row.listed, row.id],
      rows: (after, limit) => this.meetings.live(ctx, after, limit),
    });
    return JsonReply.listOf(
      'meetings',
      rows.map(({ meeting }) => meeting),
      { next },
    );
  }
}
