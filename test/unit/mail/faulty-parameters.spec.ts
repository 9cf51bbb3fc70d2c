import { Readable } from 'node:stream';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

const parse = (...lines: string[]) =>
  parseMessage(Readable.from([Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1')]));
const utf8 = (text: string): string => Buffer.from(text).toString('latin1');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const FILE = ['Content-Type: application/pdf', 'Content-Transfer-Encoding: base64'];
const nameOf = async (disposition: string): Promise<string | undefined> =>
  (await parse(...FILE, `Content-Disposition: ${disposition}`, '', base64('plan'))).attachments[0]?.filename;

describe('a comment after a parameter (RFC 2045 5.1)', () => {
  test.each([
    ['charset=windows-1251 (Plain text)', '\xcc\xe8\xf0'],
    ['charset=windows-1251(Plain text)', '\xcc\xe8\xf0'],
    ['charset="windows-1251" (x)', '\xcc\xe8\xf0'],
    ['charset=koi8-r (Russian (old); "x")', '\xed\xc9\xd2'],
    ['(first) charset (of it) = (the) koi8-r (Russian)', '\xed\xc9\xd2'],
  ])('is no part of the character set: %s', async (parameter, bytes) => {
    expect((await parse(`Content-Type: text/plain; ${parameter}`, '', bytes)).text).toBe('Мир');
  });

  test('is no part of a format', async () => {
    const { text } = await parse('Content-Type: text/plain; format=flowed (x); delsp=no', '', 'one ', 'two');
    expect(text).toBe('one two');
  });

  test('is no part of a boundary', async () => {
    const body = ['', '--b', 'Content-Type: text/html', '', '<b>x</b>', '--b--'];
    for (const written of ['boundary=b (c)', 'boundary="b" (c; boundary=d)', "boundary*=us-ascii''b (c)"]) {
      const { html } = await parse(`Content-Type: multipart/mixed (a; b); ${written}`, ...body);
      expect(html?.trim()).toBe('<b>x</b>');
    }
  });

  test.each([
    "us-ascii''----%3D_x",
    "''----%3D_x",
    "iso-8859-1''%2D---=_x",
    '----%3D_x',
    "us-ascii'en'----%3D_x; boundary*=us-ascii''----%3D_x",
  ])('and the encoded boundary %s', async (written) => {
    const files = ['------=_x', '', 'x', '------=_x', 'X-Part: 2', ...FILE, '', base64('plan')];
    const message = await parse(
      `Content-Type: multipart/mixed; boundary*=${written}`,
      '',
      ...files,
      '------=_x--',
    );
    expect(message.text?.trim()).toBe('x');
    expect(message.attachments).toMatchObject([{ contentType: 'application/pdf', decodedSize: 4 }]);
  });

  test.each([
    ['filename="a.pdf" (c)', 'a.pdf'],
    ["filename*=utf-8''a.pdf (c)", 'a.pdf'],
    ['filename=a.pdf (c)', 'a.pdf'],
    ['filename=plan (2).pdf', 'plan (2).pdf'],
    ['filename="plan (2).pdf"', 'plan (2).pdf'],
    ['filename=plan (2); size=3', 'plan (2)'],
    ['filename=a.pdf (c)          ; size=3', 'a.pdf'],
    ['filename=a.b (c)          plan', 'a.b (c)          plan'],
  ])('and a name of a file: %s', async (parameter, name) => {
    expect(await nameOf(`attachment; ${parameter}`)).toBe(name);
  });
});

describe('the name of a file', () => {
  test.each([
    [String.raw`"C:\docs\a.pdf"`, 'a.pdf'],
    [String.raw`"C:\\docs\\a.pdf"`, 'a.pdf'],
    [String.raw`"\\server\share\a.pdf"`, 'a.pdf'],
    [String.raw`"C:\(old)\.a.pdf"`, '.a.pdf'],
    [String.raw`C:\docs\a.pdf`, 'a.pdf'],
    [String.raw`"docs\a.pdf"; size=3`, 'a.pdf'],
    [String.raw`"docs\2026.pdf"`, '2026.pdf'],
    [String.raw`"C:\docs\_a.pdf"`, '_a.pdf'],
    [String.raw`"\\server\_a.pdf"`, '_a.pdf'],
    [String.raw`"name\_x.pdf"`, 'name_x.pdf'],
    [String.raw`"say \"a\".pdf"`, 'say "a".pdf'],
    [String.raw`"plan \(2\).pdf"`, 'plan (2).pdf'],
    [String.raw`"\(2\) plan.pdf"`, '(2) plan.pdf'],
    [String.raw`"\\server\(old)\a.pdf"`, 'a.pdf'],
    [`"C:\\docs\\${utf8('Übung.pdf')}"`, 'Übung.pdf'],
  ])('has no directories, and its quoted characters: %s', async (written, name) => {
    expect(await nameOf(`attachment; filename=${written}`)).toBe(name);
    const [part] = (await parse(`Content-Type: application/pdf; name=${written}`, '', 'x')).attachments;
    expect(part?.filename).toBe(name);
  });

  test.each([
    ['filename*0*=utf-8\'\'Umsatz; filename*1=" 50% Plus.pdf"', 'Umsatz 50% Plus.pdf'],
    ['filename*0*=utf-8\'\'Umsatz; filename*1=" 5%25.pdf"', 'Umsatz 5%25.pdf'],
    ["filename*1*=%C3%BCr.pdf; filename*0*=utf-8'en'f", 'für.pdf'],
    ["filename*0*=utf-8''M%C3; filename*1*=%A4rz.pdf", 'März.pdf'],
    ["filename=a.pdf; filename*=utf-8''M%C3%A4rz%201_2=3.pdf", 'März 1_2=3.pdf'],
    ["filename*=iso-8859-1''M%E4rz.pdf", 'März.pdf'],
    ["filename*=utf-8''M%E4rz.pdf", 'März.pdf'],
    ["filename*=iso-2022-jp''%1B$BF%7CK%5C%1B(B.pdf", '日本.pdf'],
    ['filename*=M%C3%A4rz.pdf', 'März.pdf'],
    ['filename*0*=M%C3; filename*1*=%A4rz.pdf', 'März.pdf'],
    ['filename*=100%.pdf', '100%.pdf'],
    ["filename*=utf-8''100%.pdf", '100%.pdf'],
    ['filename*0="long "; filename*1="name 5%25.pdf"', 'long name 5%25.pdf'],
    ["filename*=UTF-8''a%20b.pdf; filename*=UTF-8''a%20b.pdf", 'a b.pdf'],
    ["filename*=UTF-8''a%20b.pdf; size=3; filename*=UTF-8''M%C3%A4rz.pdf", 'März.pdf'],
    [
      "filename*0*=utf-8''M%C3; filename*1*=%A4rz.pdf; filename*0*=utf-8''M%C3; filename*1*=%A4rz.pdf",
      'März.pdf',
    ],
    ["filename*0*=utf-8''M%C3; filename*1*=%A4rz.pdf; filename*0=M; filename*1=rz.pdf", 'März.pdf'],
    ['filename*=utf-8\'\'M%C3%A4rz.pdf; filename*0="Ma"; filename*1="rz.pdf"', 'März.pdf'],
    ["filename*0*=utf-8''M%C3; filename*1*=%A4rz.pdf; filename*=utf-8''M%C3%A4rz.pdf", 'März.pdf'],
  ])('in the form of RFC 2231: %s', async (parameters, name) => {
    expect(await nameOf(`attachment; ${parameters}`)).toBe(name);
  });

  test.each([
    'attachment, filename="a.pdf"',
    'attachment filename="a.pdf"',
    'attachment (c) filename="a.pdf"',
    'attachment,filename=a.pdf; size=3',
    'filename=a.pdf',
    'inline\r\n filename="a.pdf"',
  ])('after another separator than a semicolon: %s', async (disposition) => {
    expect(await nameOf(disposition)).toBe('a.pdf');
    const [part] = (await parse('Content-Type: application/pdf, name="b (1).pdf"', '', 'x')).attachments;
    expect(part?.filename).toBe('b (1).pdf');
  });

  test('takes linear time', async () => {
    const long = 60_000;
    const started = process.cpuUsage().user;
    for (const each of [
      '(',
      ')',
      '()',
      '((a) ',
      '(\\',
      ' ',
      '\\',
      '"',
      "'",
      '%',
      'a*=',
      ';',
      ' ,',
      '*0*=x;filename',
    ])
      for (const before of ['attachment', 'attachment; filename=', 'attachment; filename="'])
        await parse(`Content-Disposition: ${before}${each.repeat(long / each.length)}x`, '', 'x');
    expect((process.cpuUsage().user - started) / 1_000_000).toBeLessThan(10);
  });

  test('is read once of many sections', async () => {
    const parameters = Array.from({ length: 50_000 }, (_, n) => `; filename*${n % 7}*=a`).join('');
    const started = process.cpuUsage().user;
    expect(await nameOf(`attachment${parameters}`)).toBe('aaaaaaa');
    expect((process.cpuUsage().user - started) / 1_000_000).toBeLessThan(4);
  });

  test('takes linear time with blanks after comments', async () => {
    const started = process.cpuUsage().user;
    for (const each of ['(c)        ', '(c)', '(c) '])
      await parse(`Content-Disposition: attachment; name=a.b ${each.repeat(80_000)}`, '', 'x');
    expect((process.cpuUsage().user - started) / 1_000_000).toBeLessThan(4);
  });
});

test.each([
  'base64;',
  'base64,',
  'base64; charset=utf-8',
  'base64 charset=utf-8',
  "'base64'",
  '<base64>',
  'base64.',
  'base-64',
  'Base_64',
  '"base64";',
  'base64 (c)',
  '(c) base64',
])('the encoding %s is base64', async (encoding) => {
  const field = `Content-Transfer-Encoding: ${encoding}`;
  expect((await parse('Content-Type: text/plain; charset=utf-8', field, '', base64('grün'))).text).toBe(
    'grün',
  );
  const [part] = (await parse('Content-Type: application/pdf', field, '', base64('plan'))).attachments;
  expect(part).toMatchObject({ decodedSize: 4, transferEncoding: 'base64' });
});

test.each([
  'quoted-printable;',
  'quoted-printable,',
  'quoted_printable',
  'quotedprintable',
  'quoted printable',
  "'Quoted-Printable'",
  'quoted-printable; charset=utf-8',
])('the encoding %s is quoted-printable', async (encoding) => {
  const field = `Content-Transfer-Encoding: ${encoding}`;
  expect((await parse('Content-Type: text/plain; charset=utf-8', field, '', 'gr=C3=BCn')).text).toBe('grün');
});

test('another encoding stays as it is', async () => {
  for (const encoding of ['8bit;', 'base64url', 'x-base64', '7bit']) {
    const { text } = await parse(`Content-Transfer-Encoding: ${encoding}`, '', 'YWJj');
    expect(text).toBe('YWJj');
  }
});

describe('fields in a character set of seven bits', () => {
  const JAPAN = '\x1b$BF|K\\\x1b(B';

  test('are read by their escapes', async () => {
    const { subject, from, to } = await parse(
      `Subject: ${JAPAN} 2`,
      `From: ${JAPAN} <pat@example.com>`,
      `To: "${JAPAN}" <eli@example.com>, sam@example.com`,
      '',
      'x',
    );
    expect([subject, from]).toEqual(['日本 2', { name: '日本', address: 'pat@example.com' }]);
    expect(to).toEqual([
      { name: '日本', address: 'eli@example.com' },
      { name: '', address: 'sam@example.com' },
    ]);
    expect(await nameOf(`attachment; filename="${JAPAN}.pdf"`)).toBe('日本.pdf');
    expect((await parse('Subject: \x1b$)C\x0eGQ1[\x0f', '', 'x')).subject).toBe('한글');
    expect((await parse('Subject: \x1b$)A\x0eVPND\x0f 1', '', 'x')).subject).toBe('中文 1');
  });

  test.each([
    [
      'an address within characters',
      '\x1b$B <ben@y.example> \x1b(B <pat@x.example>',
      undefined,
      'ben@y.example',
    ],
    ['an address after characters without an end', '\x1b$BF|K\\ <pat@x.example>', undefined, 'pat@x.example'],
    ['blanks in an address', '\x1b$B <ben @ y . example> \x1b(B', undefined, 'ben@y.example'],
    ['an address in kana', '\x1b$B!!\x1b(I <ben@y.example> \x1b(B', undefined, 'ben@y.example'],
    ['an address in Korean', '\x1b$)C\x0e <ben@y.example> \x0f', undefined, 'ben@y.example'],
    ['an address in HZ', '~{ <ben@y.example> ~}', 'hz-gb-2312', 'ben@y.example'],
  ])('do not lose %s', async (_, value, charset, address) => {
    const names = ['From', 'Reply-To', 'To', 'Cc'];
    const type = `Content-Type: text/plain; charset=${charset ?? 'utf-8'}`;
    const { from, replyTo, to, cc } = await parse(...names.map((name) => `${name}: ${value}`), type, '', 'x');
    for (const [first] of [[from], replyTo, to, cc]) expect(first?.address).toBe(address);
  });

  test.each([
    ['characters with an end', '\x1b$B$_F|\x1b(B', 'み日'],
    ['characters without an end', '\x1b$BF|K\\', '日本'],
  ])('within an encoded word: %s', async (_, bytes, text) => {
    const { subject, from } = await parse(
      `Subject: =?iso-2022-jp?Q?${bytes}?= 2`,
      `From: =?iso-2022-jp?Q?${bytes}?= <pat@x.example>`,
      '',
      'x',
    );
    expect([subject, from]).toEqual([`${text} 2`, { name: text, address: 'pat@x.example' }]);
  });

  test('of addresses may shift from set to set', async () => {
    const { from } = await parse('From: \x1b$BF|\x1b$@K\\\x1b(J <pat@x.example>', '', 'x');
    expect(from).toEqual({ name: '日本', address: 'pat@x.example' });
  });

  test('are searched for addresses in one pass', async () => {
    for (const part of ['\x1b$B', 'a', '=?a?q?\x1b$', '\x1b$B@a', '\x0e', '\x1b(I'])
      await parse(`From: \x1b$B${part.repeat(40_000)}`, '', 'x');
  });

  test('do not join the next field', async () => {
    for (const end of ['~', '\xe9 ~']) {
      const { subject, to } = await parse(
        `Subject: ~{VPND~} ${end}`,
        'To: pat@x.example',
        'Content-Type: text/plain; charset=hz-gb-2312',
        '',
        'x',
      );
      expect([subject, to]).toEqual([
        expect.stringMatching(/^中文 [^:]+$/),
        [{ name: '', address: 'pat@x.example' }],
      ]);
    }
  });

  test('are read by the set of the text', async () => {
    const read = async (charset: string, text: string) => {
      const message = await parse(
        `Subject: ${text}`,
        `Content-Type: text/plain; charset=${charset}`,
        '',
        text,
      );
      return [message.subject, message.text];
    };
    expect(await read('hz-gb-2312', '~{VPND~}')).toEqual(['中文', '中文']);
    expect(await read('iso-2022-kr', '\x0eGQ1[\x0f')).toEqual(['한글', '한글']);
    expect(await read('utf-8', '~{VPND~}')).toEqual(['~{VPND~}', '~{VPND~}']);
  });
});

test.each([
  ['uhc', '\xc7\xd1\xb1\xdb', '한글'],
  ['iso-2022-cn', '\x1b$)A\x0eVPND\x0f', '中文'],
  ['x-mac-ce', '\xe1', 'Š'],
  ['cp50220', '\x1b$BF|K\\\x1b(B', '日本'],
  ['ptcp154', '\xcc\xe8\xf0', 'Мир'],
])('the character set %s is known', async (charset, bytes, text) => {
  const word = `=?${charset}?B?${Buffer.from(bytes, 'latin1').toString('base64')}?=`;
  const message = await parse(`Subject: ${word}`, `Content-Type: text/plain; charset=${charset}`, '', bytes);
  expect([message.subject, message.text]).toEqual([text, text]);
});
