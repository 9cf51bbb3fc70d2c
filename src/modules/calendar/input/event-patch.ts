import { formatRule, instancesOf, parseRule, RecurrenceError } from '../../../lib/recurrence/index.js';
import { fieldError } from '../../../platform/http/errors.js';
import { CalendarErrors, RuleErrors } from '../calendar.errors.js';
import type { EventFields, RecurrenceFields } from './event-fields.dto.js';
import { changedTimes, readTime, type TimeInput, type TimesInput } from './event-input-times.js';
import type { EventContent, EventRow, EventTimes } from '../model/event-record.js';
import { seriesOf } from '../model/event-series.js';
import { findKeys, keysOnDay } from '../model/known-instances.js';
import { instantOf, isDay, wallIn, wallOf, wallText } from '../model/event-times.js';

export type Recurrence = Pick<EventRow, 'rules' | 'added' | 'excluded'>;

/** 422 for one field. */
export const invalidField = (field: string, code: string, message: string) =>
  fieldError(field, code, `${field} ${message}`);

const TIMES_ERRORS = {
  mixed_days: 'must be a day where the start is a day, and a time where it is a time',
  end_before_start: 'must not be before the start',
  too_long: 'must be at most 10 years after the start',
};

/** The times of a request. @throws ApiError 422 `validation_failed` */
export function timesOf(
  fields: TimesInput,
  current: EventTimes | undefined,
  defaultZone: string,
): EventTimes {
  const times = changedTimes(fields, current, defaultZone);
  if (typeof times !== 'string') return times;
  throw invalidField('end', times, TIMES_ERRORS[times]);
}

/** Whether a request contains a time. */
export const hasTimes = ({ start, end, duration }: TimesInput): boolean =>
  start !== undefined || Boolean(end) || Boolean(duration);

/** The fields of a request that an instance may have of its own, without its times. */
export function contentOf(fields: EventFields): Partial<EventContent> {
  const { title = fields.summary, description, location, locations, conference, links } = fields;
  const { status, show_as, visibility, color, categories } = fields;
  const content: Partial<EventContent> = {
    title,
    description: description === null ? '' : description,
    location: location === null ? '' : location,
    locations: locations?.map(({ name, address = '', geo = null }) => ({
      name,
      address,
      geo: geo && { ...geo },
    })),
    status,
    show_as,
    visibility,
    color: color?.toLowerCase() ?? color,
    categories,
    conference: conference && {
      kind: conference.create ? 'call' : (conference.kind ?? 'link'),
      url: conference.url ?? null,
      room_id: null,
    },
    links: links?.map(({ type, id = null, url = null, title: text = '' }) => ({
      type,
      id,
      url,
      title: text,
    })),
  };
  return Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined));
}

/** The recurrence of a request; undefined: not in the request. @throws ApiError 422 with the code of the rule's error */
export function recurrenceOf(
  { recurrence, rrule }: EventFields,
  times: EventTimes,
  current: Recurrence | undefined,
): Recurrence | undefined {
  if (recurrence === undefined && rrule === undefined) return undefined;
  if (recurrence === null || (recurrence === undefined && rrule === null))
    return { rules: [], added: [], excluded: [] };
  const given: RecurrenceFields = recurrence ?? {};
  const texts = given.rules ?? (rrule ? [rrule] : undefined);
  const rules = texts?.map((text) => canonicalRule(text)) ?? current?.rules ?? [];
  const added = given.added?.flatMap((time) => keysOf(time, times, null)) ?? current?.added ?? [];
  const series = { ...times, rules, added, excluded: [] };
  const named = given.excluded?.flatMap((time) => keysOf(time, times, series));
  const excluded = named ? findKeys(series, named) : (current?.excluded ?? []);
  return { rules, added: unique(added), excluded: unique(excluded) };
}

const unique = (keys: readonly string[]): string[] => [...new Set(keys)].toSorted();

function canonicalRule(text: string): string {
  try {
    return formatRule(parseRule(text));
  } catch (error) {
    if (!(error instanceof RecurrenceError)) throw error;
    const details = [{ field: 'recurrence.rules', code: error.code, message: error.message }];
    throw RuleErrors[error.code].with({ message: error.message, details });
  }
}

/**
 * The keys of the instances that a time names: wall times in the zone of the series.
 * @param series a day names all its instances on this day. Null means that a day names the time of the start on this day
 */
export function keysOf(
  input: TimeInput,
  times: EventTimes,
  series: (EventTimes & Recurrence) | null,
): string[] {
  const { wall, isDate, zone } = readTime(input, times.time_zone);
  if (isDay(times.starts)) return [wallText(wall, true)];
  if (!isDate) {
    // A time in the gap of a clock change is the key of its instance, as responses have it.
    const isOwn = times.time_zone === null || zone === null || zone === times.time_zone;
    return [wallText(isOwn ? wall : wallIn(times.time_zone as string, instantOf(wall, zone)), false)];
  }
  if (series === null) return [`${wallText(wall, true)}${times.starts.slice(10)}`];
  return keysOnDay(wall, series, 1_500);
}

/**
 * @throws ApiError 422 `no_instances` where every instance is excluded; `invalid_rule` for days with a frequency shorter than a day,
 *   which RFC 5545, 3.3.10, does not define
 */
export function assertInstances(record: EventTimes & Recurrence): void {
  if (record.rules.length + record.added.length + record.excluded.length === 0) return;
  if (isDay(record.starts) && record.rules.some((rule) => rule.includes('FREQ=HOURLY'))) {
    const message = 'FREQ=HOURLY needs a start with a time: an event on days repeats by days.';
    const details = [{ field: 'recurrence.rules', code: 'invalid_rule', message }];
    throw RuleErrors.invalid_rule.with({ message, details });
  }
  const from = Math.min(...[record.starts, ...record.added].map(wallOf)) - 2 * 86_400;
  if (instancesOf(seriesOf(record), { from, to: Number.POSITIVE_INFINITY, limit: 1 }).length === 0)
    throw CalendarErrors.noInstances.with();
}
