import { Zone } from '../../../src/lib/recurrence/index.js';
import { TaskClock } from '../../../src/modules/tasks/schedule/task-clock.js';
import { TestApp, type TestUser } from '../../support/app.ts';

/** RFC 3339 of a wall time in a zone, by the rules of Node. */
const instant = (zone: string, wall: string): string =>
  new Date(Zone.of(zone).toInstant(Date.parse(`${wall}Z`) / 1000) * 1000).toISOString();

// Zones whose rules changed lately, and names that PostgreSQL reads as fixed offsets.
const ZONES = [
  'America/Edmonton',
  'Africa/Casablanca',
  'CET',
  'EET',
  'MET',
  'WET',
  'Europe/Kyiv',
  'Australia/Lord_Howe',
];

describe('tasks follow the time zones of Node', () => {
  let app: TestApp;
  let alice: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(() => app?.stop());

  const make = async (fields: object): Promise<any> => {
    const { status, body } = await alice.api.post('/tasks', { title: 'Task', ...fields });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.task;
  };
  const change = async (id: string, fields: object): Promise<any> => {
    const { status, body } = await alice.api.patch(`/tasks/${id}`, fields);
    expect([status, body.error]).toEqual([200, undefined]);
    return body.task;
  };
  const overdueAt = async (id: string): Promise<string> =>
    (await app.sql('SELECT overdue_at FROM tasks WHERE id = $1', [id]))[0].overdue_at.toISOString();

  test.each(ZONES)('the day of a task in %s', async (time_zone) => {
    for (const [wall, date] of [
      ['2027-06-15T23:30:00', '2027-06-15'],
      ['2028-01-16T00:30:00', '2028-01-16'],
    ]) {
      const task = await make({ due_at: instant(time_zone, wall!), time_zone });
      expect([task.time_zone, task.date]).toEqual([time_zone, date]);
    }
    const { id } = await make({ date: '2027-06-15', time_zone });
    expect(await overdueAt(id)).toBe(instant(time_zone, '2027-06-16T00:00:00'));
  });

  test.each(ZONES)('a new date of a task in %s keeps the hour', async (time_zone) => {
    const { id } = await make({ due_at: instant(time_zone, '2027-01-11T09:00:00'), time_zone });
    // Another zone is the one that the user needed last.
    await make({ date: '2027-01-01', time_zone: 'Asia/Tokyo' });
    expect((await change(id, { date: '2031-07-12' })).due_at).toBe(instant(time_zone, '2031-07-12T09:00:00'));
    expect((await change(id, { time_zone: 'Asia/Tokyo' })).date).toMatch(/^2031-07-1[23]$/);
    expect((await change(id, { status: 'in_progress' })).status).toBe('in_progress');
  });

  test.each(ZONES)('the next instance of a weekly task in %s', async (time_zone) => {
    const { id } = await make({
      due_at: instant(time_zone, '2027-06-07T09:00:00'),
      time_zone,
      recurrence: { rrule: 'FREQ=WEEKLY' },
    });
    const { next_task_id } = await change(id, { done: true });
    const { body } = await alice.api.get(`/tasks/${next_task_id}`);
    expect(body.task.due_at).toBe(instant(time_zone, '2027-06-14T09:00:00'));
  });

  test('stored moments follow changed rules', async () => {
    const time_zone = 'America/Edmonton';
    const date = new Date(Date.now() + 40 * 86_400_000).toISOString().slice(0, 10);
    const reminders = [{ minutes_before: 60 }];
    const { id } = await make({ date, time_zone, reminders });
    const timed = await make({ due_at: `${date}T15:00:00Z`, time_zone, reminders });
    const ids = [id, timed.id];
    const moments = () =>
      app.sql(
        `SELECT overdue_at, next_due_at, next_reminder_at, due_stage, revision FROM tasks
          WHERE id = ANY ($1) ORDER BY array_position($1::uuid[], id)`,
        [ids],
      );
    const before = await moments();
    const seqs = () =>
      app.sql('SELECT task_id, seq FROM task_members WHERE task_id = ANY ($1) ORDER BY seq', [ids]);
    const feeds = await seqs();
    /** The number of changed tasks in all cells. */
    const follow = async () =>
      (await app.inCells(() => app.get(TaskClock).followZones())).reduce((sum, count) => sum + count, 0);
    // As if they were written by other rules.
    await app.sql(
      `UPDATE tasks SET overdue_at = overdue_at + interval '1 hour', next_due_at = next_due_at + interval '1 hour',
              next_reminder_at = next_reminder_at + interval '1 hour' WHERE id = ANY ($1)`,
      [ids],
    );
    expect(await follow()).toBe(2);
    expect(await moments()).toEqual(before);
    expect(await seqs()).toEqual(feeds);
    expect(await follow()).toBe(0);
    // A reminder that is due is sent, and a date that has passed by the new rules is reported.
    await app.sql(
      `UPDATE tasks SET next_reminder_at = now() - interval '1 second', due_at = now() - interval '1 minute' WHERE id = $1`,
      [timed.id],
    );
    expect(await follow()).toBe(1);
    const [row] = await app.sql(
      'SELECT next_reminder_at < now() AS reminds, next_due_at < now() AS due, due_stage FROM tasks WHERE id = $1',
      [timed.id],
    );
    expect(row).toEqual({ reminds: true, due: true, due_stage: 1 });
  });

  test('a task at the ends of the calendar', async () => {
    for (const due_at of ['1900-01-01T00:00:00.000Z', '9999-12-31T22:00:00.000Z'])
      expect((await make({ due_at, time_zone: 'America/Edmonton' })).due_at).toBe(due_at);
  });

  test('without a zone in the request, the zone of the profile', async () => {
    const zone = 'Pacific/Auckland';
    const note = (await alice.api.post('/notes', { title: 'x' })).body.note;
    expect((await make({ date: '2027-01-04' })).time_zone).toBe('UTC');
    expect((await alice.api.put('/settings/profile', { timezone: zone })).status).toBe(200);
    const own = await make({ date: '2027-01-04' });
    expect([own.time_zone, await overdueAt(own.id)]).toEqual([zone, instant(zone, '2027-01-05T00:00:00')]);
    const linked = await alice.api.post(`/notes/${note.id}/task`, { date: '2027-01-04' });
    expect(linked.body.task.time_zone).toBe(zone);
    expect((await make({ date: '2027-01-04', time_zone: 'europe/oslo' })).time_zone).toBe('Europe/Oslo');
  });
});
