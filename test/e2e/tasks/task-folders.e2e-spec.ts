import { TestApp, type TestUser } from '../../support/app.ts';

const UNKNOWN_USER = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';

describe('task folders', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let carol: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob, carol] = await app.tenant('acme', 'alice', 'bob', 'carol');
  });
  afterAll(() => app?.stop());

  const folder = async (fields: object = {}, by = alice): Promise<any> => {
    const { status, body } = await by.api.post('/task_folders', { name: 'Folder', ...fields });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.folder;
  };
  const task = async (fields: object = {}, by = alice): Promise<any> => {
    const { status, body } = await by.api.post('/tasks', { title: 'Task', ...fields });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.task;
  };
  const outcome = ({ status, body }: { status: number; body: any }) => [status, body.error];
  const share = async (id: string, members: unknown[], by = alice) => {
    const response = await by.api.patch(`/task_folders/${id}`, { members });
    expect([response.status, response.body.error]).toEqual([200, undefined]);
    return response.body.folder;
  };
  const rows = (user: TestUser) =>
    app.sql(
      `SELECT id, role, seq, gone FROM (
         SELECT task_id AS id, role, seq::int, gone FROM task_members WHERE user_id = $1
         UNION ALL SELECT folder_id, role, seq::int, gone FROM task_folder_members WHERE user_id = $1) x ORDER BY seq`,
      [user.id],
    );
  const row = async (user: TestUser, id: string) => (await rows(user)).find((r) => r.id === id);

  test('create, read, list', async () => {
    const { status, headers, body } = await alice.api.post('/task_folders', {
      name: ' 項目 ',
      color: '#2f80ed',
    });
    expect([status, headers.get('location')]).toEqual([201, `/apis/v1/task_folders/${body.folder.id}`]);
    expect(body).toEqual({
      folder: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: '項目',
        parent_id: null,
        position: expect.any(Number),
        color: '#2f80ed',
        task_count: 0,
        role: 'owner',
        owner: { id: alice.id, email: alice.email, name: 'Alice' },
        members: [],
        revision: 1,
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
        updated_device: null,
      },
      task_folder: body.folder,
    });
    expect((await alice.api.get(`/task_folders/${body.folder.id}`)).body).toEqual(body);
    const child = await folder({ parent_id: body.folder.id });
    const ids = async (query: string) =>
      (await alice.api.get(`/task_folders${query}`)).body.folders.map((f: any) => f.id);
    expect(await ids(`?parent_id=${body.folder.id}`)).toEqual([child.id]);
    expect(await ids('?parent_id=none')).not.toContain(child.id);
    expect(await ids('')).toEqual(expect.arrayContaining([child.id, body.folder.id]));
    expect((await bob.api.get('/task_folders')).body).toEqual({ folders: [], task_folders: [], next: null });
    expect(outcome(await bob.api.get(`/task_folders/${child.id}`))).toEqual([404, 'not_found']);
    expect(outcome(await bob.api.post('/task_folders', { name: 'x', id: child.id }))).toEqual([
      409,
      'already_exists',
    ]);
    const once = { headers: { 'idempotency-key': 'f1' } };
    const twice = [
      await alice.api.post('/task_folders', { name: 'once' }, once),
      await alice.api.post('/task_folders', { name: 'once' }, once),
    ];
    expect(twice[1]!.text).toBe(twice[0]!.text);
  });

  test('lists in pages, in the order of position', async () => {
    const [dora] = await app.tenant('order', 'dora');
    for (const position of [3, 1, 2]) await folder({ name: `f${position}`, position }, dora);
    await folder({ name: 'last' }, dora);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: any = await dora.api.get(`/task_folders?limit=1${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.task_folders.map((f: any) => f.name));
      cursor = body.next;
    }
    expect(seen).toEqual(['f1', 'f2', 'f3', 'last']);
  });

  test.each([
    ['name', {}],
    ['name', { name: ' ' }],
    ['name', { name: 'x'.repeat(256) }],
    ['parent_id', { name: 'x', parent_id: 'y' }],
    ['parent_id', { name: 'x', parent_id: UNKNOWN_USER }],
    ['position', { name: 'x', position: '1' }],
    ['color', { name: 'x', color: 'red' }],
    ['members', { name: 'x', members: 'bob' }],
    ['members.0', { name: 'x', members: [{}] }],
    ['members.0', { name: 'x', members: ['nobody@acme.example'] }],
    ['members.0.role', { name: 'x', members: [{ id: UNKNOWN_USER, role: 'owner' }] }],
    ['id', { name: 'x', id: 'y' }],
  ])('rejects an invalid %s: %j', async (name, body) => {
    const response = await alice.api.post('/task_folders', body);
    expect([response.status, response.body.details?.[0].field]).toEqual([422, name]);
  });

  test.each(['patch', 'put'] as const)('%s changes only the given fields', async (verb) => {
    const made = await folder({ color: '#000000' });
    const { status, body } = await alice.api[verb](`/task_folders/${made.id}`, { name: 'new' });
    expect(status).toBe(200);
    expect(body.folder).toEqual({ ...made, name: 'new', revision: 2, updated_at: body.folder.updated_at });
    expect((await alice.api[verb](`/task_folders/${made.id}`, { name: 'new' })).body).toEqual(body);
    expect(outcome(await alice.api[verb](`/task_folders/${UNKNOWN_USER}`, { name: 7 }))).toEqual([
      404,
      'not_found',
    ]);
    expect(outcome(await alice.api[verb](`/task_folders/${made.id}`, { name: 7 }))).toEqual([
      422,
      'validation_failed',
    ]);
  });

  test('a folder does not become its own descendant, and folders nest at most 32 deep', async () => {
    const a = await folder();
    const b = await folder({ parent_id: a.id });
    const move = (id: string, parent_id: string | null) =>
      alice.api.patch(`/task_folders/${id}`, { parent_id });
    expect(outcome(await move(a.id, b.id))).toEqual([422, 'folder_cycle']);
    expect(outcome(await move(a.id, a.id))).toEqual([422, 'folder_cycle']);
    expect(outcome(await move(b.id, UNKNOWN_USER))).toEqual([422, 'validation_failed']);
    let deep = b;
    for (let n = 3; n <= 32; n += 1) deep = await folder({ parent_id: deep.id });
    expect(outcome(await alice.api.post('/task_folders', { name: 'x', parent_id: deep.id }))).toEqual([
      422,
      'folder_too_deep',
    ]);
    const top = await folder();
    expect(outcome(await move(a.id, top.id))).toEqual([422, 'folder_too_deep']);
    expect((await move(b.id, null)).body.folder.parent_id).toBeNull();
  });

  describe('revisions', () => {
    const etag = (id: string, revision: number) => `"task_folder:${id}:r${revision}"`;
    const ifMatch = (tag: string) => ({ headers: { 'If-Match': tag } });

    test.each(['patch', 'put', 'delete'] as const)(
      '%s with a stale revision returns the current folder and changes nothing',
      async (verb) => {
        const posted = await alice.api.post('/task_folders', { name: 'first' });
        const { id } = posted.body.folder;
        expect(posted.headers.get('etag')).toBe(etag(id, 1));
        const patched = await alice.api.patch(`/task_folders/${id}`, { name: 'second', base_revision: 1 });
        expect([patched.status, patched.headers.get('etag')]).toEqual([200, etag(id, 2)]);
        const current = (await alice.api.get(`/task_folders/${id}`)).body.folder;
        const byHeader = await alice.api[verb](`/task_folders/${id}`, { name: 'x' }, ifMatch(etag(id, 1)));
        const byBody = await alice.api[verb](`/task_folders/${id}`, { name: 'x', base_revision: 1 });
        for (const stale of [byHeader, byBody]) {
          expect([...outcome(stale), stale.headers.get('etag')]).toEqual([409, 'conflict', etag(id, 2)]);
          expect(stale.body).toMatchObject({ revision: 2, folder: current, task_folder: current });
        }
        expect((await alice.api.get(`/task_folders/${id}`)).body.folder).toEqual(current);
        const fresh = await alice.api[verb](`/task_folders/${id}`, { name: 'x' }, ifMatch(etag(id, 2)));
        expect(fresh.status).toBe(200);
      },
    );

    test('an invalid revision comes after "not found" and "forbidden", before the body', async () => {
      const { id } = await folder({ members: [bob.email] });
      const match = ifMatch('*');
      expect(outcome(await carol.api.patch(`/task_folders/${id}`, { name: 7 }, match))).toEqual([
        404,
        'not_found',
      ]);
      expect(outcome(await bob.api.patch(`/task_folders/${id}`, { name: 'x' }, match))).toEqual([
        403,
        'forbidden',
      ]);
      expect(outcome(await alice.api.patch(`/task_folders/${id}`, { name: 7 }, match))).toEqual([
        422,
        'invalid_revision',
      ]);
    });

    test('a member leaves only with a revision that is not stale', async () => {
      const { id } = await folder({ members: [bob.email] });
      await alice.api.patch(`/task_folders/${id}`, { name: 'y' });
      expect(outcome(await bob.api.patch(`/task_folders/${id}`, { members: [], base_revision: 1 }))).toEqual([
        409,
        'conflict',
      ]);
      expect((await bob.api.patch(`/task_folders/${id}`, { members: [], base_revision: 2 })).status).toBe(
        200,
      );
    });

    test('of twenty updates with the same revision one succeeds', async () => {
      const { id } = await folder();
      const updates = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          alice.api.patch(`/task_folders/${id}`, { name: `name ${n}`, base_revision: 1 }),
        ),
      );
      expect(updates.map(({ status }) => status).toSorted()).toEqual([
        200,
        ...Array.from({ length: 19 }, () => 409),
      ]);
    });
  });

  describe('sharing', () => {
    test('members see the folder, the folders below and the tasks in them, by their role', async () => {
      const top = await folder({ name: 'top' });
      const shared = await folder({ name: 'shared', parent_id: top.id });
      const below = await folder({ name: 'below', parent_id: shared.id });
      const one = await task({ folder_id: shared.id });
      const two = await task({ folder_id: below.id });
      const outside = await task({ folder_id: top.id });
      const response = await share(shared.id, [
        { email: bob.email, role: 'editor' },
        { id: carol.id, role: 'viewer' },
        alice.id,
      ]);
      expect(response.members).toEqual([
        { user_id: bob.id, id: bob.id, email: bob.email, name: 'Bob', role: 'editor', inherited: false },
        {
          user_id: carol.id,
          id: carol.id,
          email: carol.email,
          name: 'Carol',
          role: 'viewer',
          inherited: false,
        },
      ]);
      expect([response.task_count, response.parent_id]).toEqual([1, top.id]);
      const seen = (await bob.api.get(`/task_folders/${shared.id}`)).body.folder;
      expect([seen.role, seen.parent_id, seen.task_count]).toEqual(['editor', null, 1]);
      const lower = (await carol.api.get(`/task_folders/${below.id}`)).body.folder;
      expect([lower.role, lower.parent_id, lower.members.map((m: any) => m.inherited)]).toEqual([
        'viewer',
        shared.id,
        [true, true],
      ]);
      expect((await bob.api.get(`/task_folders/${top.id}`)).status).toBe(404);
      for (const { id } of [one, two])
        expect((await bob.api.get(`/tasks/${id}`)).body.task.role).toBe('editor');
      expect((await bob.api.get(`/tasks/${outside.id}`)).status).toBe(404);
      expect(outcome(await carol.api.patch(`/tasks/${one.id}`, { title: 'x' }))).toEqual([403, 'forbidden']);
      expect(outcome(await carol.api.post('/tasks', { title: 'x', folder_id: shared.id }))).toEqual([
        422,
        'validation_failed',
      ]);
      const byBob = await task({ title: 'by Bob', folder_id: below.id }, bob);
      expect((await alice.api.get(`/tasks/${byBob.id}`)).body.task).toMatchObject({
        role: 'editor',
        folder_id: below.id,
      });
      expect((await carol.api.get(`/tasks/${byBob.id}`)).body.task.role).toBe('viewer');
      expect((await bob.api.get(`/tasks?folder_id=${below.id}`)).body.tasks.map((t: any) => t.id)).toEqual([
        byBob.id,
        two.id,
      ]);
    });

    test('a folder that is sent back as it was read gives no member of a folder above a membership of its own', async () => {
      const top = await folder({ members: [bob.id] });
      const child = await folder({ parent_id: top.id, members: [{ id: carol.id, role: 'viewer' }] });
      const { status, body } = await alice.api.put(`/task_folders/${child.id}`, {
        ...child,
        name: 'Renamed',
      });
      const members = body.folder.members.map(({ id, inherited }: any) => [id, inherited]);
      expect([status, members]).toEqual([
        200,
        [
          [carol.id, false],
          [bob.id, true],
        ],
      ]);
      await share(top.id, []);
      expect((await bob.api.get(`/task_folders/${child.id}`)).status).toBe(404);
    });

    test('a viewer who is an editor by a folder above stays a viewer when the folder is sent back as it was read', async () => {
      const top = await folder({ members: [bob.id] });
      const { id } = await folder({ parent_id: top.id, members: [{ id: bob.id, role: 'viewer' }] });
      const child = (await alice.api.get(`/task_folders/${id}`)).body.folder;
      expect(child.members).toMatchObject([{ id: bob.id, role: 'editor', inherited: false }]);
      const same = await alice.api.put(`/task_folders/${id}`, child);
      expect([same.status, same.body.folder.revision]).toEqual([200, child.revision]);
      const members = [...child.members, { id: carol.id, role: 'editor' }];
      expect((await alice.api.put(`/task_folders/${id}`, { ...child, members })).status).toBe(200);
      await share(top.id, []);
      expect((await bob.api.get(`/task_folders/${id}`)).body.folder.role).toBe('viewer');
      expect((await carol.api.get(`/task_folders/${id}`)).body.folder.role).toBe('editor');
    });

    test('a viewer who is an editor by a folder above becomes an editor if the list names them as editor', async () => {
      const top = await folder({ members: [bob.id] });
      const { id } = await folder({ parent_id: top.id, members: [{ id: bob.id, role: 'viewer' }] });
      await share(id, [{ id: bob.id, role: 'editor' }]);
      await share(top.id, []);
      expect((await bob.api.get(`/task_folders/${id}`)).body.folder.role).toBe('editor');
    });

    test('the end of sharing is a removal for each lost item, for the affected users only', async () => {
      const shared = await folder();
      const child = await folder({ parent_id: shared.id });
      const plain = await task({ folder_id: shared.id });
      const assigned = await task({ folder_id: child.id, assignees: [bob.id] });
      await share(shared.id, [bob.id, carol.id]);
      const before = await rows(alice);
      await share(shared.id, [carol.id]);
      expect(await row(bob, shared.id)).toMatchObject({ role: null, gone: 1 });
      expect(await row(bob, child.id)).toMatchObject({ role: null, gone: 1 });
      expect(await row(bob, plain.id)).toMatchObject({ role: null, gone: 1 });
      // Assigned tasks stay visible, without the folder.
      expect(await row(bob, assigned.id)).toMatchObject({ role: 'editor', gone: null });
      expect((await bob.api.get(`/tasks/${assigned.id}`)).body.task.folder_id).toBeNull();
      expect((await bob.api.get(`/tasks/${plain.id}`)).status).toBe(404);
      // Alice's tasks have not changed, only the folders.
      const changed = (await rows(alice))
        .filter((r) => !before.some((b) => b.seq === r.seq))
        .map((r) => r.id);
      expect(new Set(changed)).toEqual(new Set([shared.id, child.id]));
      expect(outcome(await bob.api.patch(`/task_folders/${shared.id}`, { name: 'x' }))).toEqual([
        404,
        'not_found',
      ]);
    });

    test('a member may leave and change nothing else', async () => {
      const shared = await folder();
      await share(shared.id, [
        { id: bob.id, role: 'editor' },
        { id: carol.id, role: 'viewer' },
      ]);
      const as = (body: object) => bob.api.patch(`/task_folders/${shared.id}`, body);
      expect(outcome(await as({ name: 'mine' }))).toEqual([403, 'forbidden']);
      expect(outcome(await as({ name: 7 }))).toEqual([403, 'forbidden']);
      expect(outcome(await as({ members: [bob.id] }))).toEqual([403, 'forbidden']);
      expect(outcome(await as({ members: [] }))).toEqual([403, 'forbidden']);
      expect(outcome(await bob.api.delete(`/task_folders/${shared.id}`))).toEqual([403, 'forbidden']);
      expect((await as({ members: [{ id: carol.id, role: 'editor' }] })).status).toBe(200);
      expect((await bob.api.get(`/task_folders/${shared.id}`)).status).toBe(404);
      expect((await alice.api.get(`/task_folders/${shared.id}`)).body.folder.members).toMatchObject([
        { id: carol.id, role: 'viewer' },
      ]);
      expect(outcome(await bob.api.post('/task_folders', { name: 'x', parent_id: shared.id }))).toEqual([
        422,
        'validation_failed',
      ]);
    });

    test('moving a folder changes the audience of its tasks', async () => {
      const [forBob, forCarol] = [await folder({ members: [bob.id] }), await folder({ members: [carol.id] })];
      const moved = await folder({ parent_id: forBob.id });
      const { id } = await task({ folder_id: moved.id });
      expect((await bob.api.get(`/tasks/${id}`)).status).toBe(200);
      await alice.api.patch(`/task_folders/${moved.id}`, { parent_id: forCarol.id });
      expect((await bob.api.get(`/tasks/${id}`)).status).toBe(404);
      expect((await carol.api.get(`/tasks/${id}`)).status).toBe(200);
      expect((await carol.api.get(`/task_folders/${moved.id}`)).body.folder.parent_id).toBe(forCarol.id);
    });

    test('moving a task changes its audience', async () => {
      const [forBob, forCarol] = [
        await folder({ members: [bob.id] }),
        await folder({ members: [{ id: carol.id, role: 'viewer' }] }),
      ];
      const { id } = await task({ folder_id: forBob.id });
      expect((await alice.api.patch(`/tasks/${id}`, { folder_id: forCarol.id })).body.task.folder_id).toBe(
        forCarol.id,
      );
      expect(await row(bob, id)).toMatchObject({ role: null, gone: 1 });
      expect((await carol.api.get(`/tasks/${id}`)).status).toBe(200);
      const back = await task({ folder_id: forBob.id });
      expect(outcome(await bob.api.patch(`/tasks/${back.id}`, { folder_id: forCarol.id }))).toEqual([
        422,
        'validation_failed',
      ]);
      // Bob, an editor of the folder, moves the task out of it and no longer sees it.
      const out = await bob.api.patch(`/tasks/${back.id}`, { folder_id: null });
      expect([out.status, out.body.task.id]).toEqual([200, back.id]);
      expect((await bob.api.get(`/tasks/${back.id}`)).status).toBe(404);
      // An assignee who does not see the folder cannot move the task.
      const hidden = await task({ folder_id: forCarol.id, assignees: [bob.id] });
      const bobs = await folder({}, bob);
      expect(outcome(await bob.api.patch(`/tasks/${hidden.id}`, { folder_id: bobs.id }))).toEqual([
        403,
        'forbidden',
      ]);
      expect(
        (await bob.api.patch(`/tasks/${hidden.id}`, { folder_id: null, title: 'seen so' })).body.task.title,
      ).toBe('seen so');
      expect((await alice.api.get(`/tasks/${hidden.id}`)).body.task.folder_id).toBe(forCarol.id);
    });

    test('10,000 tasks are shared and unshared in one range of numbers', async () => {
      const [dora, eve] = await app.tenant('large', 'dora', 'eve');
      const { id } = await folder({}, dora);
      await task({ folder_id: id, title: 'seed' }, dora);
      await app.sql(
        `INSERT INTO tasks SELECT x.* FROM tasks t, generate_series(1, 9999) n,
           LATERAL jsonb_populate_record(t, jsonb_build_object('id', uuid_v7(), 'title', n)) x WHERE t.title = 'seed'`,
      );
      await share(id, [eve.id], dora);
      const [{ head }] = await app.sql(`SELECT head::int FROM sync_heads WHERE user_id = $1`, [eve.id]);
      expect(head).toBe(10_001);
      const seen = await rows(eve);
      expect([seen.length, seen[0]!.id, seen.at(-1)!.seq]).toEqual([10_001, id, 10_001]);
      expect((await eve.api.get(`/tasks?folder_id=${id}&limit=200&sort=position`)).body.tasks).toHaveLength(
        200,
      );
      await share(id, [], dora);
      const gone = await rows(eve);
      expect([
        gone.length,
        gone[0]!.seq,
        gone.at(-1)!.seq,
        gone.every((r) => r.role === null && r.gone === 1),
      ]).toEqual([10_001, 10_002, 20_002, true]);
      expect((await eve.api.get('/tasks')).body.tasks).toEqual([]);
    });
  });

  describe('delete', () => {
    test('keeps the tasks, and moves subfolders up', async () => {
      const top = await folder({ members: [carol.id] });
      const middle = await folder({ parent_id: top.id, members: [bob.id] });
      const low = await folder({ parent_id: middle.id });
      const inMiddle = await task({ folder_id: middle.id });
      const inLow = await task({ folder_id: low.id });
      const { status, body } = await alice.api.delete(`/task_folders/${middle.id}`);
      expect([status, body.deleted, body.folder.id, body.task_folder.id]).toEqual([
        200,
        true,
        middle.id,
        middle.id,
      ]);
      expect((await alice.api.get(`/task_folders/${middle.id}`)).status).toBe(404);
      expect((await alice.api.get(`/tasks/${inMiddle.id}`)).body.task).toMatchObject({
        folder_id: null,
        deleted: false,
      });
      expect((await alice.api.get(`/task_folders/${low.id}`)).body.folder.parent_id).toBe(top.id);
      expect(await row(bob, middle.id)).toMatchObject({ role: null, gone: 2 });
      expect(await row(bob, low.id)).toMatchObject({ role: null, gone: 1 });
      expect((await bob.api.get(`/tasks/${inLow.id}`)).status).toBe(404);
      expect((await carol.api.get(`/tasks/${inLow.id}`)).status).toBe(200);
      expect((await carol.api.get(`/tasks/${inMiddle.id}`)).status).toBe(404);
      expect(outcome(await alice.api.delete(`/task_folders/${middle.id}`))).toEqual([404, 'not_found']);
    });

    test('with contents=delete own tasks go to the trash, tasks of others stay', async () => {
      const top = await folder({ members: [bob.id] });
      const low = await folder({ parent_id: top.id });
      const own = await task({ folder_id: low.id, assignees: [carol.id] });
      const bobs = await task({ folder_id: top.id }, bob);
      const { status } = await alice.api.delete(`/task_folders/${top.id}?contents=delete`);
      expect(status).toBe(200);
      expect((await alice.api.get('/tasks?state=trash')).body.tasks.map((t: any) => t.id)).toContain(own.id);
      expect((await carol.api.get(`/tasks/${own.id}`)).body.task.deleted).toBe(true);
      expect((await bob.api.get(`/tasks/${bobs.id}`)).body.task).toMatchObject({
        deleted: false,
        folder_id: null,
      });
      expect((await alice.api.get(`/tasks/${bobs.id}`)).status).toBe(404);
      expect((await bob.api.get(`/tasks/${own.id}`)).status).toBe(404);
      expect((await alice.api.get(`/task_folders/${low.id}`)).status).toBe(404);
      expect((await alice.api.post(`/tasks/${own.id}/restore`)).body.task).toMatchObject({
        deleted: false,
        folder_id: null,
      });
      expect(outcome(await alice.api.delete(`/task_folders/${low.id}?contents=all`))).toEqual([
        422,
        'validation_failed',
      ]);
    });

    test('with contents=delete many tasks go to the trash in several transactions', async () => {
      const [dora] = await app.tenant('many', 'dora');
      const { id } = await folder({}, dora);
      await task({ folder_id: id, title: 'seed of many' }, dora);
      await app.sql(
        `INSERT INTO tasks SELECT x.* FROM tasks t, generate_series(1, 2499) n,
           LATERAL jsonb_populate_record(t, jsonb_build_object('id', uuid_v7(), 'title', n)) x WHERE t.title = 'seed of many'`,
      );
      const before = (await dora.api.get(`/task_folders/${id}`)).body.folder;
      const { status, body } = await dora.api.delete(`/task_folders/${id}?contents=delete`);
      expect([status, body.deleted, body.folder]).toEqual([200, true, before]);
      const batches = await app.sql(
        `SELECT count(*)::int FROM task_activity WHERE tenant_id = $1 AND type = 'deleted' GROUP BY xmin::text ORDER BY count`,
        [dora.tenantId],
      );
      expect(batches.map(({ count }) => count)).toEqual([500, 1_000, 1_000]);
      const left = await app.sql(
        `SELECT id FROM tasks WHERE tenant_id = $1 AND (folder_id IS NOT NULL OR deleted_at IS NULL)`,
        [dora.tenantId],
      );
      expect(left).toEqual([]);
      expect(await row(dora, id)).toMatchObject({ role: null, gone: 2 });
    });

    test('with contents=keep many tasks leave the folder in several transactions', async () => {
      const [dora, emil] = await app.tenant('keeping', 'dora', 'emil');
      const top = await folder({ members: [emil.id] }, dora);
      const low = await folder({ parent_id: top.id }, dora);
      const below = await task({ folder_id: low.id, title: 'below' }, dora);
      await task({ folder_id: top.id, title: 'seed of keeping' }, dora);
      await app.sql(
        `INSERT INTO tasks SELECT x.* FROM tasks t, generate_series(1, 2499) n,
           LATERAL jsonb_populate_record(t, jsonb_build_object('id', uuid_v7(), 'title', n)) x WHERE t.title = 'seed of keeping'`,
      );
      const before = (await dora.api.get(`/task_folders/${top.id}`)).body.folder;
      const { status, body } = await dora.api.delete(`/task_folders/${top.id}`);
      expect([status, body.deleted, body.folder]).toEqual([200, true, before]);
      const batches = await app.sql(
        `SELECT count(*)::int FROM tasks WHERE tenant_id = $1 AND id <> $2 AND folder_id IS NULL GROUP BY xmin::text ORDER BY count`,
        [dora.tenantId, below.id],
      );
      expect(batches.map(({ count }) => count)).toEqual([500, 1_000, 1_000]);
      expect((await dora.api.get(`/tasks/${below.id}`)).body.task.folder_id).toBe(low.id);
      expect((await dora.api.get(`/task_folders/${low.id}`)).body.folder.parent_id).toBeNull();
      const left = await app.sql(`SELECT task_id FROM task_members WHERE user_id = $1 AND role IS NOT NULL`, [
        emil.id,
      ]);
      expect(left).toEqual([]);
    });
  });

  describe('manual order', () => {
    test('first, last, before, after and keys', async () => {
      const { id } = await folder();
      const [a, b, c] = [
        await task({ title: 'a', folder_id: id }),
        await task({ title: 'b', folder_id: id }),
        await task({ title: 'c', folder_id: id }),
      ];
      const order = async () =>
        (await alice.api.get(`/tasks?folder_id=${id}&sort=position`)).body.tasks
          .map((t: any) => t.title)
          .join('');
      const move = async (t: any, position: unknown) => {
        expect((await alice.api.patch(`/tasks/${t.id}`, { position })).status).toBe(200);
        return order();
      };
      expect(await order()).toBe('abc');
      expect(await move(c, 'first')).toBe('cab');
      expect(await move(c, { after: a.id })).toBe('acb');
      expect(await move(a, { before: b.id })).toBe('cab');
      expect(await move(a, 'last')).toBe('cba');
      expect(await move(c, 'last')).toBe('bac');
      const { position } = (await alice.api.get(`/tasks/${a.id}`)).body.task;
      expect(await move(b, `${position}V`)).toBe('abc');
      expect((await task({ title: 'd', folder_id: id, position: 'first' })).position < position).toBe(true);
      expect(await order()).toBe('dabc');
      for (let n = 0; n < 300; n += 1)
        await alice.api.patch(`/tasks/${n % 2 ? a.id : b.id}`, { position: { after: (n % 2 ? b : a).id } });
      expect(await order()).toBe('dbac');
    });
  });
});
