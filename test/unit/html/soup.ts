import fc from 'fast-check';

const TAG = fc.constantFrom(
  ...(
    'p div span br hr h1 h2 ul ol li dl dt dd blockquote pre code b i u em strong a a table tbody tr td th caption colgroup ' +
    'center font strike tt big col img input label details summary ruby rt script style svg math noscript template object applet desc text form select option textarea ' +
    'title xmp iframe body html image foo mtext mglyph foreignObject annotation-xml'
  ).split(' '),
);

const ATTRIBUTE = fc.constantFrom(
  '',
  '',
  '',
  ' class="a b"',
  ' title="&lt;b&gt;"',
  ' title="<img src=x onerror=alert(1)>"',
  " title='</style>'",
  ' href="https://x.test/?a&amp;b"',
  ' href="javascript:alert(1)"',
  ' href="#a"',
  ' src="x" onerror=alert(1)',
  ' src="/a.png" alt=""',
  ' style="color: red"',
  ' style="position:fixed;color:red"',
  ' id=x',
  ' name="x"',
  ' id="a b"',
  ' href="#x"',
  ' href="sms:+1"',
  ' align="center"',
  ' valign="top" bgcolor="#fff"',
  ' bgcolor="url(x)" face="a&quot;b"',
  ' colwidth="10,20"',
  ' color="red" size="+1"',
  ' style="font-family: \'a b\', serif"',
  ' style="font-family: \'a;position:fixed\'"',
  ' aria-labelledby="x y" for="x"',
  ' id="user-content-x"',
  ' data-type="t"',
  ' type="checkbox" checked',
  ' colspan="2"',
  ' rel="noopener opener"',
  ' dir="rtl"',
  ' open',
  ' /',
  '/',
  '/onclick=x/',
  ' title="t"/onclick=x /',
  ' onclick',
  ' __proto__=x',
  ' constructor=y',
  ' value="3"',
  ' srcdoc="<script>"',
);

const PIECE = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(TAG, ATTRIBUTE, ATTRIBUTE).map(([tag, a, b]) => `<${tag}${a}${b}>`) },
  { weight: 4, arbitrary: TAG.map((tag) => `</${tag}>`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('text', ' ', '\n', '&amp;', '&lt;script&gt;', '&nbsp;', 'a\u00a0b'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '<!--',
      '-->',
      '<!-->',
      '<![CDATA[',
      ']]>',
      '<!doctype html>',
      '<?x?>',
      '<',
      '</',
      '"',
      '>',
      '\0',
      '<p ',
      '<a href="',
      '&#0;',
    ),
  },
);

/** Fragments of tags, attributes, text and special cases of the parser in any order. */
export const soup = fc.array(PIECE, { maxLength: 30 }).map((pieces) => pieces.join(''));

const INLINE = fc.constantFrom(
  'b',
  'i',
  'em',
  'span class="x"',
  'code',
  'a href="https://x.test" rel="noopener"',
  'u',
  'span style="color: red"',
);
const BLOCK = fc.constantFrom(
  'div',
  'p',
  'h1',
  'h2',
  'blockquote',
  'pre',
  'ul',
  'ol start="2"',
  'li',
  'dl',
  'dd',
  'table',
  'tbody',
  'tr',
  'td colspan="2"',
  'colgroup',
  'details open',
  'section',
);
const LEAF = fc.constantFrom(
  'text',
  'a &amp; b',
  '<br>',
  '<img src="/a.png" alt="">',
  '<input type="checkbox" checked>',
  ' ',
  '<hr>',
  '<col>',
  '<br/x=1/>',
  '<img src="/a.png"/onclick=x />',
  '<br / x=1/>',
  '&lt;',
);

/** Properly nested allowed tags. The parser changes some of the combinations. */
export const nested: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    LEAF,
    fc
      .tuple(fc.oneof(INLINE, BLOCK), fc.array(tie('node'), { maxLength: 3 }))
      .map(([tag, children]) => `<${tag}>${children.join('')}</${tag.split(' ')[0]}>`),
    fc
      .array(tie('node'), { maxLength: 2 })
      .map((cells) => `<table><tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr></table>`),
    fc
      .array(tie('node'), { maxLength: 3 })
      .map((items) => `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`),
  ),
})).node;
