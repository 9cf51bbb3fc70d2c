import { TestApp, type TestUser } from '../support/app.ts';

/** Two applications on one database, so that locks in memory have no effect. */
describe('writers of one note', () => {
  let one: TestApp;
  let two: TestApp;
  let alice: TestUser;

  beforeAll(async () => {
    one = await TestApp.start();
    two = await TestApp.start({}, one.databaseUrl);
    [alice] = await one.tenant('acme', 'alice');
  });
  afterAll(async () => {
    await two?.stop();
    await one?.stop();
  });

  const clients = () => [one.as(alice.token), two.as(alice.token)] as const;
  const make = async (): Promise<string> =>
    (await alice.api.post('/notes', { title: 'start', content: '<p>0</p>' })).body.note.id;
  const count = (responses: { status: number }[], status: number) =>
    responses.filter((response) => response.status === status).length;

  test('50 concurrent updates with one revision: one succeeds, 49 get its note', async () => {
    const id = await make();
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        clients()[n % 2]!.patch(`/notes/${id}`, { title: `t${n}`, content: `<p>${n}</p>`, base_revision: 1 }),
      ),
    );
    expect([count(responses, 200), count(responses, 409)]).toEqual([1, 49]);
    const winner = responses.find((response) => response.status === 200)!.body.note;
    for (const { status, body } of responses) {
      if (status === 409)
        expect(body).toMatchObject({
          error: 'conflict',
          revision: 2,
          title: winner.title,
          content: winner.content,
        });
    }
    expect((await alice.api.get(`/notes/${id}`)).body.note).toEqual(winner);
    expect((await alice.api.get(`/notes/${id}/revisions`)).body.revisions).toHaveLength(2);
  });

  test('retries with the revision given lose no edit', async () => {
    const id = await make();
    const add = async (n: number) => {
      let { revision, labels } = (await alice.api.get(`/notes/${id}`)).body.note;
      for (;;) {
        const response = await clients()[n % 2]!.patch(`/notes/${id}`, {
          labels: [...labels, `l${n}`],
          base_revision: revision,
        });
        if (response.status === 200) return;
        expect(response.status).toBe(409);
        ({ revision, labels } = (await alice.api.get(`/notes/${id}`)).body.note);
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, n) => add(n)));
    const { note } = (await alice.api.get(`/notes/${id}`)).body;
    expect(note.revision).toBe(21);
    expect(new Set(note.labels)).toEqual(new Set(Array.from({ length: 20 }, (_, n) => `l${n}`)));
  });

  test('update and delete at the same time: one succeeds, the other gets the reason', async () => {
    for (let round = 0; round < 15; round += 1) {
      const id = await make();
      const [update, remove] = await Promise.all([
        clients()[0].patch(`/notes/${id}`, { title: 'x', base_revision: 1 }),
        clients()[1].delete(`/notes/${id}`, { base_revision: 1 }),
      ]);
      const { note } = (await alice.api.get(`/notes/${id}`)).body;
      if (update.status === 200) {
        expect([remove.status, remove.body.error, note.deleted, note.revision]).toEqual([
          409,
          'conflict',
          false,
          2,
        ]);
      } else {
        expect([update.status, update.body.error, remove.status]).toEqual([409, 'deleted', 200]);
        expect([note.deleted, note.revision]).toEqual([true, 1]);
      }
    }
  });

  test('restore against purge: the note is complete or removed completely', async () => {
    for (let round = 0; round < 15; round += 1) {
      const id = await make();
      await alice.api.delete(`/notes/${id}`, { base_revision: 1 });
      const [restore, purge] = await Promise.all([
        clients()[0].post(`/notes/${id}/restore`),
        clients()[1].delete(`/notes/${id}/purge`),
      ]);
      const after = await alice.api.get(`/notes/${id}`);
      if (purge.status === 200) {
        expect(after.status).toBe(404);
        expect([200, 404]).toContain(restore.status);
        expect(await one.sql('SELECT 1 FROM note_revisions WHERE note_id = $1', [id])).toEqual([]);
      } else {
        expect([purge.status, purge.body.error, restore.status, after.body.note.deleted]).toEqual([
          409,
          'not_in_trash',
          200,
          false,
        ]);
      }
    }
  });

  test('update against purge never writes to a purged note', async () => {
    for (let round = 0; round < 15; round += 1) {
      const id = await make();
      await alice.api.delete(`/notes/${id}`, { base_revision: 1 });
      const [update, purge] = await Promise.all([
        clients()[0].patch(`/notes/${id}`, { title: 'x', base_revision: 1 }),
        clients()[1].delete(`/notes/${id}/purge`),
      ]);
      expect(purge.status).toBe(200);
      expect([404, 409]).toContain(update.status);
      expect(await one.sql('SELECT 1 FROM note_revisions WHERE note_id = $1', [id])).toEqual([]);
    }
  });

  test('two creations with one id: one note', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = `0199aaaa-bbbb-7ccc-8ddd-eeee000000${10 + round}`;
      const responses = await Promise.all(clients().map((client) => client.post('/notes', { id })));
      expect(responses.map((response) => response.status).toSorted()).toEqual([201, 409]);
    }
  });

  test('feed numbers are unique, gapless and those of the last change', async () => {
    const [bob] = await one.tenant('feeds', 'bob');
    const ids: string[] = [];
    await Promise.all(
      Array.from({ length: 30 }, async (_, n) => {
        const client = n % 2 ? one.as(bob.token) : two.as(bob.token);
        const { id } = (await client.post('/notes', { title: `${n}` })).body.note;
        ids.push(id);
        await client.patch(`/notes/${id}`, { title: `${n}!`, base_revision: 1 });
      }),
    );
    const [{ head }] = await one.sql('SELECT head::int FROM sync_heads WHERE user_id = $1', [bob.id]);
    expect(head).toBe(60);
    const rows = await one.sql('SELECT seq::int FROM note_members WHERE user_id = $1 ORDER BY seq', [bob.id]);
    expect(new Set(rows.map((row) => row.seq)).size).toBe(30);
    expect(Math.max(...rows.map((row) => row.seq))).toBe(60);
  });
});
