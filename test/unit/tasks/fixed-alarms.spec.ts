import { formatComponent } from '../../../src/lib/icalendar/index.js';
import { nextTodo } from '../../../src/modules/tasks/model/next-todo.js';
import type { TaskRow } from '../../../src/modules/tasks/model/rules/task-row.js';
import { berlin, putAgain, putTodo } from './stored-todos.ts';

const alarm = (...lines: string[]) => ['BEGIN:VALARM', 'ACTION:DISPLAY', ...lines, 'END:VALARM'];

/** Alarms and reminders at a moment: they follow the due date of their task. */
describe('fixed reminders of a repeated task', () => {
  const next = (task: TaskRow, date: string, dueAt: string | null) => {
    const { icalendar, reminders } = nextTodo(task, { date, dueAt: dueAt === null ? null : new Date(dueAt) });
    return { reminders, alarms: (icalendar?.alarms ?? []).map((each) => formatComponent(each)) };
  };

  test('keep their time of day over a change of the clock', () => {
    const task = putTodo([
      'SUMMARY:x',
      `DUE${berlin('20270327T190000')}`,
      `DTSTART${berlin('20270327T190000')}`,
      'RRULE:FREQ=DAILY',
      ...alarm('UID:own', 'DESCRIPTION:Stated', 'TRIGGER;VALUE=DATE-TIME:20270327T080000Z'),
    ]);
    expect(task.reminders).toEqual([{ at: '2027-03-27T08:00:00.000Z' }]);
    const { reminders, alarms } = next(task, '2027-03-28', '2027-03-28T17:00:00Z');
    expect(reminders).toEqual([{ at: '2027-03-28T07:00:00.000Z' }]);
    expect(alarms).toHaveLength(1);
    expect(alarms[0]).toContain('TRIGGER;VALUE=DATE-TIME:20270328T070000Z\r\n');
    expect(alarms[0]).toContain('UID:own\r\n');
  });

  test('of days move by days', () => {
    const task = putTodo([
      'SUMMARY:x',
      'DUE;VALUE=DATE:20270327',
      'DTSTART;VALUE=DATE:20270327',
      'RRULE:FREQ=WEEKLY',
      ...alarm('TRIGGER;VALUE=DATE-TIME:20270326T190000Z'),
    ]);
    expect(next(task, '2027-04-03', null).reminders).toEqual([{ at: '2027-04-02T18:00:00.000Z' }]);
  });

  test('of a snoozed alarm end with their occurrence', () => {
    const task = putTodo([
      'SUMMARY:x',
      `DUE${berlin('20270301T190000')}`,
      `DTSTART${berlin('20270301T190000')}`,
      'RRULE:FREQ=DAILY',
      ...alarm('UID:one', 'TRIGGER;VALUE=DATE-TIME:20270301T180000Z'),
      ...alarm('UID:two', 'RELATED-TO;RELTYPE=SNOOZE:one', 'TRIGGER;VALUE=DATE-TIME:20270301T183000Z'),
    ]);
    expect(task.reminders).toHaveLength(2);
    const { reminders, alarms } = next(task, '2027-03-02', '2027-03-02T18:00:00Z');
    expect(reminders).toEqual([{ at: '2027-03-02T18:00:00.000Z' }]);
    expect(alarms.map((text) => /UID:(.*)\r/.exec(text)?.[1])).toEqual(['one']);
  });

  test('are those of the first open occurrence, however its program writes the series', () => {
    const lines = [
      'SUMMARY:x',
      `DUE${berlin('20270301T190000')}`,
      `DTSTART${berlin('20270301T190000')}`,
      'RRULE:FREQ=DAILY',
      `EXDATE${berlin('20270301T190000')}`,
      ...alarm('UID:own', 'TRIGGER;VALUE=DATE-TIME:20270301T180000Z'),
    ];
    const task = putTodo(lines);
    expect([task.date, task.reminders]).toEqual(['2027-03-02', [{ at: '2027-03-02T18:00:00.000Z' }]]);
    expect(putAgain(task, (text) => text)).toBe(task);
    // A reminder that the API adds is written as the program writes its own.
    const more = { ...task, reminders: [...task.reminders, { at: '2027-03-02T12:00:00.000Z' }] };
    const seen: string[] = [];
    expect(
      putAgain(more, (text) => {
        seen.push(...[...text.matchAll(/TRIGGER.*:(.*)\r/g)].map(([, value]) => value as string));
        return text;
      }),
    ).toBe(more);
    expect(seen.toSorted()).toEqual(['20270301T120000Z', '20270301T180000Z']);
  });
});
