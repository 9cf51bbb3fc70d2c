import fc from 'fast-check';
import { SearchVector, vectorOf } from '../../../src/lib/search-text/index-document.js';
import { SearchQuery } from '../../../src/lib/search-text/search-query.js';
import { runs } from '../../support/property-runs.ts';

const READER = '01890a5d-ac96-774b-bcce-b302099a8057';

const vector = (text: string, readers: string[] = []): string => {
  const made = new SearchVector(readers);
  made.add(text, 'D');
  return made.toString();
};

test('digits are found in any script; a query with other digits also finds documents that keep them', () => {
  const query = (text: string) => SearchQuery.parse(text).match;
  expect(vector('٢٠٤٨ २०४८ ２０४८ ห้อง๒๐๔๘ غرفة٧')).toMatch(/^'2048':9,10,11,16 .*'غرفه7':17$/);
  expect(query('2048')).toBe("'2048':*");
  expect(query('٢٠٤٨ x')).toBe("('2048':* & 'x' | '٢٠٤٨':* & 'x')");
  expect(query('๑๐')).toBe("('10':* | '๑๐')");
  expect(SearchQuery.parse('٢٠٤٨').rank).toBe("'2048' | '2048':* | '٢٠٤٨' | '٢٠٤٨':*");
  const many = SearchQuery.parse('١ ٢ ٣ ٤ ٥ ٦ ٧ ٨ ٩ ١٠ ١١ ١٢');
  expect([many.isTooLong, many.terms.length]).toEqual([false, 12]);
});

describe('the vector of a document', () => {
  test('contains words with their positions, those of the title with weight A', () => {
    const made = new SearchVector([READER]);
    made.add('Big plan', 'A');
    made.add('a plan', 'D');
    expect(made.toString()).toBe(`'\u0001u${READER}' 'big':9A 'plan':10A,20 'a':19`);
  });

  test('contains words that apostrophes and hyphens join', () => {
    expect(vector("O'Brien")).toBe("'o':9 'brien':10 'obrien':11");
    expect(vector('OʼBrien-Smith x')).toBe("'o':9 'brien':10 'obrien':11 'smith':12 'obriensmith':13 'x':14");
    expect(vector('l’e-mail')).toBe("'l':9 'e':10 'le':11 'mail':12 'lemail':13");
    expect(vector('2026-01 a - b c-3 東-京 d--e')).not.toMatch(/'(?:202601|ab|c3|de)'/);
    expect(vector('a-'.repeat(20_000)).length).toBeLessThan(500);
  });

  test('contains the pairs of a run and its last character', () => {
    expect(vector('東京都')).toBe("'東京':9 '京都':10 '都':11");
  });

  test('keeps 20 positions of a word, 255 of a pair, and marks omitted ones', () => {
    expect(vector('x '.repeat(50))).toBe(`'x':${Array.from({ length: 20 }, (_, n) => n + 9).join(',')}`);
    const repeated = vector('東京 '.repeat(300));
    expect(repeated.split(' ')).toHaveLength(3);
    expect(repeated).toContain("'\u0002'");
    expect(vector('東京 '.repeat(255))).not.toContain("'\u0002'");
  });

  test('positions end at 16383, later words are kept', () => {
    const text = Array.from({ length: 20_000 }, (_, n) => `w${n}`).join(' ');
    const made = vector(text);
    expect(made).toContain("'w19999':16383");
    expect(Math.max(...[...made.matchAll(/:(\d+)/g)].map(([, n]) => Number(n)))).toBe(16_383);
    expect(vector(`${text} 東京都`)).toContain("'\u0002'");
  });

  test('stays below the limit of PostgreSQL, and always contains the readers', () => {
    const readers = Array.from({ length: 201 }, (_, n) => `reader-${n}`);
    const made = vector(Array.from({ length: 60_000 }, (_, n) => `${n}${'é'.repeat(20)}`).join(' '), readers);
    for (const reader of readers) expect(made).toContain(`'\u0001u${reader}'`);
    expect(Buffer.byteLength(made)).toBeLessThan(1_100_000);
  });

  test('does not block the event loop while 2 MB are read', async () => {
    const html = Array.from({ length: 150_000 }, (_, n) => `<p>mot${n % 5_000} été</p>`).join('');
    let turns = 0;
    let reading = true;
    const count = () => {
      turns += 1;
      if (reading) setImmediate(count);
    };
    setImmediate(count);
    await vectorOf({ readers: [READER], title: 'T', html });
    reading = false;
    expect(turns).toBeGreaterThan(40);
  });

  test('does not block the event loop for a body without markup and spaces', async () => {
    const made = await vectorOf({ readers: [READER], title: '', html: '東京都'.repeat(300_000) });
    expect(made).toContain("'東京':");
    expect(made).toContain("'\u0002'");
  });

  test('a word with inline markup inside is one word, words of two blocks are two', async () => {
    const made = await vectorOf({
      readers: [],
      title: '',
      html: '<p>H<b>ell</b>o</p><p>one</p>two<br>three&eacute;&amp;x',
    });
    expect(made).toBe("'hello':17 'one':18 'two':19 'threee':20 'x':21");
  });
});

describe('a query', () => {
  const match = (text: string) => SearchQuery.parse(text).match;

  test.each([
    ['plan', "'plan':*"],
    ['a plan', "'a' & 'plan':*"],
    ['my no', "'my' & 'no':*"],
    ['my no ', "'my' & 'no'"],
    ['Éa', "'ea':*"],
    ['東', "'東':*"],
    ['東京', "'東京'"],
    ['カ', "('か':* | 'カ':*)"],
    ['カー', "('かー' | 'カー')"],
    ['カナ か', "('かな' | 'かナ' | 'カな' | 'カナ') & ('か':* | 'カ':*)"],
    ['東京都庁', "('東京' <-> '京都' <-> '都庁' | '\u0002' & '東京' & '京都' & '都庁')"],
    ["rock & roll | !('x':*) <-> \\", "'rock':* & 'roll':* & 'x'"],
    ['one one ONE', "'one':*"],
  ])('%s', (text, expected) => {
    expect(match(text)).toBe(expected);
  });

  test('of punctuation only is empty', () => {
    for (const text of ['', '   ', "&|!():*<->'\\", '——', '\u200d'])
      expect(SearchQuery.parse(text).isEmpty).toBe(true);
  });

  test('has at most 12 terms, and a run at most 32 pairs', () => {
    const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n}`).join(' ');
    expect([12, 13, 40].map((count) => SearchQuery.parse(words(count)).isTooLong)).toEqual([
      false,
      true,
      true,
    ]);
    expect(SearchQuery.parse('again '.repeat(40)).isTooLong).toBe(false);
    expect(match([...'一二三四五六七八九十'].join('').repeat(20)).match(/<->/g)).toHaveLength(31);
  });

  test('contains the reader', () => {
    expect(SearchQuery.parse('x').readableBy(READER)).toBe(`'\u0001u${READER}' & 'x'`);
  });

  test('no text can contain a reader or end a lexeme', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary', maxLength: 256 }), fc.string({ maxLength: 256 })),
        (text) => {
          const lexeme = "'[\\p{L}\\p{N}\\p{M}\\p{RI}\\p{Extended_Pictographic}]+'";
          const { match: built, rank, isEmpty } = SearchQuery.parse(`${text}\u0001u${READER}'`);
          expect(isEmpty).toBe(false);
          const bare = (query: string) =>
            query.replaceAll("'\u0002'", '').replaceAll(new RegExp(lexeme, 'gu'), '').replaceAll(':*', '');
          expect(bare(built)).toMatch(/^[ &|()<>-]*$/);
          expect(bare(rank)).toMatch(/^[ |]*$/);
        },
      ),
      { numRuns: runs(500) },
    );
  });
});
