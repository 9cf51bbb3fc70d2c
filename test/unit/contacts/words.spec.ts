import fc from 'fast-check';
import {
  type CardPatch,
  contactWords,
  emptyCard,
  identityKeys,
  prefixRange,
  queryTerms,
  patchCard,
} from '../../../src/lib/contact-card/index.js';
import { runs } from '../../support/property-runs.ts';

const cardOf = (fields: CardPatch, country: string | null = 'CZ') => patchCard(fields, emptyCard(), country);

/** Whether a search finds the card: each term is the beginning of a word. */
function finds(query: string, fields: CardPatch, country: string | null = 'CZ'): boolean {
  const words = contactWords(cardOf(fields, country));
  const terms = queryTerms(query);
  return terms.length > 0 && terms.every((term) => words.some((word) => word.startsWith(term)));
}

const entry = { label: null, types: [], primary: false };
const phone = (value: string) => ({ phones: [{ ...entry, value, e164: null, extension: null }] });
const email = (value: string) => ({ emails: [{ ...entry, value }] });

describe('the words of a contact', () => {
  test.each<[query: string, fields: CardPatch]>([
    // The beginning of any word, in any order.
    ['ang', { full_name: 'José Ångström' }],
    ['ÅNG jos', { full_name: 'José Ångström' }],
    ['brien', { full_name: 'O’Brien-Smith' }],
    ...[
      'O’Brien',
      "O'Brien",
      'OʼBrien',
      'O´Brien',
      'O`Brien',
      'O‘Brien-Smith',
      "D'Arcy-O'Brien",
      'Anne O’Brien',
    ].flatMap((full_name): [string, CardPatch][] =>
      ['obrien', 'OBri', 'o brien', "o'brien", 'o’brien', 'oʼbrien', 'o-brien'].map((query) => [
        query,
        { full_name },
      ]),
    ),
    ['obriensm', { full_name: 'Pat O’Brien‐Smith' }],
    ['annemarie', { full_name: 'Anne-Marie' }],
    ['anne marie', { full_name: 'Anne-Marie' }],
    ['anne‑marie', { full_name: 'Anne-Marie' }],
    ['jeanluc', { full_name: 'A', nicknames: ['Jean‐Luc'] }],
    ['пять', { full_name: 'Пʼять' }],
    ['obi', { full_name: 'A', nicknames: ['Obi'] }],
    ['resea', { full_name: 'A', organization: { name: 'X', units: ['Research & Care'] } }],
    ['surg', { full_name: 'A', job_title: 'Chief surgeon' }],
    // Folded accents and letters.
    ['zdenek', { full_name: 'Zdeněk' }],
    ['ZDENĚK', { full_name: 'zdenek' }],
    ['strasse', { full_name: 'Straße' }],
    ['lodz', { full_name: 'Łódź' }],
    ['ｊｏ', { full_name: 'Jo' }],
    ['Andre\u0301', { full_name: 'André' }],
    // Scripts without spaces: any part.
    ['小明', { full_name: '王小明' }],
    ['タロウ', { full_name: '山田タロウ' }],
    ['민수', { full_name: '김민수' }],
    ['ดี', { full_name: 'สมชายใจดี' }],
    ['ива', { full_name: 'Владимир Иванов' }],
    ['احمد', { full_name: 'محمد أحمد' }],
    // E-mail addresses: from their beginning, and by their words.
    ['maria.silva@ex', email('Maria.Silva@Example.com')],
    ['silva', email('Maria.Silva@Example.com')],
    ['exam', email('Maria.Silva@Example.com')],
    // Digits of numbers: international, national, as written, the last ones.
    ['+420 601', phone('601 123 456')],
    ['00420601123', phone('601 123 456')],
    ['601-123', phone('601 123 456')],
    ['0601', phone('601 123 456')],
    ['1123456', phone('601 123 456')],
    ['3456', phone('601 123 456')],
    ['２０１', phone('２０１ 555')],
  ])('%s finds %j', (query, fields) => expect(finds(query, fields)).toBe(true));

  test.each<[query: string, fields: CardPatch]>([
    ['annb', { full_name: 'Ann Brown' }],
    ['annb', { full_name: 'Ann, Brown' }],
    ['annb', { full_name: 'Ann - Brown' }],
    ['ngstrom', { full_name: 'Ångström' }],
    ['jose smith', { full_name: 'José Ångström' }],
    ['silva@ex', email('maria.silva@example.com')],
    ['2345', phone('601 123 456')],
    ['=', { full_name: 'A' }],
    ['', { full_name: 'A' }],
  ])('%j does not find %j', (query, fields) => expect(finds(query, fields)).toBe(false));

  test('a prefix of each word of a name finds it, in any script, and is in the range that the index reads', () => {
    const word = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
      .filter((text) => /^[\p{L}\p{M}]+$/u.test(text) && /\p{L}/u.test(text));
    let found = 0;
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), fc.nat(), (names, at) => {
        const fields = { full_name: names.join(' ') };
        const name = names[at % names.length] as string;
        const [term] = queryTerms(name);
        fc.pre(term !== undefined);
        expect([name, finds(name, fields)]).toEqual([name, true]);
        const [from, to] = prefixRange([term]);
        const inRange = contactWords(cardOf(fields)).filter((each) => each >= from && each < to);
        expect(inRange.length).toBeGreaterThan(0);
        found += 1;
      }),
      { numRuns: runs(300) },
    );
    expect(found).toBeGreaterThan((runs(300) * 2) / 3);
  });

  test('any text and any query are handled; there are at most 250 words', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 3000 }),
        fc.string({ unit: 'binary' }),
        (text, query) => {
          const words = contactWords(
            cardOf({ full_name: text, notes: text, ...email(text), ...phone(text) }),
          );
          expect(words.length).toBeLessThanOrEqual(250);
          expect(new Set(words).size).toBe(words.length);
          expect(queryTerms(query).length).toBeLessThanOrEqual(6);
        },
      ),
    );
  });

  test('words and keys are whole characters', () => {
    // Letters of two UTF-16 units before and after the length at which keys are cut.
    const name = `ab ${['𠀀', '𠀁', '𠀂'].map((letter) => letter.repeat(64)).join(' ')}`;
    for (const word of [
      ...identityKeys(cardOf({ full_name: name })),
      ...contactWords(cardOf({ full_name: name })),
    ])
      expect([word, word.isWellFormed()]).toEqual([word, true]);
    for (const term of queryTerms(`a@b${'𠀀'.repeat(300)}`)) expect(term.isWellFormed()).toBe(true);
  });

  test('two cards share a key by e-mail address, number or name in any order', () => {
    const shared = (one: CardPatch, other: CardPatch) => {
      const keys = new Set(identityKeys(cardOf(one)));
      return identityKeys(cardOf(other)).filter((key) => keys.has(key));
    };
    expect(shared(email('A@x.example'), email('a@X.example'))).toContain('a@x.example');
    expect(shared(phone('601 123 456'), phone('+420601123456'))).toContain('+420601123456');
    expect(shared({ full_name: 'Nová Jana' }, { full_name: 'JANA NOVA' })).toEqual(['=jana nova']);
    expect(shared({ full_name: 'Jan Nový' }, { full_name: 'Jana Nová' })).toEqual([]);
  });
});
