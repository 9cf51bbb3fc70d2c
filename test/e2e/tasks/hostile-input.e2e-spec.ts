import fc from 'fast-check';
import { TestApp, type TestUser } from '../../support/app.ts';
import { runs } from '../../support/property-runs.ts';

/** Each request gets a response, and none an internal error. */
describe('hostile input to tasks', () => {
  let app: TestApp;
  let alice: TestUser;
  let ids: Record<string, string>;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
    const { api } = alice;
    const folder = (await api.post('/task_folders', { name: 'f' })).body.folder.id;
    const task = (await api.post('/tasks', { title: 't', folder_id: folder, date: '2026-01-05' })).body.task
      .id;
    const subtask = (await api.post(`/tasks/${task}/subtasks`, { title: 's' })).body.subtask.id;
    const comment = (await api.post(`/tasks/${task}/comments`, { body: 'c' })).body.comment.id;
    const note = (await api.post('/notes', { title: 'n' })).body.note.id;
    ids = { folder, task, subtask, comment, note };
  });
  afterAll(() => app?.stop());

  const FIELDS = [
    'id',
    'title',
    'description',
    'status',
    'done',
    'date',
    'due_at',
    'time_zone',
    'priority',
    'group',
    'folder_id',
    'labels',
    'assignees',
    'references',
    'reminders',
    'recurrence',
    'position',
    'base_revision',
    'body',
    'text',
    'assignee',
    'name',
    'parent_id',
    'color',
    'members',
    'limit',
    'cursor',
    'sort',
    'overdue',
    'assignee',
    'note_id',
    'label',
    'q',
    'state',
    'contents',
  ];
  const nasty = fc.oneof(
    fc.constantFrom<unknown>(
      '\0',
      '\uD800',
      'x'.repeat(3_000),
      '',
      ' ',
      -1,
      0,
      2 ** 31,
      2 ** 53,
      1e308,
      true,
      null,
      [],
      {},
      [[]],
      [null],
      [{}],
      { toString: 1 },
      { before: '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000' },
      { after: 7, before: 7 },
      '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000',
      '9999-12-31',
      '1900-01-01',
      '9998-12-31T23:59:59Z',
      '1900-01-01T00:00:00-14:00',
      'Europe/Paris',
      'Etc/GMT+12',
      'EST5EDT',
      'FREQ=DAILY',
      'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
      'z'.repeat(200),
      'A00000000000000000000000000',
      'first',
      'a0',
      'a00',
      '~',
      [{ minutes_before: 1e9 }],
      [{ minutes_before: 527_040 }],
      [{ at: '9999-01-01T00:00:00Z' }],
      [{ type: 'note', id: '\0' }],
      [{ type: 'url', url: 'http://[::1]/\uD800' }],
      [{ email: 'x\0@y' }],
      ['x'.repeat(400)],
      Array(300).fill('a'),
    ),
    fc.jsonValue({ maxDepth: 3 }),
  );
  const bodies = fc.dictionary(fc.constantFrom(...FIELDS), nasty, { maxKeys: 5 });
  const routes = (): [string, string][] => [
    ['POST', '/tasks'],
    ['PATCH', `/tasks/${ids['task']}`],
    ['PUT', `/tasks/${ids['task']}`],
    ['POST', `/tasks/${ids['task']}/subtasks`],
    ['PUT', `/tasks/${ids['task']}/subtasks/${ids['subtask']}`],
    ['POST', `/tasks/${ids['task']}/comments`],
    ['PATCH', `/tasks/${ids['task']}/comments/${ids['comment']}`],
    ['POST', '/task_folders'],
    ['PATCH', `/task_folders/${ids['folder']}`],
    ['POST', `/notes/${ids['note']}/task`],
  ];
  const known = (status: number) => [200, 201, 400, 404, 409, 413, 422].includes(status);

  // The validator takes a list for its entries, and finds nothing wrong with an empty one.
  const NO_ENTRIES = [[null], [[]], [[null]], [[{}]], [false], [1], [[[]]]];
  const NO_OBJECTS = [[], [[]], [{}], false, 1];
  test.each([
    ['assignees', 'PATCH', '/tasks/{task}', NO_ENTRIES],
    ['references', 'PATCH', '/tasks/{task}', NO_ENTRIES],
    ['reminders', 'PATCH', '/tasks/{task}', NO_ENTRIES],
    ['recurrence', 'PATCH', '/tasks/{task}', NO_OBJECTS],
    ['assignee', 'PUT', '/tasks/{task}/subtasks/{subtask}', NO_OBJECTS],
    ['members', 'PATCH', '/task_folders/{folder}', NO_ENTRIES],
    ['invited', 'PUT', '/notes/{note}/invited', NO_ENTRIES],
  ] as [string, string, string, unknown[]][])(
    '%s: a list in the place of an object',
    async (field, method, template, values) => {
      const path = template.replace(/\{(\w+)\}/g, (_, name: string) => ids[name]!);
      for (const value of values) {
        const { status, body } = await alice.api.request(method, path, { body: { [field]: value } });
        expect([value, status, body.error]).toEqual([value, 422, 'validation_failed']);
      }
    },
  );

  test('bodies', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(9), bodies, fc.boolean(), async (n, body, titled) => {
        const [method, path] = routes()[n]!;
        const sent = titled ? { ...body, title: 'x', name: 'x', body: 'x', id: undefined } : body;
        const { status, text } = await alice.api.request(method, path, { body: sent });
        expect([method, path, status, known(status) ? '' : text]).toEqual([method, path, status, '']);
      }),
      { numRuns: runs(200) },
    );
    expect((await alice.api.get(`/tasks/${ids['task']}/panel`)).status).toBe(200);
    expect((await alice.api.get('/tasks?limit=200')).status).toBe(200);
  });

  test('queries', async () => {
    const values = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      nasty.map((value) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...FIELDS), values), { maxLength: 4 }),
        async (pairs) => {
          const query = pairs
            .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
            .join('&');
          for (const path of ['/tasks', '/task_folders', `/tasks/${ids['task']}/comments`]) {
            const { status, text } = await alice.api.get(`${path}?${query}`);
            expect([path, query, status, known(status) ? '' : text]).toEqual([path, query, status, '']);
          }
        },
      ),
      { numRuns: runs(60) },
    );
  });

  test('every zone of the runtime is accepted or rejected, never an internal error', async () => {
    const zones = [
      ...Intl.supportedValuesOf('timeZone'),
      'EST',
      'CET',
      'GMT',
      'Zulu',
      'posixrules',
      'localtime',
      'Factory',
      'right/UTC',
    ];
    const odd = await Promise.all(
      zones.map(async (time_zone) => {
        const { status } = await alice.api.post('/tasks', { title: 'z', date: '2026-03-29', time_zone });
        return [201, 422].includes(status) ? [] : [`${time_zone} ${status}`];
      }),
    );
    expect(odd.flat()).toEqual([]);
  });
});
