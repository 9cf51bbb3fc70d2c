import { type Component, type Property, storedUid } from '../../../../lib/icalendar/index.js';
import { cutText, toLine } from '../../../../lib/text/index.js';

/** Bytes of JSON of the properties, or of the components, without a field that an event keeps. */
export const KEPT_BYTES = 64 * 1024;

/** Text that can be stored: well-formed, without U+0000, cut. */
export const toStorable = (text: string, max: number): string => cutText(text.replaceAll('\0', ''), max);

/** One line that can be stored. */
export const line = (text: string, max: number): string => toStorable(toLine(text), max);

/** The UID of an event of this text as it is stored. */
export const uidOfText = (text: string): string => storedUid(line(text, text.length));

/** A property without text that cannot be stored. */
export function storableProperty({ name, parameters, value }: Property): Property {
  const text = (each: string): string => toStorable(each, each.length);
  return {
    name,
    parameters: parameters.map((each) => ({ name: each.name, values: each.values.map(text) })),
    value: text(value),
  };
}

/** Components without text that cannot be stored, up to a number of bytes. */
export function storableComponents(components: readonly Component[], max = KEPT_BYTES): Component[] {
  const kept: Component[] = [];
  let bytes = 0;
  for (const { name, properties, components: inner } of components) {
    const each = {
      name,
      properties: properties.map(storableProperty),
      components: storableComponents(inner),
    };
    bytes += JSON.stringify(each).length;
    if (bytes <= max) kept.push(each);
  }
  return kept;
}
