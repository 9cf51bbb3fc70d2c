import {
  type Component,
  formatComponent,
  propertyOf,
  vtimezoneText,
  zonesIn,
} from '../../../lib/icalendar/index.js';
import { canonicalZone } from '../../../lib/recurrence/index.js';
import type { TodoText } from './todo-merge.js';

const HEAD = 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Workspace//Tasks//EN\r\nCALSCALE:GREGORIAN\r\n';
const END = 'END:VCALENDAR\r\n';

/** A task as a whole VCALENDAR. @param withZones false: without VTIMEZONEs of the IANA database (RFC 7809) */
export function textOfTodo({ todo, others }: TodoText, withZones: boolean): string {
  const stored = others.filter(({ name }) => name === 'VTIMEZONE');
  const instances = others.filter(({ name }) => name !== 'VTIMEZONE');
  const used = zonesIn([todo, ...instances]);
  let text = HEAD;
  for (const zone of stored) {
    const name = propertyOf(zone, 'TZID')?.value.trim() ?? '';
    if (used.delete(name)) text += formatComponent(zone);
  }
  if (withZones) {
    const year = yearOf(todo);
    for (const name of used) if (canonicalZone(name) !== null) text += vtimezoneText(name, year);
  }
  for (const each of [todo, ...instances]) text += formatComponent(each);
  return text + END;
}

/** The year of the first time of a task. */
function yearOf(todo: Component): number {
  const { value = '' } = propertyOf(todo, 'DTSTART') ?? propertyOf(todo, 'DUE') ?? {};
  return Number(/^\d{4}/.exec(value)?.[0] ?? new Date().getUTCFullYear());
}
