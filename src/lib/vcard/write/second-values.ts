import { type CardFields, type CardProperty, NAME_PARTS } from '../card.js';
import { Companions, entryKeys, keyOf } from '../companions.js';
import { escapeText } from '../text.js';
import { joinParts } from './lines.js';

type Content = Omit<CardFields, 'uid'>;

/**
 * The single values of `other` that `card` has other values for, as properties for `custom`: a card that is joined with another one
 * keeps both names, organizations and titles.
 */
export function secondValues(card: Content, other: Content): CardProperty[] {
  const companions = new Companions(other);
  const second = (name: string, own: string | null, theirs: string | null, value: string): CardProperty[] =>
    own === null || theirs === null || own === theirs || companions.of(theirs)
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
