import fc from 'fast-check';
import { simpleParser } from 'mailparser';
import {
  addressOfUri,
  attendeesOf,
  compareVersions,
  composeItipMail,
  ItipError,
  organizerOf,
  parseItip,
  sameMailbox,
  maySendFor,
  uriOfAddress,
} from '../../../src/lib/itip/index.js';
import { runs } from '../../support/property-runs.ts';

const lines = (...text: string[]): string => `${text.join('\r\n')}\r\n`;
const calendar = (method: string, ...events: string[][]): string =>
  lines(
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    ...(method ? [`METHOD:${method}`] : []),
    ...events.flatMap((event) => ['BEGIN:VEVENT', ...event, 'END:VEVENT']),
    'END:VCALENDAR',
  );
const errorOf = (text: string | Uint8Array): string => {
  try {
    parseItip(text);
    return 'none';
  } catch (error) {
    if (!(error instanceof ItipError)) throw error;
    return error.code;
  }
};

describe('a scheduling message', () => {
  test('has the whole event before its instances, with sequence, time stamp and range', () => {
    const message = parseItip(
      calendar(
        'request',
        ['UID:a', 'RECURRENCE-ID;TZID=Europe/Berlin;RANGE=THISANDFUTURE:20260309T090000', 'SEQUENCE:x'],
        ['UID:a', 'SEQUENCE:3', 'DTSTAMP:20260301T080000Z', 'DTSTART:20260302T090000'],
      ),
    );
    expect([message.method, message.uid]).toEqual(['REQUEST', 'a']);
    expect(
      message.parts.map(({ recurrenceId, thisAndFuture, sequence, dtstamp }) => [
        recurrenceId?.tzid,
        thisAndFuture,
        sequence,
        dtstamp,
      ]),
    ).toEqual([
      [undefined, false, 3, Date.UTC(2026, 2, 1, 8) / 1000],
      ['Europe/Berlin', true, 0, null],
    ]);
  });

  test.each([
    ['invalid_ics', ''],
    ['invalid_ics', 'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n'],
    ['invalid_ics', calendar('REQUEST')],
    ['invalid_ics', calendar('REQUEST', ['SUMMARY:without a UID'])],
    ['invalid_ics', calendar('REQUEST', ['UID:a', 'RECURRENCE-ID:tomorrow'])],
    ['unknown_method', calendar('', ['UID:a'])],
    ['unknown_method', calendar('DANCE', ['UID:a'])],
    ['multiple_uids', calendar('REQUEST', ['UID:a'], ['UID:b'])],
  ])('is rejected as %s: %j', (code, text) => expect(errorOf(text)).toBe(code));

  test('any bytes are read or rejected with a code', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'BEGIN:VEVENT',
        'END:VEVENT',
        'UID:a',
        'METHOD:REPLY',
        'BEGIN:VCALENDAR',
        'END:VCALENDAR',
      ),
      fc.constantFrom('RECURRENCE-ID:20260309T090000Z', 'DTSTAMP:x', 'SEQUENCE:-1', 'ATTENDEE:mailto:a@b'),
      fc.string({ unit: 'binary' }),
    );
    const text = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join('\r\n'));
    const bytes = fc.oneof(text, fc.uint8Array({ maxLength: 200 }));
    fc.assert(
      fc.property(bytes, (given) => {
        expect(errorOf(given)).toMatch(/^(?:none|invalid_ics|unknown_method|multiple_uids)$/);
      }),
      { numRuns: runs(500) },
    );
  });
});

test('organizer and attendees are read by address: letter case, escapes, EMAIL, SENT-BY and delegation', () => {
  const { parts } = parseItip(
    calendar('REPLY', [
      'UID:a',
      'ORGANIZER;CN="Ann, Lee";SENT-BY="MAILTO:desk@far.example":mailto:Ann%2Bwork@Far.example',
      'ATTENDEE;PARTSTAT=delegated;DELEGATED-TO="mailto:zoe@far.example";RSVP=TRUE:mailto:bob@far.example',
      'ATTENDEE;EMAIL=eve@far.example:urn:uuid:1',
      'ATTENDEE:mailto:bob@far.example',
      'ATTENDEE:tel:+49',
    ]),
  );
  const { event } = parts[0]!;
  expect(organizerOf(event)).toEqual({
    email: 'ann+work@far.example',
    name: 'Ann, Lee',
    sentBy: 'desk@far.example',
  });
  expect(attendeesOf(event)).toMatchObject([
    { email: 'bob@far.example', response: 'DELEGATED', delegatedTo: 'zoe@far.example', rsvp: true },
    { email: 'eve@far.example', response: 'NEEDS-ACTION', role: 'REQ-PARTICIPANT', kind: 'INDIVIDUAL' },
  ]);
});

test.each([
  ['CN=Doe, Pat', 'Doe, Pat'],
  [String.raw`CN=Doe\, Pat`, 'Doe, Pat'],
  [String.raw`CN="Doe\, Pat"`, 'Doe, Pat'],
  ['CN=Team: North', 'Team: North'],
  ['CN="Pat "Red" Doe"', 'Pat "Red" Doe'],
  ['CN="Pat', 'Pat'],
  [`CN="'Pat Doe'"`, 'Pat Doe'],
  ["CN=O'Neil", "O'Neil"],
  [`CN="'Pat O'Neil'"`, "Pat O'Neil"],
  [`CN="'Pat' and 'Sam'"`, "'Pat' and 'Sam'"],
  ['CN="Pat" Doe', 'Pat'],
  ['CN="Doe; Pat=1"', 'Doe; Pat=1'],
])('a name that is written as %s', (parameter, name) => {
  const { parts } = parseItip(
    calendar('REQUEST', [
      'UID:a',
      'SUMMARY:Meeting',
      `ORGANIZER;${parameter}:mailto:pat@far.example`,
      `ATTENDEE;RSVP=TRUE;${parameter};ROLE=CHAIR;PARTSTAT=ACCEPTED;SENT-BY="mailto:sam@far.example":mailto:pat@far.example`,
    ]),
  );
  const { event } = parts[0]!;
  expect(organizerOf(event)).toMatchObject({ email: 'pat@far.example', name });
  const stated = { rsvp: true, role: 'CHAIR', response: 'ACCEPTED', sentBy: 'sam@far.example' };
  expect(attendeesOf(event)).toMatchObject([{ email: 'pat@far.example', name, ...stated }]);
});

test('the URI of an address is read as this address', () => {
  const local = fc.array(fc.constantFrom('a', '1', '.', '?', '%', '#', '&', '%41', '+', '=', '/', ';', 'ü'), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(local, (parts) => {
      const address = `${parts.join('')}@example.com`;
      expect(addressOfUri(uriOfAddress(address))).toBe(address);
    }),
  );
  expect(uriOfAddress('ann+x@example.com')).toBe('mailto:ann+x@example.com');
  expect(addressOfUri('urn:x:mailto:ann@example.com')).not.toBe('ann@example.com');
  for (const parameters of [
    'PARTSTAT=ACCEPTED',
    ' x=y@z',
    ' SENT-BY="mailto:desk@example.com"',
    'CN=Ann <a@b>',
  ])
    expect(addressOfUri(`MAILTO:Ann@example.com;${parameters}`)).toBe('ann@example.com');
  expect(addressOfUri('mailto:ann%40example.com;PARTSTAT=ACCEPTED')).toBe('ann@example.com');
  expect(['mailto:x:ann@example.com', 'urn:ann@example.com', 'ann@example.com:x'].map(addressOfUri)).toEqual([
    null,
    null,
    null,
  ]);
});

test('an address and its tags are one mailbox', () => {
  expect(sameMailbox('Ann+x@Far.example', 'ann@far.example')).toBe(true);
  expect(sameMailbox('ann+x@Bücher.example', 'ann@xn--bcher-kva.example')).toBe(true);
  expect(sameMailbox('ann@far.example', 'ann@near.example')).toBe(false);
  const ann = { email: 'ann@far.example', sentBy: 'desk@far.example' };
  expect(
    ['ANN@far.example', 'desk+1@far.example', 'eve@far.example'].map((from) => maySendFor(from, ann)),
  ).toEqual([true, true, false]);
  // The sender writes SENT-BY itself: it counts only in the domain of the organizer.
  expect(maySendFor('desk@near.example', { ...ann, sentBy: 'desk@near.example' })).toBe(false);
});

test.each([
  [[1, 5], [0, 9], 'newer'],
  [[0, 9], [1, 5], 'older'],
  [[1, 5], [1, 5], 'same'],
  [[1, 4], [1, 5], 'older'],
  [[1, 6], [1, 5], 'newer'],
  [[1, null], [1, 5], 'newer'],
] as const)('version %j against %j is %s', ([a, x], [b, y], expected) => {
  expect(compareVersions({ sequence: a, dtstamp: x }, { sequence: b, dtstamp: y })).toBe(expected);
});

test('a mail has the calendar as an alternative and as an attachment; an independent parser reads it', async () => {
  const ics = calendar('REQUEST', ['UID:a', 'SUMMARY:Größe']);
  const raw = await composeItipMail({
    from: { name: 'Ann Größe', address: 'ann@near.example' },
    to: { name: '', address: 'zoe@far.example' },
    messageId: '<1@near.example>',
    references: ['<0@near.example>'],
    subject: 'Invitation: Größe\r\nBcc: eve@far.example',
    date: new Date('2026-03-01T08:00:00Z'),
    text: 'Größe',
    html: '<p>Größe</p>',
    method: 'REQUEST',
    ics,
  });
  const text = raw.toString();
  expect(text).toMatch(/multipart\/mixed/);
  expect(text).toMatch(/multipart\/alternative/);
  expect(text.replace(/\r\n\s+/g, ' ')).toMatch(
    /Content-Type: text\/calendar; method=REQUEST; component=VEVENT; charset=UTF-8/i,
  );
  const mail = await simpleParser(raw);
  expect(mail).toMatchObject({
    messageId: '<1@near.example>',
    references: '<0@near.example>',
    text: 'Größe',
  });
  expect(mail.bcc).toBeUndefined();
  expect(mail.attachments.map(({ contentType, content }) => [contentType, content.toString()])).toEqual([
    ['text/calendar', ics],
    ['application/ics', ics],
  ]);
});
