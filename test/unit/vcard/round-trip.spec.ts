import * as fc from 'fast-check';
import {
  CARD_VERSIONS,
  type CardResult,
  newCard,
  readCard,
  readCards,
  writeCard,
} from '../../../src/lib/vcard/index.js';
import { anyCard, chunksOf, comparable } from './cards.ts';
import { runs } from '../../support/property-runs.ts';

async function collect(content: Uint8Array, size = 65_536): Promise<CardResult[]> {
  const results: CardResult[] = [];
  for await (const result of readCards(chunksOf(content, size))) results.push(result);
  return results;
}

describe.each(CARD_VERSIONS)('vCard %s', (version) => {
  it('reads the card that it wrote', () => {
    fc.assert(
      fc.property(anyCard, (card) => {
        expect(comparable(readCard(writeCard(card, { version })))).toEqual(comparable(card));
      }),
      { numRuns: runs(400) },
    );
  });

  it('writes lines of at most 75 bytes that end with CRLF, each valid UTF-8', () => {
    fc.assert(
      fc.property(anyCard, (card) => {
        const text = writeCard(card, { version, prodId: '-//Test//EN', revised: new Date(0) });
        expect(text.endsWith('END:VCARD\r\n')).toBe(true);
        for (const line of text.slice(0, -2).split('\r\n')) {
          expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
          expect(line).not.toMatch(/[\r\n]/);
          expect(line.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  it('writes the time of the last change in the form of its version', () => {
    const text = writeCard(newCard({ full_name: 'Maria' }), {
      version,
      revised: new Date('2026-03-02T09:05:07.5Z'),
    });
    expect(text).toContain(
      version === '4.0' ? '\r\nREV:20260302T090507Z\r\n' : '\r\nREV:2026-03-02T09:05:07Z\r\n',
    );
  });

  it('writes a line break in a URI into its line', () => {
    const uri = 'https://example.com\nEND:VCARD\r\nBEGIN:VCARD\rNOTE:x';
    const entry = { label: null, types: [], primary: false };
    const card = newCard({
      full_name: 'Maria',
      urls: [{ ...entry, value: uri }],
      profiles: [uri, `xmpp:${uri}`].map((each) => ({ ...entry, service: 'Example', user: null, uri: each })),
      related: [{ type: null, name: null, uri }],
      photo: { uri },
    });
    const text = writeCard(card, { version });
    expect(text.match(/^(?:BEGIN|END|NOTE):/gm)).toEqual(['BEGIN:', 'END:']);
    expect(readCard(text).urls[0]?.value).toBe('https://example.com END:VCARD BEGIN:VCARD NOTE:x');
  });

  it('keeps further names and birthdays', () => {
    const texts = [
      ['FN:Maria', 'FN;LANGUAGE=jp:マリア'],
      ['N;ALTID=1;LANGUAGE=jp:山田;太郎;;;', 'N;ALTID=1;LANGUAGE=en:Yamada;Taro;;;'],
      ['BDAY;ALTID=1:19850412', 'BDAY;ALTID=1;VALUE=text:about 1985'],
    ];
    for (const lines of texts) {
      const given = ['BEGIN:VCARD', 'VERSION:4.0', ...lines, 'END:VCARD', ''].join('\r\n');
      // The first reading adds the FN that a card has to have.
      const card = readCard(writeCard(readCard(given), { version: '4.0' }));
      expect(card.custom.length).toBeGreaterThan(0);
      const text = writeCard(card, { version });
      expect(comparable(readCard(text))).toEqual(comparable(card));
      const [name] = lines[0]!.split(/[;:]/);
      const written = text
        .split('\r\n')
        .filter((line) => line.startsWith(name!) && /^[;:]/.test(line.slice(name!.length)));
      expect(written).toHaveLength(version === '4.0' ? 2 : 1);
    }
  });

  it('keeps a further anniversary, which version 3.0 has no property for', () => {
    const lines = ['FN:Maria', 'ANNIVERSARY;ALTID=1:20100612', 'ANNIVERSARY;ALTID=1;VALUE=text:in June'];
    const given = ['BEGIN:VCARD', 'VERSION:4.0', ...lines, 'END:VCARD', ''].join('\r\n');
    const card = readCard(writeCard(readCard(given), { version: '4.0' }));
    const { custom, dates } = readCard(writeCard(card, { version }));
    expect(dates).toMatchObject([{ type: 'anniversary', year: 2010 }]);
    expect(custom).toContainEqual(expect.objectContaining({ name: 'ANNIVERSARY', value: 'in June' }));
  });

  it('a program that deletes the birthday deletes the further ones too', () => {
    const lines = ['FN:Maria', 'BDAY;ALTID=1:19850412', 'BDAY;ALTID=1:19850413'];
    const given = ['BEGIN:VCARD', 'VERSION:4.0', ...lines, 'END:VCARD', ''].join('\r\n');
    const text = writeCard(readCard(given), { version });
    // Programs keep properties that they do not know.
    for (const rest of ['', 'BDAY:\r\n']) {
      const edited = text.replaceAll(/^BDAY[;:].*\r\n/gm, rest);
      expect(readCard(edited)).toMatchObject({ dates: [], custom: [] });
    }
  });

  it('reads a text that is folded before BEGIN:VCARD', async () => {
    for (let length = 60; length < 80; length += 1) {
      const card = newCard({ full_name: 'Maria', notes: `${'x'.repeat(length)}BEGIN:VCARD` });
      const file = Buffer.from(writeCard(card, { version }).repeat(2));
      expect(await collect(file)).toEqual([0, 1].map((index) => ({ index, card })));
    }
  });

  it('reads a file in any chunks, in UTF-8 and UTF-16, with any line ends', async () => {
    const encodings: ((text: string) => Buffer)[] = [
      (text) => Buffer.from(text),
      (text) => Buffer.from(`\uFEFF${text}`),
      (text) => Buffer.from(`\uFEFF${text}`, 'utf16le'),
      (text) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16(),
      (text) => Buffer.from(text.replaceAll('\r\n', '\n')),
      (text) => Buffer.from(text.replaceAll('\r\n', '\r')),
      (text) => Buffer.from(text.replaceAll('END:VCARD\r\n', 'END:VCARD')),
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyCard, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 300 }),
        fc.constantFrom(...encodings),
        async (cards, size, encode) => {
          const file = encode(cards.map((card) => writeCard(card, { version })).join(''));
          const results = await collect(file, size);
          expect(
            results.map((result) => ('card' in result ? comparable(result.card) : result.error)),
          ).toEqual(cards.map(comparable));
          expect(results.map(({ index }) => index)).toEqual(cards.map((_, index) => index));
        },
      ),
      { numRuns: runs(150) },
    );
  });
});
