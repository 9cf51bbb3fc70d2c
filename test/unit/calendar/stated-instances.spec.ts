import { CalendarZones, parseCalendars } from '../../../src/lib/icalendar/index.js';
import type { EventRecord } from '../../../src/modules/calendar/model/event-record.js';
import { occurrencesIn } from '../../../src/modules/calendar/model/event-series.js';
import { readEvent, type ReadEvent } from '../../../src/modules/calendar/model/vevent-reader.js';
import { EventClock } from '../../../src/modules/calendar/model/vevent-times.js';

const DAILY = ['DTSTART:20260330T100000Z', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=3'];

/** @param events the series, then components of its instances */
function read(...events: string[][]): ReadEvent {
  const text = events.flatMap((each) => ['BEGIN:VEVENT', 'UID:a', ...each, 'END:VEVENT']);
  const [calendar] = parseCalendars(['BEGIN:VCALENDAR', ...text, 'END:VCALENDAR', ''].join('\r\n'));
  const [master, ...others] = calendar!.components;
  return readEvent(master!, others, new EventClock(new CalendarZones(calendar!), null), true);
}

/** The starts of all instances, in order. */
function startsOf({ times, recurrence, overrides }: ReadEvent): string[] {
  const window = { from: Date.UTC(2026, 0) / 1000, to: Date.UTC(2027, 0) / 1000, readerZone: 'UTC' };
  const record = { ...times, ...recurrence, overrides } as unknown as EventRecord;
  return occurrencesIn(record, window, 100)
    .map(({ start }) => new Date(start * 1000).toISOString().slice(5, 13))
    .toSorted();
}

describe('an instance that a file states', () => {
  test.each([
    ['moved', 'DTSTART:20260331T150000Z', ['03-30T10', '03-31T15', '04-01T10']],
    ['with the values of its series', 'DTSTART:20260331T100000Z', ['03-30T10', '03-31T10', '04-01T10']],
  ])('takes place though EXDATE names it, %s', (_, start, starts) => {
    const event = read(
      [...DAILY, 'EXDATE:20260331T100000Z,20260401T100000Z'],
      ['RECURRENCE-ID:20260331T100000Z', start, 'DURATION:PT1H'],
      ['RECURRENCE-ID:20260401T100000Z', 'DTSTART:20260401T100000Z', 'DURATION:PT1H'],
    );
    expect(startsOf(event)).toEqual(starts);
    expect(event.recurrence).toMatchObject({ added: [], excluded: [] });
  });

  test.each([
    [['SEQUENCE:2'], ['SEQUENCE:1'], false],
    [['SEQUENCE:2'], ['SEQUENCE:2'], true],
    [['SEQUENCE:1'], ['SEQUENCE:2'], true],
    [['LAST-MODIFIED:20260302T000000Z'], ['LAST-MODIFIED:20260301T000000Z'], false],
    [['LAST-MODIFIED:20260301T000000Z'], ['LAST-MODIFIED:20260302T000000Z'], true],
    [['LAST-MODIFIED:20260302T000000Z'], [], true],
  ])('and EXDATE of a series with %j, with %j: %s', (series, instance, takesPlace) => {
    const event = read(
      [...DAILY, 'EXDATE:20260331T100000Z', ...series],
      ['RECURRENCE-ID:20260331T100000Z', 'DTSTART:20260331T150000Z', ...instance],
    );
    expect(startsOf(event).includes('03-31T15')).toBe(takesPlace);
    expect(event.recurrence.excluded).toEqual(takesPlace ? [] : ['2026-03-31T10:00:00']);
  });

  test('stays excluded if it is cancelled', () => {
    const event = read(
      [...DAILY, 'EXDATE:20260331T100000Z'],
      ['RECURRENCE-ID:20260331T100000Z', 'DTSTART:20260331T100000Z', 'STATUS:CANCELLED'],
    );
    expect(event.recurrence.excluded).toEqual(['2026-03-31T10:00:00']);
  });

  test('takes place though the rule lacks it', () => {
    const event = read(DAILY, [
      'RECURRENCE-ID:20260410T100000Z',
      'DTSTART:20260410T100000Z',
      'DURATION:PT1H',
    ]);
    expect(startsOf(event)).toEqual(['03-30T10', '03-31T10', '04-01T10', '04-10T10']);
    expect(event.recurrence.added).toEqual(['2026-04-10T10:00:00']);
  });

  test('takes place though the event has no rule', () => {
    const single = ['DTSTART;VALUE=DATE:20260330', 'SUMMARY:Fair'];
    const other = ['RECURRENCE-ID;VALUE=DATE:20260401', 'DTSTART;VALUE=DATE:20260401', 'SUMMARY:Fair'];
    expect(startsOf(read(single, other))).toEqual(['03-30T00', '04-01T00']);
    const moved = ['RECURRENCE-ID;VALUE=DATE:20260330', 'DTSTART;VALUE=DATE:20260402', 'SUMMARY:Fair'];
    expect(startsOf(read(single, moved))).toEqual(['04-02T00']);
  });

  test('of several versions is the newest', () => {
    const version = (hour: number, ...others: string[]): string[] => [
      'RECURRENCE-ID:20260331T100000Z',
      `DTSTART:20260331T${hour}0000Z`,
      'DURATION:PT1H',
      `ATTENDEE;PARTSTAT=${hour === 14 ? 'DECLINED' : 'ACCEPTED'}:mailto:jo@example.com`,
      ...others,
    ];
    const hours = (...versions: string[][]): unknown[] => {
      const { overrides, participants } = read(DAILY, ...versions);
      return [
        ...overrides.map(({ patch }) => patch.starts?.slice(11, 13)),
        ...participants.map(({ response }) => response),
      ];
    };
    expect(hours(version(14, 'SEQUENCE:3'), version(11, 'SEQUENCE:1'))).toEqual(['14', 'declined']);
    expect(hours(version(14, 'DTSTAMP:20260302T080000Z'), version(11, 'DTSTAMP:20260301T080000Z'))).toEqual([
      '14',
      'declined',
    ]);
    expect(hours(version(11), version(14))).toEqual(['14', 'declined']);
  });

  test.each([
    ['RECURRENCE-ID:20260331T000000Z', ['03-30T10', '03-31T15', '04-01T10'], []],
    [
      'RECURRENCE-ID:20260410T000000Z',
      ['03-30T10', '03-31T10', '04-01T10', '03-31T15'],
      ['2026-04-10T00:00:00'],
    ],
  ])('that %s names by its day is the instance of the day', (id, starts, added) => {
    const event = read(DAILY, [id, 'DTSTART:20260331T150000Z', 'DURATION:PT1H']);
    expect([startsOf(event).length, event.recurrence.added]).toEqual([starts.length, added]);
    if (added.length === 0) expect(startsOf(event)).toEqual(starts);
  });

  test('of a day with several instances is no instance of midnight', () => {
    const twice = ['DTSTART:20260330T100000Z', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=6;BYHOUR=10,14'];
    const event = read(twice, ['RECURRENCE-ID:20260331T000000Z', 'DTSTART:20260331T150000Z']);
    expect(event.recurrence.added).toEqual(['2026-03-31T00:00:00']);
  });

  test('in the gap of a clock change takes place once', () => {
    const night = ['DTSTART;TZID=Europe/Berlin:20260328T023000', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=3'];
    for (const id of ['RECURRENCE-ID:20260329T013000Z', 'RECURRENCE-ID;TZID=Europe/Berlin:20260329T033000']) {
      const event = read(night, [id, 'DTSTART:20260329T120000Z', 'DURATION:PT1H']);
      expect(startsOf(event)).toEqual(['03-28T01', '03-29T12', '03-30T00']);
    }
  });

  const ODD = [
    'BEGIN:VTIMEZONE',
    'TZID:Odd',
    'BEGIN:STANDARD',
    'DTSTART:19700101T000000',
    'TZOFFSETFROM:+0117',
    'TZOFFSETTO:+0117',
    'END:STANDARD',
    'END:VTIMEZONE',
  ];
  const inOdd = (isFile: boolean, ...exceptions: string[]): ReadEvent => {
    const start = ['DTSTART;TZID=Odd:20260330T100000', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=3'];
    const instance = ['RECURRENCE-ID;TZID=Odd:20260331T100000', 'DTSTART;TZID=Odd:20260331T100000'];
    const events = [[...start, ...exceptions], instance];
    const text = events.flatMap((each) => ['BEGIN:VEVENT', 'UID:a', ...each, 'END:VEVENT']);
    const [calendar] = parseCalendars(['BEGIN:VCALENDAR', ...ODD, ...text, 'END:VCALENDAR', ''].join('\r\n'));
    const [, master, ...others] = calendar!.components;
    return readEvent(master!, others, new EventClock(new CalendarZones(calendar!), null), isFile);
  };
  test.each(['EXDATE;TZID=Odd:20260331T100000', 'EXDATE;VALUE=DATE:20260331', 'EXDATE:20260331T084300Z'])(
    'of a zone without a name is deleted by %s in a text of CalDAV',
    (exception) => {
      expect(startsOf(inOdd(false, exception))).toEqual(['03-30T08', '04-01T08']);
      expect(startsOf(inOdd(true, exception))).toEqual(['03-30T08', '03-31T08', '04-01T08']);
    },
  );

  test('is found in a series that has more instances than are expanded at once', () => {
    const day = (n: number): string =>
      new Date(Date.UTC(2020, 0, 1 + n)).toISOString().slice(0, 10).replaceAll('-', '');
    const master = ['DTSTART:20200101T100000Z', 'DURATION:PT1H', 'RRULE:FREQ=DAILY'];
    const instances = Array.from({ length: 2_000 }, (_, n) => [
      `RECURRENCE-ID:${day(n * 10)}T100000Z`,
      `DTSTART:${day(n * 10)}T110000Z`,
    ]);
    expect(read(master, ...instances).recurrence.added).toEqual([]);
  });

  test('is one of at most as many dates as an event has', () => {
    const day = (n: number): string =>
      new Date(Date.UTC(2020, 0, 1 + n)).toISOString().slice(0, 10).replaceAll('-', '');
    const many = Array.from({ length: 2_000 }, (_, n) => [
      `RECURRENCE-ID:${day(n)}T100000Z`,
      `DTSTART:${day(n)}T110000Z`,
    ]);
    const event = read(['DTSTART:20200101T100000Z', 'RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE'], ...many);
    expect([event.overrides.length, event.recurrence.added.length]).toEqual([2_000, 1_000]);
  });
});
