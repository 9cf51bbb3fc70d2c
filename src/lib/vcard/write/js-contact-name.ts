import { ADDRESS_PARTS, type CardAddress, type CardName, type CardProperty, NAME_PARTS } from '../card.js';
import { cleanText, distinct, lineOf, splitEscaped, unescapeText } from '../values.js';
import { entry, languageOf, type Localizations } from './js-contact-entries.js';
import { sortTexts } from './js-contact-properties.js';

/** Names and addresses, whose components are lists of kinds and values (RFC 9555, 2.5.1 and 2.6.1; RFC 9554, 2). */

interface Component {
  kind: string;
  value: string;
  phonetic?: string;
}

/** The kinds in the order of N. */
const NAME_KINDS = ['surname', 'given', 'given2', 'title', 'credential', 'surname2', 'generation'];
/** The kinds in the order in which a name is written. */
const WRITTEN = ['title', 'given', 'given2', 'surname', 'surname2', 'generation', 'credential'];
/** The kinds in the order of ADR. */
const ADDRESS_KINDS = [
  'postOfficeBox',
  'apartment',
  'name',
  'locality',
  'region',
  'postcode',
  'country',
  'room',
  'apartment',
  'floor',
  'number',
  'name',
  'building',
  'block',
  'subdistrict',
  'district',
  'landmark',
  'direction',
];

/** The components of a property: each part may be a list. */
function componentsOf(value: string, kinds: readonly string[]): Component[][] {
  return splitEscaped(value, ';').map((part, n) => {
    const texts = distinct(splitEscaped(part, ',').map((text) => cleanText(unescapeText(text))));
    const kind = kinds[n];
    return kind === undefined ? [] : texts.map((text) => ({ kind, value: text }));
  });
}

function nameComponents(name: CardName | null, source: CardProperty | undefined): Component[] {
  const parts = source
    ? componentsOf(source.value, NAME_KINDS)
    : NAME_PARTS.map((part, n) => {
        const value = name?.[part];
        return value ? [{ kind: NAME_KINDS[n] as string, value }] : [];
      });
  // Writers repeat the second surname and the generation in the parts that older readers know.
  const [second = [], generation = []] = parts.slice(NAME_PARTS.length);
  const repeated = (one: Component, by: Component[]): boolean => by.some(({ value }) => value === one.value);
  const all = parts
    .flat()
    .filter((one) => !(one.kind === 'surname' && repeated(one, second)))
    .filter((one) => !(one.kind === 'credential' && repeated(one, generation)));
  return all.toSorted((one, other) => WRITTEN.indexOf(one.kind) - WRITTEN.indexOf(other.kind));
}

/** The name, and its alternatives in other languages. Undefined for a card without a name. */
export function nameOf(
  { name, full_name: full }: { name: CardName | null; full_name: string | null },
  sources: {
    name: CardProperty | undefined;
    full: CardProperty | undefined;
    others: readonly CardProperty[];
  },
  localizations: Localizations,
): object | undefined {
  const own = (source: CardProperty | undefined, member: string): CardProperty | undefined =>
    sources.others.some((other) => other.name === member) ? source : undefined;
  const choose = (member: 'N' | 'FN', first: CardProperty | undefined): CardProperty | undefined => {
    const others = sources.others.filter((other) => other.name === member);
    if (others.length === 0) return first;
    const all = [{ source: own(first, member) }, ...others.map((source) => ({ source }))];
    const main = localizations.mainOf(all);
    for (const one of all) {
      const language = languageOf(one);
      if (one === main || !language || !one.source) continue;
      const value = member === 'FN' ? lineOf(one.source.value) : nameComponents(null, one.source);
      localizations.add(language, member === 'FN' ? 'name/full' : 'name/components', value);
    }
    return main.source;
  };
  const mainName = choose('N', sources.name);
  const mainFull = choose('FN', sources.full);
  if (!name && !full) return undefined;
  const isOther = mainName !== undefined && mainName !== sources.name;
  const components = nameComponents(name, mainName);
  const phonetic = new Map([
    ['given', name?.phonetic_given],
    ['surname', name?.phonetic_family],
  ]);
  for (const component of isOther ? [] : components) {
    const reading = phonetic.get(component.kind);
    if (reading) component.phonetic = reading;
    phonetic.delete(component.kind);
  }
  const [surname, given] = sortTexts(mainName);
  const text = mainFull && mainFull !== sources.full ? lineOf(mainFull.value) : full;
  const { value } = entry('name', {}, mainName, ['SORT-AS', 'ALTID', 'LANGUAGE']);
  return {
    ...(components.length > 0 && { components }),
    ...(text && { full: text }),
    ...(components.some((one) => one.phonetic) && { phoneticSystem: 'x-phonetic' }),
    ...((surname || given) && { sortAs: { ...(surname && { surname }), ...(given && { given }) } }),
    ...value,
  };
}

/** The components of an address. Street and extension repeat the components of RFC 9554 for older readers. */
export function addressComponents(address: CardAddress, source: CardProperty | undefined): Component[] {
  const parts = source ? componentsOf(source.value, ADDRESS_KINDS) : [];
  const more = parts.slice(ADDRESS_PARTS.length).flat();
  const has = (...kinds: string[]): boolean => more.some(({ kind }) => kinds.includes(kind));
  return [
    ...ADDRESS_PARTS.flatMap((part, n) => {
      const value = address[part];
      if (!value) return [];
      if (part === 'street' && has('name', 'number')) return [];
      if (part === 'extended' && has('room', 'apartment', 'floor', 'building')) return [];
      return [{ kind: ADDRESS_KINDS[n] as string, value }];
    }),
    ...more,
  ];
}
