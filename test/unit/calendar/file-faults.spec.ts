import { CalendarZones, parseCalendars, propertiesOf } from '../../../src/lib/icalendar/index.js';
import { alarmVcomponent } from '../../../src/modules/calendar/model/ics/alarms.js';
import { readEvent, type ReadEvent, readOrphans } from '../../../src/modules/calendar/model/vevent-reader.js';
import { EventClock } from '../../../src/modules/calendar/model/vevent-times.js';

const START = 'DTSTART:20260330T100000Z';

function read(...lines: string[]): ReadEvent {
  const text = ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'UID:a', ...lines, 'END:VEVENT', 'END:VCALENDAR', ''];
  const calendar = parseCalendars(text.join('\r\n'))[0]!;
  return readEvent(calendar.components[0]!, [], new EventClock(new CalendarZones(calendar), null));
}
const repeated = (count: number, make: (n: number) => string): string[] =>
  Array.from({ length: count }, (_, n) => make(n));
const codes = ({ warnings }: ReadEvent): string[] => warnings.map(({ code }) => code);

describe('a time that is written otherwise', () => {
  test.each([
    [['DTSTART:20260330T100000+0200'], '2026-03-30T08:00:00', '2026-03-30T08:00:00'],
    [['DTSTART:20260330T100000-05:30'], '2026-03-30T15:30:00', '2026-03-30T15:30:00'],
    [[START, 'DTEND:20260330T240000Z'], '2026-03-30T10:00:00', '2026-03-31T00:00:00'],
    [[START, 'DTEND;VALUE=DATE:20260401'], '2026-03-30T10:00:00', '2026-04-01T00:00:00'],
    [[START, 'DTEND;VALUE=DATE:20260330'], '2026-03-30T10:00:00', '2026-03-30T10:00:00'],
    [[START, 'DURATION:PT1W'], '2026-03-30T10:00:00', '2026-04-06T10:00:00'],
    [[START, 'DURATION:PT1D2H'], '2026-03-30T10:00:00', '2026-03-31T12:00:00'],
    [[START, 'DURATION:P1D2H'], '2026-03-30T10:00:00', '2026-03-30T10:00:00'],
    [[START, 'DURATION:P2M'], '2026-03-30T10:00:00', '2026-03-30T10:00:00'],
    // Days that have a time of day.
    [
      ['DTSTART;VALUE=DATE:20260330T200000', 'DTEND;VALUE=DATE:20260330T220000'],
      '2026-03-30T20:00:00',
      '2026-03-30T22:00:00',
    ],
    [['DTSTART;VALUE=DATE:20260330T000000', 'DTEND;VALUE=DATE:20260401T000000'], '2026-03-30', '2026-04-01'],
    // One of the times lacks its zone.
    [
      ['DTSTART:20260330T180000', 'DTEND;TZID=Europe/Berlin:20260330T190000'],
      '2026-03-30T18:00:00',
      '2026-03-30T19:00:00',
    ],
    [
      ['DTSTART;TZID=Asia/Tokyo:20260330T180000', 'DTEND:20260330T190000'],
      '2026-03-30T18:00:00',
      '2026-03-30T19:00:00',
    ],
  ])('%j', (lines, starts, ends) => {
    expect(read(...lines).times).toMatchObject({ starts, ends });
  });
});

describe('a rule with a small fault', () => {
  test.each([
    ['FREQ=DAILY;COUNT=3;UNTIL=20260331T100000Z', ['FREQ=DAILY;UNTIL=20260331T100000Z']],
    ['FREQ=DAILY;COUNT=3;UNTIL=20270331T100000Z', ['FREQ=DAILY;COUNT=3']],
    ['FREQ=DAILY;COUNT=3;UNTIL=20260401', ['FREQ=DAILY;COUNT=3']],
    ['', []],
    ['FREQ=WEEKLY;BYDAY=;COUNT=3', ['FREQ=WEEKLY;COUNT=3']],
    ['FREQ=WEEKLY;;COUNT=3', ['FREQ=WEEKLY;COUNT=3']],
    ['FREQ=WEEKLY;X-SHOW=1;COUNT=3', ['FREQ=WEEKLY;COUNT=3']],
    ['FREQ=WEEKLY;COUNT=3;COUNT=3', ['FREQ=WEEKLY;COUNT=3']],
    ['FREQ=WEEKLY;INTERVAL=0;COUNT=3', ['FREQ=WEEKLY;COUNT=3']],
    ['FREQ=WEEKLY;BYDAY=1MO,-1TU;COUNT=3', ['FREQ=WEEKLY;COUNT=3;BYDAY=MO,TU']],
    ['FREQ=MONTHLY;BYDAY=0MO,+0TU,2WE', ['FREQ=MONTHLY;BYDAY=MO,TU,2WE']],
    ['FREQ=DAILY\\;COUNT=3', ['FREQ=DAILY;COUNT=3']],
    ['FREQ=WEEKLY;UNTIL=20261231;COUNT=-1', ['FREQ=WEEKLY;UNTIL=20261231']],
    ['FREQ=WEEKLY;COUNT=0', ['FREQ=WEEKLY']],
    ['RRULE:Series;FREQ=WEEKLY;COUNT=3', ['FREQ=WEEKLY;COUNT=3']],
    ['FREQ=WEEKLY;DTSTART=20260330T100000Z;COUNT=3', ['FREQ=WEEKLY;COUNT=3']],
    ['FREQ=WEEKLY;COUNT;BYDAY=MO;SERIES', ['FREQ=WEEKLY;BYDAY=MO']],
  ])('%s is read, with a warning', (text, rules) => {
    const event = read(START, `RRULE:${text}`);
    expect(event.recurrence.rules).toEqual(rules);
    expect(codes(event)).toEqual(['rule_repaired']);
  });

  test.each([
    ['FREQ=NEVER', 'NEVER is no frequency'],
    ['COUNT=3', 'A rule needs FREQ'],
    ['FREQ=DAILY;COUNT=3;COUNT=4', 'COUNT is given twice'],
    ['FREQ=DAILY;UNTL=20260401', 'UNTL is no part of a rule'],
    ['FREQ=DAILY;BYHOUR=25', 'BYHOUR takes numbers from 0 to 23, not 25'],
  ])('%s has no clear meaning', (text, message) => {
    expect(() => read(START, `RRULE:${text}`)).toThrow(message);
  });
});

describe('a malformed date', () => {
  const DAILY = [START, 'DURATION:PT1H', 'RRULE:FREQ=DAILY;COUNT=5'];

  test.each([
    ['EXDATE:20260331T100000Z,20261%holiday%T1000,20260402T100000Z', ['invalid_date']],
    ['EXDATE:20260331T100000Z,20260402T100000Z,', []],
    ['EXDATE:20260331T100000Z;20260402T100000Z', []],
    ['EXDATE:,', []],
  ])('of %s leaves the others', (line, warnings) => {
    const event = read(...DAILY, line);
    const excluded = line === 'EXDATE:,' ? [] : ['2026-03-31T10:00:00', '2026-04-02T10:00:00'];
    expect([event.recurrence.excluded, codes(event)]).toEqual([excluded, warnings]);
  });

  test('of RDATE leaves the others, also among periods', () => {
    const event = read(
      ...DAILY,
      'RDATE;VALUE=PERIOD:20260410T100000Z/PT2H,20260411T100000Z/x,y/PT1H',
      'RDATE:20260412T100000Z,tomorrow',
    );
    expect(event.recurrence.added).toEqual([
      '2026-04-10T10:00:00',
      '2026-04-11T10:00:00',
      '2026-04-12T10:00:00',
    ]);
    expect(event.overrides.map(({ recurrence_key }) => recurrence_key)).toEqual(['2026-04-10T10:00:00']);
    expect(codes(event)).toEqual(['invalid_date']);
  });

  test.each(['DTEND:', 'DTEND:later', 'DTEND;VALUE=DATE:2026-13-01'])('%s is no end', (line) => {
    const event = read(START, line);
    expect(event.times).toMatchObject({ starts: '2026-03-30T10:00:00', ends: '2026-03-30T10:00:00' });
    expect(codes(event)).toEqual(['invalid_duration']);
    const flag = 'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE';
    expect(read('DTSTART:20260330T000000Z', flag, line).times.starts).toBe('2026-03-30T00:00:00');
  });

  test('of an instance leaves the series and the other instances', () => {
    const text = [
      ['BEGIN:VEVENT', 'UID:a', ...DAILY, 'END:VEVENT'],
      ['BEGIN:VEVENT', 'UID:a', 'RECURRENCE-ID:20260331T100000Z', 'DTSTART:soon', 'END:VEVENT'],
      ['BEGIN:VEVENT', 'UID:a', 'RECURRENCE-ID:soon', 'DTSTART:20260401T120000Z', 'END:VEVENT'],
      ['BEGIN:VEVENT', 'UID:a', 'RECURRENCE-ID:20260402T100000Z', 'DTSTART:20260402T120000Z', 'END:VEVENT'],
    ].flat();
    const [calendar] = parseCalendars(['BEGIN:VCALENDAR', ...text, 'END:VCALENDAR', ''].join('\r\n'));
    const [master, ...instances] = calendar!.components;
    const event = readEvent(master!, instances, new EventClock(new CalendarZones(calendar!), null));
    expect(event.overrides.map(({ recurrence_key }) => recurrence_key)).toEqual(['2026-04-02T10:00:00']);
    expect(codes(event)).toEqual(['invalid_date']);
  });

  const withInstances = (...instances: string[][]): ReadEvent => readAll(DAILY, ...instances);
  const readAll = (...events: string[][]): ReadEvent => {
    const text = events.flatMap((each) => ['BEGIN:VEVENT', 'UID:a', ...each, 'END:VEVENT']);
    const [calendar] = parseCalendars(['BEGIN:VCALENDAR', ...text, 'END:VCALENDAR', ''].join('\r\n'));
    const [master, ...others] = calendar!.components;
    return readEvent(master!, others, new EventClock(new CalendarZones(calendar!), null));
  };

  test('is not the one that an instance lacks: it has the times of its key', () => {
    const { overrides, warnings } = withInstances(
      ['RECURRENCE-ID:20260331T100000Z', 'STATUS:CANCELLED'],
      ['RECURRENCE-ID:20260401T100000Z', 'SUMMARY:New'],
    );
    expect(overrides).toMatchObject([
      { recurrence_key: '2026-03-31T10:00:00', patch: { status: 'cancelled' } },
      { recurrence_key: '2026-04-01T10:00:00', patch: { title: 'New' } },
    ]);
    expect(overrides.flatMap(({ patch }) => patch.starts ?? [])).toEqual([]);
    expect(warnings).toEqual([]);
  });

  test('of an instance leaves its other values', () => {
    const { overrides, warnings } = withInstances(
      ['RECURRENCE-ID:20260331T100000Z', 'DTSTART:x', 'STATUS:CANCELLED'],
      ['RECURRENCE-ID:20260401T100000Z', 'DTSTART:x', 'SUMMARY:New'],
    );
    expect(overrides.map(({ patch }) => patch)).toEqual([{ status: 'cancelled' }, { title: 'New' }]);
    expect(warnings.map(({ code }) => code)).toEqual(['invalid_date']);
  });

  test('is not the one that an instance lacks: its end is its own', () => {
    const { overrides, warnings } = withInstances(
      ['RECURRENCE-ID:20260331T100000Z', 'DTEND:20260331T123000Z'],
      ['RECURRENCE-ID:20260401T100000Z', 'DURATION:PT2H'],
      ['RECURRENCE-ID:20260402T100000Z', 'DURATION:long'],
    );
    expect(overrides.map(({ patch }) => [patch.starts, patch.ends])).toEqual([
      ['2026-03-31T10:00:00', '2026-03-31T12:30:00'],
      ['2026-04-01T10:00:00', '2026-04-01T12:00:00'],
    ]);
    expect(warnings.map(({ code }) => code)).toEqual(['invalid_duration']);
  });

  test('is not the one that an instance lacks: it has the length of its period', () => {
    const period = 'RDATE;VALUE=PERIOD:20260410T100000Z/PT3H';
    const event = readAll([...DAILY, period], ['RECURRENCE-ID:20260410T100000Z', 'SUMMARY:New']);
    expect(event.overrides).toMatchObject([{ patch: { title: 'New', ends: '2026-04-10T13:00:00' } }]);
    const usual = ['DTSTART:20260410T100000Z', 'DTEND:20260410T110000Z'];
    const whole = [START, 'DTEND:20260330T110000Z', 'RRULE:FREQ=DAILY;COUNT=4', period];
    expect(readAll(whole).overrides).toMatchObject([{ patch: { ends: '2026-04-10T13:00:00' } }]);
    expect(readAll(whole, ['RECURRENCE-ID:20260410T100000Z', ...usual]).overrides).toEqual([]);
  });

  test.each([
    ['DTSTART:12000101T100000Z', [], 'DTSTART must lie between 1900 and 9989'],
    ['DTSTART:20260331T100000Z', ['DTEND:99991231T000000Z'], 'DTEND must lie between 1900 and 9989'],
    ['DTSTART:20260331T100000Z', ['DTEND:20460331T100000Z'], 'DTEND must be at most 10 years after DTSTART'],
  ])('of an instance, %s, is named by its warning', (start, others, reason) => {
    const { overrides, warnings } = withInstances(['RECURRENCE-ID:20260331T100000Z', start, ...others]);
    const message = `The instance of 2026-03-31T10:00:00 has the times of its series: ${reason}.`;
    expect([overrides, warnings]).toEqual([[], [{ code: 'invalid_date', message }]]);
  });

  test.each([
    'EXDATE:16010101T000000Z,20260402T100000Z',
    'RDATE:16010101T000000Z,20260402T100000Z',
    'RDATE;VALUE=PERIOD:16010101T000000Z/PT1H,20260402T100000Z/PT1H',
  ])('beyond the calendar is ignored: %s', (line) => {
    const event = read(...DAILY, line);
    const { added, excluded } = event.recurrence;
    expect([...added, ...excluded]).toEqual(['2026-04-02T10:00:00']);
    const message = `${line.slice(0, line.search(/[;:]/))}:16010101T000000Z is not from 1900 to 9989; it is ignored.`;
    expect(event.warnings).toEqual([{ code: 'invalid_date', message }]);
  });

  test.each(['EXDATE', 'RDATE'])('of %s is read in a list with a limit', (name) => {
    expect(() => read(...DAILY, `${name}:${repeated(2_001, (n) => `x${n}`).join()}`)).toThrow(
      'has at most 1000 dates',
    );
    expect(() => read(...DAILY, ...repeated(2_001, () => `${name}:x`))).toThrow('at most');
    expect(codes(read(...DAILY, `${name}:${'x,'.repeat(1_000_000)}`))).toEqual(['invalid_date']);
  });

  test('of RECURRENCE-ID leaves the other instances of an unknown series', () => {
    const text = ['20260331T100000Z', 'soon', '20260402T100000Z'].flatMap((id) => [
      'BEGIN:VEVENT',
      'UID:a',
      `RECURRENCE-ID:${id}`,
      'DTSTART:20260331T120000Z',
      'END:VEVENT',
    ]);
    const [calendar] = parseCalendars(['BEGIN:VCALENDAR', ...text, 'END:VCALENDAR', ''].join('\r\n'));
    const event = readOrphans(calendar!.components, new EventClock(new CalendarZones(calendar!), null));
    expect(event.recurrence.added).toEqual(['2026-03-31T10:00:00', '2026-04-02T10:00:00']);
    expect(codes(event)).toEqual(['invalid_date']);
  });
});

describe('instances of an unknown series', () => {
  const readInstances = (...instances: string[][]): ReadEvent => {
    const text = instances.flatMap((each) => ['BEGIN:VEVENT', 'UID:a', ...each, 'END:VEVENT']);
    const [calendar] = parseCalendars(['BEGIN:VCALENDAR', ...text, 'END:VCALENDAR', ''].join('\r\n'));
    return readOrphans(calendar!.components, new EventClock(new CalendarZones(calendar!), null));
  };

  test.each([[[]], [['DTSTART:soon']]])('have the times of the first with a start: %j', (start) => {
    const event = readInstances(
      ['RECURRENCE-ID:20260331T100000Z', ...start, 'STATUS:CANCELLED'],
      ['RECURRENCE-ID:20260402T100000Z', 'DTSTART:20260402T120000Z', 'DTEND:20260402T130000Z'],
    );
    expect(event.recurrence.added).toEqual(['2026-03-31T10:00:00', '2026-04-02T10:00:00']);
    expect(event.times).toMatchObject({ starts: '2026-03-31T10:00:00', ends: '2026-03-31T11:00:00' });
    expect(event.overrides).toMatchObject([
      { recurrence_key: '2026-03-31T10:00:00', patch: { status: 'cancelled' } },
      { recurrence_key: '2026-04-02T10:00:00', patch: { starts: '2026-04-02T12:00:00' } },
    ]);
  });

  test('take place at their RECURRENCE-ID if none has a start', () => {
    const event = readInstances(
      ['RECURRENCE-ID;TZID=Europe/Berlin:20260331T100000', 'DURATION:PT1H'],
      ['RECURRENCE-ID;TZID=Europe/Berlin:20260401T100000', 'DTSTART:soon', 'STATUS:CANCELLED'],
    );
    expect(event.recurrence.added).toEqual(['2026-03-31T10:00:00', '2026-04-01T10:00:00']);
    expect(event.times).toMatchObject({ ends: '2026-03-31T11:00:00', time_zone: 'Europe/Berlin' });
    expect(event.overrides.map(({ patch }) => patch.status)).toEqual([undefined, 'cancelled']);
    expect(() => readInstances(['RECURRENCE-ID:soon'])).toThrow('RECURRENCE-ID is not a date or time');
  });
});

test.each([
  'FREQ=WEEKLY;COUNT=4;BYDAY=MO;TU;WE',
  'FREQ=MONTHLY;BYDAY=1MO;-1FR',
  'FREQ=WEEKLY;BYDAY=MO;TU,WE',
  'FREQ=MONTHLY;BYMONTHDAY=1;15',
  'FREQ=DAILY;UNTIL20240103',
  'FREQ=DAILY;UNTIL=20240103;T100000Z',
  'FREQ=DAILY;COUNT:3',
  'FREQ=DAILY;BYDAYMO',
])('%s is no rule: a part of it is cut', (rule) => {
  expect(() => read(START, `RRULE:${rule}`)).toThrow(expect.objectContaining({ code: 'invalid_rule' }));
});

describe('a series from before 1900', () => {
  test.each([
    ['DTSTART;VALUE=DATE:16040229', 'FREQ=YEARLY', '1904-02-29', 'FREQ=YEARLY'],
    ['DTSTART:17531106', 'FREQ=YEARLY;INTERVAL=4', '1901-11-06', 'FREQ=YEARLY;INTERVAL=4'],
    ['DTSTART:18991230', 'FREQ=DAILY;COUNT=5', '1900-01-01', 'FREQ=DAILY;COUNT=3'],
    [
      'DTSTART:18991230T100000Z',
      'FREQ=WEEKLY;UNTIL=19000301T100000Z',
      '1900-01-06T10:00:00',
      'FREQ=WEEKLY;UNTIL=19000301T100000Z',
    ],
    [
      'DTSTART;TZID=Europe/Berlin:18991230T100000',
      'FREQ=WEEKLY;UNTIL=19000301T090000Z',
      '1900-01-06T10:00:00',
      'FREQ=WEEKLY;UNTIL=19000301T090000Z',
    ],
  ])('%s with %s starts in the calendar', (start, rule, starts, later) => {
    const event = read(start, `RRULE:${rule}`);
    expect([event.times.starts, event.recurrence.rules, codes(event)]).toEqual([
      starts,
      [later],
      ['invalid_date'],
    ]);
  });

  test('keeps its length', () => {
    const event = read(
      'DTSTART;TZID=Europe/Berlin:18900101T100000',
      'DTEND;TZID=Europe/Berlin:18900101T113000',
      'RRULE:FREQ=YEARLY',
    );
    expect(event.times).toMatchObject({ starts: '1900-01-01T10:00:00', ends: '1900-01-01T11:30:00' });
  });

  test.each([[['FREQ=DAILY;COUNT=3']], [['FREQ=DAILY', 'FREQ=WEEKLY']], [[]]])(
    'with %j is invalid',
    (rules) => {
      const lines = rules.map((rule) => `RRULE:${rule}`);
      expect(() => read('DTSTART:18000101', ...lines)).toThrow('DTSTART must lie between 1900 and 9989');
    },
  );
});

describe('EXRULE', () => {
  test('excludes the dates that both rules have', () => {
    const event = read(START, 'RRULE:FREQ=DAILY;COUNT=6', 'EXRULE:FREQ=DAILY;INTERVAL=2;COUNT=3');
    expect(event.recurrence.excluded).toEqual([
      '2026-03-30T10:00:00',
      '2026-04-01T10:00:00',
      '2026-04-03T10:00:00',
    ]);
    expect([codes(event), event.content.custom]).toEqual([[], {}]);
  });

  test('keeps a start that it does not match', () => {
    const event = read(START, 'RRULE:FREQ=DAILY;COUNT=7', 'EXRULE:FREQ=WEEKLY;BYDAY=SA,SU');
    expect(event.recurrence.excluded).toEqual(['2026-04-04T10:00:00', '2026-04-05T10:00:00']);
    const monthly = read(START, 'RRULE:FREQ=DAILY;COUNT=3', 'EXRULE:FREQ=MONTHLY;BYDAY=-1MO,-1TU');
    expect(monthly.recurrence.excluded).toEqual(['2026-03-30T10:00:00', '2026-03-31T10:00:00']);
  });

  test('excludes days, and adds to EXDATE', () => {
    const event = read(
      'DTSTART;VALUE=DATE:20260330',
      'RRULE:FREQ=DAILY;COUNT=5',
      'EXDATE;VALUE=DATE:20260331',
      'EXRULE:FREQ=DAILY;INTERVAL=3',
    );
    expect(event.recurrence.excluded).toEqual(['2026-03-30', '2026-03-31', '2026-04-02']);
  });

  test('and EXDATE exclude as many dates together as an event has', () => {
    const event = read(
      START,
      'RRULE:FREQ=DAILY;COUNT=2000',
      'EXDATE:20260331T100000Z',
      'EXRULE:FREQ=DAILY;INTERVAL=2',
    );
    expect([event.recurrence.excluded.length, codes(event)]).toEqual([1_000, ['exceptions_cut']]);
  });

  test('without end excludes the first dates of a series without end, with a warning', () => {
    const event = read(START, 'RRULE:FREQ=DAILY', 'EXRULE:FREQ=WEEKLY;BYDAY=SU');
    expect(event.recurrence.excluded.slice(0, 2)).toEqual(['2026-04-05T10:00:00', '2026-04-12T10:00:00']);
    expect([event.recurrence.excluded.length, codes(event)]).toEqual([714, ['exceptions_cut']]);
  });
});

describe('a value beyond a limit', () => {
  const long = 'x'.repeat(100_000);

  test.each([
    ['X-ALT-DESC', [`X-ALT-DESC;FMTTYPE=text/html:${long}`]],
    ['ATTACH', [`ATTACH;ENCODING=BASE64;VALUE=BINARY:${long}`]],
    ['ATTACH', repeated(60, (n) => `ATTACH:https://example.com/${n}`)],
    ['COMMENT', repeated(40, () => `COMMENT:${'x'.repeat(5_000)}`)],
    ['SUMMARY', [`SUMMARY:${long}`]],
    ['LOCATION', [`LOCATION:${long}`]],
    ['DESCRIPTION', [`DESCRIPTION:${long}`]],
    ['DESCRIPTION', ['DESCRIPTION:one', 'DESCRIPTION:two']],
    ['CATEGORIES', [`CATEGORIES:${repeated(60, (n) => `c${n}`).join()}`]],
    ['CATEGORIES', [`CATEGORIES:${'x'.repeat(500)}`]],
    ['ATTENDEE', repeated(600, (n) => `ATTENDEE:mailto:a${n}@example.com`)],
    ['VLOCATION', ['BEGIN:VLOCATION', `DESCRIPTION:${long}`, 'END:VLOCATION']],
  ])('of %s is named by a warning', (name, lines) => {
    expect(read(START, ...lines).warnings).toEqual([
      { code: 'value_too_large', message: `These values are shortened or left out: ${name}.` },
    ]);
  });

  test('is counted in characters: emoji are one each', () => {
    const { warnings, content } = read(
      START,
      `SUMMARY:a${'😀'.repeat(999)}`,
      `CATEGORIES:${'😀'.repeat(100)}`,
    );
    expect([warnings, content.title, content.categories]).toEqual([
      [],
      `a${'😀'.repeat(999)}`,
      ['😀'.repeat(100)],
    ]);
    const longer = read(START, `SUMMARY:a${'😀'.repeat(1_000)}`);
    expect([codes(longer), longer.content.title]).toEqual([['value_too_large'], `a${'😀'.repeat(999)}`]);
  });

  test('is no value within the limits, or one that is repeated', () => {
    const event = read(START, 'SUMMARY:x', 'LOCATION:a', 'LOCATION:a', `X-ALT-DESC:${'x'.repeat(60_000)}`);
    expect(event.warnings).toEqual([]);
  });
});

test.each([
  ['X-ALT-DESC;FMTTYPE=text/html:<p>Hall\\, 2nd floor</p><p>Bring coats</p>'],
  ['STYLED-DESCRIPTION;VALUE=TEXT;FMTTYPE=text/html:Hall\\, 2nd floor<br>Bring coats'],
])('a description in HTML only is read: %s', (styled) => {
  const { content } = read(START, styled);
  expect(content.description).toBe('Hall, 2nd floor\nBring coats');
  expect(read(START, 'DESCRIPTION:Plain', styled).content.description).toBe('Plain');
});

test.each([
  // Midnight in Berlin, on the clock of the file and on that of the calendar, and another time of the day.
  ['20260309T230000Z', ['DTSTART;VALUE=DATE:20260309'], '2026-03-10'],
  ['20260310T000000Z', ['DTSTART;VALUE=DATE:20260309'], '2026-03-10'],
  ['20260310T100000Z', ['DTSTART;VALUE=DATE:20260309'], '2026-03-10'],
  [
    '20260310T040000Z',
    [
      'DTSTART;TZID=America/New_York:20260309T000000',
      'DTEND;TZID=America/New_York:20260310T000000',
      'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE',
    ],
    '2026-03-10',
  ],
  [
    '20260309T150000Z',
    [
      'DTSTART;TZID=Asia/Tokyo:20260309T000000',
      'DTEND;TZID=Asia/Tokyo:20260310T000000',
      'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE',
    ],
    '2026-03-10',
  ],
])('%s names an instance of a series of days', (time, times, day) => {
  const text = [
    ['BEGIN:VEVENT', 'UID:a', ...times, 'RRULE:FREQ=DAILY;COUNT=3', `EXDATE:${time}`, 'END:VEVENT'],
    ['BEGIN:VEVENT', 'UID:a', ...times, 'RRULE:FREQ=DAILY;COUNT=3', 'END:VEVENT'],
    ['BEGIN:VEVENT', 'UID:a', `RECURRENCE-ID:${time}`, 'SUMMARY:x', 'END:VEVENT'],
  ];
  const source = ['BEGIN:VCALENDAR', ...text.flat(), 'END:VCALENDAR', ''].join('\r\n');
  const [calendar] = parseCalendars(source);
  const [excluding, series, instance] = calendar!.components;
  const clock = new EventClock(new CalendarZones(calendar!), null, 'Europe/Berlin');
  expect(readEvent(excluding!, [], clock).recurrence.excluded).toEqual([day]);
  expect(readEvent(series!, [instance!], clock).overrides).toMatchObject([{ recurrence_key: day }]);
});

test.each([
  ['tomato', '#ff6347'],
  ['#1A2b3C', '#1a2b3c'],
  [' #1a2b3cff', '#1a2b3c'],
  ['#12', null],
])('COLOR:%s is %s', (text, color) => {
  const { content } = read(START, `COLOR:${text}`);
  expect(content.color).toBe(color);
  expect(content.custom.ics).toEqual(color ? undefined : [expect.objectContaining({ name: 'COLOR' })]);
});

test.each(['52.5;13.4', ' 52.5 ; 13.4', '52.5,13.4', '52,5;13,4'])('GEO:%s is a place', (value) => {
  const { content } = read(START, 'LOCATION:Hall', `GEO:${value}`);
  expect(content.locations).toMatchObject([{ name: 'Hall', geo: { latitude: 52.5, longitude: 13.4 } }]);
});

test.each([
  // Midnight names the day of an instance where it names no instance itself.
  ['EXDATE;TZID=Europe/Berlin:20260310T000000', 'RRULE:FREQ=DAILY;COUNT=3', ['2026-03-10T09:00:00']],
  ['EXDATE:20260310T000000', 'RRULE:FREQ=DAILY;COUNT=3', ['2026-03-10T09:00:00']],
  ['EXDATE:20260310T000000', 'RRULE:FREQ=DAILY;BYHOUR=9,15;COUNT=6', ['2026-03-10T00:00:00']],
  ['EXDATE:20260310T000000', 'RRULE:FREQ=DAILY;BYHOUR=0,9;COUNT=6', ['2026-03-10T00:00:00']],
  ['EXDATE:20260310T080000', 'RRULE:FREQ=DAILY;COUNT=3', ['2026-03-10T08:00:00']],
])('%s of %s', (exdate, rule, excluded) => {
  expect(read('DTSTART;TZID=Europe/Berlin:20260309T090000', rule, exdate).recurrence.excluded).toEqual(
    excluded,
  );
});

test.each(['', ';', ' ; ', '1;', 'x;1', '91;0', '52,13,4', '1;2;3'])('GEO:%s is no place', (value) => {
  const { content } = read(START, 'LOCATION:Hall', `GEO:${value}`);
  expect([content.locations, content.location]).toEqual([[], 'Hall']);
});

test('a time without a zone is on the clock of a VTIMEZONE that the other time of its event has', () => {
  const zone = [
    'BEGIN:STANDARD',
    'DTSTART:20000101T000000',
    'TZOFFSETFROM:+0417',
    'TZOFFSETTO:+0417',
    'END:STANDARD',
  ];
  const text = ['BEGIN:VTIMEZONE', 'TZID:Odd', ...zone, 'END:VTIMEZONE', 'BEGIN:VEVENT', 'UID:a'];
  const times = ['DTSTART;TZID=Odd:20260330T100000', 'DTEND:20260330T113000', 'END:VEVENT'];
  const [calendar] = parseCalendars(['BEGIN:VCALENDAR', ...text, ...times, 'END:VCALENDAR', ''].join('\r\n'));
  const clock = new EventClock(new CalendarZones(calendar!), null);
  const { times: found } = readEvent(calendar!.components.at(-1)!, [], clock);
  expect(found).toMatchObject({ starts: '2026-03-30T05:43:00', ends: '2026-03-30T07:13:00' });
});

test.each([
  ['PUBLIC', 'default'],
  ['PRIVATE', 'private'],
  ['CONFIDENTIAL', 'private'],
  ['X-SECRET', 'private'],
])('CLASS:%s is %s', (value, visibility) => {
  const { content } = read(START, `CLASS:${value}`);
  expect(content.visibility).toBe(visibility);
  const isKept = value === 'CONFIDENTIAL' || value === 'X-SECRET';
  expect(content.custom).toEqual(isKept ? { ics: [{ name: 'CLASS', parameters: [], value }] } : {});
});

test.each([
  ['-P2D', 2 * 24 * 60],
  ['-P1W', 7 * 24 * 60],
  ['-PT90S', 2],
  ['-PT15M', 15],
])('an alarm at %s is written as it was', (trigger, minutes) => {
  const { reminders } = read(START, 'BEGIN:VALARM', 'ACTION:DISPLAY', `TRIGGER:${trigger}`, 'END:VALARM');
  expect(reminders).toMatchObject([{ method: 'popup', minutes }]);
  const alarm = alarmVcomponent(reminders![0]!, undefined, null);
  expect(propertiesOf(alarm, 'TRIGGER').map(({ value }) => value)).toEqual([trigger]);
});

test('an organizer in quotes has an address', () => {
  expect(read(START, 'ORGANIZER;CN=x:"mailto:O@x.example"').organizer).toMatchObject({
    email: 'o@x.example',
  });
});
