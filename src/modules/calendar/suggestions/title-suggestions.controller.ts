import { Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { fold } from '../../../lib/search-text/index.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { spelledFor, spelledText } from '../../../platform/database/like.js';
import { workspace } from '../../../platform/database/statement.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import type { EventRow } from '../model/event-record.js';
import { instantOf, lengthAt, wallOf } from '../model/event-times.js';
import {
  SuggestTitles,
  type TitleSuggestionResponse,
  TitleSuggestionsEnvelope,
} from './title-suggestions.dto.js';

interface SuggestionRow {
  count: number;
  last_used_at: Date;
  event: EventRow;
  attendees: string[];
}

// Index calendar_events_titles. The latest 2,000 matching events bound the cost.
const suggest = workspace.statement<SuggestionRow>(
  'calendar.suggest_titles',
  `WITH own AS (
     SELECT id, title_key, created_at FROM calendar_events event
      WHERE tenant_id = $1 AND created_by = $2 AND deleted_at IS NULL AND title_key <> ''
        AND (' ' || ${spelledFor('$3::text', 'title_key')}) LIKE '% ' || $3 || '%'
        AND ($4::uuid IS NULL OR origin_calendar_id = $4)
        AND EXISTS (SELECT FROM calendar_access access
                     WHERE access.tenant_id = $1 AND access.calendar_id = event.origin_calendar_id
                       AND access.user_id = $2 AND access.role >= 'reader')
        AND (visibility <> 'private' OR organizer_id = $2
             OR EXISTS (SELECT FROM calendars calendar WHERE calendar.tenant_id = $1
                           AND calendar.id = event.origin_calendar_id AND calendar.owner_id = $2)
             OR EXISTS (SELECT FROM event_participants participant WHERE participant.tenant_id = $1
                           AND participant.event_id = event.id AND participant.user_id = $2))
      ORDER BY created_at DESC LIMIT 2000),
   titles AS (
     SELECT count(*)::int AS count, max(created_at) AS last_used_at,
            (array_agg(id ORDER BY created_at DESC, id DESC))[1] AS latest
       FROM own GROUP BY title_key ORDER BY count(*) DESC, max(created_at) DESC LIMIT $5)
   SELECT titles.count, titles.last_used_at, row_to_json(event) AS event,
          ARRAY(SELECT email FROM event_participants participant
                 WHERE participant.tenant_id = $1 AND participant.event_id = event.id
                   AND participant.recurrence_key = '' ORDER BY email LIMIT 50) AS attendees
     FROM titles JOIN calendar_events event ON event.tenant_id = $1 AND event.id = titles.latest
    ORDER BY titles.count DESC, titles.last_used_at DESC`,
);

/** Titles of the caller's own events. */
@Injectable()
export class TitleSuggestions {
  constructor(private readonly db: Db) {}

  async suggest(
    ctx: RequestContext,
    { q = '', calendar_id, limit }: SuggestTitles,
  ): Promise<JsonReply<TitleSuggestionsEnvelope>> {
    const beginning = spelledText(fold(q.trim()));
    const values = [ctx.tenantId, ctx.userId, beginning, calendar_id?.toLowerCase() ?? null, limit];
    const rows = await this.db.query(suggest, values);
    return JsonReply.of({ suggestions: rows.map(suggestion) });
  }
}

function suggestion({ count, last_used_at, event, attendees }: SuggestionRow): TitleSuggestionResponse {
  const wall = wallOf(event.starts);
  const length = lengthAt(event, wall, instantOf(wall, event.time_zone));
  return {
    title: event.title,
    count,
    last_used_at: last_used_at.toISOString(),
    duration_minutes: Math.round(length / 60),
    location: event.location,
    attendees,
    color: event.color,
    category: event.categories[0] ?? null,
  };
}

@ApiTags('calendar')
@Controller('calendar/title-suggestions')
export class TitleSuggestionsController {
  constructor(private readonly titles: TitleSuggestions) {}

  @Endpoint('GET', {
    id: 'suggestTitles',
    summary: 'Suggest titles',
    description:
      'Titles that you have used, the most frequent first, with the length, place and attendees of the latest event.',
    response: [TitleSuggestionsEnvelope, 'The suggestions.'],
  })
  suggest(@Ctx() ctx: RequestContext, @Query() query: SuggestTitles) {
    return this.titles.suggest(ctx, query);
  }
}
