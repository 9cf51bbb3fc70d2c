import {
  followedMoments,
  momentsOf,
  nextReminder,
  passDue,
  recipientsOf,
  type TimedTask,
} from '../../../src/modules/tasks/model/rules/task-times.js';
import { timestampText } from '../../../src/modules/tasks/model/rules/task-row.js';

const now = new Date('2026-06-01T12:00:00Z');

const timed = (fields: Partial<TimedTask> = {}): TimedTask => ({
  status: 0,
  date: '2026-06-10',
  due_at: null,
  time_zone: 'Asia/Tokyo',
  reminders: [],
  deleted_at: null,
  ...fields,
});

describe('the moments of a task', () => {
  test('of a day without an hour begin and end with the day in its time zone', () => {
    const reminders = [{ minutes_before: 60 }];
    expect(momentsOf(timed({ reminders }), now)).toEqual({
      overdue_at: new Date('2026-06-10T15:00:00Z'),
      next_due_at: new Date('2026-06-09T15:00:00Z'),
      due_stage: 1,
      next_reminder_at: new Date('2026-06-09T14:00:00Z'),
    });
  });

  test('of a day that has begun are its end', () => {
    expect(momentsOf(timed({ date: '2026-06-01' }), now)).toMatchObject({
      next_due_at: new Date('2026-06-01T15:00:00Z'),
      due_stage: 2,
    });
  });

  test.each([
    ['a day that has passed', { date: '2026-05-31' }],
    ['no date', { date: null }],
    ['a task that is done', { status: 2 }],
    ['a task that is cancelled', { status: 3 }],
    ['a task in the trash', { deleted_at: now }],
  ])('%s has no further events', (_, fields) => {
    expect(momentsOf(timed(fields), now)).toMatchObject({
      next_due_at: null,
      due_stage: 0,
      next_reminder_at: null,
    });
  });

  test('an hour decides when a task is due and overdue', () => {
    const due_at = new Date('2026-06-10T07:30:00Z');
    expect(momentsOf(timed({ due_at }), now)).toMatchObject({ overdue_at: due_at, next_due_at: due_at });
  });

  test('a zone that this runtime does not know is read as UTC', () => {
    expect(momentsOf(timed({ time_zone: 'Moon/Base' }), now).overdue_at).toEqual(
      new Date('2026-06-11T00:00:00Z'),
    );
  });

  test('the end of the last day is in the year 10000, as PostgreSQL reads it', () => {
    const { overdue_at } = momentsOf(timed({ date: '9999-12-31', time_zone: 'UTC' }), now);
    expect(timestampText(overdue_at)).toBe('10000-01-01T00:00:00.000Z');
  });

  test('reminders before a due date need one, the others do not', () => {
    const reminders = [{ minutes_before: 5 }, { at: '2026-06-02T00:00:00Z' }, { at: '2026-06-01T12:00:00Z' }];
    expect(nextReminder(timed({ date: null, reminders }), now)).toEqual(new Date('2026-06-02T00:00:00Z'));
    expect(nextReminder(timed({ date: null, reminders: reminders.slice(0, 1) }), now)).toBeNull();
  });

  test('the due date is reported, then its end, with the assignees or the creator', () => {
    const task = { ...timed(), ...momentsOf(timed(), now) };
    const due = passDue(task);
    expect(due).toEqual({
      type: 'task.due',
      data: { date: '2026-06-10', due_at: '2026-06-09T15:00:00.000Z' },
      next: { next_due_at: new Date('2026-06-10T15:00:00Z'), due_stage: 2 },
    });
    expect(passDue({ ...task, ...due.next })).toEqual({
      type: 'task.overdue',
      data: { date: '2026-06-10' },
      next: { next_due_at: null, due_stage: 0 },
    });
    expect(recipientsOf({ creator_id: 'c', assignee_ids: [] })).toEqual(['c']);
    expect(recipientsOf({ creator_id: 'c', assignee_ids: ['a'] })).toEqual(['a']);
  });

  test('rules of zones that have changed move the moments, except of events that are due', () => {
    const task = timed({ reminders: [{ minutes_before: 60 }] });
    const moments = momentsOf(task, now);
    expect(followedMoments({ ...task, ...moments }, now)).toBeNull();
    const moved = { ...task, ...moments, next_due_at: new Date('2026-06-09T16:00:00Z') };
    expect(followedMoments(moved, now)).toEqual(moments);
    const reminding = { ...moved, next_reminder_at: new Date('2026-06-01T11:59:00Z') };
    expect(followedMoments(reminding, now)?.next_reminder_at).toEqual(reminding.next_reminder_at);
    const passed = { ...moved, date: '2026-05-20' };
    expect(followedMoments(passed, now)).toMatchObject({
      due_stage: 1,
      next_due_at: new Date('2026-05-19T15:00:00Z'),
    });
  });
});
