import { Injectable } from '@nestjs/common';
import { Readable } from 'node:stream';
import {
  component,
  escapeText,
  formatComponent,
  linesOf,
  property,
  vtimezoneText,
} from '../../../lib/icalendar/index.js';
import { ownAlarms } from '../model/dependent-properties.js';
import { recordIn } from '../model/attendance.js';
import type { CalendarContext, Visibility } from '../model/event-record.js';
import { permissionsOf } from '../model/event-policy.js';
import { IcsRepository } from './ics.repository.js';
import { colorProperties, veventsOf } from '../model/vevent.js';

export const ICS_TYPE = 'text/calendar; charset=utf-8';
const PRODUCT = '-//Workspace//Calendar//EN';
/** Events that one query reads. */
const PAGE = 200;

/** Writes whole calendars as iCalendar. */
@Injectable()
export class IcsExport {
  constructor(private readonly repository: IcsRepository) {}

  /**
   * A calendar as its reader sees it: private events of others are `Busy` without details.
   * @param details busy: no details of any event
   */
  stream(
    tenantId: string,
    userId: string,
    calendar: CalendarContext,
    details: 'full' | 'busy' = 'full',
  ): Readable {
    return Readable.from(this.parts(tenantId, userId, calendar, details));
  }

  private async *parts(
    tenantId: string,
    userId: string,
    calendar: CalendarContext,
    details: 'full' | 'busy',
  ): AsyncGenerator<string> {
    yield heading(calendar);
    for (const { zone, first_year: year } of await this.repository.zones(tenantId, calendar.id))
      if (zone !== 'UTC') yield vtimezoneText(zone, year);
    let after: string | null = null;
    for (;;) {
      const { events, hasMore } = await this.repository.page(tenantId, calendar.id, after, PAGE);
      let text = '';
      for (const { record: event, reminders, alarms } of events) {
        after = event.id;
        const record = recordIn(event, calendar);
        const sees = (visibility: Visibility): boolean =>
          details === 'full' &&
          permissionsOf(record, calendar, userId, { key: null, visibility }).see_details;
        const view = {
          seesDetails: sees(record.visibility),
          seesPrivate: sees('private'),
          reminders: reminders ?? [],
          alarms: ownAlarms(event, calendar.id, alarms),
          ownerEmail: calendar.owner_email,
        };
        for (const vevent of veventsOf(record, view)) text += formatComponent(vevent);
      }
      if (text) yield text;
      if (!hasMore) break;
    }
    yield 'END:VCALENDAR\r\n';
  }
}

/** BEGIN:VCALENDAR and the properties of the calendar. */
function heading({ name, time_zone: zone, color }: CalendarContext): string {
  const calendar = component('VCALENDAR', [
    property('VERSION', '2.0'),
    property('PRODID', PRODUCT),
    property('CALSCALE', 'GREGORIAN'),
    property('METHOD', 'PUBLISH'),
    property('NAME', escapeText(name)),
    property('X-WR-CALNAME', escapeText(name)),
    property('X-WR-TIMEZONE', zone),
    ...colorProperties(color),
    property('REFRESH-INTERVAL', 'PT1H', { VALUE: 'DURATION' }),
  ]);
  return [...linesOf(calendar)].slice(0, -1).join('');
}
