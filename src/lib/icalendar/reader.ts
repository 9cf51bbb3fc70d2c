import { decodeQuotedPrintable, decodeText } from '../content-lines/index.js';
import type { Component } from './component.js';
import { ICalendarError } from './errors.js';
import { LineReader } from './line-reader.js';
import { parseProperty, type Property } from './property.js';
import { isVCalendar, upgradeItem } from './vcalendar.js';

/** Limits of a text. `componentBytes` counts an event with its alarms, `zones` the VTIMEZONEs of a calendar. */
export const READ_LIMITS = {
  lineBytes: 4 * 1024 * 1024,
  componentBytes: 8 * 1024 * 1024,
  depth: 8,
  zones: 500,
} as const;

/** A component directly below VCALENDAR. */
export interface CalendarItem {
  item: Component;
  /** Its VCALENDAR: the properties and the VTIMEZONEs read so far, not the other components. */
  calendar: Component;
}

/**
 * Reads a text in memory.
 * @returns its VCALENDARs with all components
 * @throws ICalendarError
 */
export function parseCalendars(text: string | Uint8Array): Component[] {
  const calendars: Component[] = [];
  const builder = new Builder(({ item, calendar }) => {
    if (item.name !== 'VTIMEZONE') calendar.components.push(item);
    if (calendars.at(-1) !== calendar) calendars.push(calendar);
  });
  const lines = new LineReader(READ_LIMITS.lineBytes, (line) => builder.add(line));
  lines.push(typeof text === 'string' ? Buffer.from(text) : text);
  lines.end();
  return builder.end();
}

/**
 * Reads a stream of any length: memory holds one component at a time, and the VTIMEZONEs.
 * @throws ICalendarError
 */
export async function* readCalendar(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<CalendarItem, void, undefined> {
  let ready: CalendarItem[] = [];
  const builder = new Builder((item) => void ready.push(item));
  const lines = new LineReader(READ_LIMITS.lineBytes, (line) => builder.add(line));
  for await (const chunk of source) {
    lines.push(chunk);
    const items = ready;
    ready = [];
    yield* items;
  }
  lines.end();
  builder.end();
  yield* ready;
}

const QUOTED = 'QUOTED-PRINTABLE';
/** Properties whose values may have line breaks. */
const TEXT = /^(?:SUMMARY|DESCRIPTION|LOCATION|COMMENT|CONTACT|RESOURCES|CATEGORIES|X-.*)$/;

const valueOf = ({ parameters }: Property, name: string): string | undefined =>
  parameters.find((each) => each.name === name)?.values[0];

/** The encoding of a value, also of one whose parameter lacks its name (vCalendar 1.0), in upper case. */
const encodingOf = (property: Property): string | undefined =>
  (
    valueOf(property, 'ENCODING') ?? property.parameters.find(({ name }) => ENCODINGS.has(name))?.name
  )?.toUpperCase();

const ENCODINGS: ReadonlySet<string> = new Set(['QUOTED-PRINTABLE', 'BASE64', '8BIT', '7BIT']);

/** Decodes a text of vCalendar 1.0 into one of iCalendar, which has neither encoding nor charset. */
function decode(property: Property, encoding: string): void {
  const bytes =
    encoding === 'QUOTED-PRINTABLE'
      ? decodeQuotedPrintable(property.value)
      : Buffer.from(property.value, 'base64').toString('latin1');
  property.value = decodeText(bytes, valueOf(property, 'CHARSET')).replaceAll(/\r\n?|\n/g, '\\n');
  property.parameters = property.parameters.filter(
    ({ name }) => name !== 'ENCODING' && name !== 'CHARSET' && !ENCODINGS.has(name),
  );
}

/** Builds components from content lines. */
class Builder {
  private readonly calendars: Component[] = [];
  private readonly open: Component[] = [];
  private bytes = 0;
  /** VTIMEZONEs of the open VCALENDAR. */
  private zones = 0;
  private last: Property | null = null;
  /** A property in quoted-printable whose value continues on the next line. */
  private quoted: Property | null = null;

  constructor(private readonly visit: (item: CalendarItem) => void) {}

  add(line: string): void {
    if (this.quoted) return this.continueQuoted(line);
    const read = parseProperty(line);
    if (!read) return this.continueText(line);
    if (read.name === 'BEGIN') this.begin(read.value.trim().toUpperCase());
    else if (read.name === 'END') this.finish(read.value.trim().toUpperCase());
    else this.addProperty(read, line.length);
  }

  end(): Component[] {
    // Without END:VCALENDAR, or with a misspelled one, all components are complete.
    if (this.quoted) decode(this.quoted, QUOTED);
    if (this.open.length > 1)
      throw new ICalendarError('truncated', `The text ends inside ${this.open.at(-1)?.name}`);
    if (this.calendars.length === 0) throw new ICalendarError('no_calendar', 'The text has no VCALENDAR');
    return this.calendars;
  }

  private begin(name: string): void {
    if (this.open.length >= READ_LIMITS.depth)
      throw new ICalendarError('too_large', `Components are nested at most ${READ_LIMITS.depth} deep`, name);
    this.last = null;
    // Components outside a VCALENDAR, such as a VEVENT from a clipboard, are ignored.
    if (this.open.length === 0 && name !== 'VCALENDAR') return;
    if (this.open.length === 1) this.bytes = 0;
    const created: Component = { name, properties: [], components: [] };
    if (this.open.length === 0) {
      this.calendars.push(created);
      this.zones = 0;
    }
    this.open.push(created);
    this.count(name.length);
  }

  private finish(name: string): void {
    this.last = null;
    const at = this.open.findLastIndex((each) => each.name === name);
    if (at < 0) return;
    // An END of an outer component closes the inner ones that lack their own.
    while (this.open.length > at) this.close();
  }

  private close(): void {
    const item = this.open.pop() as Component;
    const parent = this.open.at(-1);
    if (!parent) return;
    if (this.open.length > 1) {
      parent.components.push(item);
      return;
    }
    if (item.name === 'VTIMEZONE') {
      this.zones += 1;
      if (this.zones > READ_LIMITS.zones)
        throw new ICalendarError('too_large', `A calendar has at most ${READ_LIMITS.zones} time zones`);
      parent.components.push(item);
    }
    this.visit({ item: isVCalendar(parent) ? upgradeItem(item, parent) : item, calendar: parent });
  }

  private addProperty(property: Property, length: number): void {
    const parent = this.open.at(-1);
    if (!parent) return;
    this.count(length);
    parent.properties.push(property);
    this.last = property;
    const encoding = encodingOf(property);
    if (encoding === QUOTED) this.finishQuoted(property);
    // Files and pictures, which may be in X- properties, stay as they are.
    else if (encoding === 'BASE64' && TEXT.test(property.name) && !property.name.startsWith('X-'))
      decode(property, encoding);
  }

  /** A soft line break of quoted-printable (RFC 2045, 6.7). The next line may look like a property. */
  private continueQuoted(line: string): void {
    const property = this.quoted as Property;
    this.count(line.length);
    property.value = property.value.slice(0, -1) + line;
    this.finishQuoted(property);
  }

  private finishQuoted(property: Property): void {
    this.quoted = property.value.endsWith('=') ? property : null;
    if (!this.quoted) decode(property, QUOTED);
  }

  /**
   * A line without a name continues the text before it: some clients do not escape line breaks. After a value of another
   * type it is dropped.
   */
  private continueText(line: string): void {
    if (!this.last || !TEXT.test(this.last.name)) return;
    this.count(line.length);
    this.last.value += `\\n${line}`;
  }

  private count(length: number): void {
    this.bytes += length + 100;
    if (this.bytes > READ_LIMITS.componentBytes)
      throw new ICalendarError('too_large', `A component has at most ${READ_LIMITS.componentBytes} bytes`);
  }
}
