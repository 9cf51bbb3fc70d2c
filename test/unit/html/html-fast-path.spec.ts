import fc from 'fast-check';
import { cleanHtml } from '../../../src/lib/html/clean.js';
import { isPlainlyClean } from '../../../src/lib/html/fast-path.js';
import { nested, soup } from './soup.ts';
import { runs } from '../../support/property-runs.ts';

const TWO_MB = 2 * 1024 * 1024;
const times = (text: string): string => text.repeat(Math.ceil(TWO_MB / text.length));

describe('the fast path', () => {
  it.each([
    'text &amp; more',
    '<p class="lead" data-x="1">a <b>b</b><br>c<br/>d<img src="https://x.test/?a=1&amp;b=2" alt="" /></p>',
    '<ul data-type="taskList"><li><label><input type="checkbox" checked="checked"><span></span></label><div><p>x</p></div></li></ul>',
    '<table style="min-width: 75px"><colgroup><col></colgroup><tbody>\n<tr><td colspan="1"><p>x</p></td></tr>\n</tbody></table>',
    '<p style="color: red; text-align: center">x</p><a target="_blank" rel="noopener noreferrer" href="mailto:a@x.test">m</a>',
  ])('accepts the output of editors: %s', (html) => {
    expect(isPlainlyClean(html)).toBe(true);
    expect(cleanHtml(html)).toBe(html);
  });

  it.each([
    '<script>',
    '<p onclick="x">a</p>',
    '<p><div>x</div></p>',
    '<a href="#"><a href="#">x</a></a>',
    '<h1><h2>x</h2></h1>',
    '<td>x</td>',
    '<li>x</li>',
    '<table>x</table>',
    '<table><b></b></table>',
    '<b><i>x</b></i>',
    '<p>open',
    '</p>',
    '<P>x</P>',
    '<!--x-->',
    'a\0b',
    '<p id="x">a</p>',
    '<a href="javascript:x">a</a>',
    '<a href="java&#115;cript:x">a</a>',
    '<a href="&#106;x:y">a</a>',
    '<p style="position:fixed">x</p>',
    '<p style="color:&#58;">x</p>',
    '<input type="text">',
    '<input>',
    '<p title="x',
    '<img src="data:image/svg+xml;base64,AA==">',
    '<p class=a>x</p>',
    '<p class="a"title="b">x</p>',
    '<p/>x</p>',
    '<ruby>x</ruby>',
    '<a rel="opener">x</a>',
    '<',
    '<p',
    '<p ',
    '<p title',
    '<br /',
    '<br//>',
    '<br/ onclick=x/>',
    '<img/onerror=alert(1)/>',
    '<img src="x"/onerror=alert(1)/>',
    '<img / onerror=alert(1)/>',
    '<p title="a"/>',
    '<ul><li><li>x</li></li></ul>',
  ])('leaves to the parser: %j', (html) => expect(isPlainlyClean(html)).toBe(false));

  it('accepts nothing that the parser and the sanitizer would change', () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof({ weight: 5, arbitrary: nested }, { weight: 1, arbitrary: soup }), (html) => {
        if (!isPlainlyClean(html)) return;
        accepted++;
        expect(cleanHtml(html)).toBe(html);
      }),
      { numRuns: runs(6000) },
    );
    expect(accepted).toBeGreaterThan(runs(6000) / 6);
  });

  it('accepts no clean document with one changed character that the sanitizer would change', () => {
    fc.assert(
      fc.property(
        nested,
        fc.nat(),
        fc.constantFrom('/x=1/', ' x=1/', '<', '>', '"', '&', '/', ' ', '=', 'a', '\0', ':', ''),
        (html, at, char) => {
          const i = at % (html.length + 1);
          const changed = html.slice(0, i) + char + html.slice(i + 1);
          if (isPlainlyClean(changed)) expect(cleanHtml(changed)).toBe(changed);
        },
      ),
      { numRuns: runs(4000) },
    );
  });

  it('stays within the limits of nodes and depth', () => {
    const deep = (n: number): string => '<table><tr><td>'.repeat(n) + '</td></tr></table>'.repeat(n);
    expect(isPlainlyClean(deep(30))).toBe(true);
    expect(cleanHtml(deep(30))).toBe(deep(30));
    expect(isPlainlyClean(deep(40))).toBe(false);
    expect(isPlainlyClean('<br>'.repeat(19_000))).toBe(true);
    expect(isPlainlyClean('<br>'.repeat(21_000))).toBe(false);
  });

  /** Without a measurement: code that is slower than linear takes minutes for these texts, and the test times out. */
  it.each([
    ['text', times('word ')],
    ['<', times('<')],
    ['<p ', times('<p ')],
    ['quotes', `<p title="${times('"')}`],
    ['spaces', `<p${times(' ')}>`],
    ['attributes', `<p${times(' class="a"')}`],
    ['style', `<p style="${times('color:red;')}x">`],
    ['style strings', `<p style="${times("'a;")}x">`],
    ['style comments', `<p style="${times('/*')}x">`],
    ['style brackets', `<p style="${times('(')}x">`],
    ['style escapes', `<p style="${times(String.raw`\a`)}x">`],
    ['style blanks', `<p style="color${times(' ')}x">`],
    ['letters', `<p style="color:${times('a')}">`],
    ['href', `<a href="${times('a')}:">`],
    ['src', `<img src="data:image/png;base64,${times('A')}!">`],
    ['src blanks', `<img src="${times('\n')}x:">`],
    ['rel', `<a rel="${times('nofollow ')}">`],
    ['name', `<${times('a')}>`],
    ['end tags', times('</p>')],
    ['words', `<p style="text-decoration:${times('abc ')}">`],
    ['words of a background', `<p style="${times(`background:${'abc '.repeat(12)};`)}">`],
    ['colors', `<p style="border:${times('color-mix(in srgb, red, ')}">`],
    ['borders', `<p style="${times(`border:${'oklch(0.1 0.1 1) '.repeat(4)};`)}">`],
    ['slashes', `<br${times('/')}>`],
  ])('is linear: 2 MB of %s', (name, html) => {
    expect(isPlainlyClean(html)).toBe(name === 'text');
  });
});
