import {
  type Component,
  formatComponent,
  parseCalendars,
  propertyOf,
} from '../../../src/lib/icalendar/index.js';
import { PAGE_BYTES } from '../../../src/platform/bounded-pages/page-bytes.js';
import type { TodoText } from '../../../src/modules/tasks/model/todo-merge.js';
import { expandedTodo, occursIn } from '../../../src/modules/tasks/model/todo-range.js';
import { clockOf, readTodo } from '../../../src/modules/tasks/model/todo-reader.js';

const instant = (text: string): number => Date.parse(text) / 1000;
const days = (from: string, to: string) => ({
  from: instant(`${from}T00:00:00Z`),
  to: instant(`${to}T00:00:00Z`),
});

/** A task of these lines, and its changed instances. */
const todoOf = (lines: readonly string[], ...instances: (readonly string[])[]): TodoText => {
  const todos = [lines, ...instances].map(
    (each) => `BEGIN:VTODO\r\nUID:one\r\n${each.join('\r\n')}\r\nEND:VTODO\r\n`,
  );
  const text = `BEGIN:VCALENDAR\r\nVERSION:2.0\r\n${todos.join('')}END:VCALENDAR\r\n`;
  const [todo, ...others] = (parseCalendars(text)[0] as Component).components;
  return { todo: todo as Component, others };
};

/** Days of a list, of which none occurs twice. */
const daysFrom = (first: string, count: number): string =>
  Array.from({ length: count }, (_, n) =>
    new Date(Date.parse(first) + n * 86_400_000).toISOString().slice(0, 10).replaceAll('-', ''),
  ).join(',');

const clock = clockOf([], 'Europe/Berlin');
const DATES = /^(?:RECURRENCE-ID|DTSTART|DUE|DURATION|RRULE|RDATE|EXDATE|SUMMARY)\b/;
const expanded = (text: TodoText, from: string, to: string): string[][] | undefined =>
  expandedTodo(text, clock, days(from, to))?.map((each) =>
    formatComponent(each)
      .split('\r\n')
      .filter((line) => DATES.test(line))
      .toSorted(),
  );

describe('instances of repeating tasks (RFC 4791, 9.6.5 and 9.9)', () => {
  const weekly = [
    'SUMMARY:Water',
    'DTSTART;TZID=Europe/Berlin:20260302T090000',
    'DUE;TZID=Europe/Berlin:20260302T100000',
    'RRULE:FREQ=WEEKLY',
  ];

  test('are tasks with times in UTC, across a clock change', () => {
    expect(expanded(todoOf(weekly), '2026-03-20', '2026-04-01')).toEqual([
      ['DTSTART:20260323T080000Z', 'DUE:20260323T090000Z', 'RECURRENCE-ID:20260323T080000Z', 'SUMMARY:Water'],
      ['DTSTART:20260330T070000Z', 'DUE:20260330T080000Z', 'RECURRENCE-ID:20260330T070000Z', 'SUMMARY:Water'],
    ]);
  });

  test('of days are days', () => {
    const daily = todoOf(['DTSTART;VALUE=DATE:20260328', 'DUE;VALUE=DATE:20260329', 'RRULE:FREQ=DAILY']);
    const of = (start: string, due: string) => [
      `DTSTART;VALUE=DATE:${start}`,
      `DUE;VALUE=DATE:${due}`,
      `RECURRENCE-ID;VALUE=DATE:${start}`,
    ];
    expect(expanded(daily, '2026-03-29', '2026-03-30')).toEqual([
      of('20260329', '20260330'),
      of('20260330', '20260331'),
    ]);
  });

  test('have a due date in place of a duration, and no start where the series has none', () => {
    const short = todoOf(['DTSTART:20260302T090000Z', 'DURATION:PT30M', 'RRULE:FREQ=DAILY;COUNT=2']);
    expect(expanded(short, '2026-03-03', '2026-03-04')).toEqual([
      ['DTSTART:20260303T090000Z', 'DUE:20260303T093000Z', 'RECURRENCE-ID:20260303T090000Z'],
    ]);
    const due = todoOf(['DUE:20260302T090000Z', 'RRULE:FREQ=DAILY;COUNT=2']);
    expect(expanded(due, '2026-03-03', '2026-03-04')).toEqual([
      ['DUE:20260303T090000Z', 'RECURRENCE-ID:20260303T090000Z'],
    ]);
  });

  test('are those of added dates, without those of excluded ones', () => {
    const text = todoOf([
      ...weekly,
      'RDATE;TZID=America/New_York:20260311T120000',
      'RDATE:20260312T120000Z,20260313T120000Z',
      'EXDATE:20260309T080000Z',
      'EXDATE;VALUE=DATE:20260316,20260313',
      'EXDATE:',
    ]);
    const ids = expanded(text, '2026-03-01', '2026-03-25')?.map(([start]) => start);
    expect(ids).toEqual([
      'DTSTART:20260302T080000Z',
      'DTSTART:20260311T160000Z',
      'DTSTART:20260312T120000Z',
      'DTSTART:20260323T080000Z',
    ]);
    expect(occursIn(text, clock, days('2026-03-12', '2026-03-13'))).toBe(true);
    expect(occursIn(text, clock, days('2026-03-09', '2026-03-10'))).toBe(false);
  });

  test('of a zone that no IANA zone equals lack those that it excludes or closes', () => {
    const text = todoOf(
      ['DUE;TZID=-0330:20260302T090000', 'RRULE:FREQ=WEEKLY;COUNT=3', 'EXDATE;TZID=-0330:20260309T090000'],
      ['RECURRENCE-ID;TZID=-0330:20260302T090000', 'DUE;TZID=-0330:20260302T090000', 'STATUS:COMPLETED'],
    );
    const due = expanded(text, '2026-03-01', '2026-04-01')?.map((lines) => lines.join().slice(0, 12));
    expect(due).toEqual(['DUE:20260302', 'DUE:20260316']);
    expect(readTodo(text.todo, text.others, clock).date).toBe('2026-03-16');
  });

  test('are where a change has moved them', () => {
    const text = todoOf(weekly, [
      'SUMMARY:Water later',
      'RECURRENCE-ID;TZID=Europe/Berlin:20260309T090000',
      'DTSTART;TZID=Europe/Berlin:20260311T090000',
      'DUE;TZID=Europe/Berlin:20260311T100000',
    ]);
    expect(expanded(text, '2026-03-08', '2026-03-17')).toEqual([
      [
        'DTSTART:20260311T080000Z',
        'DUE:20260311T090000Z',
        'RECURRENCE-ID:20260309T080000Z',
        'SUMMARY:Water later',
      ],
      ['DTSTART:20260316T080000Z', 'DUE:20260316T090000Z', 'RECURRENCE-ID:20260316T080000Z', 'SUMMARY:Water'],
    ]);
    expect(occursIn(text, clock, days('2026-03-09', '2026-03-10'))).toBe(false);
    expect(occursIn(text, clock, days('2026-03-11', '2026-03-12'))).toBe(true);
  });

  test('without dates of its own, a changed instance is at the time that it replaces', () => {
    const text = todoOf(weekly, ['SUMMARY:Renamed', 'RECURRENCE-ID:20260309T080000Z']);
    expect(expanded(text, '2026-03-09', '2026-03-10')).toEqual([
      ['RECURRENCE-ID:20260309T080000Z', 'SUMMARY:Renamed'],
    ]);
  });

  test('of a task that does not repeat: the task', () => {
    const one = todoOf(['DUE;TZID=Europe/Berlin:20260302T090000']);
    expect(expanded(one, '2026-03-02', '2026-03-03')).toEqual([['DUE:20260302T080000Z']]);
    expect(expanded(todoOf(['SUMMARY:Someday']), '2026-03-02', '2026-03-03')).toEqual([['SUMMARY:Someday']]);
  });

  test('are not read from what cannot be read', () => {
    const repeating = ['DTSTART:20260302T090000Z', 'RRULE:FREQ=DAILY'];
    for (const lines of [
      ['DTSTART:never', 'RRULE:FREQ=DAILY'],
      [...repeating, 'DUE:never'],
      [...repeating, `EXDATE;VALUE=DATE:${daysFrom('2027-03-01', 2_001)}`],
      [...repeating, ...Array.from({ length: 4 }, () => 'RRULE:FREQ=HOURLY')],
    ]) {
      const text = todoOf(lines);
      expect(expandedTodo(text, clock, days('2026-03-02', '2026-03-03'))).toBeNull();
      expect(occursIn(text, clock, days('2026-01-02', '2026-01-03'))).toBe(true);
    }
  });

  test('have together about the bytes of a page, and are 2,000 at most', () => {
    const hourly = ['DTSTART:20260101T000000Z', 'RRULE:FREQ=HOURLY'];
    const window = days('2026-01-01', '2028-01-01');
    expect(expandedTodo(todoOf(hourly), clock, window)).toHaveLength(2_000);
    const large = todoOf([...hourly, `X-LARGE:${'x'.repeat(200_000)}`]);
    const found = expandedTodo(large, clock, window) ?? [];
    expect(found.length).toBeGreaterThan(10);
    expect(found.length * 200_000).toBeLessThanOrEqual(PAGE_BYTES);
  });
});

/** The due time of a VTODO as a task has it. */
const dueIn = (todo: Component): string => {
  const [year, month, day, hour, minute] = [0, 4, 6, 9, 11].map((at) =>
    (propertyOf(todo, 'DUE')?.value ?? '').slice(at, at + (at === 0 ? 4 : 2)),
  );
  return hour ? `${year}-${month}-${day}T${hour}:${minute}:00.000Z` : `${year}-${month}-${day}`;
};
const isOpen = (todo: Component): boolean => propertyOf(todo, 'STATUS') === undefined;

describe('the date of a task is that of the first open instance that a query finds', () => {
  const daily = [
    'DTSTART;TZID=Europe/Berlin:20260302T090000',
    'DUE;TZID=Europe/Berlin:20260302T100000',
    'RRULE:FREQ=DAILY;COUNT=2',
  ];
  const days2 = ['DTSTART;VALUE=DATE:20260302', 'DUE;VALUE=DATE:20260302'];
  const done = (stated: string): string[] => [`RECURRENCE-ID${stated}`, 'STATUS:COMPLETED'];
  const berlin = (time: string): string => `;TZID=Europe/Berlin:${time}`;

  test.each<[string, string[], string[][], string]>([
    ['the first one', daily, [], '2026-03-02T09:00:00.000Z'],
    [
      'an added one after the end of the rule',
      [...daily, 'RDATE;TZID=Europe/Berlin:20260310T120000'],
      [done(berlin('20260302T090000')), done(berlin('20260303T090000'))],
      '2026-03-10T12:00:00.000Z',
    ],
    [
      'an added day, at the hour of the series',
      [...daily, 'RDATE;VALUE=DATE:20260301'],
      [],
      '2026-03-01T09:00:00.000Z',
    ],
    [
      'a second one of a day whose first one is excluded',
      [...daily, 'RDATE:20260302T140000Z', 'EXDATE:20260302T080000Z'],
      [],
      '2026-03-02T15:00:00.000Z',
    ],
    [
      'a second one of a day whose first one is completed',
      [...daily, 'RDATE:20260302T140000Z'],
      [done(':20260302T080000Z')],
      '2026-03-02T15:00:00.000Z',
    ],
    [
      'one of the day after an excluded day, which has two',
      [...daily, 'RDATE:20260302T140000Z', 'EXDATE;VALUE=DATE:20260302'],
      [],
      '2026-03-03T09:00:00.000Z',
    ],
    [
      'a day, of a series whose last day is stated in UTC',
      [...days2, 'RRULE:FREQ=DAILY;UNTIL=20260303T230000Z'],
      [done(';VALUE=DATE:20260302'), done(';VALUE=DATE:20260303')],
      '2026-03-04',
    ],
    [
      'a day, of a series whose instances programs state in UTC',
      [...days2, 'RRULE:FREQ=DAILY;COUNT=3', 'EXDATE:20260301T230000Z'],
      [],
      '2026-03-03',
    ],
    [
      'one behind an excluded one that is changed too',
      [...daily, 'EXDATE;TZID=Europe/Berlin:20260302T090000'],
      [['RECURRENCE-ID:20260302T080000Z', 'SUMMARY:Changed', 'DUE:20260302T100000Z']],
      '2026-03-03T09:00:00.000Z',
    ],
    [
      'a day, behind an excluded one that is changed too',
      [...days2, 'RRULE:FREQ=DAILY;COUNT=3', 'EXDATE;VALUE=DATE:20260302'],
      [['RECURRENCE-ID:20260301T230000Z', 'SUMMARY:Changed', 'DUE;VALUE=DATE:20260302']],
      '2026-03-03',
    ],
    [
      'one that cannot be read is none',
      [...daily, 'EXDATE:never', 'EXDATE;TZID=Europe/Berlin:20260302T090000'],
      [['RECURRENCE-ID:never', 'SUMMARY:Never']],
      '2026-03-03T09:00:00.000Z',
    ],
  ])('%s', (_, lines, instances, expected) => {
    const text = todoOf(lines, ...instances);
    const { date, dueAt, isOver } = readTodo(text.todo, text.others, clock);
    expect([dueAt ?? date, isOver]).toEqual([expected, false]);
    const found = expandedTodo(text, clock, days('2026-01-01', '2027-01-01')) ?? [];
    expect(dueIn(found.find(isOpen) as Component)).toBe(expected);
  });

  test('times without a zone are those of the zone of the task, also where that has the time of UTC', () => {
    const london = clockOf([], 'Europe/London');
    const text = todoOf(['DUE:20260302T090000', 'RRULE:FREQ=MONTHLY;COUNT=3'], done(':20260302T090000'));
    expect(readTodo(text.todo, text.others, london).dueAt).toBe('2026-04-02T08:00:00.000Z');
    expect(expandedTodo(text, london, days('2026-04-01', '2026-04-03'))?.map(dueIn)).toEqual([
      '2026-04-02T08:00:00.000Z',
    ]);
  });

  test('an end in UTC is on the day of the zone of the task, whatever the zone of a query is', () => {
    const text = todoOf([...days2, 'RRULE:FREQ=DAILY;UNTIL=20260303T230000Z']);
    const dates = (readerZone: string) =>
      expandedTodo(text, clockOf([], 'Europe/Berlin', readerZone), days('2026-02-01', '2026-04-01'))?.map(
        dueIn,
      );
    const expected = ['2026-03-02', '2026-03-03', '2026-03-04'];
    expect(['America/New_York', 'Asia/Tokyo'].map(dates)).toEqual([expected, expected]);
  });

  test('with up to 2,000 dates of its own', () => {
    const read = (count: number) => {
      const text = todoOf([...daily, `EXDATE;VALUE=DATE:20260302,${daysFrom('2030-01-01', count - 1)}`]);
      const { dueAt, rrule } = readTodo(text.todo, text.others, clock);
      return [dueAt, rrule, expandedTodo(text, clock, days('2026-03-01', '2026-03-09'))?.map(dueIn)];
    };
    const second = '2026-03-03T09:00:00.000Z';
    expect(read(2_000)).toEqual([second, 'FREQ=DAILY;COUNT=1', [second]]);
    expect(read(2_001)).toEqual(['2026-03-02T09:00:00.000Z', null, undefined]);
  });
});
