import { Readable } from 'node:stream';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

const lines = (...list: (string | string[])[]): string => list.flat().join('\r\n') + '\r\n';
/** Parses a message of one character a byte. */
const parse = (...message: (string | string[])[]) =>
  parseMessage(Readable.from([Buffer.from(lines(...message), 'latin1')]));
const multipart = (type: string, boundary: string, ...parts: string[][]): string[] => [
  `Content-Type: multipart/${type}; boundary=${boundary}`,
  '',
  ...parts.flatMap((part) => [`--${boundary}`, ...part]),
  `--${boundary}--`,
];
const part = (type: string, ...body: string[]): string[] => [`Content-Type: text/${type}`, '', ...body];

describe('the text and the HTML of several parts', () => {
  const read = async (...message: string[]) => {
    const { text, html } = await parse(message);
    return [text.trimEnd(), html?.replace(/<br\/>|<\/?p>/g, '').trim()];
  };
  const plain = part('plain', 'letter');
  const html = part('html', '<b>letter</b>');
  const footer = part('plain', 'footer');

  test.each<[string, string[], [string, string]]>([
    [
      'HTML alone in an alternative, with the footer of a list',
      multipart('mixed', 'o', multipart('alternative', 'i', html), footer),
      ['letter\nfooter', '<b>letter</b>\nfooter'],
    ],
    [
      'an empty text beside the HTML',
      multipart('mixed', 'o', multipart('alternative', 'i', part('plain', '', ' '), html), footer),
      ['letter\nfooter', '<b>letter</b>\nfooter'],
    ],
    [
      'a text alone in an alternative, with HTML after it',
      multipart('mixed', 'o', multipart('alternative', 'i', plain), part('html', '<i>more</i>')),
      ['letter\nmore', 'letter\n<i>more</i>'],
    ],
    [
      'both in an alternative',
      multipart('mixed', 'o', multipart('alternative', 'i', plain, html), footer),
      ['letter\n\nfooter', '<b>letter</b>\nfooter'],
    ],
    [
      'HTML of several parts as an alternative',
      multipart('alternative', 'o', plain, multipart('mixed', 'i', html, part('html', '<i>more</i>'))),
      ['letter', '<b>letter</b>\n<i>more</i>'],
    ],
    [
      'an alternative of another type',
      multipart('alternative', 'o', plain, multipart('mixed', 'i', part('x-rich', '[b]letter[/b]'))),
      ['letter', 'letter'],
    ],
  ])('%s', async (_, message, [text, markup]) => {
    const [foundText, foundHtml] = await read(...message);
    expect([foundText?.replace(/\n+/g, '\n'), foundHtml?.replace(/\s*\n\s*/g, '\n')]).toEqual([
      text.replace(/\n+/g, '\n'),
      markup,
    ]);
  });
});

test('names with @ in a text are no links, addresses are', async () => {
  const { html } = await parse('', '@pat and @eli_2: https://twitter.com/pat, pat@example.com');
  expect(html).toBe(
    '<p>@pat and @eli_2: <a href="https://twitter.com/pat">https://twitter.com/pat</a>, ' +
      '<a href="mailto:pat@example.com">pat@example.com</a></p>',
  );
});

test('a part whose name is blank is no file', async () => {
  const named = (type: string, body: string): string[] => [
    `Content-Type: text/${type}; name=" "`,
    'Content-Disposition: inline',
    '',
    body,
  ];
  const { text, html, attachments } = await parse(
    multipart('mixed', 'b', part('plain', 'one'), named('plain', 'two'), named('html', '<b>three</b>')),
  );
  expect([text, attachments]).toEqual(['one\ntwo\nthree', []]);
  expect(html).toContain('<b>three</b>');
});

test('the preview is the text where the HTML has none', async () => {
  const introOf = async (markup: string) =>
    (await parse(multipart('alternative', 'b', part('plain', 'a letter'), part('html', markup)))).intro;
  expect(await introOf('<html><body><br></body></html>')).toBe('a letter');
  expect(await introOf('<img src="https://x.example/a.png">')).toBe('a letter');
  expect(await introOf('<p>rich</p>')).toBe('rich');
  const filling = '&#847; &zwnj; &nbsp; &#8199; &shy; &#65279;'.repeat(40);
  expect(await introOf(`<div>offer</div><div>${filling}</div><p>&#1605;&#1740;&zwnj;&#1582;</p>`)).toBe(
    'offer \u0645\u06cc\u200c\u062e',
  );
});

describe('character sets', () => {
  const subjectOf = async (subject: string) => (await parse(`Subject: ${subject}`, '', 'text')).subject;
  const latin1 = (text: string): string => Buffer.from(text, 'latin1').toString('base64');

  test('unknown ones of encoded words are UTF-8 where that is possible, or else Windows-1252', async () => {
    for (const name of ['ANSI_X3.4-1968', 'us-ascii', 'ISO_646.irv:1991', 'cp367', 'ANSI_X3.4-1968*de']) {
      expect(await subjectOf(`=?${name}?Q?J=C3=BCrgen?=`)).toBe('Jürgen');
      expect(await subjectOf(`=?${name}?B?${latin1('J\xfcrgen')}?=`)).toBe('Jürgen');
    }
    expect(await subjectOf('=?ISO_8859-5:1988?Q?=BF=E0?=')).toBe('Пр');
    expect(await subjectOf('=?x-mac-cyrillic?B?j/Dg?=')).toBe('Пра');
    expect(await subjectOf('=?unknown-8bit?Q?J=FCrgen?=')).toBe('Jürgen');
    expect(await subjectOf('=?unknown-8bit?Q?J=C3=BCrgen?=')).toBe('Jürgen');
    expect(await subjectOf(`=?x-unknown?B?${latin1('Größe \x80')}?=`)).toBe('Größe €');
    expect(await subjectOf('=?ascii?Q?J=FCrgen?=')).toBe('Jürgen');
    expect(await subjectOf('=?utf-8?Q?J=C3=BCrgen_=C3?=')).toBe('Jürgen \ufffd');
    const { attachments } = await parse(
      "Content-Disposition: attachment; filename*=x-unknown''J%FCrgen.txt",
      '',
      'x',
    );
    expect(attachments[0]?.filename).toBe('Jürgen.txt');
  });

  test('of seven bits have bytes of the set that their program uses', async () => {
    const read = async (charset: string, ...body: string[]) =>
      (await parse(`Content-Type: text/plain; charset=${charset}`, '', ...body)).text;
    const eucjp = '\xa5\xc6\xa5\xb9\xa5\xc8\xa4\xce\xa5\xe1\xa1\xbc\xa5\xeb'; // テストのメール
    const shiftjis = '\x83e\x83X\x83g\x82\xcc\x83\x81\x81[\x83\x8b';
    const utf8 = Buffer.from('テストのメール').toString('latin1');
    for (const bytes of [eucjp, shiftjis, utf8])
      expect(await read('iso-2022-jp', bytes)).toBe('テストのメール');
    expect(await read('ISO-2022-JP', '\x1b$B%F%9%H\x1b(B \x1b$B-!\x1b(B')).toBe('テスト ①');
    expect(await read('"iso-2022-jp"', 'letter')).toBe('letter');
  });
});

test('a text that is not base64, contrary to its header, is shown', async () => {
  const head = ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: base64', ''];
  const body = ['Dear Pat, the crane', 'is free at nine', '', 'Eli'];
  expect((await parse(head, body)).text).toBe(body.join('\n'));
  expect((await parse(head, 'RGVhciBQYXQs', 'a footer of a list')).text).toBe('Dear Pat,');
  expect((await parse(head, 'the crane is free')).text).toBe('the crane is free');
});

test('base64 may have blanks within its lines', async () => {
  const head = ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: base64', ''];
  expect((await parse(head, 'SGVs bG8g d29y bGQ=')).text).toBe('Hello world');
  expect((await parse(head, 'SGVs\tbG8g d29y', 'bGQh')).text).toBe('Hello world!');
  const long = Buffer.from('the crane is free. '.repeat(1_000)).toString('base64');
  const spaced = (long.match(/.{1,5}/g) ?? []).join(' ');
  expect((await parse(head, spaced)).text).toBe('the crane is free. '.repeat(1_000));
});

describe('the root of a multipart/related (RFC 2387)', () => {
  const image = [
    'Content-Type: image/png',
    'Content-ID: <i@x>',
    'Content-Transfer-Encoding: base64',
    '',
    'AAAA',
  ];
  const page = (...fields: string[]): string[] => ['Content-Type: text/html', ...fields, '', '<b>letter</b>'];
  const NAMED = page('Content-ID: <root@x>');
  const read = async (parameters: string, ...parts: string[][]) => {
    const { text, html, attachments } = await parse(multipart(`related${parameters}`, 'r', ...parts));
    return [text.trim(), html?.trim(), attachments.map(({ contentType }) => contentType)];
  };

  test.each<[string, string, string[][]]>([
    ['named by start', '; start="<root@x>"; type="text/html"', [image, NAMED]],
    ['named by start without brackets', '; start="root@x"', [image, NAMED]],
    ['of the declared type', '; type="Text/HTML"', [image, NAMED]],
    ['with a Content-Location', '', [image, page('Content-Location: index.html')]],
    ['with a name', '; start="<root@x>"', [image, page('Content-ID: <root@x>', 'X-A: b')]],
    ['not named by a wrong start', '; start="<other@x>"; type="text/html"', [image, NAMED]],
  ])('%s is the body after a picture', async (_, parameters, parts) => {
    expect(await read(parameters, ...parts)).toEqual(['letter', '<b>letter</b>', ['image/png']]);
  });

  test('with the name of a file is the body', async () => {
    const root = ['Content-Type: text/html; name=index.html', 'Content-ID: <root@x>', '', '<b>letter</b>'];
    expect(await read('; start="<root@x>"', image, root)).toEqual(['letter', '<b>letter</b>', ['image/png']]);
  });

  test('that start names after a text is shown with it', async () => {
    const first = part('plain', 'preview');
    expect((await read('; start="<root@x>"', first, NAMED))[1]).toContain('<b>letter</b>');
  });

  test('a resource in HTML beside it stays a file', async () => {
    const frame = ['Content-Type: text/html', 'Content-ID: <frame@x>', '', '<i>frame</i>'];
    const expected = ['letter', '<b>letter</b>', ['text/html']];
    expect(await read('; type="text/html"', NAMED, frame)).toEqual(expected);
    expect(await read('; start="<root@x>"', NAMED, frame)).toEqual(expected);
    expect(await read('', part('html', '<b>letter</b>'), frame)).toEqual(expected);
  });

  test('is a multipart of alternatives, and HTML with a name after it is a file', async () => {
    const letter = multipart('alternative', 'i', part('plain', 'letter'), part('html', '<b>letter</b>'));
    const notes = [
      'Content-Type: text/html; name="notes.html"',
      'Content-Disposition: inline',
      '',
      '<i>notes</i>',
    ];
    const expected = ['letter', '<b>letter</b>', ['text/html']];
    expect(await read('; type="text/html"', letter, notes)).toEqual(expected);
    expect(await read('; type="text/html"; start="<>"', letter, notes)).toEqual(expected);
  });

  test('is not each part without a Content-ID for an empty start', async () => {
    const notes = ['Content-Type: text/plain; name="notes.txt"', '', 'notes'];
    expect(await read('; start="<>"', part('html', '<b>letter</b>'), notes)).toEqual([
      'letter',
      '<b>letter</b>',
      ['text/plain'],
    ]);
    expect(await read('; start="<>"; type="text/html"', image, NAMED)).toEqual([
      'letter',
      '<b>letter</b>',
      ['image/png'],
    ]);
  });
});
