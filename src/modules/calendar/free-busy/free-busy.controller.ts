import { Body, Controller, Injectable } from '@nestjs/common';
import { ApiExtraModels, ApiTags } from '@nestjs/swagger';
import { DAY, weekdayOf } from '../../../lib/recurrence/index.js';
import { Turns } from '../../../lib/turns/index.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { fieldError } from '../../../platform/http/errors.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { ConcurrencyLimiter } from '../../../platform/workers/concurrency-limiter.js';
import type { WorkingHours } from '../../settings/index.js';
import { Availability, type AvailabilityWindow, type Subject } from '../availability.js';
import { CalendarErrors } from '../calendar.errors.js';
import { readTime, type TimeInput } from '../input/event-input-times.js';
import { type BusyTime, viewOf } from '../model/busy-times.js';
import { formatInstant, instantOf, wallIn, zoneNamed } from '../model/event-times.js';
import {
  FreeBusyAttendee,
  FreeBusyEnvelope,
  FreeBusyQuery,
  type FreeBusyResponse,
  type SuggestFields,
  type SuggestionResponse,
} from './free-busy.dto.js';

/** Names of days in working hours. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

export interface Attendee {
  /** The name of the attendee in the request. */
  name: string;
  zone: string;
  workingHours: WorkingHours;
  busy: readonly BusyTime[];
  isRequired: boolean;
}

export interface SuggestionOptions {
  from: number;
  to: number;
  /** Seconds. */
  duration: number;
  /** Seconds between possible starts. */
  step: number;
  count: number;
  /** Whether all times are within the working hours of all attendees. */
  withinHours: boolean;
  /** Seconds before and after the meeting in which required attendees are free too. */
  buffer: number;
}

export interface Suggestion {
  start: number;
  end: number;
  /** Optional attendees who are not free. */
  conflicts: string[];
  /** 1: everyone is free for certain. */
  score: number;
  reason: string;
}

/** Weights of conflicts. A tentative meeting counts half, because it may be moved. */
const WEIGHTS = { working_elsewhere: 0, tentative: 0.5, busy: 1, out_of_office: 1 } as const;

/**
 * Times for a meeting at which all required attendees are free or tentative. Those with the fewest conflicts come first, then the
 * earliest. All days of the window are possible unless `withinHours` is set.
 */
export async function suggestTimes(
  attendees: readonly Attendee[],
  options: SuggestionOptions,
  turns = new Turns(),
): Promise<Suggestion[]> {
  const { from, to, duration, step, count, buffer } = options;
  const found: Suggestion[] = [];
  const schedules = options.withinHours ? schedulesOf(attendees) : [];
  const positions = attendees.map((attendee) => ({ attendee, at: 0 }));
  const first = Math.ceil(from / step) * step;
  for (let start = first; start + duration <= to; start += step) {
    await turns.pause();
    const end = start + duration;
    if (!schedules.every((schedule) => isWorkingTime(schedule, start, end))) continue;
    for (const position of positions) advance(position, start - buffer);
    const weight = ({ attendee, at }: Position, margin: number): number =>
      weightOf(attendee.busy, at, start - margin, end + margin);
    const required = positions.filter(({ attendee }) => attendee.isRequired);
    const tentative = required.filter((position) => weight(position, buffer) > 0);
    if (tentative.some((position) => weight(position, buffer) >= 1)) continue;
    const optional = positions.filter(({ attendee }) => !attendee.isRequired);
    const conflicts = optional.filter((position) => weight(position, 0) > 0);
    const total = [...tentative, ...conflicts].reduce((sum, position) => sum + weight(position, 0), 0);
    found.push({
      start,
      end,
      conflicts: conflicts.map(({ attendee }) => attendee.name),
      score: Math.round((1 - Math.min(1, total / attendees.length)) * 100) / 100,
      reason: reasonOf(tentative.length, conflicts.length),
    });
  }
  return found.toSorted((a, b) => b.score - a.score || a.start - b.start).slice(0, count);
}

/** An attendee, and the first of its times that may overlap the current period. */
interface Position {
  attendee: Attendee;
  at: number;
}

/** Skips the times that end by an instant. Periods are in the order of their starts. */
function advance(position: Position, instant: number): void {
  const { busy } = position.attendee;
  while (position.at < busy.length && (busy[position.at] as BusyTime).end <= instant) position.at += 1;
}

type Schedule = Pick<Attendee, 'zone' | 'workingHours'>;

/** The different zones and working hours of the attendees. */
function schedulesOf(attendees: readonly Attendee[]): Schedule[] {
  const keyed = attendees.map(
    ({ zone, workingHours }) => [JSON.stringify([zone, workingHours]), { zone, workingHours }] as const,
  );
  return [...new Map(keyed).values()];
}

function reasonOf(tentative: number, conflicts: number): string {
  if (tentative + conflicts === 0) return 'All attendees are free.';
  const parts = [
    ...(tentative > 0 ? [`${tentative} required tentative`] : []),
    ...(conflicts > 0 ? [`${conflicts} optional not free`] : []),
  ];
  return `${parts.join(', ')}.`;
}

/** The highest weight of the times from the position `at` on that overlap a period. */
function weightOf(busy: readonly BusyTime[], at: number, start: number, end: number): number {
  let weight = 0;
  for (let n = at; n < busy.length && weight < 1; n += 1) {
    const time = busy[n] as BusyTime;
    if (time.start >= end) break;
    if (time.end > start) weight = Math.max(weight, WEIGHTS[time.type]);
  }
  return weight;
}

function isWorkingTime({ zone, workingHours }: Schedule, start: number, end: number): boolean {
  const from = wallIn(zone, start);
  const to = wallIn(zone, end);
  const day = Math.floor(from / DAY);
  const isWithin =
    from - day * DAY >= secondsOf(workingHours.from) && to - day * DAY <= secondsOf(workingHours.to);
  return isWithin && to > from && workingHours.days.includes(WEEKDAYS[weekdayOf(day)] as string);
}

/** Seconds of a time of the day, such as `09:30`. */
const secondsOf = (time: string): number => Number(time.slice(0, 2)) * 3600 + Number(time.slice(3)) * 60;

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

@ApiTags('calendar')
@ApiExtraModels(FreeBusyAttendee)
@Controller('calendar/scheduling')
export class FreeBusyController {
  constructor(private readonly freeBusy: FreeBusyService) {}

  @Endpoint('POST free_busy', {
    id: 'queryFreeBusy',
    summary: 'Find out when members are free',
    description:
      'Times and states without titles. Declined and cancelled events are free, events without a response tentative. With `suggest`: times at which the required attendees are free. The instances of all attendees are expanded up to a limit; where a series exceeds it, the rest of the series is one busy time, and `approximate` is true.',
    status: 200,
    response: [FreeBusyEnvelope, 'The busy times, and suggestions.'],
    errors: [CalendarErrors.windowTooLarge],
    example: {
      from: '2026-03-02',
      to: '2026-03-06',
      time_zone: 'Europe/Berlin',
      attendees: ['bob@demo.example'],
      suggest: { duration_minutes: 60 },
    },
  })
  query(@Ctx() ctx: RequestContext, @Body() body: FreeBusyQuery) {
    return this.freeBusy.query(ctx, body);
  }
}
