import { Injectable } from '@nestjs/common';
import { v5 as uuidv5 } from 'uuid';
import { vtimezoneText } from '../../../lib/icalendar/index.js';
import { type XmlElement, xmlText } from '../../../lib/xml/index.js';
import { ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/http/errors.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { Checked, validated } from '../../../platform/http/input.pipe.js';
import {
  type CalendarResponse,
  CalendarsService,
  CreateCalendar,
  EventResources,
  type EventText,
  RESOURCE_PROBLEMS,
  ResourceWrites,
  UpdateCalendar,
  type VersionCheck,
} from '../../calendar/index.js';
import { DavNames } from '../dav-names.js';
import { DavError, MAX_RESOURCE, notFound } from '../model/body.js';
import {
  type Collection,
  collectionProperties,
  type Collections,
  type ContentOptions,
  type EtagCheck,
  type Member,
  privileges,
  type PropertyChanges,
  reports,
  type Stored,
} from '../model/collection.js';
import { calendarFilterOf, COLLATIONS, matchesComponents } from '../model/filters.js';
import { childOf, type PropertyValue } from '../model/multistatus.js';
import { paths } from '../model/paths.js';
import { zoneIn } from '../model/time-zones.js';
import { apple, caldav, dav, element, href, type XmlName } from '../model/xml-names.js';

const DESCRIPTION = caldav('calendar-description');
const COLOR = apple('calendar-color');
const ORDER = apple('calendar-order');
const NAME = dav('displayname');
const ZONE = caldav('calendar-timezone-id');
const ZONE_TEXT = caldav('calendar-timezone');

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
    else if (name === ZONE_TEXT) {
      const zone = zoneIn(text);
      if (zone === null) continue;
      // The id wins, in any order.
      values['time_zone'] ??= zone;
    }
    // Programs of Apple write #rrggbbaa.
    else if (name === COLOR && /^#[0-9a-f]{6}/i.test(text)) values['color'] = text.slice(0, 7);
    else if (name === ORDER && (text === '' || Number.isFinite(Number(text))))
      values['order'] = text === '' ? null : Number(text);
    else continue;
    names.add(name);
  }
  return { values, names };
}

const PRIVILEGES = dav('current-user-privilege-set');
const TRANSPARENCY = caldav('schedule-calendar-transp');
const [OF_WRITERS, OF_READERS] = [true, false].map((isWritable) =>
  privileges(isWritable, [caldav('read-free-busy')]),
) as [string, string];

/** The properties that all calendars share. */
const FIXED: [XmlName, PropertyValue][] = [
  [dav('resourcetype'), '<D:collection/><C:calendar/>'],
  [dav('supported-report-set'), REPORTS],
  [caldav('supported-calendar-component-set'), COMPONENTS],
  [caldav('supported-calendar-data'), DATA],
  [caldav('supported-collation-set'), COLLATION_SET],
  [caldav('max-resource-size'), String(MAX_RESOURCE)],
];

/** A calendar as a collection. @param segment of its path in this request */
export function presentCalendar(
  ctx: RequestContext,
  calendar: CalendarResponse,
  segment: string,
): Collection {
  const { id, role, owner } = calendar;
  const isWritable = role === 'writer' || role === 'owner';
  const properties: [XmlName, PropertyValue][] = [
    ...collectionProperties(
      { name: calendar.name, ownerId: owner.id, userId: ctx.userId },
      () => calendar.sync_token,
    ),
    ...FIXED,
    [PRIVILEGES, isWritable ? OF_WRITERS : OF_READERS],
    [DESCRIPTION, xmlText(calendar.description)],
    [COLOR, calendar.color],
    ...(calendar.order === null ? [] : ([[ORDER, String(calendar.order)]] as [XmlName, string][])),
    [ZONE, xmlText(calendar.time_zone)],
    [ZONE_TEXT, () => xmlText(timeZone(calendar.time_zone))],
    [TRANSPARENCY, calendar.affects_free_busy ? '<C:opaque/>' : '<C:transparent/>'],
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

const PAGE = 200;
const NO_CONFLICT = caldav('no-uid-conflict');

/** Calendars as collections of events. */
@Injectable()
export class CalendarCollections implements Collections {
  readonly space = 'calendars';
  readonly contentProperty = caldav('calendar-data');

  constructor(
    private readonly calendars: CalendarsService,
    private readonly events: EventResources,
    private readonly writes: ResourceWrites,
    private readonly names: DavNames,
  ) {}

  async list(ctx: RequestContext): Promise<Collection[]> {
    return (await this.all(ctx)).map((calendar) => presentCalendar(ctx, calendar, calendar.id));
  }

  async find(ctx: RequestContext, segment: string): Promise<Collection> {
    const id = idOf(ctx, segment);
    const found = (await this.all(ctx)).find((calendar) => calendar.id === id);
    if (!found) throw notFound();
    return presentCalendar(ctx, found, segment);
  }

  open(ctx: RequestContext, segment: string): Promise<Collection> {
    const path = paths.collection('calendars', ctx.userId, segment);
    const rest = { properties: new Map(), isWritable: true, isDefault: false };
    const id = idOf(ctx, segment);
    return Promise.resolve({ id, kind: 'events', contentType: EVENT_TYPE, segment, path, ...rest });
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
    const own = await this.names.resolve(ctx.tenantId, id, names);
    for await (const page of this.events.ofUids(ctx, id, [...own.keys()], options))
      yield page.map(({ text, ...event }) => ({
        name: own.get(event.uid) as string,
        ...tagsOf(event),
        text,
      }));
  }

  async *query(
    ctx: RequestContext,
    { id }: Collection,
    report: XmlElement,
    options: ContentOptions,
  ): AsyncGenerator<Member[]> {
    const { hasMembers, range, rest } = calendarFilterOf(childOf(report, caldav('filter')));
    if (!hasMembers) return;
    for await (const page of this.events.occurring(ctx, id, range, options)) {
      const found = rest ? page.filter(({ text }) => matchesComponents(rest, text, 'VEVENT')) : page;
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
      changes: changes.map(({ uid, version, tag: scheduled }) => ({
        name: names.get(uid) as string,
        ...(version === null ? { etag: null } : tagsOf({ version, tag: scheduled })),
      })),
    };
  }

  async put(
    ctx: RequestContext,
    collection: Collection,
    name: string,
    body: Buffer,
    check: EtagCheck,
  ): Promise<Stored> {
    const { id } = collection;
    const write = async (known: string | null): Promise<Stored> => {
      const stored = await this.writes.put(
        ctx,
        id,
        body,
        (version, uid, scheduled) => {
          // The event of this name has another UID, or the UID belongs to another name.
          if (known === null ? version !== null : known !== uid) throw new UidConflict(uid);
          check(tagOf(version), tagOf(scheduled));
        },
        (tx, uid) => this.names.keep(tx, ctx.tenantId, id, name, uid),
      );
      return { isNew: stored.isNew, scheduleTag: tagOf(stored.tag) ?? undefined };
    };
    const known = await this.knownUid(ctx, id, name);
    try {
      return await write(known).catch(async (error: unknown) => {
        // Another request may have created the event under this name.
        const created =
          known === null && error instanceof UidConflict ? await this.knownUid(ctx, id, name) : null;
        if (created === null) throw error;
        return write(created);
      });
    } catch (error) {
      throw error instanceof UidConflict
        ? await this.uidConflict(ctx, collection, name, error.uid)
        : asDavError(error);
    }
  }

  async remove(
    ctx: RequestContext,
    { id }: Collection,
    name: string,
    check: EtagCheck,
    isSilent: boolean,
  ): Promise<void> {
    const uid = await this.names.uidOf(ctx.tenantId, id, name);
    if (uid === null) throw notFound();
    const checkVersion: VersionCheck = (version, _uid, scheduled) => check(tagOf(version), tagOf(scheduled));
    await this.writes.remove(ctx, id, uid, checkVersion, isSilent);
  }

  async create(ctx: RequestContext, segment: string, properties: PropertyChanges): Promise<void> {
    const { values } = fieldsOf(properties);
    await this.calendars.create(
      ctx,
      null,
      validated(CreateCalendar, { name: segment, ...values, id: idOf(ctx, segment) }),
    );
  }

  settable(_collection: Collection, properties: PropertyChanges): Set<XmlName> {
    return fieldsOf(properties).names;
  }

  async update(ctx: RequestContext, { id }: Collection, properties: PropertyChanges): Promise<void> {
    const body = Checked.of(UpdateCalendar, fieldsOf(properties).values);
    await this.calendars.update(ctx, id, body, anyRevision(id));
  }

  async delete(ctx: RequestContext, { id }: Collection): Promise<void> {
    await this.calendars.delete(ctx, id, anyRevision(id), {});
  }

  /** The UID of the event with this name; null: the calendar shows none. */
  private async knownUid(
    { tenantId }: RequestContext,
    calendarId: string,
    name: string,
  ): Promise<string | null> {
    const uid = await this.names.uidOf(tenantId, calendarId, name);
    return uid !== null && (await this.writes.contains(tenantId, calendarId, uid)) ? uid : null;
  }

  /** The error with the path of the event that has the UID; otherwise of the one that another event would replace. */
  private async uidConflict(
    { tenantId }: RequestContext,
    { id, path }: Collection,
    name: string,
    uid: string,
  ): Promise<DavError> {
    const isUsed = await this.writes.contains(tenantId, id, uid);
    const own = isUsed ? (await this.names.namesOf(tenantId, id, [uid])).get(uid) : undefined;
    const message = 'The calendar contains an event with this UID, or this path one with another UID.';
    return new DavError(409, NO_CONFLICT, message, href(paths.member(path, own ?? name)));
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
    page: readonly (Omit<EventText, 'text'> & { text?: string })[],
  ): Promise<Member[]> {
    const names = await this.names.namesOf(
      ctx.tenantId,
      calendarId,
      page.map(({ uid }) => uid),
    );
    return page.map(({ text, ...event }) => ({
      name: names.get(event.uid) as string,
      ...tagsOf(event),
      ...(text !== undefined && { text }),
    }));
  }
}

const tagOf = (version: string | number | null): string | null => (version === null ? null : `"${version}"`);

const tagsOf = ({ version, tag }: Omit<EventText, 'uid' | 'text'>) => ({
  etag: tagOf(version) as string,
  scheduleTag: tagOf(tag) ?? undefined,
});

const anyRevision = (id: string): ExpectedRevision =>
  ExpectedRevision.read('calendar', id, undefined, undefined, true);

/** The UID of a text is that of another event. */
class UidConflict extends Error {
  constructor(readonly uid: string) {
    super();
  }
}

/** Conditions of RFC 4791, 5.3.2.1, for valid iCalendar that is no resource of a calendar. */
const CONDITIONS: Readonly<Record<string, XmlName>> = {
  [RESOURCE_PROBLEMS.notOneEvent]: caldav('valid-calendar-object-resource'),
  [RESOURCE_PROBLEMS.severalKinds]: caldav('valid-calendar-object-resource'),
  [RESOURCE_PROBLEMS.method]: caldav('valid-calendar-object-resource'),
  [RESOURCE_PROBLEMS.unsupportedComponent]: caldav('supported-calendar-component'),
};

/** Errors of a text, with the condition that RFC 4791, 5.3.2.1, or RFC 6638, 3.2.4.4, names. */
function asDavError(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, status } = error.kind;
  if (code === 'not_organizer')
    return new DavError(403, caldav('allowed-attendee-scheduling-object-change'), error.message);
  if (code === 'duplicate_uid') return new DavError(409, NO_CONFLICT, error.message);
  if (status !== 422) return error;
  const problem = error.extras.details?.[0]?.code ?? '';
  const usual = code === 'invalid_ics' ? 'valid-calendar-data' : 'valid-calendar-object-resource';
  return new DavError(403, CONDITIONS[problem] ?? caldav(usual), error.message);
}

/** The id of a calendar: the segment, or one that follows from a name that a program chose. */
function idOf({ userId }: RequestContext, segment: string): string {
  const name = segment.toLowerCase();
  return isUuid(segment) ? name : uuidv5(`calendar ${name}`, userId);
}
