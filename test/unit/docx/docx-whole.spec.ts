import { jest } from '@jest/globals';
import fc from 'fast-check';
import { DocxTooLargeError, writeDocx } from '../../../src/lib/docx/writer.js';
import { cleanHtml } from '../../../src/lib/html/clean.js';
import { nested, soup } from '../html/soup.ts';
import { violations } from './check-docx.ts';
import { all, child, convert, readDocx, source, textOf, val } from './read-docx.ts';
import { runs } from '../../support/property-runs.ts';

const RICH =
  '<h1>H</h1><p dir="rtl">שלום <b>x</b></p><ol start="3"><li>a<ul><li><input type="checkbox" checked> b</li></ul></li></ol>' +
  '<table><tr><th>1</th></tr><tr><td>2</td></tr></table><p><a href="https://x.test">l</a> 漢字' +
  '<img alt="i" src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="></p>';

describe('a document', () => {
  it('has its title, author and times', () => {
    const docx = convert(RICH, { title: 'The title' });
    const core = docx.part('docProps/core.xml');
    expect(child(core, 'dc:title')?.text).toBe('The title');
    expect(child(core, 'dc:creator')?.text).toBe('Alice Martin');
    expect(child(core, 'dcterms:created')?.text).toBe('2026-11-21T09:30:00Z');
    expect(child(core, 'dcterms:modified')?.text).toBe('2026-11-22T10:00:00Z');
    expect(violations(docx)).toEqual([]);
  });

  it('declares the type of each part', () => {
    const docx = convert(RICH);
    const types = docx.part('[Content_Types].xml').children.map(({ attributes }) => attributes);
    for (const path of Object.keys(docx.files).filter((path) => path !== '[Content_Types].xml')) {
      const known = types.some(
        ({ PartName, Extension }) => PartName === `/${path}` || path.endsWith(`.${Extension}`),
      );
      expect([path, known]).toEqual([path, true]);
    }
    for (const { PartName } of types) if (PartName) expect(docx.files[PartName.slice(1)]).toBeDefined();
  });

  it('begins with the title, unless the note begins with it', () => {
    expect(convert('<p>x</p>', { title: ' Plan ' }).lines).toEqual([
      ['Title', 'Plan'],
      [undefined, 'x'],
    ]);
    expect(convert('\n<h1>The <i>Plan</i></h1><p>x</p>', { title: 'The Plan' }).lines).toEqual([
      ['Heading1', 'The Plan'],
      [undefined, 'x'],
    ]);
  });

  it.each(['', ' \n ', '<p></p>', '<div></div>', '<table></table>', '<ul></ul>', '<img>', '<br>'])(
    'is valid when the note is %j',
    (html) => {
      const docx = convert(html);
      expect(violations(docx)).toEqual([]);
      expect(textOf(docx.body).trim()).toBe('');
    },
  );

  it('has the same bytes for the same note, at any time and in any time zone', () => {
    const first = Buffer.from(writeDocx(source(RICH, { title: 'T' })));
    const zone = process.env['TZ'];
    jest.useFakeTimers({ now: new Date('2031-05-05T05:05:05Z') });
    try {
      process.env['TZ'] = 'Asia/Tokyo';
      expect(Buffer.from(writeDocx(source(RICH, { title: 'T' }))).equals(first)).toBe(true);
    } finally {
      jest.useRealTimers();
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
    expect(Buffer.from(writeDocx(source(RICH, { title: 'U' }))).equals(first)).toBe(false);
  });

  it('is rejected above the size that programs can open', () => {
    const row = `<tr>${'<td rowspan="1000">'.repeat(62)}`;
    expect(() =>
      writeDocx(
        source(
          `<table>${row}${'<tr></tr>'.repeat(20_000)}${(row + '<tr></tr>'.repeat(999)).repeat(20)}</table>`,
        ),
      ),
    ).toThrow(DocxTooLargeError);
    expect(() => writeDocx(source('<div>'.repeat(300)))).toThrow('too_deep');
  });
});

describe('hostile HTML', () => {
  it('omits elements that contain no text', () => {
    const docx = convert(
      '<script>a</script><style>b</style><iframe src="https://x.test">c</iframe><svg><text>d</text><image href="file:///etc/passwd"/></svg>' +
        '<object data="x">e</object><noscript>f</noscript><template>g</template><math><mi>h</mi></math><video src=x>i</video><textarea>j</textarea>' +
        '<link rel=stylesheet href="https://x.test"><base href="https://x.test"><meta http-equiv=refresh content="0;url=x"><p onclick="x">shown</p><!-- no -->',
    );
    expect(textOf(docx.body)).toBe('hshown');
    expect(violations(docx)).toEqual([]);
  });

  it('shows one form of formulas, and no hidden text', () => {
    const docx = convert(
      '<p>a <span class="katex"><span class="katex-mathml"><math><semantics><msup><mi>x</mi><mn>2</mn></msup><annotation encoding="application/x-tex">x^2</annotation></semantics></math></span>' +
        '<span class="katex-html" aria-hidden="true"><span>x</span><span>2</span></span></span> b<span style="display:none">c</span><span hidden>d</span></p>',
    );
    expect(textOf(docx.body)).toBe('a x2 b');
    expect(JSON.stringify(docx.body)).toContain('superscript');
  });

  it('cannot break out of attributes', () => {
    const attack = '"/><w:p w:x="&quot;&lt;/w:p&gt;';
    const docx = convert(
      `<p lang='${attack}' dir='${attack}' style='color:${attack};text-align:${attack}'><a href='https://x.test/${attack}'>x</a>` +
        `<img alt='${attack}' src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="></p><ol start='${attack}' type='${attack}'><li value='${attack}'>y</ol>` +
        `<table><tr><td colspan='${attack}' rowspan='${attack}' width='${attack}'>z</table>`,
      { title: attack, author: attack, created: attack },
    );
    expect(violations(docx)).toEqual([]);
    expect(textOf(docx.body)).toContain('xy');
  });

  it('contains no file or address that a reader would load', () => {
    const docx = convert(`${RICH}<img src="https://x.test/a.png" alt="a"><a href="https://x.test/b">b</a>`);
    for (const path of Object.keys(docx.files).filter((path) => path.endsWith('.rels')))
      for (const { attributes } of docx.part(path).children)
        expect(attributes['TargetMode'] === 'External' ? attributes['Type'] : 'internal').toMatch(
          /\/hyperlink$|^internal$/,
        );
    expect(all(docx.body, 'a:blip').flatMap(({ attributes }) => Object.keys(attributes))).toEqual([
      'r:embed',
    ]);
  });

  const text = (html: string): string => textOf(convert(html).body).replace(/\s/g, '');

  it('gives valid documents for any input (property)', () => {
    fc.assert(
      fc.property(fc.oneof(soup, nested), fc.boolean(), (html, clean) => {
        const docx = convert(clean ? cleanHtml(html) : html);
        expect(violations(docx)).toEqual([]);
      }),
      { numRuns: runs(600) },
    );
  });

  it('loses no text (property)', () => {
    // Marks that occur in no markup, so that the text of the document can be compared with that of the note.
    const marked = nested.map((html) => {
      let n = 0;
      return cleanHtml(html.replaceAll(/\btext\b/g, () => `§${n++}§`));
    });
    fc.assert(
      fc.property(marked, (html) => {
        const sent = [...html.matchAll(/§\d+§/g)].map(String);
        const arrived = text(html).match(/§\d+§/g) ?? [];
        expect([...arrived].sort()).toEqual(sent.sort());
      }),
      { numRuns: runs(300) },
    );
  });

  it('of any characters gives well-formed XML with the visible ones (property)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), (title, content) => {
        const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
        const docx = readDocx(writeDocx(source(`<pre>x${escaped}</pre>`, { title, author: title })));
        expect(violations(docx)).toEqual([]);
        expect(val(docx.body, 'w:pStyle')).toBeDefined();
      }),
      { numRuns: runs(300) },
    );
  });
});
