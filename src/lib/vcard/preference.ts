/** Properties of fields with one value. */
export const SINGLE_PROPERTIES: ReadonlySet<string> = new Set(['FN', 'N', 'ORG', 'TITLE', 'TZ', 'LANG']);

/** Properties of fields with one value that a card may have several times, with a preference for each. */
export const PREFERABLE: ReadonlySet<string> = new Set(['FN', 'ORG', 'TITLE', 'TZ', 'LANG', 'PHOTO']);

/** Properties of which a card of version 3.0 has one value here; further values are written with a prefix. */
export const WRITTEN_ONCE: ReadonlySet<string> = new Set(['FN', 'N', 'BDAY', 'ANNIVERSARY']);
export const ALTERNATIVE = 'X-WORKSPACE-';

interface Preferred {
  name: string;
  params: ReadonlyMap<string, readonly string[]>;
}

/**
 * The preference of a property: 1 (most preferred) to 100, or infinity for one without PREF (RFC 6350, 5.3). The type `pref` of
 * version 3.0, and `PREF` alone in 2.1, is 1.
 */
export function preferenceOf({ params }: Pick<Preferred, 'params'>): number {
  const isPreferred = params.get('TYPE')?.some((types) => types.toLowerCase().split(',').includes('pref'));
  if (isPreferred) return 1;
  const pref = Number(params.get('PREF')?.[0] ?? Number.NaN);
  return pref >= 1 ? pref : Number.POSITIVE_INFINITY;
}

/** The properties with the most preferred one of each name that a field holds once at the beginning; the first of several equal ones. */
export function preferredFirst<Property extends Preferred>(properties: readonly Property[]): Property[] {
  const best = new Map<string, { property: Property; preference: number }>();
  for (const property of properties) {
    if (!PREFERABLE.has(property.name)) continue;
    const preference = preferenceOf(property);
    const known = best.get(property.name)?.preference ?? Number.POSITIVE_INFINITY;
    if (preference < known) best.set(property.name, { property, preference });
  }
  if (best.size === 0) return [...properties];
  const first = new Set([...best.values()].map(({ property }) => property));
  return [...first, ...properties.filter((property) => !first.has(property))];
}
