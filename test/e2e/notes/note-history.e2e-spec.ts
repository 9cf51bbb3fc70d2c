import { NoteHistory } from '../../../src/modules/notes/history/note-history.js';
import { TestApp, type TestUser } from '../../support/app.ts';

describe('the history of a note with many revisions', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());

  const bodyOf = (revision: number): string =>
    `<p>Version ${revision} – çé 😀 "quoted" \\ ${'same '.repeat(50)}</p>`;

  /** A note with `count` revisions; each fifth revision changes the title only. */
  async function write(count: number): Promise<{ id: string; contents: string[] }> {
    const { body } = await alice.api.post('/notes', { title: 'first', content: bodyOf(1) });
    const contents = [bodyOf(1)];
    for (let revision = 2; revision <= count; revision++) {
      const change = revision % 5 === 0 ? { title: `title ${revision}` } : { content: bodyOf(revision) };
      const { status } = await alice.api.patch(`/notes/${body.note.id}`, {
        ...change,
        base_revision: revision - 1,
      });
      expect(status).toBe(200);
      contents.push(revision % 5 === 0 ? contents.at(-1)! : bodyOf(revision));
    }
    return { id: body.note.id, contents };
  }

  const packs = (id: string) =>
    app.sql<{ revisions: number[] }>(
      'SELECT revisions FROM note_revision_packs WHERE note_id = $1 ORDER BY first_revision',
      [id],
    );
  const pack = () => app.get(NoteHistory).packDue();

  async function expectAll({ id, contents }: { id: string; contents: string[] }): Promise<void> {
    for (const [n, content] of contents.entries()) {
      const { status, body } = await alice.api.get(`/notes/${id}/revisions/${n + 1}`);
      expect([status, body.revision.revision, body.revision.content]).toEqual([200, n + 1, content]);
    }
    const { body } = await alice.api.get(`/notes/${id}`);
    expect(body.note).toMatchObject({ revision: contents.length, content: contents.at(-1) });
  }

  test('an invited viewer reads it from the revision on that was current at the invitation', async () => {
    const { id } = await write(3);
    const invite = (role: string | null) =>
      alice.api.put(`/notes/${id}/invited`, { invited: role === null ? [] : [{ user_id: bob.id, role }] });
    const numbers = async (user: TestUser) =>
      (await user.api.get(`/notes/${id}/revisions`)).body.revisions.map((entry: any) => entry.revision);
    const status = async (revision: number) =>
      (await bob.api.get(`/notes/${id}/revisions/${revision}`)).status;
    const change = async (base_revision: number) =>
      alice.api.patch(`/notes/${id}`, { base_revision, title: `title ${base_revision}` });
    await invite('viewer');
    await change(3);
    expect(await numbers(bob)).toEqual([4, 3]);
    expect([await status(1), await status(2), await status(3), await status(4)]).toEqual([
      404, 404, 200, 200,
    ]);
    // The body of revision 4 is that of revision 3.
    expect((await bob.api.get(`/notes/${id}/revisions/4`)).body.revision.content).toBe(bodyOf(3));
    await invite('editor');
    expect([await numbers(bob), await status(1)]).toEqual([[4, 3, 2, 1], 200]);
    await invite(null);
    await change(4);
    await invite('viewer');
    expect(await numbers(bob)).toEqual([5]);
    expect(await numbers(alice)).toEqual([5, 4, 3, 2, 1]);
    const page = (await bob.api.get(`/notes/${id}/revisions?limit=1`)).body;
    expect([page.revisions.length, page.next ?? null]).toEqual([1, null]);
  });

  test('reads every revision after old bodies are packed, and again after more writes', async () => {
    const note = await write(130);
    const before = await alice.api.get(`/notes/${note.id}/revisions/50`);
    const list = await alice.api.get(`/notes/${note.id}/revisions?limit=100`);
    // 104 of the 130 revisions have a body of their own; the newest 20 stay.
    expect(await pack()).toBe(84);
    expect((await packs(note.id)).map(({ revisions }) => revisions.length)).toEqual([50, 34]);
    await expectAll(note);
    expect((await alice.api.get(`/notes/${note.id}/revisions/50`)).body).toEqual(before.body);
    expect((await alice.api.get(`/notes/${note.id}/revisions?limit=100`)).body).toEqual(list.body);
    expect(await pack()).toBe(0);

    for (let revision = 131; revision <= 200; revision++) {
      note.contents.push(bodyOf(revision));
      await alice.api.patch(`/notes/${note.id}`, { content: bodyOf(revision), base_revision: revision - 1 });
    }
    expect(await pack()).toBe(70);
    await expectAll(note);
    const missing = await alice.api.get(`/notes/${note.id}/revisions/201`);
    expect([missing.status, missing.body.error]).toEqual([404, 'not_found']);
    // Restoring a packed content is an ordinary change.
    const restored = await alice.api.patch(`/notes/${note.id}`, { content: bodyOf(1), base_revision: 200 });
    expect([restored.status, restored.body.note.content]).toEqual([200, bodyOf(1)]);
  });

  test('large bodies make small packs', async () => {
    const large = (n: number): string => `<p>${String.fromCodePoint(97 + (n % 26)).repeat(700_000)}</p>`;
    const { body } = await alice.api.post('/notes', { content: large(0) });
    for (let revision = 2; revision <= 30; revision++)
      await alice.api.patch(`/notes/${body.note.id}`, {
        content: large(revision),
        base_revision: revision - 1,
      });
    await app.sql('INSERT INTO note_history_due SELECT tenant_id, id FROM notes WHERE id = $1', [
      body.note.id,
    ]);
    expect(await pack()).toBe(10);
    expect((await packs(body.note.id)).map(({ revisions }) => revisions)).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
      [7, 8],
      [9, 10],
    ]);
    const { body: read } = await alice.api.get(`/notes/${body.note.id}/revisions/6`);
    expect(read.revision.content).toBe(large(6));
  });

  test('a purge removes the packs', async () => {
    const { id } = await write(100);
    await pack();
    expect(await packs(id)).toHaveLength(2);
    await alice.api.delete(`/notes/${id}`, { base_revision: 100 });
    expect((await alice.api.delete(`/notes/${id}/purge`)).status).toBe(200);
    expect(await packs(id)).toEqual([]);
  });

  test('a note that cannot be packed does not delay the others', async () => {
    const notes = [await write(100), await write(100)];
    const broken = notes.map(({ id }) => id).toSorted()[0];
    await app.sql(
      `CREATE FUNCTION test_reject() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$`,
    );
    await app.sql(
      `CREATE TRIGGER test_reject BEFORE INSERT ON note_revision_packs FOR EACH ROW
         WHEN (NEW.note_id = '${broken}') EXECUTE FUNCTION test_reject()`,
    );
    try {
      await expect(pack()).rejects.toThrow('failed for 1 items');
    } finally {
      await app.sql('DROP FUNCTION test_reject CASCADE');
    }
    const packed = await Promise.all(notes.map(async ({ id }) => (await packs(id)).length > 0));
    expect(packed.filter(Boolean)).toHaveLength(1);
    await pack();
    for (const note of notes) expect(await packs(note.id)).not.toEqual([]);
  });

  test('several processes that pack at once, beside a writer and readers, lose no body', async () => {
    const note = await write(120);
    const other = await TestApp.start({}, app.databaseUrl);
    try {
      const write = async (): Promise<void> => {
        for (let revision = 121; revision <= 140; revision++) {
          note.contents.push(bodyOf(revision));
          await alice.api.patch(`/notes/${note.id}`, {
            content: bodyOf(revision),
            base_revision: revision - 1,
          });
        }
      };
      const packAll = (each: TestApp) => each.get(NoteHistory).packDue();
      const reading = Promise.all(
        Array.from({ length: 60 }, (_, n) => alice.api.get(`/notes/${note.id}/revisions/${n + 1}`)),
      );
      await Promise.all([packAll(app), packAll(other), packAll(app), write()]);
      expect((await reading).map(({ body }) => body.revision.content)).toEqual(note.contents.slice(0, 60));
      await expectAll(note);
      const packed = (await packs(note.id)).flatMap(({ revisions }) => revisions);
      expect(new Set(packed).size).toBe(packed.length);
    } finally {
      await other.stop();
    }
  });
});
