import { documentText } from '../../../src/lib/html/index.js';

describe('the text of a document', () => {
  test.each([
    ['<h1>Grüße</h1><p>one<br>two</p><div>three</div>', 'Grüße\n\none\ntwo\n\nthree'],
    ['<html><head><title>T</title><style>p { color: red }</style></head><body><p>x</p></body></html>', 'x'],
    ['<p>a line that its\r\n program has wrapped</p>', 'a line that its program has wrapped'],
    ['<p>a</p>\n<pre>b\n  c</pre>\n<p>d</p>', 'a\n\nb\n  c\n\nd'],
    [`<p>${'word '.repeat(40).trim()}</p>`, 'word '.repeat(40).trim()],
    ['<img src="https://e.example/p.gif" alt="Logo"><p>x</p>', 'x'],
    ['<p>a &lt;b&gt; &amp; c</p><!--[if mso]><p>y</p><![endif]-->', 'a <b> & c'],
    ['<style>p { color: red }</style><p>İİİİİİİİ</p><STYLE>x</STYLE><p>y</p>', 'İİİİİİİİ\n\ny'],
    ['<p>a</p><pre>b\n\nc', 'a\n\nb\n\nc'],
    ['<div>a</div>\n<div>b</div>\n<div><br></div><div>c</div>', 'a\nb\n\nc'],
    ['x<ul>\n<li>a</li>\n<li>b</li>\n</ul>y', 'x\n\na\nb\n\ny'],
    ['a<br>\nb<br><br>c', 'a\nb\n\nc'],
    ['<p>x</p><pre>if a:\n    b\n\tc  \n</pre><p>  y   z</p>', 'x\n\nif a:\n    b\n\tc\n\ny z'],
    ['<pre>  one\n  two</pre>', '  one\n  two'],
    ['<div style="white-space:pre-wrap">a\n<div\n>  b</div>\nc</div>  d', 'a\n  b\n\nc\nd'],
    ['<span style="white-space: pre">a\nb</span> <b>c\nd</b>', 'a\nb c d'],
    ['<br style="white-space:pre"><p>a\nb</p><img style="white-space: pre-wrap">c\nd', 'a b\n\nc d'],
    ['<math><mi>x</mi><annotation>y</math><p>a</p><script>b</script>', 'x\n\na'],
    ['x<annotation>y<p>a</p><script>b</script><p>c</p>', 'xy\n\na\n\nc'],
    ['<a style="mso-hide:all">a</a> <b style="display:none;display:inline">b</b>', 'a b'],
    ['<p>a</p><!-- <style> --><p>b</p>', 'a\n\nb'],
    ['<p>a</p><!--[if mso]><style>p { color: red }<![endif]--><p>b</p><style>x</style>', 'a\n\nb'],
    ['<!-- a --!>b<!--!> c --><!----!>d<!-->e<!--->f', 'bdef'],
    ['<img alt="<!-- x"><p>a</p><img alt="<title>"><p>b</p>', 'a\n\nb'],
    ['<title-bar>a</title-bar><p>b</p><style-x>c</style-x>', 'a\n\nb\n\nc'],
    ['<script title="</script>">x</script-1></script >a', 'a'],
    ['<img alt="<pre>"><p>a\nb</p>', 'a b'],
    ['<pre>a\nb</pre-1>c</pre >d\ne', 'a\nb\nc\n\nd e'],
  ])('%j', (html, text) => {
    expect(documentText(html)).toBe(text);
  });

  test.each([
    ['<a href="https://e.example/a?b=1&amp;c=2">Join</a> now', 'Join [https://e.example/a?b=1&c=2] now'],
    ["<A class='x' HREF='http://e.example'>Home</A>", 'Home [http://e.example]'],
    ['<a href=https://e.example/>e.example</a>', 'e.example [https://e.example/]'],
    ['<a href="https://e.example/">https://e.example</a>', 'https://e.example'],
    ['<a href="https://e.example/x"><img src="p.png"></a>', ''],
    ['<a href="mailto:ina@e.example">Ina</a> <a name="x">y</a>', 'Ina y'],
    ['<a href="https://e.example/">open', 'open'],
    ['<a href="https://e.example/"><abbr>RFC</abbr> 1</a> x', 'RFC 1 [https://e.example/] x'],
    ['<a href="https://e.example/?q=a<p b">x</a> y', 'x [https://e.example/?q=a<p b] y'],
    ['<a title="a > b" href="https://e.example/">x</a> y', 'x [https://e.example/] y'],
    ['<a title="see href=https://no.example/ x" href=" https://e.example/">x</a>', 'x [https://e.example/]'],
    ['<a title=\'" href="https://no.example/"\'>x</a>', 'x'],
    ['<a/href=https://e.example/>x</a>', 'x [https://e.example/]'],
    [
      '<a data-href="https://no.example/" href = "https://e.example/" href="https://no.example/">x</a>',
      'x [https://e.example/]',
    ],
    ['<img title="<a href=https://no.example/>"><b>x</b></a>', 'x'],
    ['<a name="top"><h1>x</h1><a href="https://e.example/">y</a>', 'x\n\ny [https://e.example/]'],
    ['<abbr href="https://no.example/">x</abbr></a>', 'x'],
  ])('has the addresses of links: %j', (html, text) => {
    expect(documentText(html)).toBe(text);
  });

  test('has the address of a link whose text is too long to name it', () => {
    const textOf = (label: string) => documentText(`<a href="https://e.example/">${label}</a>`);
    const named = 'https://e.example'.padEnd(2_000, '.');
    expect(textOf(named)).toBe(named);
    expect(textOf(`${named}.`)).toBe(`${named}. [https://e.example/]`);
  });

  test('takes linear time', () => {
    for (const piece of ['<a ', '<a href="https://e.example">', '<pre>', '<script>', '\n', '</a'])
      expect(documentText(piece.repeat(100_000)).length).toBeLessThan(1_000_000);
    expect(documentText(`<p>x${'<br>'.repeat(250_000)}y`)).toBe('x\n\ny');
    expect(documentText(`<p>x<pre>${'\n'.repeat(1_000_000)}y`)).toBe('x\n\ny');
    expect(documentText(`<pre>x${' '.repeat(1_000_000)}y`)).toHaveLength(1_000_002);
    expect(documentText('<annotation>'.repeat(80_000))).toBe('');
    const [address, part] = [`https:b${'a'.repeat(100_000)}`, `https:b${'a'.repeat(99_000)} `];
    const label = part.repeat(6) + 'a'.repeat(300_000);
    expect(documentText(`<a href="${address}">${label}</a>`)).toBe(`${label} [${address}]`);
  });
});
