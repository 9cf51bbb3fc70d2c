import { Readable } from 'node:stream';
import { addressList } from '../../../src/mail-service/mime/address-list.js';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

/** Each address as `name|address`; groups in brackets. */
const read = (header: string): string =>
  addressList(header)
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
  ])('%s', (_, header, expected) => {
    expect(read(header)).toBe(expected);
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
    for (const text of ['('.repeat(200_000), '<'.repeat(200_000), 'a@'.repeat(100_000), '"'.repeat(100_001)])
      expect(addressList(text).length).toBeLessThan(2);
  });
});
