import { v5 as uuidv5 } from 'uuid';
import { Injectable } from '@nestjs/common';
import { formatComponent, vtimezoneOf } from '../../../lib/icalendar/index.js';
import { xmlText, type XmlElement } from '../../../lib/xml/index.js';
import { ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/database/tx.js';
import { ApiError } from '../../../platform/http/api-error.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { Checked, validated } from '../../../platform/http/input.pipe.js';
import {
  type CalendarResponse,
  CalendarsService,
  CreateCalendar,
  EventResources,
  type EventText,
  ResourceWrites,
  UpdateCalendar,
} from '../../calendar/index.js';
import { MAX_RESOURCE } from '../model/body.js';
import { calendarFilterOf, matchesEvent } from '../model/calendar-filter.js';
import { DavError, notFound } from '../model/dav-error.js';
import { childOf, type PropertyValue } from '../model/multistatus.js';
import { paths } from '../model/paths.js';
import { apple, caldav, dav, element, type XmlName } from '../model/xml-names.js';
import { DavNames } from '../dav-names.js';
import type {
  Collection,
  Collections,
  ContentOptions,
  EtagCheck,
  Member,
  PropertyChanges,
} from '../model/collection.js';
import { collectionProperties, privileges, reports } from '../model/common-properties.js';

const PAGE = 200;
const DESCRIPTION = caldav('calendar-description');
const COLOR = apple('calendar-color');
const ORDER = apple('calendar-order');
const NAME = dav('displayname');
const ZONE = caldav('calendar-timezone-id');

/** Texts that every calendar has. */
const COMPONENTS = '<C:comp name="VEVENT"/>';
const DATA = '<C:calendar-data content-type="text/calendar" version="2.0"/>';
const COLLATIONS = ['i;ascii-casemap', 'i;octet', 'i;unicode-casemap']
  .map((name) => element(caldav('supported-collation'), name))
  .join('');
const REPORTS = reports([
  dav('sync-collection'),
  caldav('calendar-multiget'),
  caldav('calendar-query'),
  caldav('free-busy-query'),
]);

/** Calendars as collections of events. */
@Injectable()
export class CalendarCollections implements Collections {
  readonly space = 'calendars';
  readonly contentProperty = caldav('calendar-data');
  readonly contentType = 'text/calendar; charset=utf-8; component=VEVENT';

  constructor(
    private readonly calendars: CalendarsService,
    private readonly events: EventResources,
    private readonly writes: ResourceWrites,
    private readonly names: DavNames,
  ) {}

  async list(ctx: RequestContext): Promise<Collection[]> {
    return (await this.all(ctx)).map((calendar) => shown(ctx, calendar, calendar.id));
  }

  async find(ctx: RequestContext, segment: string): Promise<Collection> {
    const id = idOf(ctx, segment);
    const found = (await this.all(ctx)).find((calendar) => calendar.id === id);
    if (!found) throw notFound();
    return shown(ctx, found, segment);
  }

  async *members(ctx: RequestContext, { id }: Collection): AsyncGenerator<Member[]> {
    for await (const page of this.events.names(ctx, id)) yield this.named(ctx, id, page);
  }

  async *read(
    ctx: RequestContext,
    { id }: Collection,
    names: readonly string[],
    options: ContentOptions,
  ): AsyncGenerator<Member[]> {
    const uids = await this.names.uidsOf(ctx.tenantId, id, names);
    // A name that is not the one of its event finds nothing: each event has one path.
    const wanted = new Set(names);
    for await (const page of this.events.ofUids(ctx, id, [...uids.values()], options))
      yield (await this.named(ctx, id, page)).filter(({ name }) => wanted.has(name));
  }

  async *query(
    ctx: RequestContext,
    { id }: Collection,
    report: XmlElement,
    options: ContentOptions,
  ): AsyncGenerator<Member[]> {
    const { hasEvents, range, rest } = calendarFilterOf(childOf(report, caldav('filter')));
    if (!hasEvents) return;
    for await (const page of this.events.occurring(ctx, id, range, options)) {
      const found = rest ? page.filter(({ text }) => matchesEvent(rest, text)) : page;
      yield this.named(ctx, id, found);
    }
  }

  async changes(ctx: RequestContext, { id }: Collection, token: string | null, limit: number) {
    const { changes, ...rest } = await this.events.changes(ctx, id, token, limit);
    const names = await this.names.namesOf(
      ctx.tenantId,
      id,
      changes.map(({ uid }) => uid),
    );
    return {
      ...rest,
      changes: changes.map(({ uid, version }) => ({
        name: names.get(uid) as string,
        etag: version === null ? null : tag(version),
      })),
    };
  }

  async put(
    ctx: RequestContext,
    { id }: Collection,
    name: string,
    body: Buffer,
    check: EtagCheck,
  ): Promise<boolean> {
    const uid = await this.names.uidOf(ctx.tenantId, id, name);
    const isKnown = uid !== null && (await this.writes.knownUids(ctx.tenantId, id, [uid])).has(uid);
    const checkVersion = (version: number | null): void => {
      // An event with the UID exists under another name.
      if (version !== null && !isKnown) throw uidConflict();
      check(version === null ? null : tag(String(version)));
    };
    const keepName = (tx: Tx, newUid: string) => this.names.keep(tx, ctx.tenantId, id, name, newUid);
    return this.writes
      .put(ctx, id, body, isKnown ? uid : null, checkVersion, keepName)
      .catch((error: unknown) => {
        throw asDavError(error);
      });
  }

  async remove(ctx: RequestContext, { id }: Collection, name: string, check: EtagCheck): Promise<void> {
    const uid = await this.names.uidOf(ctx.tenantId, id, name);
    if (uid === null) throw notFound();
    await this.writes.remove(ctx, id, uid, (version) =>
      check(version === null ? null : tag(String(version))),
    );
  }

  async create(ctx: RequestContext, segment: string, properties: PropertyChanges): Promise<void> {
    const { values } = fieldsOf(properties);
    await this.calendars.create(
      ctx,
      null,
      validated(CreateCalendar, { name: segment, ...values, id: idOf(ctx, segment) }),
    );
  }

  settable(properties: PropertyChanges): Set<XmlName> {
    return fieldsOf(properties).names;
  }

  async update(ctx: RequestContext, { id }: Collection, properties: PropertyChanges): Promise<void> {
    const body = Checked.of(UpdateCalendar, fieldsOf(properties).values);
    await this.calendars.update(ctx, id, body, anyRevision(id));
  }

  async delete(ctx: RequestContext, { id }: Collection): Promise<void> {
    await this.calendars.delete(ctx, id, anyRevision(id), {});
  }

  /** All calendars of the caller, hidden ones included. */
  private async all(ctx: RequestContext): Promise<CalendarResponse[]> {
    const found: CalendarResponse[] = [];
    let cursor: string | undefined;
    do {
      const { json } = await this.calendars.list(ctx, {
        limit: PAGE,
        include: ['hidden'],
        ...(cursor !== undefined && { cursor }),
      });
      const page = JSON.parse(json.toString()) as { calendars: CalendarResponse[]; next: string | null };
      found.push(...page.calendars);
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    return found;
  }

  private async named(
    ctx: RequestContext,
    calendarId: string,
    page: readonly (Pick<EventText, 'uid' | 'version'> & { text?: string })[],
  ): Promise<Member[]> {
    const names = await this.names.namesOf(
      ctx.tenantId,
      calendarId,
      page.map(({ uid }) => uid),
    );
    return page.map(({ uid, version, text }) => ({
      name: names.get(uid) as string,
      etag: tag(version),
      ...(text !== undefined && { text }),
    }));
  }
}

const tag = (version: string): string => `"${version}"`;

const anyRevision = (id: string): ExpectedRevision =>
  ExpectedRevision.read('calendar', id, undefined, undefined, true);

const uidConflict = (): DavError =>
  new DavError(409, caldav('no-uid-conflict'), 'The calendar contains an event with this UID.');

/** Errors of a text, with the condition that RFC 4791, 5.3.2.1, names. */
function asDavError(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, status } = error.kind;
  if (code === 'not_organizer')
    return new DavError(403, caldav('allowed-attendee-scheduling-object-change'), error.message);
  if (code === 'duplicate_uid') return uidConflict();
  return status === 422 ? new DavError(403, caldav('valid-calendar-object-resource'), error.message) : error;
}

/** The id of a calendar: the segment, or one that follows from a name that a program chose. */
function idOf({ userId }: RequestContext, segment: string): string {
  const name = segment.toLowerCase();
  return isUuid(segment) ? name : uuidv5(`calendar ${name}`, userId);
}

/** The fields of the API that properties set. */
function fieldsOf(properties: PropertyChanges): { values: Record<string, unknown>; names: Set<XmlName> } {
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

function shown(ctx: RequestContext, calendar: CalendarResponse, segment: string): Collection {
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
    [caldav('supported-collation-set'), COLLATIONS],
    [caldav('max-resource-size'), String(MAX_RESOURCE)],
    [caldav('schedule-calendar-transp'), calendar.affects_free_busy ? '<C:opaque/>' : '<C:transparent/>'],
  ];
  return {
    id,
    segment,
    path: paths.collection('calendars', ctx.userId, segment),
    properties: new Map(properties),
    isWritable,
    isDefault: calendar.is_default,
  };
}

const timeZone = (name: string): string =>
  `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Workspace//Calendar//EN\r\n${formatComponent(
    vtimezoneOf(name, new Date().getUTCFullYear(), null),
  )}END:VCALENDAR\r\n`;
