import { encodeParameter, foldLine } from '../../content-lines/index.js';
import { ADDRESS_PARTS, type CardFields, type CardProperty, NAME_PARTS } from '../card.js';
import { Companions, entryKeys, keyOf } from '../companions.js';
import { cleanText, escapeText, isPropertyName, splitEscaped } from '../values.js';

export type ParamList = Record<string, string | readonly string[] | null | undefined>;

const NO_PARAMS: ParamList = Object.freeze({});

/** Components of N and ADR in vCard 3.0; RFC 9554 has more for 4.0. */
const COMPONENTS = new Map<string, number>([
  ['N', NAME_PARTS.length],
  ['ADR', ADDRESS_PARTS.length],
]);

/** Collects the content lines of one card. */
export class CardWriter {
  private lines = '';
  private nextItem = 1;
  /** Groups of the properties of `custom`, which few cards need. */
  private takenGroups: ReadonlySet<string> | undefined;
  /** Labels by group. */
  private readonly labels = new Map<string, string>();

  /** @param altIds the ALTID of properties that may occur several times only as alternatives, by name */
  constructor(
    readonly companions: Companions,
    readonly version: '3.0' | '4.0',
    private readonly altIds: ReadonlyMap<string, string>,
  ) {}

  /** A line with an escaped value; parameters without a value are left out. */
  add(name: string, value: string, params: ParamList = NO_PARAMS, group?: string | null): void {
    const altId = this.altIds.get(name);
    let line = group ? `${group}.${name}` : name;
    const all = altId ? { ...params, ALTID: altId } : params;
    for (const key of Object.keys(all)) {
      const param = all[key];
      if (typeof param === 'string') line += `;${key}=${encodeParameter(param)}`;
      else if (param?.length) line += `;${key}=${param.map(encodeParameter).join(',')}`;
    }
    this.lines += foldLine(`${line}:${value}`);
  }

  /** The line of a field, with the group and the parameters of the companion. */
  addField(
    companion: CardProperty | undefined,
    name: string,
    value: string,
    params: ParamList = NO_PARAMS,
    group?: string | null,
  ): void {
    if (!companion) return this.add(name, value, params, group);
    const own = Object.fromEntries(Object.entries(params).filter(([, param]) => param?.length));
    const written = this.isWhole(companion, name) ? oneLine(companion.value) : value;
    this.add(
      name,
      written,
      { ...own, ...without(validParams(companion.params), own) },
      group ?? groupOf(companion),
    );
  }

  /**
   * The line of a field with one value: with the group and the parameters of its companion, and the preference that it needs.
   * @param key of the companion, as for `Companions.of`; null for a value that has none
   */
  addSingle(name: string, key: (() => string) | null, value: string, params?: ParamList): void {
    const { companions } = this;
    this.addField(companions.preferred(name, key ? companions.of(key) : undefined), name, value, params);
  }

  /** True for a name or address that is written as it was read: its lists and further components. */
  private isWhole({ name, value }: CardProperty, written: string): boolean {
    const count = COMPONENTS.get(name);
    if (count === undefined || name !== written) return false;
    return this.version === '4.0' || splitEscaped(value, ';').length <= count;
  }

  addText(name: string, text: string | null, params?: ParamList, group?: string | null): void {
    if (text) this.add(name, escapeText(text), params, group);
  }

  /** Adds a label. @returns the group that connects it with its property */
  addLabel(label: string, wanted: string | null): string {
    const known = wanted && this.labels.get(wanted.toLowerCase());
    const group = wanted && (known === undefined || known === label) ? wanted : this.newGroup();
    if (known !== label || group !== wanted) this.addText('X-ABLabel', label, {}, group);
    this.labels.set(group.toLowerCase(), label);
    return group;
  }

  /** A group that no other property of the card has. */
  newGroup(): string {
    const { rest } = this.companions;
    this.takenGroups ??= new Set(
      [...rest, ...this.companions.all()].map((property) => property.group?.toLowerCase() ?? ''),
    );
    let group: string;
    do group = `item${this.nextItem++}`;
    while (this.takenGroups.has(group));
    return group;
  }

  text(): string {
    return this.lines;
  }
}

/** A value of `custom`, whose line breaks would end the line. */
export const oneLine = (value: string): string => value.replaceAll(/\r\n?|\n/g, String.raw`\n`);

export function joinParts(parts: readonly (string | null)[], separator: ',' | ';'): string {
  let text = '';
  for (const [at, part] of parts.entries()) {
    if (at > 0) text += separator;
    if (part) text += escapeText(part);
  }
  return text;
}

/** The group of a property; null for an invalid one. */
export const groupOf = ({ group }: CardProperty): string | null =>
  group && /^[\w-]+$/.test(group) ? group : null;

/** Parameters with valid names, without control characters and empty values. */
export function validParams(params: CardProperty['params']): Record<string, string[]> {
  const valid = Object.entries(params).flatMap(([key, values]): [string, string[]][] => {
    const texts = values.map((text) => cleanText(text)).filter((text) => text !== null);
    return isPropertyName(key) && texts.length > 0 ? [[key, texts]] : [];
  });
  return Object.fromEntries(valid);
}

const without = (params: Record<string, string[]>, others: object): Record<string, string[]> =>
  Object.fromEntries(Object.entries(params).filter(([key]) => !(key in others)));

/** URIs are not escaped, except for the backslash, which readers take for an escape, and for line breaks, which would end the line. */
export function escapeUri(uri: string): string {
  return oneLine(uri.replaceAll('\\', '\\\\'));
}

type Content = Omit<CardFields, 'uid'>;

/**
 * The single values of `other` that `card` has other values for, as properties for `custom`: a card that is joined with another one
 * keeps both names, organizations and titles.
 */
export function secondValues(card: Content, other: Content): CardProperty[] {
  const companions = new Companions(other);
  const second = (name: string, own: string | null, theirs: string | null, value: string): CardProperty[] =>
    own === null || theirs === null || own === theirs || companions.of(() => theirs)
      ? []
      : [{ group: null, name, params: {}, value }];
  const text = (
    name: string,
    field: 'full_name' | 'job_title' | 'time_zone' | 'language',
  ): CardProperty[] => {
    const [own, theirs] = [card[field], other[field]];
    return second(name, own && keyOf(field, own), theirs && keyOf(field, theirs), escapeText(theirs ?? ''));
  };
  const { name, organization } = other;
  const ownName = card.name && entryKeys.name(card.name);
  const ownOrganization = card.organization && entryKeys.organization(card.organization);
  const names = NAME_PARTS.map((part) => name?.[part] ?? null);
  const units = [organization?.name ?? null, ...(organization?.units ?? [])];
  return [
    ...text('FN', 'full_name'),
    ...second('N', ownName, name && entryKeys.name(name), joinParts(names, ';')),
    ...second(
      'ORG',
      ownOrganization,
      organization && entryKeys.organization(organization),
      joinParts(units, ';'),
    ),
    ...text('TITLE', 'job_title'),
    ...text('TZ', 'time_zone'),
    ...text('LANG', 'language'),
  ];
}
