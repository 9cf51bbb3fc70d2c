import { type CardEntry, secondValues, SINGLE_PROPERTIES, uidOf, withoutStale } from '../vcard/index.js';
import type { ContactCard } from './card.js';

/** A list without the entries that another list has. */
function missingFrom<T>(list: readonly T[], others: readonly T[], key: (entry: T) => string): T[] {
  const known = new Set(list.map(key));
  return others.filter((entry) => !known.has(key(entry)));
}

const lower = ({ value }: { value: string }): string => value.toLowerCase();
const secondary = <T extends { primary: boolean }>(list: readonly T[], entry: T): T =>
  list.some(({ primary }) => primary) ? { ...entry, primary: false } : entry;

/** Characters of a label of two joined ones. */
const MAX_LABEL = 100;

function joinedLabels(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  const both = one.split(', ').includes(other) ? one : `${one}, ${other}`;
  return both.length > MAX_LABEL ? one : both;
}

/** The entry with the types and labels of an equal one. */
function withLabels<T extends CardEntry>(entry: T, other: T): T {
  const types = [...new Set([...entry.types, ...other.types])];
  return { ...entry, label: joinedLabels(entry.label, other.label), types };
}

/** Whether two cards can be one: a list of people is no person (RFC 6350, 6.1.4). */
export const canJoin = (one: Pick<ContactCard, 'kind'>, other: Pick<ContactCard, 'kind'>): boolean =>
  (one.kind === 'group') === (other.kind === 'group');

/**
 * One card from two: lists are joined, without repetitions, and single fields of `card` win over those of `other`, which fill the
 * empty ones; names, organizations and titles of `other` that lose are properties of `custom`. Different notes are kept one below
 * the other. Only a group has members (6.6.5).
 */
export function joinCards(card: ContactCard, other: ContactCard): ContactCard {
  const join = <T extends CardEntry>(list: T[], others: T[], key: (entry: T) => string): T[] => {
    const same = Map.groupBy(others, key);
    const hasPrimary = list.some(({ primary }) => primary);
    const equal = (entry: T): T[] => same.get(key(entry)) ?? [];
    return [
      ...list.map((entry) => ({
        ...equal(entry).reduce(withLabels, entry),
        primary: entry.primary || (!hasPrimary && equal(entry).some(({ primary }) => primary)),
      })),
      ...missingFrom(list, others, key).map((entry) => secondary(list, entry)),
    ];
  };
  const union = (list: string[], others: string[]) => [...new Set([...list, ...others])];
  const json = (entry: unknown): string => JSON.stringify(entry);
  const notes = [card.notes, other.notes].filter((text, n, all) => text && all.indexOf(text) === n);
  const both: ContactCard = {
    ...card,
    name: card.name ?? other.name,
    full_name: card.full_name ?? other.full_name,
    nicknames: union(card.nicknames, other.nicknames),
    organization: card.organization ?? other.organization,
    job_title: card.job_title ?? other.job_title,
    emails: join(card.emails, other.emails, lower),
    phones: join(card.phones, other.phones, ({ e164, value, extension }) => json([e164 ?? value, extension])),
    addresses: join(card.addresses, other.addresses, ({ label: _l, types: _t, primary: _p, ...parts }) =>
      json(parts),
    ),
    urls: join(card.urls, other.urls, lower),
    profiles: join(card.profiles, other.profiles, ({ service, user, uri }) => json([service, user, uri])),
    dates: [...card.dates, ...missingFrom(card.dates, other.dates, json)],
    notes: notes.join('\n\n') || null,
    categories: union(card.categories, other.categories),
    related: [
      ...card.related,
      ...missingFrom(card.related, other.related, (entry) =>
        json({ ...entry, uri: entry.uri && uidOf(entry.uri) }),
      ),
    ],
    members: card.kind === 'group' ? union(card.members, other.members) : card.members,
    time_zone: card.time_zone ?? other.time_zone,
    language: card.language ?? other.language,
    custom: [...card.custom, ...missingFrom(card.custom, other.custom, json)],
  };
  // A value that equals one of `card` in another spelling is not in the joint card; neither are its parameters.
  const kept = new Set([...withoutStale(other, both), ...card.custom]);
  const custom = both.custom.filter((property) => kept.has(property) || SINGLE_PROPERTIES.has(property.name));
  const second = missingFrom(custom, secondValues(card, other), json);
  return { ...both, custom: [...custom, ...second] };
}
