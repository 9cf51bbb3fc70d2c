import { violations } from './check-docx.ts';
import { all, child, convert, type Docx, paragraph, properties, textOf, val, type Xml } from './read-docx.ts';

/** Numbers and bullets as Word would show them. */
function markers(docx: Docx): [marker: string, level: number, text: string][] {
  const numbering = docx.part('word/numbering.xml');
  const abstracts = new Map(
    numbering.children
      .filter(({ name }) => name === 'w:abstractNum')
      .map((a) => [a.attributes['w:abstractNumId'], a]),
  );
  const numbers = new Map(
    numbering.children.filter(({ name }) => name === 'w:num').map((n) => [n.attributes['w:numId'], n]),
  );
  const counters = new Map<string, number>();
  return all(docx.body, 'w:p').flatMap((p): [string, number, string][] => {
    const properties = child(p, 'w:pPr') && child(child(p, 'w:pPr')!, 'w:numPr');
    if (!properties) return [];
    const level = Number(val(properties, 'w:ilvl'));
    const id = val(properties, 'w:numId')!;
    const num = numbers.get(id)!;
    const format = val(
      abstracts.get(val(num, 'w:abstractNumId'))!.children.filter(({ name }) => name === 'w:lvl')[level]!,
      'w:numFmt',
    )!;
    if (format === 'bullet') return [['•', level, textOf(p)]];
    const override = num.children.find((o) => o.attributes['w:ilvl'] === String(level));
    const n = counters.get(id) ?? Number(val(override!, 'w:startOverride'));
    counters.set(id, n + 1);
    return [[`${format} ${n}`, level, textOf(p)]];
  });
}

const boxes = (docx: Docx): [string | undefined, string][] =>
  all(docx.body, 'w:p')
    .filter((p) => all(p, 'w14:checkbox').length > 0)
    .map((p) => [all(p, 'w14:checked')[0]?.attributes['w14:val'], textOf(p)]);

describe('lists', () => {
  it('have a kind and a level for each item, of Quill', () => {
    const docx = convert(
      '<ol><li data-list="bullet">a</li><li data-list="bullet" class="ql-indent-1">b</li><li data-list="ordered">c</li>' +
        '<li data-list="ordered" class="ql-indent-1">d</li><li data-list="ordered">e</li><li data-list="ordered" class="ql-indent-1">f</li></ol>',
    );
    expect(markers(docx)).toEqual([
      ['•', 0, 'a'],
      ['•', 1, 'b'],
      ['decimal 1', 0, 'c'],
      ['decimal 1', 1, 'd'],
      ['decimal 2', 0, 'e'],
      ['decimal 1', 1, 'f'],
    ]);
  });

  it('are nested, and start a new numbering', () => {
    const docx = convert(
      '<ul><li>a<ul><li>b<ol><li>c</li><li>d</li></ol></li></ul></li></ul><ol><li>e</li><li>f</li></ol><p>-</p><ol><li>g</li></ol>',
    );
    expect(markers(docx)).toEqual([
      ['•', 0, 'a'],
      ['•', 1, 'b'],
      ['decimal 1', 2, 'c'],
      ['decimal 2', 2, 'd'],
      ['decimal 1', 0, 'e'],
      ['decimal 2', 0, 'f'],
      ['decimal 1', 0, 'g'],
    ]);
  });

  it('have the requested numbers and formats', () => {
    const docx = convert(
      '<ol start="3" type="a"><li>a</li><li>b</li></ol><ol type="I"><li>c</li><li value="9">d</li><li>e</li></ol>' +
        '<ol reversed><li>f</li><li>g</li></ol><ol style="list-style-type: lower-roman" start="-5"><li>h</li></ol><ol start="999999999"><li>i</li></ol>',
    );
    expect(markers(docx).map(([marker]) => marker)).toEqual([
      'lowerLetter 3',
      'lowerLetter 4',
      'upperRoman 1',
      'upperRoman 9',
      'upperRoman 10',
      'decimal 2',
      'decimal 1',
      'lowerRoman 0',
      'decimal 32767',
    ]);
  });

  it('number an item once, with any content', () => {
    const docx = convert(
      '<ol><li><p>a</p><p>b</p><ul><li>c</li></ul><p>d</p></li><li><h2>e</h2></li><li></li><li><ul><li>f</li></ul></li></ol>',
    );
    expect(markers(docx)).toEqual([
      ['decimal 1', 0, 'a'],
      ['•', 1, 'c'],
      ['decimal 2', 0, 'e'],
      ['decimal 3', 0, ''],
      ['decimal 4', 0, ''],
      ['•', 1, 'f'],
    ]);
    expect(all(paragraph(docx, 'b'), 'w:ind')[0]?.attributes['w:left']).toBe('425');
    expect(val(paragraph(docx, 'e'), 'w:pStyle')).toBe('Heading2');
  });

  it('have at most nine levels', () => {
    const docx = convert('<ul><li>x'.repeat(40));
    expect(markers(docx).map(([, level]) => level)).toEqual(
      Array.from({ length: 40 }, (_, i) => Math.min(i, 8)),
    );
    expect(violations(docx)).toEqual([]);
    for (const indent of all(docx.body, 'w:ind'))
      expect(Number(indent.attributes['w:left'])).toBeLessThan(6_000);
  });

  it('have at most the number of lists that Word supports', () => {
    const docx = convert('<ol><li>x</li></ol>'.repeat(31_000));
    expect(textOf(docx.body).length).toBe(31_000);
    expect(
      docx.part('word/numbering.xml').children.filter(({ name }) => name === 'w:num').length,
    ).toBeLessThan(32_767);
  });
});

describe('check boxes', () => {
  it.each([
    [
      'bare',
      '<ul><li><input type="checkbox" checked> done</li><li><input type="checkbox" disabled>open</li></ul>',
    ],
    [
      'wrapped in labels',
      '<ul data-type="taskList"><li data-checked="true"><label><input type="checkbox" checked><span></span></label><div><p>done</p></div></li>' +
        '<li data-checked="false"><label><input type="checkbox"><span></span></label><div><p>open</p></div></li></ul>',
    ],
    [
      'in a paragraph',
      '<ul><li><p><input type="checkbox" checked=""> done</p></li><li><p><input type="checkbox"> open</p></li></ul>',
    ],
    ['as data', '<ul><li data-checked="true">done</li><li data-list="unchecked">open</li></ul>'],
    ['of lists', '<ul data-checked="true"><li>done</li></ul><ul data-checked="false"><li>open</li></ul>'],
    [
      'with a role',
      '<ul><li role="checkbox" aria-checked="true"><p role="presentation">done</p></li><li role="checkbox" aria-checked="false">open</li></ul>',
    ],
    [
      'with a picture of the box',
      '<ul><li role="checkbox" aria-checked="true"><img alt="checked" aria-roledescription="checkbox"><p>done</p></li>' +
        '<li role="checkbox" aria-checked="false"><img alt="unchecked" aria-roledescription="checkbox"><p>open</p></li></ul>',
    ],
    [
      'of Notion',
      '<ul class="to-do-list"><li><div class="checkbox checkbox-on"></div> <span class="to-do-children-checked">done</span></li></ul>' +
        '<ul class="to-do-list"><li><div class="checkbox checkbox-off"></div> <span class="to-do-children-unchecked">open</span></li></ul>',
    ],
    [
      'of GitHub',
      '<ul class="contains-task-list"><li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" checked="" disabled=""> done</li>' +
        '<li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" disabled=""> open</li></ul>',
    ],
    [
      'of Confluence',
      '<ul class="inline-task-list"><li data-inline-task-id="1" class="checked"><span>done</span></li><li data-inline-task-id="2">open</li></ul>',
    ],
    [
      'of lists with a class',
      '<ul class="checklist"><li class="checked">done</li></ul><ul class="listtype-task"><li>open</li></ul>',
    ],
    [
      'of TinyMCE and Joplin',
      '<ul class="tox-checklist"><li class="tox-checklist--checked">done</li></ul><ul class="joplin-checklist"><li>open</li></ul>',
    ],
    [
      'of Dropbox',
      '<ul class="listtype-taskdone"><li>done</li></ul><ul class="listtype-task"><li>open</li></ul>',
    ],
    [
      'drawn, with a role',
      '<ul><li><span role="checkbox" aria-checked="true"></span> done</li><li><p><i role="checkbox" aria-checked="false"></i>open</p></li></ul>',
    ],
    [
      'of Evernote',
      '<ul style="--en-todo:true;"><li style="--en-checked:true;"><div>done</div></li><li style="--en-checked:false;"><div>open</div></li></ul>',
    ],
  ])('%s are check boxes of Word', (_, html) => {
    const docx = convert(html);
    expect(boxes(docx)).toEqual([
      ['1', '☒\tdone'],
      ['0', '☐\topen'],
    ]);
    expect(markers(docx)).toEqual([]);
    expect(all(docx.body, 'w:p')).toHaveLength(2);
    expect(violations(docx)).toEqual([]);
  });

  it('stand before texts that OneNote has tagged', () => {
    const docx = convert(
      '<p data-tag="to-do">a</p><p><span data-tag="important,to-do:completed">b</span></p><p data-tag="important">c</p><ul><li><span data-tag="to-do">d</span></li></ul>',
    );
    expect(boxes(docx)).toEqual([
      ['0', '☐ a'],
      ['1', '☒ b'],
      ['0', '☐ d'],
    ]);
    expect(violations(docx)).toEqual([]);
  });

  it('are allowed within text', () => {
    expect(boxes(convert('<p>a <input type="checkbox"> b</p>'))).toEqual([['0', 'a ☐ b']]);
    expect(boxes(convert('<ul><li>a <input type="checkbox" checked> b</li></ul>'))).toEqual([['1', 'a ☒ b']]);
    expect(boxes(convert('<p><en-todo checked="true"></en-todo>b</p>'))).toEqual([['1', '☒b']]);
    expect(boxes(convert('<p>a <span role="checkbox" aria-checked="true"></span> b</p>'))).toEqual([
      ['1', 'a ☒ b'],
    ]);
  });

  it('are not bullets of ordinary lists with similar classes', () => {
    const docx = convert(
      '<ul class="my-task-lists"><li class="checked">a</li><li><b class="checkbox">b</b></li></ul>',
    );
    expect(boxes(docx)).toEqual([]);
    expect(markers(docx).map(([marker]) => marker)).toEqual(['•', '•']);
  });
});

describe('tables', () => {
  const grid = (docx: Docx): string[][] =>
    all(docx.body, 'w:tr').map((row) =>
      row.children
        .filter(({ name }) => name === 'w:tc')
        .map((cell) => {
          const properties = child(cell, 'w:tcPr')!;
          return [
            textOf(cell),
            val(properties, 'w:gridSpan') && `→${val(properties, 'w:gridSpan')}`,
            val(properties, 'w:vMerge') && (val(properties, 'w:vMerge') === 'restart' ? '↓' : '|'),
          ].join('');
        }),
    );
  const headers = (docx: Docx): number[] =>
    all(docx.body, 'w:tr').map((row) => all(row, 'w:tblHeader').length);

  it('merge cells in both directions', () => {
    const docx = convert(
      '<table><tr><td rowspan="2">a</td><td colspan="2">b</td></tr><tr><td>c</td><td rowspan="0">d</td></tr><tr><td>e</td><td>f</td></tr></table>',
    );
    expect(grid(docx)).toEqual([
      ['a↓', 'b→2'],
      ['|', 'c', 'd↓'],
      ['e', 'f', '|'],
    ]);
    expect(violations(docx)).toEqual([]);
  });

  it('repeat their header rows', () => {
    expect(
      headers(
        convert('<table><thead><tr><th>a</th></tr><tr><td>b</td></tr></thead><tr><td>c</td></tr></table>'),
      ),
    ).toEqual([1, 1, 0]);
    expect(
      headers(convert('<table><tr><th>a</th></tr><tr><th>b</th><td>c</td></tr><tr><th>d</th></tr></table>')),
    ).toEqual([1, 0, 0]);
    expect(headers(convert('<table><tr><th>a</th></tr></table>'))).toEqual([0]);
  });

  it('have borders', () => {
    const docx = convert('<table><tr><td>a</td></tr></table>');
    const style = docx
      .part('word/styles.xml')
      .children.find(({ attributes }) => attributes['w:styleId'] === val(docx.body, 'w:tblStyle'));
    expect(all(style!, 'w:tblBorders')[0]?.children.map(({ name }) => name)).toEqual([
      'w:top',
      'w:left',
      'w:bottom',
      'w:right',
      'w:insideH',
      'w:insideV',
    ]);
  });

  it('have no lines where these are switched off', () => {
    const lines = (attributes: string) => {
      const docx = convert(`<table ${attributes}><tr><td>x</td></tr></table>`);
      expect(violations(docx)).toEqual([]);
      return all(docx.body, 'w:tblBorders').flatMap(({ children }) =>
        children.map((side) => side.attributes['w:val']),
      );
    };
    for (const attributes of [
      'border="0"',
      'style="border: none"',
      'style="border: 0px solid"',
      'style="border-style: hidden"',
    ])
      expect(lines(attributes)).toEqual(Array.from({ length: 6 }, () => 'nil'));
    for (const attributes of [
      '',
      'border="1"',
      'style="border: 1px solid"',
      'border="0" style="border: 0.5pt solid"',
    ])
      expect(lines(attributes)).toEqual([]);
  });

  it('fill short rows and have no overlapping spans', () => {
    const docx = convert('<table><tr><td>a<td rowspan=3>b<td>c<tr><td colspan=3>d<tr><tr><td>e</table>');
    expect(violations(docx)).toEqual([]);
    expect(textOf(docx.body)).toBe('abcde');
  });

  it('have at most the number of columns that Word supports, and lose no text', () => {
    const docx = convert(
      `<table><tr>${'<td>x</td>'.repeat(100)}</tr><tr><td colspan="1000">y</td></tr></table>`,
    );
    expect(violations(docx)).toEqual([]);
    expect(textOf(docx.body)).toBe(`${'x'.repeat(100)}y`);
    expect(child(all(docx.body, 'w:tbl')[0]!, 'w:tblGrid')!.children).toHaveLength(63);
  });

  it('have the requested widths, limited to the page', () => {
    const widths = (html: string) =>
      all(convert(html).body, 'w:gridCol').map(({ attributes }) => Number(attributes['w:w']));
    expect(
      widths('<table><colgroup><col style="width: 100px"><col></colgroup><tr><td>a<td>b</table>'),
    ).toEqual([1500, 7526]);
    expect(
      widths('<table><tr><td width="9000">a<td width="1000">b</table>').reduce((a, b) => a + b),
    ).toBeLessThanOrEqual(9027);
  });

  it('contain blocks and tables', () => {
    const docx = convert(
      '<table><caption>cap</caption><tr><td><ul><li>a</li></ul><table><tr><td>b</td></tr></table></td><td style="background-color: #eee"><p>c</p><p>d</p></td></tr></table><table><tr><td>e</td></tr></table>',
    );
    expect(violations(docx)).toEqual([]);
    expect(textOf(docx.body)).toBe('capabcde');
    expect(all(docx.body, 'w:tbl')).toHaveLength(3);
    expect(val(paragraph(docx, 'cap'), 'w:pStyle')).toBe('Caption');
    expect(properties(all(docx.body, 'w:r').find((r) => textOf(r) === 'c')!)).toEqual([]);
  });

  it('are nested at most ten deep, and lose no text beyond that', () => {
    const docx = convert('<table><tr><td>x'.repeat(40));
    expect(textOf(docx.body)).toBe('x'.repeat(40));
    expect(all(docx.body, 'w:tbl')).toHaveLength(10);
    expect(violations(docx)).toEqual([]);
  });

  it('are mirrored in right-to-left text', () => {
    expect(all(convert('<table dir="rtl"><tr><td>a</table>').body, 'w:bidiVisual')).toHaveLength(1);
  });
});

describe('pictures', () => {
  const PNG =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==';
  const bytes = (...parts: (number[] | string)[]): string =>
    Buffer.concat(
      parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
    ).toString('base64');
  const GIF = `data:image/gif;base64,${bytes('GIF89a', [0x2c, 1, 0x90, 0, 0, 0, 0])}`;
  const JPEG = `data:image/jpeg;base64,${bytes([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xff, 0xc2, 0, 11, 8, 0, 120, 0, 160, 1, 1, 17, 0])}`;
  const emu = (docx: Docx): number[][] =>
    all(docx.body, 'wp:extent').map(({ attributes }) => [
      Number(attributes['cx']) / 9525,
      Number(attributes['cy']) / 9525,
    ]);
  const drawings = (docx: Docx): Xml[] => all(docx.body, 'w:drawing');

  it('are stored with their description and the size from their bytes', () => {
    const docx = convert(
      `<p>a<img alt="red &quot;dot&quot;" src="${PNG}"><img src="${GIF}"><img src="${JPEG}"></p>`,
    );
    expect(emu(docx)).toEqual([
      [5, 5],
      [300, 144],
      [160, 120],
    ]);
    expect(Object.keys(docx.files).filter((path) => path.includes('media'))).toEqual([
      'word/media/image1.png',
      'word/media/image2.gif',
      'word/media/image3.jpeg',
    ]);
    expect(all(docx.body, 'wp:docPr')[0]?.attributes['descr']).toBe('red "dot"');
    expect(Buffer.from(docx.files['word/media/image1.png']!).toString('base64')).toBe(PNG.split(',')[1]);
    expect(violations(docx)).toEqual([]);
  });

  it('are stored once, in their real format and not the declared one', () => {
    const docx = convert(`<img src="${PNG}"><img src="${PNG}"><img src="${GIF.replace('gif', 'png')}">`);
    expect(Object.keys(docx.files).filter((path) => path.includes('media'))).toEqual([
      'word/media/image1.png',
      'word/media/image2.gif',
    ]);
    expect(drawings(docx)).toHaveLength(3);
  });

  it('have the requested size, limited to the page', () => {
    const [a, b, c, d, e] = emu(
      convert(
        `<img width="50" src="${PNG}"><img style="width: 40px; height: 20px" src="${PNG}"><img width="100%" src="${GIF}"><img width="99999" height="9" src="${PNG}"><table><tr><td><img width=600 src="${PNG}"><td></table>`,
      ),
    ) as [number[], number[], number[], number[], number[]];
    expect(a).toEqual([50, 50]);
    expect(b).toEqual([40, 20]);
    expect(c[0]).toBeCloseTo(601.7, 0);
    expect(d[0]).toBeLessThan(602);
    expect(d[1]).toBeGreaterThanOrEqual(1);
    expect(e[0]).toBeLessThan(301);
  });

  it.each([
    ['remote', 'https://x.test/a.png', 'https://x.test/a.png'],
    ['a file', 'file:///etc/passwd', undefined],
    ['a path', '/etc/passwd', undefined],
    ['svg', 'data:image/svg+xml;base64,PHN2Zy8+', undefined],
    ['webp', 'data:image/webp;base64,UklGRgAAAABXRUJQ', undefined],
    ['cut off', 'data:image/png;base64,iVBORw0KGgo=', undefined],
    ['no picture at all', 'data:image/png;base64,AAAA', undefined],
    ['without pixels', `data:image/gif;base64,${bytes('GIF89a', [0, 0, 1, 0, 0, 0])}`, undefined],
    [
      'enormous',
      `data:image/png;base64,${bytes([0x89], 'PNG\r\n\x1a\n', [0, 0, 0, 13], 'IHDR', [127, 255, 255, 255, 127, 255, 255, 255])}`,
      undefined,
    ],
    [
      'an endless jpeg',
      `data:image/jpeg;base64,${bytes([0xff, 0xd8, ...Array.from({ length: 40 }, () => [0xff, 0xe0, 0, 0]).flat()])}`,
      undefined,
    ],
  ])('%s: the description instead', (_, src, link) => {
    const docx = convert(`<p>a <img alt="what it shows" src="${src}"></p>`);
    expect(drawings(docx)).toEqual([]);
    expect(docx.lines).toEqual([[undefined, 'a what it shows']]);
    const targets = docx
      .part('word/_rels/document.xml.rels')
      .children.filter(({ attributes }) => attributes['TargetMode'])
      .map(({ attributes }) => attributes['Target']);
    expect(targets).toEqual(link ? [link] : []);
  });
});

describe('headings by their role', () => {
  it.each([
    ['<div role="heading" aria-level="1">x</div>', 'Heading1'],
    ['<p role="heading" aria-level="3">x</p>', 'Heading3'],
    ['a<span role="Heading" aria-level=" 4 ">x</span>b', 'Heading4'],
    ['<div role="heading">x</div>', 'Heading2'],
    ['<div role="heading" aria-level="9">x</div>', 'Heading6'],
    ['<div role="heading" aria-level="0">x</div>', 'Heading2'],
    ['<h2 aria-level="5">x</h2>', 'Heading5'],
    ['<h2 aria-level="x">x</h2>', 'Heading2'],
  ])('%s', (html, style) => {
    const docx = convert(html);
    expect(val(paragraph(docx, 'x'), 'w:pStyle')).toBe(style);
    expect(violations(docx)).toEqual([]);
  });

  it('need the role', () => {
    expect(val(paragraph(convert('<div aria-level="1">x</div>'), 'x'), 'w:pStyle')).toBeUndefined();
  });
});
