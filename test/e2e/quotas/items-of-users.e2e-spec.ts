import { type TestUser, TestApp } from '../../support/app.ts';
import { ok } from '../../support/domains/forms.ts';
import { expectFull, lowerQuotas } from '../../support/domains/quotas.ts';

/** Notes and tasks are counted only where the numbers of the feed leave open whether the user has too many. */
describe('quotas of notes and tasks', () => {
  let app: TestApp;
  let tenants = 0;
  const LIMIT = 5;

  beforeAll(async () => {
    app = await TestApp.start();
    await lowerQuotas(app, { 'user.notes': LIMIT, 'user.tasks': LIMIT });
  });
  afterAll(() => app?.stop());

  const workspace = <const Names extends readonly string[]>(...names: Names) =>
    app.tenant(`team-${(tenants += 1)}`, ...names);
  const newNote = async ({ api }: TestUser, title: string) =>
    ok(await api.post('/notes', { title }), 201).note;
  const newTask = async ({ api }: TestUser, fields: object) => ok(await api.post('/tasks', fields), 201).task;
  const statuses = (replies: { status: number }[]) => replies.map(({ status }) => status).toSorted();
  const countsOf = async (user: TestUser) => {
    const [row] = await app.sql('SELECT counted FROM sync_heads WHERE user_id = $1', [user.id]);
    return row.counted;
  };

  test('edits use up numbers, but not the quota of notes', async () => {
    const [ann] = await workspace('ann');
    const note = await newNote(ann, '0');
    for (let revision = 1; revision <= LIMIT; revision += 1)
      ok(await ann.api.patch(`/notes/${note.id}`, { title: `${revision}`, base_revision: revision }), 200);
    for (let n = 1; n < LIMIT; n += 1) await newNote(ann, `${n}`);
    expectFull(await ann.api.post('/notes', { title: 'One more' }), 'user.notes');
    // The rejected note is not stored.
    expect(ok(await ann.api.get('/notes'), 200).notes).toHaveLength(LIMIT);
  });

  test('notes in the trash count until they are purged', async () => {
    const [ann] = await workspace('ann');
    const note = await newNote(ann, 'First');
    for (let n = 1; n < LIMIT; n += 1) await newNote(ann, `${n}`);
    ok(await ann.api.delete(`/notes/${note.id}`, { base_revision: 1 }), 200);
    expectFull(await ann.api.post('/notes', { title: 'One more' }), 'user.notes');
    ok(await ann.api.delete(`/notes/${note.id}/purge`), 200);
    await newNote(ann, 'Again');
    expectFull(await ann.api.post('/notes', { title: 'One more' }), 'user.notes');
  });

  test('concurrent creations do not pass the limits', async () => {
    const [ann] = await workspace('ann');
    for (const path of ['/notes', '/tasks']) {
      for (let n = 2; n < LIMIT; n += 1) ok(await ann.api.post(path, { title: `${n}` }), 201);
      const replies = await Promise.all(
        Array.from({ length: 6 }, (_, n) => ann.api.post(path, { title: `${n}` })),
      );
      expect(statuses(replies)).toEqual([201, 201, 409, 409, 409, 409]);
    }
  });

  test('a count is kept, and the next creations do not count again', async () => {
    const [ann] = await workspace('ann');
    for (let n = 0; n < LIMIT; n += 1) await newTask(ann, { title: `${n}` });
    expect(await countsOf(ann)).toEqual({});
    const note = await newNote(ann, 'First');
    expect(await countsOf(ann)).toEqual({ 'user.notes': { items: 1, head: LIMIT + 1 } });
    for (let n = 1; n < LIMIT; n += 1) await newNote(ann, `${n}`);
    expect(await countsOf(ann)).toEqual({ 'user.notes': { items: 1, head: LIMIT + 1 } });
    expectFull(await ann.api.post('/notes', { title: 'One more' }), 'user.notes');
    expectFull(await ann.api.post(`/notes/${note.id}/task`, {}), 'user.tasks');
    const { links } = ok(await ann.api.get(`/notes/${note.id}`), 200).note;
    expect(links).toEqual([]);
  });

  test('notes and tasks that a user takes over count', async () => {
    const [owner, ann, bob] = await workspace('owner', 'ann', 'bob');
    for (const user of [ann, bob])
      for (let n = 0; n < 3; n += 1) {
        await newNote(user, `${n}`);
        await newTask(user, { title: `${n}` });
      }
    ok(await owner.api.post(`/tenant/members/${bob.id}/deactivate`), 200);
    ok(await owner.api.post(`/tenant/members/${bob.id}/transfer`, { to: ann.id }), 200);
    expect(ok(await ann.api.get('/notes'), 200).notes).toHaveLength(6);
    expectFull(await ann.api.post('/notes', { title: 'One more' }), 'user.notes');
    expectFull(await ann.api.post('/tasks', { title: 'One more' }), 'user.tasks');
  });

  test('the next occurrence of a repeating task counts for its creator', async () => {
    const [ann, bob] = await workspace('ann', 'bob');
    const repeating = {
      title: 'Water',
      date: '2030-01-01',
      recurrence: { rrule: 'FREQ=DAILY' },
      assignees: [bob.id],
    };
    const task = await newTask(ann, repeating);
    for (let n = 1; n < LIMIT; n += 1) await newTask(ann, { title: `${n}` });
    expectFull(await bob.api.patch(`/tasks/${task.id}`, { done: true }), 'user.tasks');
    expect(ok(await ann.api.get(`/tasks/${task.id}`), 200).task.done).toBe(false);
    await newTask(bob, { title: 'Own' });
  });
});
