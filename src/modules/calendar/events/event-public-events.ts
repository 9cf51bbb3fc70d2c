import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import {
  type EventFacts,
  FACTS,
  PublicEvents,
  publicEvents,
} from '../../../platform/events/public-events.js';
import { CalendarEvents } from '../calendar.events.js';
import { EventsRepository } from '../events.repository.js';
import { eventResponse, viewerOf } from '../responses/event.presenter.js';
import { CalendarEventResponse } from '../responses/event.response.js';

// The calendar of the member with the event; otherwise a shared one. A deleted event has left them with its deletion. $4: only this
// calendar, or null.
const placement = workspace.statement<{ calendar_id: string; deleted: boolean }>(
  'calendar.placement_of_reader',
  `SELECT place.calendar_id, place.deleted
     FROM (SELECT entry.calendar_id, false AS deleted FROM calendar_entries entry
            WHERE entry.tenant_id = $1 AND entry.event_id = $3 AND NOT entry.hidden
           UNION ALL
           SELECT tombstone.calendar_id, true FROM calendar_access access
             JOIN entry_tombstones tombstone
               ON tombstone.tenant_id = $1 AND tombstone.calendar_id = access.calendar_id AND tombstone.event_id = $3
             JOIN calendar_events event ON event.tenant_id = $1 AND event.id = $3
            WHERE access.tenant_id = $1 AND access.user_id = $2
              AND tombstone.deleted_at >= event.deleted_at - interval '1 minute') place
     JOIN calendar_access access
       ON access.tenant_id = $1 AND access.calendar_id = place.calendar_id AND access.user_id = $2
    WHERE $4::uuid IS NULL OR place.calendar_id = $4
    ORDER BY place.deleted, access.role DESC, place.calendar_id LIMIT 1`,
);

const calendar = workspace.statement<{ id: string }>(
  'calendar.filters_events',
  `SELECT calendar_id AS id FROM calendar_access WHERE tenant_id = $1 AND user_id = $2 AND calendar_id = $3`,
);

const EVENT_EVENTS = publicEvents(
  {
    kind: 'event',
    object: CalendarEventResponse,
    facts: { event_id: FACTS.id, revision: FACTS.revision, actor_id: FACTS.user },
    filters: ['calendar_id'],
  },
  {
    [CalendarEvents.created]: 'An event was created. `event` is null if it was deleted meanwhile.',
    [CalendarEvents.updated]: 'An event, or an instance of it, changed.',
    [CalendarEvents.deleted]: 'An event was deleted. `event` is null.',
  },
);

/** The events of calendars that programs of others receive. */
@Injectable()
export class EventPublicEvents implements OnModuleInit {
  constructor(
    private readonly publicEvents: PublicEvents,
    private readonly events: EventsRepository,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.publicEvents.registerFilter(
      'calendar_id',
      async ({ tenantId, userId }, id) => (await this.db.query(calendar, [tenantId, userId, id])).length > 0,
    );
    this.publicEvents.register(EVENT_EVENTS, {
      one: (ctx, facts, { calendar_id: calendarId }) => this.read(ctx, facts, calendarId),
    });
  }

  private async read(ctx: RequestContext, { event_id: id }: EventFacts, calendarId: string | undefined) {
    const [place] = await this.db.query(placement, [ctx.tenantId, ctx.userId, id, calendarId ?? null]);
    if (!place) return undefined;
    if (place.deleted) return null;
    const found = await this.events.find(this.db, ctx, place.calendar_id, id as string);
    if (!found?.record) return undefined;
    const { record, calendar, entry } = found;
    return eventResponse(record, entry, viewerOf(ctx, calendar));
  }
}
