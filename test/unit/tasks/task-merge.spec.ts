import {
  component,
  type Component,
  formatComponent,
  parseCalendars,
} from '../../../src/lib/icalendar/index.js';
import { nextOccurrence } from '../../../src/modules/tasks/model/task-recurrence.js';
import { createTask } from '../../../src/modules/tasks/model/rules/task-rules.js';
import type { TaskChange, TaskRow } from '../../../src/modules/tasks/model/rules/task-row.js';
import { mergeTask, stillKept, type TaskPatch } from '../../../src/modules/tasks/model/rules/task-merge.js';

const facts = {
  now: new Date('2026-06-01T12:00:00.000Z'),
  folderRole: null,
  endPosition: 'hEnd',
  inactive: [],
  timeZone: 'Europe/Paris',
};

function task(patch: TaskPatch = {}): TaskRow {
  const command = { id: 'task', userId: 'alice', patch: { title: 'Task', ...patch } };
  return (createTask(facts, command) as TaskChange).task;
}

const at = (text: string): Date => new Date(text);

/** The date and the moment of a task after a patch. */
function timesAfter(row: TaskRow, patch: TaskPatch): [string | null, string | undefined] {
  const { date, due_at } = mergeTask(row, patch);
  return [date, due_at?.toISOString()];
}

describe('the date and the moment of a task', () => {
  const timed = task({ due_at: at('2026-10-20T07:00:00.123Z') });
  const day = task({ date: '2026-10-20' });

  test('a moment decides the date, in the time zone of the task', () => {
    expect(timesAfter(day, { due_at: at('2026-10-20T23:30:00Z') })).toEqual([
      '2026-10-21',
      '2026-10-20T23:30:00.000Z',
    ]);
    expect(timesAfter(timed, { due_at: null })).toEqual(['2026-10-20', undefined]);
  });

  test('a date alone keeps the hour, also across the end of summer time', () => {
    expect(timesAfter(timed, { date: '2026-10-27' })).toEqual(['2026-10-27', '2026-10-27T08:00:00.123Z']);
    expect(timesAfter(day, { date: '2026-10-27' })).toEqual(['2026-10-27', undefined]);
    expect(timesAfter(timed, { date: null })).toEqual([null, undefined]);
  });

  test('a new date beside the old moment keeps the hour, and beside a new one it does not count', () => {
    const sentBack = { date: '2026-10-27', due_at: timed.due_at };
    expect(timesAfter(timed, sentBack)).toEqual(['2026-10-27', '2026-10-27T08:00:00.123Z']);
    const both = { date: '2026-10-27', due_at: at('2026-10-22T07:00:00Z') };
    expect(timesAfter(timed, both)).toEqual(['2026-10-22', '2026-10-22T07:00:00.000Z']);
  });

  test('a time zone changes the date of a moment, and not that of a day', () => {
    const late = task({ due_at: at('2026-10-20T20:00:00Z') });
    expect(timesAfter(late, { time_zone: 'Asia/Tokyo' })).toEqual(['2026-10-21', '2026-10-20T20:00:00.000Z']);
    expect(timesAfter(day, { time_zone: 'Asia/Tokyo' })).toEqual(['2026-10-20', undefined]);
  });

  test.each([
    ['1900-01-01T00:00:00.000Z', 'America/New_York', '1900-01-01'],
    ['9999-12-31T23:00:00.000Z', 'Asia/Tokyo', '9999-12-31'],
  ])('at %s in %s the date stays in the years that clients can send', (due, time_zone, date) => {
    expect(timesAfter(day, { due_at: at(due), time_zone })).toEqual([date, due]);
  });

  test('an hour of the last day does not leave the calendar', () => {
    const late = task({ due_at: at('2026-06-01T22:30:00Z'), time_zone: 'America/New_York' });
    expect(timesAfter(late, { date: '9999-12-31', time_zone: 'America/New_York' })).toEqual([
      '9999-12-31',
      '9999-12-31T23:30:00.000Z',
    ]);
    const evening = task({ due_at: at('2026-06-02T02:30:00Z'), time_zone: 'America/New_York' });
    expect(timesAfter(evening, { date: '9999-12-31' })).toEqual(['9999-12-31', '9999-12-31T23:59:59.999Z']);
  });
});

describe('the series of a task', () => {
  const weekly = { rrule: 'FREQ=WEEKLY', from: 'schedule' } as const;
  const timed = task({ due_at: at('2026-01-05T09:00:00Z'), recurrence: weekly });

  test('starts at the day and hour of the task when it is set', () => {
    expect(timed.recurrence).toEqual({ ...weekly, start: '2026-01-05T10:00:00', scheduled: '2026-01-05' });
    expect(task({ date: '2026-01-05', recurrence: weekly }).recurrence).toMatchObject({
      start: '2026-01-05',
    });
    const other = mergeTask(timed, { recurrence: { ...weekly, rrule: 'FREQ=DAILY' }, date: '2026-01-07' });
    expect(other.recurrence).toEqual({
      rrule: 'FREQ=DAILY',
      from: 'schedule',
      start: '2026-01-07T10:00:00',
      scheduled: '2026-01-07',
    });
  });

  test('stays with a new day, and takes a new hour', () => {
    expect(mergeTask(timed, { date: '2026-01-06' }).recurrence).toEqual(timed.recurrence);
    expect(mergeTask(timed, { recurrence: weekly, title: 'x' }).recurrence).toEqual(timed.recurrence);
    expect(mergeTask(timed, { due_at: at('2026-01-05T11:00:00Z') }).recurrence).toEqual({
      ...timed.recurrence,
      start: '2026-01-05T12:00:00',
    });
    expect(mergeTask(timed, { recurrence: null }).recurrence).toBeNull();
  });
});

describe('the other fields', () => {
  test('that a patch does not have stay; null clears those that may be empty', () => {
    const row = task({ description: '<p>d</p>', group: 'g', labels: ['l'] });
    expect(mergeTask(row, {})).toEqual(row);
    expect(mergeTask(row, { description: null, group: null, labels: [] })).toMatchObject({
      description: null,
      group_name: null,
      labels: [],
    });
  });

  test('a new hour or zone is that of the series; one that is sent back is not', () => {
    const recurrence = { rrule: 'FREQ=DAILY', from: 'schedule' } as const;
    const place = { start: '2026-10-20T09:00:00', scheduled: '2026-10-21', hour: 'T07:00:00' };
    const added = task({ due_at: at('2026-10-21T05:00:00Z'), recurrence: { ...recurrence, ...place } });
    const after = (patch: TaskPatch) => mergeTask(added, patch).recurrence;
    expect(after({ due_at: at('2026-10-21T06:00:00Z') })).toEqual({
      ...recurrence,
      start: '2026-10-20T08:00:00',
      scheduled: '2026-10-21',
    });
    expect(after({ time_zone: 'UTC' })).toEqual({
      ...recurrence,
      start: '2026-10-20T07:00:00',
      scheduled: '2026-10-21',
      hour: 'T05:00:00',
    });
    expect(after({ due_at: added.due_at, time_zone: added.time_zone })).toEqual(added.recurrence);
  });
});

describe('a series in a new time zone, in which its moment is on another day,', () => {
  /** The moments of the occurrences after the first, in Berlin until the zone changes. */
  const momentsAfter = (rrule: string, due: string, time_zone: string): string[] => {
    const row = task({
      due_at: at(due),
      time_zone: 'Europe/Berlin',
      recurrence: { rrule, from: 'schedule' },
    });
    let current = mergeTask(row, { time_zone });
    return [1, 2].map(() => {
      const { recurrence, date, due_at } = current;
      const repeating = { ...recurrence!, timeZone: time_zone, date: date!, dueAt: due_at };
      const next = nextOccurrence(repeating, at(due))!;
      const place = { ...recurrence!, scheduled: next.date };
      current = { ...current, date: next.date, due_at: next.dueAt, recurrence: place };
      return next.dueAt!.toISOString().slice(0, 16);
    });
  };
  test.each([
    ['FREQ=DAILY', '2026-05-04T21:00:00Z', 'Asia/Tokyo', ['2026-05-05T21:00', '2026-05-06T21:00']],
    ['FREQ=WEEKLY', '2026-05-04T21:00:00Z', 'Asia/Tokyo', ['2026-05-11T21:00', '2026-05-18T21:00']],
    // Monday stays Monday: the one of the rule, at its hour in Tokyo.
    ['FREQ=WEEKLY;BYDAY=MO', '2026-05-04T21:00:00Z', 'Asia/Tokyo', ['2026-05-10T21:00', '2026-05-17T21:00']],
    [
      'FREQ=WEEKLY;BYDAY=MO',
      '2026-05-03T22:30:00Z',
      'America/New_York',
      ['2026-05-11T22:30', '2026-05-18T22:30'],
    ],
    [
      'FREQ=MONTHLY;BYMONTHDAY=4',
      '2026-05-04T21:00:00Z',
      'Asia/Tokyo',
      ['2026-06-03T21:00', '2026-07-03T21:00'],
    ],
    [
      'FREQ=MONTHLY;BYDAY=1MO',
      '2026-05-04T21:00:00Z',
      'Asia/Tokyo',
      ['2026-05-31T21:00', '2026-07-05T21:00'],
    ],
  ])('%s from %s in %s', (rrule, due, zone, moments) => {
    expect(momentsAfter(rrule, due, zone)).toEqual(moments);
  });

  test.each(['FREQ=WEEKLY;BYDAY=MO', 'FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=4'])('%s keeps its days', (rrule) => {
    const recurrence = { rrule, from: 'schedule' } as const;
    const row = task({ due_at: at('2026-05-04T21:00:00Z'), time_zone: 'Europe/Berlin', recurrence });
    expect(mergeTask(row, { time_zone: 'Asia/Tokyo' })).toMatchObject({
      date: '2026-05-05',
      recurrence: { rrule, start: '2026-05-04T06:00:00', scheduled: '2026-05-04' },
    });
  });
});

describe('what programs stored of a series', () => {
  const RULE = { rrule: 'FREQ=DAILY', from: 'schedule' } as const;
  const BERLIN = 'Europe/Berlin';
  /** A task with these properties, and the values that it has after a patch, by name. */
  const keptAfter = (row: TaskRow, patch: TaskPatch, ...lines: string[]): Record<string, string[]> => {
    const text = `BEGIN:VCALENDAR\r\nBEGIN:VTODO\r\n${lines.join('\r\n')}\r\nEND:VTODO\r\nEND:VCALENDAR\r\n`;
    const { properties } = (parseCalendars(text)[0] as Component).components[0] as Component;
    const byName = Object.fromEntries(Map.groupBy(properties, ({ name }) => name));
    const old = { ...row, icalendar: { properties: byName, alarms: [], others: [] } };
    const kept = stillKept(mergeTask(old, patch), {}, old)?.properties ?? {};
    const linesIn = (name: string): string[] =>
      formatComponent(component('VTODO', kept[name])).split('\r\n').slice(1, -2);
    return Object.fromEntries(Object.keys(kept).map((name) => [name, linesIn(name)]));
  };
  const lines = (name: string, ...values: string[]): string[] => values.map((value) => name + value);

  test('stays when another field changes, also of a start in the gap of a clock change', () => {
    const row = task({
      due_at: at('2026-03-29T01:30:00Z'),
      time_zone: BERLIN,
      recurrence: { ...RULE, start: '2026-03-29T02:30:00', scheduled: '2026-03-29' },
    });
    const kept = keptAfter(row, { title: 'Other' }, 'EXDATE;TZID=Europe/Berlin:20260401T023000');
    expect(kept['EXDATE']).toEqual(lines('EXDATE', ';TZID=Europe/Berlin:20260401T023000'));
  });

  const winter = task({ due_at: at('2026-01-05T08:00:00Z'), time_zone: BERLIN, recurrence: RULE });

  test('names its instances at their hour in a new zone, whose clock changes on other days', () => {
    const kept = keptAfter(
      winter,
      { time_zone: 'Asia/Tokyo' },
      'DTSTART;TZID=Europe/Berlin:20260105T083000',
      'DUE;TZID=Europe/Berlin:20260105T090000',
      'EXDATE;TZID=Europe/Berlin:20260706T083000,20261106T083000',
      'EXDATE:20260707T063000Z',
      'EXDATE;TZID=America/New_York:20260708T023000',
      'EXDATE:20260709T083000',
      'EXDATE;VALUE=DATE:20260710',
    );
    expect(kept).toEqual({
      DTSTART: lines('DTSTART', ';TZID=Asia/Tokyo:20260105T163000'),
      DUE: lines('DUE', ';TZID=Asia/Tokyo:20260105T170000'),
      EXDATE: lines(
        'EXDATE',
        ';TZID=Asia/Tokyo:20260706T163000,20261106T163000',
        ':20260707T073000Z',
        ';TZID=Asia/Tokyo:20260708T163000',
        ':20260709T163000',
        ';VALUE=DATE:20260710',
      ),
    });
  });

  test('of a series in UTC, stays as far from its start', () => {
    const series = ['DUE:20260105T080000Z', 'EXDATE:20260706T080000Z'];
    expect(keptAfter(winter, { time_zone: 'Asia/Tokyo' }, ...series)).toEqual({
      DUE: lines('DUE', ':20260105T080000Z'),
      EXDATE: lines('EXDATE', ':20260706T080000Z'),
    });
    const later = { time_zone: 'Asia/Tokyo', due_at: at('2026-01-05T10:00:00Z') };
    expect(keptAfter(winter, later, ...series)['EXDATE']).toEqual(lines('EXDATE', ':20260706T100000Z'));
  });
});
