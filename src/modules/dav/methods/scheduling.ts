import { Injectable } from '@nestjs/common';
import {
  component,
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
import { xmlText } from '../../../lib/xml/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { validated } from '../../../platform/http/input.pipe.js';
import { FreeBusyQuery, FreeBusyService } from '../../calendar/index.js';
import { DavError, notFound } from '../model/body.js';
import { caldav, DECLARATIONS, XML_HEAD } from '../model/xml-names.js';

/** The times of one attendee, as `FreeBusyService` presents them. */
interface Times {
  status: 'ok' | 'unknown';
  busy: { start: string; end: string; type: string }[];
}

const TYPES: Readonly<Record<string, string>> = {
  tentative: 'BUSY-TENTATIVE',
  out_of_office: 'BUSY-UNAVAILABLE',
};

const utc = (text: string): string => `${text.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;

/** Free/busy requests: POST to the outbox (RFC 6638, 5) and the report of a calendar (RFC 4791, 7.10). */
@Injectable()
export class Scheduling {
  constructor(private readonly freeBusy: FreeBusyService) {}

  /** @param text a VFREEBUSY with the method REQUEST @returns XML @throws DavError 400, ApiError 422 */
  async outbox(ctx: RequestContext, text: string): Promise<string> {
    const request = requestOf(text);
    const attendees = propertiesOf(request, 'ATTENDEE');
    const [from, to] = [instant(propertyOf(request, 'DTSTART')), instant(propertyOf(request, 'DTEND'))];
    const emails = attendees.map(({ value }) => addressOfUri(value) ?? '');
    const times = await this.times(
      ctx,
      emails.map((email) => ({ email: email || 'unknown@invalid' })),
      from,
      to,
    );
    const responses = attendees.map((attendee, index) => {
      const found = times[index];
      const recipient = `<C:recipient><D:href>${xmlText(attendee.value)}</D:href></C:recipient>`;
      if (found?.status !== 'ok')
        return `<C:response>${recipient}<C:request-status>3.7;Invalid calendar user</C:request-status></C:response>`;
      const organizer = propertyOf(request, 'ORGANIZER');
      const head = [
        property('UID', escapeText(textOf(request, 'UID') ?? '')),
        property('DTSTAMP', utc(new Date().toISOString())),
        ...(organizer ? [organizer] : []),
        attendee,
      ];
      const reply = freeBusyText('REPLY', head, { from, to }, found.busy);
      return `<C:response>${recipient}<C:request-status>2.0;Success</C:request-status><C:calendar-data>${xmlText(reply)}</C:calendar-data></C:response>`;
    });
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

  private async times(ctx: RequestContext, attendees: object[], from: string, to: string): Promise<Times[]> {
    if (attendees.length === 0) return [];
    const query = validated(FreeBusyQuery, { attendees, from, to });
    const { json } = await this.freeBusy.query(ctx, query);
    return (JSON.parse(json.toString()) as { free_busy: Times[] }).free_busy;
  }
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
  { from, to }: { from: string; to: string },
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
