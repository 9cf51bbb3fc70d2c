import { TestApp, type TestUser } from '../../support/app.ts';

/** Texts without a visible character: blanks, a zero-width space, fillers, an empty bidirectional override. */
const INVISIBLE = ['   ', '\u200b', '\u3164', '\u2800', '\u00ad\ufe0f', '\u2066\u2069'];

type Body = (text: string) => object;

describe('texts that name something have a visible character', () => {
  let app: TestApp;
  let alice: TestUser;
  let ids: Record<string, string>;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
    ids = {
      task: (await alice.api.post('/tasks', { title: 'Task' })).body.task.id,
      book: (await alice.api.post('/contact/addressbooks', { name: 'x' })).body.addressbook.id,
      note: (await alice.api.post('/notes', { title: 'Note' })).body.note.id,
      calendar: (await alice.api.post('/calendar', { name: 'x' })).body.calendar.id,
    };
  });
  afterAll(() => app?.stop());

  const path = (template: string): string =>
    template.replace(/:(\w+)/, (_, name: string) => ids[name] ?? name);
  const event = (fields: object): object => ({
    title: 'x',
    start: { date_time: '2027-03-02T09:00:00', time_zone: 'UTC' },
    ...fields,
  });

  /** The field, its route, and the body with a text in it. */
  const REQUIRED: [field: string, route: string, body: Body][] = [
    ['title', '/tasks', (title) => ({ title })],
    ['labels', '/tasks', (label) => ({ title: 'x', labels: ['seen', label] })],
    ['title', '/tasks/:task/subtasks', (title) => ({ title })],
    ['body', '/tasks/:task/comments', (body) => ({ body })],
    ['name', '/task_folders', (name) => ({ name })],
    ['name', '/note_folders', (name) => ({ name })],
    ['labels', '/notes', (label) => ({ title: 'x', labels: ['seen', label] })],
    ['categories', '/calendar/:calendar/events', (category) => event({ categories: [category] })],
  ];
  /** Fields that may be empty, or left out. */
  const OPTIONAL: [field: string, route: string, body: Body][] = [
    ['group', '/tasks', (group) => ({ title: 'x', group })],
    ['device_id', '/tasks', (device_id) => ({ title: 'x', device_id })],
    [
      'references.0.title',
      '/tasks',
      (title) => ({ title: 'x', references: [{ type: 'url', url: 'https://x.test', title }] }),
    ],
    ['title', '/notes', (title) => ({ title })],
    ['device_id', '/notes', (device_id) => ({ title: 'x', device_id })],
    ['location', '/calendar/:calendar/events', (location) => event({ location })],
  ];
  const outcome = async (route: string, body: object) => {
    const { status, body: response } = await alice.api.post(path(route), body);
    return [status, response.details?.[0].field];
  };

  test.each([...REQUIRED, ...OPTIONAL])('%s of %s', async (field, route, body) => {
    for (const text of INVISIBLE)
      expect([text, ...(await outcome(route, body(text)))]).toEqual([text, 422, field]);
    expect(await outcome(route, body('⚓'))).toEqual([201, undefined]);
  });

  test.each(OPTIONAL)('%s of %s may be empty', async (_, route, body) => {
    expect(await outcome(route, body(''))).toEqual([201, undefined]);
  });

  test('a line that is trimmed to nothing is empty, another one needs a visible character', async () => {
    const body = (text: string): object => event({ title: text });
    expect((await outcome('/calendar/:calendar/events', body(' ')))[0]).toBe(201);
    for (const text of INVISIBLE.slice(1, 5))
      expect([text, ...(await outcome('/calendar/:calendar/events', body(text)))]).toEqual([
        text,
        422,
        'title',
      ]);
    expect((await alice.api.put('/settings/profile', { given_name: '\u3164' })).status).toBe(422);
  });

  test('a task takes the title of its note only where one sees it', async () => {
    const { body } = await alice.api.post(`/notes/${ids['note']}/task`, { title: '\u200b' });
    expect(body.task.title).toBe('Note');
  });

  test('texts of a contact that no one sees are missing', async () => {
    const { body } = await alice.api.post(`/contact/addressbooks/${ids['book']}/contacts`, {
      full_name: 'Ann Lee',
      categories: ['\u200b', 'customers'],
      organization: { name: '\u3164' },
    });
    expect([body.contact?.categories, body.contact?.organization?.name ?? null]).toEqual([
      ['customers'],
      null,
    ]);
  });
});
