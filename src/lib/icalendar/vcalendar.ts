import {
  civilOf,
  DAY,
  daysInMonth,
  formatWallTime,
  parseWallTime,
  weekdayOf,
  WEEKDAYS,
} from '../recurrence/index.js';
import {
  type Component,
  component,
  ICalendarError,
  parameterOf,
  propertiesOf,
  type Property,
  property,
  propertyOf,
} from './component.js';
import { escapeText, formatDuration, formatOffset, parseOffset, timesOf, type TimeValue } from './values.js';

/** Weekdays of the nth occurrence, days of the month, months or days of the year, by the letters of the rule. */
const FREQUENCIES: Readonly<Record<string, { freq: string; part: string }>> = {
  D: { freq: 'DAILY', part: '' },
  W: { freq: 'WEEKLY', part: 'BYDAY' },
  MP: { freq: 'MONTHLY', part: 'BYDAY' },
  MD: { freq: 'MONTHLY', part: 'BYMONTHDAY' },
  YM: { freq: 'YEARLY', part: 'BYMONTH' },
  YD: { freq: 'YEARLY', part: 'BYYEARDAY' },
};

const HEAD = /^(D|W|MP|MD|YM|YD)(\d{1,4})$/;
const COUNT = /^#(\d{1,5})$/;
const DATE = /^\d{8}(?:T\d{6}Z?)?$/;
const TIME = /^([01]\d|2[0-3])([0-5]\d)$/;
const WEEKDAY = /^(?:MO|TU|WE|TH|FR|SA|SU)$/;
const OCCURRENCE = /^([1-5])([+-])?$/;
const DAY_OF_MONTH = /^(\d{1,2})([+-])?$/;
/** The number of occurrences of a rule that states neither a number nor an end. */
const DEFAULT_COUNT = 2;

/**
 * A recurrence rule of vCalendar 1.0 (1996, "Recurrence Rule Grammar", its basic form) as one of RFC 5545: `MP2 1+ 2- MO #6` is
 * `FREQ=MONTHLY;INTERVAL=2;BYDAY=1MO,-2MO;COUNT=6`.
 * @returns null for another text, such as a rule with minutes or rules within rules
 */
export function ruleOfVCalendar(text: string): string | null {
  const [head = '', ...rest] = text.trim().toUpperCase().split(/\s+/);
  const [, letters = '', interval = ''] = HEAD.exec(head) ?? [];
  const kind = FREQUENCIES[letters];
  if (!kind) return null;
  const last = rest.at(-1) ?? '';
  const count = COUNT.exec(last)?.[1];
  const end = count === undefined && DATE.test(last) ? last : null;
  const values = count === undefined && end === null ? rest : rest.slice(0, -1);
  const parts = [`FREQ=${kind.freq}`];
  if (Number(interval) > 1) parts.push(`INTERVAL=${Number(interval)}`);
  const times = kind.part === '' ? ruleTimesOf(values) : null;
  const list = times ? [] : listOf(letters, values);
  if (list === null || (kind.part === '' && times === null)) return null;
  if (times) parts.push(...times);
  if (list.length > 0) parts.push(`${kind.part}=${list.join(',')}`);
  if (end !== null) parts.push(`UNTIL=${end}`);
  // #0 repeats without end.
  else if (Number(count ?? DEFAULT_COUNT) > 0) parts.push(`COUNT=${Number(count ?? DEFAULT_COUNT)}`);
  return parts.join(';');
}

/** Times of day of a daily rule. Null for another text, and for times of which not all combinations of hours and minutes are meant. */
function ruleTimesOf(values: readonly string[]): string[] | null {
  const times = values.map((value) => TIME.exec(value));
  if (times.length === 0) return [];
  const minutes = new Set(times.map((time) => time?.[2]));
  if (times.some((time) => time === null) || minutes.size > 1) return null;
  return [
    `BYHOUR=${times.map((time) => Number(time?.[1])).join(',')}`,
    `BYMINUTE=${Number([...minutes][0])}`,
  ];
}

/** The values of the list of a rule; null for a text of another grammar. */
function listOf(letters: string, values: readonly string[]): string[] | null {
  if (letters === 'MP') return weekdaysOf(values);
  const read = (value: string): string | null => {
    if (letters === 'W') return WEEKDAY.test(value) ? value : null;
    if (letters !== 'MD') return /^\d{1,3}$/.test(value) ? String(Number(value)) : null;
    if (value === 'LD') return '-1';
    const [, day, sign] = DAY_OF_MONTH.exec(value) ?? [];
    return day === undefined ? null : `${sign === '-' ? '-' : ''}${Number(day)}`;
  };
  const found = values.map(read);
  return found.includes(null) ? null : (found as string[]);
}

/** Occurrences, then the weekdays for which they count; both may repeat. */
function weekdaysOf(values: readonly string[]): string[] | null {
  const found: string[] = [];
  let occurrences: string[] = [];
  let hasDays = false;
  for (const value of values) {
    const [, nth, sign] = OCCURRENCE.exec(value) ?? [];
    if (nth !== undefined) {
      if (hasDays) occurrences = [];
      hasDays = false;
      occurrences.push(`${sign === '-' ? '-' : ''}${nth}`);
    } else if (WEEKDAY.test(value) && occurrences.length > 0) {
      hasDays = true;
      found.push(...occurrences.map((number) => `${number}${value}`));
    } else return null;
  }
  return found;
}

/** TZID of the local times of a calendar that states its offset by the property TZ. */
const ZONE = 'vCalendar';
const MAX_SUMMERS = 100;
const WEEK = 7;

const textOf = (owner: Component, name: string): string => propertyOf(owner, name)?.value.trim() ?? '';

/** Whether a VCALENDAR is one of the version before iCalendar, which telephones and old programs write. */
export const isVCalendar = (calendar: Component): boolean => textOf(calendar, 'VERSION') === '1.0';

/**
 * An event or a task of vCalendar 1.0 (1996) as one of iCalendar: rules, lists, alarms, attendees, states and local times differ. The
 * offset of a calendar (TZ, DAYLIGHT) becomes a VTIMEZONE, which is added to the calendar.
 */
export function upgradeItem(item: Component, calendar: Component): Component {
  const zone = zoneOf(calendar);
  const alarms = item.properties.flatMap((each) => alarmOf(each, item));
  const properties = item.properties.flatMap((each) => upgradeProperty(each, item.name, zone));
  return component(item.name, properties, [...item.components, ...alarms]);
}

const ALARMS: Readonly<Record<string, string>> = { AALARM: 'AUDIO', DALARM: 'DISPLAY', MALARM: 'EMAIL' };
const TIMES = /^(?:DTSTART|DTEND|DUE|RDATE|EXDATE|COMPLETED|DCREATED|LAST-MODIFIED)$/;
const LISTS = /^(?:RDATE|EXDATE|CATEGORIES|RESOURCES)$/;

function upgradeProperty(given: Property, owner: string, zone: string | null): Property[] {
  const { name, value } = given;
  // A procedure that a program starts is nothing that a calendar may do.
  if (ALARMS[name] || name === 'PALARM') return [];
  if (name === 'ATTENDEE') return [attendeeOf(given)];
  if (name === 'DCREATED') return [{ ...given, name: 'CREATED' }];
  if (name === 'RRULE' || name === 'EXRULE') return [{ ...given, value: ruleOfVCalendar(value) ?? value }];
  if (name === 'TRANSP' && /^\s*\d+\s*$/.test(value))
    return [{ ...given, value: Number(value) === 0 ? 'OPAQUE' : 'TRANSPARENT' }];
  if (name === 'STATUS') return [{ ...given, value: statusOf(value, owner) }];
  const listed = LISTS.test(name)
    ? { ...given, value: value.split(';').map(listItem(name)).join(',') }
    : given;
  return [zone !== null && TIMES.test(name) ? placedIn(listed, zone) : listed];
}

/** Lists are separated by semicolons: a comma is a character of a text. */
const listItem =
  (name: string) =>
  (text: string): string =>
    name === 'CATEGORIES' || name === 'RESOURCES' ? text.trim().replaceAll(/(?<!\\),/g, '\\,') : text.trim();

/** Local times of a calendar with TZ are those of its zone. */
function placedIn(given: Property, zone: string): Property {
  const isLocal = /T\d{6}$/i.test(given.value.trim());
  return isLocal && parameterOf(given, 'TZID') === undefined
    ? { ...given, parameters: [...given.parameters, { name: 'TZID', values: [zone] }] }
    : given;
}

function statusOf(value: string, owner: string): string {
  const text = value.trim().toUpperCase().replaceAll(' ', '-');
  if (owner !== 'VTODO' && (text === 'ACCEPTED' || text === 'SENT')) return 'CONFIRMED';
  if (owner !== 'VTODO' && text === 'DECLINED') return 'CANCELLED';
  return text;
}

const ADDRESS = /^\s*(?:"?(?<name>[^"<]*?)"?\s*)?<(?<inside>[^<>\s]+)>\s*$/;
const ROLES: Readonly<Record<string, string>> = { ATTENDEE: 'REQ-PARTICIPANT', DELEGATE: 'REQ-PARTICIPANT' };
const STATES: Readonly<Record<string, string>> = {
  CONFIRMED: 'ACCEPTED',
  SENT: 'NEEDS-ACTION',
  COMPLETED: 'ACCEPTED',
};

/** `ATTENDEE;STATUS=ACCEPTED;RSVP=YES:Jo Doe <jo@example.com>` with the parameters of iCalendar. */
function attendeeOf(given: Property): Property {
  const { name, inside } = ADDRESS.exec(given.value)?.groups ?? {};
  const address = (inside ?? given.value).trim();
  const parameters = given.parameters.map(({ name: key, values }) => {
    const text = (values[0] ?? '').toUpperCase().replaceAll(' ', '-');
    if (key === 'STATUS') return { name: 'PARTSTAT', values: [STATES[text] ?? text] };
    if (key === 'RSVP') return { name: key, values: [/^(?:YES|TRUE)$/.test(text) ? 'TRUE' : 'FALSE'] };
    return key === 'ROLE' ? { name: key, values: [ROLES[text] ?? text] } : { name: key, values };
  });
  const isNamed = parameters.some((each) => each.name === 'CN');
  return {
    name: 'ATTENDEE',
    parameters: name && !isNamed ? [...parameters, { name: 'CN', values: [name] }] : parameters,
    value: /^[^\s:]+@[^\s:]+$/.test(address) ? `mailto:${address}` : address,
  };
}

/**
 * `DALARM:20260302T113000Z;PT5M;3;Text` as a VALARM: time, pause, repetitions, and text, sound, or address and text. Before the start, so
 * that a series has it for each instance.
 */
function alarmOf({ name, value }: Property, item: Component): Component[] {
  const action = ALARMS[name];
  if (!action) return [];
  const [at = '', pause = '', repeat = '', ...rest] = value.split(';').map((part) => part.trim());
  const trigger = triggerOf(at, item);
  if (!trigger) return [];
  const text = (action === 'EMAIL' ? rest[1] : action === 'DISPLAY' ? rest[0] : undefined) || 'Reminder';
  const isRepeated = /^P/i.test(pause) && Number(repeat) > 0;
  return [
    component('VALARM', [
      property('ACTION', action),
      trigger,
      ...(action === 'AUDIO' ? [] : [property('DESCRIPTION', escapeText(text))]),
      ...(action === 'EMAIL'
        ? [property('SUMMARY', escapeText(text)), property('ATTENDEE', `mailto:${rest[0]}`)]
        : []),
      ...(isRepeated ? [property('DURATION', pause), property('REPEAT', String(Number(repeat)))] : []),
    ]),
  ];
}

function triggerOf(at: string, item: Component): Property | null {
  const start = propertyOf(item, 'DTSTART') ?? propertyOf(item, 'DUE');
  const [alarm, from] = [timeIn(property('TRIGGER', at)), start && timeIn(start)];
  if (!alarm) return null;
  if (from && from.kind === alarm.kind && alarm.wall <= from.wall)
    return property('TRIGGER', formatDuration({ days: 0, seconds: alarm.wall - from.wall }));
  return alarm.kind === 'utc' ? property('TRIGGER', at, { VALUE: 'DATE-TIME' }) : null;
}

function timeIn(given: Property): TimeValue | null {
  try {
    return timesOf(given)[0] ?? null;
  } catch (error) {
    if (error instanceof ICalendarError) return null;
    throw error;
  }
}

/** The TZID of local times, whose VTIMEZONE the calendar then has; null for a calendar without TZ. */
function zoneOf(calendar: Component): string | null {
  const offset = offsetIn(textOf(calendar, 'TZ'));
  if (offset === null) return null;
  const isKnown = calendar.components.some((each) => propertyOf(each, 'TZID')?.value === ZONE);
  if (!isKnown) calendar.components.push(zoneComponent(offset, propertiesOf(calendar, 'DAYLIGHT')));
  return ZONE;
}

/** `-05`, `+0530` or `-05:00`. */
function offsetIn(text: string): number | null {
  const [, sign, hours = '', minutes = '00'] = /^([+-])?(\d{1,2}):?(\d\d)?$/.exec(text.trim()) ?? [];
  return hours === '' ? null : parseOffset(`${sign ?? '+'}${hours.padStart(2, '0')}${minutes}`, 'TZ');
}

/** Each `DAYLIGHT:TRUE;-04;20260308T020000;20261101T020000;EST;EDT` is one summer; the last one stands for the following years. */
function zoneComponent(offset: number, summers: readonly Property[]): Component {
  const read = summers.slice(0, MAX_SUMMERS).flatMap(({ value }) => {
    const [isUsed = '', summer = '', begin = '', end = ''] = value.split(';');
    const [after, from, to] = [offsetIn(summer), parseWallTime(begin.trim()), parseWallTime(end.trim())];
    return /^TRUE$/i.test(isUsed.trim()) && after !== null && from !== null && to !== null
      ? [{ after, from, to }]
      : [];
  });
  const observances = read.flatMap(({ after, from, to }, n) => [
    observance('DAYLIGHT', from, offset, after, n === read.length - 1),
    observance('STANDARD', to, after, offset, n === read.length - 1),
  ]);
  const always = observance('STANDARD', 0, offset, offset, false);
  return component('VTIMEZONE', [property('TZID', ZONE)], [always, ...observances]);
}

function observance(name: string, at: number, from: number, to: number, repeats: boolean): Component {
  return component(name, [
    property('DTSTART', formatWallTime(at).replaceAll(/[-:]/g, '')),
    property('TZOFFSETFROM', formatOffset(from)),
    property('TZOFFSETTO', formatOffset(to)),
    ...(repeats ? [property('RRULE', yearlyRule(Math.floor(at / DAY)))] : []),
  ]);
}

/** The weekday of a month on which clocks change: the last one, or the nth one. */
function yearlyRule(on: number): string {
  const { year, month, day } = civilOf(on);
  const isLast = day + WEEK > daysInMonth(year, month);
  return `FREQ=YEARLY;BYMONTH=${month};BYDAY=${isLast ? -1 : Math.ceil(day / WEEK)}${WEEKDAYS[weekdayOf(on)]}`;
}
