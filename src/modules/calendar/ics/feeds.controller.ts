import { Body, Controller, Headers, Param } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { Public } from '../../../platform/context/access.decorators.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { ApiCachedFile, ApiFile } from '../../../platform/http/api-docs.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { CALENDARS } from '../calendar.errors.js';
import { CreateFeed } from './feeds.dto.js';
import { FeedErrors } from './feeds.errors.js';
import { CreatedFeedEnvelope, FeedEnvelope, FeedListEnvelope } from './feeds.response.js';
import { FeedsService } from './feeds.service.js';

@ApiTags('calendar')
@Controller('calendar')
export class FeedsController {
  constructor(private readonly feeds: FeedsService) {}

  @Endpoint('GET feeds/:file', {
    id: 'readCalendarFeed',
    summary: 'Read a calendar at its secret address',
    description: 'For calendar programs that cannot sign in. The ETag changes with the calendar.',
    errors: [FeedErrors.feedNotFound, Errors.badRequest],
  })
  @ApiParam({
    name: 'file',
    description: 'The token of the feed and `.ics`.',
    schema: { type: 'string', example: 'AYkKXayWd0u8zrMCCZqAV2Zvb2JhcmJhenF1eGZvb2JhcmJhenF1eA.ics' },
  })
  @ApiCachedFile('text/calendar', 'The calendar (RFC 5545).')
  @Public()
  read(
    @Param('file') file: string,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
  ): Promise<BodyReply> {
    return this.feeds.read(file, ifNoneMatch);
  }

  @Endpoint('GET :calendar_id/export.ics', {
    id: 'exportCalendar',
    work: 'long',
    summary: 'Download a calendar as iCalendar',
    description:
      'All events of the calendar as one file, with details as far as the calendar is shared with you.',
    errors: [CALENDARS.notFound],
  })
  @ApiFile('text/calendar', 'The calendar (RFC 5545).')
  export(@Ctx() ctx: RequestContext, @Id('calendar_id') calendarId: string): Promise<BodyReply> {
    return this.feeds.export(ctx, calendarId);
  }

  @Endpoint('GET :calendar_id/feeds', {
    id: 'listCalendarFeeds',
    summary: 'List your feeds of a calendar',
    description:
      'A feed is a secret address at which a calendar program reads the calendar without signing in. Delete feeds that you do not know, for example after another user knew your password.',
    response: [FeedListEnvelope, 'Your feeds without their addresses, oldest first.'],
    errors: [CALENDARS.notFound],
  })
  list(@Ctx() ctx: RequestContext, @Id('calendar_id') calendarId: string): Promise<FeedListEnvelope> {
    return this.feeds.list(ctx, calendarId);
  }

  @Endpoint('POST :calendar_id/feeds', {
    id: 'createCalendarFeed',
    summary: 'Create a secret address of a calendar',
    description:
      'Read-only, and valid while you can read the calendar, also after a new password. The address is in this response only.',
    status: 201,
    response: [CreatedFeedEnvelope, 'The feed with its address.'],
    errors: [CALENDARS.notFound, FeedErrors.tooManyFeeds],
  })
  create(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') calendarId: string,
    @Body() body: CreateFeed,
  ): Promise<CreatedFeedEnvelope> {
    return this.feeds.create(ctx, calendarId, body);
  }

  @Endpoint('DELETE :calendar_id/feeds/:id', {
    id: 'deleteCalendarFeed',
    summary: 'Revoke a secret address',
    description: 'Programs that use the address get 404 from now on. The calendar stays.',
    response: [FeedEnvelope, 'The deleted feed.'],
    errors: [FeedErrors.feedNotFound],
  })
  delete(
    @Ctx() ctx: RequestContext,
    @Id('calendar_id') calendarId: string,
    @Id() id: string,
  ): Promise<FeedEnvelope> {
    return this.feeds.delete(ctx, calendarId, id);
  }
}
