import fc from 'fast-check';
import { unzipSync } from 'fflate';
import { SaxesParser } from 'saxes';
import { csvLine } from '../../src/lib/csv/index.js';
import { XlsxWriter } from '../../src/lib/xlsx/index.js';
import { runs } from '../support/property-runs.ts';

/** Files of a workbook by name. */
async function workbook(
  write: (book: XlsxWriter) => Promise<void>,
  maxRows?: number,
): Promise<Map<string, string>> {
  const chunks: Uint8Array[] = [];
  const book = new XlsxWriter(async (bytes) => void chunks.push(bytes.slice()), maxRows);
  await write(book);
  await book.end();
  const files = Object.entries(unzipSync(Buffer.concat(chunks)));
  return new Map(files.map(([name, bytes]) => [name, Buffer.from(bytes).toString()]));
}

/** Text of the cells of a sheet by row, as an independent parser reads it; throws for XML that is not well-formed. */
function rowsOf(xml: string): string[][] {
  const rows: string[][] = [];
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name }) => {
    if (name === 'row') rows.push([]);
    if (name === 'c') rows.at(-1)!.push('');
    if (name === 'f') throw new Error('a formula');
  });
  parser.on('text', (text) => {
    const row = rows.at(-1);
    if (row && row.length > 0) row.push(row.pop()! + text);
  });
  parser.write(xml).close();
  return rows;
}

const sheet = (files: Map<string, string>, n = 1) => rowsOf(files.get(`xl/worksheets/sheet${n}.xml`)!);
const namesOf = (files: Map<string, string>): string[] =>
  [...files.get('xl/workbook.xml')!.matchAll(/<sheet name="([^"]*)"/g)].map(([, name]) => name!);
const text = (value: string) => ({ kind: 'text', value }) as const;

describe('XLSX', () => {
  test('a sheet with too many rows continues in another one with the same header', async () => {
    const files = await workbook(async (book) => {
      await book.sheet('Data', ['n']);
      for (let n = 0; n < 7; n += 1) await book.row([{ kind: 'number', value: n }]);
    }, 4);
    expect(namesOf(files)).toEqual(['Data', 'Data (2)', 'Data (3)']);
    expect([1, 2, 3].map((n) => sheet(files, n))).toEqual([
      [['n'], ['0'], ['1'], ['2']],
      [['n'], ['3'], ['4'], ['5']],
      [['n'], ['6']],
    ]);
    for (const part of ['[Content_Types].xml', 'xl/_rels/workbook.xml.rels'])
      for (const n of [1, 2, 3]) expect(files.get(part)).toContain(`worksheets/sheet${n}.xml`);
  });

  // ExcelJS reads no row without a number, and no cell without a reference.
  test('rows have their numbers and cells their references; empty cells are absent', async () => {
    const files = await workbook(async (book) => {
      await book.sheet('R', ['a', 'b', 'c']);
      await book.row([text('x'), null, { kind: 'number', value: 2 }]);
      await book.row(Array.from({ length: 16_384 }, () => ({ kind: 'boolean', value: true }) as const));
    });
    const xml = files.get('xl/worksheets/sheet1.xml')!;
    const [header, short, long] = [...xml.matchAll(/<row r="(\d+)">(.*?)<\/row>/gs)].map(
      ([, number, cells]) => [
        number,
        [...cells!.matchAll(/<c r="([A-Z]+\d+)"/g)].map(([, reference]) => reference!),
      ],
    ) as [string, string[]][];
    expect(header).toEqual(['1', ['A1', 'B1', 'C1']]);
    expect(short).toEqual(['2', ['A2', 'C2']]);
    const [number, references] = long!;
    expect([number, references.length]).toEqual(['3', 16_384]);
    expect([25, 26, 51, 52, 701, 702, 16_383].map((n) => references[n])).toEqual([
      'Z3',
      'AA3',
      'AZ3',
      'BA3',
      'ZZ3',
      'AAA3',
      'XFD3',
    ]);
  });

  test('columns have the given widths, others fit a time and their title', async () => {
    const files = await workbook((book) =>
      book.sheet('W', ['id', 'n', 'x'.repeat(30), 'x'.repeat(99)], [38]),
    );
    const widths = files.get('xl/worksheets/sheet1.xml')!.matchAll(/<col min="(\d)" max="\d" width="(\d+)"/g);
    expect([...widths].map(([, place, width]) => [place, width])).toEqual([
      ['1', '38'],
      ['2', '20'],
      ['3', '32'],
      ['4', '40'],
    ]);
  });

  test('names of sheets: allowed characters, 31 at most, different, no formula', async () => {
    const titles = [
      '=A*B?:/[C]',
      'x'.repeat(40),
      'X'.repeat(40),
      "'",
      '',
      '@SUM',
      '😀'.repeat(20),
      'a"&<b',
      `${'y'.repeat(30)}'s`,
    ];
    const files = await workbook(async (book) => {
      for (const title of titles) await book.sheet(title, []);
    });
    const names = namesOf(files);
    expect(names.slice(0, 6)).toEqual(
      ['A B    C', 'x'.repeat(31), `${'X'.repeat(27)} (2)`, 'Sheet', 'Sheet (2)', 'SUM'].map((name) =>
        expect.stringMatching(
          new RegExp(`^${name.replaceAll(/\s+/g, String.raw`\s+`).replaceAll(/[()]/g, String.raw`\$&`)}$`),
        ),
      ),
    );
    for (const name of names) {
      expect(name.length).toBeLessThanOrEqual(31 + '&quot;&amp;&lt;'.length);
      expect(name).not.toMatch(/[*?:\\/[\]]|^[=+\-@']|'$/);
      expect(name.isWellFormed()).toBe(true);
    }
  });

  test('a sheet has no name that Excel keeps for itself, and no half of a character', async () => {
    const files = await workbook(async (book) => {
      for (const title of ['History', 'HISTORY', '😀'.repeat(20)]) await book.sheet(title, []);
    });
    expect(namesOf(files)).toEqual(['History (2)', 'HISTORY (3)', '😀'.repeat(15)]);
  });

  test('texts: cut at 32,767 characters, without control characters, escapes of the format', async () => {
    const files = await workbook(async (book) => {
      await book.sheet('T', []);
      await book.row([
        text('x'.repeat(40_000)),
        text('a\u0000\u0008\ufffeb\ud800'),
        text('_x000D_ \r'),
        text('=1+1'),
      ]);
    });
    const [, [long, control, escaped, formula] = []] = sheet(files);
    expect(long).toHaveLength(32_767);
    expect(control).toBe('ab\ufffd');
    expect(escaped).toBe('_x005F_x000D_ _x000D_');
    expect(formula).toBe('=1+1');
  });

  test('any text is well-formed XML and stays as it is', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 5 }),
        async (values) => {
          const files = await workbook(async (book) => {
            await book.sheet(values[0]!, values);
            await book.row(values.map(text));
          });
          const plain = values.map((value) => value.replaceAll(/_(?=x[\da-fA-F]{4}_)/g, '_x005F_'));
          expect(sheet(files)).toEqual([plain, plain]);
        },
      ),
      { numRuns: runs(50) },
    );
  });
});

describe('CSV', () => {
  test.each([
    ['=1', "'=1"],
    ['  =1', "'  =1"],
    ['"=1', `"'""=1"`],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@x', "'@x"],
    ['＝1', "'＝1"],
    ['\ufe661', "'\ufe661"],
    ['\ufe621', "'\ufe621"],
    ['\ufe631', "'\ufe631"],
    ['\ufe6bx', "'\ufe6bx"],
    ['\u207c1', "'\u207c1"],
    ['\u200b=1', "'\u200b=1"],
    ['\u2060\u00ad\ufeff=1', "'\u2060\u00ad\ufeff=1"],
    ['\u202e \u0001=1', "'\u202e \u0001=1"],
    ['\u3164\u2800@x', "'\u3164\u2800@x"],
    ['\u201c=1', "'\u201c=1"],
    ['\u200ba', '\u200ba'],
    ['\tx', `"'\tx"`],
    ['\nx', `"'\nx"`],
    ['\rx', `"'\rx"`],
    ['a=1', 'a=1'],
    [{ literal: '+47 55 50 12 34' }, '+47 55 50 12 34'],
    ['a,b', '"a,b"'],
    ['a"b', '"a""b"'],
    [-1, '-1'],
    [1.5, '1.5'],
    [true, 'true'],
    [null, ''],
  ])('%j is written as %s', (value, expected) => {
    expect(csvLine([value])).toBe(`${expected}\r\n`);
  });
});
