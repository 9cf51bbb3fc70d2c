import * as fc from 'fast-check';
import {
  type Card,
  type CardResult,
  countCards,
  readCard,
  readCards,
  VcardError,
  writeCard,
} from '../../../src/lib/vcard/index.js';
import { anyCard, chunksOf, comparable } from './cards.ts';
import { runs, SHARE } from '../../support/property-runs.ts';

/** All results; the error of a file without cards is the last one. */
async function collect(content: Uint8Array, size: number, cardBytes = 4_000_000): Promise<CardResult[]> {
  const results: CardResult[] = [];
  try {
    for await (const result of readCards(chunksOf(content, size), { cardBytes })) results.push(result);
  } catch (error) {
    if (!(error instanceof VcardError)) throw error;
    results.push({ index: results.length, error });
  }
  return results;
}

const codes = (results: CardResult[]): string[] =>
  results.map((result) =>
    'error' in result ? result.error.code : result.isUnfinished ? 'unfinished card' : 'card',
  );

/** Lines that look like vCards, complete and broken. */
const token = fc.constantFrom(
  'BEGIN:VCARD\r\n',
  'END:VCARD\r\n',
  'END:VCARD',
  'VERSION:2.1\n',
  'VERSION:4.0\r\n',
  'AGENT:\n',
  'AGENT:BEGIN:VCARD\n',
  'FN:Ann\r\n',
  'N;CHARSET=SHIFT_JIS;ENCODING=QUOTED-PRINTABLE:=83=41=\r\n',
  'NOTE;ENCODING=QUOTED-PRINTABLE:=C3=A9=\n',
  'PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQ\r\n AAAA\r\n',
  'PHOTO;BASE64:/9j/4AAQ\n',
  'AAAA\n',
  'item1.TEL;TYPE="work,voice":+1\n',
  'item1.X-ABLabel:_$!<Home>!$_\r\n',
  'BDAY;X-APPLE-OMIT-YEAR=1604:1604-02-29\n',
  'X-ANDROID-CUSTOM:vnd.android.cursor.item/relation;Jo;0;Aunt;\n',
  'ADR;LABEL="a:b;c:;;;\n',
  ' folded\r\n',
  '\t',
  ';',
  ':',
  '=',
  '"',
  '\\',
  '\u0000',
  '\r',
  '\ufeff',
);
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 2000 }),
  fc.array(fc.oneof(token, fc.string()), { maxLength: 40 }).map((tokens) => Buffer.from(tokens.join(''))),
  fc
    .array(
      fc.oneof(
        token.map((text) => Buffer.from(text)),
        fc.uint8Array({ maxLength: 20 }),
      ),
      { maxLength: 40 },
    )
    .map((parts) => Buffer.concat([Buffer.from('BEGIN:VCARD\r\n'), ...parts, Buffer.from('\r\nEND:VCARD')])),
);

describe('joined files', () => {
  const MARK = '\ufeff';
  const card = (name: string): string => `BEGIN:VCARD\r\nVERSION:3.0\r\nFN:${name}\r\nEND:VCARD`;
  const names = async (content: Buffer, size: number) =>
    (await collect(content, size)).map((result) => ('card' in result ? result.card.full_name : result.error));

  test.each([
    ['with a byte order mark each', `${MARK}${card('A')}\r\n${MARK}${card('B')}\r\n${MARK}${card('C')}`],
    [
      'without a line end before the mark',
      `${MARK}${card('A')}${MARK}${card('B')}${MARK}${MARK}${card('C')}`,
    ],
    ['without END', `${card('A').replace('END:VCARD', '')}${MARK}${card('B')}\n${MARK} \t${card('C')}`],
  ])('%s', async (_, text) => {
    for (const size of [1, 7, 10_000]) {
      expect(await names(Buffer.from(text), size)).toEqual(['A', 'B', 'C']);
      expect(await countCards(chunksOf(Buffer.from(text), size))).toBe(3);
    }
    const utf16 = Buffer.from(text.startsWith(MARK) ? text : MARK + text, 'utf16le');
    expect(await names(utf16, 7)).toEqual(['A', 'B', 'C']);
  });

  it('a card alone may begin with a mark', () => {
    expect(readCard(`${MARK}${card('A')}`).full_name).toBe('A');
  });
});

/** A card without names of more components than version 3.0 has. */
const withoutFurtherParts = (card: Card): Card => ({
  ...card,
  custom: card.custom.filter(({ name, value }) => name !== 'N' || value.split(/(?<!\\);/).length <= 5),
});

describe('any input', () => {
  it('gives cards or typed errors, the same in any chunks, and each card can be written and read again', async () => {
    await fc.assert(
      fc.asyncProperty(anyBytes, fc.integer({ min: 1, max: 100 }), async (content, size) => {
        const results = await collect(content, size);
        const whole = await collect(content, content.length + 1);
        expect(results.length).toBeGreaterThan(0);
        expect(codes(results)).toEqual(codes(whole));
        for (const [at, result] of results.entries()) {
          if (!('card' in result)) continue;
          expect(comparable(result.card)).toEqual(
            comparable((whole[at] as { card: typeof result.card }).card),
          );
          const again = readCard(writeCard(result.card, { version: '4.0' }));
          expect(comparable(readCard(writeCard(again, { version: '3.0' })))).toEqual(
            comparable(withoutFurtherParts(again)),
          );
        }
      }),
      {
        numRuns: runs(1000),
        examples: [
          // A second birthday, which is no date.
          [
            Buffer.from(
              'BEGIN:VCARD\r\nBDAY;X-APPLE-OMIT-YEAR=1604:1604-02-29\n\tx\r\nBDAY:1604-02-29\r\nEND:VCARD',
            ),
            1,
          ],
          // A control character inside a nested card.
          [Buffer.from('BEGIN:VCARD\r\nAGENT:BEGIN:VCARD\n\0BEGIN:VCARD\r\nEND:VCARD\r\n\r\nEND:VCARD'), 1],
        ],
      },
    );
  });

  it('skips a card over the limit and reads the ones around it', async () => {
    await fc.assert(
      fc.asyncProperty(anyCard, fc.integer({ min: 1, max: 5000 }), async (card, size) => {
        const small = 'BEGIN:VCARD\nFN:Ann\nEND:VCARD\n';
        const text = writeCard({ ...card, notes: 'x'.repeat(3000) }, { version: '4.0' });
        const results = await collect(Buffer.from(small + text + small), size, 2000);
        expect(codes(results)).toEqual(['card', 'card_too_large', 'card']);
      }),
      { numRuns: runs(50) },
    );
  });

  it.each([
    ['no byte', '', ['no_card']],
    ['no card', 'hello\nFN:Ann\n', ['no_card']],
    ['a card without content', 'BEGIN:VCARD\nVERSION:3.0\nEND:VCARD', ['empty_card']],
    ['an unknown version', 'BEGIN:VCARD\nVERSION:9\nFN:A\nEND:VCARD', ['unsupported_version']],
    ['a missing end', 'BEGIN:VCARD\nFN:A\n', ['unfinished card']],
    ['a cut line', 'BEGIN:VCARD\nFN:A\nTEL;TY', ['unfinished card']],
    ['a missing end of an empty card', 'BEGIN:VCARD\nFN:A\nEND:VCARD\nBEGIN:VC', ['card']],
    ['a repeated beginning', 'BEGIN:VCARD\nBEGIN:VCARD\nFN:A\nEND:VCARD', ['empty_card', 'card']],
    [
      'a missing end in the middle',
      'BEGIN:VCARD\nFN:A\nBEGIN:VCARD\nFN:B\nEND:VCARD',
      ['unfinished card', 'card'],
    ],
    [
      'a missing end of an agent',
      'BEGIN:VCARD\nFN:A\nAGENT:\nBEGIN:VCARD\nFN:B\nEND:VCARD',
      ['unfinished card'],
    ],
    [
      'text between cards',
      'x\nBEGIN:VCARD\nFN:A\nEND:VCARD\nx\nBEGIN:VCARD\nFN:B\nEND:VCARD',
      ['card', 'card'],
    ],
  ])('%s: %j', async (_, text, expected) => {
    expect(codes(await collect(Buffer.from(text), 7))).toEqual(expected);
  });

  it('reads what a card without END:VCARD has, but not where it would replace another card', async () => {
    const text = 'BEGIN:VCARD\nVERSION:3.0\nFN:Ann\nTEL:+1 555 0100\n';
    const [result] = await collect(Buffer.from(text), 7);
    expect(result).toMatchObject({ card: { full_name: 'Ann', phones: [{ value: '+1 555 0100' }] } });
    expect(() => readCard(text)).toThrow(expect.objectContaining({ code: 'unfinished_card' }));
  });

  // Cards of almost the maximum length: a reader of quadratic time needs hours for one, longer than the time limit of a test.
  it('reads or rejects cards of the greatest length', () => {
    const card = (line: string): string => `BEGIN:VCARD\nVERSION:3.0\nFN:A\n${line}\nEND:VCARD\n`;
    const numbers = Array.from({ length: 400_000 }, (_, n) => n);
    expect(readCard(card(`CATEGORIES:${numbers.join()}`)).categories).toHaveLength(400_000);
    expect(readCard(card(`PHOTO:data:image/png${';'.repeat(4_000_000)}base64,AAAA`)).photo).toEqual({
      media_type: 'image/png',
      data: Buffer.alloc(3),
    });
    expect(readCard(card('X:1\n'.repeat(9_990))).custom).toHaveLength(9_990);
    const tooMany = [
      'X:1\n'.repeat(500_000),
      ...[';TYPE=a', ';a', ',a'].map((unit) => `TEL;X=1${unit.repeat(500_000)}:1`),
    ];
    for (const line of tooMany)
      expect(() => readCard(card(line))).toThrow(
        expect.objectContaining({ name: 'VcardError', code: 'card_too_large' }),
      );
  });

  // A quarter of the greatest length; all of it in a thorough search.
  it('reads values that end with many separators, escapes and soft line breaks', async () => {
    const length = 3_900_000 * Math.min(SHARE * 2.5, 1);
    const fill = (unit: string): string => unit.repeat(Math.floor(length / unit.length));
    const hostile = [
      `N:${fill(';')}`,
      `NOTE:${fill('\\')}`,
      `NOTE;ENCODING=QUOTED-PRINTABLE:${fill('=\n')}`,
      `TEL${fill(';TYPE=a')}:1`,
      `TEL;X="${fill('"')}:1`,
      `FN:a\n${fill(' b\n')}`,
      `NOTE:${fill(' ')}x`,
      `NICKNAME;TYPE=work:${fill('a,')}`,
      `N:${fill(',')};a`,
      ...['NOTE;X-A=1', 'a.TEL', 'CATEGORIES;X-A=1'].map((name) => `${name}:1\n`.repeat(9_000)),
      `TEL:${fill(' ')}x`,
      `TEL:x${fill(' ext. ')}`,
      `PHOTO:data:${fill(';a')}`,
      fill('AGENT:BEGIN:VCARD\n'),
      fill('item1.X-ABLabel:a\nitem1.TEL:1\n'),
      fill('ADR;HOME:;;a\nLABEL;HOME:b\n'),
      `NOTE:a\n${fill('word\n x\n')}`,
      `NOTE:a\nword\n${fill(' x\n')}`,
    ];
    for (const content of hostile) {
      const results = await collect(Buffer.from(`BEGIN:VCARD\nFN:A\n${content}\nEND:VCARD\n`), 65_536);
      expect(results).toHaveLength(1);
    }
  });
});
