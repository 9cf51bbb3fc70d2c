import {
  type Component,
  formatComponent,
  parseCalendars,
  propertyOf,
} from '../../../src/lib/icalendar/index.js';
import { singleTodo } from '../../../src/modules/tasks/model/single-todo.js';
import {
  changedInput,
  createdInput,
  keptOf,
  NOTHING_KEPT,
  shownValues,
  textOfTodo,
  todoOf,
} from '../../../src/modules/tasks/model/todo-merge.js';
import { occursIn } from '../../../src/modules/tasks/model/todo-range.js';
import { clockOf, readTodo } from '../../../src/modules/tasks/model/todo-reader.js';
import { valuesOf } from '../../../src/modules/tasks/model/todo-writer.js';
import type { TaskResourceRow } from '../../../src/modules/tasks/model/todo-values.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const BERLIN = 'Europe/Berlin';

const ROW: TaskResourceRow = {
  id: ID,
  revision: 1,
  uid: null,
  icalendar: null,
  title: 'Book the rooms',
  description: null,
  status: 0,
  priority: 2,
  labels: [],
  date: null,
  due_at: null,
  time_zone: BERLIN,
  recurrence: null,
  is_repeated: false,
  reminders: [],
  refs: [],
  completed_at: null,
  created_at: '2026-03-01T08:00:00.000Z',
  updated_at: '2026-03-02T08:00:00.000Z',
};

const textOf = (...lines: string[]): string =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Test//EN',
    'BEGIN:VTODO',
    'UID:u',
    ...lines,
    'END:VTODO',
    'END:VCALENDAR',
    '',
  ].join('\r\n');
const given = (...lines: string[]) => singleTodo(Buffer.from(textOf(...lines)));
const readOf = (...lines: string[]) => {
  const { todo, others } = given(...lines);
  return readTodo(todo, others, clockOf(others, BERLIN));
};
/** The lines of the VTODO that a program reads. */
const linesOf = (row: TaskResourceRow): string[] =>
  formatComponent(todoOf(row).todo).replaceAll('\r\n ', '').trimEnd().split('\r\n');

/** The task after a program has written it: its kept part, and the request to the API. */
function written(row: TaskResourceRow, text: string) {
  const todo = singleTodo(Buffer.from(text));
  const next = readTodo(todo.todo, todo.others, clockOf(todo.others, row.time_zone));
  const shown = todoOf(row);
  const before = shownValues(row, shown, clockOf(shown.others, row.time_zone));
  const kept = keptOf(todo, next, valuesOf(row));
  return { input: changedInput(row, before, next, todo), kept };
}

describe('VTODO of a task', () => {
  test('the fields of a task are properties', () => {
    const lines = linesOf({
      ...ROW,
      description: '<p>Two nights<br>six people</p>',
      status: 1,
      priority: 5,
      labels: ['offsite', 'a,b'],
      date: '2026-12-01',
      due_at: '2026-12-01T16:00:00.000Z',
      reminders: [{ minutes_before: 30 }, { at: '2026-11-30T08:00:00.000Z' }],
      refs: [{ type: 'url', url: 'https://example.com/hotel' }],
    });
    for (const line of [
      `UID:${ID}`,
      'SUMMARY:Book the rooms',
      'DESCRIPTION:Two nights\\nsix people',
      'STATUS:IN-PROCESS',
      'PRIORITY:2',
      'CATEGORIES:offsite,a\\,b',
      'DUE;TZID=Europe/Berlin:20261201T170000',
      'URL:https://example.com/hotel',
      'TRIGGER;RELATED=END:-PT30M',
      'TRIGGER;VALUE=DATE-TIME:20261130T080000Z',
    ])
      expect(lines).toContain(line);
  });

  test('a day, a rule and the completion', () => {
    const recurrence = { rrule: 'FREQ=DAILY;INTERVAL=3', from: 'completion', start: '2026-12-01' } as const;
    const repeating = linesOf({ ...ROW, date: '2026-12-01', recurrence });
    for (const line of [
      'DUE;VALUE=DATE:20261201',
      'DTSTART;VALUE=DATE:20261201',
      'RRULE:FREQ=DAILY;INTERVAL=3',
      'X-WORKSPACE-REPEAT-FROM:COMPLETION',
    ])
      expect(repeating).toContain(line);
    const done = {
      ...ROW,
      status: 2,
      completed_at: '2026-12-02T09:00:00.123Z',
      date: '2026-12-01',
      recurrence,
    };
    expect(linesOf(done)).toContain('COMPLETED:20261202T090000Z');
    // The next occurrence is a task of its own: a program must not show it twice.
    expect(linesOf({ ...done, is_repeated: true }).join('\n')).not.toContain('RRULE');
  });

  test('what a program reads and sends back changes nothing', () => {
    const rows: TaskResourceRow[] = [
      ROW,
      { ...ROW, description: '<ul><li>one</li><li>two  three</li></ul>', priority: 0 },
      { ...ROW, priority: 6, status: 3, labels: ['x'], title: `${'long '.repeat(30)}title; with, marks\\` },
      { ...ROW, date: '2026-12-01', due_at: '2026-12-01T16:00:00.500Z', reminders: [{ minutes_before: 0 }] },
      { ...ROW, date: '2026-12-01', time_zone: 'UTC', due_at: '2026-12-01T16:00:00.000Z' },
      { ...ROW, status: 2, completed_at: '2026-12-02T09:00:00.123Z' },
      { ...ROW, reminders: [{ minutes_before: 10 }] },
      {
        ...ROW,
        date: '2026-12-01',
        recurrence: { rrule: 'FREQ=WEEKLY;BYDAY=TU', from: 'completion', start: '2026-12-01' },
      },
    ];
    for (const row of rows) {
      const { input, kept } = written(row, textOfTodo(todoOf(row), true));
      expect([input, kept]).toEqual([{}, NOTHING_KEPT]);
    }
  });

  test('properties, parameters, alarms and instances of a program survive, and are stable', () => {
    const text = textOf(
      'SUMMARY;LANGUAGE=en:Report',
      'DTSTART;TZID=Europe/Berlin:20261201T090000',
      'DUE;TZID=Europe/Berlin:20261201T170000',
      'PERCENT-COMPLETE:40',
      'STATUS:IN-PROCESS',
      'PRIORITY:1',
      'LOCATION:Office',
      'RELATED-TO;RELTYPE=PARENT:parent',
      'X-APPLE-SORT-ORDER:5',
      'SEQUENCE:3',
      'BEGIN:VALARM',
      'ACTION:DISPLAY',
      'DESCRIPTION:Now',
      'UID:alarm',
      'ACKNOWLEDGED:20261201T080000Z',
      'TRIGGER;RELATED=END:-PT1H',
      'END:VALARM',
      'BEGIN:VALARM',
      'ACTION:EMAIL',
      'SUMMARY:Mail',
      'DESCRIPTION:Mail',
      'ATTENDEE:mailto:a@example.com',
      'TRIGGER:-PT1H',
      'END:VALARM',
    );
    const { input, kept } = written({ ...ROW, uid: 'u' }, text);
    expect(input).toMatchObject({
      title: 'Report',
      status: 'in_progress',
      priority: 'high',
      due_at: '2026-12-01T16:00:00.000Z',
      reminders: [{ minutes_before: 60 }],
    });
    const row: TaskResourceRow = {
      ...ROW,
      uid: 'u',
      icalendar: JSON.parse(JSON.stringify(kept)),
      title: 'Report',
      status: 1,
      priority: 4,
      date: '2026-12-01',
      due_at: '2026-12-01T16:00:00.000Z',
      reminders: [{ minutes_before: 60 }],
    };
    const lines = linesOf(row);
    for (const line of text.split('\r\n').slice(4, -3)) expect(lines).toContain(line);
    const again = written(row, textOfTodo(todoOf(row), true));
    expect([again.input, again.kept]).toEqual([{}, kept]);
    // An edit of the API replaces only what it concerns.
    const edited = linesOf({ ...row, title: 'Other', date: '2026-12-02', due_at: null, reminders: [] });
    expect(edited).toContain('SUMMARY:Other');
    expect(edited).toContain('DUE;VALUE=DATE:20261202');
    expect(edited).toContain('LOCATION:Office');
    expect(edited.join('\n')).not.toMatch(/DTSTART|ACKNOWLEDGED/);
    expect(edited).toContain('ACTION:EMAIL');
    expect(linesOf({ ...row, status: 2 }).join('\n')).not.toContain('PERCENT-COMPLETE');
  });

  test('a rule that the task cannot have stays that of the program', () => {
    const text = textOf(
      'SUMMARY:Hourly',
      'DTSTART:20261201T090000Z',
      'DUE:20261201T100000Z',
      'RRULE:FREQ=HOURLY',
    );
    const { input, kept } = written({ ...ROW, uid: 'u' }, text);
    expect(input).not.toHaveProperty('recurrence');
    const row = {
      ...ROW,
      uid: 'u',
      title: 'Hourly',
      icalendar: kept,
      date: '2026-12-01',
      due_at: '2026-12-01T10:00:00.000Z',
    };
    expect(linesOf(row)).toContain('RRULE:FREQ=HOURLY');
  });

  test('a series has its first open date; one with very many dates of its own is a single task', () => {
    const series = (...lines: string[]) =>
      readOf('DTSTART:20261201T090000Z', 'DUE:20261201T100000Z', 'RRULE:FREQ=DAILY;COUNT=4', ...lines);
    const DATES = 'EXDATE:20261201T090000Z,20261203T090000Z';
    expect(series()).toMatchObject({ date: '2026-12-01', rrule: 'FREQ=DAILY;COUNT=4', place: null });
    expect(series(DATES)).toMatchObject({
      date: '2026-12-02',
      dueAt: '2026-12-02T10:00:00.000Z',
      rrule: 'FREQ=DAILY;COUNT=3',
      place: { start: '2026-12-02T11:00:00', scheduled: '2026-12-02' },
    });
    // A date without its hour, an added date, and one that cannot be read.
    expect(series('EXDATE;VALUE=DATE:20261201', 'EXDATE:').date).toBe('2026-12-02');
    expect(series(DATES, 'RDATE:20261130T090000Z')).toMatchObject({
      date: '2026-11-30',
      rrule: 'FREQ=DAILY;COUNT=4',
      place: { start: '2026-12-01T11:00:00', scheduled: '2026-11-30' },
    });
    // Without any date left, the series is as its rule says.
    const all = 'EXDATE:20261201T090000Z,20261202T090000Z,20261203T090000Z,20261204T090000Z';
    expect(series(all)).toMatchObject({ date: '2026-12-01', status: 'open', isOver: false });
    const hours = Array.from({ length: 2_000 }, (_, n) => `203001${10 + (n % 20)}T${1000 + n}00Z`);
    const many = `EXDATE:20261201T090000Z,${hours.join()}`;
    expect(series(many)).toMatchObject({ date: '2026-12-01', rrule: null });
  });

  test('a series that was stored before tasks had its dates stays as it was', () => {
    const text = textOf(
      'SUMMARY:Old',
      'DTSTART;VALUE=DATE:20261201',
      'DUE;VALUE=DATE:20261201',
      'RRULE:FREQ=DAILY',
      'EXDATE;VALUE=DATE:20261201',
    );
    const { todo, others } = singleTodo(Buffer.from(text));
    const properties = Object.fromEntries(Map.groupBy(todo.properties.slice(1), ({ name }) => name));
    const row = {
      ...ROW,
      uid: 'u',
      title: 'Old',
      date: '2026-12-01',
      icalendar: { properties, alarms: [], others: [...others] },
    };
    for (const line of text.split('\r\n').slice(5, -3)) expect(linesOf(row)).toContain(line);
    // The next write of a program makes it a series.
    expect(written(row, text).input).toMatchObject({
      date: '2026-12-02',
      recurrence: { rrule: 'FREQ=DAILY' },
    });
  });

  test.each([
    ['summer', '0310', '04', '08', '07', 15],
    ['winter', '0901', '11', '07', '08', 15],
  ])(
    'a series in UTC that moves into %s keeps its excluded and completed dates',
    (_, first, month, from, to, day) => {
      const at = (hour: string, number: number) => `2026${month}${number}T${hour}0000Z`;
      const todos = given(
        `DTSTART:2026${first}T${from}0000Z`,
        `DUE:2026${first}T${from}0000Z`,
        'RRULE:FREQ=DAILY',
        `EXDATE:${at(from, day)}`,
        'END:VTODO',
        'BEGIN:VTODO',
        'UID:u',
        `RECURRENCE-ID:${at(from, day + 1)}`,
        'STATUS:COMPLETED',
      );
      const values = readTodo(todos.todo, todos.others, clockOf([], BERLIN));
      const start = `2026-${first.slice(0, 2)}-${first.slice(2)}`;
      const row: TaskResourceRow = {
        ...ROW,
        date: `2026-${month}-01`,
        due_at: `2026-${month}-01T${to}:00:00.000Z`,
        recurrence: { rrule: 'FREQ=DAILY', from: 'schedule', start: `${start}T09:00:00`, scheduled: start },
        icalendar: keptOf(todos, values, valuesOf(ROW)),
      };
      const { todo, others } = todoOf(row);
      expect(formatComponent(todo)).toContain(`DTSTART:2026${month}01T${to}0000Z`);
      expect(formatComponent(todo)).toContain(`EXDATE:${at(to, day)}`);
      expect(others.map((other) => propertyOf(other, 'RECURRENCE-ID')?.value)).toEqual([at(to, day + 1)]);
    },
  );

  test('a stored start that cannot be read is that of the task', () => {
    const stored = [
      { name: 'DTSTART', parameters: [], value: 'never' },
      { name: 'DUE', parameters: [], value: '20261201T090000Z' },
    ];
    const row = {
      ...ROW,
      date: '2026-12-02',
      due_at: '2026-12-02T09:00:00.000Z',
      recurrence: { rrule: 'FREQ=DAILY', from: 'schedule' as const, start: '2026-12-01T10:00:00' },
      icalendar: {
        properties: Object.fromEntries(stored.map((each) => [each.name, [each]])),
        alarms: [],
        others: [],
      },
    };
    expect(linesOf(row)).toEqual(
      expect.arrayContaining([
        'DTSTART;TZID=Europe/Berlin:20261202T100000',
        'DUE;TZID=Europe/Berlin:20261202T100000',
      ]),
    );
  });

  test('values of programs', () => {
    expect(readOf('SUMMARY: ')).toMatchObject({ title: 'Untitled', status: 'open', priority: 'normal' });
    expect(readOf('COMPLETED:20261201T090000Z').status).toBe('done');
    expect(readOf('PERCENT-COMPLETE:100').status).toBe('done');
    expect([1, 4, 5, 6, 9, 0].map((n) => readOf(`PRIORITY:${n}`).priority)).toEqual([
      'high',
      'high',
      'medium',
      'low',
      'low',
      'normal',
    ]);
    expect(readOf('DTSTART;VALUE=DATE:20261201', 'DURATION:P2D')).toMatchObject({
      date: '2026-12-03',
      dueAt: null,
    });
    // Days of a duration are those of the clock; in UTC they have 24 hours.
    expect(readOf('DTSTART:20260328T090000', 'DURATION:P1D').dueAt).toBe('2026-03-29T07:00:00.000Z');
    expect(readOf('DTSTART:20260328T090000Z', 'DURATION:P1D').dueAt).toBe('2026-03-29T09:00:00.000Z');
    // A time without a zone is one of the zone of the task.
    expect(readOf('DUE:20261201T090000').dueAt).toBe('2026-12-01T08:00:00.000Z');
    expect(readOf('URL:mailto:a@example.com').url).toBeNull();
    expect(readOf('CATEGORIES:a,b', 'CATEGORIES:b,c').labels).toEqual(['a', 'b', 'c']);
    const alarm = (...lines: string[]) =>
      readOf('DTSTART:20261201T090000Z', 'BEGIN:VALARM', 'ACTION:AUDIO', ...lines, 'END:VALARM');
    expect(alarm('TRIGGER:-PT15M').reminders).toEqual([{ at: '2026-12-01T08:45:00.000Z' }]);
    expect(alarm('TRIGGER;RELATED=END:-P1D').reminders).toEqual([{ minutes_before: 1_440 }]);
    expect(alarm('TRIGGER;RELATED=END:PT5M').reminders).toEqual([]);
  });

  test('a new task has the fields of the text', () => {
    const text = given('SUMMARY:New', 'DESCRIPTION:a <b>\\nc', 'DUE;VALUE=DATE:20261201', 'RRULE:FREQ=DAILY');
    const values = readTodo(text.todo, [], clockOf([], BERLIN));
    expect(createdInput('folder', values, text)).toMatchObject({
      folder_id: 'folder',
      title: 'New',
      description: '<p style="white-space: pre-wrap">a &lt;b&gt;\nc</p>',
      date: '2026-12-01',
      recurrence: { rrule: 'FREQ=DAILY', from: 'schedule' },
    });
  });

  test('texts that are not one task have a code', () => {
    const codeOf = (text: string): unknown => {
      try {
        singleTodo(Buffer.from(text));
        return null;
      } catch (error) {
        return (error as { extras: { details: { code: string }[] } }).extras.details[0]?.code;
      }
    };
    const todo = textOf('SUMMARY:A');
    expect(codeOf(todo)).toBeNull();
    expect(codeOf('no calendar')).toBe('no_calendar');
    expect(codeOf(textOf('X-A;ENCODING=QUOTED-PRINTABLE:=00'))).toBe('invalid_value');
    expect(codeOf(todo.replaceAll('VTODO', 'VEVENT'))).toBe('unsupported_component');
    expect(codeOf(todo.replace('UID:u\r\n', ''))).toBe('not_one_task');
    expect(codeOf(todo.replace('PRODID', 'METHOD:REQUEST\r\nPRODID'))).toBe('method');
    expect(codeOf(todo.replace('END:VTODO', 'END:VTODO\r\nBEGIN:VTODO\r\nUID:v\r\nEND:VTODO'))).toBe(
      'not_one_task',
    );
    expect(codeOf(todo.replace('END:VTODO', 'END:VTODO\r\nBEGIN:VEVENT\r\nUID:u\r\nEND:VEVENT'))).toBe(
      'several_kinds',
    );
  });
});

describe('time ranges of tasks (RFC 4791, 9.9)', () => {
  const todoWith = (...lines: string[]): Component =>
    (parseCalendars(textOf(...lines))[0] as Component).components[0] as Component;
  const clock = clockOf([], 'UTC');
  const instant = (text: string) => Date.parse(text) / 1000;
  const isIn = (from: string | null, to: string | null, ...lines: string[]) =>
    occursIn({ todo: todoWith(...lines), others: [] }, clock, {
      from: from === null ? null : instant(from),
      to: to === null ? null : instant(to),
    });
  const DAY = ['2026-03-02T00:00:00Z', '2026-03-03T00:00:00Z'] as const;

  test('start and due', () => {
    expect(isIn(...DAY, 'DTSTART:20260301T000000Z', 'DUE:20260302T010000Z')).toBe(true);
    expect(isIn(...DAY, 'DTSTART:20260301T000000Z', 'DUE:20260302T000000Z')).toBe(false);
    expect(isIn(...DAY, 'DTSTART:20260302T000000Z', 'DURATION:PT0S')).toBe(true);
    expect(isIn(...DAY, 'DTSTART:20260303T000000Z')).toBe(false);
    expect(isIn(...DAY, 'DUE:20260303T000000Z')).toBe(true);
    expect(isIn(...DAY, 'DUE:20260302T000000Z')).toBe(false);
  });

  test('without dates, and without bounds', () => {
    expect(isIn(...DAY, 'SUMMARY:A')).toBe(true);
    expect(isIn(...DAY, 'CREATED:20260303T000000Z')).toBe(false);
    expect(isIn(...DAY, 'CREATED:20260101T000000Z', 'COMPLETED:20260302T100000Z')).toBe(true);
    expect(isIn(...DAY, 'COMPLETED:20260301T100000Z')).toBe(false);
    expect(isIn(null, DAY[0], 'DUE:20260301T000000Z')).toBe(true);
    expect(isIn(DAY[1], null, 'DUE:20260301T000000Z')).toBe(false);
  });

  test('instances of a series', () => {
    const weekly = ['DTSTART:20260105T090000Z', 'DUE:20260105T100000Z', 'RRULE:FREQ=WEEKLY'];
    expect(isIn(...DAY, ...weekly)).toBe(true);
    expect(isIn('2026-03-03T00:00:00Z', '2026-03-04T00:00:00Z', ...weekly)).toBe(false);
    expect(isIn('2026-03-03T00:00:00Z', null, ...weekly)).toBe(true);
    expect(isIn(...DAY, 'DUE;VALUE=DATE:20260105', 'RRULE:FREQ=WEEKLY;COUNT=2')).toBe(false);
  });

  test('a text with what cannot be read is found', () => {
    expect(occursIn({ todo: todoWith('DUE:never'), others: [] }, clock, { from: 0, to: 1 })).toBe(true);
  });
});
