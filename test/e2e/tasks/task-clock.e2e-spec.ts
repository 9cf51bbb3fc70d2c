import pg from 'pg';
import { TaskClock } from '../../../src/modules/tasks/schedule/task-clock.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { inTransaction } from '../../support/database/locks.ts';
import { purgeTask } from '../../support/domains/trash.ts';
import { until } from '../../support/until.ts';

describe('tasks and time', () => {
  let app: TestApp;
  let other: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    other = await TestApp.start({}, app.databaseUrl);
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    // Delivered events leave the outbox, so a copy of each is kept beside it.
    await app.sql('CREATE TABLE outbox_seen (LIKE outbox)');
    await app.sql(`CREATE FUNCTION see_event() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO outbox_seen SELECT NEW.*; RETURN NULL; END $$`);
    await app.sql('CREATE TRIGGER seen AFTER INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION see_event()');
  });
  afterAll(async () => {
    await other?.stop();
    await app?.stop();
  });

  const make = async (fields: object = {}): Promise<any> => {
    const { status, body } = await alice.api.post('/tasks', { title: 'Task', ...fields });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.task;
  };
  const complete = async (id: string, body: object = { done: true }) => {
    const { status, body: response } = await alice.api.patch(`/tasks/${id}`, body);
    expect([status, response.error]).toEqual([200, undefined]);
    return response.task;
  };
  const read = async (id: string) => (await alice.api.get(`/tasks/${id}`)).body.task;
  const events = async (id: string, ...types: string[]) =>
    app.sql(
      `SELECT type, payload FROM outbox_seen WHERE payload->>'task_id' = $1 AND type = ANY ($2) ORDER BY id`,
      [id, types],
    );

  describe('repeating', () => {
    test('completing creates the next task with the same content, at its next date', async () => {
      const { folder } = (await alice.api.post('/task_folders', { name: 'f', members: [bob.id] })).body;
      const task = await make({
        due_at: '2026-10-20T07:00:00Z',
        time_zone: 'Europe/Paris',
        recurrence: { rrule: 'FREQ=WEEKLY;BYDAY=TU' },
        reminders: [{ minutes_before: 10 }, { at: '2026-10-20T05:00:00Z' }],
        assignees: [bob.id],
        labels: ['l'],
        group: 'g',
        description: '<p>d</p>',
        folder_id: folder.id,
        references: [{ type: 'url', url: 'https://example.com/' }],
      });
      await alice.api.post(`/tasks/${task.id}/subtasks`, {
        title: 'step',
        done: true,
        date: '2026-10-19',
        assignee: bob.id,
      });
      await alice.api.post(`/tasks/${task.id}/comments`, { body: 'c' });
      const done = await complete(task.id);
      expect([done.status, done.date]).toEqual(['done', '2026-10-20']);
      const next = await read(done.next_task_id);
      // Nine in the morning in Paris, before and after the end of summer time.
      expect(next).toMatchObject({
        title: 'Task',
        status: 'open',
        completed_at: null,
        date: '2026-10-27',
        due_at: '2026-10-27T08:00:00.000Z',
        recurrence: task.recurrence,
        // Seven in the morning, as before.
        reminders: [{ minutes_before: 10 }, { at: '2026-10-27T06:00:00.000Z' }],
        assignees: task.assignees,
        labels: ['l'],
        group: 'g',
        description: '<p>d</p>',
        folder_id: folder.id,
        references: task.references,
        comments_count: 0,
        revision: 1,
        next_task_id: null,
      });
      expect(next.subtasks).toMatchObject([
        { title: 'step', done: false, date: '2026-10-26', assignee: { id: bob.id } },
      ]);
      expect(next.subtasks[0].id).not.toBe(done.subtasks[0].id);
      expect((await bob.api.get(`/tasks/${next.id}`)).body.task.role).toBe('editor');
      expect((await events(task.id, 'task.completed'))[0].payload.next_task_id).toBe(next.id);
      expect(await events(next.id, 'task.created', 'task.assigned')).toMatchObject([
        { payload: { repeats: task.id } },
        { payload: { added: [bob.id] } },
      ]);
    });

    describe('and opened again', () => {
      const repeated = async (fields: object = {}) => {
        const task = await make({ date: '2026-01-05', recurrence: 'FREQ=DAILY', ...fields });
        await alice.api.post(`/tasks/${task.id}/subtasks`, { title: 'Step', date: '2026-01-05' });
        return { id: task.id, next: (await complete(task.id)).next_task_id };
      };
      const removals = async (user: TestUser, cursor: string) =>
        (await user.api.get(`/tasks/changes?cursor=${cursor}`)).body.tasks.filter(
          (item: any) => item.removed,
        );
      const cursorOf = async (user: TestUser) =>
        (await user.api.get('/tasks/changes?limit=500')).body.cursor as string;

      test.each([{ done: false }, { status: 'in_progress' }])(
        'purges the next task, which %j makes needless; the next completion makes it again',
        async (patch) => {
          const { note } = (await alice.api.post('/notes', { title: 'n' })).body;
          const { id, next } = await repeated({
            references: [{ type: 'note', id: note.id }],
            assignees: [bob.id],
          });
          const cursors = [await cursorOf(alice), await cursorOf(bob)] as const;
          expect((await complete(id, patch)).next_task_id).toBeNull();
          expect((await alice.api.get(`/tasks/${next}`)).status).toBe(404);
          expect((await alice.api.post(`/tasks/${next}/restore`)).status).toBe(404);
          for (const [n, user] of [alice, bob].entries())
            expect(await removals(user, cursors[n]!)).toMatchObject([{ id: next, reason: 'purged' }]);
          expect(await events(next, 'task.deleted', 'task.purged')).toMatchObject([
            { type: 'task.deleted', payload: { revision: 1, actor_id: alice.id } },
            { type: 'task.purged', payload: { revision: 1, actor_id: alice.id } },
          ]);
          const { next_task_id: again } = await complete(id);
          expect(again).not.toBe(next);
          expect(await read(again)).toMatchObject({ date: '2026-01-06', subtasks: [{ title: 'Step' }] });
        },
      );

      test('a cancelled task keeps its next one', async () => {
        const { id, next } = await repeated();
        expect((await complete(id, { status: 'cancelled' })).next_task_id).toBe(next);
        expect((await read(next)).date).toBe('2026-01-06');
      });

      test('a user who cannot see the next task leaves it', async () => {
        const { id, next } = await repeated({ assignees: [bob.id] });
        await alice.api.patch(`/tasks/${next}`, { assignees: [] });
        // Otherwise the change of the assignees would keep it.
        await app.sql('UPDATE tasks SET revision = 1 WHERE id = $1', [next]);
        expect((await bob.api.patch(`/tasks/${id}`, { done: false })).status).toBe(200);
        expect((await read(next)).date).toBe('2026-01-06');
      });

      test('leaves no task, step or history behind, however often', async () => {
        const { id } = await repeated();
        const kept = async () =>
          app.sql(
            `SELECT (SELECT count(*)::int FROM tasks) AS tasks, (SELECT count(*)::int FROM subtasks) AS steps,
                    (SELECT count(*)::int FROM task_activity WHERE task_id <> $1) AS history`,
            [id],
          );
        const before = await kept();
        for (let turn = 0; turn < 3; turn += 1) {
          await complete(id, { done: false });
          await complete(id);
        }
        expect(await kept()).toEqual(before);
      });

      test.each<[string, (id: string) => Promise<unknown>]>([
        ['got a step', (id) => alice.api.post(`/tasks/${id}/subtasks`, { title: 'Late' })],
        [
          'lost a step',
          async (id) => alice.api.delete(`/tasks/${id}/subtasks/${(await read(id)).subtasks[0].id}`),
        ],
      ])('purges the untouched next task of a completed task that %s meanwhile', async (_, change) => {
        const { id, next } = await repeated();
        await change(id);
        expect((await complete(id, { done: false })).next_task_id).toBeNull();
        expect((await alice.api.get(`/tasks/${next}`)).status).toBe(404);
      });

      test.each<[string, (next: string) => Promise<unknown>]>([
        ['edited', (next) => alice.api.patch(`/tasks/${next}`, { title: 'Mine' })],
        ['completed', (next) => complete(next)],
        ['commented on', (next) => alice.api.post(`/tasks/${next}/comments`, { body: 'c' })],
        ['given a step', (next) => alice.api.post(`/tasks/${next}/subtasks`, { title: 's' })],
        [
          'relieved of a step',
          async (next) => alice.api.delete(`/tasks/${next}/subtasks/${(await read(next)).subtasks[0].id}`),
        ],
        ['deleted', (next) => alice.api.delete(`/tasks/${next}`)],
        [
          'a step of which is done',
          async (next) => {
            const [step] = (await read(next)).subtasks;
            await alice.api.put(`/tasks/${next}/subtasks/${step.id}`, { ...step, done: true });
          },
        ],
      ])('keeps a next task that was %s', async (_, touch) => {
        const { id, next } = await repeated();
        await touch(next);
        expect((await complete(id, { done: false })).next_task_id).toBe(next);
        expect((await complete(id)).next_task_id).toBe(next);
      });
    });

    test('its steps have dates that clients can send back', async () => {
      const { id } = await make({ date: '2026-01-05', recurrence: 'FREQ=WEEKLY' });
      await alice.api.post(`/tasks/${id}/subtasks`, { title: 'at any time', date: '9999-12-31' });
      await alice.api.post(`/tasks/${id}/subtasks`, { title: 'without a date' });
      const { id: next, subtasks } = await read((await complete(id)).next_task_id);
      expect(subtasks).toMatchObject([{ date: '9999-12-31' }, { date: null }]);
      const { status } = await alice.api.put(`/tasks/${next}/subtasks/${subtasks[0].id}`, subtasks[0]);
      expect(status).toBe(200);
    });

    test('once, however often it is completed', async () => {
      const { id } = await make({ date: '2026-01-05', title: 'Once', recurrence: 'FREQ=DAILY' });
      const { next_task_id } = await complete(id);
      expect((await complete(id)).next_task_id).toBe(next_task_id);
      await complete(id, { done: false });
      await complete(id);
      expect(
        await app.sql(
          `SELECT count(*)::int AS n FROM tasks
            WHERE recurrence IS NOT NULL AND title = 'Once' AND date = '2026-01-06'`,
        ),
      ).toEqual([{ n: 1 }]);
    });

    test('ends when the rule does', async () => {
      const { id } = await make({ date: '2026-01-05', recurrence: 'FREQ=DAILY;COUNT=2' });
      const last = await read((await complete(id)).next_task_id);
      expect([last.date, (await complete(last.id)).next_task_id]).toEqual(['2026-01-06', null]);
    });

    test('uses the changes of the completing request', async () => {
      const { id } = await make({ date: '2026-01-05' });
      const done = await complete(id, { done: true, recurrence: 'FREQ=MONTHLY', date: '2026-01-07' });
      expect((await read(done.next_task_id)).date).toBe('2026-02-07');
      const plain = await make({ date: '2026-01-05', recurrence: 'FREQ=DAILY' });
      expect((await complete(plain.id, { done: true, recurrence: null })).next_task_id).toBeNull();
    });

    test('keeps its dates when one occurrence is moved to another day, and adopts a new hour', async () => {
      const { id } = await make({ due_at: '2026-01-05T09:00:00Z', recurrence: 'FREQ=WEEKLY' });
      await alice.api.patch(`/tasks/${id}`, { date: '2026-01-06' });
      const second = await read((await complete(id)).next_task_id);
      expect(second.due_at).toBe('2026-01-12T09:00:00.000Z');
      await alice.api.patch(`/tasks/${second.id}`, { due_at: '2026-01-12T11:00:00Z' });
      expect((await read((await complete(second.id)).next_task_id)).due_at).toBe('2026-01-19T11:00:00.000Z');
    });

    test('does not bring back an occurrence that was moved earlier', async () => {
      const { id } = await make({ date: '2026-01-05', recurrence: 'FREQ=WEEKLY' });
      const second = await read((await complete(id)).next_task_id);
      expect(second.date).toBe('2026-01-12');
      await alice.api.patch(`/tasks/${second.id}`, { date: '2026-01-10' });
      const third = await read((await complete(second.id)).next_task_id);
      expect([third.date, third.recurrence]).toEqual([
        '2026-01-19',
        { rrule: 'FREQ=WEEKLY', from: 'schedule' },
      ]);
    });

    test('reads UNTIL in the time zone of the task', async () => {
      const fields = { due_at: '2026-01-06T04:00:00Z', time_zone: 'America/Los_Angeles' };
      const { id } = await make({ ...fields, recurrence: 'FREQ=DAILY;UNTIL=20260106' });
      const second = await read((await complete(id)).next_task_id);
      expect([second.date, second.due_at]).toEqual(['2026-01-06', '2026-01-07T04:00:00.000Z']);
      expect((await complete(second.id)).next_task_id).toBeNull();
    });

    test.each([
      ['europe/paris', 'Europe/Paris'],
      ['ASIA/KOLKATA', 'Asia/Kolkata'],
      ['us/pacific', 'US/Pacific'],
      ['utc', 'UTC'],
      ['Europe/Kyiv', 'Europe/Kyiv'],
      ['EST5EDT', 'EST5EDT'],
    ])('spells the time zone %s as %s', async (given, expected) => {
      expect((await make({ time_zone: given })).time_zone).toBe(expected);
    });

    test('needs a date, and a rule that can be followed', async () => {
      const { id } = await make({ date: '2026-01-05', recurrence: 'FREQ=DAILY' });
      const rejectedField = async (body: object) =>
        (await alice.api.patch(`/tasks/${id}`, body)).body.details?.[0].field;
      expect(await rejectedField({ date: null })).toBe('recurrence');
      expect(await rejectedField({ recurrence: { rrule: 'FREQ=HOURLY' } })).toBe('recurrence.rrule');
      expect(await rejectedField({ recurrence: 'FREQ=DAILY;UNTIL=20270230' })).toBe('recurrence.rrule');
      expect(await rejectedField({ recurrence: { rrule: 'FREQ=DAILY', from: 'x' } })).toBe('recurrence.from');
      expect(await rejectedField({ recurrence: 7 })).toBe('recurrence');
    });
  });

  describe('reminders and due dates', () => {
    const TYPES = ['task.reminder', 'task.due', 'task.overdue'];
    /** Moves the next reminder and the next due date of a task into the past. */
    const later = (id: string, interval: string) =>
      app.sql(
        `UPDATE tasks SET next_reminder_at = next_reminder_at - $2::interval, next_due_at = next_due_at - $2::interval WHERE id = $1`,
        [id, interval],
      );
    const tick = (of = app) => of.get(TaskClock).tick();
    const soon = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

    test('are sent at their time, once, to the assignees or else to the creator', async () => {
      const due_at = soon(60);
      const task = await make({
        due_at,
        reminders: [{ minutes_before: 30 }, { minutes_before: 10 }, { at: '2020-01-01T00:00:00Z' }],
        assignees: [bob.id],
      });
      const own = await make({ due_at });
      await tick();
      expect(await events(task.id, ...TYPES)).toEqual([]);
      await later(task.id, '31 minutes');
      expect(await tick()).toBe(1);
      expect(await tick()).toBe(0);
      expect(await events(task.id, ...TYPES)).toMatchObject([
        { type: 'task.reminder', payload: { actor_id: null, recipients: [bob.id] } },
      ]);
      await later(own.id, '61 minutes');
      await tick();
      expect(await events(own.id, ...TYPES)).toMatchObject([
        { type: 'task.due', payload: { date: due_at.slice(0, 10), recipients: [alice.id] } },
      ]);
      await later(own.id, '25 hours');
      await tick();
      expect((await events(own.id, ...TYPES)).map((event) => event.type)).toEqual([
        'task.due',
        'task.overdue',
      ]);
      await later(own.id, '25 hours');
      expect(await tick()).toBe(0);
    });

    test('are sent while the task is being indexed', async () => {
      const task = await make({ due_at: soon(60), reminders: [{ minutes_before: 30 }] });
      await later(task.id, '31 minutes');
      await inTransaction(await app.databaseOf(alice.tenantId!), async (indexer) => {
        await indexer.query('SELECT FROM tasks WHERE id = $1 FOR KEY SHARE', [task.id]);
        expect(await tick()).toBe(1);
      });
    });

    test('stop for tasks that are done or in the trash, and return with them', async () => {
      const task = await make({ due_at: soon(60), reminders: [{ minutes_before: 30 }] });
      const moments = async () =>
        (
          await app.sql(
            `SELECT next_reminder_at IS NOT NULL AS r, next_due_at IS NOT NULL AS d, due_stage AS s FROM tasks WHERE id = $1`,
            [task.id],
          )
        )[0];
      const [none, both] = [
        { r: false, d: false, s: 0 },
        { r: true, d: true, s: 1 },
      ];
      expect(await moments()).toEqual(both);
      await complete(task.id);
      expect(await moments()).toEqual(none);
      await complete(task.id, { done: false });
      expect(await moments()).toEqual(both);
      await alice.api.delete(`/tasks/${task.id}`);
      expect(await moments()).toEqual(none);
      await alice.api.post(`/tasks/${task.id}/restore`);
      expect(await moments()).toEqual(both);
      await alice.api.patch(`/tasks/${task.id}`, { due_at: null, date: null });
      expect(await moments()).toEqual(none);
    });

    test('of days without an hour count in the time zone of the task', async () => {
      const task = await make({
        date: '2099-06-01',
        time_zone: 'Asia/Tokyo',
        reminders: [{ minutes_before: 60 }],
      });
      expect(
        await app.sql(`SELECT next_reminder_at, next_due_at, overdue_at FROM tasks WHERE id = $1`, [task.id]),
      ).toEqual([
        {
          next_reminder_at: new Date('2099-05-31T14:00:00Z'),
          next_due_at: new Date('2099-05-31T15:00:00Z'),
          overdue_at: new Date('2099-06-01T15:00:00Z'),
        },
      ]);
    });

    test('are sent exactly once by concurrent processes, also when one of them is killed', async () => {
      const tasks: any[] = [];
      for (let n = 0; n < 20; n += 1)
        tasks.push(await make({ due_at: soon(60), reminders: [{ minutes_before: 30 }] }));
      await Promise.all(tasks.map(({ id }) => later(id, '2 hours')));
      // A process is killed in the middle of the job: its connection ends before the commit.
      const dying = new pg.Client({ connectionString: await app.databaseOf(alice.tenantId!) });
      dying.on('error', () => undefined);
      await dying.connect();
      await dying.query('BEGIN');
      expect((await dying.query('SELECT tasks_remind(7) AS n')).rows).toEqual([{ n: 7 }]);
      let notified = (await Promise.all([tick(app), tick(other), tick(app), tick(other)])).reduce(
        (a, b) => a + b,
      );
      (dying as any).connection.stream.destroy();
      await dying.end().catch(() => undefined);
      // PostgreSQL releases its locks when it detects the end of the connection. A run before that leaves some tasks to the next run.
      await until(
        'all to be notified',
        async () => (notified += (await tick(other)) + (await tick(app))) >= 40,
      );
      expect(notified).toBe(40);
      for (const { id } of tasks) {
        expect((await events(id, ...TYPES)).map((event) => event.type).toSorted()).toEqual([
          'task.due',
          'task.reminder',
        ]);
      }
    });
  });

  describe('the trash', () => {
    test('is purged after its time, with a removal for each member of the task', async () => {
      const [gone, kept] = [await make({ assignees: [bob.id] }), await make()];
      await alice.api.post(`/tasks/${gone.id}/subtasks`, { title: 's' });
      await alice.api.post(`/tasks/${gone.id}/comments`, { body: 'c' });
      for (const { id } of [gone, kept]) await alice.api.delete(`/tasks/${id}`);
      expect(await purgeTask(app, gone.id)).toBe(1);
      expect((await alice.api.get(`/tasks/${gone.id}`)).status).toBe(404);
      expect((await alice.api.get(`/tasks/${kept.id}`)).status).toBe(200);
      const rows = await app.sql(
        `SELECT m.user_id, m.role, m.gone, m.seq = h.head AS newest FROM task_members m JOIN sync_heads h USING (tenant_id, user_id) WHERE task_id = $1`,
        [gone.id],
      );
      expect(rows).toHaveLength(2);
      expect(rows).toEqual(
        expect.arrayContaining(
          [alice, bob].map(({ id }) => ({ user_id: id, role: null, gone: 2, newest: true })),
        ),
      );
      for (const table of ['subtasks', 'task_comments', 'task_activity'])
        expect(await app.sql(`SELECT 1 FROM ${table} WHERE task_id = $1`, [gone.id])).toEqual([]);
      expect(await events(gone.id, 'task.purged')).toHaveLength(1);
      // Its id stays reserved: an old ETag never matches a new task.
      const again = await alice.api.post('/tasks', { id: gone.id, title: 'again' });
      expect([again.status, again.body.error]).toEqual([409, 'already_exists']);
      expect((await alice.api.get(`/tasks/${gone.id}`)).status).toBe(404);
    });

    test('takes the tasks of a deleted folder, with an entry of the history and an event for each', async () => {
      const { folder } = (await alice.api.post('/task_folders', { name: 'Folder' })).body;
      const due = {
        due_at: new Date(Date.now() + 86_400_000).toISOString(),
        reminders: [{ minutes_before: 5 }],
      };
      const tasks = [await make({ folder_id: folder.id, ...due }), await make({ folder_id: folder.id })];
      expect((await alice.api.delete(`/task_folders/${folder.id}?contents=delete`)).status).toBe(200);
      for (const { id } of tasks) {
        const [row] = await app.sql(
          `SELECT deleted_by, purge_at - deleted_at = interval '30 days' AS is_kept, next_due_at, next_reminder_at, due_stage,
                  activity_count FROM tasks WHERE id = $1`,
          [id],
        );
        const moments = { next_due_at: null, next_reminder_at: null, due_stage: 0 };
        expect(row).toEqual({ deleted_by: alice.id, is_kept: true, ...moments, activity_count: 2 });
        const { activity } = (await alice.api.get(`/tasks/${id}/panel`)).body;
        expect(activity[0]).toMatchObject({ type: 'deleted', data: {}, actor: { id: alice.id } });
        expect(await events(id, 'task.deleted')).toEqual([
          { type: 'task.deleted', payload: { task_id: id, revision: 1, actor_id: alice.id } },
        ]);
      }
    });

    test('of several tasks is one range of numbers in each feed, in the order of the ids', async () => {
      const ids = [];
      for (const assignees of [[bob.id], [], [bob.id]]) ids.push((await make({ assignees })).id);
      for (const id of ids) await alice.api.delete(`/tasks/${id}`);
      await app.get(OutboxWorker).drain();
      const heads = async () =>
        app.sql('SELECT head FROM sync_heads WHERE tenant_id = $1 ORDER BY user_id = $2', [
          alice.tenantId,
          bob.id,
        ]);
      const before = (await heads()).map(({ head }) => Number(head));
      await app.sql(`UPDATE tasks SET purge_at = now() - interval '1 second' WHERE id = ANY ($1)`, [ids]);
      expect(await app.get(TaskClock).purge()).toBe(3);
      expect((await heads()).map(({ head }, n) => Number(head) - before[n]!)).toEqual([3, 2]);
      const numbers = await app.sql(
        `SELECT user_id, task_id, seq FROM task_members WHERE task_id = ANY ($1) ORDER BY user_id = $2, seq`,
        [ids, bob.id],
      );
      const number = (user: TestUser, id: string, seq: number) => ({
        user_id: user.id,
        task_id: id,
        seq: String(seq),
      });
      const [ofAlice, ofBob] = before as [number, number];
      expect(numbers).toEqual([
        ...ids.map((id, n) => number(alice, id, ofAlice + 1 + n)),
        ...[ids[0], ids[2]].map((id, n) => number(bob, id, ofBob + 1 + n)),
      ]);
      expect(
        await app.sql('SELECT count(*)::int AS n FROM purged_tasks WHERE task_id = ANY ($1)', [ids]),
      ).toEqual([{ n: 3 }]);
    });
  });
});
