import { Readable } from 'node:stream';
import { buffer, text as textOf } from 'node:stream/consumers';
import { openAttachment } from '../../../src/mail-service/mime/attachments.js';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

const lines = (...list: (string | string[])[]): string => list.flat().join('\r\n') + '\r\n';
/** A message of one character a byte that arrives in chunks of the given size. */
const stream = (message: string, chunk = 65_536): Readable => {
  const bytes = Buffer.from(message, 'latin1');
  const count = Math.ceil(bytes.length / chunk);
  return Readable.from(Array.from({ length: count }, (_, n) => bytes.subarray(n * chunk, (n + 1) * chunk)));
};
const file = (encoding: string, ...body: string[]): string =>
  lines(
    'Content-Type: application/octet-stream; name=a.txt',
    `Content-Transfer-Encoding: ${encoding}`,
    '',
    body,
  );
const wrapped = (bytes: Buffer): string[] => bytes.toString('base64').match(/.{1,76}/g) ?? [];

const contentOf = async (message: string, chunk: number): Promise<Buffer> =>
  buffer(await openAttachment(stream(message, chunk), 'ATT00001'));

test('a quoted encoding is read', async () => {
  expect((await contentOf(file('"base64"', 'aGVsbG8='), 65_536)).toString()).toBe('hello');
  const { text } = await parseMessage(stream(lines('Content-Transfer-Encoding: "Base64"', '', 'w7w=')));
  expect(text.trim()).toBe('ü');
});

test.each([
  'filename=a.pdf',
  ' FileName*=utf-8%27%27a.pdf'.replaceAll('%27', "'"),
  'filename="a.pdf"; size=3',
])('a disposition without its type is an attachment with its name: %s', async (value) => {
  const part = ['Content-Type: text/plain', `Content-Disposition:${value}`, '', 'abc'];
  const message = lines(
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    '',
    'x',
    '--b',
    part,
    '--b--',
  );
  const { attachments } = await parseMessage(stream(message));
  expect(attachments.map(({ filename }) => filename)).toEqual(['a.pdf']);
});

describe('base64', () => {
  const FOOTER = [
    '-- ',
    'footer of a list',
    'list',
    'https://lists.example.org/mailman/listinfo/list?a=bcde',
  ];

  test.each<[string, string[], string]>([
    ['a footer after padding', ['aGVsbG8=', ...FOOTER], 'hello'],
    ['a footer after two paddings', ['aGVsbA==', '', 'You receive this', ...FOOTER], 'hell'],
    ['a footer without a line end before it', [`aGVsbG8=${FOOTER.join('\r\n')}`], 'hello'],
    ['a footer without padding before it', ['aGVsbG8h', ...FOOTER], 'hello!'],
    ['another footer without padding before it', ['aGVsbG8h', '_'.repeat(47), ...FOOTER], 'hello!'],
    ['a footer of words only', ['aGVsbG8h', ...FOOTER.slice(1)], 'hello!'],
    ['a footer after bytes without their padding', ['aGVsbG8', ...FOOTER], 'hello'],
    ['padding in a line of its own', ['aGVsbG8', '=', ...FOOTER], 'hello'],
    // Some programs encode each line on its own.
    ['lines that are padded each', ['aGVsbG8=', 'IQ==', 'aGk=', ...FOOTER], 'hello!hi'],
    ['padded pieces in one line', ['aGVsbG8=IQ==aGk=', ...FOOTER], 'hello!hi'],
    ['blanks and empty lines within', ['aGVs ', '', '\tbG8='], 'hello'],
    ['characters outside of the alphabet in the first line', ['aGV*sbG8='], 'hello'],
    [
      'characters outside of the alphabet in narrow lines',
      ['aGVsbG8sIHdv', 'cmxk*ISBoZWxs', 'bywg~d29y', ...FOOTER],
      'hello, world! hello, wor',
    ],
    ['a footer of one word', ['aGVs'.repeat(19), 'aGVs', 'www.example.org', ...FOOTER], 'hel'.repeat(20)],
    // Old mail servers divide long lines in this way.
    [
      'divided lines',
      [`${'aGVs'.repeat(249)}aG!`, ` Vs${'aGVs'.repeat(20)}A!`, ' A==', ...FOOTER],
      `${'hel'.repeat(270)}\0`,
    ],
    ['no data', [], ''],
  ])('%s', async (_, body, expected) => {
    for (const chunk of [1, 7, 65_536]) {
      const content = await openAttachment(stream(file('base64', ...body), chunk), 'ATT00001');
      expect(await textOf(content)).toBe(expected);
    }
  });

  test('a footer is neither in the text, nor in the HTML, nor in the size of an attachment', async () => {
    const part = (type: string, body: string): string[] => [
      '--b',
      `Content-Type: ${type}`,
      'Content-Transfer-Encoding: BASE64 ',
      '',
      Buffer.from(body).toString('base64'),
      ...FOOTER,
    ];
    const read = async (...parts: string[]) =>
      parseMessage(stream(lines('Content-Type: multipart/mixed; boundary=b', '', parts, '--b--')));
    const { text, attachments } = await read(...part('text/plain', 'hello'), ...part('image/png', 'png!'));
    expect([text, attachments]).toEqual(['hello', [expect.objectContaining({ decodedSize: 4 })]]);
    expect((await read(...part('text/html', '<b>hello</b>'))).html).toBe('<b>hello</b>');
  });

  test('bytes are the same in lines and in one line, with a footer', async () => {
    for (const length of [1, 2, 3, 57, 58, 100_000, 300_001]) {
      const bytes = Buffer.from(Array.from({ length }, (_, n) => (n * n) % 251));
      for (const body of [wrapped(bytes), [bytes.toString('base64')]]) {
        const message = file('base64', ...body, ...FOOTER);
        const content = await openAttachment(stream(message, 10_007), 'ATT00001');
        expect(bytes.equals(await buffer(content))).toBe(true);
      }
    }
  });
});

describe('uuencode', () => {
  /** Of the bytes n² mod 251, by another program. */
  const ENCODED = [
    'M  $$"1 9)#% 461YD*G$X04F26Z5OND;2GNNXQ]8D] 459C=*7*]#UZO!URS',
    String.raw`M$6S)+8[Q6\(PFPU\[67:5L]/S%#16=YJ\X,5I#K-9P.</-E](\9P',5U)]:,`,
    '*1/FU<S/PM\'I"#   ',
  ];
  const bytes = Buffer.from(Array.from({ length: 100 }, (_, n) => (n * n) % 251));

  test.each(['x-uuencode', 'X-UUE', 'uuencode'])('%s', async (encoding) => {
    const uu = (...body: string[]): string => file(encoding, ...body);
    for (const chunk of [1, 7, 65_536]) {
      for (const zero of [' ', '`', '']) {
        const body = ['', 'begin 644 a file.txt', ...ENCODED, zero, 'end', 'a footer'];
        expect(bytes.equals(await contentOf(uu(...body), chunk))).toBe(true);
      }
      // Blanks at the ends of lines are lost on the way.
      expect((await contentOf(uu('begin 644 a', '#  $', '#', 'end'), chunk)).toString('hex')).toBe(
        '000100000000',
      );
      expect((await contentOf(uu('no file', '', 'here'), chunk)).toString()).toBe('no file\r\n\r\nhere\r\n');
    }
  });

  test('makes no file that is longer than its text', async () => {
    const body = ['begin 644 a', ...Array.from({ length: 1_000 }, () => 'M'), 'end'];
    expect((await contentOf(file('x-uuencode', ...body), 65_536)).length).toBeLessThanOrEqual(3_000);
  });

  test('is read in texts', async () => {
    const { text } = await parseMessage(
      stream(lines('Content-Transfer-Encoding: x-uuencode', '', 'begin 644 a.txt', '#0V%T', '`', 'end')),
    );
    expect(text).toBe('Cat');
  });
});
