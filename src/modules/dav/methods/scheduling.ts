import { Injectable } from '@nestjs/common';
import {
  component,
  type Component,
  escapeText,
  formatComponent,
  parameterOf,
  parseCalendars,
  property,
  type Property,
  propertiesOf,
  propertyOf,
  timesOf,
  textOf,
} from '../../../lib/icalendar/index.js';
import { addressOfUri } from '../../../lib/itip/index.js';
import { Turns } from '../../../lib/turns/index.js';
import { xmlText } from '../../../lib/xml/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/http/errors.js';
import { validated } from '../../../platform/http/input.pipe.js';
import { FreeBusyQuery, FreeBusyService } from '../../calendar/index.js';
import { DavError, notFound } from '../model/body.js';
import { caldav, dav, DECLARATIONS, XML_HEAD } from '../model/xml-names.js';

/** The times of one attendee, as `FreeBusyService` presents them. */
interface Times {
  status: 'ok' | 'unknown';
  busy: { start: string; end: string; type: string }[];
}

const TYPES: Readonly<Record<string, string>> = {
  tentative: 'BUSY-TENTATIVE',
  out_of_office: 'BUSY-UNAVAILABLE',
};

/** The longest window of one query of free/busy times, and the attendees of one. */
const PART_SECONDS = 62 * 86_400;
const PART_ATTENDEES = 100;
/** The most queries for one request: about four years of a hundred attendees. */
const MAX_PARTS = 24;
/** The most periods of a response. */
const MAX_PERIODS = 20_000;

const utc = (text: string): string => `${text.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;

/** Free/busy requests: POST to the outbox (RFC 6638, 5) and the report of a calendar (RFC 4791, 7.10). */
@Injectable()
export class Scheduling {
  constructor(private readonly freeBusy: FreeBusyService) {}

  /** @param text a VFREEBUSY with the method REQUEST @returns XML @throws DavError 400, 403 */
  async outbox(ctx: RequestContext, text: string): Promise<string> {
    const request = requestOf(text);
    const attendees = propertiesOf(request, 'ATTENDEE');
    const [from, to] = [instant(propertyOf(request, 'DTSTART')), instant(propertyOf(request, 'DTEND'))];
    if (to <= from) throw new DavError(400, caldav('valid-calendar-data'), 'DTEND must be after DTSTART.');
    const emails = attendees.map(({ value }) => addressOfUri(value) ?? '');
    const times = await this.times(
      ctx,
      emails.map((email) => ({ email: email || 'unknown@invalid' })),
      from,
      to,
    );
    const turns = new Turns();
    const responses: string[] = [];
    for (const [index, attendee] of attendees.entries()) {
      responses.push(responseTo(request, attendee, times[index], { from, to }));
      await turns.pause();
    }
    return `${XML_HEAD}<C:schedule-response ${DECLARATIONS}>${responses.join('')}</C:schedule-response>\n`;
  }

  /** The busy times of a calendar as VFREEBUSY. @param range instants in seconds @throws DavError 404 */
  async ofCalendar(
    ctx: RequestContext,
    calendarId: string,
    range: { from: number; to: number },
  ): Promise<string> {
    const [from, to] = [range.from, range.to].map((time) => new Date(time * 1000).toISOString()) as [
      string,
      string,
    ];
    const [times] = await this.times(ctx, [{ calendar_id: calendarId }], from, to);
    if (times?.status !== 'ok') throw notFound();
    const head = [property('DTSTAMP', utc(new Date().toISOString()))];
    return freeBusyText(null, head, { from, to }, times.busy);
  }

  /** The times of attendees in a window of any length, read in parts. @throws DavError 403 beyond the limits */
  private async times(ctx: RequestContext, attendees: object[], from: string, to: string): Promise<Times[]> {
    const windows = partsOf(from, to);
    if (Math.ceil(attendees.length / PART_ATTENDEES) * windows.length > MAX_PARTS) throw tooMany();
    const found: Times[] = [];
    let count = 0;
    for (let at = 0; at < attendees.length; at += PART_ATTENDEES) {
      const group = attendees.slice(at, at + PART_ATTENDEES);
      const times: Times[] = group.map(() => ({ status: 'unknown', busy: [] }));
      for (const window of windows)
        for (const [index, { status, busy }] of (await this.part(ctx, group, window)).entries()) {
          const own = times[index] as Times;
          own.status = status;
          appendPeriods(own.busy, busy);
          count += busy.length;
          if (count > MAX_PERIODS) throw tooMany();
        }
      found.push(...times);
    }
    return found;
  }

  private async part(ctx: RequestContext, attendees: object[], window: Window): Promise<Times[]> {
    try {
      const { json } = await this.freeBusy.query(ctx, validated(FreeBusyQuery, { attendees, ...window }));
      return (JSON.parse(json.toString()) as { free_busy: Times[] }).free_busy;
    } catch (error) {
      throw error instanceof ApiError && error.kind.code === 'window_too_large' ? tooMany() : error;
    }
  }
}

const tooMany = (): DavError =>
  new DavError(
    403,
    dav('number-of-matches-within-limits'),
    'The window or the number of attendees is too large.',
  );

/** A window between two instants, RFC 3339. */
interface Window {
  from: string;
  to: string;
}

/** A window in parts that one query each reads; more than the limit are not listed. */
function partsOf(from: string, to: string): Window[] {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const count = Math.min(Math.ceil((end - start) / 1000 / PART_SECONDS), MAX_PARTS + 1);
  const bound = (n: number): string => new Date(Math.min(start + n * PART_SECONDS * 1000, end)).toISOString();
  return Array.from({ length: count }, (_, n) => ({ from: bound(n), to: bound(n + 1) }));
}

/** Appends the periods of the next part: one that the end of a part divides is one again. */
function appendPeriods(all: Times['busy'], next: Times['busy']): void {
  const [last, first] = [all.at(-1), next[0]];
  const isOne = last && first && last.end === first.start && last.type === first.type;
  if (isOne) last.end = first.end;
  for (const period of isOne ? next.slice(1) : next) all.push(period);
}

/** The response of the outbox about one attendee. */
function responseTo(
  request: Component,
  attendee: Property,
  times: Times | undefined,
  window: Window,
): string {
  const recipient = `<C:recipient><D:href>${xmlText(attendee.value)}</D:href></C:recipient>`;
  if (times?.status !== 'ok')
    return `<C:response>${recipient}<C:request-status>3.7;Invalid calendar user</C:request-status></C:response>`;
  const organizer = propertyOf(request, 'ORGANIZER');
  const head = [
    property('UID', escapeText(textOf(request, 'UID') ?? '')),
    property('DTSTAMP', utc(new Date().toISOString())),
    ...(organizer ? [organizer] : []),
    attendee,
  ];
  const reply = freeBusyText('REPLY', head, window, times.busy);
  return `<C:response>${recipient}<C:request-status>2.0;Success</C:request-status><C:calendar-data>${xmlText(reply)}</C:calendar-data></C:response>`;
}

/** @throws DavError 400 */
function requestOf(text: string) {
  const request = parsed(text)
    .flatMap(({ components }) => components)
    .find(({ name }) => name === 'VFREEBUSY');
  if (!request)
    throw new DavError(400, caldav('valid-scheduling-message'), 'The body must have a VFREEBUSY.');
  return request;
}

function parsed(text: string) {
  try {
    return parseCalendars(text);
  } catch {
    throw new DavError(400, caldav('valid-calendar-data'), 'The body is no iCalendar.');
  }
}

function instant(given: Property | undefined): string {
  const [time] = given && parameterOf(given, 'TZID') === undefined ? timesOf(given) : [];
  if (!time) throw new DavError(400, caldav('valid-calendar-data'), 'DTSTART and DTEND must be in UTC.');
  return new Date(time.wall * 1000).toISOString();
}

function freeBusyText(
  method: string | null,
  head: Property[],
  { from, to }: Window,
  busy: Times['busy'],
): string {
  const periods = busy.map(({ start, end, type }) =>
    property('FREEBUSY', `${utc(start)}/${utc(end)}`, { FBTYPE: TYPES[type] ?? 'BUSY' }),
  );
  const bounds = [property('DTSTART', utc(from)), property('DTEND', utc(to))];
  const properties = [
    property('VERSION', '2.0'),
    property('PRODID', '-//Workspace//Calendar//EN'),
    ...(method === null ? [] : [property('METHOD', method)]),
  ];
  return formatComponent(
    component('VCALENDAR', properties, [component('VFREEBUSY', [...head, ...bounds, ...periods])]),
  );
}
