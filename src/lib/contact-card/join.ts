import {
  type CardAddress,
  type CardEntry,
  type CardProfile,
  type CardRelated,
  secondValues,
  SINGLE_PROPERTIES,
  uidOf,
  withoutStale,
} from '../vcard/index.js';
import type { ContactCard, ContactPhone } from './card.js';

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

const json = (entry: unknown): string => JSON.stringify(entry);

/** Lists of a card with what makes two of their entries the same one: labels, types and preference do not. */
export const ENTRY_KEYS = {
  nicknames: (text: string) => text,
  emails: lower,
  phones: ({ e164, value, extension }: ContactPhone) => json([e164 ?? value, extension]),
  addresses: ({ label: _l, types: _t, primary: _p, ...parts }: CardAddress) => json(parts),
  urls: lower,
  profiles: ({ service, user, uri }: CardProfile) => json([service, user, uri]),
  dates: json,
  categories: (text: string) => text,
  related: (entry: CardRelated) => json({ ...entry, uri: entry.uri && uidOf(entry.uri) }),
  members: (uid: string) => uid,
  custom: json,
} as const;

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
  const notes = [card.notes, other.notes].filter((text, n, all) => text && all.indexOf(text) === n);
  const both: ContactCard = {
    ...card,
    name: card.name ?? other.name,
    full_name: card.full_name ?? other.full_name,
    nicknames: union(card.nicknames, other.nicknames),
    organization: card.organization ?? other.organization,
    job_title: card.job_title ?? other.job_title,
    emails: join(card.emails, other.emails, ENTRY_KEYS.emails),
    phones: join(card.phones, other.phones, ENTRY_KEYS.phones),
    addresses: join(card.addresses, other.addresses, ENTRY_KEYS.addresses),
    urls: join(card.urls, other.urls, ENTRY_KEYS.urls),
    profiles: join(card.profiles, other.profiles, ENTRY_KEYS.profiles),
    dates: [...card.dates, ...missingFrom(card.dates, other.dates, ENTRY_KEYS.dates)],
    notes: notes.join('\n\n') || null,
    categories: union(card.categories, other.categories),
    related: [...card.related, ...missingFrom(card.related, other.related, ENTRY_KEYS.related)],
    members: card.kind === 'group' ? union(card.members, other.members) : card.members,
    time_zone: card.time_zone ?? other.time_zone,
    language: card.language ?? other.language,
    custom: [...card.custom, ...missingFrom(card.custom, other.custom, ENTRY_KEYS.custom)],
  };
  // A value that equals one of `card` in another spelling is not in the joint card; neither are its parameters.
  const kept = new Set([...withoutStale(other, both), ...card.custom]);
  const custom = both.custom.filter((property) => kept.has(property) || SINGLE_PROPERTIES.has(property.name));
  const second = missingFrom(custom, secondValues(card, other), json);
  return { ...both, custom: [...custom, ...second] };
}
