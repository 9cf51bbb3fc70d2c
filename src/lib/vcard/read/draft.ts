import {
  type Card,
  type CardAddress,
  type CardDate,
  type CardEntry,
  type CardName,
  type CardProperty,
  newCard,
} from '../card.js';
import {
  builtInLabel,
  cleanLine,
  cleanText,
  distinct,
  formatDataUri,
  lineOf,
  MEDIA_FAMILY,
  mediaTypeOf,
  preferenceOf,
  typesOfLabel,
} from '../values.js';
import { ANDROID_LABEL, type CardLines, type Property } from './properties.js';

/** Stores the property in the card; false when no field can hold it. */
export type Handler = (draft: Draft, property: Property) => boolean;

type EntryList = 'emails' | 'phones' | 'urls' | 'profiles';

const NO_NAME: CardName = {
  prefix: null,
  given: null,
  middle: null,
  family: null,
  suffix: null,
  phonetic_given: null,
  phonetic_family: null,
};

/** Properties that belong to the entry of their group. */
const PARTS = new Set(['X-ABLABEL', 'X-ABADR', 'LABEL']);

/** A card while its lines are read: the card, its labels by group, and the preference of each entry. */
export class Draft {
  readonly card: Card = newCard();
  /** True for vCard 2.1. */
  readonly isOld: boolean;
  readonly notes: string[] = [];
  /** The property of the photo while the photo is a link. */
  photoLink: Property | null = null;
  /** A name that is no reading of another one. */
  readonly hasName: boolean;
  /** The reading of the name. */
  readonly phonetic: { given: string | null; family: string | null } = { given: null, family: null };
  private readonly labels = new Map<string, Property>();
  private readonly usedLabels = new Set<Property>();
  private readonly grouped = new Map<string, CardAddress>();
  private unlabelled: Map<string, CardAddress[]> | undefined;
  private readonly dates = new Set<string>();
  private readonly ranks = new Map<CardEntry, number>();
  private readonly rest: Property[] = [];
  /** The numbers of properties by group, without labels and other parts of entries. */
  private readonly members = new Map<string, number>();

  constructor(lines: CardLines) {
    this.isOld = lines.version === '2.1';
    this.hasName = lines.properties.some(({ name, params }) => name === 'N' && !params.has('PHONETIC'));
    for (const property of lines.properties) {
      const { group, name } = property;
      if (!group) continue;
      const key = group.toLowerCase();
      if (name === 'X-ABLABEL') this.labels.set(key, property);
      if (!PARTS.has(name)) this.members.set(key, (this.members.get(key) ?? 0) + 1);
    }
  }

  /** True for a group that connects several properties. */
  isShared(group: string | null): boolean {
    return group !== null && (this.members.get(group.toLowerCase()) ?? 0) > 1;
  }

  /** The label of the property. A label that was used is not kept in `custom`. */
  label(property: Property): string | null {
    const found = property.group && this.labels.get(property.group.toLowerCase());
    if (!found) return null;
    this.usedLabels.add(found);
    return lineOf(found.value);
  }

  /** Types, label and preference of an entry; built-in labels become types. */
  entry(property: Property, ignored: readonly string[] = []): CardEntry {
    const label = this.label(property);
    const builtIn = label === null ? undefined : builtInLabel(label);
    const types = property.params.types();
    const entry: CardEntry = {
      label: builtIn === undefined ? (label ?? lineOf(property.params.first(ANDROID_LABEL))) : null,
      types: distinct(
        [...types, ...(builtIn === undefined ? [] : typesOfLabel(builtIn))].map((type) =>
          cleanLine(type)?.toLowerCase(),
        ),
      ).filter((type) => type !== 'pref' && !ignored.includes(type)),
      primary: false,
    };
    this.ranks.set(entry, preferenceOf(property));
    return entry;
  }

  /** Adds the entry with its preference. */
  add<List extends EntryList>(
    list: List,
    entry: CardEntry,
    fields: Omit<Card[List][number], keyof CardEntry>,
  ): true {
    // The entry object stays the same: it is the key of its preference.
    (this.card[list] as CardEntry[]).push(Object.assign(entry, fields));
    return true;
  }

  /** Adds a date once: programs repeat an anniversary in the properties of others. */
  addDate(date: CardDate): true {
    const key = Object.values(date).join(' ');
    if (!this.dates.has(key)) this.card.dates.push(date);
    this.dates.add(key);
    return true;
  }

  /** An address with these types that has no text yet. Each is returned once; called after all ADR are read. */
  nextUnlabelled(label: CardEntry): CardAddress | undefined {
    const key = (entry: CardEntry): string => [...entry.types].sort().join();
    this.unlabelled ??= Map.groupBy(
      this.card.addresses.filter(({ formatted }) => formatted === null).toReversed(),
      key,
    );
    return this.unlabelled.get(key(label))?.pop();
  }

  addAddress({ group }: Property, address: CardAddress): true {
    this.card.addresses.push(address);
    if (group) this.grouped.set(group.toLowerCase(), address);
    return true;
  }

  /** The address of the group. */
  addressOf(group: string | null): CardAddress | undefined {
    return group ? this.grouped.get(group.toLowerCase()) : undefined;
  }

  /** A property that no field holds. */
  keep(property: Property): void {
    this.rest.push(property);
  }

  finish(): Card {
    const { card } = this;
    card.addresses = card.addresses.filter(isAddress);
    for (const list of ['emails', 'phones', 'addresses', 'urls', 'profiles'] as const)
      this.markPrimary(card[list]);
    const { given, family } = this.phonetic;
    if (given || family)
      card.name = { ...(card.name ?? NO_NAME), phonetic_given: given, phonetic_family: family };
    card.notes = cleanText(this.notes.join('\n'));
    card.nicknames = distinct(card.nicknames);
    card.categories = distinct(card.categories);
    card.members = distinct(card.members);
    card.custom = this.rest.filter((property) => !this.usedLabels.has(property)).map(customProperty);
    return card;
  }

  /** Marks the most preferred entry as primary, the first of several equal ones. */
  private markPrimary(entries: CardEntry[]): void {
    let best: CardEntry | undefined;
    const rank = (entry: CardEntry | undefined): number =>
      (entry && this.ranks.get(entry)) ?? Number.POSITIVE_INFINITY;
    for (const entry of entries) if (rank(entry) < rank(best)) best = entry;
    if (best) best.primary = true;
  }
}

/** False for the empty ADR that some programs write. */
function isAddress({ label: _label, types: _types, primary: _primary, ...parts }: CardAddress): boolean {
  return Object.values(parts).some((part) => part !== null);
}

/** Bytes become a data URI, as in vCard 4.0. */
function customProperty({ group, name, params, value, binary, nested }: Property): CardProperty {
  if (!binary) return { group, name, params: Object.fromEntries(params), value: value || (nested ?? '') };
  const { TYPE: types, VALUE: _, ...others } = Object.fromEntries(params);
  const media_type = mediaTypeOf(types?.[0], MEDIA_FAMILY.get(name) ?? 'application');
  return { group, name, params: others, value: formatDataUri({ media_type, data: binary }) };
}
