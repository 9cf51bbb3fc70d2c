import type { TestUser } from '../../support/app.ts';
import { NoteSearch } from '../../support/domains/note-search.ts';

describe('the response of a search', () => {
  let world: NoteSearch;
  beforeAll(async () => {
    world = await NoteSearch.start();
  });
  afterAll(() => world?.app.stop());

  describe('the response', () => {
    let alice: TestUser;
    beforeAll(async () => {
      [alice] = await world.people('alice');
    });

    test('is a summary with score and highlights', async () => {
      const note = await world.make(
        alice,
        'Team offsite',
        '<p>Rooms &amp; <i>travel</i> of the offsite</p>',
        {
          labels: ['x'],
        },
      );
      const { content: _, ...summary } = note;
      const body = await world.search(alice, 'offsite');
      expect(body).toEqual({
        notes: [
          {
            ...summary,
            score: expect.any(Number),
            highlights: {
              title: 'Team <mark>offsite</mark>',
              content: 'Rooms &amp; travel of the <mark>offsite</mark>',
            },
          },
        ],
        total: 1,
        next: null,
        query: 'offsite',
      });
    });

    test('highlights are escaped, for any content of the note', async () => {
      const attack = '<img src=x onerror=alert(1)>&lt;b&gt; "xsstest" <script>alert(2)</script>';
      await world.make(
        alice,
        attack,
        `<p>&lt;script&gt;alert(3)&lt;/script&gt; xsstest <b title="xsstest>">b</b></p>`,
      );
      const { notes } = await world.search(alice, 'xsstest alert script');
      const { highlights } = notes[0];
      for (const html of Object.values<string>(highlights)) {
        expect(html.replaceAll(/<\/?mark>/g, '')).not.toMatch(/[<>"']/);
        expect(html).toContain('<mark>xsstest</mark>');
      }
      expect(highlights.content).toContain('&lt;<mark>script</mark>&gt;<mark>alert</mark>(3)');
    });

    test('words of the title count more, then frequent ones; ties go to the latest change', async () => {
      await world.make(alice, 'a', '<p>ranked once</p>');
      await world.make(alice, 'b', '<p>ranked ranked ranked</p>');
      await world.make(alice, 'ranked', '<p>nothing</p>');
      await world.make(alice, 'd', '<p>ranked once</p>');
      const { notes } = await world.search(alice, 'ranked');
      expect(notes.map((note: any) => note.title)).toEqual(['ranked', 'b', 'd', 'a']);
      const scores = notes.map((note: any) => note.score);
      expect(scores).toEqual(scores.toSorted((x: number, y: number) => y - x));
    });

    test('a match deep in a long note has an excerpt', async () => {
      const filler = '<p>some words that fill the page</p>'.repeat(5_000);
      await world.make(alice, 'long', `${filler}<p>a needle7 there</p>${filler}`);
      const { notes } = await world.search(alice, 'needle7');
      expect(notes[0].highlights.content).toContain('a <mark>needle7</mark> there');
    });

    test('of many such notes the best three have an excerpt of the match, the others show their beginning', async () => {
      const filler = 'what the text begins with '.repeat(100);
      for (let n = 0; n < 5; n += 1) await world.make(alice, `deep ${n}`, `<p>${filler} needle8</p>`);
      await world.indexed();
      const { notes } = await world.search(alice, 'needle8');
      const contents: string[] = notes.map((note: any) => note.highlights.content);
      expect(contents.map((content) => content.includes('<mark>needle8</mark>'))).toEqual([
        true,
        true,
        true,
        false,
        false,
      ]);
      expect(contents[3]).toMatch(/^what the text begins with/);
    });
  });

  test.each([0, 301])('filters: folder, labels, state, among %i other notes', async (others) => {
    const [alice] = await world.people('alice');
    await world.crowd(alice, others);
    await world.indexed();
    const [folder] = await world.app.sql(
      `INSERT INTO note_folders (tenant_id, id, owner_id, name, position, seq, created_at, updated_at)
       VALUES ($1, gen_random_uuid(), $2, 'F', 0, 1000000, now(), now()) RETURNING id`,
      [alice.tenantId, alice.id],
    );
    await world.make(alice, 'filed', '<p>filter</p>', { folder_id: folder.id, labels: ['a', 'b'] });
    await world.make(alice, 'loose', '<p>filter</p>', { labels: ['a'] });
    const old = await world.make(alice, 'old', '<p>filter</p>', { labels: ['b'] });
    await alice.api.delete(`/notes/${old.id}`, { base_revision: 1 });
    for (const step of [async () => 0, () => world.indexed()]) {
      await step();
      expect(await world.titles(alice, 'filter')).toEqual(['filed', 'loose']);
      expect(await world.titles(alice, 'filter', '&state=trash')).toEqual(['old']);
      expect(await world.titles(alice, 'filter', '&state=all')).toEqual(['filed', 'loose', 'old']);
      expect(await world.titles(alice, 'filter', `&folder_id=${folder.id}`)).toEqual(['filed']);
      expect(await world.titles(alice, 'filter', '&folder_id=none')).toEqual(['loose']);
      expect(await world.titles(alice, 'filter', '&label=a')).toEqual(['filed', 'loose']);
      expect(await world.titles(alice, 'filter', '&label=a&label=b')).toEqual(['filed']);
      expect(await world.titles(alice, 'filter', '&label=b&state=all')).toEqual(['filed', 'old']);
    }
    for (const wrong of ['&folder_id=x', '&state=gone', '&limit=0', '&limit=201', '&cursor=x'])
      expect([wrong, (await alice.api.get(`/search/notes?q=filter${wrong}`)).status]).toEqual([wrong, 422]);
  });

  describe('pages', () => {
    let alice: TestUser;
    beforeAll(async () => {
      [alice] = await world.people('alice');
      for (let n = 0; n < 23; n += 1)
        await world.make(alice, `page ${n}`, `<p>${'page '.repeat(n % 4)} x</p>`);
      await world.indexed();
    });

    const walk = async (limit: number, between: () => Promise<unknown> = async () => 0): Promise<any[]> => {
      const seen: any[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const body: any = await world.search(
          alice,
          'page',
          `&limit=${limit}${cursor && `&cursor=${cursor}`}`,
        );
        expect(body.notes.length).toBeLessThanOrEqual(limit);
        seen.push(...body.notes);
        cursor = body.next;
        await between();
      }
      return seen;
    };

    test.each([1, 4, 22, 23])('of %i results contain each result once', async (limit) => {
      const { notes, total, next } = await world.search(alice, 'page');
      expect([notes.length, total, next]).toEqual([23, 23, null]);
      expect(await walk(limit)).toEqual(notes);
    });

    test('stay stable while notes are added', async () => {
      const before = (await world.search(alice, 'page')).notes.map((note: any) => note.id);
      const seen = (await walk(5, () => world.make(alice, 'page page page page new'))).map((note) => note.id);
      expect(seen.filter((id) => before.includes(id))).toEqual(before);
      expect(new Set(seen).size).toBe(seen.length);
    });

    test('a cursor belongs to its query and its user', async () => {
      const { next } = await world.search(alice, 'page', '&limit=1');
      const [mallory] = await world.people('mallory');
      for (const [user, q] of [
        [alice, 'pages'],
        [alice, 'page&state=all'],
        [mallory, 'page'],
      ] as const) {
        const { status, body } = await user.api.get(`/search/notes?q=${q}&cursor=${next}`);
        expect([status, body.error]).toEqual([422, 'invalid_cursor']);
      }
    });
  });

  test('the total and the ranked matches are capped at 1,000', async () => {
    const [alice] = await world.people('alice');
    await world.crowd(alice, 1_010, 'capped');
    await world.indexed();
    const body = await world.search(alice, 'capped', '&limit=200');
    expect([body.total, body.notes.length]).toEqual([1000, 200]);
    expect((await world.search(alice, 'capped 7')).total).toBeLessThan(1000);
  });
});
