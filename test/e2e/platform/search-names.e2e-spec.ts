import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DirectoryBackfill } from '../../../src/modules/tenants/directory-backfill.js';
import { provision } from '../../../src/provision/provision.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { at, newCalendar } from '../../support/domains/calendars.ts';

/** Names with an apostrophe, with wildcards of LIKE, without either, in kana, and with digits of other scripts. */
const NAMES = [
  'Síle O’Brien-Smith',
  'Zed 100% a_b',
  'Plain Person',
  'カタカナ さゆり',
  'غرفة ٢٠٤٨',
  'ห้อง ๑๐๒๔',
] as const;
const [IRISH, ODD, , KANA, NUMBERED, THAI] = NAMES;
const SPELLINGS = [
  'obrien',
  'o brien',
  "O'Brien",
  'O’Brien',
  'Oʼbrien',
  'O´Brien',
  'obriensmith',
  'brien smith',
];

describe('names in searches', () => {
  let app: TestApp;
  let ann: TestUser;
  let calendar: string;
  let room: string;
  let form: string;

  beforeAll(async () => {
    app = await TestApp.start();
    const users = ['Ann', ...NAMES].map((name, n) => ({
      name,
      email: `user${n}@names.example`,
      role: n === 0 ? ('owner' as const) : ('member' as const),
    }));
    const { users: made } = await provision(app.served.nest, { tenants: [{ slug: 'names', users }] }, true);
    const [first, second] = made as [(typeof made)[0], (typeof made)[0]];
    ann = { ...first, tenantId: first.tenant_id, token: first.token!, api: app.as(first.token!) };
    calendar = await newCalendar(ann, 'Work');
    const { api } = ann;
    const created = async (path: string, body: object) => {
      const response = await api.post(path, body);
      expect([path, response.status, response.body]).toEqual([path, 201, expect.anything()]);
      return response.body;
    };
    ({ id: room } = (
      await created('/chat/rooms', { type: 'group', name: 'Room', member_ids: [second.id] })
    ).room);
    const books = (await api.get('/contact/addressbooks')).body.addressbooks;
    const book = books.find(({ kind }: any) => kind !== 'global').id;
    for (const name of NAMES) {
      await created('/notes', { title: `About ${name}`, content: `<p>${name}</p>` });
      await created('/tasks', { title: `Call ${name}` });
      await created(`/calendar/${calendar}/events`, {
        title: `Meet ${name}`,
        start: at('2026-05-04T10:00:00'),
        end: at('2026-05-04T11:00:00'),
      });
      await created(`/contact/addressbooks/${book}/contacts`, { full_name: name });
      await created(`/chat/rooms/${room}/messages`, { client_msg_id: randomUUID(), body: `Ask ${name}` });
      await created('/rbac/groups', { name: `Friends of ${name}` });
      ({ id: form } = (await created('/forms', { title: `Survey of ${name}` })).form);
    }
    paths = pathsOf(book);
  });
  afterAll(() => app?.stop());

  let paths: Record<string, string>;
  const pathsOf = (book: string): Record<string, string> => ({
    'the search in notes': '/search/notes?',
    'the search in tasks': '/search/tasks?',
    'the search in events': '/search/calendar?',
    contacts: `/contact/addressbooks/${book}/contacts?`,
    'cards of members': `/contact/addressbooks/${book}/global?`,
    'the directory of cards': '/contact/directory?',
    'the directory': '/directory/search?kinds=user&',
    groups: '/directory/search?kinds=group&',
    'users of the chat': '/chat/users?',
    messages: `/chat/rooms/${room}/messages?`,
    'the list of notes': '/notes?',
    'the list of tasks': '/tasks?',
    'the list of events': `/calendar/${calendar}/events?`,
    instances: `/calendar/${calendar}/instances?from=2026-05-01T00:00:00Z&to=2026-05-31T00:00:00Z&`,
    'the list of forms': '/forms?',
    'the search in forms': '/search/forms?',
    'suggested titles': '/calendar/title-suggestions?',
    'responses of a form': `/forms/${form}/responses?`,
    'addresses of messages': '/contact/extract?',
  });
  /** Names that the results of a search show. */
  const found = async (kind: string, q: string): Promise<string[]> => {
    const { status, body } = await ann.api.get(`${paths[kind]}q=${encodeURIComponent(q)}`);
    // Some searches need letters.
    if (status === 422 && !/[a-z]/i.test(q)) return [];
    expect([kind, q, status]).toEqual([kind, q, 200]);
    const { query: _, ...shown } = body;
    return NAMES.filter((name) => JSON.stringify(shown).includes(name));
  };

  test.each([
    'the search in notes',
    'the search in tasks',
    'the search in events',
    'contacts',
    'cards of members',
    'the directory of cards',
    'the directory',
    'groups',
    'users of the chat',
    'messages',
  ])('%s: a name with an apostrophe and a hyphen is found in each spelling', async (kind) => {
    for (const q of SPELLINGS) expect([q, await found(kind, q)]).toEqual([q, [IRISH]]);
  });

  test.each([
    'the list of notes',
    'the list of tasks',
    'the list of events',
    'instances',
    'the list of forms',
  ])('%s: a title is found with any apostrophe and hyphen', async (kind) => {
    for (const q of ["O'Brien-S", 'O’Brien‐Smith', 'oʼbrien'])
      expect([q, await found(kind, q)]).toEqual([q, [IRISH]]);
  });

  test.each([
    'the search in notes',
    'the search in tasks',
    'the search in events',
    'contacts',
    'cards of members',
    'the directory of cards',
    'the directory',
    'groups',
    'users of the chat',
    'messages',
    'the list of notes',
    'the list of tasks',
    'the list of events',
    'instances',
    'the list of forms',
    'the search in forms',
    'suggested titles',
  ])('%s: a name is found in hiragana and in katakana', async (kind) => {
    for (const q of ['カタカナ', 'かたかな', 'ｶﾀｶﾅ', 'サユリ', 'さゆり'])
      expect([q, await found(kind, q)]).toEqual([q, [KANA]]);
  });

  test.each([
    'the search in notes',
    'the search in tasks',
    'the search in events',
    'contacts',
    'cards of members',
    'the directory of cards',
    'the directory',
    'groups',
    'users of the chat',
    'messages',
    'the list of notes',
    'the list of tasks',
    'the list of events',
    'instances',
    'the list of forms',
    'the search in forms',
    'suggested titles',
  ])('%s: a number is found in the digits of any script', async (kind) => {
    for (const q of ['2048', '٢٠٤٨', '۲۰۴۸', '२०४८', '２０４８', '๒๐๔๘'])
      expect([q, await found(kind, q)]).toEqual([q, [NUMBERED]]);
    for (const q of ['1024', '१०२४']) expect([q, await found(kind, q)]).toEqual([q, [THAI]]);
  });

  test('the excerpt of a result marks the name', async () => {
    const { notes } = (await ann.api.get('/search/notes?q=obrien')).body;
    expect(notes[0].highlights).toEqual({
      title: 'About Síle <mark>O’Brien-Smith</mark>',
      content: 'Síle <mark>O’Brien-Smith</mark>',
    });
  });

  test('contacts and members of earlier versions are found in one word', async () => {
    const names = [
      'Zoë D´Été',
      'Ana Sá-Nunes',
      'Jean-Luc',
      'Петро Пʼять',
      'Ann - Brown',
      "Pat d'Arcy-O'Hara",
    ];
    const { addressbooks } = (await ann.api.get('/contact/addressbooks')).body;
    const book = addressbooks.find(({ kind }: any) => kind !== 'global').id;
    for (const full_name of names) {
      const fields = { full_name, nicknames: ['Mary-Jo'] };
      expect((await ann.api.post(`/contact/addressbooks/${book}/contacts`, fields)).status).toBe(201);
    }
    const stored = () =>
      app.sql(
        `SELECT card->>'full_name' AS name, words, (SELECT array_agg(word ORDER BY word) FROM contact_words WHERE contact_id = id) AS listed
           FROM contacts WHERE addressbook_id = $1 ORDER BY id`,
        [book],
      );
    const sorted = (rows: any[]) => rows.map(({ words, ...row }) => ({ ...row, words: words.toSorted() }));
    const before = sorted(await stored());
    const joined = ['dete', 'sanunes', 'jeanluc', 'darcyohara', 'maryjo', 'obriensmith'];
    await app.sql(`DELETE FROM contact_words WHERE word = ANY ($1)`, [joined]);
    await app.sql(
      `UPDATE contacts SET words = ARRAY(SELECT word FROM unnest(words) AS word WHERE word <> ALL ($1)) WHERE addressbook_id = $2`,
      [joined, book],
    );
    const migration = async (file: string): Promise<void> => {
      const url = new URL(`../../../src/modules/${file}`, import.meta.url);
      await app.sql(readFileSync(url, 'utf8'));
    };
    await migration('contacts/migrations/0010-joined-words.sql');
    expect(sorted(await stored())).toEqual(before);
    await migration('contacts/migrations/0010-joined-words.sql');
    expect(sorted(await stored())).toEqual(before);

    await app.sql(`UPDATE tenant_members SET folded = replace(folded, ' obrien', '')`);
    await migration('tenants/migrations/0304-joined-words.sql');
    await app.get(DirectoryBackfill).run();
    expect(await found('the directory', 'obrien')).toEqual([IRISH]);

    await app.sql(
      `UPDATE tenant_members SET folded = regexp_replace(folded, ' (カタカナ|かたかな)', '', 'g')`,
    );
    expect(await found('the directory', 'かたかな')).toEqual([]);
    await migration('tenants/migrations/0305-kana.sql');
    await app.get(DirectoryBackfill).run();
    expect(await found('the directory', 'かたかな')).toEqual([KANA]);

    await app.sql(`UPDATE tenant_members SET folded = replace(folded, ' 2048', ' ٢٠٤٨')`);
    expect(await found('the directory', '2048')).toEqual([]);
    await migration('tenants/migrations/0306-digits.sql');
    await app.get(DirectoryBackfill).run();
    expect(await found('the directory', '2048')).toEqual([NUMBERED]);
  });

  test('items of earlier versions are found by the digits that they keep, in lists by other ones too', async () => {
    await app.sql(`UPDATE contact_words SET word = '٢٠٤٨' WHERE word = '2048'`);
    await app.sql(`UPDATE contacts SET words = array_replace(words, '2048', '٢٠٤٨')`);
    await app.sql(`UPDATE chat_messages SET tsv = replace(tsv::text, '2048', '٢٠٤٨')::tsvector`);
    await app.sql(`UPDATE calendar_events SET title_key = replace(title_key, '2048', '٢٠٤٨')`);
    await app.sql(`UPDATE forms SET search_text = replace(search_text, '2048', '٢٠٤٨')`);
    for (const kind of ['messages', 'the list of events', 'suggested titles', 'the list of forms'])
      expect([kind, await found(kind, '٢٠٤٨')]).toEqual([kind, [NUMBERED]]);
    for (const kind of ['the list of events', 'suggested titles', 'the list of forms', 'the search in forms'])
      expect([kind, await found(kind, '2048')]).toEqual([kind, [NUMBERED]]);
    expect(await found('contacts', '2048')).toEqual([]);
    const url = new URL('../../../src/modules/contacts/migrations/0012-digits.sql', import.meta.url);
    for (let run = 0; run < 2; run += 1) await app.sql(readFileSync(url, 'utf8'));
    expect(await found('contacts', '2048')).toEqual([NUMBERED]);
  });

  test.each(Object.keys(pathsOf('')))('%s: wildcards of LIKE have no meaning', async (kind) => {
    // Searches by words ignore punctuation; lists by text find it.
    const isOfText = /^(?:the list of|instances|the search in forms)/.test(kind);
    for (const q of ['%', '_', '\\', '%_%', '*'])
      expect([q, await found(kind, q)]).toEqual([q, isOfText && '%_'.includes(q) ? [ODD] : []]);
    for (const q of ['O%Brien', 'O_Brien', 'Pl_in', 'Pl%son'])
      expect([q, (await found(kind, q)).filter((name) => isOfText || name === 'Plain Person')]).toEqual([
        q,
        [],
      ]);
  });
});
