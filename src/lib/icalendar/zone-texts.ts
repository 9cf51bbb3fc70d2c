import { LRUCache } from 'lru-cache';
import { type Component, formatComponent, parameterOf } from './component.js';
import { vtimezoneOf } from './zone-writer.js';

/** Texts by zone and first year: a zone of a long history takes milliseconds to write. */
const texts = new LRUCache<string, string>({ max: 1_000 });

/** The text of the VTIMEZONE of an IANA zone, without end. @param from first year */
export function vtimezoneText(name: string, from: number): string {
  const key = `${name} ${from}`;
  let text = texts.get(key);
  if (text === undefined) {
    text = formatComponent(vtimezoneOf(name, from, null));
    texts.set(key, text);
  }
  return text;
}

/** The zones that the times of components, and of the components in them, name. */
export function zonesIn(components: readonly Component[]): Set<string> {
  const names = new Set<string>();
  for (const { properties, components: inner } of components) {
    for (const each of properties) {
      const name = parameterOf(each, 'TZID');
      if (name !== undefined) names.add(name);
    }
    for (const name of zonesIn(inner)) names.add(name);
  }
  return names;
}
