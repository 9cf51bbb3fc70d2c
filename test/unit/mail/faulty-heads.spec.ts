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
const utf8 = (text: string): string => Buffer.from(text).toString('latin1');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const CHUNKS = [1, 13, 65_536];

describe('a head without an empty line after it', () => {
  test('ends before the first line of the text', async () => {
    const body = ['Dear Pat, the crane is free.', 'It is for you, if you want: say so.', '', 'Eli'];
    for (const chunk of CHUNKS) {
      const { subject, text } = await parse(lines('Subject: crane', 'X-Note: a', ' b', body), chunk);
      expect([subject, text]).toEqual(['crane', body.join('\n')]);
    }
  });

  test('of a part loses neither text nor file', async () => {
    const message = lines(
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain',
      'In the letter: of Pat',
      '',
      'more',
      '--b',
      'the second text',
      '--b',
      'Content-Type: application/pdf; name=plan.pdf',
      'Content-Transfer-Encoding: base64',
      base64('the plan of the jetty'),
      '--b--',
    );
    for (const chunk of CHUNKS) {
      const { text, attachments } = await parse(message, chunk);
      expect(text).toBe('In the letter: of Pat\n\nmore\nthe second text');
      expect(attachments).toMatchObject([{ filename: 'plan.pdf', decodedSize: 21 }]);
    }
  });

  test('a line that is no field within the head is ignored', async () => {
    const head = ['Subject: crane', 'a strange line', '>From pat Sat Nov 28 08:00:00 2026', 'X-A: b'];
    expect(await parse(lines(head, '', 'text'))).toMatchObject({ subject: 'crane', text: 'text' });
    expect(await parse(lines('From pat Sat Nov 28 08:00:00 2026', head, '', 'text'))).toMatchObject({
      subject: 'crane',
      text: 'text',
    });
    expect(await parse(lines('Subject: crane', 'Content-Type text/plain', '', 'text'))).toMatchObject({
      text: 'text',
    });
    expect(await parse(lines('Subject: crane', '>From pat Sat Nov 28', '', 'text'))).toMatchObject({
      text: 'text',
    });
  });

  test('keeps a text that looks like a field with parameters, and what follows', async () => {
    const message = lines(
      'Content-Type: multipart/mixed; boundary=b',
      ['', '--b', 'hello;', 'x=1', '', 'rest of the body', '--b'],
      'Content-Type: application/pdf; name=a.pdf',
      ['Content-Transfer-Encoding: base64', '', base64('the plan of the jetty'), '--b--'],
    );
    for (const chunk of CHUNKS) {
      const { text, attachments } = await parse(message, chunk);
      expect(text).toBe('hello;\nx=1\n\nrest of the body');
      expect(attachments).toMatchObject([{ filename: 'a.pdf', decodedSize: 21 }]);
      const afterField = lines('Content-Type: text/plain', 'hello;', 'x=1', 'y=2', '', 'rest');
      expect((await parse(afterField, chunk)).text).toBe('hello;\nx=1\ny=2\n\nrest');
      expect((await parse(lines('hello;', 'x=1', '', 'rest'), chunk)).text).toBe('hello;\nx=1\n\nrest');
    }
  });

  test('is of a message that has no field', async () => {
    expect((await parse(lines('good morning', '', 'Pat'))).text).toBe('good morning\n\nPat');
  });
});

test('parameters in lines that are not folded belong to their field', async () => {
  const message = lines(
    'Content-Type: multipart/mixed;',
    'boundary=b',
    '',
    '--b',
    'Content-Type: application/pdf;',
    'name="plan.pdf"',
    'Content-Disposition: attachment;',
    'size=3;',
    'filename="plan of the jetty.pdf"',
    '',
    'abc',
    '--b--',
  );
  for (const chunk of CHUNKS)
    expect((await parse(message, chunk)).attachments).toMatchObject([
      { filename: 'plan of the jetty.pdf', contentType: 'application/pdf', decodedSize: 3 },
    ]);
});

describe('an inner multipart without its end', () => {
  const outer = ['Content-Type: multipart/mixed; boundary=outer', '', '--outer'];
  const related = ['Content-Type: multipart/related; boundary=middle', '', '--middle'];
  const alternative = [
    'Content-Type: multipart/alternative; boundary=inner',
    '',
    '--inner',
    'Content-Type: text/plain',
    '',
    'plain text',
    '--inner',
    'Content-Type: text/html',
    '',
    '<b>rich</b>',
  ];
  const file = (name: string): string[] => [
    `Content-Type: image/png; name=${name}`,
    'Content-Transfer-Encoding: base64',
    '',
    'iVBORw0KGgo=',
  ];

  test.each([
    ['one level', [outer, alternative, '--outer', file('a.png'), '--outer--']],
    ['two levels', [outer, related, alternative, '--outer', file('a.png'), '--outer--']],
    ['after an empty part', [outer, alternative, '--inner', '', '--outer', file('a.png'), '--outer--']],
    ['which a boundary follows at once', [outer, alternative, '--inner', '--outer', file('a.png')]],
    [
      'after its end',
      [outer, related, alternative, '--inner--', 'epilogue', '--outer', file('a.png'), '--outer--'],
    ],
  ])('ends with the next part of the outer one: %s', async (_, message) => {
    for (const chunk of CHUNKS) {
      const { text, html, attachments } = await parse(lines(...message.flat()), chunk);
      expect([text.trim(), html?.trim()]).toEqual(['plain text', '<b>rich</b>']);
      expect(attachments).toMatchObject([{ filename: 'a.png', decodedSize: 8 }]);
    }
  });

  test('a part keeps lines that name the boundary of no open multipart', async () => {
    const message = lines(outer, related, ['Content-Type: text/plain', '', 'one', '--middle--'], '--outer', [
      'Content-Type: text/plain',
      '',
      '--middle',
      'two',
      '--outer--',
    ]);
    for (const chunk of CHUNKS) expect((await parse(message, chunk)).text).toBe('one\n--middle\ntwo');
  });

  test.each(['--outer', '--outer--', '--outer\r'])('the last line %j needs no line end', async (last) => {
    const message = lines(outer, ['Content-Type: text/plain', '', 'one']) + last;
    for (const chunk of CHUNKS) expect((await parse(message, chunk)).text).toBe('one');
  });

  test('the same boundary in two levels', async () => {
    const same = (text: string) => text.replaceAll('inner', 'outer');
    const message = lines(outer, alternative.map(same), '--outer--', '--outer', file('a.png'), '--outer--');
    for (const chunk of CHUNKS) {
      const { text, attachments } = await parse(message, chunk);
      expect(text.trim()).toBe('plain text');
      expect(attachments).toMatchObject([{ filename: 'a.png' }]);
    }
  });
});

describe('header fields in eight bits', () => {
  const read = async (...head: string[]) => {
    const { subject, from, headers } = await parse(lines(...head, '', 'text'));
    return [subject, from?.name, headers['subject']?.[0]];
  };

  test('are UTF-8 where that is possible, also in the list of headers', async () => {
    const head = utf8('Subject: Frösche im Büro'); // RFC 6532
    expect(await read(head, utf8('From: Jürgen <j@x.example>'))).toEqual([
      'Frösche im Büro',
      'Jürgen',
      'Frösche im Büro',
    ]);
  });

  test('are in the character set of the message, of an encoded word, or else in Windows-1252', async () => {
    const latin = ['Subject: Fr\xf6sche \x80', 'From: J\xfcrgen <j@x.example>'];
    expect(await read(...latin)).toEqual(['Frösche €', 'Jürgen', 'Frösche €']);
    expect(await read(...latin, 'Content-Type: text/plain; charset=utf-8')).toEqual([
      'Frösche €',
      'Jürgen',
      'Frösche €',
    ]);
    const cyrillic = 'Subject: \xcf\xf0\xe8\xe2\xe5\xf2';
    expect((await read(cyrillic, 'Content-Type: text/plain; charset="windows-1251"'))[0]).toBe('Привет');
    expect((await read(cyrillic, 'From: =?windows-1251?B?y+Xt4A==?= <l@x.example>'))[0]).toBe('Привет');
    expect((await read(cyrillic, 'Content-Type: text/plain; charset=unknown-8bit'))[0]).toBe('Ïðèâåò');
  });

  test('are UTF-8 if only a character of it is cut off', async () => {
    const cut = utf8('Subject: Größe, Länge und Höhe ü').slice(0, -1);
    expect((await read(cut))[0]).toBe('Größe, Länge und Höhe \ufffd');
    const euckr = 'Subject: \xc1\xd6\xb8\xbb\xc6\xaf\xb0\xa1';
    expect((await read(euckr, 'Content-Type: text/plain; charset=euc-kr'))[0]).toBe('주말특가');
  });

  test('bytes of an encoded word are in its character set', async () => {
    expect((await read('Subject: =?iso-8859-5?Q?\xbf\xe0=D8\xd2=D5=E2?= =?iso-8859-1?q?_\xe4?='))[0]).toBe(
      'Привет ä',
    );
  });

  test('names of files too', async () => {
    const message = (charset: string) =>
      lines(
        `Content-Type: multipart/mixed; boundary=b${charset}`,
        '',
        '--b',
        'Content-Type: application/pdf; name="\xcf\xeb\xe0\xed.pdf"',
        '',
        'abc',
        '--b--',
      );
    expect((await parse(message(''))).attachments[0]?.filename).toBe('Ïëàí.pdf');
    expect((await parse(message('; charset=koi8-r'))).attachments[0]?.filename).toBe('оКЮМ.pdf');
  });
});

test('values in a line that is not folded belong to their field', async () => {
  const { text, headers } = await parse(lines('Subject: a', 'X-Info:', 'value of it', '', 'text'));
  expect([text, headers['x-info'], headers['subject']]).toEqual(['text', ['value of it'], ['a']]);
});

test('a byte order mark before the head is ignored', async () => {
  const { from, text } = await parse(lines(utf8('\ufeffFrom: pat@x.example'), 'Subject: a', '', 'text'));
  expect([from?.address, text]).toEqual(['pat@x.example', 'text']);
});

test('a type that the parser cannot read does not make the mail unreadable', async () => {
  for (const type of ['; name="a.jpg"', ';', '', '/', 'image', '"image/jpeg; name="a.jpg"']) {
    const { text, attachments } = await parse(
      lines(
        'Content-Type: multipart/mixed; boundary=b',
        '',
        '--b',
        '',
        'text',
        '--b',
        `Content-Type: ${type}`,
        'Content-Transfer-Encoding: base64',
        'Content-Disposition: attachment; filename="a.jpg"',
        '',
        'AAAA',
        '--b--',
      ),
    );
    expect(text).toBe('text');
    expect(attachments).toMatchObject([{ filename: 'a.jpg', decodedSize: 3 }]);
  }
});
