import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { composeMessage } from '../../../src/mail-service/mime/compose-message.js';
import { referencesOf } from '../../../src/mail-service/mime/message-ids.js';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

const parse = (...head: string[]) =>
  parseMessage(Readable.from([Buffer.from([...head, '', 'text'].join('\r\n'))]));

describe('a sender without an address', () => {
  test.each([
    ['a bounce', 'MAILER-DAEMON <>', 'MAILER-DAEMON'],
    ['a bounce with a longer name', 'Mail Delivery System <>', 'Mail Delivery System'],
    ['a local user', 'root', 'root'],
    ['a name in an encoded word', '=?utf-8?Q?J=C3=BCrgen?=', 'Jürgen'],
  ])('is shown by the name: %s', async (_, from, name) => {
    expect((await parse(`From: ${from}`)).from).toEqual({ address: '', name });
  });

  test('is not the sender beside an address', async () => {
    expect((await parse('From: Pat, <eli@x.example>')).from).toMatchObject({ address: 'eli@x.example' });
    expect((await parse('From: Pat;, eli@x.example')).from).toMatchObject({ address: 'eli@x.example' });
    expect((await parse('From: <>')).from).toBeNull();
    expect((await parse('From:')).from).toBeNull();
  });

  test('is no recipient', async () => {
    const { to, replyTo } = await parse('To: <Undisclosed-Recipient:;>, Pat', 'Reply-To: Pat <>');
    expect([to, replyTo]).toEqual([[], []]);
    expect((await parse('To: <Undisclosed-Recipient:@list.example;>')).to).toEqual([]);
  });
});

test.each([
  ['mailto:pat@x.example', 'pat@x.example'],
  ['SMTP:pat@x.example', 'pat@x.example'],
  ['a:b@x.example', 'a:b@x.example'],
  ['a b@x.example', 'ab@x.example'],
  ['/O=A/OU=B/CN=pat doe', '/O=A/OU=B/CN=patdoe'],
])('an address in brackets stays one: <%s>', async (written, address) => {
  const expected = { address, name: 'Pat' };
  const { from, to } = await parse(`From: Pat <${written}>`, `To: Pat <${written}>`);
  expect([from, to]).toEqual([expected, [expected]]);
});

test('the name of a raw field may have letters of several bytes', async () => {
  const { headers } = await parse('X-Näme-ÄÖÜ: some value', 'Subject: crane');
  expect(Object.values(headers)).toEqual([['some value'], ['crane']]);
});

test('subjects and names are one line', async () => {
  const { subject, from, to } = await parse(
    'Subject: =?utf-8?Q?crane=0D=0A_is=00free=00?=',
    'From: =?utf-8?B?UGF0CkRvZQ==?= <pat@x.example>',
    'To: "Eli\tDoe" <eli@x.example>',
  );
  expect([subject, from?.name, to[0]?.name]).toEqual(['crane  is free', 'Pat Doe', 'Eli Doe']);
});

describe('the ids of messages', () => {
  const idOf = async (id: string) => (await parse(`Message-ID: ${id}`)).messageId;

  test('may be folded and have blanks around their parts', async () => {
    expect(await idOf('< a.b @ x.example >')).toBe('<a.b@x.example>');
    expect(await idOf('\r\n <a.long.id.that.is\r\n .folded@x.example>')).toBe(
      '<a.long.id.that.is.folded@x.example>',
    );
    expect(await idOf('<a strange id>')).toBeNull();
    const { references } = await parse('References: <a@x\r\n .example> <b @ x.example>c@x.example');
    expect(references).toEqual(['<a@x.example>', '<b@x.example>', '<c@x.example>']);
  });

  test('may have characters beyond ASCII (RFC 6532)', async () => {
    expect(await idOf('<1.ü@bücher.example>')).toBe('<1.ü@bücher.example>');
    expect((await parse('In-Reply-To: <1.ü@bücher.example>')).references).toEqual(['<1.ü@bücher.example>']);
    for (const character of ['\u00a0', '\u200b', '\u2028', '\u0085', '\u202e'])
      expect(await idOf(`<a${character}b@x.example>`)).toBeNull();
  });

  test('of such an id stay in a reply', async () => {
    const inReplyTo = '<1.ü@bücher.example>';
    const message = await composeMessage({
      from: { address: 'pat@x.example', name: '' },
      to: [{ address: 'eli@x.example', name: '' }],
      cc: [],
      bcc: [],
      subject: 'Re: crane',
      text: 'yes',
      attachments: [],
      inReplyTo,
      references: [inReplyTo, '<b@x.example>'],
      headers: [],
    });
    const { references } = await parseMessage(Readable.from([await buffer(message)]));
    expect(references).toEqual([inReplyTo, '<b@x.example>']);
  });

  test.each([
    ['Message from Pat <pat@y.example> of "Sat, 28 Nov 2026 (a@b)" <1@x.example>', ['<1@x.example>']],
    ['Message from Pat of "Sat" <1@x.example>', ['<1@x.example>']],
    ['Message from pat@y.example <1@x.example>', ['<1@x.example>']],
    ['Message from "Doe, Pat" <pat@y.example>', []],
    ['<1@x.example> from "pat@y.example" at Nov 28', ['<1@x.example>']],
    ['<1@x.example> from Pat Doe <pat@y.example>', ['<1@x.example>']],
    ["<1@x.example> (Pat <pat@y.example>'s message of (Sat) 28 Nov)", ['<1@x.example>']],
    ["kim@y.example's message of Sat", []],
    ["Kim <kim@y.example>'s message of Sat", []],
    ["Kim <kim@y.example>'s message of Sat <1@x.example>", ['<1@x.example>']],
    ['"kim@y.example"', []],
    ['Your message of Sat <1@x.example>', ['<1@x.example>']],
    ['Your message from Mon, 2 Mar 2026 <1@x.example>', ['<1@x.example>']],
    ['Your message from 02-Mar-2026 <1@x.example>', ['<1@x.example>']],
    ['Message from Li Sun <sun@y.example>', []],
    ['"<1@x.example>"', ['<1@x.example>']],
    ['(<1@x.example>)', ['<1@x.example>']],
    ['Your message of Sat "< 1@x.example >"', ['<1@x.example>']],
    ['<1@x.example> (<pat@y.example>)', ['<1@x.example>']],
    ['1@x.example (<pat@y.example>)', ['<1@x.example>']],
    ['1@x.example "<pat@y.example>"', ['<1@x.example>']],
    ['Message from pat@y.example "<1@x.example>"', ['<1@x.example>']],
    ['"<pat@y.example>" <1@x.example>', ['<1@x.example>']],
    ['Message from "<pat@y.example>"', []],
    ['Message from "Doe, Pat" <pat@y.example> "Sat, 28 Nov" <1@x.example>', ['<1@x.example>']],
    ['"Pat <pat@y.example>"', []],
    ['<1@x.example> <2@x.example>, 3@x.example', ['<1@x.example>', '<2@x.example>', '<3@x.example>']],
  ])('of In-Reply-To contain no address of a phrase: %s', async (phrase, expected) => {
    expect((await parse(`In-Reply-To: ${phrase}`)).references).toEqual(expected);
    const references = '<0@x.example> <1@x.example>';
    const ids = [...new Set(['<0@x.example>', '<1@x.example>', ...expected])];
    expect((await parse(`References: ${references}`, `In-Reply-To: ${phrase}`)).references).toEqual(ids);
  });

  test('may be quoted, or in a comment', async () => {
    for (const id of [
      '"<1@x.example>"',
      '" <1@x.example> "',
      '(<1@x.example>)',
      '<1@x.example> "<2@x.example>"',
    ])
      expect(await idOf(id)).toBe('<1@x.example>');
    const { references } = await parse('References: "<1@x.example>" "<2@x.example>"\r\n (<3@x.example>)');
    expect(references).toEqual(['<1@x.example>', '<2@x.example>', '<3@x.example>']);
  });

  test('are read in one pass', () => {
    for (const text of [
      '" <a@b> ',
      '"<',
      '(<@',
      '"<a@b>',
      '"\\" ',
      '( (a) ',
      '<a ',
      'from <a@b> ',
      '"a ',
      'a',
      '(a)',
      '"',
    ])
      for (const before of ['', '"', '('])
        expect(referencesOf(new Map([['in-reply-to', before + text.repeat(50_000)]])).length).toBeLessThan(2);
  });

  test('are read from encoded words, which some servers write', async () => {
    expect(await idOf('=?us-ascii?Q?=3Ca.b=40x.example=3E?=')).toBe('<a.b@x.example>');
    const { references } = await parse(
      'References: =?us-ascii?Q?=3Ca.b=40x.example?= =?us-ascii?Q?=3E_=3Cc=40x.example=3E?=',
    );
    expect(references).toEqual(['<a.b@x.example>', '<c@x.example>']);
  });
});

test('a date needs a year, and its offset no plus sign', async () => {
  for (const date of ['Thu Jan 01 00:00:10 +0000', 'Sat, 28 Nov 08:00:00 +0100', '28 Nov 08:00'])
    expect((await parse(`Date: ${date}`)).date).toBeNull();
  expect((await parse('Date: 0001-01-01 00:00:00 +0000 UTC')).date).toBeNull();
  expect((await parse('Date: 28 Nov 26 12:29:13 AM')).date).toBe('2026-11-28T00:29:13.000Z');
  expect((await parse('Date: Sat, 28 Nov 2026 08:00:00 0100')).date).toBe('2026-11-28T07:00:00.000Z');
  for (const date of ['November 28, 26 8:00 AM', '28. November, 26 8:00 AM', '11/28/26, 8:00 AM'])
    expect((await parse(`Date: ${date}`)).date).toBe('2026-11-28T08:00:00.000Z');
  expect((await parse('Date: Nov 28, 08:00')).date).toBeNull();
  expect((await parse('Date: 11/28/26 08:00:00 GMT')).date).toBe('2026-11-28T08:00:00.000Z');
});

test.each([
  'Fr, 5. März 2010 09:00:00 +0100',
  'Fr, 05 Mrz 2010 09:00:00 +0100',
  'ven., 5 mars 2010 09:00:00 +0100',
  'vie, 5 de marzo de 2010 09:00:00 +0100',
  'ven, 05 mar 2010 09:00:00 +0100',
  'sexta-feira, 5 de março de 2010 09:00:00 +0100',
  'vr, 5 mrt 2010 09:00:00 +0100',
  'пт, 05 мар 2010 09:00:00 +0100',
  '星期五, 5 三月 2010 09:00:00 +0100',
  '금, 5 3월 2010 09:00:00 +0100',
  'Fr, 05.03.2010 09:00 +0100',
  '05.03.2010, 09:00:00 +0100',
  '5. 3. 2010 09:00 +0100',
  '=?iso-8859-1?Q?Fr,_5_M=E4r_2010_09:00:00_+0100?=',
])('a date in another language is read: %s', async (date) => {
  expect((await parse(`Date: ${date}`)).date).toBe('2010-03-05T08:00:00.000Z');
});

test('months of other languages are read, also in Latin-1; a word that means two months is none', async () => {
  const months: [string, string][] = [
    ['janv. gennaio ene. Jänner', '01'],
    ['févr. febbraio fev', '02'],
    ['avril abr kwi', '04'],
    ['Mai maggio mei maj', '05'],
    ['juin giugno haz', '06'],
    ['juillet luglio', '07'],
    ['août agosto ağustos', '08'],
    ['settembre set wrz', '09'],
    ['Okt ottobre outubro', '10'],
    ['Dez. déc. dicembre dic des', '12'],
  ];
  for (const [names, month] of months)
    for (const name of names.split(' '))
      expect([name, (await parse(`Date: 5 ${name} 2010 08:00:00 +0000`)).date]).toEqual([
        name,
        `2010-${month}-05T08:00:00.000Z`,
      ]);
  const latin = Buffer.from('Date: lun., 5 f\xe9vr. 2010 08:00:00 +0000\r\n\r\n', 'latin1');
  expect((await parseMessage(Readable.from([latin]))).date).toBe('2010-02-05T08:00:00.000Z');
  expect((await parse('Date: 5 lis 2010 08:00:00 +0000')).date).toBeNull();
  expect((await parse('Date: 31.12.2010')).date).toBe('2010-12-31T00:00:00.000Z');
});
