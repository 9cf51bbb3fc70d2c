import {
  berlin,
  completions,
  instancesOf,
  patchTask,
  putAgain,
  putTodo,
  seriesLines,
} from './stored-todos.ts';

const at = (text: string): Date => new Date(text);
const done = (stated: string): string[] => [`RECURRENCE-ID${stated}`, 'STATUS:COMPLETED'];
const times = (start: string, due = start): string[] => [`DTSTART${berlin(start)}`, `DUE${berlin(due)}`];
/** Adds a property that the task has no field for. */
const withFoo = (text: string): string => text.replace('SUMMARY', 'X-FOO:1\r\nSUMMARY');

describe('a due date at the end of the calendar', () => {
  const last = { due_at: at('9999-12-31T23:30:00Z') };

  test.each([
    [[`DUE${berlin('20260504T090000')}`, 'PRIORITY:2']],
    [[`DUE${berlin('20260504T090000')}`]],
    [
      [
        ...times('20260503T090000', '20260504T090000'),
        'RRULE:FREQ=WEEKLY;COUNT=3',
        `EXDATE${berlin('20260517T090000')}`,
      ],
    ],
  ])('is one that programs read, and can send back: %j', (lines) => {
    const task = patchTask(putTodo(['SUMMARY:x', ...lines]), last);
    expect(task).toMatchObject({ date: '9999-12-31', ...last });
    expect(seriesLines(task)).toContain(`DUE${berlin('99991231T235959')}`);
    expect(putAgain(task, (text) => text)).toBe(task);
    expect(putAgain(task, withFoo)).toMatchObject(last);
  });

  test('is in a series whose task can be completed', () => {
    const task = patchTask(
      putTodo(['SUMMARY:x', `DUE${berlin('20260504T090000')}`, 'RRULE:FREQ=WEEKLY']),
      last,
    );
    expect(task.recurrence?.start).toBe('2026-05-04T23:59:59');
    expect(completions(task, 9)).toEqual(['99991231T233000Z']);
  });

  test('is one at its beginning too', () => {
    const first = { due_at: at('1900-01-01T00:00:00Z'), time_zone: 'America/New_York' };
    const task = patchTask(putTodo(['SUMMARY:x', `DUE${berlin('20260504T090000')}`]), first);
    expect(seriesLines(task)).toEqual(['DUE;TZID=America/New_York:19000101T000000']);
    expect(putAgain(task, (text) => text)).toBe(task);
  });
});

describe('what cannot be read any more', () => {
  const stored = (name: string, value: string) => ({ [name]: [{ name, parameters: [], value }] });

  test('is left out of the text', () => {
    const task = putTodo(['SUMMARY:x', `DUE${berlin('20260504T090000')}`]);
    const properties = { ...stored('DTSTART', 'never'), ...stored('DUE', 'never'), ...stored('X-FOO', '1') };
    const faulty = { ...task, icalendar: { properties, alarms: [], others: [] } };
    expect(seriesLines(faulty)).toEqual([`DUE${berlin('20260504T090000')}`]);
  });

  test('of an alarm leaves the task as it is without what programs stored', () => {
    const task = putTodo(['SUMMARY:x', `DUE${berlin('20260504T090000')}`]);
    const alarm = {
      name: 'VALARM',
      properties: [{ name: 'TRIGGER', parameters: [], value: '-Pnever' }],
      components: [],
    };
    const faulty = { ...task, icalendar: { properties: {}, alarms: [alarm], others: [] } };
    expect(seriesLines(faulty)).toEqual([`DUE${berlin('20260504T090000')}`]);
  });
});

describe('a series with a length, moved to another day', () => {
  test('keeps the dates of instances that start up to the new day and are due later', () => {
    const daily = ['SUMMARY:x', ...times('20260504T090000', '20260505T090000'), 'RRULE:FREQ=DAILY'];
    const task = putTodo([...daily, `EXDATE${berlin('20260505T090000', '20260506T090000')}`]);
    const moved = patchTask(task, { date: '2026-05-06' });
    expect(seriesLines(moved)).toEqual([
      ...times('20260505T090000', '20260506T090000'),
      `EXDATE${berlin('20260506T090000')}`,
      'RRULE:FREQ=DAILY',
    ]);
    expect(completions(moved, 2)).toEqual(['20260506T070000Z', '20260508T070000Z']);
  });

  test.each([
    ['times', berlin, 'T090000', 'T070000Z'],
    ['days', (...all: string[]) => `;VALUE=DATE:${all.join()}`, '', ''],
  ])('of %s, also after a program has written it', (_, stated, hour, utc) => {
    const [start, due, excluded] = ['20260504', '20260506', '20260511'].map((day) => day + hour) as [
      string,
      string,
      string,
    ];
    const lines = [
      `DTSTART${stated(start)}`,
      `DUE${stated(due)}`,
      'RRULE:FREQ=WEEKLY',
      `EXDATE${stated(excluded)}`,
    ];
    const moved = patchTask(putTodo(['SUMMARY:x', ...lines, `RDATE${stated(`20260510${hour}`)}`]), {
      date: '2026-05-11',
    });
    const dates = ['20260511', '20260512', '20260520'].map((day) => day + utc);
    expect(completions(moved, 3)).toEqual(dates);
    expect(completions(putAgain(moved, withFoo), 2)).toEqual(dates.slice(0, 2));
    expect(seriesLines(moved)).toContain(`EXDATE${stated(excluded)}`);
  });

  test('keeps days that name instances with times', () => {
    const lines = [...times('20260504T230000', '20260505T010000'), 'RRULE:FREQ=DAILY'];
    const task = putTodo(['SUMMARY:x', ...lines, 'EXDATE;VALUE=DATE:20260505,20260506,20260507']);
    expect(seriesLines(patchTask(task, { date: '2026-05-06' }))).toContain(
      'EXDATE;VALUE=DATE:20260506,20260507',
    );
    const short = [...times('20260504T090000', '20260504T100000'), 'RRULE:FREQ=DAILY'];
    const other = putTodo(['SUMMARY:x', ...short, 'EXDATE;VALUE=DATE:20260505,20260506,20260507']);
    expect(seriesLines(patchTask(other, { date: '2026-05-06' }))).toContain('EXDATE;VALUE=DATE:20260507');
  });
});

test('a series with a number of instances keeps its dates on a day that it excludes', () => {
  const task = putTodo(
    [
      'SUMMARY:x',
      ...times('20260504T090000'),
      'RRULE:FREQ=WEEKLY;COUNT=10',
      `EXDATE${berlin('20260511T090000', '20260525T090000')}`,
    ],
    done(berlin('20260601T090000')),
  );
  const moved = patchTask(task, { date: '2026-05-11' });
  const expected = [
    ...times('20260511T090000'),
    'RRULE:FREQ=WEEKLY;COUNT=10',
    `EXDATE${berlin('20260525T090000')}`,
    `RECURRENCE-ID${berlin('20260601T090000')}`,
  ];
  expect(seriesLines(moved)).toEqual(expected.toSorted());
  const written = putAgain(moved, withFoo);
  expect(seriesLines(written)).toEqual(expected.toSorted());
  const dates = ['20260511T070000Z', '20260518T070000Z', '20260608T070000Z'];
  expect(instancesOf(written, '2026-05-01', '2026-06-12')).toEqual(dates);
  expect(completions(written, 3)).toEqual(dates);
});

describe('a series in another time zone, where it is on another day', () => {
  const tokyo = { time_zone: 'Asia/Tokyo' };

  test.each([
    ['with the zone', berlin, ['T180000', 'T180000']],
    ['in UTC', (...all: string[]) => `:${all.join()}`, ['T160000Z', 'T160000Z']],
  ])('has its instances and dates at the same moments: %s', (_, stated, [hour = '']) => {
    const day = (text: string): string => text + hour;
    const task = putTodo(
      [
        'SUMMARY:x',
        `DTSTART${stated(day('20260504'))}`,
        `DUE${stated(day('20260504'))}`,
        'RRULE:FREQ=WEEKLY',
        `EXDATE${stated(day('20260511'))}`,
      ],
      done(stated(day('20260518'))),
    );
    const moved = patchTask(task, tokyo);
    expect(moved).toMatchObject({
      date: '2026-05-05',
      recurrence: { start: '2026-05-05T01:00:00', scheduled: '2026-05-05' },
    });
    const dates = ['20260504T160000Z', '20260525T160000Z', '20260601T160000Z'];
    for (const each of [moved, putAgain(moved, withFoo)]) {
      expect(completions(each, 3)).toEqual(dates);
      expect(instancesOf(each, '2026-05-01', '2026-06-03')).toEqual(dates);
    }
  });

  test('and a new hour, has its dates at that hour', () => {
    const task = putTodo([
      'SUMMARY:x',
      ...times('20260504T180000'),
      'RRULE:FREQ=WEEKLY',
      `EXDATE${berlin('20260511T180000')}`,
    ]);
    const moved = patchTask(task, { ...tokyo, due_at: at('2026-05-04T17:00:00Z') });
    expect(seriesLines(moved)).toContain('EXDATE;TZID=Asia/Tokyo:20260512T020000');
    expect(completions(moved, 2)).toEqual(['20260504T170000Z', '20260518T170000Z']);
  });

  test('without dates of its own too', () => {
    const task = patchTask(putTodo(['SUMMARY:x', ...times('20260504T180000'), 'RRULE:FREQ=WEEKLY']), tokyo);
    const dates = ['20260504T160000Z', '20260511T160000Z'];
    expect(completions(task, 2)).toEqual(dates);
    expect(instancesOf(task, '2026-05-01', '2026-05-15')).toEqual(dates);
  });
});

describe('days that name the instances of a series in UTC', () => {
  // 23:00 in UTC is 01:00 of the next day in Berlin.
  const daily = ['SUMMARY:x', 'DTSTART:20260504T230000Z', 'DUE:20260504T230000Z', 'RRULE:FREQ=DAILY'];

  test('are those of UTC', () => {
    const task = putTodo(
      [...daily, 'EXDATE;VALUE=DATE:20260505', 'RDATE;VALUE=DATE:20260503'],
      done(';VALUE=DATE:20260507'),
    );
    const dates = ['20260503T230000Z', '20260504T230000Z', '20260506T230000Z', '20260508T230000Z'];
    expect(completions(task, 4)).toEqual(dates);
    expect(instancesOf(task, '2026-05-01', '2026-05-09')).toEqual(dates);
  });

  test('are the days of a series that becomes one of days, by its former clock', () => {
    const winter = ['SUMMARY:x', 'DTSTART:20260301T223000Z', 'DUE:20260301T223000Z', 'RRULE:FREQ=DAILY'];
    const task = putTodo(
      [...winter, 'EXDATE:20260329T223000Z', 'RDATE:20260402T223000Z/PT1H', 'EXDATE:never'],
      done(':20260330T223000Z'),
    );
    const moved = patchTask(task, { date: '2026-03-28', due_at: null });
    expect(seriesLines(moved)).toEqual([
      'DTSTART;VALUE=DATE:20260328',
      'DUE;VALUE=DATE:20260328',
      'EXDATE;VALUE=DATE:20260329',
      'RDATE;VALUE=DATE:20260403',
      'RECURRENCE-ID;VALUE=DATE:20260330',
      'RRULE:FREQ=DAILY',
    ]);
    expect(completions(moved, 3)).toEqual(['20260328', '20260331', '20260401']);
  });
});

test('a series that becomes one of days has the days on which its instances are due', () => {
  const lines = [
    ...times('20260503T200000', '20260504T090000'),
    'RRULE:FREQ=DAILY;COUNT=9',
    `EXDATE${berlin('20260503T200000', '20260505T200000')}`,
  ];
  const moved = patchTask(putTodo(['SUMMARY:x', ...lines]), { due_at: null });
  expect(seriesLines(moved)).toEqual([
    'DTSTART;VALUE=DATE:20260505',
    'DUE;VALUE=DATE:20260505',
    'EXDATE;VALUE=DATE:20260504,20260506',
    'RRULE:FREQ=DAILY;COUNT=8',
  ]);
  expect(completions(moved, 2)).toEqual(['20260505', '20260507']);
  expect(instancesOf(moved, '2026-05-01', '2026-05-07')).toEqual(['20260505', '20260507']);
});

test('a series of days that has times from now on keeps the days on which its instances are due', () => {
  const lines = ['DTSTART;VALUE=DATE:20260504', 'DUE;VALUE=DATE:20260505', 'RRULE:FREQ=DAILY'];
  const task = putTodo(['SUMMARY:x', ...lines, 'EXDATE;VALUE=DATE:20260505'], done(';VALUE=DATE:20260506'));
  const moved = patchTask(task, { due_at: at('2026-05-05T07:00:00Z') });
  expect(seriesLines(moved)).toEqual([
    ...times('20260505T090000'),
    'EXDATE;VALUE=DATE:20260506',
    'RECURRENCE-ID;VALUE=DATE:20260507',
    'RRULE:FREQ=DAILY',
  ]);
  expect(completions(moved, 2)).toEqual(['20260505T070000Z', '20260508T070000Z']);
});

describe('a new hour', () => {
  test('that moves the start over midnight moves days that name instances', () => {
    const lines = [
      ...times('20260504T230000', '20260505T000000'),
      'RRULE:FREQ=DAILY',
      'EXDATE;VALUE=DATE:20260506',
    ];
    const task = putTodo(['SUMMARY:x', ...lines], done(';VALUE=DATE:20260508'));
    const moved = patchTask(task, { due_at: at('2026-05-04T23:00:00Z') });
    expect(seriesLines(moved)).toEqual([
      ...times('20260505T000000', '20260505T010000'),
      'EXDATE;VALUE=DATE:20260507',
      'RECURRENCE-ID;VALUE=DATE:20260509',
      'RRULE:FREQ=DAILY',
    ]);
    expect(completions(moved, 4).map((due) => due.slice(6, 8))).toEqual(['04', '05', '07', '09']);
  });

  test('moves each date once, however often a program has stated it', () => {
    const line = `EXDATE:${'20260511T070000Z,'.repeat(60_000)}20260512T070000Z`;
    const task = putTodo(['SUMMARY:x', ...times('20260504T090000'), 'RRULE:FREQ=DAILY', line]);
    expect(seriesLines(task)).toContain('EXDATE:20260511T070000Z,20260512T070000Z');
    expect(putAgain(task, (text) => text.replace(/^EXDATE.*/m, line))).toBe(task);
    expect(putAgain(task, (text) => text.replace(/^EXDATE.*/m, line.replaceAll(',', ';')))).toBe(task);
    const copies = [{ name: 'EXDATE', parameters: [], value: line.slice('EXDATE:'.length) }];
    const former = { ...task, icalendar: { properties: { EXDATE: copies }, alarms: [], others: [] } };
    for (const each of [task, former]) {
      const moved = patchTask(each, { due_at: at('2026-05-04T08:00:00Z') });
      expect(seriesLines(moved)).toContain('EXDATE:20260511T080000Z,20260512T080000Z');
    }
  });

  test.each([
    ['UNTIL=20260507T070000Z', 'UNTIL=20260507T080000Z'],
    ['UNTIL=20260507T090000', 'UNTIL=20260507T100000'],
    ['UNTIL=20260507', 'UNTIL=20260507'],
  ])('keeps the last instance, with %s', (until, expected) => {
    const lines = [
      ...times('20260504T090000'),
      `RRULE:${until};FREQ=DAILY`,
      `EXDATE${berlin('20260506T090000')}`,
    ];
    const moved = patchTask(putTodo(['SUMMARY:x', ...lines]), { due_at: at('2026-05-04T08:00:00Z') });
    expect(seriesLines(moved)).toContainEqual(expect.stringMatching(new RegExp(`RRULE.*${expected}(?!T)`)));
    const dates = ['20260504T080000Z', '20260505T080000Z', '20260507T080000Z'];
    expect(completions(moved, 9)).toEqual(dates);
    expect(instancesOf(moved, '2026-05-01', '2026-05-10')).toEqual(dates);
  });

  test('of a program leaves the end that it states', () => {
    const task = putTodo([
      'SUMMARY:x',
      ...times('20260504T090000'),
      'RRULE:FREQ=DAILY;UNTIL=20260507T070000Z',
    ]);
    const later = putAgain(task, (text) => text.replaceAll('T090000', 'T100000'));
    expect(later.due_at).toEqual(at('2026-05-04T08:00:00Z'));
    expect(seriesLines(later)).toContain('RRULE:FREQ=DAILY;UNTIL=20260507T070000Z');
    const stated = patchTask(task, {
      due_at: at('2026-05-04T08:00:00Z'),
      recurrence: { rrule: 'FREQ=DAILY;UNTIL=20260507T070000Z', from: 'schedule' },
    });
    expect(stated.recurrence?.rrule).toBe('FREQ=DAILY;UNTIL=20260507T070000Z');
  });

  test('an end in a new zone, where it is on another day, is the same moment', () => {
    const task = putTodo([
      'SUMMARY:x',
      ...times('20260504T180000'),
      'RRULE:FREQ=DAILY;UNTIL=20260506T160000Z',
    ]);
    const moved = patchTask(task, { time_zone: 'Asia/Tokyo' });
    expect(moved.recurrence?.rrule).toBe('FREQ=DAILY;UNTIL=20260506T160000Z');
    expect(completions(moved, 9)).toHaveLength(3);
  });

  test('names instances in UTC and in other zones at it, also on the day of a clock change', () => {
    const lines = [...times('20260327T090000'), 'RRULE:FREQ=DAILY'];
    const exdates = ['EXDATE:20260329T070000Z', 'EXDATE;TZID=America/New_York:20260331T030000'];
    const moved = patchTask(putTodo(['SUMMARY:x', ...lines, ...exdates]), {
      due_at: at('2026-03-27T00:00:00Z'),
    });
    for (const line of ['EXDATE:20260329T000000Z', 'EXDATE;TZID=America/New_York:20260330T190000'])
      expect(seriesLines(moved)).toContain(line);
    expect(completions(moved, 3)).toEqual(['20260327T000000Z', '20260328T000000Z', '20260329T230000Z']);
  });
});

describe('a start and a due date of two kinds', () => {
  test.each([
    [
      'a time and a day',
      `DTSTART${berlin('20260504T090000')}`,
      'DUE;VALUE=DATE:20260506',
      '',
      ['20260506', '20260508', '20260510'],
    ],
    [
      'a day and a time',
      'DTSTART;VALUE=DATE:20260504',
      `DUE${berlin('20260506T090000')}`,
      '',
      ['20260506T070000Z', '20260508T070000Z', '20260510T070000Z'],
    ],
  ])('are as far apart as their days: %s', (_, start, due, hour, expected) => {
    const task = putTodo(
      ['SUMMARY:x', start, due, 'RRULE:FREQ=DAILY', `EXDATE;VALUE=DATE:20260505${hour}`],
      done(';VALUE=DATE:20260507'),
    );
    expect(completions(task, 3)).toEqual(expected);
    expect(instancesOf(task, '2026-05-04', '2026-05-09').slice(0, 3)).toEqual(expected);
  });
});
