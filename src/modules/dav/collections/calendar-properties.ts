import { vtimezoneText } from '../../../lib/icalendar/index.js';
import { xmlText } from '../../../lib/xml/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { CalendarResponse } from '../../calendar/index.js';
import { MAX_RESOURCE } from '../model/body.js';
import type { Collection, PropertyChanges } from '../model/collection.js';
import { collectionProperties, privileges, reports } from '../model/common-properties.js';
import { COLLATIONS } from '../model/filter-support.js';
import type { PropertyValue } from '../model/multistatus.js';
import { paths } from '../model/paths.js';
import { apple, caldav, dav, element, type XmlName } from '../model/xml-names.js';

const DESCRIPTION = caldav('calendar-description');
const COLOR = apple('calendar-color');
const ORDER = apple('calendar-order');
const NAME = dav('displayname');
const ZONE = caldav('calendar-timezone-id');

export const EVENT_TYPE = 'text/calendar; charset=utf-8; component=VEVENT';

/** Texts that every calendar has. */
const COMPONENTS = '<C:comp name="VEVENT"/>';
const DATA = '<C:calendar-data content-type="text/calendar" version="2.0"/>';
const COLLATION_SET = COLLATIONS.map((name) => element(caldav('supported-collation'), name)).join('');
const REPORTS = reports([
  dav('sync-collection'),
  caldav('calendar-multiget'),
  caldav('calendar-query'),
  caldav('free-busy-query'),
]);

/** The fields of the API that properties set. */
export function fieldsOf(properties: PropertyChanges): {
  values: Record<string, unknown>;
  names: Set<XmlName>;
} {
  const values: Record<string, unknown> = {};
  const names = new Set<XmlName>();
  for (const [name, value] of properties) {
    const text = value?.text.trim() ?? '';
    if (name === NAME && text) values['name'] = text;
    else if (name === DESCRIPTION) values['description'] = text;
    else if (name === ZONE && text) values['time_zone'] = text;
    // Programs of Apple write #rrggbbaa.
    else if (name === COLOR && /^#[0-9a-f]{6}/i.test(text)) values['color'] = text.slice(0, 7);
    else if (name === ORDER && (text === '' || Number.isFinite(Number(text))))
      values['order'] = text === '' ? null : Number(text);
    else continue;
    names.add(name);
  }
  return { values, names };
}

/** A calendar as a collection. @param segment of its path in this request */
export function shown(ctx: RequestContext, calendar: CalendarResponse, segment: string): Collection {
  const { id, role, owner } = calendar;
  const isWritable = role === 'writer' || role === 'owner';
  const properties: [XmlName, PropertyValue][] = [
    ...collectionProperties(
      { name: calendar.name, ownerId: owner.id, userId: ctx.userId },
      () => calendar.sync_token,
    ),
    [dav('resourcetype'), '<D:collection/><C:calendar/>'],
    [dav('current-user-privilege-set'), privileges(isWritable, [caldav('read-free-busy')])],
    [dav('supported-report-set'), REPORTS],
    [DESCRIPTION, xmlText(calendar.description)],
    [COLOR, calendar.color],
    ...(calendar.order === null ? [] : ([[ORDER, String(calendar.order)]] as [XmlName, string][])),
    [ZONE, xmlText(calendar.time_zone)],
    [caldav('calendar-timezone'), () => xmlText(timeZone(calendar.time_zone))],
    [caldav('supported-calendar-component-set'), COMPONENTS],
    [caldav('supported-calendar-data'), DATA],
    [caldav('supported-collation-set'), COLLATION_SET],
    [caldav('max-resource-size'), String(MAX_RESOURCE)],
    [caldav('schedule-calendar-transp'), calendar.affects_free_busy ? '<C:opaque/>' : '<C:transparent/>'],
  ];
  return {
    id,
    kind: 'events',
    contentType: EVENT_TYPE,
    segment,
    path: paths.collection('calendars', ctx.userId, segment),
    properties: new Map(properties),
    isWritable,
    isDefault: calendar.is_default,
  };
}

const timeZone = (name: string): string =>
  `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Workspace//Calendar//EN\r\n${vtimezoneText(
    name,
    new Date().getUTCFullYear(),
  )}END:VCALENDAR\r\n`;
