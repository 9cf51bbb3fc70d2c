import { ProcessorShares } from '../../../src/platform/workers/processor-shares.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { inTransaction } from '../../support/database/locks.ts';
import { ok } from '../../support/domains/forms.ts';
import { until } from '../../support/until.ts';

describe('a user with much of the processor time, beside another one', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
    [bob] = await app.tenant('other', 'bob');
    const shares = app.get<ProcessorShares>(ProcessorShares);
    shares.limits.heavy = 0.25;
    expect((await bob.api.get('/notes')).status).toBe(200);
    // So much that it is still much at the end of the test.
    const share = shares.arrive({ workspace: alice.tenantId as string, user: alice.id });
    share.charge(1e12, performance.now());
    expect(shares.mustWait(share)).toBe(true);
  });
  afterAll(() => app?.stop());

  test('gets the responses of requests that were sent at the same time', async () => {
    const sent = Array.from({ length: 12 }, () => alice.api.get('/notes'));
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(sent.map(() => 200));
  });

  test('gets those of a batch, whose requests take turns while the batch is open', async () => {
    const requests = Array.from({ length: 10 }, () => ({ method: 'GET', path: '/apis/v1/tasks' }));
    const { body } = await alice.api.post('/batch', { mode: 'independent', requests });
    expect(body.responses.map(({ status }: { status: number }) => status)).toEqual(requests.map(() => 200));
  });

  test('a user has two batches at a time, so that their responses do not fill the memory; further ones wait', async () => {
    const requests = [{ method: 'POST', path: '/apis/v1/notes', body: { title: 'A note' } }];
    const { batches } = app
      .get<ProcessorShares>(ProcessorShares)
      .arrive({ workspace: bob.tenantId as string, user: bob.id });
    const send = () => bob.api.post('/batch', { mode: 'ordered', requests });
    await send();
    let sent: ReturnType<typeof send>[] = [];
    await inTransaction(await app.databaseOf(bob.tenantId as string), async (holder) => {
      // A lock on the counter of the user holds the requests.
      await holder.query('SELECT 1 FROM sync_heads WHERE user_id = $1 FOR UPDATE', [bob.id]);
      sent = Array.from({ length: 5 }, send);
      await until('three batches to wait', () => batches.pending === 3);
    });
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  test('gets files of several exports without a warning of too many listeners', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    const { id } = ok(await alice.api.post('/forms', { title: 'A form' }), 201).form;
    const sent = Array.from({ length: 4 }, () => alice.api.get(`/forms/${id}/export.xlsx`));
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  test('gets responses while a request waits for a change', async () => {
    const { body: first } = await alice.api.get('/sync/state');
    const waiting = alice.api.get(`/sync/state?wait=25&cursor=${first.cursor}`);
    const created = await alice.api.post('/notes', { title: 'A note' });
    expect(created.status).toBe(201);
    expect((await waiting).status).toBe(200);
  });
});
