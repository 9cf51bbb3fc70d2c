import fc from 'fast-check';
import { cleanHtml, documentText, isPlainlyClean, plainText } from '../../../src/lib/html/index.js';

const math = (content: string, attributes = '') =>
  `<math xmlns="http://www.w3.org/1998/Math/MathML"${attributes}>${content}</math>`;
const semantics = (content: string, tex: string) =>
  math(
    `<semantics><mrow>${content}</mrow><annotation encoding="application/x-tex">${tex}</annotation></semantics>`,
  );
const SQUARE = '<msup><mi>x</mi><mn>2</mn></msup>';

describe('formulas become lines of text', () => {
  test.each([
    [SQUARE, 'x<sup>2</sup>'],
    ['<msub><mi>a</mi><mrow><mi>i</mi><mo>+</mo><mn>1</mn></mrow></msub>', 'a<sub>i+1</sub>'],
    ['<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>', 'x<sub>1</sub><sup>2</sup>'],
    ['<mfrac><mn>1</mn><mn>2</mn></mfrac>', '1/2'],
    [
      '<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mrow><mn>2</mn><mi>c</mi></mrow></mfrac>',
      '(a+b)/(2c)',
    ],
    [`<mfrac>${SQUARE}<mi>y</mi></mfrac>`, 'x<sup>2</sup>/y'],
    ['<mn>2</mn><mfrac><mn>1</mn><mn>3</mn></mfrac>', '2(1/3)'],
    ['<mi>x</mi><mo>=</mo><mfrac><mn>1</mn><mn>3</mn></mfrac>', 'x=1/3'],
    ['<mo>(</mo><mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac><mo>)</mo>', '(n k)'],
    ['<msqrt><mi>a</mi><mo>+</mo><mi>b</mi></msqrt>', '√(a+b)'],
    ['<msqrt><mn>2</mn></msqrt>', '√2'],
    ['<mroot><mi>x</mi><mn>3</mn></mroot>', '<sup>3</sup>√x'],
    [
      '<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>0</mn></mrow><mi>n</mi></munderover><mi>i</mi>',
      '∑<sub>i=0</sub><sup>n</sup>i',
    ],
    ['<mover accent="true"><mi>x</mi><mo>¯</mo></mover>', 'x\u0304'],
    ['<mover><mi>v</mi><mo>→</mo></mover>', 'v\u20d7'],
    ['<mover><mrow><mi>A</mi><mi>B</mi></mrow><mo>¯</mo></mover>', 'AB<sup>¯</sup>'],
    ['<mi>f</mi><mo>\u2061</mo><mfenced><mi>x</mi><mi>y</mi></mfenced>', 'f(x,y)'],
    ['<mfenced open="[" close="]" separators=";"><mi>x</mi><mi>y</mi></mfenced>', '[x;y]'],
    [
      '<mo>(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mn>1</mn></mtd></mtr></mtable><mo>)</mo>',
      '(1 0; 0 1)',
    ],
    [
      '<mmultiscripts><mi>U</mi><none/><none/><mprescripts/><mn>92</mn><mn>238</mn></mmultiscripts>',
      '<sub>92</sub><sup>238</sup>U',
    ],
    ['<mi>a</mi><mspace width="1em"/><mtext>if </mtext><mi>b</mi>', 'a if b'],
    ['<mi>a</mi><mphantom><mi>b</mi></mphantom>', 'a'],
    ['\n  <mrow>\n    <mi>  x </mi>\n    <mo>&lt;</mo>\n    <mi>y</mi>\n  </mrow>\n', 'x&lt;y'],
    ['<mtext><b onclick="x">if</b></mtext>', '<b>if</b>'],
    ['<maction selection="1"><mi>a</mi><mi>b</mi></maction>', 'a'],
  ])('%s', (content, text) => {
    expect(cleanHtml(math(content))).toBe(text);
    const prefixed = content.replaceAll(/<(\/?)(m\w+|none)/g, '<$1mml:$2');
    if (!content.includes('/>') && !content.includes('<b '))
      expect(cleanHtml(`<mml:math>${prefixed}</mml:math>`)).toBe(text);
  });

  test('in a line of their own are separated from the text', () => {
    expect(cleanHtml(`a${math(SQUARE, ' display="block"')}b`)).toBe('a x<sup>2</sup> b');
  });

  test('nested as deeply as allowed take little time', () => {
    const deep = '<msup>'.repeat(250) + '<mi>x</mi>'.repeat(20_000);
    const start = process.cpuUsage();
    cleanHtml(math(deep));
    expect(process.cpuUsage(start).user).toBeLessThan(5_000_000);
  });
});

const KATEX = `<span class="katex"><span class="katex-mathml">${semantics(SQUARE, 'x^2')}</span><span class="katex-html" aria-hidden="true"><span class="base"><span class="mord">x</span><span class="vlist">2</span></span></span></span>`;
const MATHJAX_2 =
  '<span class="MathJax_Preview" style="color: inherit; display: none;">x^2</span>' +
  `<span class="MathJax" role="presentation" style="position: relative;"><nobr aria-hidden="true"><span class="math"><span>x</span><span>2</span></span></nobr>` +
  `<span class="MJX_Assistive_MathML" role="presentation">${math(SQUARE)}</span></span><script type="math/tex">x^2</script>`;
const MATHJAX_3 = `<mjx-container class="MathJax" jax="SVG"><svg aria-hidden="true" focusable="false"><g><text>x</text><text>2</text></g></svg><mjx-assistive-mml unselectable="on">${math(SQUARE)}</mjx-assistive-mml></mjx-container>`;
const WIKIPEDIA = `<span class="mwe-math-element"><span class="mwe-math-mathml-inline mwe-math-mathml-a11y" style="display: none;">${semantics(SQUARE, '{\\displaystyle x^{2}}')}</span><img src="https://wiki.example/render/svg/1" class="mwe-math-fallback-image-inline" aria-hidden="true" alt="{\\displaystyle x^{2}}"></span>`;

describe('a text that a page has twice is read once', () => {
  test.each([
    ['KaTeX', KATEX],
    ['MathJax 2', MATHJAX_2],
    ['MathJax 3', MATHJAX_3],
  ])('formulas of %s', (_, html) => {
    const clean = cleanHtml(`<p>a ${html} b</p>`);
    expect(clean.replaceAll(/<\/?span[^>]*>/g, '')).toBe('<p>a x<sup>2</sup> b</p>');
    expect(plainText(clean)).toBe('a x2 b');
  });

  test('formulas of Wikipedia are the picture that it shows', () => {
    const clean = cleanHtml(`<p>a ${WIKIPEDIA} b</p>`);
    expect(clean).toContain('alt="{\\displaystyle x^{2}}"');
    expect(plainText(clean).replaceAll(/\s+/g, ' ')).toBe('a b');
  });

  test('decorations that only screen readers skip stay', () => {
    const html = `<p><span aria-hidden="true">★</span> ${math('<mi>x</mi>')}</p><p><i aria-hidden="true">★</i><b>y</b></p>`;
    expect(plainText(cleanHtml(html))).toBe('★ x\n★y');
  });
});

describe('hidden elements are not shown', () => {
  const HIDDEN = [
    '<span style="display:none">x</span>',
    '<span style="color: red; DISPLAY : none !important">x</span>',
    '<span style="visibility:hidden">x</span>',
    "<span style='display:none;mso-hide:all'>x</span>",
    '<span style="display:block;display:none">x</span>',
    '<span style="display:none !important;display:block">x</span>',
    '<span hidden>x</span>',
    '<span hidden="">x</span>',
    '<span class="hidden" hidden="hidden"><b>x</b></span>',
    '<div style="display:none"><div>x</div><div>x</div></div>',
  ];

  test.each(HIDDEN)('%s', (html) => {
    expect(cleanHtml(`a${html}b`)).toBe('ab');
    expect(documentText(`<p>a ${html} b</p>`).replaceAll(/\s+/g, ' ')).toBe('a b');
  });

  test.each([
    '<span style="font-family: none">x</span>',
    '<span title="display:none" class="hidden">x</span>',
    '<span style="--display:none">x</span>',
    '<span aria-hidden="true">x</span>',
    '<span hidden="until-found">x</span>',
    '<span data-hidden="hidden">x</span>',
    '<span title=" hidden ">x</span>',
    // Newsletters draw this button a second time, for Word only.
    '<span style="display:inline-block;mso-hide:all">x</span>',
    '<span style="display:none;display:inline">x</span>',
    '<span style="display:none;display:inline !important">x</span>',
  ])('unlike %s', (html) => {
    expect(plainText(cleanHtml(`a${html}b`))).toBe('axb');
    expect(documentText(`a${html}b`)).toBe('axb');
  });

  test('closed parts of details are kept', () => {
    const content = '<div hidden="hidden"><p>y</p></div>';
    for (const html of [
      `<details><summary>x</summary>${content}</details>`,
      `<div data-type="details"><div><summary>x</summary>${content}</div></div>`,
    ])
      expect(plainText(cleanHtml(html))).toBe('x\ny');
  });

  test('the hidden line at the start of a mail is not part of its text, unless there is no other', () => {
    const line = '<div style="display:none;max-height:0">Look inside &zwnj;&nbsp;</div>';
    expect(
      documentText(`<body>${line}<table style="display:none"><tr><td>x</td></tr></table><p>Hello</p></body>`),
    ).toBe('Hello');
    expect(documentText('<div style="display:none">all</div>')).toBe('all');
    expect(documentText('<p style="display:none">a<p>b</p>')).toBe('a\n\nb');
  });

  test('sources of formulas are not part of the text of a mail', () => {
    expect(documentText(`<p>a ${semantics('<mi>x</mi>', 'x')} b</p>`)).toBe('a x b');
    expect(documentText(`<p>a ${KATEX} b</p>`)).toBe('a x2 b');
    expect(documentText(`<p>${math('<mfrac><mn>1</mn><mi>x</mi></mfrac>')}</p>`)).toBe('1/x');
  });

  test('very many are read in linear time', () => {
    for (const piece of [
      '<b hidden>',
      '<b hidden></b>',
      '<b hidden></i>',
      '<p style="display:none">x',
      '</b>',
    ])
      expect(documentText(piece.repeat(100_000)).length).toBeLessThan(400_000);
    expect(documentText(`${'<b>'.repeat(100_000)}<i hidden>x</i>y${'</b>'.repeat(100_000)}`)).toBe('y');
  });
});

describe('check boxes keep their state', () => {
  test.each([
    ['<div><en-todo checked="true"/>Milk</div>', '<div><input type="checkbox" checked>Milk</div>'],
    ['<div><en-todo checked="FALSE"/>Milk</div>', '<div><input type="checkbox">Milk</div>'],
    ['<div><en-todo></en-todo>Milk</div>', '<div><input type="checkbox">Milk</div>'],
    [
      '<ul style="--en-todo:true;"><li style="--en-checked:true;"><div>a</div></li><li style="--en-checked:false">b</li></ul>',
      '<ul><li data-checked="true"><div>a</div></li><li data-checked="false">b</li></ul>',
    ],
    [
      '<button type="button" role="checkbox" aria-checked="true"><span></span></button>a',
      '<input type="checkbox" checked><span></span>a',
    ],
    ['<button role="checkbox" aria-checked="false"></button>a', '<input type="checkbox">a'],
  ])('%s', (html, clean) => {
    expect(cleanHtml(html)).toBe(clean);
  });

  test.each([
    '<ul class="to-do-list"><li><div class="checkbox checkbox-on"></div> <span>a</span></li></ul>',
    '<ul><li data-checked="true">a</li><li role="checkbox" aria-checked="false">b</li></ul>',
    '<p><span role="checkbox" aria-checked="true"></span>a</p>',
  ])('unchanged: %s', (html) => {
    expect(isPlainlyClean(html)).toBe(true);
    expect(cleanHtml(html)).toBe(html);
  });
});

test('what is shown is clean, and stays as it is', () => {
  const piece = fc.constantFrom(
    KATEX,
    MATHJAX_2,
    MATHJAX_3,
    WIKIPEDIA,
    '<math>',
    '</math>',
    '<mtext>',
    '<mfrac>',
    '<mi>x</mi>',
    '<b hidden>',
    '</b>',
    '<p style="display:none">',
    '<details><summary>',
    '<en-todo checked>',
    '<button role=checkbox>',
    '<li style="--en-checked:true">',
    'text ',
    '<table><tr><td>',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const clean = cleanHtml(pieces.join(''));
      expect(cleanHtml(clean)).toBe(clean);
      expect(clean).not.toMatch(/<math|<annotation| hidden=|display:/);
    }),
  );
});
