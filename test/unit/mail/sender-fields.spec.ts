import { Readable } from 'node:stream';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

/** @param head one character a byte */
const parse = (...head: string[]) =>
  parseMessage(Readable.from([Buffer.from([...head, '', 'x'].join('\r\n'), 'latin1')]));
const inBase64 = (text: string): string => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;

/** The addresses of From, Reply-To and To with this value. */
async function addressesOf(value: string, charset = 'utf-8') {
  const fields = ['From', 'Reply-To', 'To'].map((name) => `${name}: ${value}`);
  const { from, replyTo, to } = await parse(...fields, `Content-Type: text/plain; charset=${charset}`);
  return { from: from?.address, replyTo: replyTo[0]?.address, to: to.map(({ address }) => address) };
}

describe('a field that names a sender has the addresses that its bytes have as ASCII', () => {
  test.each([
    ['a parenthesis of a shift', '\x1b(B<ben@y.example>) eve@x.example', undefined],
    [
      'a parenthesis of a shift after characters',
      '\x1b$B!!\x1b(B <ben@y.example>) eve@x.example',
      'iso-2022-jp',
    ],
    ['a shift that is unknown', '\x1b$B!!\x1b(Z <eve@x.example> \x1b(B <ben@y.example>)', undefined],
    ['another end of the local part', "\x1b$B!! <eve'@x.example>!\x1b(B <ben@y.example> )", undefined],
    ['a tilde within a pair', '~{a~}<eve@x.example>!!~} <ben@y.example>', 'hz-gb-2312'],
    ['a backslash within a letter', '"\x81\\" <ben@y.example> " <eve@x.example>', 'shift_jis'],
    ['an at sign within a letter', '<eve\x81@x.example> <ben@y.example>', 'shift_jis'],
  ])('%s', async (_, value, charset) => {
    const { from, replyTo } = await addressesOf(value, charset ?? 'iso-2022-jp');
    for (const address of [from, replyTo]) expect(address).toMatch(/^eve.?@x\.example$/);
  });

  test.each([
    ['iso-2022-jp', '\x1b$B@P;3\x1b(B <pat@x.example>', '石山'],
    ['iso-2022-jp', '\x1b$B@>2,K\\\x1b(B <pat@x.example>', '西岡本'],
    ['iso-2022-jp', '"\x1b$B:4F#%"%"\x1b(B" <pat@x.example>', '佐藤アア'],
    ['iso-2022-jp', 'pat@x.example (\x1b$B@P;3\x1b(B)', '石山'],
    ['hz-gb-2312', '~{VPND~} <pat@x.example>', '中文'],
    ['shift_jis', '"\x83\\\x90\xce" <pat@x.example>', 'ソ石'],
    ['euc-kr', '\xc7\xd1\xb1\xdb <pat@x.example>', '한글'],
  ])('and its name is read in %s: %j', async (charset, value, name) => {
    const fields = ['From', 'To'].map((field) => `${field}: ${value}`);
    const { from, to } = await parse(...fields, `Content-Type: text/plain; charset=${charset}`);
    expect([from, to]).toEqual([{ name, address: 'pat@x.example' }, [{ name, address: 'pat@x.example' }]]);
  });

  test('in UTF-16 or not, a field is read as bytes', async () => {
    const { subject, from } = await parse(
      'Subject: caf\xe9',
      'From: Andr\xe9 <pat@x.example>',
      'Content-Type: text/plain; charset=utf-16le',
    );
    expect([subject, from]).toEqual(['café', { name: 'André', address: 'pat@x.example' }]);
  });
});

describe('an encoded word of a field that names a sender', () => {
  test.each([
    ['alone', inBase64('Ben <ben@y.example>'), ''],
    ['within another one', inBase64(inBase64('Ben <ben@y.example>')), ''],
    ['before the address', `${inBase64('Ben <ben@y.example>')}, <eve@x.example>`, 'eve@x.example'],
    ['in brackets', '=?utf-8?Q?Ben?= <=?utf-8?Q?ben=40y.example?=>', ''],
    ['of a group', `Us: ${inBase64('Ben <ben@y.example>')};`, ''],
  ])('is no address: %s', async (_, value, address) => {
    const { from, replyTo, calendar } = await parse(`From: ${value}`, `Reply-To: ${value}`);
    expect([from?.address, replyTo.map((each) => each.address), calendar]).toEqual([
      address,
      address ? [address] : [],
      null,
    ]);
  });

  test('is a name, also in place of the address', async () => {
    const { from } = await parse(`From: ${inBase64('Ben <ben@y.example>')}`);
    expect(from).toEqual({ name: 'Ben <ben@y.example>', address: '' });
    expect((await parse('From: <=?utf-8?Q?ben=40y.example?=>')).from).toEqual({
      name: 'ben@y.example',
      address: '',
    });
    expect((await parse('From: =?utf-8?Q?J=C3=BCrgen?= <pat@xn--bcher-kva.example>')).from).toEqual({
      name: 'Jürgen',
      address: 'pat@bücher.example',
    });
  });

  test('of recipients may be one', async () => {
    expect((await parse(`To: ${inBase64('Ben <ben@y.example>')}`)).to).toEqual([
      { name: 'Ben', address: 'ben@y.example' },
    ]);
  });

  test.each([
    ['an address in brackets', '=?utf-8?q?<eve@x.example>?= <ben@y.example>'],
    ['an address before a comma', '=?utf-8?q?eve@x.example,?= <ben@y.example>'],
    ['brackets of words', '[eve@x.example, x] <ben@y.example>'],
  ])('ends before the address of a strict reader: %s', async (_, value) => {
    const { from, replyTo } = await parse(`From: ${value}`, `Reply-To: ${value}`);
    expect(from?.address).toMatch(/eve@x\.example$/);
    expect(replyTo.map(({ address }) => address)).toEqual([from?.address, 'ben@y.example']);
  });

  test.each([
    ['=?utf-8?Q?pat@x.example?= <pat@x.example>', 'pat@x.example'],
    ['=?utf-8?Q?Doe,_Pat?= <pat@x.example>', 'Doe, Pat'],
    ['[Team, A: @B] Pat <pat@x.example>', '[Team, A: @B] Pat'],
  ])('stays one with %s', async (value, name) => {
    expect((await parse(`From: ${value}`)).from).toEqual({ name, address: 'pat@x.example' });
  });
});
