import fc from 'fast-check';
import { hasVisibleCharacter } from '../../../src/lib/text/index.js';
import { SearchQuery } from '../../../src/lib/search-text/index.js';
import type { TestUser } from '../../support/app.ts';
import { NoteSearch } from '../../support/domains/note-search.ts';
import { runs } from '../../support/property-runs.ts';

describe('the words that a search finds', () => {
  let world: NoteSearch;
  beforeAll(async () => {
    world = await NoteSearch.start();
  });
  afterAll(() => world?.app.stop());

  describe('words', () => {
    let alice: TestUser;
    const NOTES: Record<string, string> = {
      cafe: '<p>Réunion au Café de l’École, à Besançon</p>',
      plans: '<h1>Planning</h1><p>the quarterly plan for <b>Zür</b>ich</p>',
      tokyo: '<p>東京都庁で会議をする。関東の天気</p>',
      kyoto: '<p>東京と京都の庁舎</p>',
      korean: '<p>한국어로 검색하기</p>',
      thai: '<p>ภาษาไทยไม่มีช่องว่าง</p>',
      arabic: '<p>مُحَمَّد في المدرسة، أحمد</p>',
      viet: '<p>Tiếng Việt: Đà Nẵng đẹp</p>',
      russian: '<p>Зелёная ёлка</p>',
      party: '<p>see you 🎉 tonight 👍🏽</p>',
      code: '<pre><code>const user_name = a &amp;&amp; b; C++</code></pre>',
      empty: '',
    };

    beforeAll(async () => {
      [alice] = await world.people('alice');
      for (const [title, content] of Object.entries(NOTES)) await world.make(alice, title, content);
      await world.indexed();
    });

    test.each([
      ['cafe', ['cafe']],
      ['CAFÉ', ['cafe']],
      ['ecole besancon', ['cafe']],
      ['Cafe\u0301', ['cafe']],
      ['cafe zurich', []],
      ['zurich', ['plans']],
      ['plan', ['plans']],
      ['qua', ['plans']],
      ['quarterlyx', []],
      ['qu', ['plans']],
      ['東', ['kyoto', 'tokyo']],
      ['庁', ['kyoto', 'tokyo']],
      ['気', ['tokyo']],
      ['東京', ['kyoto', 'tokyo']],
      ['京都', ['kyoto', 'tokyo']],
      ['東京都', ['tokyo']],
      ['東京都庁', ['tokyo']],
      ['会議 関東', ['tokyo']],
      ['東都', []],
      ['한', ['korean']],
      ['국어', ['korean']],
      ['검색하기', ['korean']],
      ['ไทย', ['thai']],
      ['محمد', ['arabic']],
      ['احمد المدرسه', ['arabic']],
      ['tieng viet', ['viet']],
      ['ĐÀ NẴNG', ['viet']],
      ['da nang', ['viet']],
      ['зеленая', ['russian']],
      ['ЁЛКА', ['russian']],
      ['🎉', ['party']],
      ['👍', ['party']],
      ['🎈', []],
      ['user_name', ['code']],
      ['C++', ['code']],
      ['strong', []],
      ['amp', []],
      ['empty', ['empty']],
    ])('%s', async (q, expected) => {
      expect(await world.titles(alice, q)).toEqual(expected);
    });

    test.each(['&|!():*', "'", '"', '\\', '<->', '——', '🏽', '*', '%', '\u200d'])(
      'punctuation only: %s finds nothing',
      async (q) => {
        expect(await world.search(alice, q)).toEqual({ notes: [], total: 0, next: null, query: q });
      },
    );

    test.each(["cafe'", 'cafe & !', '(cafe', 'cafe:*', "'cafe' <->", 'cafe\\', 'cafe | '])(
      'operators are punctuation: %s',
      async (q) => {
        expect(await world.titles(alice, q)).toEqual(['cafe']);
      },
    );

    test.each(['', '%20%20', '%E3%80%80', 'x'.repeat(257), '%00', 'a&q=b'])('q=%s is rejected', async (q) => {
      const { status, body } = await alice.api.get(`/search/notes?q=${q}`);
      expect([status, body.error, body.details[0].field]).toEqual([422, 'validation_failed', 'q']);
    });

    test('q is needed', async () => {
      expect((await alice.api.get('/search/notes')).status).toBe(422);
    });

    test('a query may have 256 characters, of any kind', async () => {
      for (const q of ['東'.repeat(256), 'word '.repeat(51), '👍'.repeat(256), "'".repeat(256)])
        await world.search(alice, q);
    });

    test('more than twelve different words are rejected', async () => {
      const words = Array.from({ length: 13 }, (_, n) => `w${n}`);
      const path = (q: string) => `/search/notes?q=${encodeURIComponent(q)}`;
      const { status, body } = await alice.api.get(path(words.join(' ')));
      expect([status, body.error]).toEqual([422, 'validation_failed']);
      expect(body.details).toEqual([
        { field: 'q', code: 'too_many_words', message: 'q must have at most 12 different words' },
      ]);
      expect((await alice.api.get(path(words.slice(1).join(' ')))).status).toBe(200);
    });

    test('no query text makes it fail', async () => {
      const any = fc.oneof(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
        fc
          .array(
            fc.constantFrom(
              "'",
              '"',
              '\\',
              '&',
              '|',
              '!',
              ':*',
              '<->',
              '(',
              ')',
              '東京',
              '\u0001u',
              '\u0002',
              'é',
              '🇨🇭',
              ' ',
            ),
            { minLength: 1, maxLength: 20 },
          )
          .map((parts) => parts.join('')),
      );
      await fc.assert(
        fc.asyncProperty(any, async (text) => {
          const { status } = await alice.api.get(
            `/search/notes?q=${encodeURIComponent(text.toWellFormed())}`,
          );
          expect([200, 422]).toContain(status);
        }),
        { numRuns: runs(300) },
      );
    });

    test('a note of any text can be indexed and is found by each of its words', async () => {
      const [carol] = await world.people('carol');
      // Long texts have more words than a query may have; the short ones do not.
      const any = (maxLength: number) =>
        fc.oneof(
          fc.string({ unit: 'binary', minLength: 1, maxLength }),
          fc.string({ unit: 'grapheme', minLength: 1, maxLength }),
        );
      const texts = [any(60), any(12)]
        .flatMap((texts) => fc.sample(texts, { numRuns: 60, seed: 5 }))
        .map((text) => text.toWellFormed().replaceAll('\0', ''));
      for (const [n, text] of texts.entries())
        await world.make(
          carol,
          hasVisibleCharacter(text) ? text : '',
          `<p>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</p>`,
          {
            labels: [`n${n}`],
          },
        );
      await world.indexed();
      const [{ count }] = (await world.app.sql('SELECT count(*)::int FROM note_search WHERE tenant_id = $1', [
        carol.tenantId,
      ])) as [any];
      expect(count).toBe(texts.length);
      for (const [n, text] of texts.entries()) {
        if (!/[\p{L}\p{N}]/u.test(text) || SearchQuery.parse(text.slice(0, 200)).isTooLong) continue;
        const { notes } = await world.search(carol, text.slice(0, 200), `&label=n${n}`);
        expect([text, notes.length]).toEqual([
          text,
          /[\p{L}\p{N}]/u.test(text.normalize('NFKC')) ? 1 : notes.length,
        ]);
      }
    });
  });

  test('a pair of characters that is frequent in a long text still decides adjacency, and never hides a note', async () => {
    const [alice] = await world.people('alice');
    await world.make(alice, 'often', `<p>${'東京と'.repeat(100)}京都、東京都</p>`);
    await world.make(alice, 'very often', `<p>${'東京と'.repeat(400)}東京都</p>`);
    await world.make(alice, 'apart', `<p>${'東京と'.repeat(100)}京都</p>`);
    await world.indexed();
    expect(await world.titles(alice, '東京都')).toEqual(['often', 'very often']);
  });

  test('labels are found, before and after they are indexed, and no longer once removed', async () => {
    const [alice] = await world.people('alice');
    const { id } = await world.make(alice, 'plain', '<p>text</p>', {
      labels: ['Quartalsbericht', 'zwei Wörter'],
    });
    for (const q of ['quartalsbericht', 'worter', 'plain quartal'])
      expect(await world.titles(alice, q)).toEqual(['plain']);
    await world.indexed();
    for (const q of ['quartalsbericht', 'worter', 'plain quartal'])
      expect(await world.titles(alice, q)).toEqual(['plain']);
    await alice.api.patch(`/notes/${id}`, { labels: ['other'], base_revision: 1 });
    await world.indexed();
    expect([await world.titles(alice, 'quartalsbericht'), await world.titles(alice, 'other')]).toEqual([
      [],
      ['plain'],
    ]);
  });
});
