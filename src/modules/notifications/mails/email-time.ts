import { DAY, Zone } from '../../../lib/recurrence/index.js';
import type { NotificationSettings, QuietRange } from '../../settings/index.js';

/** No e-mail is sent when the recipient reads the notification within this time. */
export const DELAY_SECONDS = 60;
/** Local time of digests. */
const DIGEST_HOUR = 8;
const HOUR = 3_600;
const WEEK = 7 * DAY;
const MONDAY = 1;
const NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/**
 * The earliest time of the e-mail for a notification.
 * @param isRequired true: at once, regardless of the settings
 * @returns null for no e-mail: the quiet hours have no end
 */
export function emailTime(
  now: Date,
  settings: Pick<NotificationSettings, 'timeZone' | 'quietRanges' | 'digest'>,
  isRequired: boolean,
): Date | null {
  if (isRequired) return now;
  const soon = new Date(now.getTime() + DELAY_SECONDS * 1_000);
  return afterQuiet(settings.digest === 'off' ? soon : nextDigest(soon, settings), settings);
}

/** The next 8 o'clock in the time zone of the recipient; for a weekly digest, of a Monday. */
function nextDigest(
  from: Date,
  { timeZone, digest }: Pick<NotificationSettings, 'timeZone' | 'digest'>,
): Date {
  const zone = Zone.of(timeZone);
  const wall = zone.toWall(secondsOf(from));
  let day = Math.floor(wall / DAY);
  if (wall - day * DAY >= DIGEST_HOUR * HOUR) day += 1;
  if (digest === 'weekly') day += (MONDAY - weekdayOf(day) + 7) % 7;
  return dateOf(zone.toInstant(day * DAY + DIGEST_HOUR * HOUR));
}

/** @returns the time itself, or the end of the quiet hours that contain it; null: they cover the whole week and have no end */
export function afterQuiet(
  time: Date,
  { timeZone, quietRanges }: Pick<NotificationSettings, 'timeZone' | 'quietRanges'>,
): Date | null {
  const zone = Zone.of(timeZone);
  const start = zone.toWall(secondsOf(time));
  // Ranges may adjoin or overlap.
  for (let wall = start; wall < start + WEEK;) {
    const ends = quietRanges.flatMap((range) => endOf(range, wall) ?? []);
    if (ends.length === 0) return wall === start ? time : endAt(zone, time, wall - start, wall);
    wall = Math.max(...ends);
  }
  return null;
}

/**
 * The instant of a later wall time. A wall time that occurs twice means the first one, except after it.
 * @param seconds from `time` to the wall time by the clock
 */
function endAt(zone: Zone, time: Date, seconds: number, wall: number): Date {
  const first = dateOf(zone.toInstant(wall));
  return first > time ? first : dateOf(secondsOf(time) + seconds);
}

/** @returns the end of the range that contains the wall time, in seconds; null when none does */
function endOf({ from, to, days }: QuietRange, wall: number): number | null {
  const today = Math.floor(wall / DAY);
  const [start, end] = [secondsOfDay(from), secondsOfDay(to)];
  const length = end > start ? end - start : end - start + DAY;
  // A range that began yesterday may continue today.
  for (const day of [today, today - 1]) {
    if (days !== undefined && !days.includes(NAMES[weekdayOf(day)] as string)) continue;
    const begin = day * DAY + start;
    if (wall >= begin && wall < begin + length) return begin + length;
  }
  return null;
}

/** 0 is Sunday; day 0 is 1 January 1970, a Thursday. */
const weekdayOf = (day: number): number => (((day + 4) % 7) + 7) % 7;
const secondsOf = (time: Date): number => Math.floor(time.getTime() / 1_000);
const dateOf = (seconds: number): Date => new Date(seconds * 1_000);

function secondsOfDay(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * HOUR + minutes * 60;
}
