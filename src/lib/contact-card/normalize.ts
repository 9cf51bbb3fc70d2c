import { isDeepStrictEqual } from 'node:util';
import type { CountryCode } from 'libphonenumber-js';
import { phoneNumbers, rememberNational, VANITY, withoutLetters } from './phone-numbers.js';
import { asciiDigits, filledText, labelsOf, mailAddress, telLink } from '../text/index.js';
import {
  type CardAddress,
  type CardDate,
  type CardName,
  type CardOrganization,
  type CardProfile,
  type CardProperty,
  type CardRelated,
  type CardValue,
  deriveName,
  isDerivedName,
  newCard,
  uidOf,
  withoutStale,
} from '../vcard/index.js';
import { CARD_FIELDS, type CardField, type CardPatch, type ContactCard, type ContactPhone } from './card.js';

/** Input of an object whose members are optional. */
type Input<T> = { [K in keyof T]?: T[K] | null };

/** Text with `\n` line breaks, trimmed; null for text without a visible character. */
const text = (value: string | null | undefined): string | null =>
  filledText((value ?? '').replaceAll(/\r\n?/g, '\n')) || null;

const texts = (values: readonly string[] | null | undefined): string[] => [
  ...new Set((values ?? []).flatMap((value) => text(value) ?? [])),
];

const types = (values: readonly string[] | null | undefined): string[] =>
  texts(values?.map((value) => value.toLowerCase()));

/** At most one entry of a list is primary: the first. */
function onePrimary<T extends { primary: boolean }>(entries: T[]): T[] {
  const first = entries.findIndex((entry) => entry.primary);
  return entries.map((entry, n) => (entry.primary && n !== first ? { ...entry, primary: false } : entry));
}

const entry = (input: Input<CardValue>) => ({
  label: text(input.label),
  types: types(input.types),
  primary: input.primary ?? false,
});

const values = (inputs: Input<CardValue>[] | null): CardValue[] =>
  onePrimary(
    (inputs ?? []).flatMap((input) => {
      const value = text(input.value);
      return value === null ? [] : [{ value, ...entry(input) }];
    }),
  );

const emails = (inputs: Input<CardValue>[] | null): CardValue[] =>
  values((inputs ?? []).map((input) => ({ ...input, value: mailAddress(input.value ?? '') })));

/**
 * The international form of a telephone number.
 * @param country of numbers without an international prefix, ISO 3166-1; null: such numbers have no international form
 */
export function parsedPhone(
  value: string,
  country: string | null,
): { e164: string; extension: string | null } | null {
  const link = telLink(value);
  // The library knows the digits of few scripts, and few invisible characters.
  const text = asciiDigits(link?.number ?? value);
  const parse = (digits: string) =>
    phoneNumbers().parsePhoneNumberFromString(digits, {
      ...(country !== null && { defaultCountry: country as CountryCode }),
      extract: false,
    });
  let number = parse(text);
  const vanity = number?.isPossible() ? undefined : VANITY.exec(text)?.groups;
  if (vanity?.['number']) number = parse(withoutLetters(vanity['number']));
  if (!number?.isPossible()) return null;
  rememberNational(number.number, number.nationalNumber);
  return { e164: number.number, extension: link?.extension ?? vanity?.['ext'] ?? number.ext ?? null };
}

/** Whether the text of a number names its extension: then a card that has the text does not name it again. */
export function namesExtension({ value, e164, extension }: ContactPhone): boolean {
  if (extension === null || e164 === null) return false;
  const country = phoneNumbers().parsePhoneNumberFromString(e164)?.country ?? null;
  return parsedPhone(value, country)?.extension === extension;
}

const phones = (inputs: Input<ContactPhone>[] | null, country: string | null): ContactPhone[] =>
  onePrimary(
    (inputs ?? []).flatMap((input) => {
      const written = text(input.value);
      if (written === null) return [];
      const link = telLink(written);
      const value = link?.number ?? written;
      const parsed = parsedPhone(written, country);
      // A client may write a number back without its country: the earlier international form stays.
      const e164 = parsed?.e164 ?? (parsedPhone(input.e164 ?? '', null)?.e164 || null);
      return [
        {
          value,
          e164,
          extension: text(input.extension) ?? link?.extension ?? parsed?.extension ?? null,
          ...entry(input),
        },
      ];
    }),
  );

const addresses = (inputs: Input<CardAddress>[] | null): CardAddress[] =>
  onePrimary(
    (inputs ?? []).flatMap((input) => {
      const parts = {
        street: text(input.street),
        extended: text(input.extended),
        po_box: text(input.po_box),
        locality: text(input.locality),
        region: text(input.region),
        postal_code: text(input.postal_code),
        country: text(input.country),
        country_code: text(input.country_code)?.toUpperCase() ?? null,
        formatted: text(input.formatted),
      };
      return Object.values(parts).some(Boolean) ? [{ ...parts, ...entry(input) }] : [];
    }),
  );

const profiles = (inputs: Input<CardProfile>[] | null): CardProfile[] =>
  onePrimary(
    (inputs ?? []).flatMap((input) => {
      const parts = { service: text(input.service), user: text(input.user), uri: text(input.uri) };
      return parts.user || parts.uri ? [{ ...parts, ...entry(input) }] : [];
    }),
  );

function name(input: Input<CardName> | null): CardName | null {
  const parts = {
    prefix: text(input?.prefix),
    given: text(input?.given),
    middle: text(input?.middle),
    family: text(input?.family),
    suffix: text(input?.suffix),
    phonetic_given: text(input?.phonetic_given),
    phonetic_family: text(input?.phonetic_family),
  };
  return Object.values(parts).some(Boolean) ? parts : null;
}

function organization(input: Input<CardOrganization> | null): CardOrganization | null {
  const made = { name: text(input?.name), units: texts(input?.units) };
  return made.name || made.units.length > 0 ? made : null;
}

const dates = (inputs: Input<CardDate>[] | null): CardDate[] =>
  (inputs ?? []).flatMap(({ type, year = null, month = null, day = null, label }) =>
    (year ?? month ?? day) === null ? [] : [{ type: type ?? 'other', year, month, day, label: text(label) }],
  );

const related = (inputs: Input<CardRelated>[] | null): CardRelated[] =>
  (inputs ?? []).flatMap((input) => {
    const made = {
      type: text(input.type)?.toLowerCase() ?? null,
      name: text(input.name),
      uri: text(input.uri),
    };
    return made.name || made.uri ? [made] : [];
  });

const custom = (inputs: Input<CardProperty>[] | null): CardProperty[] =>
  (inputs ?? []).map(({ group, name: property, params, value }) => ({
    group: text(group),
    name: (property ?? '').toUpperCase(),
    params: Object.fromEntries(
      Object.entries(params ?? {}).map(([key, list]) => [key.toUpperCase(), [...list]]),
    ),
    value: value ?? '',
  }));

type Normaliser = (value: never, country: string | null) => unknown;

const NORMALISERS: Record<CardField, Normaliser> = {
  kind: (value: ContactCard['kind'] | null) => value ?? 'individual',
  full_name: text,
  name,
  nicknames: texts,
  organization,
  job_title: text,
  emails,
  phones,
  addresses,
  urls: values,
  profiles,
  dates,
  notes: text,
  categories: (values) => labelsOf(texts(values)),
  related,
  members: (values) => [...new Set(texts(values).map(uidOf))],
  time_zone: text,
  language: text,
  custom,
} satisfies Record<CardField, Normaliser>;

const EMPTY: ContactCard = patchCard({ ...newCard() }, {} as ContactCard, null);
for (const value of Object.values(EMPTY)) Object.freeze(value);

/** A card without content. It is frozen, because all new cards start from the same object. */
export const emptyCard = (): Readonly<ContactCard> => Object.freeze(EMPTY);

/**
 * The card with these fields written, in its stored form: text trimmed, members complete, telephone numbers with their
 * international form. A full name that was derived from other fields follows them. Properties of `custom` with the parameters of a
 * value are removed with it.
 * @param patch validated fields; missing ones stay
 * @param country of telephone numbers without an international prefix
 */
export function patchCard(patch: CardPatch, before: ContactCard, country: string | null): ContactCard {
  const entries = CARD_FIELDS.map((field): [CardField, unknown] => {
    const value = patch[field];
    return [field, value === undefined ? before[field] : NORMALISERS[field](value as never, country)];
  });
  const card = Object.fromEntries(entries) as unknown as ContactCard;
  const isDerived = patch.full_name === undefined && before.full_name !== undefined && isDerivedName(before);
  if (card.full_name === null || isDerived) card.full_name = deriveName(card);
  card.custom = withoutStale(before, card);
  return card;
}

/** Fields in which two cards differ. */
export const differences = (before: ContactCard, after: ContactCard): CardField[] =>
  CARD_FIELDS.filter((field) => !isDeepStrictEqual(before[field], after[field]));
