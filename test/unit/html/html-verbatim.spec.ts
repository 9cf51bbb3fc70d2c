import fc from 'fast-check';
import { cleanHtml } from '../../../src/lib/html/clean.js';
import { HtmlPolicy } from '../../../src/platform/html/html-policy.js';
import { safeStyle } from '../../../src/lib/html/style.js';
import { dangers } from './browser-view.ts';
import { soup } from './soup.ts';
import { runs } from '../../support/property-runs.ts';

/** Texts that stay unchanged. A serialiser would write each of them differently. */
const KEPT = [
  '',
  'plain & simple &nbsp;\u00a0&copy;&unknown; < 3',
  'a<br>b<br/>c<br />d<BR>',
  '<p>unclosed<p>paragraphs<ul><li>one<li>two</ul>',
  '<P CLASS=lead title=\'single "quotes"\' data-b=2 data-a=1>x</P>',
  '<p title="b" class="a">order</p>',
  '<p class>empty</p><p style="">x</p>',
  '<pre>\n\n  two newlines\r\n</pre>',
  '<a href=https://x.test/?a=1&b=2 target=_blank rel="noopener  NOREFERRER">x</a>',
  '<a href="HTTPS://x.test">a</a><a href="mailto:a@x.test">b</a><a href="tel:+1">c</a><a href="#user-content-a">d</a><a href="/f?u=a:b">e</a>',
  '<img src="cid:1@x" alt=""><img src="data:image/png;base64,iVBO\nRw0K" width=10 height="5">',
  '<table border=1><tr><td colspan=2>no tbody<th scope=row headers="a b">x</table>',
  '<table><caption>c</caption><colgroup><col span="2" style="min-width: 25px;"></colgroup><tbody><tr><td>1</td></tr></tbody></table>',
  '<ol start="3" type="a" reversed><li value=7>x</ol>',
  '<ul data-type="taskList"><li data-checked="true"><label><input type="checkbox" checked="checked"><span></span></label><div><p>x</p></div></li></ul>',
  '<p style="COLOR : #ABC; text-align:center ;">x</p><span style="background-color: rgb(1, 2, 3)">y</span>',
  '<h2 id="user-content-intro" dir="rtl" lang=ar aria-label="x" role=heading>x</h2>',
  '<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby><bdi>x</bdi><bdo dir=ltr>y</bdo><wbr>',
  '<details open><summary>s</summary><p>t</p></details><figure><img src="/a.png"><figcaption>c</figcaption></figure>',
  '<b>mis<i>nested</b>tags</i>',
  '<time datetime="2026-01-01">x</time><q cite="https://x.test">y</q><del datetime=x>z</del>',
  '<p>emoji \u{1f600} and \u2028</p>',
];

describe('clean bytes', () => {
  const policy = new HtmlPolicy();
  afterAll(() => policy.onModuleDestroy());

  it.each(KEPT)('%j', async (html) => {
    expect(await policy.check(html)).toBe(html);
    expect(cleanHtml(html)).toBe(html);
  });

  it('are serialised again when something is removed, and lose nothing else', async () => {
    expect(
      await policy.check('<pre>\n\nx</pre><P class=a>&nbsp;b<br/>&lt;<script>1</script><foo>c</foo>'),
    ).toBe('<pre>\n\nx</pre><p class="a">\u00a0b<br>&lt;c</p>');
  });
});

describe('any input', () => {
  it('has a stable result without active content', () => {
    fc.assert(
      fc.property(soup, (html) => {
        const clean = cleanHtml(html);
        expect(cleanHtml(clean)).toBe(clean);
        expect(dangers(clean)).toEqual([]);
      }),
      { numRuns: runs(1500) },
    );
  });
});

describe('style', () => {
  it.each([
    ['color: red', 'color: red'],
    ['color: red; position: absolute; font-size: 12pt', 'color: red; font-size: 12pt'],
    ['background-color: var(--mark)', 'background-color: var(--mark)'],
    ['text-decoration: underline dotted', 'text-decoration: underline dotted'],
    [
      'vertical-align:middle;list-style-type:upper-roman',
      'vertical-align:middle;list-style-type:upper-roman',
    ],
    ['width: calc(1px)', ''],
    ['width: 99999px', ''],
    ['color', ''],
    ['color: url(x)', ''],
    ['color: image-set("x")', ''],
  ])('%s -> %s', (style, kept) => expect(safeStyle(style)).toBe(kept));
});
