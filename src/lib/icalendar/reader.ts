import { TextDecoder } from 'node:util';
import {
  byteOrderMarkOf,
  decodeQuotedPrintable,
  decodeStated,
  decodeText,
  MARK_BYTES,
} from '../content-lines/index.js';
import { type Component, ICalendarError, parseProperty, type Property } from './component.js';
import { isVCalendar, upgradeItem } from './vcalendar.js';

const LF = 10;
const CR = 13;
const SPACE = 32;
const TAB = 9;

/**
 * Turns bytes into unfolded content lines (RFC 5545, 3.1). Lines end with CRLF, LF or CR; a fold may be within a UTF-8
 * sequence, so lines are joined as bytes. Without a charset, bytes that are not UTF-8 are read as Latin-1; a text in UTF-16 begins with a byte order mark.
 * Empty lines are skipped.
 */
export class LineReader {
  /** The line so far. Bytes are copied: a list of parts of chunks would have one entry per byte for a fold after each byte. */
  private line = Buffer.allocUnsafe(1_024);
  private bytes = 0;
  /** The bytes read so far end with a line end: the next byte decides whether a fold follows. */
  private atLineStart = true;
  /** Undefined until the text has the bytes of a byte order mark; null for a text that is not in UTF-16. */
  private utf16: TextDecoder | null | undefined;
  private head: Uint8Array = new Uint8Array();

  /**
   * @param maxBytes bytes of an unfolded line
   * @param charset that the sender states; a byte order mark states another one
   */
  constructor(
    private readonly maxBytes: number,
    private readonly visit: (line: string) => void,
    private charset?: string,
  ) {}

  /** @throws ICalendarError `too_large` */
  push(given: Uint8Array): void {
    let chunk = given;
    if (this.utf16 === undefined) {
      chunk = Buffer.concat([this.head, given]);
      if (chunk.length < MARK_BYTES) {
        this.head = chunk;
        return;
      }
      chunk = this.begin(chunk);
    }
    this.read(this.utf16 ? Buffer.from(this.utf16.decode(chunk, { stream: true })) : chunk);
  }

  /** Reads the byte order mark. @returns the text after it */
  private begin(start: Uint8Array): Uint8Array {
    const mark = byteOrderMarkOf(start);
    this.utf16 = mark && mark.charset !== 'utf-8' ? new TextDecoder(mark.charset) : null;
    if (!mark) return start;
    this.charset = undefined;
    return start.subarray(mark.length);
  }

  private read(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === LF || byte === CR) {
        this.add(bytes, from, at);
        from = at + 1;
        this.atLineStart = true;
      } else if (this.atLineStart) {
        this.atLineStart = false;
        if (byte === SPACE || byte === TAB) from = at + 1;
        else {
          this.flush();
          from = at;
        }
      }
    }
    this.add(bytes, from, bytes.length);
  }

  /** Visits the last line. */
  end(): void {
    if (this.utf16 === undefined) {
      const text = this.begin(this.head);
      this.read(this.utf16 ? Buffer.from((this.utf16 as TextDecoder).decode(text)) : text);
    }
    this.flush();
  }

  private add(chunk: Buffer, from: number, to: number): void {
    if (to <= from) return;
    const end = this.bytes + to - from;
    if (end > this.maxBytes)
      throw new ICalendarError('too_large', `A line has at most ${this.maxBytes} bytes`);
    if (end > this.line.length) {
      const larger = Buffer.allocUnsafe(2 * end);
      this.line.copy(larger, 0, 0, this.bytes);
      this.line = larger;
    }
    chunk.copy(this.line, this.bytes, from, to);
    this.bytes = end;
  }

  private flush(): void {
    if (this.bytes === 0) return;
    const text = textOf(this.line.subarray(0, this.bytes), this.charset);
    this.bytes = 0;
    this.visit(text);
  }
}

function textOf(bytes: Buffer, charset: string | undefined): string {
  if (charset !== undefined) return decodeStated(bytes.toString('latin1'), charset);
  const text = bytes.toString('utf8');
  return text.includes('\uFFFD') ? decodeText(bytes.toString('latin1')) : text;
}

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
 * @param charset that the sender states
 * @throws ICalendarError
 */
export async function* readCalendar(
  source: AsyncIterable<Uint8Array>,
  charset?: string,
): AsyncGenerator<CalendarItem, void, undefined> {
  let ready: CalendarItem[] = [];
  const builder = new Builder((item) => void ready.push(item), charset);
  const lines = new LineReader(READ_LIMITS.lineBytes, (line) => builder.add(line), charset);
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

/**
 * Decodes a text of vCalendar 1.0 into one of iCalendar, which has neither encoding nor charset.
 * @param charset of a text without CHARSET
 */
function decode(property: Property, encoding: string, charset: string | undefined): void {
  const bytes =
    encoding === 'QUOTED-PRINTABLE'
      ? decodeQuotedPrintable(property.value)
      : Buffer.from(property.value, 'base64').toString('latin1');
  const own = valueOf(property, 'CHARSET');
  const text = own === undefined ? decodeStated(bytes, charset) : decodeText(bytes, own);
  property.value = text.replaceAll(/\r\n?|\n/g, '\\n');
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

  constructor(
    private readonly visit: (item: CalendarItem) => void,
    private readonly charset?: string,
  ) {}

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
    if (this.quoted) decode(this.quoted, QUOTED, this.charset);
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
      decode(property, encoding, this.charset);
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
    if (!this.quoted) decode(property, QUOTED, this.charset);
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
