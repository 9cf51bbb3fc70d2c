import { formatXml, readXml, XmlError } from '../../../src/lib/xml/index.js';

const LIMITS = { depth: 10, nodes: 100_000 };
/** Characters that the reader gives to the parser at once. */
const PIECE = 16 * 1024;

/** Text of which a piece may end in the middle: pairs of surrogates, line ends, references, CDATA, tags, names and values. */
const PARTS = [
  '😀',
  '\r\n',
  '&amp;',
  '&#x1F600;',
  '<![CDATA[]]>',
  '<b c="😀&lt;\r\n"/>',
  '<n:é xmlns:n="y">z</n:é>',
];
const READ = ['😀', '\n', '&amp;', '😀', '', '<b c="😀&lt; "/>', '<é xmlns="y">z</é>'];

describe('the pieces in which XML is read', () => {
  test.each(PARTS.map((part, n) => [JSON.stringify(part), part, READ[n] as string]))(
    'end at any character of %s',
    async (_name, part, read) => {
      for (let cut = 1; cut < part.length; cut += 1) {
        const head = '<a xmlns="x">';
        const before = 'x'.repeat(PIECE - head.length - cut);
        const document = `${head}${before}${part}after</a>`;
        expect(document.slice(0, PIECE).endsWith(part.slice(0, cut))).toBe(true);
        const written = formatXml(await readXml(document, LIMITS));
        expect(written.replace(before, '')).toBe(`${head}${read}after</a>`);
      }
    },
  );

  test('an error is found in each of them, and at the end', async () => {
    const filling = '<b/>'.repeat(PIECE / 2);
    for (const text of [`<a>${filling}</c>`, `<a>${filling}`, `<a>${filling}<!DOCTYPE a></a>`])
      await expect(readXml(text, LIMITS)).rejects.toBeInstanceOf(XmlError);
    await expect(readXml(`<a>${filling}</a>`, { ...LIMITS, nodes: PIECE / 2 })).rejects.toMatchObject({
      code: 'too_many_nodes',
    });
  });

  test('other work runs between them', async () => {
    const document = `<a>${'<b c="d">e</b>'.repeat(30_000)}</a>`;
    const state = { isRead: false };
    const reading = readXml(document, LIMITS).then(() => (state.isRead = true));
    let turns = 0;
    while (!state.isRead) {
      await new Promise(setImmediate);
      turns += 1;
    }
    await reading;
    expect(turns).toBeGreaterThan(1);
  });
});
