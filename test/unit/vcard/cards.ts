import * as fc from 'fast-check';
import { mailAddress } from '../../../src/lib/text/index.js';
import { type Card, CARD_KINDS, type CardEntry, newCard } from '../../../src/lib/vcard/index.js';

/** Arbitrary cards in the canonical form that the reader returns. */

/** A text with the characters that formats escape, fold or quote. */
const unit = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }) },
  { weight: 2, arbitrary: fc.constantFrom(';', ',', ':', '\\', '"', '^', '=', ' ', "'", 'n', '\\n', '.') },
  { weight: 1, arbitrary: fc.constantFrom('é', '漢', '👩‍👩‍👧', 'ß', '\u00A0x') },
);
const clean = (text: string): string =>
  text
    .replace(/(?![\t\n])\p{Cc}/gu, '')
    .toWellFormed()
    .trim();
const line = fc
  .oneof(
    { weight: 8, arbitrary: fc.array(unit, { minLength: 1, maxLength: 12 }) },
    { weight: 1, arbitrary: fc.array(unit, { minLength: 60, maxLength: 200 }) },
  )
  .map((units) => clean(units.join('').replace(/\s*[\r\n]+\s*/g, ' ')))
  .filter((text) => text !== '');
const lines = fc.array(line, { minLength: 1, maxLength: 4 }).map((texts) => texts.join('\n'));
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { freq: 2 });
const unique = (maxLength: number): fc.Arbitrary<string[]> => fc.uniqueArray(line, { maxLength });
const scheme = fc.constantFrom('https://example.com/', 'xmpp:', 'skype:', 'acct:', 'urn:x:');
const uri = fc.tuple(scheme, line).map(([prefix, rest]) => prefix + rest.replace(/^\s+/, ''));
const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 });

/** Adds types, label and the preference to entries. */
function entries<Fields extends object>(fields: fc.Arbitrary<Fields>): fc.Arbitrary<(Fields & CardEntry)[]> {
  const entry = fc.record({
    label: optional(line.filter((text) => !text.startsWith('_$!<'))),
    types: fc.uniqueArray(fc.constantFrom('home', 'work', 'cell', 'fax', 'voice', 'x-own'), { maxLength: 3 }),
  });
  return fc
    .tuple(fc.array(fc.tuple(entry, fields), { maxLength: 3 }), fc.nat(5))
    .map(([list, primary]) => list.map(([one, more], at) => ({ ...more, ...one, primary: at === primary })));
}

const someOf = <T extends object>(fields: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fields.filter((value) => Object.values(value).some((field) => field !== null));

const dates = fc
  .array(
    fc.record({
      type: fc.constantFrom('birthday', 'anniversary', 'other'),
      year: optional(fc.integer({ min: 1, max: 9999 })),
      month: optional(fc.integer({ min: 1, max: 12 })),
      day: optional(fc.integer({ min: 1, max: 28 })),
      label: optional(line.filter((text) => !text.startsWith('_$!<'))),
    }),
    { maxLength: 4 },
  )
  .map((list) => {
    const found = list
      .filter(
        ({ year, month, day }) => (month !== null || day === null || year === null) && (year ?? month ?? day),
      )
      .map((date) => ({ ...date, label: date.type === 'other' ? date.label : null }));
    // Equal dates are read once.
    return [...new Map(found.map((date) => [JSON.stringify(date), date])).values()];
  });

const name = someOf(
  fc.record({
    prefix: optional(line),
    given: optional(line),
    middle: optional(line),
    family: optional(line),
    suffix: optional(line),
    phonetic_given: optional(line),
    phonetic_family: optional(line),
  }),
);

const customs = fc.array(
  fc.record({
    group: optional(fc.constantFrom('item1', 'item2', 'G-7')),
    name: fc.constantFrom('X-FOO', 'X-BAR-2', 'GEO', 'ROLE', 'HOBBY', 'X-ABLABEL'),
    params: fc.dictionary(
      fc.constantFrom('X-A', 'TYPE', 'LANGUAGE'),
      fc.array(line, { minLength: 1, maxLength: 2 }),
      {
        noNullPrototype: true,
      },
    ),
    value: line,
  }),
  { maxLength: 3 },
);

export const anyCard: fc.Arbitrary<Card> = fc
  .record({
    uid: optional(
      fc.oneof(
        fc.uuid(),
        line.filter((text) => !/^urn:uuid:/i.test(text)),
      ),
    ),
    kind: fc.constantFrom(...CARD_KINDS),
    full_name: optional(line),
    name: optional(name),
    nicknames: unique(3),
    organization: optional(
      fc
        .record({ name: optional(line), units: fc.array(line, { maxLength: 2 }) })
        .filter(({ name: text, units }) => text !== null || units.length > 0),
    ),
    job_title: optional(line),
    emails: entries(fc.record({ value: line.filter((text) => mailAddress(text) === text) })),
    phones: entries(
      fc.record({
        value: line.filter((text) => !/^tel:|ext\.? ?\d*$|;ext=/i.test(text)),
        extension: optional(
          fc.oneof(
            fc.integer({ min: 0, max: 99999 }).map(String),
            fc.constantFrom('12345678901', '*12#', '100-2', 'room 7'),
          ),
        ),
      }),
    ),
    addresses: entries(
      someOf(
        fc.record({
          street: optional(lines),
          extended: optional(lines),
          po_box: optional(line),
          locality: optional(line),
          region: optional(line),
          postal_code: optional(line),
          country: optional(line),
          country_code: optional(fc.constantFrom('DE', 'CZ', 'JP')),
          formatted: optional(lines),
        }),
      ),
    ),
    urls: entries(fc.record({ value: line })),
    profiles: entries(
      fc
        .record({ service: optional(line), user: optional(line), uri: optional(uri) })
        .filter((profile) => profile.user !== null || profile.uri !== null),
    ),
    dates,
    notes: optional(lines),
    categories: unique(3),
    related: fc.array(
      fc
        .record({
          type: optional(fc.constantFrom('spouse', 'child', 'co-worker', 'domestic partner')),
          name: optional(line),
          uri: optional(uri),
        })
        .filter((related) => related.name !== null || related.uri !== null),
      { maxLength: 3 },
    ),
    members: fc.uniqueArray(fc.oneof(fc.uuid(), uri), { maxLength: 3 }),
    time_zone: optional(fc.constantFrom('Europe/Berlin', '-05:00')),
    language: optional(fc.constantFrom('de', 'pt-BR')),
    custom: customs,
    photo: optional(
      fc.oneof(
        fc.record({ media_type: optional(fc.constantFrom('image/jpeg', 'image/png')), data: bytes }),
        fc.record({ uri: fc.constant('https://example.com/a,b;c.jpg') }),
      ),
    ),
  })
  .map((fields) => newCard(fields as Partial<Card>))
  .filter((card) => JSON.stringify({ ...card, kind: 'individual' }) !== JSON.stringify(newCard()));

/** The card with bytes as base64, so that kinds of buffers compare as equal. */
export function comparable(card: Card): unknown {
  const { photo } = card;
  if (!photo || 'uri' in photo) return card;
  return { ...card, photo: { ...photo, data: Buffer.from(photo.data).toString('base64') } };
}

/** Chunks of a few bytes. */
export function* chunksOf(content: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}
