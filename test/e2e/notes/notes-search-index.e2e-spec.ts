import fc from 'fast-check';
import { NoteIndexer } from '../../../src/modules/notes/search/notes-search.controller.js';
import { Outbox } from '../../../src/platform/events/outbox.js';
import { tsvectorArray } from '../../../src/platform/search/search-tables.js';
import { indexDocument, vectorOf } from '../../../src/lib/search-text/index.js';
import type { TestUser } from '../../support/app.ts';
import { ok } from '../../support/domains/forms.ts';
import { NoteSearch } from '../../support/domains/note-search.ts';
import { runs } from '../../support/property-runs.ts';

const wordsOf = (html: string) => indexDocument({ readers: [], title: '', html });

describe('the search index of notes', () => {
  let world: NoteSearch;
  beforeAll(async () => {
    world = await NoteSearch.start();
  });
  afterAll(() => world?.app.stop());

  describe('changes found at once', () => {
    let alice: TestUser;
    let release: () => void;
    let reached: Promise<void>;
    beforeAll(async () => {
      [alice] = await world.people('alice');
    });

    /** Stops the worker, so that results do not depend on its progress. */
    beforeEach(() => {
      let arrived: () => void;
      reached = new Promise((resolve) => (arrived = resolve));
      const gate = new Promise<void>((resolve) => (release = resolve));
      const outbox = world.app.get(Outbox);
      const original = outbox.handlersOf.bind(outbox);
      outbox.handlersOf = (type) => [async () => (arrived(), gate), ...original(type)];
      outbox.prepare = async () => (arrived(), gate);
    });
    afterEach(async () => {
      delete (world.app.get(Outbox) as any).handlersOf;
      delete (world.app.get(Outbox) as any).prepare;
      release();
      await world.indexed();
    });

    test('new, changed, trashed and purged notes of any author', async () => {
      const note = await world.make(alice, 'fresh', '<p>firstword</p>');
      await reached;
      expect(await world.titles(alice, 'firstword')).toEqual(['fresh']);
      await alice.api.patch(`/notes/${note.id}`, { base_revision: 1, content: '<p>secondword</p>' });
      expect(await world.titles(alice, 'firstword')).toEqual([]);
      expect(await world.titles(alice, 'secondword')).toEqual(['fresh']);
      const { notes } = await world.search(alice, 'secondword');
      expect(notes[0].highlights.content).toBe('<mark>secondword</mark>');
      await alice.api.delete(`/notes/${note.id}`, { base_revision: 2 });
      expect(await world.titles(alice, 'secondword')).toEqual([]);
      expect(await world.titles(alice, 'secondword', '&state=trash')).toEqual(['fresh']);
      await alice.api.delete(`/notes/${note.id}/purge`);
      expect(await world.titles(alice, 'secondword', '&state=all')).toEqual([]);
    });

    test('notes of two workspaces with one id, each by its own events', async () => {
      const note = await world.make(alice, 'twin one', '<p>twinword</p>');
      const [zoe] = await world.people('zoe');
      await world.make(zoe, 'twin two', '<p>twinword</p>', { id: note.id });
      await world.app.get(NoteIndexer).indexItem(zoe.tenantId as string, note.id);
      release();
      await world.indexed();
      expect(await world.titles(alice, 'twinword')).toEqual(['twin one']);
      expect(await world.titles(zoe, 'twinword')).toEqual(['twin two']);
    });

    test('scores and pages are those of the index', async () => {
      for (let n = 0; n < 7; n += 1) await world.make(alice, `same ${'same '.repeat(n)}`, '<p>same</p>');
      await reached;
      const before = await world.search(alice, 'same');
      expect(before.notes).toHaveLength(7);
      const page = await world.search(alice, 'same', '&limit=3');
      release();
      await world.indexed();
      const after = await world.search(alice, 'same');
      expect(after).toEqual(before);
      const rest = await world.search(alice, 'same', `&limit=200&cursor=${page.next}`);
      expect([...page.notes, ...rest.notes]).toEqual(after.notes);
    });
  });

  describe.each([0, 301])('access, for people with %i other notes', (others) => {
    let alice: TestUser;
    let bob: TestUser;
    beforeAll(async () => {
      [alice, bob] = await world.people('alice', 'bob');
      for (const user of [alice, bob]) await world.crowd(user, others);
      await world.indexed();
    });

    const invite = async (id: string, ...ids: string[]) =>
      expect(
        (await alice.api.put(`/notes/${id}/invited`, { invited: ids.map((user_id) => ({ user_id })) }))
          .status,
      ).toBe(200);

    test('other members find it once they are invited, and no longer after their removal', async () => {
      const note = await world.make(alice, 'shared', '<p>confidential</p>');
      await world.indexed();
      expect(await world.titles(bob, 'confidential')).toEqual([]);
      await invite(note.id, bob.id);
      await world.indexed();
      const { notes } = await world.search(bob, 'confidential');
      expect(notes.map(({ title, role }: any) => [title, role])).toEqual([['shared', 'viewer']]);
      await invite(note.id);
      // Not indexed yet: the lexeme of bob is still there, the role is not.
      const response = await world.search(bob, 'confidential');
      expect(response).toEqual({ notes: [], total: 0, next: null, query: 'confidential' });
      await world.indexed();
      const [{ tsv }] = await world.app.sql('SELECT tsv::text FROM note_search WHERE note_id = $1', [
        note.id,
      ]);
      expect(tsv).toContain(alice.id);
      expect(tsv).not.toContain(bob.id);
      expect(await world.titles(alice, 'confidential')).toEqual(['shared']);
    });

    test('in the index of words access is part of the look-up: without the lexeme a member finds nothing', async () => {
      const note = await world.make(alice, 'held', '<p>lexemeless</p>');
      await world.indexed();
      await world.app.sql(`UPDATE note_search SET tsv = ts_delete(tsv, $2) WHERE note_id = $1`, [
        note.id,
        `\u0001u${alice.id}`,
      ]);
      expect(await world.titles(alice, 'lexemeless')).toEqual(others > 0 ? [] : ['held']);
    });

    test('the index row of another revision is not shown', async () => {
      const note = await world.make(alice, 'moving', '<p>staleword as it is</p>');
      await world.indexed();
      await world.app.sql(
        `UPDATE note_search SET revision = 0, beginning = 'staleword as it was' WHERE note_id = $1`,
        [note.id],
      );
      const { notes } = await world.search(alice, 'staleword');
      expect(notes[0].highlights.content).toBe('<mark>staleword</mark> as it is');
    });

    test('the same user in another workspace finds nothing', async () => {
      await world.make(alice, 'tenant one', '<p>tenantword</p>');
      await world.indexed();
      await world.people('zoe');
      const twin = await world.app.member(world.workspace, alice.email);
      expect(twin.id).toBe(alice.id);
      expect(twin.tenantId).not.toBe(alice.tenantId);
      expect(await world.titles(twin, 'tenantword')).toEqual([]);
      expect(await world.titles(alice, 'tenantword')).toEqual(['tenant one']);
    });

    test("text in the form of a user's lexeme finds nothing", async () => {
      await world.make(alice, 'spoof', `<p>\u0001u${bob.id} u${bob.id}</p>`);
      await world.indexed();
      expect(await world.titles(bob, `u${bob.id}`)).toEqual([]);
      expect(await world.titles(bob, 'spoof')).toEqual([]);
    });

    test('a purged note leaves no words behind', async () => {
      const note = await world.make(alice, 'purged', '<p>gone</p>');
      await world.indexed();
      await alice.api.delete(`/notes/${note.id}`, { base_revision: 1 });
      await alice.api.delete(`/notes/${note.id}/purge`);
      const rows = () => world.app.sql('SELECT 1 FROM note_search WHERE note_id = $1', [note.id]);
      expect(await rows()).toEqual([]);
      await world.app.get(NoteIndexer).indexItem(alice.tenantId as string, note.id);
      await world.indexed();
      expect(await rows()).toEqual([]);
    });
  });

  describe('the index', () => {
    let alice: TestUser;
    beforeAll(async () => {
      [alice] = await world.people('alice');
    });

    const states = () =>
      world.app.sql(
        `SELECT n.title, s.revision = n.revision AND s.audience = note_audience(n.member_ids) AS current
           FROM notes n LEFT JOIN note_search s ON s.tenant_id = n.tenant_id AND s.note_id = n.id
          WHERE n.tenant_id = $1 ORDER BY n.title`,
        [alice.tenantId],
      );

    test('is rewritten only when something changed', async () => {
      const note = await world.make(alice, 'once', '<p>once</p>');
      await world.indexed();
      const version = async () =>
        (await world.app.sql('SELECT xmin::text FROM note_search WHERE note_id = $1', [note.id]))[0].xmin;
      const before = await version();
      await alice.api.delete(`/notes/${note.id}`, { base_revision: 1 });
      await world.indexed();
      await world.app.get(NoteIndexer).indexItem(alice.tenantId as string, note.id);
      expect(await version()).toBe(before);
    });

    test('is current after concurrent writes and indexing', async () => {
      const note = await world.make(alice, 'raced', '<p>r1</p>');
      const indexer = world.app.get(NoteIndexer);
      for (let revision = 1; revision <= 15; revision += 1) {
        await Promise.all([
          alice.api.patch(`/notes/${note.id}`, {
            base_revision: revision,
            content: `<p>r${revision + 1}</p>`,
          }),
          ...[1, 2, 3].map(() => indexer.indexItem(alice.tenantId as string, note.id)),
        ]);
      }
      await world.indexed();
      expect(await world.titles(alice, 'r16')).toEqual(['raced']);
      const [row] = await world.app.sql('SELECT tsv::text, revision FROM note_search WHERE note_id = $1', [
        note.id,
      ]);
      expect([row.revision, row.tsv.includes("'r16'"), row.tsv.includes("'r15'")]).toEqual([16, true, false]);
    });

    test('words of an older state do not replace those of a newer one, nor of another note with the same id', async () => {
      const note = await world.make(alice, 'ordered', '<p>newest</p>');
      await world.indexed();
      const { index } = world.app.get(NoteIndexer);
      await world.app.sql('UPDATE note_search SET audience = $2 WHERE note_id = $1', [note.id, note.id]);
      const seen = (await index.findStale(alice.tenantId as string, note.id))!;
      await alice.api.patch(`/notes/${note.id}`, { base_revision: 1, content: '<p>newer</p>' });
      await world.indexed();
      expect(await index.put(alice.tenantId as string, seen, await wordsOf('stale'))).toBe(false);
      await world.app.sql('DELETE FROM note_search WHERE note_id = $1', [note.id]);
      const earlier = { ...seen, created: '2001-01-01', replaces: null };
      expect(await index.put(alice.tenantId as string, earlier, await wordsOf('foreign'))).toBe(false);
      await world.app.get(NoteIndexer).indexItem(alice.tenantId as string, note.id);
      const [row] = await world.app.sql('SELECT tsv::text, revision FROM note_search WHERE note_id = $1', [
        note.id,
      ]);
      expect([row.revision, row.tsv]).toEqual([2, expect.stringContaining("'newer'")]);
    });

    test('the binary form of a vector is read like its text form', async () => {
      const word = fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom(
          'a',
          "o'neill",
          'back\\\\slash',
          '東京都',
          '東'.repeat(400),
          'x '.repeat(30),
          'w'.repeat(3_000),
        ),
      );
      const texts = fc.array(word, { maxLength: 60 }).map((words) => words.join(' '));
      const document = fc.record({
        // A reader may be listed twice: a user who creates a task for themself.
        readers: fc.array(fc.oneof(fc.uuid(), fc.constantFrom('alice', 'bob')), { maxLength: 5 }),
        title: texts,
        labels: fc.array(texts, { maxLength: 3 }),
        html: fc.oneof(texts, fc.constantFrom('東 '.repeat(20_000), 'one two '.repeat(10_000))),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(document, { maxLength: 5 }), async (documents) => {
          const vectors = await Promise.all(
            documents.map(async (each) => (await indexDocument(each)).vector),
          );
          // As text: the bytes of equal vectors may differ in the padding between the entries.
          const different = await world.app.sql(
            `SELECT text_form FROM unnest($1::tsvector[], $2::text[]) AS vector (binary_form, text_form)
              WHERE binary_form::text IS DISTINCT FROM text_form::tsvector::text`,
            [tsvectorArray(vectors), await Promise.all(documents.map((each) => vectorOf(each)))],
          );
          expect(different).toEqual([]);
        }),
        { numRuns: runs(60) },
      );
    });

    test('a batch of events is indexed together, also with concurrent writes of its rows', async () => {
      const notes: any[] = [];
      for (let n = 0; n < 6; n += 1)
        notes.push(await world.make(alice, `batch ${n}`, `<p>batchword${n}</p>`));
      await world.indexed();
      const tenantId = alice.tenantId as string;
      const ids = notes.map(({ id }) => id);
      const [missing, changed, current, purged] = ids;
      await world.app.sql('DELETE FROM note_search WHERE note_id = $1', [missing]);
      await world.app.sql(`UPDATE note_search SET revision = 0, tsv = '' WHERE note_id = $1`, [changed]);
      const { index } = world.app.get(NoteIndexer);
      const asked = ids.map((id) => ({ tenantId, id, revision: 1 }));
      const found = await index.staleOf(asked, 1_000_000);
      expect(found.map(({ id }) => id).toSorted()).toEqual([missing, changed].toSorted());
      // The total size of the bodies is limited; at least one note is returned.
      await world.app.sql('UPDATE note_search SET revision = 0 WHERE note_id = ANY ($1)', [ids]);
      expect(await index.staleOf(asked, 1)).toHaveLength(1);

      const items = await index.staleOf(asked, 1_000_000);
      expect(items).toHaveLength(6);
      // Another process has stored a row since, or the note was purged.
      await world.app.sql('UPDATE note_search SET revision = 1 WHERE note_id = $1', [current]);
      ok(await alice.api.delete(`/notes/${purged}`, { base_revision: 1 }));
      ok(await alice.api.delete(`/notes/${purged}/purge`));
      const document = await wordsOf('made');
      const rows = items.map((item) => ({ item, document }));
      const stored = (await index.putAll(rows)).map(({ id }) => id);
      expect(stored.toSorted()).toEqual(ids.filter((id) => id !== current && id !== purged).toSorted());
      const made = await world.app.sql(
        `SELECT note_id FROM note_search WHERE tenant_id = $1 AND beginning = 'made' ORDER BY note_id`,
        [tenantId],
      );
      expect(made.map((row: any) => row.note_id)).toEqual(stored.toSorted());
      await world.app.sql(`UPDATE note_search SET revision = 0 WHERE note_id = ANY ($1)`, [ids]);
      await world.app.get(NoteIndexer).repair();
      expect((await states()).filter((row) => row.current !== true)).toEqual([]);
    });

    test('events of many notes at once: all of them are found', async () => {
      const notes = await Promise.all(
        Array.from({ length: 30 }, (_, n) => world.make(alice, `burst ${n}`, `<p>burstword</p>`)),
      );
      await Promise.all(
        notes.map(({ id }, n) =>
          alice.api.patch(`/notes/${id}`, { base_revision: 1, content: `<p>later${n}</p>` }),
        ),
      );
      await world.indexed();
      expect((await states()).filter((row) => row.current !== true)).toEqual([]);
      expect(await world.titles(alice, 'burstword')).toEqual([]);
      expect(await world.titles(alice, 'later29')).toEqual(['burst 29']);
    });

    test('an event of a revision that is already indexed needs no indexing', async () => {
      const note = await world.make(alice, 'typed', '<p>typed</p>');
      await world.indexed();
      const { index } = world.app.get(NoteIndexer);
      await world.app.sql('UPDATE note_search SET revision = 5 WHERE note_id = $1', [note.id]);
      expect(await index.findStale(alice.tenantId as string, note.id, 5)).toBeUndefined();
      expect(await index.findStale(alice.tenantId as string, note.id, 6)).toBeDefined();
      expect(await index.findStale(alice.tenantId as string, note.id)).toBeDefined();
      await world.app.sql('UPDATE note_search SET audience = $2 WHERE note_id = $1', [note.id, note.id]);
      expect(await index.findStale(alice.tenantId as string, note.id, 5)).toBeDefined();
      await world.app.get(NoteIndexer).indexItem(alice.tenantId as string, note.id);
    });

    test('is created for notes of earlier versions, and repaired after a lost event', async () => {
      await world.make(alice, 'unindexed', '<p>repairme</p>');
      const stale = await world.make(alice, 'lost', '<p>one</p>');
      await world.indexed();
      await world.app.sql('DELETE FROM note_search WHERE tenant_id = $1', [alice.tenantId]);
      await world.app.get(NoteIndexer).indexItem(alice.tenantId as string, stale.id);
      await world.app.sql(`UPDATE note_search SET revision = 0, tsv = '' WHERE note_id = $1`, [stale.id]);
      expect(await world.titles(alice, 'repairme')).toEqual([]);
      await world.app.get(NoteIndexer).repair();
      expect((await states()).filter((row) => row.current !== true)).toEqual([]);
      expect(await world.titles(alice, 'repairme')).toEqual(['unindexed']);
      expect(await world.titles(alice, 'lost')).toEqual(['lost']);
    });

    test('a note that cannot be indexed does not delay the repair of others', async () => {
      await world.make(alice, 'first', '<p>mendme</p>');
      await world.make(alice, 'second', '<p>mendme</p>');
      await world.indexed();
      await world.app.sql('DELETE FROM note_search WHERE tenant_id = $1', [alice.tenantId]);
      const indexer = world.app.get(NoteIndexer);
      const original = indexer.indexItem.bind(indexer);
      let failures = 0;
      indexer.indexItem = async (tenantId, id, revision) => {
        if (tenantId === alice.tenantId && (failures += 1) === 1) throw new Error('broken');
        await original(tenantId, id, revision);
      };
      try {
        await expect(world.app.inCells(() => indexer.repair())).rejects.toThrow(
          'the indexing of an item failed for 1 items',
        );
        expect((await states()).filter((row) => row.current !== true)).toHaveLength(1);
      } finally {
        indexer.indexItem = original;
      }
      await world.app.inCells(() => indexer.repair());
      expect((await states()).filter((row) => row.current !== true)).toEqual([]);
    });

    test('a note of 2 MB is indexed, found and excerpted', async () => {
      const paragraph = (n: number) =>
        `<p>${Array.from({ length: 25 }, (_, w) => `w${(n * 25 + w) % 40_000}é`).join(' ')}</p>`;
      const paragraphs = Array.from({ length: 9_300 }, (_, n) => paragraph(n));
      paragraphs[3_000] = '<p>haystackneedle</p>';
      const content = paragraphs.join('');
      expect(Buffer.byteLength(content)).toBeGreaterThan(1.95 * 1024 * 1024);
      await world.make(alice, 'huge', content);
      for (const step of [async () => 0, () => world.indexed()]) {
        await step();
        const { notes } = await world.search(alice, 'haystackneedle');
        expect(notes[0].highlights.content).toContain('<mark>haystackneedle</mark>');
        expect(await world.titles(alice, 'w5e huge')).toEqual(['huge']);
      }
    });
  });
});
