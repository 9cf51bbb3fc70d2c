import { v7 as uuidv7 } from 'uuid';
import { DAY } from '../../../lib/recurrence/index.js';
import { fieldError } from '../../../platform/http/errors.js';
import { readTime, type ReadTime, type TimeInput } from '../input/event-input-times.js';
import { formatInstant, instantOf, placeIn, wallText } from '../model/event-times.js';
import type { OptionRow } from './poll-record.js';
import type { CreatePoll, PollOptionFields } from './polls.dto.js';

const DEFAULT_MINUTES = 60;
const MAX_LENGTH = 31 * DAY;

/**
 * The options of a request, in its order.
 * @throws ApiError 422 for options that mix times and days, end before their start or repeat each other
 */
export function optionsOf(
  { options, kind, duration_minutes: minutes = DEFAULT_MINUTES }: CreatePoll,
  zone: string,
): { kind: 'time' | 'date'; options: OptionRow[] } {
  const rows = options.map((option, position) => optionOf(option, position, zone, minutes));
  const first = kind ?? (rows[0]?.isDate ? 'date' : 'time');
  const seen = new Set<string>();
  for (const [n, { isDate, row }] of rows.entries()) {
    if (isDate !== (first === 'date'))
      throw invalid(n, 'mixed_days', 'must be a day in a poll about days, and a time in a poll about times');
    const key = `${row.starts} ${row.ends}`;
    if (seen.has(key)) throw invalid(n, 'repeated', 'must not repeat another option');
    seen.add(key);
  }
  return { kind: first, options: rows.map(({ row }) => row) };
}

function optionOf(
  { start, end, date }: PollOptionFields,
  position: number,
  zone: string,
  minutes: number,
): { isDate: boolean; row: OptionRow } {
  const input: TimeInput | undefined = start ?? date;
  if (input === undefined) throw invalid(position, 'required', 'must have a start or a date');
  const from = readTime(input, zone);
  const row = { id: uuidv7(), position, hold_event_id: null };
  if (from.isDate) {
    const last = end === undefined ? from.wall : lastDay(readTime(end, zone), position);
    if (last < from.wall || last - from.wall >= MAX_LENGTH) throw badEnd(position);
    return { isDate: true, row: { ...row, starts: wallText(from.wall, true), ends: wallText(last, true) } };
  }
  const starts = at(from, zone);
  const ends = end === undefined ? starts + minutes * 60 : endOf(readTime(end, zone), from, starts, zone);
  if (ends <= starts || ends - starts > MAX_LENGTH) throw badEnd(position);
  return { isDate: false, row: { ...row, starts: formatInstant(starts), ends: formatInstant(ends) } };
}

/** The last day before an end, which is exclusive as that of an event. @throws ApiError 422 for a time */
function lastDay({ isDate, wall }: ReadTime, position: number): number {
  if (!isDate) throw invalid(position, 'mixed_days', 'must end with a day, as it begins with one');
  return wall - DAY;
}

/** The instant of an end. A start in the hour that summer time skips is later than it says; an end in its zone moves with it, as that of an event. */
function endOf(end: ReadTime, from: ReadTime, starts: number, pollZone: string): number {
  const skipped = end.zone === from.zone ? placeIn(from.zone ?? pollZone, starts).wall - from.wall : 0;
  return at({ ...end, wall: end.wall + skipped }, pollZone);
}

const at = ({ wall, zone }: ReadTime, pollZone: string): number => instantOf(wall, zone, pollZone);

const badEnd = (position: number) =>
  invalid(position, 'end_before_start', 'must end after its start, within 31 days');

const invalid = (position: number, code: string, message: string) =>
  fieldError(`options.${position}`, code, `options.${position} ${message}`);
