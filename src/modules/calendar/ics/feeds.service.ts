import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Audit } from '../../../platform/audit/audit.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { attachmentNamed } from '../../../platform/http/replies/file-reply.js';
import { newToken, readToken } from '../../../platform/secrets/workspace-token.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { EventsRepository } from '../events.repository.js';
import { Calendar } from '../calendar.entity.js';
import { CalendarErrors } from '../calendar.errors.js';
import type { CalendarContext } from '../model/event-record.js';
import { CalendarFeed } from './feed.entity.js';
import { FeedErrors } from './feeds.errors.js';
import type { CreateFeed } from './feeds.dto.js';
import type { CreatedFeedEnvelope, FeedEnvelope, FeedListEnvelope, FeedResponse } from './feeds.response.js';
import { ICS_TYPE, IcsExport } from './ics-export.js';
import { IcsRepository } from './ics.repository.js';

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
      return { feed: { ...present(feed), url: `/apis/v1/calendar/feeds/${token}.ics` } };
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
    if (ifNoneMatch?.split(',').some((each) => each.trim() === etag))
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
    const name = attachmentNamed(`${calendar.name}.ics`, 'calendar.ics');
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
