import { randomUUID } from 'node:crypto';
import { Db } from '../../../src/platform/database/db.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { countDeadlocks } from '../../support/database/deadlocks.ts';
import { until } from '../../support/until.ts';

describe('edits of one user at the same time', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());

  const make = async (user: TestUser, fields: object = {}): Promise<string> =>
    (await user.api.post('/notes', { title: 'New', content: '<p>Text</p>', ...fields })).body.note.id;
  const makeAll = (count: number) => Promise.all(Array.from({ length: count }, () => make(alice)));
  const edit = (id: string, body: object, key = randomUUID()) => ({
    method: 'PATCH',
    path: `/apis/v1/notes/${id}`,
    body,
    headers: { 'Idempotency-Key': key },
  });
  const send = async (user: TestUser, requests: object[]): Promise<any[]> =>
    (await user.api.post('/batch', { mode: 'independent', requests })).body.responses;
  const share = (id: string, role: string) =>
    alice.api.put(`/notes/${id}/invited`, { invited: [{ email: bob.email, role }] });

  test('each has its own outcome, and a repetition has the same', async () => {
    const [good, stale, same, trashed, twice, ...others] = await makeAll(20);
    const [foreign, read] = [await make(alice), await make(alice)];
    await share(read, 'viewer');
    await alice.api.post(`/notes/${trashed}/share`);
    await alice.api.delete(`/notes/${trashed}`, { base_revision: 1 });
    const requests = [
      edit(good!, { title: 'Good', content: '<p>Changed <b>text</b></p>', base_revision: 1 }),
      edit(stale!, { title: 'Stale', base_revision: 7 }),
      edit(same!, { title: 'New', base_revision: 1 }),
      edit(trashed!, { title: 'Trashed', base_revision: 2 }),
      edit(randomUUID(), { title: 'Unknown', base_revision: 1 }),
      edit(others[0]!, { title: 7, base_revision: 1 }),
      ...others.slice(1).map((id) => edit(id, { labels: ['a'], base_revision: 1 })),
      edit(twice!, { title: 'First', base_revision: 1 }),
      edit(twice!, { title: 'Second', base_revision: 1 }),
    ];
    const first = await send(alice, requests);
    expect(first.slice(0, 6).map(({ status, body }) => [status, body.error ?? body.note.revision])).toEqual([
      [200, 2],
      [409, 'conflict'],
      [422, 'no_changes'],
      [409, 'deleted'],
      [404, 'not_found'],
      [422, 'validation_failed'],
    ]);
    expect(new Set(first.slice(6, -2).map(({ status }) => status))).toEqual(new Set([200]));
    expect(
      first
        .slice(-2)
        .map(({ status }) => status)
        .toSorted(),
    ).toEqual([200, 409]);
    for (const { body, headers } of first.filter(({ status }) => status === 200)) {
      const alone = await alice.api.get(`/notes/${body.note.id}`);
      expect([body.note, headers.etag]).toEqual([alone.body.note, alone.headers.get('etag')]);
    }
    const again = await send(alice, requests);
    expect(again.map(({ status, body }) => [status, body])).toEqual(
      first.map(({ status, body }) => [status, body]),
    );
    const asBob = await send(bob, [
      edit(foreign, { title: 'Not mine', base_revision: 1 }),
      edit(read, { title: 'To be read', base_revision: 1 }),
    ]);
    expect(asBob.map(({ status }) => status)).toEqual([404, 403]);
  });

  test('are stored together: one transaction for several, and one change of the feed for each', async () => {
    const ids = await makeAll(64);
    const { head } = (await alice.api.get('/sync/state')).body;
    const db = app.get(Db);
    const before = db.roundTrips;
    const responses = await send(
      alice,
      ids.map((id) => edit(id, { title: 'Together', base_revision: 1 })),
    );
    expect(responses.map(({ status }) => status)).toEqual(ids.map(() => 200));
    // BEGIN, the keys, the notes, the responses and COMMIT, for each of them.
    const alone = ids.length * 5;
    expect(db.roundTrips - before).toBeLessThan(alone / 3.5);
    expect((await alice.api.get('/sync/state')).body.head).toBe(head + ids.length);
    for (const id of ids) expect((await alice.api.get(`/notes/${id}`)).body.note.revision).toBe(2);
  });

  test('one that PostgreSQL rejects fails alone', async () => {
    await app.sql(
      `CREATE FUNCTION unlucky() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''unlucky'' USING ERRCODE = ''check_violation''; END'`,
    );
    await app.sql(
      `CREATE TRIGGER unlucky BEFORE UPDATE ON notes FOR EACH ROW WHEN (NEW.title = 'Unlucky') EXECUTE FUNCTION unlucky()`,
    );
    const ids = await makeAll(12);
    try {
      const responses = await send(
        alice,
        ids.map((id, n) => edit(id, { title: n === 5 ? 'Unlucky' : 'Lucky', base_revision: 1 })),
      );
      expect(responses.map(({ status }) => status)).toEqual(ids.map((_, n) => (n === 5 ? 500 : 200)));
      expect((await alice.api.get(`/notes/${ids[5]}`)).body.note.revision).toBe(1);
    } finally {
      await app.sql('DROP FUNCTION unlucky CASCADE');
    }
  });

  test('of notes that two users share, one of each revision is stored, without a deadlock', async () => {
    const ids = await makeAll(24);
    await Promise.all(ids.map((id) => share(id, 'editor')));
    const deadlocks = countDeadlocks(app.get(Db));
    for (let revision = 1; revision <= 4; revision += 1) {
      const edits = (title: string, order: string[]) =>
        order.map((id) => edit(id, { title: `${title} ${revision}`, base_revision: revision }));
      const [left, right] = await Promise.all([
        send(alice, edits('A', ids)),
        send(bob, edits('B', ids.toReversed())),
      ]);
      for (const [n, { status }] of right.toReversed().entries())
        expect([left[n].status, status].toSorted()).toEqual([200, 409]);
    }
    expect(deadlocks()).toBe(0);
    // Nobody's feed misses one.
    for (const user of [alice, bob])
      await until('all notes in the feed', async () => {
        const { notes } = (await user.api.get('/notes/changes?limit=500&include=summary')).body;
        return ids.every((id) => notes.some((note: any) => note.id === id && note.revision === 5));
      });
  });
});
