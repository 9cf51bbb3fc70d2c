import { OutboxWorker } from '../../src/platform/events/outbox.worker.js';
import { TestApp, type Person } from '../support/app.ts';
import type { RequestOptions } from '../support/client.ts';
import { form } from '../support/multipart.ts';
import { describedOperations, fillPath } from '../support/operations.ts';

/** Calls every route that has an id with a token of another workspace, and of the same person in another workspace. */
describe('the tenancy matrix', () => {
  let app: TestApp;
  let alice: Person;
  let strangers: [string, Person][];

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = (await app.tenant('acme', 'alice')) as [Person];
    const [mallory] = (await app.tenant('evil', 'mallory')) as [Person];
    const twin = await app.member('evil', alice.email);
    strangers = [
      ['another workspace', mallory],
      ['the same person in another workspace', twin],
    ];
  });
  afterAll(() => app?.stop());

  /** An object of each kind that a path parameter can name, made by alice; keyed by the path's first segment. */
  const make: Record<string, () => Promise<{ id: string; body: object }>> = {
    notes: async () => {
      const { id } = (await alice.api.post('/notes', { title: 'secret', content: '<p>secret</p>' })).body
        .note;
      return { id, body: { title: 'stolen', base_revision: 1, invited: [] } };
    },
    note_folders: async () => {
      const { id } = (await alice.api.post('/note_folders', { name: 'secret' })).body.folder;
      return { id, body: { name: 'stolen' } };
    },
    tasks: async () => {
      const { id } = (await alice.api.post('/tasks', { title: 'secret', description: '<p>secret</p>' })).body
        .task;
      return { id, body: { title: 'stolen', body: 'stolen' } };
    },
    task_folders: async () => {
      const { id } = (await alice.api.post('/task_folders', { name: 'secret' })).body.folder;
      return { id, body: { name: 'stolen', members: [] } };
    },
  };

  const withId = describedOperations().filter(
    ({ path, spec }) => path.includes('{') && spec.security.length > 0,
  );

  /** What a stranger sends: a form where one is asked for. */
  const sent = (method: string, spec: any, body: object): RequestOptions => {
    if (method === 'GET') return {};
    return spec.requestBody?.content['multipart/form-data']
      ? form({ filename: 'stolen', content: 'stolen' })
      : { body };
  };

  test.each(withId.map(({ method, path, spec }) => [method, path, spec] as const))(
    '%s %s',
    async (method, path, spec) => {
      const kind = path.split('/')[3] as string;
      const { id, body } = await make[kind]!();
      const before = await snapshot();
      const unknown = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';
      for (const [who, stranger] of strangers) {
        const call = (target: string) =>
          stranger.api.request(
            method,
            fillPath(path, target).replace('/apis/v1', ''),
            sent(method, spec, body),
          );
        const [theirs, nobodys] = [await call(id), await call(unknown)];
        expect([who, theirs.status]).toEqual([who, 404]);
        expect(theirs.body).toEqual(nobodys.body);
        expect(theirs.text).not.toContain('secret');
      }
      expect(await snapshot()).toEqual(before);
    },
  );

  test('covers each kind of object there is', () => {
    const kinds = new Set(withId.map(({ path }) => path.split('/')[3]));
    expect(kinds).toEqual(new Set(Object.keys(make)));
  });

  test('lists show nothing of another workspace', async () => {
    for (const one of Object.values(make)) await one();
    for (const [, stranger] of strangers) {
      for (const { path } of describedOperations().filter(
        ({ method, path, spec }) => method === 'GET' && !path.includes('{') && spec.security.length > 0,
      )) {
        expect((await stranger.api.get(path.replace('/apis/v1', ''))).text).not.toContain('secret');
      }
    }
  });

  /** Everything stored, except what strangers may change by merely calling. */
  async function snapshot(): Promise<unknown> {
    await app.get(OutboxWorker).drain();
    const tables = await app.sql<{ t: string }>(
      `SELECT table_name AS t FROM information_schema.columns
        WHERE table_schema = 'public' AND column_name = 'tenant_id' AND table_name NOT IN ('outbox', 'note_views', 'sessions') ORDER BY 1`,
    );
    const rows: unknown[] = [];
    for (const { t } of tables)
      rows.push(
        await app.sql(
          `SELECT '${t}' AS t, md5(string_agg(x::text, '|' ORDER BY x::text)) AS h, count(*)::int AS n FROM ${t} x`,
        ),
      );
    return rows;
  }
});
