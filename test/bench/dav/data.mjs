// Events, tasks and contacts as programs write them.
export const NAMESPACES =
  'xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:A="urn:ietf:params:xml:ns:carddav" xmlns:I="http://apple.com/ns/ical/" xmlns:S="http://calendarserver.org/ns/"';

const pad = (number, length = 2) => String(number).padStart(length, '0');
const lines = (...texts) =>
  texts
    .flat()
    .map((text) => `${text}\r\n`)
    .join('');

/** Events are spread over two years from January 2026. One of twenty is a weekly series, one of ten a meeting of four. */
export function vevent(n) {
  const day = new Date(Date.UTC(2026, 0, 1 + (n % 730)));
  const date = `${day.getUTCFullYear()}${pad(day.getUTCMonth() + 1)}${pad(day.getUTCDate())}`;
  const hour = pad(7 + (n % 10));
  const guests = n % 10 === 3 ? ['ben', 'carla', 'david'] : [];
  return lines(
    'BEGIN:VEVENT',
    `UID:${uidOf(n)}`,
    'DTSTAMP:20260101T000000Z',
    `DTSTART;TZID=Europe/Berlin:${date}T${hour}0000`,
    `DTEND;TZID=Europe/Berlin:${date}T${hour}4500`,
    ...(n % 20 === 0 ? ['RRULE:FREQ=WEEKLY;COUNT=20'] : []),
    `SUMMARY:Event ${n} about the budget`,
    'LOCATION:Room 1',
    `DESCRIPTION:Agenda of ${n}: budget\\, rooms and the next steps. `
      .padEnd(300, 'The next steps. ')
      .slice(0, 70),
    ...(guests.length > 0 ? ['ORGANIZER;CN=Ada:mailto:ada@bench.example'] : []),
    ...guests.map((name) => `ATTENDEE;CN=${name};PARTSTAT=ACCEPTED:mailto:${name}@outside.example`),
    ...(n % 3 === 0
      ? ['BEGIN:VALARM', 'ACTION:DISPLAY', 'TRIGGER:-PT15M', 'DESCRIPTION:Event', 'END:VALARM']
      : []),
    'END:VEVENT',
  );
}

export const uidOf = (n) => `bench-${pad(n, 6)}`;

/** One VCALENDAR. */
export const calendarText = (numbers) =>
  `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Bench//EN\r\n${numbers.map(vevent).join('')}END:VCALENDAR\r\n`;

export const todoText = (n) =>
  lines(
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Bench//EN',
    'BEGIN:VTODO',
    `UID:${uidOf(n)}`,
    'DTSTAMP:20260101T000000Z',
    `SUMMARY:Task ${n} about the budget`,
    `DUE;TZID=Europe/Berlin:202703${pad((n % 28) + 1)}T090000`,
    'PRIORITY:5',
    'CATEGORIES:Budget',
    'DESCRIPTION:Agenda: budget\\, rooms and the next steps.',
    'END:VTODO',
    'END:VCALENDAR',
  );

export const cardText = (n) =>
  lines(
    'BEGIN:VCARD',
    'VERSION:3.0',
    `UID:${uidOf(n)}`,
    `FN:Jan Novák ${n}`,
    `N:Novák ${n};Jan;;;`,
    `ORG:Company ${n % 100}`,
    `EMAIL;TYPE=HOME:jan${n}@example.com`,
    `TEL;TYPE=CELL:+420 601 ${100_000 + n}`,
    `ADR;TYPE=WORK:;;Street ${n};Praha;;110 00;Česko`,
    `NOTE:Met at the conference, number ${n}.`,
    'END:VCARD',
  );

export const range = (length, start = 0) => Array.from({ length }, (_, n) => start + n);
