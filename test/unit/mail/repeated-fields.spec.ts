import { Readable } from 'node:stream';
import { parseMessage } from '../../../src/mail-service/mime/parse-message.js';

const parse = (...lines: string[]) => parseMessage(Readable.from([Buffer.from(lines.join('\r\n'))]));

test('of repeated fields the first one counts, and all recipients', async () => {
  const found = await parse(
    ...['one', 'two'].flatMap((each, n) => [
      `From: ${each}@x.example`,
      `Reply-To: r-${each}@x.example`,
      `To: t-${each}@x.example`,
      `Subject: ${each}`,
      `Date: Sat, 28 Nov 2026 0${n + 1}:00:00 +0000`,
    ]),
    '',
    'text',
  );
  expect(found).toMatchObject({
    from: { address: 'one@x.example' },
    replyTo: [{ address: 'r-one@x.example' }],
    to: [{ address: 't-one@x.example' }, { address: 't-two@x.example' }],
    subject: 'one',
    date: '2026-11-28T01:00:00.000Z',
  });
});

test.each(['latin-9', 'Latin9', 'iso-8859-15'])('the character set %s has the euro sign', async (charset) => {
  const word = `=?${charset}?Q?=A4?=`;
  const found = await parse(
    `Subject: ${word}`,
    `Content-Type: text/plain; charset=${charset}`,
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '=A4',
  );
  expect([found.subject, found.text]).toEqual(['€', '€']);
});

test('a date before 1970 stays', async () => {
  const dates = ['Thu, 25 Dec 1969 08:00:00 +0000', 'Thu, 25 Dec 1899 08:00:00 +0000'];
  const found = await Promise.all(dates.map(async (date) => (await parse(`Date: ${date}`, '', 'x')).date));
  expect(found).toEqual(['1969-12-25T08:00:00.000Z', null]);
});
