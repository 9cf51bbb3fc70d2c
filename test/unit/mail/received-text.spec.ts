import { Readable } from 'node:stream';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

const lines = (...list: (string | string[])[]): string => list.flat().join('\r\n') + '\r\n';
/** Parses a message that arrives in chunks of the given size. */
const parse = (message: string, chunk = 65_536) => {
  const bytes = Buffer.from(message, 'utf8');
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, n) =>
    bytes.subarray(n * chunk, (n + 1) * chunk),
  );
  return parseMessage(Readable.from(chunks));
};
const multipart = (type: string, boundary: string, ...parts: string[][]): string[] => [
  `Content-Type: multipart/${type}; boundary=${boundary}`,
  '',
  ...parts.flatMap((part) => [`--${boundary}`, ...part]),
  `--${boundary}--`,
];

describe('text in format=flowed', () => {
  const read = async (parameters: string, ...body: string[]): Promise<string> =>
    (await parse(lines(`Content-Type: text/plain; charset=utf-8; format=flowed${parameters}`, '', body)))
      .text;

  test.each([
    ['a quote of two lines', '', ['> the crane is free ', '> at nine.'], '> the crane is free at nine.'],
    ['a deeper line ends the paragraph', '', ['> level one ', '>> deeper'], '> level one \n>> deeper'],
    [
      'an answer ends the quote',
      '',
      ['> a question ', 'an answer ', 'of two lines'],
      '> a question \nan answer of two lines',
    ],
    ['delsp=yes', '; delsp=yes', ['> para ', '> graph'], '> paragraph'],
    ['delsp=yes without a quote', '; DelSp="Yes"', ['para ', 'graph'], 'paragraph'],
    ['fixed lines of a quote', '', ['> first', '> second'], '> first\n> second'],
    ['marks without a space', '', ['>>one ', '>>two'], '>> one two'],
    ['an empty line of a quote', '', ['> one', '>', '> two'], '> one\n>\n> two'],
    [
      'stuffed lines',
      '',
      [' From here ', 'to there', '  indented', ' > 5 apples'],
      'From here to there\n indented\n> 5 apples',
    ],
    ['a signature after a soft line', '', ['Best ', '-- ', 'Pat'], 'Best \n-- \nPat'],
    ['a signature in a quote', '', ['> Best', '> -- ', '> Pat ', '> Doe'], '> Best\n> -- \n> Pat Doe'],
    ['empty lines', '', ['one', '', 'two'], 'one\n\ntwo'],
  ])('%s', async (_, parameters, body, expected) => {
    expect(await read(parameters, ...body)).toBe(expected);
  });

  test('is joined after its character set is decoded', async () => {
    const head = 'Content-Type: text/plain; charset=iso-2022-jp; format=flowed; delsp=yes\r\n\r\n';
    const message = Buffer.from(`${head}> \x1b$B%F%9\x1b(B \r\n> \x1b$B%H\x1b(B\r\n`, 'latin1');
    expect((await parseMessage(Readable.from([message]))).text).toBe('> テスト');
  });

  test('the parameter has no meaning for HTML', async () => {
    const { html } = await parse(lines('Content-Type: text/html; format=flowed', '', '<pre>a ', '> b</pre>'));
    expect(html).toBe('<pre>a \n> b</pre>\n');
  });
});

describe('a text file', () => {
  const body = ['Content-Type: text/plain', '', 'body'];
  const read = async (type: string, ...parts: string[][]) => {
    const { attachments, text } = await parse(lines(multipart(type, 'outer', ...parts)));
    return [attachments.map(({ filename }) => filename), text.trim()];
  };
  const file = (...headers: string[]): string[] => [...headers, '', 'text of the file'];

  test.each([
    [
      'inline',
      ['Content-Type: text/plain; name=notes.txt', 'Content-Disposition: inline; filename=notes.txt'],
      'notes.txt',
    ],
    ['without a disposition', ['Content-Type: text/plain; name="list.txt"'], 'list.txt'],
    [
      'HTML',
      ['Content-Type: text/html; name=report.html', 'Content-Disposition: inline; filename=report.html'],
      'report.html',
    ],
    ['with an encoded name', ["Content-Type: text/plain; name*=utf-8''%C3%BC.txt"], 'ü.txt'],
    ['without a type', ['Content-Disposition: inline; filename=readme.txt'], 'readme.txt'],
  ])('%s is an attachment', async (_, headers, name) => {
    expect(await read('mixed', body, file(...headers))).toEqual([[name], 'body']);
  });

  test('is part of the text when it is the first part, has no name, or is an alternative', async () => {
    expect(await read('mixed', ['Content-Type: text/plain; name=body.txt', '', 'body'])).toEqual([
      [],
      'body',
    ]);
    expect(await read('mixed', body, ['Content-Type: text/plain', '', 'footer'])).toEqual([
      [],
      'body\nfooter',
    ]);
    const { html, attachments } = await parse(
      lines(
        multipart('alternative', 'b', body, ['Content-Type: text/html; name=body.html', '', '<b>body</b>']),
      ),
    );
    expect([html, attachments]).toEqual(['<b>body</b>', []]);
  });

  test('is an attachment when it is a resource of an HTML text', async () => {
    const html = ['Content-Type: text/html', '', '<iframe src="cid:frame@x"></iframe>'];
    const frame = ['Content-Type: text/html', 'Content-ID: <frame@x>', '', '<p>frame</p>'];
    const parsed = await parse(lines(multipart('related', 'b', html, frame)));
    expect(parsed.html).toBe('<iframe src="attachment:ATT00001"></iframe>');
    expect(parsed.attachments).toMatchObject([{ contentType: 'text/html', cid: '<frame@x>' }]);
  });
});

describe('several Content-Type fields', () => {
  const alternative = (boundary: string): string =>
    `Content-Type: multipart/alternative; boundary="${boundary}"`;
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
  const RICH = ['plain text', '<b>rich</b>', 0];

  test.each([1, 7, 65_536])(
    'the one whose boundary the body uses counts, in chunks of %i bytes',
    async (chunk) => {
      const all = [
        [alternative('UUU'), alternative('VVV')],
        [alternative('VVV'), alternative('UUU')],
        ['Content-Type: text/plain', alternative('UUU')],
        [alternative('UUU'), 'Content-Type: text/plain; charset=utf-8'],
        [
          'Content-type: multipart/mixed;\r\n boundary=XYZ',
          'Subject: x',
          'content-TYPE : multipart/alternative;\r\n\tboundary=UUU',
        ],
      ];
      for (const headers of all) expect(await read(lines(headers, '', parts('UUU')), chunk)).toEqual(RICH);
      const preamble = lines(alternative('VVV'), alternative('UUU'), '', 'a preamble', '--', parts('UUU'));
      expect(await read(preamble, chunk)).toEqual(RICH);
    },
  );

  test('of a part', async () => {
    const inner = [alternative('VVV'), alternative('UUU'), '', ...parts('UUU')];
    for (const chunk of [3, 65_536])
      expect(await read(lines(multipart('mixed', 'outer', inner)), chunk)).toEqual(RICH);
  });

  test('without a boundary in the body, the text counts', async () => {
    const message = lines(alternative('UUU'), 'Content-Type: text/plain; charset=utf-8', '', 'just text');
    expect((await parse(message)).text).toBe('just text');
  });

  test('of an attached message stay', async () => {
    const attached = [
      'Content-Type: message/rfc822',
      '',
      alternative('VVV'),
      alternative('UUU'),
      '',
      ...parts('UUU'),
    ];
    const { attachments } = await parse(lines(multipart('mixed', 'outer', ['', 'text'], attached)));
    const size = lines(attached.slice(2)).length - 2;
    expect(attachments).toMatchObject([{ contentType: 'message/rfc822', decodedSize: size }]);
  });
});

describe('the date of a message', () => {
  const dateOf = async (...values: string[]): Promise<string | null> =>
    (
      await parse(
        lines(
          values.map((value) => `Date: ${value}`),
          'Subject: Crane',
          '',
          'Text',
        ),
      )
    ).date;

  test.each([
    ['Fri, 21 Nov 1997 09:55:06 -0600', '1997-11-21T15:55:06.000Z'],
    ['Fri, 21 Nov 1997 09:55:06 -0600 (CST)', '1997-11-21T15:55:06.000Z'],
    // The forms of RFC 5322 4.3, which receivers accept.
    ['Fri, 21 Nov 1997 09(hour (of day)):   55  :  06 -0600', '1997-11-21T15:55:06.000Z'],
    ['Fri, 21 Nov 97 09:55:06 EST', '1997-11-21T14:55:06.000Z'],
    ['Fri, 21 Nov 97 09:55 UT', '1997-11-21T09:55:00.000Z'],
    ['Fri, 21 Nov 97 09:55:06 Z', '1997-11-21T09:55:06.000Z'],
    // Those of other programs.
    ['Fri, 21 Nov 1997 09:55:06 CET', '1997-11-21T08:55:06.000Z'],
    ['Fri, 21 Nov 1997 09:55:06 CEST', '1997-11-21T07:55:06.000Z'],
    ['Fri, 21 Nov 1997 09:55:06 JST', '1997-11-21T00:55:06.000Z'],
    ['Fri, 21 Nov 1997 09:55:06 Nowhere/Else', '1997-11-21T09:55:06.000Z'],
    ['Fri, 21 Nov 1997 09:55:06', '1997-11-21T09:55:06.000Z'],
    ['Fri, 21 Nov 1997 09:55:06 GMT+01:00', '1997-11-21T08:55:06.000Z'],
    ['Fri, 21 Nov 1997 09:55:06 +100', '1997-11-21T08:55:06.000Z'],
    ['Fri, 21 Nov 1997 09:55:06 +01', '1997-11-21T08:55:06.000Z'],
    ['Fri, 21 Nov 1997 09:55:06 -0800 PST', '1997-11-21T17:55:06.000Z'],
    ['Fri, 21 Nov 1997 09:55:06 +0000 UTC', '1997-11-21T09:55:06.000Z'],
    ['Fri, 21 Nov 1997 09:55:06 +0200 CEST', '1997-11-21T07:55:06.000Z'],
    ['Fri, 21 Nov 1997 09:55:06 GMT +0100', '1997-11-21T08:55:06.000Z'],
    ['Fri, 21 Nov 1997 09:55:06.123 +0100', '1997-11-21T08:55:06.000Z'],
    ['1997-11-21 09:55:06 -0800', '1997-11-21T17:55:06.000Z'],
    ['Fri, 21 Nov 1997 09:55:60 "GMT"', '1997-11-21T09:56:00.000Z'],
    ['Fr, 21 Nov. 1997 09.55.06 +0100', '1997-11-21T08:55:06.000Z'],
    ['Fri,21-Nov-97 9:55:06 +0100', '1997-11-21T08:55:06.000Z'],
    ['Fri, 21 Nov 126 09:55:06 +0000', '2026-11-21T09:55:06.000Z'],
    ['Fri Nov 21 09:55:06 CET 1997', '1997-11-21T08:55:06.000Z'],
    ['Fri Nov 21 09:55:06 1997', '1997-11-21T09:55:06.000Z'],
    ['Fri, 21 Nov 1997 9:55:06 PM GMT', '1997-11-21T21:55:06.000Z'],
    ['1997-11-21T09:55:06+01:00', '1997-11-21T08:55:06.000Z'],
    ['Fri Nov 21 09:55:06 1997 +0100', '1997-11-21T08:55:06.000Z'],
    ['Fri Nov 21 09:55:06 1997 CET', '1997-11-21T08:55:06.000Z'],
    ['21 Nov 1997 09:55:06 -0500, EST', '1997-11-21T14:55:06.000Z'],
    ['21 Nov 1997 09:55:06 PM -0500', '1997-11-22T02:55:06.000Z'],
    ['11/21/1997 9:55:06 AM -08:00', '1997-11-21T17:55:06.000Z'],
    ['11/21/1997 9:55:06 AM-08:00', '1997-11-21T17:55:06.000Z'],
  ])('%s', async (value, expected) => expect(await dateOf(value)).toBe(expected));

  test.each([
    ['1997-11-21T09:55:06', '1997-11-21T09:55:06.000Z'],
    ['1997-11-21 09:55:06', '1997-11-21T09:55:06.000Z'],
    ['11/21/1997 09:55:06 PM', '1997-11-21T21:55:06.000Z'],
    ['Fri, 21 Nov 1997 9:55:06 p.m. GMT', '1997-11-21T21:55:06.000Z'],
    ['21 Nov 1997 09:55:06 P. M. -0500', '1997-11-22T02:55:06.000Z'],
    ['21 Nov 1997 12:05:06 a.m.', '1997-11-21T00:05:06.000Z'],
    ['09:55:06 21-Nov-1997', '1997-11-21T09:55:06.000Z'],
    ['Fri Nov 21 1997 09:55:06', '1997-11-21T09:55:06.000Z'],
    ['Fri Nov 21 1997 09:55:06 GMT+0100', '1997-11-21T08:55:06.000Z'],
  ])('has not the zone of the server: %s', async (value, expected) => {
    const zone = process.env['TZ'];
    try {
      process.env['TZ'] = 'Asia/Tokyo';
      expect(await dateOf(value)).toBe(expected);
    } finally {
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
  });

  test('is absent where the header has none', async () => {
    expect(await dateOf('Fri, 21 Nov 0026 09:55:06 +0000')).toBeNull();
    expect(await dateOf('soon')).toBeNull();
    expect(await dateOf('Fri, 41 Nov 1997 09:55:06 +0000')).toBeNull();
    expect(await dateOf('Fri, 21 Nov 1997 29:55:06 +0000')).toBeNull();
    expect(await dateOf()).toBeNull();
  });
});

const ids = ['<a,1@x.example>', '<b@x.example>'];

describe('the messages that a message refers to', () => {
  test.each([
    [' ', ids.join(' ')],
    ['nothing', ids.join('')],
    ['a comma', ids.join(',')],
    ['a comma and a line end', ids.join(',\r\n\t')],
  ])('with %s between their ids', async (_between, references) => {
    const { references: found } = await parse(
      lines('From: a@x.example', `References: ${references}`, '', 'Text'),
    );
    expect(found).toEqual(ids);
  });
});

test('the words of a phrase are no messages that a message refers to', async () => {
  const referencesOf = async (header: string) =>
    (await parse(lines('From: a@x.example', header, '', 'Text'))).references;
  expect(await referencesOf('In-Reply-To: Your message of Mon, 2 Mar 2026 <b@x.example>')).toEqual([
    '<b@x.example>',
  ]);
  expect(await referencesOf('In-Reply-To: Message from Pat of 2 March')).toEqual([]);
  expect(await referencesOf('References: <a,1@x.example> b@x.example')).toEqual(ids);
  expect(await referencesOf('In-Reply-To: 20260302.17')).toEqual(['<20260302.17>']);
});

describe('a character set of seven bits', () => {
  const KOREAN = '\x1b$)C\x0eGQ1[\x0f ab\r\n\x0eGQ\r\nab';
  const CHINESE = 'a~~~{VPND~} b~\r\n~{VP\r\nND';
  const word = (charset: string, bytes: string): string =>
    `=?${charset}?B?${Buffer.from(bytes).toString('base64')}?=`;

  test.each([
    ['text/plain; charset=iso-2022-kr', KOREAN, '한글 ab\n한\nab'],
    ['text/plain; charset="csISO2022KR"', KOREAN, '한글 ab\n한\nab'],
    ['text/plain', KOREAN, '한글 ab\n한\nab'],
    ['text/plain; charset=HZ-GB-2312', CHINESE, 'a~中文 b中\nND'],
    ['text/plain; charset=hz', CHINESE, 'a~中文 b中\nND'],
    ['text/html', `<meta charset="hz-gb-2312">${CHINESE}`, 'a~中文 b中 ND'],
    // The second byte of a pair is a tilde; an end without its shift.
    ['text/plain; charset=hz-gb-2312', '~{0~VP~}~{', '剥中'],
  ])('%s %j', async (type, body, expected) => {
    expect((await parse(lines(`Content-Type: ${type}`, '', body))).text).toBe(expected);
  });

  test('is read in subjects, names of people and names of files', async () => {
    const { subject, from, attachments } = await parse(
      lines(
        `Subject: ${word('iso-2022-kr', '\x1b$)C\x0eGQ1[\x0f')} ${word('HZ-GB-2312*zh', '~{VPND~}')}`,
        `From: ${word('hz-gb-2312', '~{VPND~}')} <pat@x.example>`,
        multipart(
          'mixed',
          'b',
          [`Content-Type: image/png; name="${word('iso-2022-kr', '\x1b$)C\x0eGQ\x0f')}"`, '', 'x'],
          ["Content-Disposition: attachment; filename*=hz-gb-2312''%7E%7BVPND%7E%7D.txt", '', 'x'],
        ),
      ),
    );
    expect([subject, from?.name, attachments.map(({ filename }) => filename)]).toEqual([
      '한글中文',
      '中文',
      ['한', '中文.txt'],
    ]);
  });
});

test('the address of a link in a plain text is written as HTML', async () => {
  const { html } = await parse('Subject: link\r\n\r\nsee https://crane.example/?a=1&copy;=2&lt=3 now');
  expect(html).toContain('<a href="https://crane.example/?a=1&amp;copy;=2&amp;lt=3">');
});
