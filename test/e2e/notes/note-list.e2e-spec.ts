import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { statements } from '../../../src/platform/database/statement.js';
import { TestApp, type TestUser } from '../../support/app.ts';

describe('the list of notes', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    for (const [title, labels] of [
      ['Banana', ['fruit', 'yellow']],
      ['apple', ['fruit']],
      ['Carrot 100%', ['vegetable']],
      ['durian_1', ['fruit', 'yellow']],
    ] as const) {
      await alice.api.post('/notes', { title, labels, content: `<p>${title}</p>` });
    }
    await bob.api.post('/notes', { title: "Bob's" });
  });
  afterAll(() => app?.stop());

  const titles = async (query: string, user = alice): Promise<string[]> => {
    const { status, body } = await user.api.get(`/notes${query}`);
    expect(status).toBe(200);
    return body.notes.map((note: any) => note.title);
  };

  test('newest change first, only those of the caller', async () => {
    expect(await titles('')).toEqual(['durian_1', 'Carrot 100%', 'apple', 'Banana']);
    expect(await titles('', bob)).toEqual(["Bob's"]);
  });

  test('a list without notes is empty, not an error', async () => {
    const [carol] = await app.tenant('empty', 'carol');
    expect((await carol.api.get('/notes')).body).toEqual({ notes: [], next: null });
  });

  test.each([
    '?limit=1',
    '?limit=2&sort=title',
    '?limit=3&sort=created_at&order=asc',
    '?limit=1&order=asc',
    '?limit=2&sort=title&order=desc&label=fruit',
  ])('pages of %s join to the whole', async (query) => {
    const whole = await titles(query.replace(/limit=\d/, 'limit=200'));
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body }: any = await alice.api.get(`/notes${query}${cursor && `&cursor=${cursor}`}`);
      expect(body.notes.length).toBeLessThanOrEqual(3);
      seen.push(...body.notes.map((note: any) => note.title));
      cursor = body.next;
    }
    expect(seen).toEqual(whole);
  });

  test('a page stays stable while notes are added and changed', async () => {
    const [dora] = await app.tenant('stable', 'dora');
    for (const n of [1, 2, 3, 4]) await dora.api.post('/notes', { title: `n${n}` });
    const first = (await dora.api.get('/notes?limit=2')).body;
    await dora.api.post('/notes', { title: 'n5' });
    const second = (await dora.api.get(`/notes?limit=2&cursor=${first.next}`)).body;
    expect([...first.notes, ...second.notes].map((note: any) => note.title)).toEqual([
      'n4',
      'n3',
      'n2',
      'n1',
    ]);
    expect(second.next).toBeNull();
  });

  test('sorts by title and by creation', async () => {
    expect(await titles('?sort=created_at')).toEqual(['durian_1', 'Carrot 100%', 'apple', 'Banana']);
    expect(await titles('?sort=created_at&order=asc')).toEqual([
      'Banana',
      'apple',
      'Carrot 100%',
      'durian_1',
    ]);
    expect(await titles('?sort=title')).toEqual(['apple', 'Banana', 'Carrot 100%', 'durian_1']);
    expect((await titles('?sort=title')).toReversed()).toEqual(await titles('?sort=title&order=desc'));
  });

  describe('titles in natural order', () => {
    const expected = [
      '',
      'A',
      'a',
      'Ärger',
      'Chapter 2',
      'chapter 9',
      'Chapter 10',
      'éclair',
      'Zebra',
      'Яблоко',
      '日本',
    ];
    let dana: TestUser;
    let erin: TestUser;

    beforeAll(async () => {
      [dana, erin] = await app.tenant('sorted', 'dana', 'erin');
      // Own and shared notes mixed: they come from two indexes.
      for (const [n, title] of expected.toReversed().entries()) {
        const [owner, reader] = n % 3 === 0 ? [erin, dana] : [dana, erin];
        const { note } = (await owner.api.post('/notes', { title })).body;
        if (owner === erin) await owner.api.put(`/notes/${note.id}/invited`, { invited: [reader.id] });
      }
    });

    test.each(['limit=200', 'limit=1', 'limit=3', 'limit=4&state=all'])('%s', async (query) => {
      for (const order of ['asc', 'desc']) {
        const seen: string[] = [];
        for (let cursor = ''; ;) {
          const { status, body }: any = await dana.api.get(
            `/notes?sort=title&order=${order}&${query}${cursor}`,
          );
          expect(status).toBe(200);
          seen.push(...body.notes.map((note: any) => note.title));
          if (body.next === null) break;
          cursor = `&cursor=${body.next}`;
        }
        expect(order === 'asc' ? seen : seen.toReversed()).toEqual(expected);
      }
    });

    test('by scope', async () => {
      const own = await titles('?sort=title&scope=mine', dana);
      const shared = await titles('?sort=title&scope=shared', dana);
      expect(own).toEqual(expected.filter((title) => own.includes(title)));
      expect([...own, ...shared].toSorted()).toEqual(expected.toSorted());
    });

    test('own notes come from an index in this order', async () => {
      const plan = await app.sql(
        `EXPLAIN SELECT id FROM notes WHERE tenant_id = $1 AND owner_id = $2 ORDER BY title COLLATE title_order, id LIMIT 3`,
        [dana.tenantId, dana.id],
      );
      expect(JSON.stringify(plan)).not.toContain('Sort');
    });
  });

  test('the content of a note with many revisions is found by its whole key', async () => {
    const [erin] = await app.tenant('revisions', 'erin');
    const { body } = await erin.api.post('/notes', { title: 'Many revisions', content: '<p>1</p>' });
    const key = [erin.tenantId, body.note.id];
    await app.sql(
      `INSERT INTO note_revisions (tenant_id, note_id, revision, body_rev, title, labels, author_id, bytes, created_at)
       SELECT tenant_id, note_id, n, 1, title, labels, author_id, bytes, created_at
         FROM note_revisions, generate_series(2, 500) AS n WHERE tenant_id = $1 AND note_id = $2`,
      key,
    );
    // The index of the search has the first revision, and no event leads to another one.
    await app.get<OutboxWorker>(OutboxWorker).drain();
    await app.sql(`UPDATE notes SET revision = 500 WHERE tenant_id = $1 AND id = $2`, key);
    const [tenantId, id] = key;
    const textOf = (name: string) => statements().find((statement) => statement.name === name)!.text;
    for (const [text, values] of [
      [
        `SELECT note FROM note_views WHERE tenant_id = $1 AND note_id = $2 AND user_id = $3`,
        [...key, erin.id],
      ],
      [textOf('notes_index.stale'), [...key, 500]],
      [textOf('notes_index.stale_of'), [[tenantId], [id], [500], 1_000]],
      [textOf('notes.search_bodies'), [tenantId, erin.id, [id], 1_000]],
    ] as const) {
      const plan = await app.sql(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, [...values]);
      const reads: any[] = [];
      JSON.stringify(plan, (_, value) => {
        if (value?.['Relation Name'] === 'note_revisions' && value['Actual Loops'] > 0) reads.push(value);
        return value;
      });
      expect(reads).toHaveLength(1);
      expect(reads[0]).toMatchObject({ 'Actual Rows': 1 });
      expect(reads[0]['Index Cond']).toContain('revision =');
    }
  });

  test('filters by labels, all of them', async () => {
    expect(await titles('?label=fruit')).toEqual(['durian_1', 'apple', 'Banana']);
    expect(await titles('?label=fruit&label=yellow')).toEqual(['durian_1', 'Banana']);
    expect(await titles('?label=FRUIT')).toEqual([]);
  });

  test('labels are composed and without blanks around them, titles are found in both forms', async () => {
    const [ann] = await app.tenant('composed', 'ann');
    const labels = ['M\u00e4rz', 'Ma\u0308rz', ' Todo', 'Todo '];
    const { note } = (await ann.api.post('/notes', { title: 'Ma\u0308rz', labels })).body;
    expect(note).toMatchObject({ title: 'Ma\u0308rz', labels: ['M\u00e4rz', 'Todo'] });
    for (const query of [
      'label=M%C3%A4rz',
      'label=Ma%CC%88rz',
      'label=Todo%20',
      'q=m%C3%A4rz',
      'q=ma%CC%88rz',
    ])
      expect([query, (await ann.api.get(`/notes?${query}`)).body.notes]).toMatchObject([
        query,
        [{ id: note.id }],
      ]);
    // A label that an earlier version stored as it was sent.
    await app.sql('UPDATE notes SET labels = $1 WHERE id = $2', [['Ma\u0308rz'], note.id]);
    const found = (await ann.api.get('/notes?label=Ma%CC%88rz')).body.notes;
    expect(found).toMatchObject([{ id: note.id }]);
  });

  test.each([
    ['ΟΔΟΣ 5', 'οδος'],
    ['GROSSER Plan', 'großer'],
    ['Hauptstraße', 'HAUPTSTRASSE'],
    ['GROẞ', 'gross'],
    ['ﬁnal', 'FINAL'],
    ['ＡＢＣ', 'abc'],
    ['ﾃｽﾄ', 'テスト'],
    ['カタカナ', 'かたかな'],
    ['ひらがなのテスト', 'ヒラガナノてすと'],
    ['O´Brien', "o'brien"],
    ['５０％', '50%'],
  ])('q regardless of case and of variants: the title %s is found by %s', async (title, q) => {
    const [ann] = await app.tenant(`q-${Buffer.from(title).toString('hex')}`, 'ann');
    await ann.api.post('/notes', { title });
    await ann.api.post('/notes', { title: 'other' });
    await ann.api.post('/tasks', { title });
    await ann.api.post('/tasks', { title: 'other' });
    const query = `?q=${encodeURIComponent(q)}`;
    expect(await titles(query, ann)).toEqual([title]);
    expect((await ann.api.get(`/tasks${query}`)).body.tasks).toMatchObject([{ title }]);
  });

  test('q finds text in titles, wildcards taken literally', async () => {
    expect(await titles('?q=AN')).toEqual(['durian_1', 'Banana']);
    expect(await titles('?q=%25')).toEqual(['Carrot 100%']);
    expect(await titles('?q=n_1')).toEqual(['durian_1']);
    expect(await titles('?q=%5C')).toEqual([]);
  });

  test('scope, folder and state', async () => {
    expect((await titles('?scope=mine')).length).toBe(4);
    expect(await titles('?scope=shared')).toEqual([]);
    expect((await titles('?folder_id=none')).length).toBe(4);
    expect(await titles('?folder_id=0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000')).toEqual([]);
    const { body } = await alice.api.post('/notes', { title: 'gone' });
    await alice.api.delete(`/notes/${body.note.id}`, { base_revision: 1 });
    expect(await titles('?state=trash')).toEqual(['gone']);
    expect(await titles('?state=active')).not.toContain('gone');
    expect(await titles('?state=all')).toContain('gone');
  });

  test('include=summary leaves the content out and nothing else', async () => {
    const [full] = (await alice.api.get('/notes?limit=1')).body.notes;
    const [summary] = (await alice.api.get('/notes?limit=1&include=summary')).body.notes;
    const { content, ...rest } = full;
    expect(content).toBe('<p>durian_1</p>');
    expect(summary).toEqual(rest);
  });

  test('a page ends before 4 MiB of content, but always gives one note', async () => {
    const [eve] = await app.tenant('large', 'eve');
    const content = 'x'.repeat(1_900_000);
    for (const n of [1, 2, 3]) await eve.api.post('/notes', { title: `big${n}`, content });
    const first = (await eve.api.get('/notes')).body;
    expect(first.notes.map((note: any) => note.title)).toEqual(['big3', 'big2']);
    const second = (await eve.api.get(`/notes?cursor=${first.next}`)).body;
    expect(second.notes.map((note: any) => note.title)).toEqual(['big1']);
    expect(second.next).toBeNull();
  });

  test.each([
    'limit=0',
    'limit=201',
    'limit=x',
    'limit=1.5',
    'limit=1&limit=2',
    'limit=',
    'sort=id',
    'order=up',
    'state=gone',
    'scope=x',
    'include=all',
    'folder_id=x',
    'q=',
    `q=${'x'.repeat(257)}`,
    'label=a%00b',
  ])('rejects %.40s', async (query) => {
    const { status, body } = await alice.api.get(`/notes?${query}`);
    expect([status, body.error]).toEqual([422, 'validation_failed']);
    expect(body.details[0].field).toBe(query.split('=')[0]);
  });

  test('a cursor is valid only for its list and its user', async () => {
    const { next } = (await alice.api.get('/notes?limit=1')).body;
    const rejected = [
      `/notes?limit=1&sort=title&cursor=${next}`,
      `/notes?cursor=${next}x`,
      '/notes?cursor=abc',
      '/notes?cursor=.',
      '/notes?cursor=',
    ];
    for (const path of rejected) expect((await alice.api.get(path)).body.error).toBe('invalid_cursor');
    expect((await bob.api.get(`/notes?limit=1&cursor=${next}`)).body.error).toBe('invalid_cursor');
    expect((await alice.api.get(`/notes?limit=7&cursor=${next}`)).status).toBe(200);
  });
});
