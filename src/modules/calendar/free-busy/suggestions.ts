import { DAY, weekdayOf } from '../../../lib/recurrence/index.js';
import { Turns } from '../../../lib/turns/index.js';
import type { WorkingHours } from '../../settings/index.js';
import { wallIn } from '../model/event-times.js';
import type { BusyTime } from '../model/busy-times.js';

/** Names of days in working hours. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

export interface Attendee {
  /** As the request names them. */
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
  /** Only times within the working hours of all attendees. */
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
