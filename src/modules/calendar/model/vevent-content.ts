import {
  type Component,
  HTML_DESCRIPTIONS,
  longUidOf,
  parameterOf,
  propertiesOf,
  type Property,
  propertyOf,
  textList,
  textOf,
  unescapeText,
} from '../../../lib/icalendar/index.js';
import { colorOfName, nearestColorName } from '../../../lib/color-names/index.js';
import { documentText } from '../../../lib/html/index.js';
import { charactersOf, labelOf, labelsOf } from '../../../lib/text/index.js';
import { MAX_ATTENDEES } from '../../../lib/itip/index.js';
import {
  type EventContent,
  type EventLink,
  type EventStatus,
  type EventTimes,
  STATUSES,
} from './event-record.js';
import { CONFERENCE_URLS } from './dependent-properties.js';
import { peopleParameters } from './ics/people-parameters.js';
import { KEPT_BYTES, line, toStorable, storableComponents, storableProperty } from './ics/storable.js';
import { BUSY_STATUS, CONFERENCE_FEATURES } from './vevent.js';

/** Limits of the fields, as in requests. Longer text is cut. */
const MAX = {
  title: 1_000,
  description: 65_536,
  html: 131_072,
  location: 1_000,
  categories: 50,
  category: 100,
  links: 50,
  url: 2_048,
} as const;

const upper = (event: Component, name: string): string =>
  propertyOf(event, name)?.value.trim().toUpperCase() ?? '';

/** Whether the organizer of an event accepts proposals of other times. */
export const allowsProposals = (event: Component): boolean =>
  upper(event, 'X-MICROSOFT-DISALLOW-COUNTER') !== 'TRUE';

/** The fields of a VEVENT without its times. Unknown properties are in `custom.ics`, unknown components in `custom.components`. */
export function contentOfVevent(event: Component): Omit<EventContent, keyof EventTimes> {
  const location = toStorable(textOf(event, 'LOCATION') ?? '', MAX.location);
  const geo = geoOf(event);
  const url = conferenceOf(event);
  const { kept: unknown } = unknownOf(event);
  const people = peopleParameters(event);
  const components = storableComponents(event.components.filter(({ name }) => name !== 'VALARM'));
  return {
    title: line(textOf(event, 'SUMMARY') ?? '', MAX.title),
    description: descriptionOf(event),
    location,
    locations: geo ? [{ name: line(location, 500), address: '', geo }] : [],
    status: statusOf(event),
    show_as: showAsOf(event),
    // An unknown class is as private as PRIVATE (RFC 5545, 3.8.1.3).
    visibility: ['', 'PUBLIC'].includes(upper(event, 'CLASS')) ? 'default' : 'private',
    color: colorOf(event),
    categories: categoriesOf(event),
    conference: url === null ? null : { kind: 'link', url, room_id: null },
    links: linksOf(event),
    custom: {
      ...(unknown.length > 0 && { ics: unknown }),
      ...(components.length > 0 && { components }),
      ...(people.length > 0 && { people }),
    },
  };
}

/** Outlook and newsletters write some descriptions as HTML only. */
function descriptionOf(event: Component): string {
  const text = toStorable(textOf(event, 'DESCRIPTION') ?? '', MAX.description);
  if (text.trim() !== '') return text;
  const isHtml = (each: Property) =>
    parameterOf(each, 'FMTTYPE')?.toLowerCase() === 'text/html' && each.value.length <= MAX.html;
  const html = HTML_DESCRIPTIONS.flatMap((name) => propertiesOf(event, name)).find(isHtml);
  return html ? toStorable(documentText(unescapeText(html.value), '\n'), MAX.description) : text;
}

function statusOf(event: Component): EventStatus {
  const status = upper(event, 'STATUS').toLowerCase();
  return (STATUSES as readonly string[]).includes(status) ? (status as EventStatus) : 'confirmed';
}

function showAsOf(event: Component): EventContent['show_as'] {
  if (upper(event, 'TRANSP') === 'TRANSPARENT') return 'free';
  const busy = upper(event, 'X-MICROSOFT-CDO-BUSYSTATUS');
  if (busy === 'FREE') return 'free';
  const found = Object.entries(BUSY_STATUS).find(([, value]) => value === busy);
  return (found?.[0] as EventContent['show_as'] | undefined) ?? 'busy';
}

const HEX = /^#[0-9a-f]{6}/i;

/** The colour of COLOR, which some programs write as `#rrggbb`. */
const colorOfText = (text: string): string | null =>
  colorOfName(text) ?? HEX.exec(text.trim())?.[0].toLowerCase() ?? null;

/**
 * COLOR has names only (RFC 7986, 5.9), so that X-APPLE-CALENDAR-COLOR states the colour precisely, unless COLOR is another one: programs
 * change COLOR and keep the property that they do not know.
 */
function colorOf(event: Component): string | null {
  const precise = HEX.exec(propertyOf(event, 'X-APPLE-CALENDAR-COLOR')?.value ?? '')?.[0].toLowerCase();
  const named = colorOfText(propertyOf(event, 'COLOR')?.value ?? '');
  if (precise === undefined) return named;
  return named === null || named === colorOfName(nearestColorName(precise)) ? precise : named;
}

function categoriesOf(event: Component): string[] {
  const all = propertiesOf(event, 'CATEGORIES').flatMap(({ value }) => textList(value));
  return labelsOf(all.map((text) => toStorable(labelOf(text), MAX.category)))
    .filter(Boolean)
    .slice(0, MAX.categories);
}

/** Some programs write a comma between the numbers, or in place of their points. */
function geoOf(event: Component): { latitude: number; longitude: number } | null {
  const text = propertyOf(event, 'GEO')?.value ?? '';
  const parts = text.includes(';') ? text.replaceAll(',', '.').split(';') : text.split(',');
  if (parts.length !== 2) return null;
  const [latitude, longitude] = parts.map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (latitude === undefined || longitude === undefined) return null;
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? { latitude, longitude } : null;
}

function httpUrl(text: string | undefined): string | null {
  const value = text?.trim() ?? '';
  return /^https?:\/\/[^\s\p{Cc}]+$/iu.test(value) && value.length <= MAX.url && value.isWellFormed()
    ? value
    : null;
}

function conferenceOf(event: Component): string | null {
  const urls = CONFERENCE_URLS.flatMap((name) =>
    propertiesOf(event, name).map(({ value }) => httpUrl(value)),
  );
  return urls.find((url) => url !== null) ?? null;
}

function linksOf(event: Component): EventLink[] {
  return propertiesOf(event, 'ATTACH')
    .flatMap((property): EventLink[] => {
      const url = httpUrl(property.value);
      const title = line(parameterOf(property, 'X-FILENAME') ?? parameterOf(property, 'FILENAME') ?? '', 512);
      return url === null ? [] : [{ type: 'url', id: null, url, title }];
    })
    .slice(0, MAX.links);
}

/** Properties that have a field, or that describe the file. */
const KNOWN: ReadonlySet<string> = new Set([
  'UID',
  'DTSTAMP',
  'CREATED',
  'LAST-MODIFIED',
  'SEQUENCE',
  'RECURRENCE-ID',
  'DTSTART',
  'DTEND',
  'DURATION',
  'RRULE',
  'RDATE',
  'EXDATE',
  'EXRULE',
  'SUMMARY',
  'DESCRIPTION',
  'LOCATION',
  'STATUS',
  'TRANSP',
  'CLASS',
  'CATEGORIES',
  'X-MICROSOFT-CDO-BUSYSTATUS',
  'X-MICROSOFT-DISALLOW-COUNTER',
  'ORGANIZER',
  'ATTENDEE',
]);

/**
 * The names of the properties and components of which an event keeps less than its file states, because they exceed a limit, or because an event
 * has one of them only.
 */
export function lostNamesOf(event: Component): string[] {
  const lost = new Set(unknownOf(event).dropped);
  for (const [name, max] of Object.entries(TEXTS)) {
    const [text, ...others] = propertiesOf(event, name).map(({ value }) => unescapeText(value).trim());
    if (charactersOf(text ?? '') > max || others.some((other) => other !== text)) lost.add(name);
  }
  const categories = new Set(propertiesOf(event, 'CATEGORIES').flatMap(({ value }) => textList(value)));
  if (categories.size > MAX.categories || [...categories].some((text) => charactersOf(text) > MAX.category))
    lost.add('CATEGORIES');
  const links = propertiesOf(event, 'ATTACH').filter(({ value }) => httpUrl(value) !== null);
  if (links.length > MAX.links) lost.add('ATTACH');
  if (propertiesOf(event, 'ATTENDEE').length > MAX_ATTENDEES) lost.add('ATTENDEE');
  const components = event.components.filter(({ name }) => name !== 'VALARM');
  const kept = storableComponents(components).length;
  for (const { name } of kept < components.length ? components : []) lost.add(name);
  return [...lost].toSorted();
}

/** Properties without a field, up to 64 KiB: attached files are dropped first. */
function unknownOf(event: Component): { kept: Property[]; dropped: string[] } {
  const conference = propertiesOf(event, 'CONFERENCE').find(({ value }) => httpUrl(value) !== null);
  const hasGeo = geoOf(event) !== null;
  const kept: Property[] = [];
  const dropped: string[] = [];
  let bytes = 0;
  for (const each of event.properties) {
    const { name, value } = each;
    const isRead =
      (KNOWN.has(name) && !statesMore(event, each)) ||
      (name === 'GEO' && hasGeo) ||
      (name === 'X-APPLE-CALENDAR-COLOR' && HEX.test(value)) ||
      (name === 'COLOR' && colorOfText(value) !== null && !hasOther(each, [])) ||
      (name === 'ATTACH' && httpUrl(value) !== null && !hasOther(each, ['FILENAME', 'X-FILENAME'])) ||
      (each === conference && !hasOther(each, ['VALUE', ...(hasOwnFeatures(each) ? ['FEATURE'] : [])]));
    if (isRead) continue;
    const size = JSON.stringify(each).length;
    if (bytes + size > KEPT_BYTES) {
      dropped.push(name);
      continue;
    }
    bytes += size;
    kept.push(storableProperty(each));
  }
  return { kept, dropped };
}

/** Characters of the fields of texts. */
const TEXTS: Readonly<Record<string, number>> = {
  SUMMARY: MAX.title,
  DESCRIPTION: MAX.description,
  LOCATION: MAX.location,
};

/**
 * Whether a property says more than its field: a UID that is stored as a digest, a CLASS such as CONFIDENTIAL, a title with line breaks, and
 * parameters such as ALTREP and LANGUAGE.
 */
function statesMore(event: Component, each: Property): boolean {
  if (each.name === 'CATEGORIES')
    return propertiesOf(event, each.name).some(({ parameters }) => parameters.length > 0);
  if (each !== propertyOf(event, each.name)) return false;
  if (each.name === 'UID') return each === longUidOf(event);
  if (each.name === 'CLASS') return !['', 'PUBLIC', 'PRIVATE'].includes(upper(event, 'CLASS'));
  const text = (textOf(event, each.name) ?? '').trim();
  if (text === '' || charactersOf(text) > (TEXTS[each.name] ?? 0)) return false;
  return each.parameters.length > 0 || (each.name === 'SUMMARY' && /[\r\n]/.test(text));
}

const hasOwnFeatures = (property: Property): boolean =>
  propertyValues(property, 'FEATURE').join() === CONFERENCE_FEATURES.join();

const propertyValues = ({ parameters }: Property, name: string): readonly string[] =>
  parameters.find((each) => each.name === name)?.values ?? [];

/** Whether a property has parameters that its field does not keep. */
const hasOther = ({ parameters }: Property, names: readonly string[]): boolean =>
  parameters.some(({ name }) => !names.includes(name));
