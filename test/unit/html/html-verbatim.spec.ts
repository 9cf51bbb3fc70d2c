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
  '<figure class="media"><oembed url="https://media.example/watch?v=1"></oembed></figure>',
  '<img src="data:image/gif;charset=utf-8;base64,R0lGODlhAQABAAAAACw=">',
  '<progress value=3 max=10>3 of 10</progress><meter min="0" max="1" value="0.5">half</meter>',
  '<time datetime="2026-01-01">x</time><q cite="https://x.test">y</q><del datetime=x>z</del>',
  '<menu><li>one</li></menu><dir><li>two</li></dir><p><nobr>04 05</nobr> <span style="font-size:.9em;color:hsl(120deg 50% 40%)">x</span></p>',
  '<p>at <strike>nine</strike> <tt>ten</tt> <big>x</big></p><center><font color="red" face="Georgia, serif" size="+1">x</font></center>',
  '<p align="center">x</p><h2 align=RIGHT>y</h2><hr align="left" width="50%" size="2" noshade><br clear="all">',
  '<table align="center" bgcolor="#eee" rules="all" frame="box" summary="s"><tbody><tr align="right" valign="top" bgcolor="#fff"><td align="left" valign="middle" nowrap colwidth="120,80">x</td></tr></tbody></table>',
  '<ul type="square" compact><li type="disc">x</ul>',
  '<p style="line-height: 1.5; font-family: \'Times New Roman\', Georgia, serif; margin: 0 auto; text-indent: -18pt">x</p>',
  '<div style="page-break-after: always; break-before: page; white-space: pre-wrap; white-space-collapse: preserve; letter-spacing: 0.1em; border: 1px solid #ccc; background: yellow">x</div>',
  '<p style=\'font-family: "Segoe UI", sans-serif\'>x</p>',
  '<table style="border-collapse: collapse; table-layout: fixed"><colgroup><col style="width: 25%"></colgroup><tbody><tr><td style="padding: 2px 4px; border-left: solid windowtext 1.0pt">x</td></tr></tbody></table>',
  ...[
    'sms:+4755501234',
    'geo:60.4,5.3',
    'sip:ina@home.example',
    'xmpp:ina@home.example',
    'webcal://home.example/c.ics',
    'ftp://home.example/f',
    'matrix:u/ina:home.example',
    'irc://home.example/room',
    'magnet:?xt=urn:btih:0',
    'urn:isbn:9780141439518',
    'msteams:/l/meetup',
    'message:%3c1@x.example%3e',
    'onenote:https://x.example/book',
    'slack://channel?team=T1',
  ].map((href) => `<p><a href="${href}">x</a></p>`),
  '<p><a href="#user-content-a">x</a> <a name="user-content-a">y</a></p>',
  '<p><a href="#elsewhere">x</a></p>',
  '<img src="data:image/avif;base64,AAAA"><img src="data:image/bmp;base64,AAAA"><img src="data:image/heic;base64,AAAA">',
  '<img src="/a.png" align="left"><img src="/a.png" align="absmiddle">',
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

describe('ids', () => {
  it.each([
    [
      '<p><a href="#part-2">Part 2</a></p><h2 id="part-2">Part 2</h2>',
      '<p><a href="#user-content-part-2">Part 2</a></p><h2 id="user-content-part-2">Part 2</h2>',
    ],
    [
      '<a href="#%C3%BCber"></a><a name="über"></a><li id="fn:1"></li><a href="#fn:1"></a>',
      '<a href="#user-content-%C3%BCber"></a><a name="user-content-über"></a><li id="user-content-fn:1"></li><a href="#user-content-fn:1"></a>',
    ],
    [
      '<label for="c">x</label><table><tbody><tr><th id="h">a</th><td headers="h other">b</td></tr></tbody></table><p id="c" aria-labelledby="h  c">x</p>',
      '<label for="user-content-c">x</label><table><tbody><tr><th id="user-content-h">a</th><td headers="user-content-h other">b</td></tr></tbody></table><p id="user-content-c" aria-labelledby="user-content-h  user-content-c">x</p>',
    ],
    ['<p id="">a</p><p id="a b">c</p><a href="#a b">d</a>', '<p>a</p><p>c</p><a href="#a b">d</a>'],
    [
      '<p id="a">x</p><a href="#b">b</a><a href="/page#a">c</a>',
      '<p id="user-content-a">x</p><a href="#b">b</a><a href="/page#a">c</a>',
    ],
  ])('get a prefix together with their links: %s', (html, clean) => {
    expect(cleanHtml(html)).toBe(clean);
    expect(cleanHtml(clean)).toBe(clean);
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
    ['width: calc(9px * 99999)', ''],
    ['width: calc(100% - 20px)', 'width: calc(100% - 20px)'],
    ['color: red !important; width: 1px!important', 'color: red; width: 1px'],
    ['float: left; clear: both', 'float: left; clear: both'],
    ['font: italic bold 12px/1.5 Georgia, serif', 'font: italic bold 12px/1.5 Georgia, serif'],
    ['font: caption', ''],
    ['text-align: -webkit-center', 'text-align: -webkit-center'],
    ['opacity: 0.5; text-shadow: 1px 1px 2px black', 'opacity: 0.5; text-shadow: 1px 1px 2px black'],
    ['columns: 2; column-gap: 1em', 'columns: 2; column-gap: 1em'],
    ['width: 99999px', ''],
    // Word for Mac, Excel, and editors: strings, escapes and comments cost their own declaration only.
    ['color: red; mso-bidi-font-family: "Times New Roman (Body CS)"; width: 1px', 'color: red; width: 1px'],
    [String.raw`mso-number-format:"\@";text-align:right`, 'text-align:right'],
    [String.raw`mso-number-format:"a\";color:red";text-align:right`, 'text-align:right'],
    ['color:red;background-image:url("https://x.test/p;q.png");width:1px', 'color:red; width:1px'],
    ['background-image:url(data:image/png;base64,AA==);color:red', 'color:red'],
    ['/* c; width:1px */ color: red /* ; */; quotes: "«" "»"', 'color: red'],
    ['color: re/**/d; width: 1/**/px', ''],
    ['color:red;/* width:1px', 'color:red'],
    ['width:1px;color:(red;width:2px', 'width:1px'],
    ['{color:red;}width:2px;height:1px', 'height:1px'],
    [`font-family: "M+ 1p", "L'Ecole", sans-serif`, `font-family: "M+ 1p", "L'Ecole", sans-serif`],
    ['margin-left:.5in;text-indent:-.25in', 'margin-left:.5in;text-indent:-.25in'],
    ['letter-spacing:-.25pt;text-indent:5%', 'letter-spacing:-.25pt;text-indent:5%'],
    ['text-indent:-5%', ''],
    [
      'width:33.33333333333333%;line-height:1.5714285714285714',
      'width:33.33333333333333%;line-height:1.5714285714285714',
    ],
    [
      'vertical-align:-3px;font-variant-numeric:tabular-nums',
      'vertical-align:-3px;font-variant-numeric:tabular-nums',
    ],
    ...[
      'color: oklch(0.21 0.006 285.885)',
      'color: oklab(0.999994 0.0000455678 -0.0000200868 / 0.05)',
      'color: lab(52.2% -40.1 59.9)',
      'color: lch(52% 72 50deg / 50%)',
      'color: hwb(194 0% 0%)',
      'color: color(srgb 0.1 1e-7 0.3 / 0.5)',
      'color: color(display-p3 1 0.5 0)',
      'color: color-mix(in srgb, red 40%, #00f)',
      'color: color-mix(in oklch longer hue, oklch(0.7 0.1 100), white)',
      'color: light-dark(#000, rgb(255 255 255))',
      'color: var(--ds-text, #172B4D)',
      'background: rgb(255, 255, 0) none repeat scroll 0% 0%',
      'background: none 0% 0% / auto repeat scroll padding-box border-box rgb(255, 255, 0)',
      'border: 1px solid oklch(0.21 0.006 285.885)',
      'font-size: calc(1rem + 2px)',
    ].map((style) => [style, style]),
    ['color: color-mix(in srgb, url(x), red)', ''],
    ['color: var(--x, url(x))', ''],
    ['background: yellow url(x) no-repeat', ''],
    ['margin-left: calc(0px - 9999px)', ''],
    ['color', ''],
    ['color: url(x)', ''],
    ['color: image-set("x")', ''],
  ])('%s -> %s', (style, kept) => expect(safeStyle(style)).toBe(kept));
});
