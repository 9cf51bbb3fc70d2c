import { isDeepStrictEqual } from 'node:util';
import type { CardProperty } from './card.js';
import { Companions, type Content, entryKeys, isHeld } from './companions.js';

/** Properties without a field that are another form of the value of one: its sort form (RFC 2426, 3.6.5), its reading, its date in another calendar. */
const OTHER_FORMS: readonly { names: readonly string[]; valueOf: (card: Content) => unknown }[] = [
  {
    names: ['SORT-STRING', 'X-PHONETIC-MIDDLE-NAME'],
    valueOf: ({ name, full_name }) => (name ? entryKeys.name(name) : full_name),
  },
  { names: ['X-PHONETIC-ORG'], valueOf: ({ organization }) => organization },
  { names: ['X-ALTBDAY'], valueOf: ({ dates }) => dates.filter(({ type }) => type === 'birthday') },
];

/**
 * `custom` without what belongs to values that `before` has and `after` no longer has: their companions, the alternatives of these
 * (RFC 6350, 5.4) and other forms of the value, unless the change wrote them too.
 */
export function withoutStale(before: Content, after: Content): CardProperty[] {
  if (after.custom.length === 0) return after.custom;
  const custom = withoutOtherForms(before, after);
  if (!custom.some(({ name }) => isHeld(name))) return custom;
  const { rest: kept } = new Companions({ ...after, custom });
  const { rest: others } = new Companions({ ...before, custom: kept });
  const former = kept.filter((property) => !others.includes(property));
  const stale = new Set([
    ...former,
    ...kept.filter((property) => former.some((each) => isAlternative(each, property))),
  ]);
  return custom.filter((property) => !stale.has(property));
}

function withoutOtherForms(before: Content, after: Content): CardProperty[] {
  const names = OTHER_FORMS.flatMap((each) =>
    isDeepStrictEqual(each.valueOf(before), each.valueOf(after)) ? [] : each.names,
  );
  const isOld = (property: CardProperty): boolean =>
    names.includes(property.name) && before.custom.some((each) => isDeepStrictEqual(each, property));
  return names.length === 0 ? after.custom : after.custom.filter((property) => !isOld(property));
}

function isAlternative(one: CardProperty, other: CardProperty): boolean {
  const [id] = one.params['ALTID'] ?? [];
  return id !== undefined && one.name === other.name && other.params['ALTID']?.[0] === id;
}
