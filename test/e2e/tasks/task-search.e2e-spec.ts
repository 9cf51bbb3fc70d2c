import { TaskIndexer } from '../../../src/modules/tasks/lists/search/task-search.controller.js';
import { createTask } from '../../../src/modules/tasks/model/rules/task-rules.js';
import type { TaskChange } from '../../../src/modules/tasks/model/rules/task-row.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser, type UsersOf } from '../../support/app.ts';

describe('search of tasks', () => {
  let app: TestApp;
  let n = 0;

  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app?.stop());

  const users = <const Names extends readonly string[]>(...names: Names): Promise<UsersOf<Names>> =>
    app.tenant(`t${(n += 1)}`, ...names);
  const make = async (user: TestUser, title: string, fields: object = {}): Promise<any> => {
    const { status, body } = await user.api.post('/tasks', { title, ...fields });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.task;
  };
  const folder = async (user: TestUser, fields: object = {}): Promise<any> =>
    (await user.api.post('/task_folders', { name: 'f', ...fields })).body.folder;
  const edit = async (user: TestUser, path: string, fields: object) => {
    const { status, body } = await user.api.patch(path, fields);
    expect([path, status, body.error]).toEqual([path, 200, undefined]);
  };
  const search = async (user: TestUser, q: string, more = ''): Promise<any> => {
    const { status, body } = await user.api.get(`/search/tasks?q=${encodeURIComponent(q)}${more}`);
    expect([q, status, body]).toEqual([q, 200, expect.anything()]);
    return body;
  };
  const titles = async (user: TestUser, q: string, more = ''): Promise<string[]> =>
    (await search(user, q, more)).tasks.map((task: any) => task.title).toSorted();
  async function indexed(): Promise<void> {
    await app.get(OutboxWorker).drain();
  }
  async function nothing(): Promise<void> {}
  /** Creates filler tasks: with more than 300, a search of this user reads the index of words. */
  const crowd = (user: TestUser, tasks: number, title = 'one of a crowd') => {
    const facts = { now: new Date(), folderRole: null, endPosition: 'a0', inactive: [], timeZone: 'UTC' };
    const created = createTask(facts, { id: '', userId: user.id, patch: { title } }) as TaskChange;
    return app.sql(
      `SELECT count(w.outcome) FROM generate_series(1, $3::int) g,
       LATERAL (SELECT gen_random_uuid() AS id WHERE g > 0) made,
       LATERAL task_store($1, $2, made.id, jsonb_build_object(
         'is_new', true, 'row', $4::jsonb || jsonb_build_object('id', made.id, 'title', $4::jsonb->>'title' || ' ' || g),
         'activity', $5::jsonb, 'events', jsonb_build_array(jsonb_build_object(
           'id', uuid_v7(), 'type', 'task.created', 'payload', jsonb_build_object('task_id', made.id, 'revision', 1))))) w`,
      [user.tenantId, user.id, tasks, created.task, created.activity],
    );
  };

  describe.each([
    ['a user with few tasks, before they are indexed', 0, nothing],
    ['a user with few tasks', 0, indexed],
    ['a user with many tasks, before they are indexed', 301, nothing],
    ['a user with many tasks', 301, indexed],
  ] as const)('%s', (_name, others, then) => {
    test('finds words of title and description in any language, best first', async () => {
      const [alice] = await users('alice');
      await crowd(alice, others);
      if (others > 0) await indexed();
      const hotel = await make(alice, 'Book the Höhenhotel', {
        description: '<p>for the <b>offsite</b> &amp; more</p>',
        references: [{ type: 'url', url: 'https://example.com/', title: 'x' }],
      });
      await make(alice, 'offsite');
      await make(alice, '東京への出張を計画する');
      await then();
      const found = await search(alice, 'offsite');
      expect(found).toEqual({
        tasks: [expect.objectContaining({ title: 'offsite' }), expect.anything()],
        total: 2,
        next: null,
        query: 'offsite',
      });
      const { description: _, ...summary } = hotel;
      expect(found.tasks[1]).toEqual({
        ...summary,
        score: expect.any(Number),
        highlights: { title: 'Book the Höhenhotel', description: 'for the <mark>offsite</mark> &amp; more' },
      });
      expect(found.tasks[0].score).toBeGreaterThan(found.tasks[1].score);
      expect(await titles(alice, 'HOHEN')).toEqual([hotel.title]);
      expect(await titles(alice, '出張')).toEqual(['東京への出張を計画する']);
      await make(alice, 'カタカナのメモ');
      await then();
      expect(await titles(alice, 'かたかなノめも')).toEqual(['カタカナのメモ']);
      expect(await titles(alice, 'book offsite')).toEqual([hotel.title]);
      expect(await titles(alice, 'book 出張')).toEqual([]);
      expect(await search(alice, '!?')).toEqual({ tasks: [], total: 0, next: null, query: '!?' });
      await edit(alice, `/tasks/${hotel.id}`, { title: 'Book the Palace', description: null });
      expect([await titles(alice, 'palace'), await titles(alice, 'hohen')]).toEqual([
        ['Book the Palace'],
        [],
      ]);
    });

    test('filters', async () => {
      const [alice] = await users('alice');
      await crowd(alice, others);
      if (others > 0) await indexed();
      const { id } = await folder(alice);
      await make(alice, 'pin open');
      await make(alice, 'pin filed', { folder_id: id });
      await make(alice, 'pin done', { status: 'done' });
      const trashed = await make(alice, 'pin trashed');
      await alice.api.delete(`/tasks/${trashed.id}`);
      await then();
      expect(await titles(alice, 'pin')).toEqual(['pin done', 'pin filed', 'pin open']);
      expect(await titles(alice, 'pin', `&folder_id=${id.toUpperCase()}`)).toEqual(['pin filed']);
      expect(await titles(alice, 'pin', '&folder_id=none')).toEqual(['pin done', 'pin open']);
      expect(await titles(alice, 'pin', '&status=done,cancelled')).toEqual(['pin done']);
      expect(await titles(alice, 'pin', '&status=open&folder_id=none')).toEqual(['pin open']);
      expect(await titles(alice, 'pin', '&state=trash')).toEqual(['pin trashed']);
      expect(await titles(alice, 'pin', '&state=all&status=open')).toEqual([
        'pin filed',
        'pin open',
        'pin trashed',
      ]);
    });
  });

  test.each([0, 301])('finds visible tasks only, beside %i other tasks', async (others) => {
    const [alice, bob, carol] = await users('alice', 'bob', 'carol');
    const [mallory] = await users('mallory');
    await crowd(bob, others);
    const { id } = await folder(alice);
    const below = await folder(alice, { parent_id: id });
    const filed = await make(alice, 'needle filed', { folder_id: below.id });
    await make(alice, 'needle private');
    const assigned = await make(alice, 'needle assigned', { assignees: [bob.id] });
    await make(bob, 'needle of bob');
    await indexed();
    const all = async (who: TestUser) => titles(who, 'needle');
    const bobs = ['needle assigned', 'needle of bob'];
    expect([await all(bob), await all(carol), await all(mallory)]).toEqual([bobs, [], []]);
    // Access by a folder needs no indexing, so it begins and ends at once.
    const rows = () => app.sql('SELECT xmin::text FROM task_search WHERE task_id = $1', [filed.id]);
    const before = await rows();
    await edit(alice, `/task_folders/${id}`, { members: [bob.id, { id: carol.id, role: 'viewer' }] });
    expect(await all(bob)).toEqual(['needle assigned', 'needle filed', 'needle of bob']);
    expect(await all(carol)).toEqual(['needle filed']);
    await edit(alice, `/task_folders/${id}`, { members: [] });
    expect([await all(bob), await rows()]).toEqual([bobs, before]);
    await edit(alice, `/tasks/${assigned.id}`, { assignees: [carol.id] });
    expect(await all(bob)).toEqual(['needle of bob']);
    await indexed();
    expect(await all(carol)).toEqual(['needle assigned']);
    expect((await alice.api.delete(`/task_folders/${below.id}?contents=keep`)).status).toBe(200);
    expect(await titles(alice, 'needle', '&folder_id=none')).toEqual([
      'needle assigned',
      'needle filed',
      'needle private',
    ]);
  });

  test('the members of a folder find a task that its creator assigned to themself', async () => {
    const [alice, bob] = await users('alice', 'bob');
    const { id } = await folder(alice, { members: [bob.id] });
    await make(alice, 'needle of my own', { folder_id: id, assignees: [alice.id] });
    await indexed();
    expect([await titles(bob, 'needle'), await titles(alice, 'needle')]).toEqual([
      ['needle of my own'],
      ['needle of my own'],
    ]);
  });

  test('pages; a cursor is valid for its own query only', async () => {
    const [alice] = await users('alice');
    await crowd(alice, 25, 'paged');
    await indexed();
    const seen: string[] = [];
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null; pages += 1) {
      expect(pages).toBeLessThan(4);
      const page: any = await search(alice, 'paged', `&limit=10${cursor && `&cursor=${cursor}`}`);
      expect(page.total).toBe(25);
      seen.push(...page.tasks.map((task: any) => task.id));
      if (page.next)
        expect((await alice.api.get(`/search/tasks?q=other&cursor=${page.next}`)).status).toBe(422);
      cursor = page.next;
    }
    expect([seen.length, new Set(seen).size]).toEqual([25, 25]);
  });

  test('total stops at 1,000, among the most recently changed', async () => {
    const [alice] = await users('alice');
    await crowd(alice, 1_005, 'legion');
    await app.sql(
      `INSERT INTO task_search (tenant_id, task_id, revision, audience, rules, tsv, beginning)
       SELECT t.tenant_id, t.id, t.revision, task_finders_name(t), 1, to_tsvector('simple', 'legion') || array_to_tsvector(ARRAY[E'\\x01u' || t.creator_id]), ''
         FROM tasks t WHERE tenant_id = $1`,
      [alice.tenantId],
    );
    await app.sql('DELETE FROM outbox WHERE tenant_id = $1', [alice.tenantId]);
    expect(await search(alice, 'legion', '&limit=1')).toMatchObject({ total: 1_000 });
  });

  test('a lost index row, or one of another folder owner, is repaired', async () => {
    const [alice, bob] = await users('alice', 'bob');
    await crowd(bob, 301);
    const { id } = await folder(alice, { members: [bob.id] });
    const kept = await make(alice, 'repairme', { folder_id: id });
    await make(alice, 'repairme too', { folder_id: id });
    await indexed();
    await app.sql(`UPDATE task_search SET audience = $1, tsv = '' WHERE task_id = $1`, [kept.id]);
    await app.sql('DELETE FROM task_search WHERE tenant_id = $1 AND task_id <> $2', [
      alice.tenantId,
      kept.id,
    ]);
    expect(await titles(bob, 'repairme')).toEqual([]);
    while (!(await app.get(TaskIndexer).repair()));
    expect(await titles(bob, 'repairme')).toEqual(['repairme', 'repairme too']);
  });

  test('a match deep in a long description is excerpted', async () => {
    const [alice] = await users('alice');
    await make(alice, 'long', { description: `<p>${'filler words '.repeat(2_000)}</p><p>deepneedle</p>` });
    await indexed();
    const [hit] = (await search(alice, 'deepneedle')).tasks;
    expect(hit.highlights.description).toContain('<mark>deepneedle</mark>');
  });

  test.each([
    '',
    'q=',
    'q=%20',
    'q=a&q=b',
    `q=${'x'.repeat(257)}`,
    'q=x&status=lost',
    'q=x&folder_id=x',
    'q=x&limit=0',
  ])('rejects ?%s', async (query) => {
    const [alice] = await users('alice');
    expect((await alice.api.get(`/search/tasks?${query}`)).status).toBe(422);
  });

  test.each([`'`, `"`, '\\', `' | ''`, `:*`, '\u0001u', '(((', `a' & 'b`])(
    'finds the right tasks for %j',
    async (q) => {
      const [alice] = await users('alice');
      await make(alice, 'harmless');
      expect((await search(alice, q)).tasks).toEqual([]);
    },
  );
});
