import { v7 as uuidv7 } from 'uuid';
import { fieldError } from '../../../platform/http/errors.js';
import { readTime, type ReadTime, type TimeInput } from '../input/event-input-times.js';
import { formatInstant, instantOf, wallText } from '../model/event-times.js';
import type { OptionRow } from './poll-record.js';
import type { CreatePoll, PollOptionFields } from './polls.dto.js';

const DEFAULT_MINUTES = 60;
const MAX_LENGTH = 31 * 86_400;

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
    const day = wallText(from.wall, true);
    return { isDate: true, row: { ...row, starts: day, ends: day } };
  }
  const starts = at(from, zone);
  const ends = end === undefined ? starts + minutes * 60 : at(readTime(end, zone), zone);
  if (ends <= starts || ends - starts > MAX_LENGTH)
    throw invalid(position, 'end_before_start', 'must end after its start, within 31 days');
  return { isDate: false, row: { ...row, starts: formatInstant(starts), ends: formatInstant(ends) } };
}

const at = ({ wall, zone }: ReadTime, pollZone: string): number => instantOf(wall, zone, pollZone);

const invalid = (position: number, code: string, message: string) =>
  fieldError(`options.${position}`, code, `options.${position} ${message}`);
