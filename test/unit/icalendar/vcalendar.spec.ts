import {
  CalendarZones,
  type Component,
  parameterOf,
  parseCalendars,
  propertyOf,
  textOf,
} from '../../../src/lib/icalendar/index.js';
import { ruleOfVCalendar } from '../../../src/lib/icalendar/vcalendar.js';
import { DAY, dayOf } from '../../../src/lib/recurrence/index.js';

const calendarOf = (head: readonly string[], ...event: string[]): Component =>
  parseCalendars(
    [
      'BEGIN:VCALENDAR',
      'VERSION:1.0',
      ...head,
      'BEGIN:VEVENT',
      'DTSTART:20260715T090000',
      ...event,
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ].join('\r\n'),
  )[0]!;
const eventOf = (...event: string[]): Component =>
  calendarOf([], ...event).components.find(({ name }) => name === 'VEVENT')!;
const valueOf = (line: string): string => propertyOf(eventOf(line), line.split(/[:;]/)[0]!)!.value;

describe('a rule of vCalendar 1.0', () => {
  test.each([
    ['D1 #5', 'FREQ=DAILY;COUNT=5'],
    ['D2 20260310T120000Z', 'FREQ=DAILY;INTERVAL=2;UNTIL=20260310T120000Z'],
    ['D1 0900 1100 #3', 'FREQ=DAILY;BYHOUR=9,11;BYMINUTE=0;COUNT=3'],
    ['W2', 'FREQ=WEEKLY;INTERVAL=2;COUNT=2'],
    ['W1 MO WE #4', 'FREQ=WEEKLY;BYDAY=MO,WE;COUNT=4'],
    ['MP1 1+ MO #3', 'FREQ=MONTHLY;BYDAY=1MO;COUNT=3'],
    ['MP1 1+ 2- MO FR 3+ TU #0', 'FREQ=MONTHLY;BYDAY=1MO,-2MO,1FR,-2FR,3TU'],
    ['MD2 LD #3', 'FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=-1;COUNT=3'],
    ['MD1 2- 15 #4', 'FREQ=MONTHLY;BYMONTHDAY=-2,15;COUNT=4'],
    ['YM1 6 #3', 'FREQ=YEARLY;BYMONTH=6;COUNT=3'],
    ['yd1 1 100 #10', 'FREQ=YEARLY;BYYEARDAY=1,100;COUNT=10'],
  ])('%s is %s', (text, rule) => {
    expect(ruleOfVCalendar(text)).toBe(rule);
    expect(valueOf(`RRULE:${text}`)).toBe(rule);
  });

  test.each(['M15 #3', 'D1 0900 1130 #3', 'W1 XX #3', 'MP1 MO #3', 'FREQ=DAILY;COUNT=3', ''])(
    '%j has another grammar and stays as it is',
    (text) => {
      expect(ruleOfVCalendar(text)).toBeNull();
      expect(valueOf(`RRULE:${text}`)).toBe(text);
    },
  );
});

describe('a value of vCalendar 1.0', () => {
  test.each([
    ['RDATE:20260716T090000;20260717T090000', '20260716T090000,20260717T090000'],
    ['CATEGORIES:APPOINTMENT;BUSINESS', 'APPOINTMENT,BUSINESS'],
    ['CATEGORIES:one, two;three', 'one\\, two,three'],
    ['TRANSP:0', 'OPAQUE'],
    ['TRANSP:1', 'TRANSPARENT'],
    ['STATUS:DECLINED', 'CANCELLED'],
    ['DESCRIPTION;QUOTED-PRINTABLE:a=0D=0Ab', 'a\\nb'],
    ['SUMMARY;ENCODING=BASE64:R3LDvMOfZQ==', 'Grüße'],
    ['SUMMARY;BASE64;CHARSET=ISO-8859-1:R3L832U=', 'Grüße'],
    ['SUMMARY;BASE64;CHARSET=HZ-GB-2312:fntWUE5Efn0=', '中文'],
    ['SUMMARY;BASE64;CHARSET=ISO-2022-KR:GyQpQw5HUQ8=', '한'],
  ])('%s', (line, expected) => {
    expect(valueOf(line)).toBe(expected);
  });

  test('of a file stays in base64', () => {
    const attached = propertyOf(eventOf('ATTACH;ENCODING=BASE64;VALUE=BINARY:AAEC'), 'ATTACH')!;
    expect([attached.value, parameterOf(attached, 'ENCODING')]).toEqual(['AAEC', 'BASE64']);
  });

  test('of an attendee has the address and the parameters of iCalendar', () => {
    const attendee = propertyOf(
      eventOf('ATTENDEE;STATUS=NEEDS ACTION;RSVP=YES;ROLE=ATTENDEE:Jo Doe <jo@example.com>'),
      'ATTENDEE',
    )!;
    expect(attendee).toEqual({
      name: 'ATTENDEE',
      parameters: [
        { name: 'PARTSTAT', values: ['NEEDS-ACTION'] },
        { name: 'RSVP', values: ['TRUE'] },
        { name: 'ROLE', values: ['REQ-PARTICIPANT'] },
        { name: 'CN', values: ['Jo Doe'] },
      ],
      value: 'mailto:jo@example.com',
    });
  });
});

describe('alarms of vCalendar 1.0', () => {
  const alarmsOf = (line: string): (string | null)[][] =>
    eventOf(line).components.map((alarm) =>
      ['ACTION', 'TRIGGER', 'DESCRIPTION', 'REPEAT'].map((name) => textOf(alarm, name)),
    );

  test.each([
    ['DALARM:20260715T083000;PT5M;3;wake up', [['DISPLAY', '-PT30M', 'wake up', '3']]],
    ['AALARM;TYPE=X-EPOCSOUND:20260715T083000;;;', [['AUDIO', '-PT30M', null, null]]],
    ['MALARM:20260715T083000;;;jo@example.com;soon', [['EMAIL', '-PT30M', 'soon', null]]],
    ['DALARM:20260715T063000Z', [['DISPLAY', '20260715T063000Z', 'Reminder', null]]],
    ['DALARM:soon', []],
    ['PALARM:20260715T083000;;;a.exe', []],
  ])('%s', (line, expected) => {
    expect(alarmsOf(line)).toEqual(expected);
  });
});

describe('local times of vCalendar 1.0', () => {
  const zoneOf = (...head: string[]) => {
    const calendar = calendarOf(head);
    const start = propertyOf(
      calendar.components.find(({ name }) => name === 'VEVENT')!,
      'DTSTART',
    )!;
    const tzid = parameterOf(start, 'TZID');
    return tzid === undefined ? null : new CalendarZones(calendar).resolve(tzid, dayOf(2026, 7, 15) * DAY);
  };

  test.each([
    [['TZ:+0530'], 'Asia/Kolkata'],
    [['TZ:-05', 'DAYLIGHT:TRUE;-04;20260308T020000;20261101T020000;EST;EDT'], 'America/New_York'],
    [['TZ:+01:00', 'DAYLIGHT:TRUE;+02;20260329T020000;20261025T030000;;'], 'Europe/Berlin'],
  ])('are those of the offset and the summers of the calendar: %j', (head, name) => {
    expect(zoneOf(...head)).toEqual({ kind: 'iana', name });
  });

  test('are floating in a calendar without offset', () => {
    expect(zoneOf()).toBeNull();
    expect(zoneOf('TZ:somewhere')).toBeNull();
  });
});
