import { createHash } from 'node:crypto';
import { Body, Controller, Headers, Injectable, Param } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../../config/config.js';
import { Audit } from '../../../platform/audit/audit.js';
import { Public } from '../../../platform/context/access.decorators.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { ApiCachedFile, ApiFile } from '../../../platform/http/api-docs.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { namesTag } from '../../../platform/http/entity-tags.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { attachmentNamed, titledFileName } from '../../../platform/http/replies/file-reply.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { newToken, readToken } from '../../../platform/secrets/secret-box.js';
import { CalendarErrors, CALENDARS } from '../calendar.errors.js';
import { Calendar, CalendarFeed } from '../calendar.schema.js';
import { EventsRepository } from '../events.repository.js';
import type { CalendarContext } from '../model/event-record.js';
import {
  CreatedFeedEnvelope,
  CreateFeed,
  FeedEnvelope,
  FeedErrors,
  FeedListEnvelope,
  type FeedResponse,
} from './feeds.dto.js';
import { ICS_TYPE, IcsExport, IcsRepository } from './ics-export.js';

/** Random bytes of a secret address. */
const SECRET_BYTES = 24;

/** Exports of calendars, and their secret addresses for programs that cannot sign in. */
@Injectable()
export class FeedsService {
  constructor(
    private readonly calendars: EventsRepository,
    private readonly repository: IcsRepository,
    private readonly exports: IcsExport,
    private readonly audit: Audit,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  /** @throws ApiError 404 */
  async export(ctx: RequestContext, calendarId: string): Promise<BodyReply> {
    const calendar = await this.calendars.calendar(this.db, ctx, calendarId);
    return this.reply(ctx.tenantId, ctx.userId, calendar, 'full');
  }

  /** @throws ApiError 404 */
  async list(ctx: RequestContext, calendarId: string): Promise<FeedListEnvelope> {
    const { tenantId, userId } = ctx;
    await this.calendars.calendar(this.db, ctx, calendarId);
    const own = { tenant_id: tenantId, user_id: userId, calendar_id: calendarId };
    const feeds = await rowsOf(this.db, CalendarFeed).page(
      own,
      ['id'],
      undefined,
      QUOTAS.item.feeds_of_calendar,
    );
    return { feeds: feeds.map(present), next: null };
  }

  /** The token is in this response only. @throws ApiError 404; 422 `too_many_feeds` */
  async create(ctx: RequestContext, calendarId: string, input: CreateFeed): Promise<CreatedFeedEnvelope> {
    const { tenantId, userId } = ctx;
    await this.calendars.calendar(this.db, ctx, calendarId);
    const { token, hash: tokenHash } = newToken(tenantId, SECRET_BYTES);
    const { details = 'full' } = input;
    return this.db.tx(async (tx) => {
      const own = { tenant_id: tenantId, user_id: userId, calendar_id: calendarId };
      const feeds = rowsOf(tx, CalendarFeed);
      // Serialises the creation of feeds, and the deletion of the calendar.
      if (!(await rowsOf(tx, Calendar).lock({ tenant_id: tenantId, id: calendarId })))
        throw CalendarErrors.calendarNotFound.with();
      if ((await feeds.count(own)) >= QUOTAS.item.feeds_of_calendar) throw FeedErrors.tooManyFeeds.with();
      const values = { ...own, id: uuidv7(), token_hash: tokenHash, details, created_at: () => 'now()' };
      const feed = (await feeds.insert(values)) as CalendarFeed;
      await this.log(tx, ctx, 'calendar.feed.created', feed);
      const url = `/apis/v1/calendar/feeds/${token}.ics`;
      return { feed: { ...present(feed), url, absolute_url: this.config.absoluteUrl(url) } };
    });
  }

  /** The address becomes invalid. @throws ApiError 404 */
  async delete(ctx: RequestContext, calendarId: string, id: string): Promise<FeedEnvelope> {
    const { tenantId, userId } = ctx;
    return this.db.tx(async (tx) => {
      const [feed] = await rowsOf(tx, CalendarFeed).delete({
        tenant_id: tenantId,
        user_id: userId,
        calendar_id: calendarId,
        id,
      });
      if (!feed) throw FeedErrors.feedNotFound.with();
      await this.log(tx, ctx, 'calendar.feed.deleted', feed);
      return { feed: present(feed), deleted: true };
    });
  }

  /**
   * The calendar of a secret address, as the creator of the feed sees it.
   * @param file `<token>.ics`
   * @throws ApiError 404
   */
  async read(file: string, ifNoneMatch: string | undefined): Promise<BodyReply> {
    const { tenantId, hash } = readToken(file.replace(/\.ics$/, ''), SECRET_BYTES);
    const open = await this.repository.open(tenantId, hash);
    if (!open) throw FeedErrors.feedNotFound.with();
    const { feed, calendar } = open;
    const { change_seq: seq, role, name, color, time_zone } = calendar;
    const heading = createHash('sha256')
      .update(JSON.stringify([role, name, color, time_zone]))
      .digest('hex');
    const etag = `W/"feed:${feed.id}:${seq}:${heading.slice(0, 16)}"`;
    const headers = { ETag: etag, 'Cache-Control': 'private, no-cache' };
    if (namesTag(ifNoneMatch, etag))
      return new BodyReply(null, { status: 304, contentType: ICS_TYPE, headers });
    return this.reply(tenantId, feed.user_id, calendar, feed.details, headers);
  }

  private reply(
    tenantId: string,
    userId: string,
    calendar: CalendarContext,
    details: CalendarFeed['details'],
    headers: Record<string, string> = {},
  ): BodyReply {
    const body = this.exports.stream(tenantId, userId, calendar, details);
    const name = attachmentNamed(titledFileName(calendar.name, '.ics', 'calendar'), 'calendar');
    return new BodyReply(body, {
      contentType: ICS_TYPE,
      headers: { ...headers, 'Content-Disposition': name },
    });
  }

  private async log(
    tx: Parameters<Audit['record']>[0],
    ctx: RequestContext,
    action: string,
    feed: CalendarFeed,
  ) {
    const data = { calendar_id: feed.calendar_id, details: feed.details };
    await this.audit.record(tx, ctx, { action, objectKind: 'calendar_feed', objectId: feed.id, data });
  }
}

const present = ({ id, calendar_id, details, created_at }: CalendarFeed): FeedResponse => ({
  id,
  calendar_id,
  details,
  created_at: created_at.toISOString(),
});

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
