import { Readable } from 'node:stream';
import { addressList } from '../../../src/mail-service/mime/address-list.js';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

/** Each address as `name|address`; groups in brackets. */
const read = (header: string, isStrict?: boolean): string =>
  addressList(header, isStrict)
    .map(({ name, address, group }) =>
      group ? `${name}[${group.map((one) => `${one.name}|${one.address}`).join(' ')}]` : `${name}|${address}`,
    )
    .join(' ');

describe('addresses of a header', () => {
  test.each([
    ['a comment as the name', 'pat@x.example (Pat Doe)', 'Pat Doe|pat@x.example'],
    ['a comment in a name', 'Pat (the boss) Doe <pat@x.example>', 'Pat Doe|pat@x.example'],
    ['comments in an address', 'pat(home)@(office)x.example', '|pat@x.example'],
    [
      'RFC 5322 A.5',
      'Pete(A nice \\) chap) <pete(his account)@silly.test(his host)>',
      'Pete|pete@silly.test',
    ],
    ['nested comments', 'Pat (a (b) \\) c) <pat@x.example>', 'Pat|pat@x.example'],
    ['an address in a comment', 'pat@x.example (ben@y.example)', 'ben@y.example|pat@x.example'],
    [
      'brackets in a quoted name',
      '"Doe, Pat (Sales) <x>" <pat@x.example>',
      'Doe, Pat (Sales) <x>|pat@x.example',
    ],
    ['a quoted local part', '"pat doe"@x.example', '|"pat doe"@x.example'],
    ['needless quotes', 'Pat <"pat.doe"@x.example>', 'Pat|pat.doe@x.example'],
    ['a quoted at sign', '<"a@b.example"@x.example>', '|"a@b.example"@x.example'],
    ['spaces in an address', 'Pat < pat . doe @ x . example >', 'Pat|pat.doe@x.example'],
    ['a domain literal', 'pat@[192.0.2.1]', '|pat@[192.0.2.1]'],
    ['a source route', '<@one.example,@two.example:pat@x.example>', '|pat@x.example'],
    [
      'a group',
      'Team: a@x.example, "B, C" <b@x.example>;, d@x.example',
      'Team[|a@x.example B, C|b@x.example] |d@x.example',
    ],
    ['an empty group', '(list)Hidden recipients :(nobody(that I know))  ;', 'Hidden recipients[]'],
    ['a comma in a name', 'Doe, Pat <pat@x.example>, ben@y.example', 'Doe, Pat|pat@x.example |ben@y.example'],
    [
      'a comma in an encoded word',
      '=?utf-8?Q?Doe,_Pat?= <pat@x.example>',
      '=?utf-8?Q?Doe,_Pat?=|pat@x.example',
    ],
    ['semicolons of Outlook', 'a@x.example; b@x.example', '|a@x.example |b@x.example'],
    ['an address without brackets', 'Pat Doe pat@x.example', 'Pat Doe|pat@x.example'],
    ['a missing bracket', 'Pat <pat@x.example', 'Pat|pat@x.example'],
    ['a missing end of a comment', 'pat@x.example (Pat', 'Pat|pat@x.example'],
    ['a missing end of quotes', '"Pat <a@x.example>', 'Pat|a@x.example'],
    ['a missing beginning of quotes', 'Pat" <a@x.example>', 'Pat"|a@x.example'],
    ['quotes within a name', 'Pat "The Doe <a@x.example>', 'Pat The Doe|a@x.example'],
    ['inches', '24" Screens <a@x.example>', '24" Screens|a@x.example'],
    [
      'inches of two',
      '24" Screens <a@x.example>, 30" TVs <b@x.example>',
      '24" Screens|a@x.example 30" TVs|b@x.example',
    ],
    ['a backslash before the end of quotes', '"Pat\\" <a@x.example>', 'Pat|a@x.example'],
    ['a quote after the address', '"Pat <a@x.example>"', 'Pat|a@x.example'],
    ['an address within quotes', '"a@x.example", "b@y.example"', '|a@x.example |b@y.example'],
    [
      'a missing end of quotes before others',
      '"Pat <a@x.example>, "Jo" <b@x.example>, "Kim, B" <c@x.example>',
      'Pat|a@x.example Jo|b@x.example Kim, B|c@x.example',
    ],
    [
      'a missing end of a comment before others',
      'Pat (Sales <a@x.example>, Jo <b@x.example> (home)',
      'Pat (Sales|a@x.example Jo|b@x.example',
    ],
    ['a sad face', 'Pat :( <a@x.example>', 'Pat :(|a@x.example'],
    ['a happy face', 'Pat :-) <a@x.example>', 'Pat :-)|a@x.example'],
    ['a missing end of square brackets', '[JIRA Pat <a@x.example>', '[JIRA Pat|a@x.example'],
    ['square brackets', '[JIRA] Pat <a@x.example>', '[JIRA] Pat|a@x.example'],
    ['square brackets at the end', 'Pat Doe [Acme] <a@x.example>', 'Pat Doe [Acme]|a@x.example'],
    ['square brackets with a comma', '[Team, A: @B] x <a@x.example>', '[Team, A: @B] x|a@x.example'],
    ['double brackets', 'P <<a@x.example>>', 'P|a@x.example'],
    ['a missing comma', '<a@x.example> <b@x.example>', '|a@x.example |b@x.example'],
    [
      'missing commas between names',
      'A <a@x.example>\r\n B <b@x.example> (Bo) C <c@x.example>',
      'A|a@x.example B|b@x.example C|c@x.example',
    ],
    [
      'missing blanks too',
      '<a@x.example><b@x.example> <c@x.example>d@x.example',
      '|a@x.example |b@x.example |c@x.example |d@x.example',
    ],
    ['a missing comma without brackets', 'a@x.example b@x.example', '|a@x.example |b@x.example'],
    [
      'missing commas between comments',
      'a@x.example (A) B b@x.example (b) c@x.example',
      'A|a@x.example B|b@x.example |c@x.example',
    ],
    ['an address as the name', 'a@x.example <a@x.example>', 'a@x.example|a@x.example'],
    ['an address as a quoted name', '"a@x" <b@y>', 'a@x|b@y'],
    ['an address twice', '"Pat" <p@x.example> p@x.example', 'Pat|p@x.example'],
    ['an address twice in brackets', '<p@x.example> <P@x.example>', '|p@x.example'],
    ['an address twice, with a name at last', '<p@x.example> Pat <p@X.example>', 'Pat|p@X.example'],
    ['an address twice in a list', 'p@x.example, p@x.example', '|p@x.example |p@x.example'],
    ['a missing beginning of brackets', 'Pat p@x.example>', 'Pat|p@x.example'],
    ['a missing beginning of brackets after a name', 'Pat>p@x.example', 'Pat|p@x.example'],
    ['a bracket before an address', '>p@x.example', '|p@x.example'],
    ['a quote after an address', 'p@x.example"', '|p@x.example'],
    ['a quote before an address', 'p" <p@x.example>"', 'p"|p@x.example'],
    ['a place in a name', 'Pat @ Acme <a@x.example>', 'Pat @ Acme|a@x.example'],
    ['a place after an address', 'Pat <a@x.example> @ Acme', 'Pat @ Acme|a@x.example'],
    [
      'two source routes',
      '<@one.example,@two.example:a@x.example> <@three.example:b@x.example>',
      '|a@x.example |b@x.example',
    ],
  ])('%s', (_, header, expected) => {
    expect(read(header)).toBe(expected);
  });

  test.each([
    ['quotes after a word', 'x"Pat <pat@x.example>" <ben@y.example>', 'x Pat <pat@x.example>|ben@y.example'],
    ['quotes before a word', '"Pat <pat@x.example>"x <ben@y.example>', 'Pat <pat@x.example>x|ben@y.example'],
    [
      'several quoted strings',
      'x"<pat@x.example>" "y " <ben@y.example> (" )',
      'x <pat@x.example> y|ben@y.example',
    ],
    [
      'an address as the first words',
      '"pat@x.example", Ben <ben@y.example>',
      'pat@x.example, Ben|ben@y.example',
    ],
    ['a quoted string only', '"Pat <pat@x.example>"', 'Pat <pat@x.example>|'],
    [
      'quotes that begin in an encoded word',
      '=?utf-8?q?"?= <pat@x.example> "?= <ben@y.example>',
      '=?utf-8?q? ?= <pat@x.example> ?=|ben@y.example',
    ],
    [
      'a comment that begins in an encoded word',
      '=?utf-8?q?(?= <pat@x.example> )?= <ben@y.example>',
      '=?utf-8?q? ?=|ben@y.example',
    ],
    [
      'quotes of an encoded word',
      '=?utf-8?Q?"Doe,_Pat"?= <pat@x.example>',
      '=?utf-8?Q?"Doe,_Pat"?=|pat@x.example',
    ],
    ['a missing end of quotes', '"Pat <pat@x.example>', 'Pat|pat@x.example'],
  ])('that name a sender: %s', (_, header, expected) => {
    expect(read(header, true)).toBe(expected);
  });

  test('of From, Sender and Reply-To are those of a strict reader', async () => {
    const value = 'x"Pat <pat@x.example>" <ben@y.example>';
    const names = ['From', 'Sender', 'Reply-To', 'To'];
    const raw = Buffer.from(`${names.map((name) => `${name}: ${value}\r\n`).join('')}\r\ntext`);
    const message = await parseMessage(Readable.from([raw]));
    expect(message.from?.address).toBe('ben@y.example');
    expect(message.replyTo.map(({ address }) => address)).toEqual(['ben@y.example']);
    expect(message.to.map(({ address }) => address)).toEqual(['pat@x.example', 'ben@y.example']);
  });

  test('are those of the message', async () => {
    const raw = Buffer.from(
      'From: Pete(A nice \\) chap) <pete(his account)@silly.test(his host)>\r\n' +
        'Reply-To: =?utf-8?Q?D=C3=B6e?= (work) <"d doe"@x.example>\r\n' +
        "To: A Group(Some people)\r\n :Chris Jones <c@(Chris's host.)public.example>,\r\n joe@example.org,\r\n" +
        ' John <jdoe@one.test> (my dear friend); (the end of the group)\r\n' +
        'Cc: (Empty list)(start)Hidden recipients :(nobody(that I know))  ;\r\n\r\ntext',
    );
    expect(await parseMessage(Readable.from([raw]))).toMatchObject({
      from: { name: 'Pete', address: 'pete@silly.test' },
      replyTo: [{ name: 'Döe', address: '"d doe"@x.example' }],
      to: [
        { name: 'Chris Jones', address: 'c@public.example' },
        { name: '', address: 'joe@example.org' },
        { name: 'John', address: 'jdoe@one.test' },
      ],
      cc: [],
    });
  });

  test('of a long header are read in one pass', () => {
    const parts = '( < a@ " [ , : <@, <a@b> "\\"<a@b> a@b\t (a)'.split(' ');
    for (const text of parts)
      for (const before of ['', '"', '(', '@(', '<@', 'a@b'])
        for (const isStrict of [false, true]) addressList(before + text.repeat(20_000), isStrict);
    for (const text of ['('.repeat(200_000), '<'.repeat(200_000), '"'.repeat(100_001)])
      expect(addressList(text).length).toBeLessThan(2);
  });
});
