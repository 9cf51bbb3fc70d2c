import { TestApp, type TestUser } from '../../support/app.ts';

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const UNKNOWN_USER = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';

describe('tasks', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let carol: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob, carol] = await app.tenant('acme', 'alice', 'bob', 'carol');
  });
  afterAll(() => app?.stop());

  const make = async (fields: object = {}, by = alice): Promise<any> => {
    const { status, body } = await by.api.post('/tasks', { title: 'Task', ...fields });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.task;
  };
  const outcome = ({ status, body }: { status: number; body: any }) => [status, body.error];
  const field = (response: { body: any }) => response.body.details[0].field;
  const feed = async (user: TestUser) =>
    app.sql(`SELECT task_id, role, seq::int, gone FROM task_members WHERE user_id = $1 ORDER BY seq`, [
      user.id,
    ]);

  describe('create and read', () => {
    test('with nothing but a title', async () => {
      const { status, headers, body } = await alice.api.post('/tasks', { title: '  Book the rooms ' });
      const { task } = body;
      expect([status, headers.get('location'), headers.get('etag')]).toEqual([
        201,
        `/apis/v1/tasks/${task.id}`,
        `"task:${task.id}:r1"`,
      ]);
      expect(task).toEqual({
        id: expect.stringMatching(ID),
        title: 'Book the rooms',
        description: null,
        status: 'open',
        done: false,
        completed_at: null,
        date: null,
        due_at: null,
        time_zone: 'UTC',
        recurrence: null,
        next_task_id: null,
        reminders: [],
        priority: 'normal',
        group: null,
        folder_id: null,
        labels: [],
        assignees: [],
        references: [],
        subtasks: [],
        attachments: [],
        comments_count: 0,
        position: expect.stringMatching(/^h[0-9A-Za-z]{10}$/),
        role: 'owner',
        revision: 1,
        created_by: alice.id,
        creator: { id: alice.id, email: alice.email, name: 'Alice' },
        created_at: expect.stringMatching(/Z$/),
        updated_at: task.created_at,
        updated_by: alice.id,
        updated_device: null,
        deleted: false,
        deleted_at: null,
        deleted_by: null,
        purge_at: null,
      });
      const read = await alice.api.get(`/tasks/${task.id}`);
      expect([read.status, read.headers.get('etag'), read.body]).toEqual([
        200,
        headers.get('etag'),
        { task },
      ]);
    });

    test('with everything', async () => {
      const other = await make({ title: 'Other' });
      const task = await make({
        id: '0199AAAA-bbbb-7ccc-8ddd-eeeeffff1001',
        title: 'T',
        description: '<p onclick="x()">two <b>nights</b></p>',
        status: 'IN_PROGRESS',
        due_at: '2027-01-04T09:00:00+01:00',
        time_zone: 'Europe/Paris',
        recurrence: 'rrule:freq=weekly;byday=mo',
        reminders: [{ minutes_before: 30 }, { at: '2027-01-01T08:00:00Z' }],
        priority: 'URGENT',
        group: ' Travel ',
        labels: ['a', 'b', 'a'],
        assignees: [bob.email.toUpperCase(), { id: carol.id }, { email: bob.email }],
        references: [
          { type: 'url', url: 'https://example.com/hotel', title: 'Hotel' },
          { type: 'task', id: other.id.toUpperCase() },
          { type: 'task', id: other.id },
        ],
        position: 'last',
        unknown: 1,
      });
      expect(task).toMatchObject({
        id: '0199aaaa-bbbb-7ccc-8ddd-eeeeffff1001',
        description: '<p>two <b>nights</b></p>',
        status: 'in_progress',
        date: '2027-01-04',
        due_at: '2027-01-04T08:00:00.000Z',
        time_zone: 'Europe/Paris',
        recurrence: { rrule: 'FREQ=WEEKLY;BYDAY=MO', from: 'schedule' },
        reminders: [{ minutes_before: 30 }, { at: '2027-01-01T08:00:00.000Z' }],
        priority: 'urgent',
        group: 'Travel',
        labels: ['a', 'b'],
        assignees: [
          { id: bob.id, email: bob.email, name: 'Bob' },
          { id: carol.id, email: carol.email, name: 'Carol' },
        ],
        references: [
          { type: 'url', id: null, title: 'Hotel', url: 'https://example.com/hotel' },
          { type: 'task', id: other.id, title: 'Other', url: `/apis/v1/tasks/${other.id}` },
        ],
      });
      // Bob has no access to the other task: he sees the reference without the title.
      const seen = (await bob.api.get(`/tasks/${task.id}`)).body.task;
      expect([seen.role, seen.references[1]]).toEqual([
        'editor',
        { type: 'task', id: other.id, title: null, url: `/apis/v1/tasks/${other.id}` },
      ]);
      expect(outcome(await bob.api.post('/tasks', { title: 'x', id: task.id }))).toEqual([
        409,
        'already_exists',
      ]);
    });

    test('once per Idempotency-Key', async () => {
      const options = { headers: { 'idempotency-key': 'task-1' } };
      const responses = [
        await alice.api.post('/tasks', { title: 'once' }, options),
        await alice.api.post('/tasks', { title: 'once' }, options),
      ];
      expect(responses.map((a) => a.status)).toEqual([201, 201]);
      expect(responses[1]!.text).toBe(responses[0]!.text);
      expect((await alice.api.get('/tasks?q=once')).body.tasks).toHaveLength(1);
    });

    test.each([
      ['UTC', '2026-01-01T20:00:00Z', '9999-12-31'],
      ['America/New_York', '2026-01-02T03:00:00Z', '9999-12-31'],
      ['Asia/Tokyo', '2026-01-01T16:00:00Z', '1900-01-01'],
      ['America/New_York', '1900-01-01T00:00:00Z', undefined],
      ['Asia/Tokyo', '9999-12-31T23:00:00Z', undefined],
    ])('a task at the end of the calendar can be sent back: %s, %s, %s', async (time_zone, due_at, date) => {
      const { id } = await make({ time_zone, due_at });
      if (date !== undefined) expect((await alice.api.patch(`/tasks/${id}`, { date })).status).toBe(200);
      const { task } = (await alice.api.get(`/tasks/${id}`)).body;
      if (date !== undefined) expect(task.date).toBe(date);
      const { status, body } = await alice.api.put(`/tasks/${id}`, task);
      expect([status, body.task ?? body]).toEqual([200, task]);
    });

    test.each([
      ['title', {}],
      ['title', { title: ' \n' }],
      ['title', { title: 'x'.repeat(513) }],
      ['title', { title: ['x'] }],
      ['description', { title: 'x', description: 7 }],
      ['description', { title: 'x', description: 'x'.repeat(256 * 1024 + 1) }],
      ['status', { title: 'x', status: 'later' }],
      ['done', { title: 'x', done: 'yes' }],
      ['done', { title: 'x', done: true, status: 'open' }],
      ['date', { title: 'x', date: '2026-02-30' }],
      ['date', { title: 'x', date: '0000-01-01' }],
      ['date', { title: 'x', date: '2026-01-01T00:00:00Z' }],
      ['due_at', { title: 'x', due_at: '2026-01-01' }],
      ['due_at', { title: 'x', due_at: '0001-01-01T00:00:00Z' }],
      ['due_at', { title: 'x', due_at: '9999-12-31T23:59:59-12:00' }],
      ['time_zone', { title: 'x', time_zone: 'Mars/Olympus' }],
      ['time_zone', { title: 'x', time_zone: 'FOO+3' }],
      ['priority', { title: 'x', priority: 'very' }],
      ['group', { title: 'x', group: 'x'.repeat(201) }],
      ['labels', { title: 'x', labels: [''] }],
      ['folder_id', { title: 'x', folder_id: 'x' }],
      ['folder_id', { title: 'x', folder_id: UNKNOWN_USER }],
      ['assignees', { title: 'x', assignees: 'bob' }],
      ['assignees.0', { title: 'x', assignees: [7] }],
      ['assignees.0', { title: 'x', assignees: [{}] }],
      ['assignees.0', { title: 'x', assignees: ['nobody@acme.example'] }],
      ['references.0', { title: 'x', references: ['x'] }],
      ['references.0', { title: 'x', references: [{ type: 'task' }] }],
      ['references.0', { title: 'x', references: [{ type: 'task', id: UNKNOWN_USER }] }],
      ['references.0', { title: 'x', references: [{ type: 'note', id: UNKNOWN_USER }] }],
      ['references.0.url', { title: 'x', references: [{ type: 'url', url: 'javascript:alert(1)' }] }],
      ['reminders.0', { title: 'x', reminders: [{}] }],
      ['reminders.0', { title: 'x', reminders: [{ minutes_before: 1, at: '2026-01-01T00:00:00Z' }] }],
      ['reminders.0.minutes_before', { title: 'x', reminders: [{ minutes_before: -1 }] }],
      ['recurrence.rrule', { title: 'x', date: '2026-01-01', recurrence: 'FREQ=SECONDLY' }],
      ['recurrence', { title: 'x', recurrence: 'FREQ=DAILY' }],
      ['position', { title: 'x', position: 'middle' }],
      ['position', { title: 'x', position: { after: UNKNOWN_USER } }],
      ['position', { title: 'x', position: null }],
      ['id', { title: 'x', id: 'y' }],
    ])('rejects an invalid %s: %j', async (name, body) => {
      const response = await alice.api.post('/tasks', body);
      expect(response.status).toBe(422);
      expect(field(response)).toBe(name);
    });
  });

  describe('read and write access', () => {
    test('creator and assignees only', async () => {
      const task = await make({ assignees: [bob.id] });
      expect((await bob.api.get(`/tasks/${task.id}`)).body.task.role).toBe('editor');
      for (const method of ['GET', 'PATCH', 'PUT', 'DELETE'])
        expect(
          outcome(
            await carol.api.request(
              method,
              `/tasks/${task.id}`,
              method === 'GET' ? {} : { body: { title: 7 } },
            ),
          ),
        ).toEqual([404, 'not_found']);
      expect(outcome(await bob.api.delete(`/tasks/${task.id}`))).toEqual([403, 'forbidden']);
      expect((await bob.api.patch(`/tasks/${task.id}`, { title: 'by Bob' })).body.task).toMatchObject({
        title: 'by Bob',
        revision: 2,
        updated_by: bob.id,
      });
      expect(outcome(await alice.api.get('/tasks/x'))).toEqual([422, 'invalid_id']);
    });

    test('an assignment given and taken shows in the feed as it does for notes', async () => {
      const task = await make({ assignees: [bob.id] });
      await alice.api.patch(`/tasks/${task.id}`, { assignees: [carol.id] });
      const of = async (user: TestUser) => (await feed(user)).filter((row) => row.task_id === task.id);
      expect(await of(bob)).toMatchObject([{ role: null, gone: 1 }]);
      expect(await of(carol)).toMatchObject([{ role: 'editor', gone: null }]);
      expect((await bob.api.get(`/tasks/${task.id}`)).status).toBe(404);
      await alice.api.patch(`/tasks/${task.id}`, { assignees: [bob.id, carol.id] });
      expect(await of(bob)).toMatchObject([{ role: 'editor', gone: null }]);
    });

    test('a user who gives up an assignment gets the response', async () => {
      const task = await make({ assignees: [bob.id, carol.id] });
      const { status, body } = await bob.api.patch(`/tasks/${task.id}`, { assignees: [carol.id] });
      expect([status, body.task.assignees.map((a: any) => a.id)]).toEqual([200, [carol.id]]);
      expect((await bob.api.get(`/tasks/${task.id}`)).status).toBe(404);
    });

    test('feed numbers of one user are gapless and unique', async () => {
      const [dora] = await app.tenant('feeds', 'dora');
      for (let n = 0; n < 3; n += 1) await make({}, dora);
      const { id } = await make({}, dora);
      await dora.api.patch(`/tasks/${id}`, { title: 'x' });
      await dora.api.patch(`/tasks/${id}`, { title: 'x' });
      expect((await feed(dora)).map((row) => row.seq)).toEqual([1, 2, 3, 5]);
    });
  });

  describe('update', () => {
    test.each(['patch', 'put'] as const)('%s changes only the given fields', async (verb) => {
      const task = await make({ description: '<p>d</p>', labels: ['a'], group: 'g', date: '2026-12-01' });
      const { status, headers, body } = await alice.api[verb](`/tasks/${task.id}`, {
        title: 'New',
        group: null,
      });
      expect([status, headers.get('etag')]).toEqual([200, `"task:${task.id}:r2"`]);
      expect(body.task).toEqual({
        ...task,
        title: 'New',
        group: null,
        revision: 2,
        updated_at: body.task.updated_at,
      });
      const same = await alice.api[verb](`/tasks/${task.id}`, { title: 'New' });
      expect([same.status, same.body.task]).toEqual([200, body.task]);
    });

    test('a task sent back as it was read stays as it is', async () => {
      const other = await make();
      const task = await make({
        due_at: '2027-01-04T09:00:00Z',
        time_zone: 'Asia/Tokyo',
        recurrence: 'FREQ=DAILY',
        reminders: [{ minutes_before: 5 }],
        assignees: [bob.id],
        labels: ['a'],
        references: [
          { type: 'task', id: other.id },
          { type: 'url', url: 'http://localhost:8080/x', title: 'X' },
        ],
      });
      for (const sent of [task, { ...task, done: undefined }]) {
        const { status, body } = await alice.api.put(`/tasks/${task.id}`, sent);
        expect([status, body.task]).toEqual([200, task]);
      }
    });

    test('the revision read is compared when it is given', async () => {
      const task = await make();
      const tag = (n: number) => ({ headers: { 'if-match': `"task:${task.id}:r${n}"` } });
      expect((await alice.api.patch(`/tasks/${task.id}`, { title: 'a' }, tag(1))).status).toBe(200);
      const stale = await alice.api.patch(`/tasks/${task.id}`, { title: 'b' }, tag(1));
      expect(outcome(stale)).toEqual([409, 'conflict']);
      expect([stale.headers.get('etag'), stale.body.revision, stale.body.task.title]).toEqual([
        `"task:${task.id}:r2"`,
        2,
        'a',
      ]);
      expect(outcome(await alice.api.patch(`/tasks/${task.id}`, { title: 'b', base_revision: 1 }))).toEqual([
        409,
        'conflict',
      ]);
      expect(outcome(await alice.api.delete(`/tasks/${task.id}`, undefined, tag(1)))).toEqual([
        409,
        'conflict',
      ]);
      for (const wrong of ['*', `"note:${task.id}:r2"`, `"task:${UNKNOWN_USER}:r2"`, `"task:${task.id}:r0"`])
        expect(
          outcome(
            await alice.api.patch(`/tasks/${task.id}`, { title: 'b' }, { headers: { 'if-match': wrong } }),
          ),
        ).toEqual([422, 'invalid_revision']);
      expect(outcome(await alice.api.patch(`/tasks/${task.id}`, { title: 'b', base_revision: '2' }))).toEqual(
        [422, 'invalid_revision'],
      );
      expect(
        (await alice.api.patch(`/tasks/${task.id}`, { title: 'b', base_revision: 2 })).body.task.revision,
      ).toBe(3);
    });

    test('done and status change together', async () => {
      const { id } = await make();
      const patch = async (body: object) => {
        const { task } = (await alice.api.patch(`/tasks/${id}`, body)).body;
        return [task.status, task.done, task.completed_at !== null];
      };
      expect(await patch({ done: true })).toEqual(['done', true, true]);
      expect(await patch({ done: false })).toEqual(['open', false, false]);
      expect(await patch({ status: 'in_progress' })).toEqual(['in_progress', false, false]);
      expect(await patch({ done: false })).toEqual(['in_progress', false, false]);
      expect(await patch({ status: 'done' })).toEqual(['done', true, true]);
      expect(await patch({ status: 'cancelled' })).toEqual(['cancelled', false, false]);
    });

    test('in a task that is sent back, of two fields for the same property the changed one counts', async () => {
      const { id } = await make({ due_at: '2026-07-01T22:30:00Z', time_zone: 'Europe/Paris' });
      const put = async (fields: object) => {
        const { task } = (await alice.api.get(`/tasks/${id}`)).body;
        const { status, body } = await alice.api.put(`/tasks/${id}`, { ...task, ...fields });
        expect([status, body.details]).toEqual([200, undefined]);
        return body.task;
      };
      expect(await put({ done: true })).toMatchObject({ status: 'done', done: true });
      expect(await put({ done: false })).toMatchObject({ status: 'open', done: false });
      expect(await put({ status: 'done' })).toMatchObject({ status: 'done', done: true });
      expect(await put({ status: 'in_progress' })).toMatchObject({ status: 'in_progress', done: false });
      const both = await alice.api.patch(`/tasks/${id}`, { status: 'open', done: true });
      expect([both.status, both.body.details?.[0].code]).toEqual([422, 'contradiction']);

      const due = ({ date, due_at }: any) => [date, due_at];
      expect(due(await put({ date: '2026-12-02' }))).toEqual(['2026-12-02', '2026-12-01T23:30:00.000Z']);
      expect(due(await put({ due_at: '2026-12-03T12:00:00Z' }))).toEqual([
        '2026-12-03',
        '2026-12-03T12:00:00.000Z',
      ]);
      expect(due(await put({ time_zone: 'Pacific/Auckland' }))).toEqual([
        '2026-12-04',
        '2026-12-03T12:00:00.000Z',
      ]);
      expect(due(await put({ date: '2026-12-05', due_at: '2026-12-06T12:00:00Z' }))).toEqual([
        '2026-12-07',
        '2026-12-06T12:00:00.000Z',
      ]);
      expect(due(await put({ date: null }))).toEqual([null, null]);
    });

    test('date and due_at follow each other', async () => {
      const { id } = await make({ due_at: '2026-07-01T22:30:00Z', time_zone: 'Europe/Paris' });
      const patch = async (body: object) => {
        const { task } = (await alice.api.patch(`/tasks/${id}`, body)).body;
        return [task.date, task.due_at];
      };
      // 00:30 in Paris, in summer; the same hour in winter is another moment.
      expect(await patch({ title: 'x' })).toEqual(['2026-07-02', '2026-07-01T22:30:00.000Z']);
      expect(await patch({ date: '2026-12-02' })).toEqual(['2026-12-02', '2026-12-01T23:30:00.000Z']);
      expect(await patch({ time_zone: 'UTC' })).toEqual(['2026-12-01', '2026-12-01T23:30:00.000Z']);
      expect(await patch({ due_at: null })).toEqual(['2026-12-01', null]);
      expect(await patch({ date: null })).toEqual([null, null]);
    });
  });

  describe('trash', () => {
    test('delete, reject writes, restore', async () => {
      const task = await make({ assignees: [bob.id] });
      const gone = await alice.api.delete(`/tasks/${task.id}`);
      expect([gone.status, gone.body.deleted, gone.body.task.deleted, gone.body.task.deleted_by]).toEqual([
        200,
        true,
        true,
        alice.id,
      ]);
      expect(Date.parse(gone.body.task.purge_at)).toBeGreaterThan(Date.now() + 29 * 86_400_000);
      expect(outcome(await alice.api.delete(`/tasks/${task.id}`))).toEqual([409, 'deleted']);
      expect(outcome(await bob.api.patch(`/tasks/${task.id}`, { title: 7 }))).toEqual([409, 'deleted']);
      expect((await bob.api.get(`/tasks/${task.id}`)).body.task.deleted).toBe(true);
      const ids = async (query: string) =>
        (await alice.api.get(`/tasks${query}`)).body.tasks.map((t: any) => t.id);
      expect(await ids('')).not.toContain(task.id);
      expect(await ids('?state=trash')).toEqual([task.id]);
      expect(outcome(await bob.api.post(`/tasks/${task.id}/restore`))).toEqual([403, 'forbidden']);
      const restored = await alice.api.post(`/tasks/${task.id}/restore`);
      expect([restored.status, restored.body.task.deleted, restored.body.task.revision]).toEqual([
        200,
        false,
        1,
      ]);
      expect((await alice.api.post(`/tasks/${task.id}/restore`)).status).toBe(200);
      expect(await ids('')).toContain(task.id);
    });
  });

  describe('lists', () => {
    let dora: TestUser;
    let eve: TestUser;
    const titles = async (query: string, by = dora) => {
      const { status, body } = await by.api.get(`/tasks${query}`);
      expect([query, status]).toEqual([query, 200]);
      return body.tasks.map((task: any) => task.title);
    };

    beforeAll(async () => {
      [dora, eve] = await app.tenant('lists', 'dora', 'eve');
      const year = new Date().getUTCFullYear();
      await make({ title: 'a', date: '2020-05-01', priority: 'low', labels: ['x', 'y'] }, dora);
      await make(
        { title: 'b', date: `${year + 1}-05-01`, priority: 'critical', labels: ['x'], assignees: [dora.id] },
        dora,
      );
      await make({ title: 'c', group: 'G', status: 'in_progress', assignees: [eve.id] }, dora);
      await make({ title: 'd%_', date: '2020-05-02', status: 'done' }, dora);
      await make({ title: 'e', due_at: '2020-05-03T10:00:00Z', assignees: [dora.id] }, eve);
    });

    test.each([
      ['', 'e,d%_,c,b,a'],
      ['?order=asc', 'a,b,c,d%_,e'],
      ['?sort=created_at', 'e,d%_,c,b,a'],
      ['?sort=date', 'a,d%_,e,b,c'],
      ['?sort=date&order=desc', 'b,e,d%_,a,c'],
      ['?sort=priority', 'b,e,d%_,c,a'],
      ['?sort=position', 'a,b,c,d%_,e'],
      ['?sort=title', 'a,b,c,d%_,e'],
      ['?sort=title&order=desc&overdue=true', 'e,a'],
      ['?status=open', 'e,b,a'],
      ['?status=open&status=in_progress&sort=date', 'a,e,b,c'],
      ['?status=OPEN,done', 'e,d%_,b,a'],
      ['?priority=low,critical', 'b,a'],
      ['?assignee=me', 'e,b'],
      ['?assignee=none', 'd%_,a'],
      ['?group=G', 'c'],
      ['?date_from=2020-05-02', 'e,d%_,b'],
      ['?date_from=2020-05-02&date_to=2020-05-02', 'd%_'],
      ['?overdue=true', 'e,a'],
      ['?overdue=false', 'd%_,c,b'],
      ['?label=x', 'b,a'],
      ['?label=x&label=y', 'a'],
      ['?q=D%25_', 'd%_'],
      ['?q=%25_', 'd%_'],
      ['?folder_id=none', 'e,d%_,c,b,a'],
      [`?folder_id=${UNKNOWN_USER}`, ''],
      [`?note_id=${UNKNOWN_USER}`, ''],
      ['?state=all', 'e,d%_,c,b,a'],
      ['?state=trash', ''],
      ['?overdue=true&assignee=me&status=open&sort=date', 'e'],
    ])('%s', async (query, expected) => {
      expect((await titles(query)).join()).toBe(expected);
    });

    test.each([
      'label=M%C3%A4rz',
      'label=Ma%CC%88rz',
      'group=M%C3%A4rz',
      'group=Ma%CC%88rz%20',
      'q=m%C3%A4r',
    ])('of composed and decomposed text: %s', async (query) => {
      const [fay] = await app.tenant(`composed ${query}`, 'fay');
      const text = 'Ma\u0308rz';
      await make({ title: text, group: `${text} `, labels: [text, 'M\u00e4rz'] }, fay);
      const { tasks } = (await fay.api.get(`/tasks?${query}`)).body;
      expect(tasks).toMatchObject([{ title: text, group: 'M\u00e4rz', labels: ['M\u00e4rz'] }]);
    });

    test('by date, those without one are last in both orders and on every page', async () => {
      const [gil] = await app.tenant('undated', 'gil');
      for (const [title, date] of [
        ['1', '2027-01-01'],
        ['none 1', null],
        ['2', '2027-02-01'],
        ['none 2', null],
        ['2 too', '2027-02-01'],
      ])
        await make({ title, date }, gil);
      const expected = {
        asc: ['1', '2', '2 too', 'none 1', 'none 2'],
        desc: ['2 too', '2', '1', 'none 2', 'none 1'],
      };
      for (const order of ['asc', 'desc'] as const)
        for (const limit of [1, 2, 3, 10]) {
          const seen: string[] = [];
          for (let cursor: string | null = ''; cursor !== null;) {
            const { body }: any = await gil.api.get(
              `/tasks?sort=date&order=${order}&limit=${limit}${cursor && `&cursor=${cursor}`}`,
            );
            seen.push(...body.tasks.map((task: any) => task.title));
            cursor = body.next;
          }
          expect(seen).toEqual(expected[order]);
        }
    });

    test('of another user', async () => {
      expect((await titles(`?assignee=${eve.id}`)).join()).toBe('c');
      expect((await titles('', eve)).join()).toBe('e,c');
    });

    test.each(['updated_at', 'created_at', 'date', 'priority', 'position', 'title'])(
      'in pages, by %s',
      async (sort) => {
        for (const order of ['asc', 'desc']) {
          const whole = await titles(`?sort=${sort}&order=${order}`);
          const seen: string[] = [];
          for (let cursor: string | null = ''; cursor !== null;) {
            const { body }: any = await dora.api.get(
              `/tasks?sort=${sort}&order=${order}&limit=2${cursor && `&cursor=${cursor}`}`,
            );
            seen.push(...body.tasks.map((task: any) => task.title));
            cursor = body.next;
          }
          expect(seen).toEqual(whole);
        }
      },
    );

    test('titles in the order of any language, own tasks and those of others mixed', async () => {
      const [fay, gus] = await app.tenant('titles', 'fay', 'gus');
      const sorted = ['2 eggs', '10 eggs', 'apple', 'Ärger', 'zebra', 'Zürich', '日本'];
      for (const [n, title] of sorted.toReversed().entries())
        await make({ title, assignees: [fay.id] }, n % 2 ? fay : gus);
      for (const limit of [1, 3, 200]) {
        const seen: string[] = [];
        for (let cursor: string | null = ''; cursor !== null;) {
          const { body }: any = await fay.api.get(
            `/tasks?sort=title&limit=${limit}${cursor && `&cursor=${cursor}`}`,
          );
          seen.push(...body.tasks.map((task: any) => task.title));
          cursor = body.next;
        }
        expect(seen).toEqual(sorted);
      }
      const plan = await app.sql(
        `EXPLAIN SELECT id FROM tasks WHERE tenant_id = $1 AND creator_id = $2 ORDER BY title COLLATE title_order, id LIMIT 3`,
        [fay.tenantId, fay.id],
      );
      expect(JSON.stringify(plan)).not.toContain('Sort');
    });

    test.each([
      'limit=0',
      'limit=201',
      'cursor=x',
      'sort=id',
      'status=',
      'status=open,x',
      'priority=1',
      'assignee=bob',
      'date_from=2020-02-30',
      'overdue=1',
      'note_id=x',
      'state=none',
      'folder_id=x',
      'q=',
      'order=up',
    ])('rejects %s', async (query) => {
      expect((await dora.api.get(`/tasks?${query}`)).status).toBe(422);
    });

    test('a page of long descriptions ends early, and every combination of filters works', async () => {
      const [frank] = await app.tenant('long', 'frank');
      const description = `<p>${'x'.repeat(250_000)}</p>`;
      for (let n = 0; n < 20; n += 1) await make({ title: `${n}`, description }, frank);
      const first = (await frank.api.get('/tasks')).body;
      expect(first.tasks.length).toBeLessThan(20);
      const second = (await frank.api.get(`/tasks?cursor=${first.next}`)).body;
      expect(second.next).toBeNull();
      expect([...first.tasks, ...second.tasks].map((task: any) => task.title).join()).toBe(
        Array.from({ length: 20 }, (_, n) => 19 - n).join(),
      );
      const parts = [
        'status=open',
        'assignee=none',
        'date_to=2030-01-01',
        'group=g',
        'q=x',
        'label=l',
        'overdue=true',
        'priority=low',
      ];
      for (let bits = 0; bits < 256; bits += 1) {
        const query = parts.filter((_, n) => bits & (1 << n)).join('&');
        expect((await dora.api.get(`/tasks?limit=1&${query}`)).status).toBe(200);
      }
    });

    test('a cursor belongs to its list', async () => {
      const { next } = (await dora.api.get('/tasks?limit=1')).body;
      expect(outcome(await dora.api.get(`/tasks?limit=1&status=open&cursor=${next}`))).toEqual([
        422,
        'invalid_cursor',
      ]);
      expect(outcome(await eve.api.get(`/tasks?limit=1&cursor=${next}`))).toEqual([422, 'invalid_cursor']);
    });
  });
});
