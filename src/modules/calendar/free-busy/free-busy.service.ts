import { Injectable } from '@nestjs/common';
import { DAY } from '../../../lib/recurrence/index.js';
import { Turns } from '../../../lib/turns/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrencyLimiter } from '../../../platform/workers/concurrency-limiter.js';
import { fieldError } from '../../../platform/http/errors.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { Availability, type AvailabilityWindow, type Subject } from '../availability.js';
import { viewOf } from '../model/busy-times.js';
import { CalendarErrors } from '../calendar.errors.js';
import { readTime, type TimeInput } from '../input/event-input-times.js';
import { formatInstant, instantOf, zoneNamed } from '../model/event-times.js';
import type { FreeBusyQuery, SuggestFields } from './free-busy.dto.js';
import type { FreeBusyEnvelope, FreeBusyResponse, SuggestionResponse } from './free-busy.response.js';
import { suggestTimes, WEEKDAYS } from './suggestions.js';

const MAX_WINDOW = 62 * DAY;
const DEFAULT_SLOT_MINUTES = 30;
const MINUTE = 60;
/**
 * Queries that run at the same time. Each holds the rows of thousands of series. More queries are not faster, because one thread
 * expands the series.
 */
const CONCURRENT = 2;
/** Queries that may wait; further ones are rejected with 503. */
const QUEUE = 200;

/** When members and calendars are free. Responses contain times and states, no titles. */
@Injectable()
export class FreeBusyService {
  private readonly limiter = new ConcurrencyLimiter(CONCURRENT, QUEUE);

  constructor(private readonly availability: Availability) {}

  /** @throws ApiError 422 `window_too_large` */
  async query(ctx: RequestContext, query: FreeBusyQuery): Promise<JsonReply<FreeBusyEnvelope>> {
    const window = windowOf(query);
    const slot = (query.interval_minutes ?? DEFAULT_SLOT_MINUTES) * MINUTE;
    const subjects = await this.availability.subjects(ctx, query.attendees);
    const excluded = query.exclude_event_id === undefined ? [] : [query.exclude_event_id.toLowerCase()];
    return this.limiter.run(async () => {
      await this.availability.fill(ctx, subjects, window, excluded);
      const turns = new Turns();
      const items: string[] = [];
      for (const subject of subjects) {
        items.push(JSON.stringify(present(subject, window, slot)));
        await turns.pause();
      }
      const rest: Omit<FreeBusyEnvelope, 'free_busy'> = {
        suggestions: query.suggest ? await suggestionsOf(subjects, window, slot, query.suggest, turns) : [],
        from: formatInstant(window.from),
        to: formatInstant(window.to),
      };
      return JsonReply.listOf('free_busy', items, rest);
    });
  }
}

/** @throws ApiError 422 `window_too_large`, or for an empty window */
function windowOf({ from, to, time_zone: zone = 'UTC' }: FreeBusyQuery): AvailabilityWindow {
  const name = zoneNamed(zone) ?? 'UTC';
  const instant = (input: TimeInput, isEnd: boolean): number => {
    const { wall, isDate, zone: own } = readTime(input, name);
    return instantOf(isDate && isEnd ? wall + DAY : wall, own, name);
  };
  const window = { from: instant(from, false), to: instant(to, true) };
  if (window.to <= window.from) throw fieldError('to', 'end_before_start', 'to must be after from');
  if (window.to - window.from > MAX_WINDOW)
    throw CalendarErrors.windowTooLarge.with({ message: 'A free/busy window has at most 62 days.' });
  return window;
}

function present(
  { requested, member, calendar, zone, workingHours, busy, isApproximate }: Subject,
  { from, to }: AvailabilityWindow,
  slot: number,
): FreeBusyResponse {
  const isKnown = member !== null || calendar !== null;
  return {
    email: member?.email ?? requested.email?.toLowerCase() ?? null,
    user_id: member?.user_id ?? requested.user_id?.toLowerCase() ?? null,
    calendar_id: requested.calendar_id?.toLowerCase() ?? null,
    status: isKnown ? 'ok' : 'unknown',
    approximate: isApproximate,
    busy: busy.map(({ start, end, type }) => ({
      start: formatInstant(start),
      end: formatInstant(end),
      type,
    })),
    working_hours: member && {
      time_zone: zone,
      days: workingHours.days.map((day) => WEEKDAYS.indexOf(day) + 1),
      start: workingHours.from,
      end: workingHours.to,
    },
    view: isKnown ? viewOf(busy, from, to, slot) : '',
  };
}

/** Ignores unknown attendees, because their times are not known. */
async function suggestionsOf(
  subjects: readonly Subject[],
  { from, to }: AvailabilityWindow,
  step: number,
  fields: SuggestFields,
  turns: Turns,
): Promise<SuggestionResponse[]> {
  const { duration_minutes: minutes, count = 10, required, working_hours: withinHours = true } = fields;
  const attendees = subjects.flatMap(({ requested, member, calendar, zone, workingHours, busy }) => {
    if (!member && !calendar) return [];
    const names = [member?.email, member?.user_id, calendar?.id].flatMap((each) => each ?? []);
    const isRequired = required === undefined || names.some((name) => required.includes(name));
    return { name: member?.email ?? requested.calendar_id ?? '', zone, workingHours, busy, isRequired };
  });
  if (attendees.length === 0) return [];
  const buffer = (fields.buffer_minutes ?? 0) * MINUTE;
  const options = { from, to, duration: minutes * MINUTE, step, count, withinHours, buffer };
  return (await suggestTimes(attendees, options, turns)).map(({ start, end, ...rest }) => ({
    start: formatInstant(start),
    end: formatInstant(end),
    ...rest,
  }));
}
