import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { NoteEdits } from '../../../src/modules/notes/changes/note-edits.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { inTransaction } from '../../support/database/locks.ts';
import { holdEvents } from '../../support/database/outbox.ts';
import { withTimeouts } from '../../support/database/timeouts.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { until } from '../../support/until.ts';

/** Edits of a user, and the key of each. */
interface Sent {
  id: string;
  body: Record<string, unknown>;
  key?: string;
}

const LIMITS = { lock: 1_500 };

describe('edits of one user in one group', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  /** Edits since the begin of a test that took the transaction with locks. */
  let locked = 0;

  beforeAll(async () => {
    await withTimeouts(LIMITS, async () => {
      app = await TestApp.start({ TEST_CELLS: '' });
      [alice, bob] = await app.tenant('acme', 'alice', 'bob');
      // Connections get the limits when they are opened.
      await makeAll(12);
    });
  });
  beforeEach(() => {
    locked = 0;
    const edits = app.get<any>(NoteEdits);
    const editLocked = NoteEdits.prototype['editLocked'];
    edits.editLocked = (...given: unknown[]) => {
      locked += 1;
      return editLocked.apply(edits, given as never);
    };
  });
  afterAll(() => app?.stop());

  const make = async (fields: object = {}, user = alice): Promise<string> =>
    (await user.api.post('/notes', { title: 'New', content: '<p>Text</p>', ...fields })).body.note.id;
  const makeAll = (count: number, user = alice) =>
    Promise.all(Array.from({ length: count }, () => make({}, user)));
  const noteOf = async (id: string) => (await alice.api.get(`/notes/${id}`)).body.note;
  const share = (id: string, owner = alice, other = bob) =>
    owner.api.put(`/notes/${id}/invited`, { invited: [{ email: other.email, role: 'editor' }] });
  const send = (user: TestUser, { id, body, key }: Sent): Promise<ApiResponse> =>
    user.api.patch(`/notes/${id}`, body, { headers: key === undefined ? {} : { 'Idempotency-Key': key } });
  const lockCounter = (client: pg.Client, user: TestUser) =>
    client.query('SELECT FROM sync_heads WHERE tenant_id = $1 AND user_id = $2 FOR UPDATE', [
      user.tenantId,
      user.id,
    ]);
  const outcomesOf = (responses: readonly ApiResponse[]) =>
    responses.map(({ status, body }) => [status, body.error ?? body.note.revision]);

  /** Runs `work` while the first edit of a user has the turn, which ends with `work`. */
  async function whileFirst(user: TestUser, id: string, work: () => Promise<void>): Promise<void> {
    const edits = app.get<any>(NoteEdits);
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    edits.editTogether = async (...given: unknown[]) => {
      delete edits.editTogether;
      begun.resolve();
      await held.promise;
      return edits.editTogether(...given);
    };
    const first = send(user, { id, body: { title: randomUUID(), base_revision: 1 } });
    await begun.promise;
    try {
      await work();
    } finally {
      held.resolve();
    }
    expect((await first).status).toBe(200);
  }

  /** Sends edits while the user's first one is stored, so that they wait together, in this order. */
  async function sendTogether(user: TestUser, edits: readonly Sent[], first: string): Promise<ApiResponse[]> {
    const { usual } = app.get<any>(NoteEdits);
    const sent: Promise<ApiResponse>[] = [];
    await whileFirst(user, first, async () => {
      for (const edit of edits) {
        sent.push(send(user, edit));
        const count = sent.length;
        await until(
          'the edit waits',
          async () => usual.countWaiting(`${user.tenantId} ${user.id}`) === count,
        );
      }
    });
    return Promise.all(sent);
  }

  test('each has its outcome, with keys and without, and those of one note are in order', async () => {
    const [first, one, two, reused, plain] = (await makeAll(5)) as [string, string, string, string, string];
    const [same, other] = [randomUUID(), randomUUID()];
    const release = await holdEvents(app);
    const responses = await sendTogether(
      alice,
      [
        { id: one, body: { title: 'A', base_revision: 1, device_id: 'phone' }, key: same },
        { id: one, body: { title: 'A', base_revision: 1, device_id: 'phone' }, key: same },
        { id: two, body: { title: 'B', base_revision: 1 } },
        { id: two, body: { content: '<p>C</p>', base_revision: 2 } },
        { id: reused, body: { title: 'D', base_revision: 1 }, key: other },
        { id: reused, body: { title: 'E', base_revision: 1 }, key: other },
        { id: plain, body: { title: 'F', base_revision: 1 }, key: randomUUID() },
      ],
      first,
    );
    expect(outcomesOf(responses)).toEqual([
      [200, 2],
      [409, 'request_in_flight'],
      [200, 2],
      [200, 3],
      [200, 2],
      [409, 'request_in_flight'],
      [200, 2],
    ]);
    expect(
      outcomesOf([
        await send(alice, { id: one, body: { title: 'A', base_revision: 1, device_id: 'phone' }, key: same }),
        await send(alice, { id: reused, body: { title: 'E', base_revision: 1 }, key: other }),
      ]),
    ).toEqual([
      [200, 2],
      [409, 'idempotency_key_reused'],
    ]);
    const history = await app.sql(
      'SELECT note_id, revision, author_id, device_id FROM note_revisions WHERE note_id = ANY ($1) AND revision > 1 ORDER BY 1, 2',
      [[one, two]],
    );
    const written = [
      { note_id: one, revision: 2, author_id: alice.id, device_id: 'phone' },
      { note_id: two, revision: 2, author_id: alice.id, device_id: null },
      { note_id: two, revision: 3, author_id: alice.id, device_id: null },
    ];
    expect(history).toEqual(written.toSorted((a, b) => (a.note_id < b.note_id ? -1 : 1)));
    const events = await app.sql(
      `SELECT payload->>'note_id' AS id, payload->'revision' AS revision FROM outbox WHERE payload->>'note_id' = ANY ($1) AND type = 'note.updated' ORDER BY 1, 2`,
      [[one, two]],
    );
    expect(events).toEqual(history.map((row: any) => ({ id: row.note_id, revision: row.revision })));
    await release();
  });

  test('one of a note that another transaction has locked fails alone, after its time', async () => {
    const [first, ...ids] = await makeAll(6);
    let responses: Promise<ApiResponse[]> | undefined;
    await inTransaction(app.databaseUrl, async (other) => {
      await other.query('SELECT FROM notes WHERE id = $1 FOR UPDATE', [ids[2]]);
      responses = sendTogether(
        alice,
        ids.map((id) => ({ id, body: { title: 'Mine', base_revision: 1 } })),
        first!,
      );
      expect((await responses).map(({ status }) => status)).toEqual([200, 200, 503, 200, 200]);
    });
    expect([(await noteOf(ids[2]!)).revision, locked]).toEqual([1, 1]);
  });

  test('where the counter of a member is locked, others are stored nevertheless', async () => {
    // Counters are locked in the order of users: the edit that waits for the first one does not keep the second one from others.
    const [member, user] = [alice, bob].toSorted((one, other) => (one.id < other.id ? -1 : 1)) as [
      TestUser,
      TestUser,
    ];
    const [first, ...ids] = await makeAll(6, user);
    await share(ids[2]!, user, member);
    const { revision } = (await user.api.get(`/notes/${ids[2]}`)).body.note;
    await inTransaction(app.databaseUrl, async (other) => {
      await lockCounter(other, member);
      const edits = ids.map((id, n) => ({
        id,
        body: { title: 'Mine', base_revision: n === 2 ? revision : 1 },
        key: randomUUID(),
      }));
      const responses = await sendTogether(user, edits, first!);
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 503, 200, 200]);
    });
    expect((await user.api.get(`/notes/${ids[2]}`)).body.note.revision).toBe(revision);
  });

  test('those that are rejected lock no counter of other members', async () => {
    const [first, ...ids] = await makeAll(4);
    await share(ids[1]!);
    await inTransaction(app.databaseUrl, async (other) => {
      await lockCounter(other, bob);
      const edits = ids.map((id, n) => ({ id, body: { title: 'Mine', base_revision: n === 1 ? 7 : 1 } }));
      const responses = await sendTogether(alice, edits, first!);
      expect(responses.map(({ status }) => status)).toEqual([200, 409, 200]);
      expect(locked).toBe(1);
    });
  });

  test('large contents are stored, whether the edits or the notes have them', async () => {
    const content = `<p>${'x'.repeat(200_000)}</p>`;
    const large = await Promise.all(Array.from({ length: 8 }, () => make({ content })));
    const [first, ...small] = await makeAll(4);
    const responses = await sendTogether(
      alice,
      [
        ...large.map((id) => ({ id, body: { title: 'Large', base_revision: 1 }, key: randomUUID() })),
        ...small.map((id) => ({ id, body: { content, base_revision: 1 }, key: randomUUID() })),
      ],
      first!,
    );
    expect(responses.map(({ status, body }) => [status, body.note.content.length])).toEqual(
      responses.map(() => [200, content.length]),
    );
    // The statement of the first nine ends after six: it returns 1 MiB at most, apart from the last one.
    expect(locked).toBe(3);
  });

  test('more than can be stored in time get 503 with Retry-After', async () => {
    const id = await make();
    const { usual } = app.get<any>(NoteEdits);
    await whileFirst(alice, id, async () => {
      for (let n = 0; n < usual.limits.mostWaiting; n += 1)
        void usual.add(`${alice.tenantId} ${alice.id}`, waiting(id)).catch(() => 0);
      const further = await send(alice, { id, body: { title: 'Further', base_revision: 1 } });
      expect([further.status, further.headers.get('retry-after')]).toEqual([503, expect.any(String)]);
    });
    await until('nothing waits', async () => usual.countWaiting(`${alice.tenantId} ${alice.id}`) === 0);
    expect((await send(alice, { id, body: { title: 'Later', base_revision: 2 } })).status).toBe(200);
  });

  /** An edit with a wrong assumption, which changes nothing. */
  const waiting = (id: string) => ({
    ctx: { tenantId: alice.tenantId, userId: alice.id },
    edit: { id, key: null, command: { base: 99, patch: { title: 'None' } } },
  });
});
