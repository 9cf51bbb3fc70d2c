import { Injectable } from '@nestjs/common';
import { readerLexeme } from '../../../lib/search-text/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { RelatedItems } from '../../../platform/references/related-items.js';
import { type Found, ItemSearch } from '../../../platform/search/item-search.js';
import type { SearchFilter, SearchRow } from '../../../platform/search/item-search.repository.js';
import type { CalendarRole } from '../calendar.entity.js';
import { eventResponse, viewerOf } from '../responses/event.presenter.js';
import { recordIn } from '../model/attendance.js';
import { permissionsOf } from '../model/event-policy.js';
import { readTime } from '../input/event-input-times.js';
import { type CalendarContext, type EventJson, type EventRecord, recordOf } from '../model/event-record.js';
import { formatInstant, instantOf } from '../model/event-times.js';
import type { FoundEvent } from '../events.repository.js';
import { EventIndexer } from './event-index.js';
import type { SearchEvents } from './event-search.dto.js';
import type { EventSearchEnvelope } from './event-search.response.js';

interface EventSearchRow extends SearchRow {
  shown: EventJson['event'];
  participants: EventJson['participants'];
  overrides: EventJson['overrides'];
  calendar: Omit<CalendarContext, 'role' | 'locale'>;
  role: CalendarRole;
  locale: string | null;
  entry: FoundEvent['entry'];
}

const STATES = { active: 'active', cancelled: 'trash', all: 'all' } as const;

/** Search in the events whose details the caller sees. */
@Injectable()
export class EventSearchService extends ItemSearch<EventSearchRow, EventSearchEnvelope> {
  protected readonly plural = 'events';
  protected readonly bodyName = 'description';

  constructor(db: Db, indexer: EventIndexer, cursors: Cursors, related: RelatedItems) {
    super(db, indexer, cursors);
    related.register('events', (ctx, query) => this.related(ctx, query));
  }

  /** @throws ApiError 422 `invalid_cursor` */
  search(ctx: RequestContext, query: SearchEvents): Promise<JsonReply<EventSearchEnvelope>> {
    const { q, limit, cursor, state } = query;
    const calendar = query.calendar_id?.toLowerCase() ?? null;
    const [from, to] = [instant(query.from), instant(query.to)];
    const filter = (bind: (value: unknown) => string) => filterOf([calendar, from, to], bind);
    return this.respond(ctx, {
      q,
      limit,
      cursor,
      state: STATES[state],
      filter,
      values: [calendar, from, to],
    });
  }

  protected findable(): string {
    return readerLexeme('');
  }

  /** An attendee of some instances sees the texts of these instances, not of the series. */
  protected override textsOf({ userId }: RequestContext, row: EventSearchRow) {
    const { shown: event, participants, overrides, role, locale } = row;
    const whole = recordOf({ event, participants, overrides });
    const calendar = { ...row.calendar, role, locale };
    const record = recordIn(whole, calendar);
    if (record === whole) return null;
    const seesDetails = permissionsOf(record, calendar, userId).see_details;
    return seesDetails ? { title: record.title, body: bodyOf(record) } : { title: '', body: '' };
  }

  protected shown(ctx: RequestContext, rows: Found<EventSearchRow>[]): Promise<string[]> {
    const items = rows.map(
      ({ shown: event, participants, overrides, calendar: own, role, locale, entry }) => {
        const calendar = { ...own, role, locale };
        const viewer = viewerOf(ctx, calendar);
        return JSON.stringify(eventResponse(recordOf({ event, participants, overrides }), entry, viewer));
      },
    );
    return Promise.resolve(items);
  }
}

/** The body as `EVENT_SEARCH` indexes it. */
const bodyOf = ({ location, description }: EventRecord): string =>
  `${location}\n${description}`.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function instant(text: string | undefined): string | null {
  if (text === undefined) return null;
  const { wall, zone } = readTime(text, 'UTC');
  return formatInstant(instantOf(wall, zone));
}

/** Restricts hits to events with a placement in the calendar and in the window. */
function filterOf(values: readonly (string | null)[], bind: (value: unknown) => string): SearchFilter {
  if (values.every((value) => value === null)) return { variant: '', sql: '' };
  const [calendar, from, to] = values.map(bind);
  return {
    variant: '.placed',
    sql: ` AND EXISTS (SELECT FROM calendar_entries placed
      WHERE placed.tenant_id = $1 AND placed.event_id = member.event_id
        AND (${calendar}::uuid IS NULL OR placed.calendar_id = ${calendar})
        AND (${from}::timestamptz IS NULL OR placed.span_end > ${from})
        AND (${to}::timestamptz IS NULL OR placed.span_start < ${to}))`,
  };
}
