import fc from 'fast-check';
import { fold, pairs, spans } from '../../../src/lib/search-text/tokens.js';
import { runs } from '../../support/property-runs.ts';

const tokens = (text: string): string[] =>
  [...spans(text)].flatMap((span) => span.tokens.map((token) => token.text));
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
);

describe('the words of a text', () => {
  test.each([
    ['Plain words, in 2026!', ['plain', 'words', 'in', '2026']],
    ['snake_case e-mail a.b@c.de', ['snake', 'case', 'e', 'mail', 'a', 'b', 'c', 'de']],
    ['Café ÉCOLE Cafe\u0301', ['cafe', 'ecole', 'cafe']],
    ['Straße Ærø Łódź İstanbul ılık', ['strasse', 'aero', 'lodz', 'istanbul', 'ilik']],
    ['Tiếng Việt Đà Nẵng', ['tieng', 'viet', 'da', 'nang']],
    ['Ёлка чай', ['елка', 'чаи']],
    ['Σίσυφος ΣΊΣΥΦΟΣ', ['σισυφοσ', 'σισυφοσ']],
    ['مُحَمَّد أحمد العربيــة', ['محمد', 'احمد', 'العربيه']],
    ['שָׁלוֹם', ['שלום']],
    ['हिन्दी में', ['हिन्दी', 'में']],
    ['ＦＵＬＬ　ｗｉｄｔｈ ﬁne', ['full', 'width', 'fine']],
    ['k\u0331\u1810', ['k0']],
    ['٢٠٤٨ ۲۰۴۸ २०४८ ２０４８ \u{1e952}ab', ['2048', '2048', '2048', '2048', '2ab']],
    ['ห้อง๑๐', ['ห้อง', '10']],
    ['co\u200boper\ufeffat\u200ee \u200f\u200b x\u200b', ['cooperate', 'x']],
    ['ภาษา\u200bไทย', ['ภาษา', 'ไทย']],
    ['co\u00adoperate می\u200cخواهم', ['cooperate', 'ميخواهم']],
    ['東京都', ['東京都']],
    ['Windows10を使う', ['windows10', 'を使う']],
    ['ﾊﾞｽ', ['バス']],
    ['カ\u3099ス', ['ガス']],
    ['\u1112\u1161\u11ab', ['한']],
    ['㌔ ㎏', ['キロ', 'kg']],
    ['½ kg', ['1', '2', 'kg']],
    ['🎉 👍🏽 ❤️ 🇨🇭', ['🎉', '👍', '❤', '🇨🇭']],
    ['!!! ... ---', []],
    ['', []],
  ])('%s', (text, expected) => {
    expect(tokens(text)).toEqual(expected);
  });

  test('kana keep their voicing, Indic and Thai signs are kept', () => {
    expect(fold('が')).toBe('が');
    expect(fold('ばら')).not.toBe(fold('はら'));
    expect(fold('कि')).not.toBe(fold('कु'));
    expect(tokens('ที่')).toEqual(['ที่'.normalize('NFC')]);
  });

  test('scripts without spaces are runs, others words', () => {
    const kinds = (text: string) => [...spans(text)].flatMap((span) => span.tokens.map(({ kind }) => kind));
    for (const run of ['漢字', 'ひらがな', 'カタカナー', '한국어', 'ไทย', 'ລາວ', 'ខ្មែរ', 'မြန်မာ', '𠀋𠮷'])
      expect([run, kinds(run)]).toEqual([run, ['run']]);
    for (const word of ['word', 'слово', 'λόγος', 'عربي', 'शब्द', 'ቃል'])
      expect([word, kinds(word)]).toEqual([word, ['word']]);
  });

  test('pairs overlap, by code points', () => {
    expect(pairs('東京都')).toEqual(['東京', '京都']);
    expect(pairs('𠀋𠮷野')).toEqual(['𠀋𠮷', '𠮷野']);
    expect(pairs('東')).toEqual([]);
  });

  test('a word is cut at 64 code points', () => {
    expect(tokens('x'.repeat(500))).toEqual(['x'.repeat(64)]);
    expect(tokens('𝒳'.repeat(500))).toEqual(['x'.repeat(64)]);
    expect(tokens('𐌰'.repeat(500))).toEqual(['𐌰'.repeat(64)]);
  });

  test('spans are in order, within the text, and do not overlap', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        let at = 0;
        for (const { start, end, tokens: held } of spans(text)) {
          expect(start).toBeGreaterThanOrEqual(at);
          expect(end).toBeGreaterThan(start);
          expect(held.length).toBeGreaterThan(0);
          at = end;
        }
        expect(at).toBeLessThanOrEqual(text.length);
      }),
    );
  });

  test('a text has the same tokens alone, repeated, and after another one', () => {
    fc.assert(
      fc.property(anyText, anyText, (before, text) => {
        const alone = [...spans(text)];
        const moved = alone.map(({ start, end, ...held }) => ({
          start: start + before.length + 1,
          end: end + before.length + 1,
          ...held,
        }));
        expect([...spans(`${before} ${text}`)]).toEqual([...spans(before), ...moved]);
        expect([...spans(text)]).toEqual(alone);
      }),
    );
  });

  test('words with the same place in the cache are not confused', () => {
    // More words than places.
    const words = Array.from({ length: 20_000 }, (_, n) => `w${n}`);
    expect(tokens(words.join(' '))).toEqual(words);
    expect(tokens(words.join(' '))).toEqual(words);
  });

  test('an arrow with a strike-through is not an emoji, composed or not', () => {
    expect(tokens('\u21ae')).toEqual([]);
    expect(tokens('\u2194\u0338')).toEqual([]);
    expect(tokens('\u2194')).toEqual(['\u2194']);
  });

  test('case, width and composition do not matter', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(tokens(text.normalize('NFD'))).toEqual(tokens(text.normalize('NFC')));
        for (const token of tokens(text)) expect(fold(token)).toBe(token);
      }),
      { numRuns: runs(500) },
    );
  });

  test('no token contains syntax of PostgreSQL', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const token of tokens(text))
          expect(token).toMatch(/^[\p{L}\p{N}\p{M}\p{RI}\p{Extended_Pictographic}]+$/u);
      }),
      { numRuns: runs(500) },
    );
  });
});
