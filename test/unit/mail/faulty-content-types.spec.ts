import { Readable } from 'node:stream';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

const lines = (...list: (string | string[])[]): string => list.flat().join('\r\n') + '\r\n';
/** Parses a message of one character a byte that arrives in chunks of the given size. */
const parse = (message: string, chunk = 65_536) => {
  const bytes = Buffer.from(message, 'latin1');
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, n) =>
    bytes.subarray(n * chunk, (n + 1) * chunk),
  );
  return parseMessage(Readable.from(chunks));
};
const RICH = ['plain text', '<b>rich</b>', 0];
const parts = (boundary: string): string[] => [
  `--${boundary}`,
  'Content-Type: text/plain',
  '',
  'plain text',
  `--${boundary}`,
  'Content-Type: text/html',
  '',
  '<b>rich</b>',
  `--${boundary}--`,
];
const read = async (message: string, chunk?: number) => {
  const { text, html, attachments } = await parse(message, chunk);
  return [text.trim(), html?.trim(), attachments.length];
};
const plain = (text: string) => [text, expect.anything(), 0];

describe('a multipart whose boundary is missing or wrong', () => {
  test.each([
    ['without a boundary', 'Content-Type: multipart/alternative'],
    ['with an empty boundary', 'Content-Type: multipart/alternative; boundary=""'],
    ['with another boundary', 'Content-Type: multipart/alternative; charset=utf-8; boundary="other"'],
    ['with a space in the boundary', 'Content-Type: multipart/alternative; boundary="UUU "'],
    ['without a semicolon', 'Content-Type: multipart/alternative boundary="UUU"'],
    ['with a comment', 'Content-Type: multipart/alternative (both; of them); boundary="UUU"'],
    ['in the form of RFC 2231', 'Content-Type: multipart/alternative; boundary*0="UU";\r\n boundary*1="U"'],
  ])('%s shows its parts', async (_, header) => {
    for (const chunk of [1, 13, 65_536])
      expect(await read(lines(header, '', 'a preamble', '-- ', parts('UUU')), chunk)).toEqual(RICH);
    const inner = lines(header, '', parts('UUU')).trimEnd();
    const outer = ['Content-Type: multipart/mixed; boundary=outer', '', '--outer', inner, '--outer--'];
    expect(await read(lines(outer))).toEqual(RICH);
  });

  test('is a text when its body has no parts', async () => {
    const body = ['Dear Pat,', '--', 'a line', '--signature', 'Eli'];
    for (const header of ['multipart/mixed', 'multipart/mixed; boundary=b'])
      expect(await read(lines(`Content-Type: ${header}`, '', body))).toEqual(plain(body.join('\n')));
    const named = 'Content-Type: multipart/mixed; charset="iso-8859-1"; boundary=b';
    expect((await parse(lines(named, '', 'Gr\xfc\xdfe'))).text).toBe('Grüße');
    expect(await read(lines('Content-Type: multipart/mixed; boundary=b', '', 'x'.repeat(400_000)))).toEqual(
      plain('x'.repeat(400_000)),
    );
  });

  test('ends with the multipart that it is a part of', async () => {
    const outer = ['Content-Type: multipart/mixed; boundary=outer', '', '--outer'];
    const empty = ['Content-Type: multipart/alternative; boundary=inner', ''];
    const text = ['--outer', 'Content-Type: text/plain', '', 'after it', '--outer--'];
    expect(await read(lines(outer, empty, text))).toEqual(plain('after it'));
  });

  test('white space after a boundary is no part of it', async () => {
    const padded = parts('UUU').map((line) => (line.startsWith('--') ? `${line} \t` : line));
    for (const chunk of [1, 65_536])
      expect(
        await read(lines('Content-Type: multipart/alternative; boundary=UUU', '', padded, 'epilogue'), chunk),
      ).toEqual(RICH);
  });

  test('many heads without a body do not take long', async () => {
    const head = ['--b', 'Content-Type: multipart/mixed; boundary=other', ''];
    const message = lines(
      'Content-Type: multipart/mixed; boundary=b',
      '',
      `${head.join('\r\n')}\r\n`.repeat(200_000),
    );
    await expect(parse(message)).rejects.toThrow(/child nodes|parts/);
  });
});

describe('a Content-Type without a media type', () => {
  test.each([
    ['without a subtype', 'Content-Type: text'],
    ['with another word', 'Content-Type: text; format=plain'],
    ['empty', 'Content-Type:'],
    ['with a comment', 'Content-Type: text/plain (nothing else)'],
    ['with spaces', 'Content-Type: text / plain; charset=utf-8'],
    ['without a semicolon', 'Content-Type: text/plain charset=utf-8'],
    ['repeated', 'Content-Type: text\r\nContent-Type: plain'],
  ])('%s is a text', async (_, header) => {
    expect(await read(lines('Subject: Crane', header, '', 'the text'))).toEqual(plain('the text'));
    const outer = ['Content-Type: multipart/mixed; boundary=b', '', '--b', header, '', 'the text', '--b--'];
    expect(await read(lines(outer))).toEqual(plain('the text'));
  });

  test('keeps its character set', async () => {
    for (const header of ['text; charset=iso-8859-15', 'text/plain charset="iso-8859-15"'])
      expect((await parse(lines(`Content-Type: ${header}`, '', '5 \xa4'))).text).toBe('5 €');
  });

  test('of a file stays a file', async () => {
    const file = ['--b', 'Content-Type: pdf; name="plan.pdf"', '', '%PDF'];
    const other = ['--b', 'Content-Type: pdf', 'Content-Disposition: attachment', '', '%PDF', '--b--'];
    const encoded = ['--b', 'Content-Type: pdf', 'Content-Transfer-Encoding: base64', '', 'JVBERg=='];
    const { attachments } = await parse(
      lines('Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'text', file, encoded, other),
    );
    expect(attachments.map(({ filename, contentType }) => [filename, contentType])).toEqual([
      ['plan.pdf', 'application/octet-stream'],
      [expect.stringMatching(/^attachment-2/), 'application/octet-stream'],
      [expect.stringMatching(/^attachment-3/), 'application/octet-stream'],
    ]);
  });
});

test.each([
  ['../../a.txt', 'a.txt'],
  [String.raw`C:\\dir\\a.txt`, 'a.txt'],
  ['a\tb.txt', 'a b.txt'],
  ['', 'attachment-1.bin'],
  ['..', 'attachment-1.bin'],
])('the name %j of an attachment is answered as %j', async (name, shown) => {
  const part = [
    'Content-Type: application/octet-stream',
    `Content-Disposition: attachment; filename="${name}"`,
  ];
  const raw = lines('Content-Type: multipart/mixed; boundary=b', '', '--b', part, '', 'data', '--b--');
  expect((await parse(raw, 65_536)).attachments).toMatchObject([{ filename: shown }]);
});

describe('a digest', () => {
  const message = ['From: ann@x.example', 'Subject: First', '', 'one'];
  test.each([
    ['without a type', ['', ...message]],
    ['with another field', ['Content-Description: first', '', ...message]],
    ['with an invalid type', ['Content-Type: message', '', ...message]],
  ])('a part %s is a message', async (_, part) => {
    const text = ['--b', 'Content-Type: text/plain', '', 'contents'];
    const raw = lines('Content-Type: multipart/digest; boundary=b', '', text, '--b', part, '--b--');
    for (const chunk of [1, 65_536]) {
      const parsed = await parse(raw, chunk);
      expect(parsed.text.trim()).toBe('contents');
      expect(parsed.attachments).toMatchObject([
        {
          contentType: 'message/rfc822',
          filename: 'attachment-1.eml',
          decodedSize: message.join('\r\n').length,
        },
      ]);
    }
  });

  test('ends with its multipart', async () => {
    const digest = ['Content-Type: multipart/digest; boundary=d', '', '--d', '', ...message, '--d--'];
    const raw = lines(
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      digest,
      '--b',
      '',
      'footer',
      '--b--',
    );
    expect(await read(raw)).toEqual(['footer', expect.anything(), 1]);
  });
});

describe('a text of another type', () => {
  test.each(['text/markdown', 'text/enriched', 'text/x-unknown; charset=utf-8', 'Text/CSV'])(
    '%s is shown',
    async (type) => {
      expect(await read(lines(`Content-Type: ${type}`, '', '*text*'))).toEqual(plain('*text*'));
      const first = [
        '--b',
        `Content-Type: ${type}`,
        '',
        '*text*',
        '--b',
        'Content-Type: image/png',
        '',
        'x',
        '--b--',
      ];
      const mixed = await parse(lines('Content-Type: multipart/mixed; boundary=b', '', first));
      expect([mixed.text.trim(), mixed.attachments.length]).toEqual(['*text*', 1]);
    },
  );

  test.each([
    ['a calendar', 'Content-Type: text/calendar; method=REQUEST'],
    ['a contact', 'Content-Type: text/vcard'],
    ['a file', 'Content-Type: text/markdown; name=notes.md'],
    ['an attachment', 'Content-Type: text/markdown\r\nContent-Disposition: attachment'],
  ])('%s stays a file', async (_, header) => {
    const { text, attachments } = await parse(lines(header, '', 'data'));
    expect([text, attachments.length]).toEqual(['', 1]);
  });

  test('an alternative is not shown beside the text', async () => {
    const watch = ['--UUU', 'Content-Type: text/watch-html', '', '<b>small</b>'];
    const all = parts('UUU');
    for (const at of [0, 4]) {
      const body = [...all.slice(0, at), ...watch, ...all.slice(at)];
      const { text, html } = await parse(
        lines('Content-Type: multipart/alternative; boundary=UUU', '', body),
      );
      expect([text.trim(), html?.trim()]).toEqual(['plain text', '<b>rich</b>']);
    }
  });
});

describe('a text without a known character set', () => {
  const meta = (charset: string): string =>
    `<html><head><meta http-equiv="Content-Type" content="text/html; charset=${charset}"></head>`;
  const textOf = async (header: string, body: string) =>
    (
      await parse(
        lines(
          header,
          'Content-Transfer-Encoding: base64',
          '',
          Buffer.from(body, 'latin1').toString('base64'),
        ),
      )
    ).text.trim();

  test.each([
    ['its <meta>', 'text/html', `${meta('windows-1251')}\xcf\xf0`, 'Пр'],
    ['the short form of <meta>', 'text/html', `<meta charset='koi8-r'>\xf0`, 'П'],
    ['its <meta> beside ASCII', 'text/html; charset=us-ascii', `${meta('windows-1251')}\xcf\xf0`, 'Пр'],
    [
      'its <meta> beside an unknown one',
      'text/html; charset=x-unknown',
      `${meta('windows-1251')}\xcf\xf0`,
      'Пр',
    ],
    ['ISO-2022-JP', 'text/html', `${meta('iso-2022-jp')}\x1b$B%F%9%H\x1b(B`, 'テスト'],
    ['ISO-2022-JP without <meta>', 'text/plain', '\x1b$B%F%9%H\x1b(B', 'テスト'],
    ['UTF-8 with a wrong <meta>', 'text/html', `${meta('windows-1251')}\xc3\xbc`, 'ü'],
    ['a byte order mark', 'text/plain', '\xff\xfe\x1f\x04', 'П'],
    ['UTF-8', 'text/plain', 'Gr\xc3\xbc\xc3\x9fe', 'Grüße'],
    ['no other sign', 'text/plain', 'Gr\xfc\xdfe', 'Grüße'],
    ['a set that only the runtime knows', 'text/plain; charset=x-mac-cyrillic', '\x8f\xf0\xe0', 'Пра'],
    ['no set', 'text/plain; charset=x-user-defined', 'Gr\xfc\xdfe', 'Grüße'],
    ['no other sign in ASCII', 'text/plain; charset=ascii', 'Gr\xfc\xdfe', 'Grüße'],
  ])('%s', async (_, type, body, expected) => {
    expect(await textOf(`Content-Type: ${type}`, body)).toBe(expected);
  });

  test.each([
    'ANSI_X3.4-1968',
    'ansi_x3.4-1986',
    'ISO_646.irv:1991',
    'ISO646-US',
    'iso-ir-6',
    'IBM367',
    'cp367',
    'csASCII',
    '"us"',
  ])('%s is ASCII, which is UTF-8 too', async (name) => {
    const type = `Content-Type: text/plain; charset=${name}`;
    expect(await textOf(type, 'Gr\xc3\xbc\xc3\x9fe')).toBe('Grüße');
    expect(await textOf(type, 'Gr\xfc\xdfe')).toBe('Grüße');
  });

  test('a declared one counts more than <meta>', async () => {
    const body = `${meta('windows-1251')}Gr\xfc\xdfe`;
    expect(await textOf('Content-Type: text/html; charset=iso-8859-1', body)).toBe('Grüße');
  });
});
