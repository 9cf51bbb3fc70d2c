import { withoutStale } from '../vcard/index.js';
import { CARD_FIELDS, type CardField, type ContactCard } from './card.js';
import { ENTRY_KEYS, joinCards } from './join.js';

type ListField = keyof typeof ENTRY_KEYS;
type SingleField = Exclude<CardField, ListField>;
type Entry = string | { primary?: boolean };

const isList = (field: CardField): field is ListField => field in ENTRY_KEYS;

const LISTS = CARD_FIELDS.filter((field): field is ListField => isList(field));
const SINGLE = CARD_FIELDS.filter((field): field is SingleField => !isList(field));

const valueKey = (field: SingleField, value: unknown): string => JSON.stringify([field, value]);
const entryKey = (field: ListField, entry: Entry): string =>
  JSON.stringify([field, (ENTRY_KEYS[field] as (each: Entry) => string)(entry)]);
const primaryKey = (field: ListField, entry: Entry): string => `primary ${entryKey(field, entry)}`;

/** An entry with its labels and types. The preference is one value of the whole list. */
function wholeKey(field: ListField, entry: Entry): string {
  if (typeof entry === 'string' || entry.primary === undefined) return entryKey(field, entry);
  const { primary: _, ...whole } = entry;
  return JSON.stringify([field, whole]);
}

const isPrimary = (entry: Entry): boolean => typeof entry !== 'string' && entry.primary === true;
const withPrimary = (entry: Entry, primary: boolean): Entry =>
  isPrimary(entry) === primary ? entry : { ...(entry as object), primary };

/** What a card says, value by value: `joinChanges` compares a later card with these keys. */
export function valueKeys(card: ContactCard): string[] {
  const values = SINGLE.flatMap((field) => (card[field] === null ? [] : valueKey(field, card[field])));
  const entries = LISTS.flatMap((field) =>
    (card[field] as Entry[]).flatMap((entry) => [
      entryKey(field, entry),
      wholeKey(field, entry),
      ...(isPrimary(entry) ? [primaryKey(field, entry)] : []),
    ]),
  );
  return [...new Set([...values, ...entries])];
}

/** What is known of a changed card. */
export interface Changed {
  /** Whether an earlier card of the device had the value with this key of `valueKeys`. */
  wasSent: (key: string) => boolean;
  /** The contact has no other card of the device: what the card no longer says was removed there. */
  isOnly: boolean;
  /** The full name of the card is none that was made of other values. */
  isNamed: boolean;
}

/**
 * The contact with what a device has changed since its earlier card (a three-way merge). Values that the device did not change stay as they
 * are here, also removed ones. A value that only the device changed replaces the former one; what both sides changed is joined as by
 * `joinCards`, where the device wins.
 */
export function joinChanges(card: ContactCard, contact: ContactCard, changed: Changed): ContactCard {
  const given = { ...card };
  const kept = { ...contact };
  for (const field of SINGLE) reduceSingle(field, given, kept, changed);
  for (const field of LISTS) {
    const lists = reducedLists(field, card[field] as Entry[], contact[field] as Entry[], changed);
    Object.assign(given, { [field]: lists.given });
    Object.assign(kept, { [field]: lists.kept });
  }
  // What did not change is in one of both. `joinCards` decides about values of the contact that lose.
  kept.custom = withoutStale(contact, { ...joinCards(kept, given), custom: kept.custom });
  return joinCards(given, kept);
}

/** Removes the value of the side on which it did not change, as far as the other side has one. */
function reduceSingle(
  field: SingleField,
  given: ContactCard,
  kept: ContactCard,
  { wasSent, isOnly, isNamed }: Changed,
): void {
  const [value, here] = [given[field], kept[field]];
  const isSentHere = here !== null && wasSent(valueKey(field, here));
  const isChanged =
    value !== null &&
    !wasSent(valueKey(field, value)) &&
    (isNamed || field !== 'full_name' || isSentHere || here === null);
  if (isChanged) {
    if (isOnly && isSentHere && field !== 'kind') Object.assign(kept, { [field]: null });
    return;
  }
  Object.assign(given, { [field]: field === 'kind' ? here : null });
  // A contact needs a name: it keeps the one that the card no longer has.
  if (value === null && isOnly && isSentHere && field !== 'full_name') Object.assign(kept, { [field]: null });
}

/** The entries of the card, where those that did not change there are as they are here, and the other entries of the contact. */
function reducedLists(
  field: ListField,
  list: readonly Entry[],
  others: readonly Entry[],
  { wasSent, isOnly }: Changed,
): { given: Entry[]; kept: Entry[] } {
  const keyOf = (entry: Entry): string => entryKey(field, entry);
  const stated = new Set(list.map(keyOf));
  const isRemoved = (entry: Entry): boolean => {
    const key = keyOf(entry);
    return isOnly && !stated.has(key) && wasSent(key);
  };
  const isSame = (entry: Entry): boolean => wasSent(wholeKey(field, entry));
  const unchanged = new Set(list.filter(isSame).map((entry) => wholeKey(field, entry)));
  // The card says the same value with other labels, which may be those of a second entry of the value.
  const isReplaced = (entry: Entry): boolean => isSame(entry) && !unchanged.has(wholeKey(field, entry));
  const isPreferenceSame = hasSamePreference(field, list, others, { wasSent, isOnly });
  const left = others.filter((entry) => !isRemoved(entry));
  const isShorter = left.length < others.length || (isOnly && others.some(isReplaced));
  // The order of the contact stays. Properties belong to values that may have changed.
  if (isPreferenceSame && field !== 'custom' && !isShorter && list.every(isSame))
    return { given: field === 'members' ? [...others] : [], kept: [...others] };
  const here = Map.groupBy(left, keyOf);
  const given: Entry[] = [];
  for (const entry of list) {
    const key = keyOf(entry);
    const same = here.get(key) ?? [];
    if (isSame(entry)) {
      // Several entries of the card may be the same one.
      here.delete(key);
      const stay = isOnly ? same.filter((each) => !isReplaced(each)) : same;
      given.push(...stay.map((each) => (isPreferenceSame ? each : withPrimary(each, isPrimary(entry)))));
    } else {
      const former = same.filter((each) => !unchanged.has(wholeKey(field, each)));
      given.push(isPreferenceSame ? withPrimary(entry, former.some(isPrimary)) : entry);
      if (same.every(isSame))
        here.set(
          key,
          same.filter((each) => !isReplaced(each)),
        );
    }
  }
  const kept = [...here.values()].flat();
  return { given, kept: isPreferenceSame ? kept : kept.map((entry) => withPrimary(entry, false)) };
}

/** Whether the device prefers the entry that it preferred before. */
function hasSamePreference(
  field: ListField,
  list: readonly Entry[],
  others: readonly Entry[],
  { wasSent, isOnly }: Pick<Changed, 'wasSent' | 'isOnly'>,
): boolean {
  const preferred = list.find(isPrimary);
  if (preferred !== undefined) return wasSent(primaryKey(field, preferred));
  const here = others.find(isPrimary);
  return !isOnly || here === undefined || !wasSent(primaryKey(field, here));
}
