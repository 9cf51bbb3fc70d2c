import { type IdempotencyKey, IdempotentWrites } from '../../../src/platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../src/platform/context/request-context.js';
import { either } from '../../../src/platform/database/statement.js';
import { JsonReply } from '../../../src/platform/http/json-reply.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { inTransaction, lockWaiters } from '../../support/database/locks.ts';

describe('Idempotency-Key', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());

  let n = 0;
  const newKey = () => `key-${(n += 1)}`;
  const post = (key: string, body: unknown = { title: 'once' }, user = alice, path = '/notes') =>
    user.api.post(path, body, { headers: { 'idempotency-key': key } });
  const count = async () => (await app.sql('SELECT count(*)::int AS n FROM notes'))[0].n as number;
  const essence = ({ status, headers, text }: ApiResponse) => [
    status,
    headers.get('etag'),
    headers.get('location'),
    text,
  ];
  const remembered = (key: string) => app.sql('SELECT 1 FROM idempotency_keys WHERE key = $1', [key]);

  test('a repetition returns the bytes of the first response and changes nothing, regardless of later changes', async () => {
    const key = newKey();
    const first = await post(key);
    expect(first.status).toBe(201);
    const { id } = first.body.note;
    await alice.api.patch(`/notes/${id}`, { title: 'changed since', base_revision: 1 });
    const before = await count();
    expect(essence(await post(key))).toEqual(essence(first));
    expect(await count()).toBe(before);
    expect((await alice.api.get(`/notes/${id}`)).body.note.title).toBe('changed since');
  });

  test('another body is 409', async () => {
    const key = newKey();
    await post(key);
    for (const body of [{ title: 'twice' }, { title: 'once', labels: [] }, {}]) {
      const { status, body: response } = await post(key, body);
      expect([status, response.error]).toEqual([409, 'idempotency_key_reused']);
    }
    expect((await post(key)).status).toBe(201);
  });

  test('another query is 409', async () => {
    const ids: string[] = [];
    for (const name of ['Source', 'Target'])
      ids.push((await alice.api.post('/calendar', { name })).body.calendar.id);
    const options = { headers: { 'idempotency-key': newKey() } };
    const remove = (query: string) => alice.api.delete(`/calendar/${ids[0]}${query}`, undefined, options);
    const first = await remove(`?move_events_to=${ids[1]}`);
    expect(first.status).toBe(200);
    expect(essence(await remove(`?move_events_to=${ids[1]}`))).toEqual(essence(first));
    const { status, body } = await remove('');
    expect([status, body.error]).toEqual([409, 'idempotency_key_reused']);
  });

  test('another user, workspace or route is another key', async () => {
    const key = newKey();
    const [elsewhere] = await app.tenant('beta', 'alice');
    const twin = await app.member('beta', alice.email);
    const mine = await post(key);
    const ids = [mine.body.note.id];
    for (const user of [bob, elsewhere, twin]) {
      const response = await post(key, { title: 'once' }, user);
      expect(response.status).toBe(201);
      ids.push(response.body.note.id);
    }
    expect(new Set(ids).size).toBe(4);
    await alice.api.delete(`/notes/${ids[0]}`, { base_revision: 1 });
    const restored = await post(key, {}, alice, `/notes/${ids[0]}/restore`);
    expect([restored.status, restored.body.note.deleted]).toEqual([200, false]);
    await alice.api.delete(`/notes/${ids[0]}`, { base_revision: 1 });
    expect(essence(await post(key, {}, alice, `/notes/${ids[0]}/restore`))).toEqual(essence(restored));
    expect((await alice.api.get(`/notes/${ids[0]}`)).body.note.deleted).toBe(true);
  });

  test.each([
    ['with space', 'a b'],
    ['too long', 'x'.repeat(256)],
    ['empty', ''],
    ['not ASCII', 'é'],
  ])('a key %s is 422', async (_, key) => {
    const before = await count();
    const { status, body } = await post(key);
    expect([status, body.error]).toEqual([422, 'invalid_idempotency_key']);
    expect(await count()).toBe(before);
    expect((await post('x'.repeat(255))).status).toBe(201);
  });

  test('a rejected request is not remembered', async () => {
    const key = newKey();
    expect((await post(key, { title: 7 })).status).toBe(422);
    expect((await post(key, { folder_id: '0199aaaa-bbbb-7ccc-8ddd-eeeeffff9999' })).body.error).toBe(
      'validation_failed',
    );
    expect(await remembered(key)).toEqual([]);
    expect((await post(key)).status).toBe(201);
  });

  test('after 24 hours a key is new again', async () => {
    const key = newKey();
    const first = await post(key);
    const age = (interval: string) =>
      app.sql(`UPDATE idempotency_keys SET created_at = now() - $1::interval WHERE key = $2`, [
        interval,
        key,
      ]);
    await age('23 hours 59 minutes');
    expect((await post(key)).text).toBe(first.text);
    await age('24 hours 1 minute');
    const second = await post(key, { title: 'another' });
    expect([second.status, second.body.note.title]).toEqual([201, 'another']);
    expect((await post(key, { title: 'another' })).text).toBe(second.text);
  });

  test('20 concurrent requests create one note; the others return the response or Retry-After', async () => {
    const key = newKey();
    const before = await count();
    const responses = await Promise.all(Array.from({ length: 20 }, () => post(key)));
    expect(await count()).toBe(before + 1);
    const made = responses.filter(({ status }) => status === 201);
    expect(new Set(made.map(({ text }) => text)).size).toBe(1);
    for (const { status, body, headers } of responses.filter((response) => !made.includes(response))) {
      expect([status, body.error, headers.get('retry-after')]).toEqual([409, 'request_in_flight', '1']);
    }
    expect((await post(key)).text).toBe(made[0]?.text);
  });

  test('while the first request runs the second is 409, and a first that is killed leaves nothing', async () => {
    const key = newKey();
    const before = await count();
    // A lock on the owner's counter holds the first request inside its transaction.
    await post(newKey());
    await inTransaction(app.databaseUrl, async (blocker) => {
      await blocker.query('SELECT 1 FROM sync_heads WHERE user_id = $1 FOR UPDATE', [alice.id]);
      const first = post(key);
      const [waiting] = await lockWaiters(blocker);
      const second = await post(key);
      expect([second.status, second.body.error]).toEqual([409, 'request_in_flight']);
      // The connection ends in the middle of the transaction, as it does when the process is killed.
      await blocker.query('SELECT pg_terminate_backend($1)', [waiting!.pid]);
      expect([(await first).status, (await first).body.error]).toEqual([503, 'database_unavailable']);
    });
    expect(await remembered(key)).toEqual([]);
    expect(await count()).toBe(before + 1);
    expect((await post(key)).status).toBe(201);
    expect(await count()).toBe(before + 2);
  });

  describe('around a write', () => {
    const key = (): IdempotencyKey => ({
      key: newKey(),
      route: 'POST /things',
      fingerprint: Buffer.from('f'),
    });
    const ctx = () =>
      ({
        tenantId: alice.tenantId,
        userId: alice.id,
        role: 'owner',
        sessionId: null,
        requestId: 'r',
      }) as RequestContext;
    const write = either.statement<never>(
      'test.write',
      `INSERT INTO job_runs (name, ran_at) VALUES ($1, now())`,
    );
    const written = (name: string) => app.sql('SELECT 1 FROM job_runs WHERE name = $1', [name]);

    test('an error rolls back the change and the key', async () => {
      const used = key();
      const broken = app.get<IdempotentWrites>(IdempotentWrites).run(ctx(), used, async (tx) => {
        await tx.query(write, [used.key]);
        throw new Error('after the write');
      });
      await expect(broken).rejects.toThrow('after the write');
      expect([await written(used.key), await remembered(used.key)]).toEqual([[], []]);
    });

    test('a request that finishes after another one with the same key is rolled back', async () => {
      // The other request commits after the snapshot of this one, which does not see it, and before this one takes the lock.
      const used = key();
      const late = app.get<IdempotentWrites>(IdempotentWrites).run(ctx(), used, async (tx) => {
        await tx.query(write, [used.key]);
        await app.sql(
          `INSERT INTO idempotency_keys (tenant_id, user_id, route, key, fingerprint, status, reply) VALUES ($1, $2, $3, $4, 'f', 201, '{"first":1}')`,
          [alice.tenantId, alice.id, used.route, used.key],
        );
        return JsonReply.of({ second: 1 });
      });
      await expect(late).rejects.toMatchObject({ kind: { code: 'request_in_flight' } });
      expect(await written(used.key)).toEqual([]);
      const again = await app
        .get<IdempotentWrites>(IdempotentWrites)
        .run(ctx(), used, async () => JsonReply.of({ third: 1 }));
      expect([again.json, again.options.status]).toEqual(['{"first":1}', 201]);
    });
  });
});
