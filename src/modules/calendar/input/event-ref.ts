import { Injectable, Param, type PipeTransform } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Errors } from '../../../platform/http/errors.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { documentsInput } from '../../../platform/http/input-docs.js';
import { CalendarErrors } from '../calendar.errors.js';
import type { TimeInput } from './event-input-times.js';
import type { EventRecord } from '../model/event-record.js';
import { isSeries, keyAt, occurrenceOf } from '../model/event-series.js';
import { findKeys } from '../model/known-instances.js';
import { hasOffset, isDay, parseInstant } from '../model/event-times.js';
import type { Scope } from './event-fields.dto.js';
import { invalidField, keysOf } from './event-patch.js';

/** The event of a path: the UUID of an event, or the id of an instance: a UUID and the nominal start. */
export interface EventRef {
  id: string;
  /** `20260302T080000Z`, `20260302T080000` or `20260302`; null: the event itself. */
  instance: string | null;
}

const INSTANCE = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/;

/** @returns null for text that is no reference to an event */
export function parseEventRef(text: string): EventRef | null {
  const id = text.slice(0, 36);
  const instance = text.length > 36 ? text.slice(37) : null;
  if (!isUuid(id) || (instance !== null && (text[36] !== '_' || !INSTANCE.test(instance)))) return null;
  return { id: id.toLowerCase(), instance };
}

@Injectable()
class EventRefPipe implements PipeTransform<string, EventRef> {
  transform(value: string): EventRef {
    const ref = parseEventRef(value);
    if (!ref) throw Errors.invalidId.with();
    return ref;
  }
}

const PIPE = new EventRefPipe();
const INPUT = documentsInput({ errors: [Errors.invalidId] });

/** Injects and documents the `:event_id` of a path as an `EventRef`. @throws ApiError 422 `invalid_id` */
export const EventId = (): ParameterDecorator => (target, key, index) => {
  Param('event_id', PIPE)(target, key, index);
  INPUT(target, key, index);
  const descriptor = Object.getOwnPropertyDescriptor(target, key as string)!;
  ApiParam({
    name: 'event_id',
    description:
      'Id of the event, a UUID; of an instance `<id of the series>_<nominal start>`, as in `id` of instances.',
    schema: { type: 'string', examples: ['01890a5d-ac96-774b-bcce-b302099a8057'] },
  })(target, key as string, descriptor);
};

/**
 * The instance that a path or a body names.
 * @returns its key, or null: the event itself
 * @throws ApiError 404 for a path without such an instance, 422 `not_an_instance` for a body
 */
export function instanceKey(
  record: EventRecord,
  ref: EventRef,
  named: TimeInput | null | undefined,
): string | null {
  if (ref.instance !== null) {
    const key = keyOfText(record, ref.instance);
    if (key === null) throw CalendarErrors.eventNotFound.with();
    return key;
  }
  if (named === undefined || named === null) return null;
  const key = keyOfTime(record, named);
  if (key === null) throw CalendarErrors.notAnInstance.with();
  return key;
}

/**
 * The instances that a change concerns.
 * @param key of the named instance
 * @throws ApiError 422 if the scope needs an instance
 */
export function scopeOf(named: Scope | undefined, key: string | null): Scope {
  const scope = named ?? (key === null ? 'all' : 'this');
  if (scope !== 'all' && key === null)
    throw invalidField('recurrence_id', 'required', `names the instance for scope ${scope}`);
  return scope;
}

/** The key of the instance that a time on the clock of the series names. */
function existing(record: EventRecord, named: string | null): string | null {
  if (named === null || !isSeries(record)) return null;
  if (occurrenceOf(record, named, 'UTC')) return named;
  const [key] = findKeys(record, [named]) as [string];
  return key !== named && occurrenceOf(record, key, 'UTC') ? key : null;
}

function keyOfText(record: EventRecord, text: string): string | null {
  const [, year, month, day, hour, minute, second, utc] = INSTANCE.exec(text) as unknown as string[];
  const date = `${year}-${month}-${day}`;
  if (hour === undefined) return isDay(record.starts) ? existing(record, checked(date)) : null;
  const wall = `${date}T${hour}:${minute}:${second}`;
  if (isDay(record.starts) || checked(wall) === null) return null;
  const instant = utc ? parseInstant(`${wall}Z`) : null;
  return existing(record, instant === null ? wall : keyAt(record, instant));
}

/** The text if it is an existing time, else null. */
const checked = (text: string): string | null =>
  parseInstant(text.includes('T') ? `${text}Z` : `${text}T00:00:00Z`) === null ? null : text;

function keyOfTime(record: EventRecord, time: TimeInput): string | null {
  const text = typeof time === 'string' ? time : 'date_time' in time ? time.date_time : time.date;
  if (text && hasOffset(text) && !isDay(record.starts))
    return existing(record, keyAt(record, parseInstant(text) as number));
  return existing(record, keysOf(time, record, null)[0] ?? null);
}
