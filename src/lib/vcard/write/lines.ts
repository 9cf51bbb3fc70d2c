import { encodeParameter, foldLine } from '../../content-lines/index.js';
import type { CardProperty } from '../card.js';

import { escapeText } from '../text.js';

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
      const values = (typeof param === 'string' ? [param] : (param ?? [])).map(encodeParameter);
      return values.length > 0 ? [`;${key}=${values.join(',')}`] : [];
    });
    this.lines.push(foldLine(`${group ? `${group}.` : ''}${name}${formatted.join('')}:${value}`));
  }

  addText(name: string, text: string | null, params?: ParamList, group?: string | null): void {
    if (text) this.add(name, escapeText(text), params, group);
  }

  /** Adds a line with the escaped parts between separators. */
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
    return this.lines.join('');
  }
}

/** URIs are not escaped, except for the backslash, which readers take for an escape, and for line breaks, which would end the line. */
export function escapeUri(uri: string): string {
  return uri.replaceAll('\\', '\\\\').replaceAll(/\r\n?|\n/g, String.raw`\n`);
}
