import { jest } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { definitionOf, ok, published } from '../../support/domains/forms.ts';

/** Long content that PostgreSQL compresses: two rows of it fit a page, three do not. */
const LONG = 1_500_000;
const ROWS = 5;

/** A list of `ROWS` rows, and SQL that makes each of them long. */
interface LongList {
  path: string;
  name: string;
  sql: string;
  values?: unknown[];
}

describe('lists whose rows are long end at the bytes of a page', () => {
  let app: TestApp;
  let ann: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann, bob] = await app.tenant('acme', 'ann', 'bob');
  });
  afterAll(() => app?.stop());

  const times = async <T>(make: (n: number) => Promise<T>): Promise<T[]> => {
    const made: T[] = [];
    for (let n = 1; n <= ROWS; n += 1) made.push(await make(n));
    return made;
  };
  const post = async (path: string, body: object): Promise<any> => ok(await ann.api.post(path, body), 201);

  const LISTS: Record<string, () => Promise<LongList>> = {
    signatures: async () => {
      await times((n) => post('/settings/signatures', { name: `${n}`, html: '<p>x</p>' }));
      return { path: '/settings/signatures', name: 'signatures', sql: `UPDATE signatures SET html = $1` };
    },
    'comments of a task': async () => {
      const { task } = await post('/tasks', { title: 'T' });
      await times((n) => post(`/tasks/${task.id}/comments`, { body: `${n}` }));
      return {
        path: `/tasks/${task.id}/comments`,
        name: 'comments',
        sql: `UPDATE task_comments SET body = $1`,
      };
    },
    'found tasks': async () => {
      await times((n) => post('/tasks', { title: `Needle ${n}`, subtasks: [] }));
      const sql = `UPDATE tasks SET attachments = jsonb_build_array(jsonb_build_object('id', id, 'name', $1::text, 'size', 1,
                     'content_type', 'text/plain', 'sha256', repeat('a3', 32), 'url', '/', 'created_by', id,
                     'created_at', '2026-01-01T00:00:00.000Z')) WHERE title LIKE 'Needle%'`;
      return { path: '/search/tasks?q=needle', name: 'tasks', sql };
    },
    'found notes': async () => {
      await times((n) => post('/notes', { title: `Needle ${n}`, content: '' }));
      const sql = `UPDATE notes SET links = (
                     SELECT jsonb_agg(jsonb_build_object('type', 'task', 'id', md5(n::text)::uuid, 'created_at', '2026-01-01T00:00:00.000Z'))
                       FROM generate_series(1, length($1) / 200) n)`;
      return { path: '/search/notes?q=needle', name: 'notes', sql };
    },
    'found events': async () => {
      const { calendar } = await post('/calendar', { name: 'C', time_zone: 'UTC' });
      await times((n) =>
        post(`/calendar/${calendar.id}/events`, { title: `Needle ${n}`, start: `2026-05-0${n}` }),
      );
      const sql = `UPDATE calendar_events SET description = $1`;
      return { path: '/search/calendar?q=needle', name: 'events', sql };
    },
    forms: async () => {
      await times((n) => post('/forms', { title: `Needle ${n}` }));
      return { path: '/forms', name: 'forms', sql: `UPDATE forms SET description = $1` };
    },
    'found forms': async () => {
      const forms = await times((n) => post('/forms', { title: `Thread ${n}` }));
      const sql = `UPDATE forms SET description = $1 WHERE id = ANY ($2)`;
      return {
        path: '/search/forms?q=thread',
        name: 'results',
        sql,
        values: [forms.map(({ form }) => form.id)],
      };
    },
    'reports of a form': async () => {
      const form = await published(ann, definitionOf([{ id: 't', type: 'long_text', title: 'T' }]));
      await times((n) => post(`/forms/${form.id}/reports`, { name: `${n}`, definition: { columns: ['t'] } }));
      const sql = `UPDATE form_reports SET definition = definition || jsonb_build_object('group_by', $1::text)`;
      return { path: `/forms/${form.id}/reports`, name: 'reports', sql };
    },
    'messages of a room': async () => {
      const { room } = await post('/chat/rooms', { type: 'group', name: 'R', member_ids: [bob.id] });
      for (let n = 1; n <= ROWS; n += 1)
        await post(`/chat/rooms/${room.id}/messages`, { body: `${n}`, client_msg_id: crypto.randomUUID() });
      return {
        path: `/chat/rooms/${room.id}/messages`,
        name: 'messages',
        sql: `UPDATE chat_messages SET body = $1`,
      };
    },
    rooms: async () => {
      const rooms = await times((n) =>
        post('/chat/rooms', { type: 'group', name: `Rooms ${n}`, member_ids: [] }),
      );
      const sql = `UPDATE chat_rooms SET topic = $1, active_at = now() + interval '1 day' WHERE id = ANY ($2)`;
      return { path: '/chat/rooms', name: 'rooms', sql, values: [rooms.map(({ room }) => room.id)] };
    },
    calendars: async () => {
      await times((n) => post('/calendar', { name: `Long ${n}` }));
      return { path: '/calendar', name: 'calendars', sql: `UPDATE calendars SET description = $1` };
    },
    'address books': async () => {
      await times((n) => post('/contact/addressbooks', { name: `Long ${n}` }));
      return {
        path: '/contact/addressbooks',
        name: 'addressbooks',
        sql: `UPDATE addressbooks SET description = $1`,
      };
    },
    'all address books': async () => {
      await app.sql(`UPDATE addressbooks SET description = ''`);
      await times((n) => post('/contact/addressbooks', { name: `All ${n}` }));
      const sql = `UPDATE addressbooks SET description = $1`;
      return { path: '/contact/useraddressbooks', name: 'addressbooks', sql };
    },
    'revisions of a note': async () => {
      const { note } = await post('/notes', { title: 'R', content: '' });
      for (let n = 1; n < ROWS; n += 1)
        ok(await ann.api.patch(`/notes/${note.id}`, { title: `R${n}`, base_revision: n }), 200);
      const sql = `UPDATE note_revisions SET title = $1 WHERE note_id = $2`;
      return { path: `/notes/${note.id}/revisions`, name: 'revisions', sql, values: [note.id] };
    },
    contacts: async () => {
      const { addressbook } = await post('/contact/addressbooks', { name: 'Contacts' });
      await times((n) => post(`/contact/addressbooks/${addressbook.id}/contacts`, { full_name: `C${n}` }));
      const sql = `UPDATE contacts SET card = json_build_object('full_name', 'C', 'notes', $1::text), size = length($1)
                    WHERE addressbook_id = $2`;
      return {
        path: `/contact/addressbooks/${addressbook.id}/contacts`,
        name: 'contacts',
        sql,
        values: [addressbook.id],
      };
    },
  };

  test.each(Object.keys(LISTS))('%s', async (which) => {
    const { path, name, sql, values = [] } = await LISTS[which]!();
    const idOf = (row: any) => row.id ?? row.form?.id ?? row.revision;
    const join = path.includes('?') ? '&' : '?';
    const isChat = which === 'messages of a room';
    const before = ok(await ann.api.get(path), 200)[name].map(idOf);
    expect(before.length).toBeGreaterThanOrEqual(ROWS);
    await app.sql(sql, ['a'.repeat(LONG), ...values]);
    const query = jest.spyOn(Database.prototype, 'query');
    const pages: any[][] = [];
    for (let cursor = ''; ;) {
      const body = ok(await ann.api.get(`${path}${cursor}`), 200);
      pages.push(body[name].map(idOf));
      if (isChat ? !body.has_more : body.next === null) break;
      cursor = isChat
        ? `${join}before_seq=${body[name][0].seq}`
        : `${join}cursor=${encodeURIComponent(body.next)}`;
    }
    const results = await Promise.all(query.mock.results.map(({ value }) => value));
    query.mockRestore();
    expect((isChat ? pages.toReversed() : pages).flat()).toEqual(before);
    expect(pages.length).toBeGreaterThan(1);
    expect(Math.max(...pages.map((rows) => rows.length))).toBeLessThan(ROWS);
    expect(Math.max(...results.map((rows) => JSON.stringify(rows).length))).toBeLessThan(3 * LONG);
  });
});
