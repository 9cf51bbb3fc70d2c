import { all, child, convert, paragraph, properties, run, textOf, val } from './read-docx.ts';
import { violations } from './check-docx.ts';

describe('paragraphs', () => {
  it('keep their order and empty lines, and collapse white space', () => {
    const docx = convert(
      '<p>one\n  two </p>three <b>four</b><p></p><p><br></p><div>five<br>six<br></div> \n',
    );
    expect(docx.lines).toEqual([
      [undefined, 'one two'],
      [undefined, 'three four'],
      [undefined, ''],
      [undefined, ''],
      [undefined, 'five\nsix'],
    ]);
  });

  it('are headings with the built-in styles of Word', () => {
    const docx = convert([1, 2, 3, 4, 5, 6].map((n) => `<h${n}>Level ${n}</h${n}>`).join(''));
    expect(docx.lines).toEqual([1, 2, 3, 4, 5, 6].map((n) => [`Heading${n}`, `Level ${n}`]));
    const names = docx
      .part('word/styles.xml')
      .children.map((style) => [style.attributes['w:styleId'], val(style, 'w:name')]);
    for (let n = 1; n <= 6; n++) expect(names).toContainEqual([`Heading${n}`, `heading ${n}`]);
  });

  it('are quotes, with a larger indent for nested ones', () => {
    const docx = convert('<blockquote><p>a</p><p>b</p><blockquote>c</blockquote><h2>d</h2></blockquote>');
    expect(docx.lines).toEqual([
      ['Quote', 'a'],
      ['Quote', 'b'],
      ['Quote', 'c'],
      ['Heading2', 'd'],
    ]);
    expect(all(paragraph(docx, 'c'), 'w:ind')[0]?.attributes['w:left']).toBe('720');
    expect(properties(paragraph(docx, 'd'))).toEqual(['w:pStyle', 'w:pBdr', 'w:ind']);
  });

  it('are code, with lines, tabs and spaces unchanged', () => {
    const docx = convert('<pre><code>if (x) {\n\treturn  1;\n}\n</code></pre>');
    expect(docx.lines).toEqual([['Code', 'if (x) {\n\treturn  1;\n}']]);
    expect(all(docx.body, 'w:br')).toHaveLength(2);
  });

  it.each([
    ['pre-wrap', 'a\nb  c\td'],
    ['break-spaces', 'a\nb  c\td'],
    ['pre-line', 'a\nb c d'],
    ['nowrap', 'a b c d'],
  ])('have the line breaks and blanks of white-space: %s', (space, text) => {
    const docx = convert(`<p style="white-space: ${space}">a\nb  c\td\n</p>`);
    expect(docx.lines).toEqual([[undefined, text]]);
    const inside = convert(`<div style="white-space: ${space}">\n<p><b>a\nb  c</b>\td</p>\n<p>e</p>\n</div>`);
    expect(inside.lines).toEqual([
      [undefined, text],
      [undefined, 'e'],
    ]);
  });

  it('keep a tab of an editor, and collapse white space again inside white-space: normal', () => {
    const tab = '<span style="white-space: pre"><span>\t</span></span>';
    expect(convert(`<p>${tab}a</p>`).lines).toEqual([[undefined, '\ta']]);
    expect(convert('<p style="white-space: pre-line">a <b> \n  b</b></p>').lines).toEqual([
      [undefined, 'a \nb'],
    ]);
    expect(convert('<p style="white-space-collapse: preserve">a\n  b</p>').lines).toEqual([
      [undefined, 'a\n  b'],
    ]);
    expect(convert('<pre style="white-space: normal">a\n  b</pre>').lines).toEqual([['Code', 'a b']]);
  });

  it('are aligned to the left and right of the reader', () => {
    const docx = convert(
      '<p align="center">c</p><p style="text-align: right">r</p><p style="text-align:justify">j</p>' +
        '<p dir="rtl" style="text-align: left">l</p><p dir="rtl" style="text-align: right">m</p><p style="text-align: end">e</p>',
    );
    const sides = ['c', 'r', 'j', 'l', 'm', 'e'].map((text) => val(paragraph(docx, text), 'w:jc'));
    expect(sides).toEqual(['center', 'right', 'both', 'right', undefined, 'right']);
  });

  it('are rules, summaries, terms and definitions', () => {
    const docx = convert('<hr><details><summary>s</summary>in</details><dl><dt>t</dt><dd>d</dd></dl>');
    expect(docx.lines).toEqual([
      ['HorizontalRule', ''],
      [undefined, 's'],
      [undefined, 'in'],
      [undefined, 't'],
      [undefined, 'd'],
    ]);
    expect(properties(run(docx, 's'))).toContain('w:b');
    expect(properties(run(docx, 't'))).toContain('w:b');
    for (const text of ['in', 'd']) expect(properties(paragraph(docx, text))).toEqual(['w:ind']);
  });
});

describe('text', () => {
  it.each([
    ['<b>x</b>', ['w:b', 'w:bCs']],
    ['<strong>x</strong>', ['w:b', 'w:bCs']],
    ['<em>x</em>', ['w:i', 'w:iCs']],
    ['<u>x</u>', ['w:u']],
    ['<ins>x</ins>', ['w:u']],
    ['<s>x</s>', ['w:strike']],
    ['<del>x</del>', ['w:strike']],
    ['<strike>x</strike>', ['w:strike']],
    ['<tt>x</tt>', ['w:rStyle']],
    ['<big>x</big>', ['w:sz', 'w:szCs']],
    ['<font color="red" size="+1">x</font>', ['w:color', 'w:sz', 'w:szCs']],
    ['<font face="Georgia">x</font>', ['w:rFonts']],
    ['<sub>x</sub>', ['w:vertAlign']],
    ['<sup>x</sup>', ['w:vertAlign']],
    ['<mark>x</mark>', ['w:highlight']],
    ['<code>x</code>', ['w:rStyle']],
    ['<b><i><u>x</u></i></b>', ['w:b', 'w:bCs', 'w:i', 'w:iCs', 'w:u']],
    ['<span style="font-weight: 700; font-style: italic">x</span>', ['w:b', 'w:bCs', 'w:i', 'w:iCs']],
    ['<span style="text-decoration: underline line-through">x</span>', ['w:strike', 'w:u']],
    ['<span style="vertical-align: super">x</span>', ['w:vertAlign']],
    ['x', []],
  ])('%s', (html, expected) => {
    expect(properties(run(convert(html), 'x'))).toEqual(expected);
  });

  it.each([
    ['color: #c00', 'w:color', 'w:val', 'CC0000'],
    ['color: #11223344', 'w:color', 'w:val', '112233'],
    ['color: rgb(1, 2, 3)', 'w:color', 'w:val', '010203'],
    ['color: hsl(120, 100%, 25%)', 'w:color', 'w:val', '008000'],
    ['color: Teal', 'w:color', 'w:val', '008080'],
    ['background-color: #ffeecc', 'w:shd', 'w:fill', 'FFEECC'],
    ['background: #ffeecc', 'w:shd', 'w:fill', 'FFEECC'],
    ['font-size: 24px', 'w:sz', 'w:val', '36'],
    ['font-size: 9pt', 'w:sz', 'w:val', '18'],
    ['font-size: 9999px', 'w:sz', 'w:val', '288'],
  ])('%s', (style, name, attribute, expected) => {
    const docx = convert(`<span style="${style}">x</span>`);
    expect(all(docx.body, name)[0]?.attributes[attribute]).toBe(expected);
  });

  it('omits invalid colours', () => {
    for (const color of ['var(--x)', 'currentcolor', 'transparent', 'nonsense', 'inherit'])
      expect(properties(run(convert(`<span style="color: ${color}">x</span>`), 'x'))).toEqual([]);
  });

  it('keeps characters that XML escapes, and drops those that it excludes', () => {
    const docx = convert(
      '<p>a &lt;b&gt; &amp; "c" \u0001\u0008\u001B\uFFFE\uD800d\u0085 \u{1F600} ]]&gt;</p>',
      {
        title: 'T\u0000\u0007<&>"',
        author: '\uDC00\u0002A & B',
      },
    );
    expect(docx.lines).toEqual([
      ['Title', 'T<&>"'],
      [undefined, 'a <b> & "c" d \u{1F600} ]]>'],
    ]);
    const core = docx.part('docProps/core.xml');
    expect([child(core, 'dc:title')?.text, child(core, 'dc:creator')?.text]).toEqual(['T<&>"', 'A & B']);
  });

  it('has quotation marks, and readings in parentheses', () => {
    expect(convert('<q>a</q> <ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>').lines).toEqual([
      [undefined, '“a” 漢(kan)'],
    ]);
  });
});

describe('links', () => {
  const targets = (html: string) =>
    convert(html)
      .part('word/_rels/document.xml.rels')
      .children.filter(({ attributes }) => attributes['TargetMode'] === 'External')
      .map(({ attributes }) => attributes['Target']);

  it('keep their targets', () => {
    const docx = convert('<p>see <a href="https://x.test/a?b=1&amp;c=ü#d">this <b>page</b></a>.</p>');
    const [link] = all(docx.body, 'w:hyperlink');
    expect(textOf(link!)).toBe('this page');
    const relationship = docx
      .part('word/_rels/document.xml.rels')
      .children.find(({ attributes }) => attributes['Id'] === link!.attributes['r:id']);
    expect(relationship?.attributes).toMatchObject({
      Target: 'https://x.test/a?b=1&c=%C3%BC#d',
      TargetMode: 'External',
    });
    expect(textOf(docx.body)).toBe('see this page.');
  });

  it('are stored once each', () => {
    expect(
      targets('<a href="http://a.test">1</a><a href="http://a.test/">2</a><a href="tel:+1">3</a>'),
    ).toEqual(['http://a.test/', 'tel:+1']);
  });

  it.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'ftp://x.test',
    '\\\\server\\share',
    '/relative',
    '#user-content-x',
    'cid:1',
    'http://[',
    'ms-word:ofe|u|http://x',
  ])('to %s are text only', (href) => {
    const docx = convert(`<a href="${href}">text</a>`);
    expect(targets(`<a href="${href}">text</a>`)).toEqual([]);
    expect(all(docx.body, 'w:hyperlink')).toEqual([]);
    expect(docx.lines).toEqual([[undefined, 'text']]);
  });

  it('longer than the maximum of Word are text only', () => {
    expect(targets(`<a href="https://x.test/${'a'.repeat(3000)}">x</a>`)).toEqual([]);
  });

  it('are encoded as valid URIs', () => {
    const [target] = targets('<a href="https://x.test/a b{c}|%zz&quot;\\">x</a>');
    expect(target).toMatch(/^https:\/\/x\.test\/[!-~]+$/);
    expect(target).not.toMatch(/[ {}|"\\]|%(?![0-9A-F]{2})/i);
    expect(targets('<a href="mailto:a@x.test?subject=b c">x</a>')).toEqual(['mailto:a@x.test?subject=b%20c']);
  });
});

describe('links within the text', () => {
  it('lead to a bookmark in the paragraph of their target', () => {
    const docx = convert(
      '<p><a href="#user-content-part">To the part</a>, <a href="#nowhere">nowhere</a></p>' +
        '<h2 id="user-content-part">Part</h2><p id="user-content-unused">x</p>',
    );
    const [link, ...others] = all(docx.body, 'w:hyperlink');
    expect([textOf(link!), link!.attributes['w:anchor'], others]).toEqual(['To the part', 'target1', []]);
    const marks = all(docx.body, 'w:bookmarkStart');
    expect(marks.map(({ attributes }) => attributes['w:name'])).toEqual(['target1']);
    expect(all(paragraph(docx, 'Part'), 'w:bookmarkStart')).toEqual(marks);
    expect(violations(docx)).toEqual([]);
  });

  it('may name a list item, a cell, an anchor in a sentence, and an element without text', () => {
    const ids = ['item', 'cell', 'word', 'none'];
    const docx = convert(
      ids.map((id) => `<p><a href="#${id}">${id}</a></p>`).join('') +
        '<ul><li id="item">in a list</li></ul><table><tr><td id="cell">in a cell</td></tr></table>' +
        '<p>some <a name="word">word</a></p><div id="none"></div>',
    );
    for (const text of ['in a list', 'in a cell', 'some word'])
      expect(all(paragraph(docx, text), 'w:bookmarkStart')).toHaveLength(1);
    expect(all(docx.body, 'w:bookmarkStart')).toHaveLength(4);
    expect(violations(docx)).toEqual([]);
  });
});

describe('the place of a paragraph', () => {
  it('has page breaks, heights of lines, indents of first lines and margins', () => {
    const docx = convert(
      '<p>one</p><div style="page-break-after: always"></div><p>two</p><p style="break-before: page">three</p>' +
        '<div style="line-height: 1.5; margin-top: 12pt"><p>four</p></div><p style="line-height: 20pt; text-indent: -18pt; margin-bottom: 1in">five</p>' +
        '<p style="text-indent: 1cm">six</p>',
    );
    const place = (text: string, name: string) =>
      all(paragraph(docx, text), name).map(({ attributes }) => attributes);
    expect(['one', 'two', 'three', 'four'].map((text) => place(text, 'w:pageBreakBefore').length)).toEqual([
      0, 1, 1, 0,
    ]);
    expect(place('four', 'w:spacing')).toEqual([{ 'w:line': '360', 'w:lineRule': 'auto' }]);
    expect(place('five', 'w:spacing')).toEqual([
      { 'w:after': '1440', 'w:line': '400', 'w:lineRule': 'atLeast' },
    ]);
    expect(place('five', 'w:ind')).toEqual([{ 'w:left': '0', 'w:hanging': '360' }]);
    expect(place('six', 'w:ind')).toEqual([{ 'w:left': '0', 'w:firstLine': '567' }]);
    expect(violations(docx)).toEqual([]);
  });

  it('has what the shorthand `font` names, and what it does not name is normal', () => {
    const docx = convert(
      '<p><span style="font: italic bold 12pt/1.5 Georgia, serif">a</span><b style="font-family:Symbol">b<span style="font:7.0pt \'Times New Roman\'">c</span></b>' +
        '<span style="font: small-caps 600 14px Georgia">d</span><span style="font: caption">e</span></p>',
    );
    const font = (text: string) => all(run(docx, text), 'w:rFonts')[0]?.attributes['w:ascii'];
    expect(['a', 'b', 'c', 'd', 'e'].map(font)).toEqual([
      'Georgia',
      'Symbol',
      'Times New Roman',
      'Georgia',
      undefined,
    ]);
    const names = (text: string) =>
      ['w:b', 'w:i', 'w:smallCaps'].filter(
        (name) => properties(run(docx, text)).includes(name) && val(run(docx, text), name) !== '0',
      );
    expect(['a', 'b', 'c', 'd', 'e'].map(names)).toEqual([
      ['w:b', 'w:i'],
      ['w:b'],
      [],
      ['w:b', 'w:smallCaps'],
      [],
    ]);
    expect(['a', 'c'].map((text) => val(run(docx, text), 'w:sz'))).toEqual(['24', '14']);
    expect(violations(docx)).toEqual([]);
  });

  it('has fonts, capitals and space between letters in its text', () => {
    const docx = convert(
      '<p><span style="font-family: \'Segoe UI\', serif">a</span><font face="Georgia">b</font><span style="font-family: monospace">c</span>' +
        '<span style="text-transform: uppercase">d</span><span style="font-variant: small-caps">e</span><span style="letter-spacing: 2pt">f</span>' +
        '<span style="font-family: Georgia">漢</span></p>',
    );
    const fonts = (text: string) =>
      all(run(docx, text), 'w:rFonts').map(({ attributes }) => attributes['w:ascii']);
    expect(['a', 'b', 'c', '漢'].map(fonts)).toEqual([['Segoe UI'], ['Georgia'], ['Consolas'], ['Georgia']]);
    expect(['d', 'e'].map((text) => properties(run(docx, text)))).toEqual([['w:caps'], ['w:smallCaps']]);
    expect(val(run(docx, 'f'), 'w:spacing')).toBe('40');
    expect(violations(docx)).toEqual([]);
  });
});

describe('scripts', () => {
  it('set the direction of paragraphs by dir or by the first letter', () => {
    const docx = convert(
      '<p>مرحبا</p><p>12: שלום</p><p dir="rtl">abc</p><p dir="ltr">سلام</p><p>abc سلام</p><div dir="rtl"><p>x</p></div>',
    );
    const fromRight = docx.body.children
      .filter(({ name }) => name === 'w:p')
      .map((p) => all(p, 'w:bidi').length);
    expect(fromRight).toEqual([1, 1, 1, 0, 0, 1]);
  });

  it('mark right-to-left runs, including spaces and numbers between them', () => {
    const docx = convert('<p>say مرحبا 12 بالعالم (ok)</p>');
    expect(properties(run(docx, 'مرحبا 12 بالعالم'))).toContain('w:rtl');
    expect(properties(run(docx, ' (ok)'))).toEqual([]);
  });

  it('give punctuation at the end the direction of a right-to-left paragraph', () => {
    const docx = convert('<p dir="rtl">abc (1).</p>');
    expect(properties(run(docx, 'abc (1'))).toEqual([]);
    expect(properties(run(docx, ').'))).toEqual(['w:rtl']);
  });

  it.each([
    ['汉字', 'Microsoft YaHei', 'zh-CN'],
    ['漢字かな', 'Yu Gothic', 'ja-JP'],
    ['한국어', 'Malgun Gothic', 'ko-KR'],
  ])('choose fonts for %s', (text, font, language) => {
    const docx = convert(`<p>x ${text}</p>`);
    const [fonts] = all(run(docx, text), 'w:rFonts');
    expect(fonts?.attributes).toMatchObject({ 'w:eastAsia': font, 'w:hint': 'eastAsia' });
    expect(all(run(docx, text), 'w:lang')[0]?.attributes['w:eastAsia']).toBe(language);
  });

  it('choose fonts of ideographs by the declared language', () => {
    const docx = convert('<p lang="ja">漢字</p>');
    expect(all(docx.body, 'w:rFonts')[0]?.attributes['w:eastAsia']).toBe('Yu Gothic');
  });

  it('mark complex scripts, so that bold applies to them', () => {
    expect(properties(run(convert('<b>ไทย</b>'), 'ไทย'))).toEqual(['w:b', 'w:bCs', 'w:cs']);
  });

  it('have fonts for all scripts in the styles', () => {
    const [fonts] = all(convert('x').part('word/styles.xml'), 'w:rFonts');
    expect(Object.keys(fonts!.attributes).sort()).toEqual(['w:ascii', 'w:cs', 'w:eastAsia', 'w:hAnsi']);
  });

  it('are valid in any combination', () => {
    expect(violations(convert('<p dir=rtl>a 漢 ש (ไ) <b lang="ar">م</b> 1</p>'))).toEqual([]);
  });
});
