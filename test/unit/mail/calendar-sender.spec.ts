import { Readable } from 'node:stream';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

const REPLY = [
  'Content-Type: text/calendar; method=REPLY',
  '',
  'BEGIN:VCALENDAR',
  'METHOD:REPLY',
  'END:VCALENDAR',
  '',
];

/** The sender that the mail service reports with the calendar of a message; empty: none is certain. */
async function senderOf(...headers: string[]): Promise<string | undefined> {
  const message = [...headers, 'To: ann@acme.example', ...REPLY].join('\r\n');
  return (await parseMessage(Readable.from([Buffer.from(message)]))).calendar?.sender;
}

describe('the sender of a calendar in a mail', () => {
  test.each([
    ['an address', ['From: zoe@far.example']],
    ['a name', ['From: Zoe <zoe@far.example>']],
    ['a comment with an address', ['From: zoe@far.example (was eve@evil.example)']],
    ['a quoted name with an @', ['From: "eve@evil.example" <zoe@far.example>']],
    ['a folded header', ['From: Zoe', ' <zoe@far.example>']],
    [
      'another Sender and Reply-To',
      ['Sender: eve@evil.example', 'Reply-To: eve@evil.example', 'From: zoe@far.example'],
    ],
  ])('is that of From with %s', async (_, headers) => {
    expect(await senderOf(...headers)).toBe('zoe@far.example');
  });

  test.each([
    ['two headers', ['From: zoe@far.example', 'From: eve@evil.example']],
    ['two equal headers', ['From: zoe@far.example', 'FROM: zoe@far.example']],
    ['two addresses', ['From: zoe@far.example, eve@evil.example']],
    ['a group of two', ['From: Us: zoe@far.example, eve@evil.example;']],
    ['a group of one and an address', ['From: Us: zoe@far.example;, eve@evil.example']],
    ['no address', ['From: Zoe']],
    ['no From', ['Sender: zoe@far.example']],
  ])('is none with %s', async (_, headers) => {
    expect(await senderOf(...headers)).toBe('');
  });
});
