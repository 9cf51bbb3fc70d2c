import type { PropertyChanges } from './collection.js';
import { childrenOf } from './multistatus.js';
import { caldav } from './xml-names.js';

/** The components of `supported-calendar-component-set` (RFC 4791, 5.2.3), in upper case; null without the property. */
export function componentsIn(properties: PropertyChanges): string[] | null {
  const set = properties.get(caldav('supported-calendar-component-set'));
  if (!set) return null;
  return childrenOf(set, caldav('comp')).map(({ attributes }) => (attributes['name'] ?? '').toUpperCase());
}
