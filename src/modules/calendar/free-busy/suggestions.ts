import { DAY, weekdayOf } from '../../../lib/recurrence/index.js';
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
export function suggestTimes(attendees: readonly Attendee[], options: SuggestionOptions): Suggestion[] {
  const { from, to, duration, step, count, buffer } = options;
  const found: Suggestion[] = [];
  const first = Math.ceil(from / step) * step;
  for (let start = first; start + duration <= to; start += step) {
    const end = start + duration;
    if (options.withinHours && !attendees.every((attendee) => isWorkingTime(attendee, start, end))) continue;
    const weight = (attendee: Attendee, margin: number): number =>
      weightOf(attendee.busy, start - margin, end + margin);
    const required = attendees.filter(({ isRequired }) => isRequired);
    const tentative = required.filter((attendee) => weight(attendee, buffer) > 0);
    if (tentative.some((attendee) => weight(attendee, buffer) >= 1)) continue;
    const optional = attendees.filter(({ isRequired }) => !isRequired);
    const conflicts = optional.filter((attendee) => weight(attendee, 0) > 0);
    const total = [...tentative, ...conflicts].reduce((sum, attendee) => sum + weight(attendee, 0), 0);
    found.push({
      start,
      end,
      conflicts: conflicts.map(({ name }) => name),
      score: Math.round((1 - Math.min(1, total / attendees.length)) * 100) / 100,
      reason: reasonOf(tentative.length, conflicts.length),
    });
  }
  return found.toSorted((a, b) => b.score - a.score || a.start - b.start).slice(0, count);
}

function reasonOf(tentative: number, conflicts: number): string {
  if (tentative + conflicts === 0) return 'All attendees are free.';
  const parts = [
    ...(tentative > 0 ? [`${tentative} required tentative`] : []),
    ...(conflicts > 0 ? [`${conflicts} optional not free`] : []),
  ];
  return `${parts.join(', ')}.`;
}

/** The highest weight of the times that overlap a period. */
function weightOf(busy: readonly BusyTime[], start: number, end: number): number {
  let weight = 0;
  for (const time of busy) {
    if (time.start >= end) break;
    if (time.end > start) weight = Math.max(weight, WEIGHTS[time.type]);
  }
  return weight;
}

function isWorkingTime({ zone, workingHours }: Attendee, start: number, end: number): boolean {
  const from = wallIn(zone, start);
  const to = wallIn(zone, end);
  const day = Math.floor(from / DAY);
  const isWithin =
    from - day * DAY >= secondsOf(workingHours.from) && to - day * DAY <= secondsOf(workingHours.to);
  return isWithin && to > from && workingHours.days.includes(WEEKDAYS[weekdayOf(day)] as string);
}

/** Seconds of a time of the day, such as `09:30`. */
const secondsOf = (time: string): number => Number(time.slice(0, 2)) * 3600 + Number(time.slice(3)) * 60;
