import type { CardProperty } from './card.js';
import { formatParam } from './properties.js';
import { cleanLine, escapeText } from './text.js';

/** The longest line without its end, in bytes (RFC 6350, 3.2). */
const LINE_BYTES = 75;

export type ParamList = Record<string, string | readonly string[] | null | undefined>;

/** Collects the content lines of one card. */
export class CardWriter {
  private readonly lines: string[] = [];
  private nextItem = 1;
  private readonly takenGroups: ReadonlySet<string>;

  constructor(custom: readonly CardProperty[]) {
    this.takenGroups = new Set(custom.map(({ group }) => group?.toLowerCase() ?? ''));
  }

  /** A line with an escaped value; parameters without a value are left out. */
  add(name: string, value: string, params: ParamList = {}, group?: string | null): void {
    const formatted = Object.entries(params).flatMap(([key, param]) => {
      const values = (typeof param === 'string' ? [param] : (param ?? [])).map(formatParam);
      return values.length > 0 ? [`;${key}=${values.join(',')}`] : [];
    });
    this.lines.push(fold(`${group ? `${group}.` : ''}${name}${formatted.join('')}:${value}`));
  }

  addText(name: string, text: string | null, params?: ParamList, group?: string | null): void {
    if (text) this.add(name, escapeText(text), params, group);
  }

  /** The parts are escaped here; `separator` stays. */
  addParts(
    name: string,
    parts: readonly (string | null)[],
    separator: ',' | ';',
    params?: ParamList,
    group?: string,
  ): void {
    this.add(name, parts.map((part) => escapeText(part ?? '')).join(separator), params, group);
  }

  /** A group that no other property of the card has. */
  newGroup(): string {
    let group: string;
    do group = `item${this.nextItem++}`;
    while (this.takenGroups.has(group));
    return group;
  }

  text(): string {
    return `${this.lines.join('\r\n')}\r\n`;
  }
}

/** URIs are not escaped, except for the backslash, which readers take for an escape. */
export function escapeUri(uri: string): string {
  return uri.replaceAll('\\', '\\\\');
}

/** A type that the lists of TYPE can hold. */
export function typeToken(type: string): string {
  return cleanLine(type.replaceAll(',', ' '))?.toLowerCase() ?? '';
}

/** Breaks a line so that no part is longer than 75 bytes, never within a character. */
function fold(line: string): string {
  if (line.length * 3 <= LINE_BYTES) return line;
  const isAscii = Buffer.byteLength(line) === line.length;
  if (isAscii && line.length <= LINE_BYTES) return line;
  const parts: string[] = [];
  let start = 0;
  let bytes = 0;
  if (isAscii) {
    for (let at = 0; at < line.length; at = start) {
      start = at + LINE_BYTES - (at === 0 ? 0 : 1);
      parts.push(line.slice(at, start));
    }
    return parts.join('\r\n ');
  }
  for (let at = 0; at < line.length;) {
    const code = line.codePointAt(at) as number;
    const length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes + length > LINE_BYTES) {
      parts.push(line.slice(start, at));
      start = at;
      bytes = 1;
    }
    bytes += length;
    at += code > 0xffff ? 2 : 1;
  }
  return [...parts, line.slice(start)].join('\r\n ');
}
