import fc from 'fast-check';
import { defaultTreeAdapter, html as names, parseFragment, type DefaultTreeAdapterTypes as P5 } from 'parse5';
import { beginningSnippet, highlight, snippet } from '../../../src/lib/search-text/highlight.js';
import { indexDocument } from '../../../src/lib/search-text/index-document.js';
import { textPieces } from '../../../src/lib/html/text.js';
import { SearchQuery } from '../../../src/lib/search-text/search-query.js';
import { runs } from '../../support/property-runs.ts';

const title = (text: string, q: string) => highlight(text, SearchQuery.parse(q));
const body = (html: string, q: string) => snippet(html, SearchQuery.parse(q)).html;

/** The text that a browser shows, and the elements that it creates. */
function shown(html: string): { text: string; marked: string[]; elements: string[] } {
  const found = { text: '', marked: [] as string[], elements: [] as string[] };
  const walk = (nodes: P5.ChildNode[]): string =>
    nodes
      .map((node) => {
        if ('value' in node) return node.value;
        if (!('tagName' in node)) return found.elements.push('comment') && '';
        found.elements.push(node.tagName + node.attrs.map(({ name }) => ` ${name}`).join(''));
        const text = walk(node.childNodes);
        if (node.tagName === 'mark') found.marked.push(text);
        return text;
      })
      .join('');
  found.text = walk(parseFragment(html).childNodes);
  return found;
}

describe('highlights', () => {
  test.each([
    ['Team offsite', 'OFFSITE', 'Team <mark>offsite</mark>'],
    ['Planning a plan', 'plan', '<mark>Planning</mark> a <mark>plan</mark>'],
    ['Le Café de l’École', 'ecole cafe', 'Le <mark>Café</mark> de l’<mark>École</mark>'],
    ['東京都庁と京都', '京都', '東<mark>京都</mark>庁と<mark>京都</mark>'],
    ['関東', '東', '関<mark>東</mark>'],
    ['ﾊﾞｽ停', 'バス', '<mark>ﾊﾞｽ停</mark>'],
    ['ｶﾞｽ', 'ガス', '<mark>ｶﾞｽ</mark>'],
    ['ひらがなとカタカナ', 'ヒラガナ', '<mark>ひらがな</mark>とカタカナ'],
    ['ひらがなとカタカナ', 'かたかな', 'ひらがなと<mark>カタカナ</mark>'],
    ['party 🎉 now', '🎉', 'party <mark>🎉</mark> now'],
    ['nothing here', 'absent', 'nothing here'],
    ['a <b> & "q" \'s', 'q', 'a &lt;b&gt; &amp; &quot;<mark>q</mark>&quot; &#39;s'],
    ['<mark>fake</mark>', 'fake', '&lt;mark&gt;<mark>fake</mark>&lt;/mark&gt;'],
  ])('title %s, query %s', (text, q, expected) => {
    expect(title(text, q)).toBe(expected);
  });

  test('the excerpt is text of the body around the match', () => {
    const filler = '<p>Lorem ipsum dolor sit amet, consectetur.</p>'.repeat(400);
    const html = `${filler}<p>Here is the <b>nee</b>dle &amp; more</p>${filler}`;
    const excerpt = body(html, 'needle');
    expect(excerpt).toContain('Here is the <mark>needle</mark> &amp; more');
    expect(excerpt).toMatch(/^….*…$/s);
    expect(shown(excerpt).text.length).toBeLessThan(300);
    expect(snippet(html, SearchQuery.parse('needle')).found).toBe(true);
  });

  test('is the part with the most terms', () => {
    const gap = ' word'.repeat(100);
    expect(body(`<p>alpha${gap} alpha beta${gap} beta</p>`, 'alpha beta')).toContain(
      '<mark>alpha</mark> <mark>beta</mark>',
    );
  });

  test('without a match it is the beginning', () => {
    expect(snippet('<p>One two</p><p>three</p>', SearchQuery.parse('absent'))).toEqual({
      html: 'One two three',
      found: false,
    });
    expect(body('', 'x')).toBe('');
    const long = body(`<p>${'word '.repeat(200)}</p>`, 'absent');
    expect(long).toMatch(/^word[\w ]+ word…$/);
  });

  test('the stored beginning of a body gives the same excerpt if the match is in it', async () => {
    const beginningOf = async (html: string) =>
      (await indexDocument({ readers: [], title: '', html })).beginning;
    const query = SearchQuery.parse('needle');
    const long = `<p>a &lt;<b>nee</b>dle</p>${'<p>some words</p>'.repeat(500)}`;
    const kept = await beginningOf(long);
    expect(kept).toMatch(/^a <needle some words [\w ]+…$/);
    expect(kept.length).toBeLessThanOrEqual(1_501);
    const { html, found } = beginningSnippet(kept, query);
    expect([found, html]).toEqual([true, expect.stringMatching(/^a &lt;<mark>needle<\/mark> some .*[^…]…$/)]);
    expect(beginningSnippet(kept, SearchQuery.parse('absent')).found).toBe(false);
    expect(await beginningOf('<p>One</p> <p>two</p>')).toBe('One two');
    expect(await beginningOf('<p>a</p>  <p>b\t\u00a0c</p>\n\n<p>d e</p>')).toBe('a b c d e');
    expect(beginningSnippet('One two', query)).toEqual({ html: 'One two', found: true });
  });

  test('attribute values, tags and character references are not searched as text', () => {
    const html =
      '<p><a href="https://secret.test/?a=b>c" title=\'secret > x\'>link</a> <img alt="secret" src=secret.png></p>';
    expect(snippet(html, SearchQuery.parse('secret')).found).toBe(false);
    expect(snippet('<p>AT&amp;T</p>', SearchQuery.parse('amp')).found).toBe(false);
    expect(body('<p>caf&eacute; &#x6771;&#20140;</p>', 'café 東京')).toBe(
      '<mark>café</mark> <mark>東京</mark>',
    );
  });

  test('contains no markup of the text, for any text and query', () => {
    const nasty = fc.oneof(
      fc.constantFrom(
        '<script>alert(1)</script>',
        '<img src=x onerror=alert(1)>',
        '&lt;b&gt;',
        '"><svg/onload=x>',
        '<!--',
        '</mark>',
        '&',
        '東京',
        'é',
        '\u0301',
        '👍🏽',
      ),
      fc.string({ maxLength: 12 }),
      fc.string({ unit: 'binary', maxLength: 12 }),
    );
    fc.assert(
      fc.property(fc.array(nasty, { maxLength: 12 }), fc.array(nasty, { maxLength: 3 }), (parts, words) => {
        const text = parts.join(' ').toWellFormed();
        const query = SearchQuery.parse(words.join(' ') || 'alert');
        for (const html of [
          highlight(text, query),
          snippet(text, query).html,
          snippet(escapedAgain(text), query).html,
        ]) {
          const { elements } = shown(html);
          expect(elements.filter((element) => element !== 'mark')).toEqual([]);
          expect(html.isWellFormed()).toBe(true);
        }
        const plain = text.replaceAll(/[\0\r]/g, '');
        expect(shown(highlight(plain, query)).text).toBe(plain);
      }),
      { numRuns: runs(1_000) },
    );
  });

  const escapedAgain = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
});

describe('the text of HTML', () => {
  const squeezed = (text: string) => text.replaceAll(/[\s\0]+/g, '');
  const text = (html: string) => squeezed([...textPieces(html)].join(''));

  test('is the text that a browser shows', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '<p>',
        '</p>',
        '<b>',
        '</b>',
        '<br>',
        '<br/>',
        '<a href="a>b">',
        "<a title='x > y'>",
        "<a title=it's>",
        '<a ="x>">',
        '<a b = "c>d" e>',
        '</a>',
        '<ul><li>',
        '</li></ul>',
        '<td>',
        '&amp;',
        '&lt;',
        '&#39;',
        '&#x41;',
        '&#0000000065;',
        '&eacute',
        '&notit;',
        '&nosuch;',
        '&',
        '<',
        '</',
        '< ',
        '<3',
        '>',
        '"',
        '=',
        'a=b',
        '<img alt="a>b" src=x/>',
        '<span/>',
        '</span attr=">">',
        'word',
        ' ',
        'é東',
      ),
      fc.string({ maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const html = pieces.join('');
        // Stored HTML has passed the policy: it has no raw text elements and no comments.
        fc.pre(!/<[!?]|<\/[^a-z]|<(?:script|style|xmp|textarea|title|iframe|noscript|plaintext)/i.test(html));
        const context = defaultTreeAdapter.createElement('div', names.NS.HTML, []);
        const { text: seen } = shownIn(context, html);
        expect(text(html)).toBe(squeezed(seen));
      }),
      { numRuns: runs(3_000) },
    );
  });

  const shownIn = (context: P5.Element, html: string) => {
    const collect = (nodes: P5.ChildNode[]): string =>
      nodes
        .map((node) => ('value' in node ? node.value : 'childNodes' in node ? collect(node.childNodes) : ''))
        .join('');
    return { text: collect(parseFragment(context, html, {}).childNodes) };
  };

  test('is split into pieces of limited length that together are the whole text', () => {
    const html = `<p>${'word '.repeat(100_000)}</p>${'<p>x</p>'.repeat(5_000)}${'漢'.repeat(200_000)}`;
    const pieces = [...textPieces(html)];
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(140_000);
    expect(squeezed(pieces.join(''))).toBe(
      `${'word'.repeat(100_000)}${'x'.repeat(5_000)}${'漢'.repeat(200_000)}`,
    );
    for (const piece of pieces) expect(piece).not.toMatch(/\b(?:wor|wo|w)$/);
  });
});
