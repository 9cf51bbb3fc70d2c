import { OutboxWorker } from '../../src/platform/events/outbox.worker.js';
import { TrashPurge } from '../../src/modules/notes/trash-purge.js';
import { TestApp, type TestUser } from '../support/app.ts';
import { inTransaction, lockWaiters } from '../support/database/locks.ts';

/** Found by the fuzzer of synchronisation: a transaction with many notes must keep the order of the locks. */
describe('the purge of notes after their retention in the trash', () => {
  let app: TestApp;
  let users: TestUser[];

  beforeAll(async () => {
    app = await TestApp.start();
    users = (await app.tenant('acme', 'alice', 'bob')).sort((a, b) => (a.id < b.id ? -1 : 1));
  });
  afterAll(() => app?.stop());

  const make = async (owner: TestUser, invited: TestUser[]): Promise<string> => {
    const { id } = (await owner.api.post('/notes', { title: 'n' })).body.note;
    await owner.api.put(`/notes/${id}/invited`, { invited: invited.map((one) => one.id) });
    return id;
  };
  const trash = async (owner: TestUser, id: string, daysAgo: number): Promise<void> => {
    await owner.api.delete(`/notes/${id}`, { base_revision: 1 });
    await app.sql(`UPDATE notes SET purge_at = now() - make_interval(days => $2) WHERE id = $1`, [
      id,
      daysAgo,
    ]);
  };

  test('takes the counters of all in one order, so that it and a writer do not wait for each other', async () => {
    const [low, high] = users as [TestUser, TestUser];
    // In the order of the notes, the purge would lock the higher counter first, then the lower one.
    await trash(high, await make(high, []), 2);
    await trash(low, await make(low, [high]), 1);
    const written = await make(low, [high]);
    // The search index locks the notes that it indexes, and the purge skips locked notes.
    await app.get(OutboxWorker).drain();

    const url = await app.databaseOf(low.tenantId!);
    const [write, purge] = await inTransaction(url, async (holder) => {
      await holder.query('SELECT FROM sync_heads WHERE tenant_id = $1 AND user_id = $2 FOR UPDATE', [
        low.tenantId,
        low.id,
      ]);
      const writing = low.api.patch(`/notes/${written}`, { title: 'new', base_revision: 1 });
      await lockWaiters(holder);
      const purging = app.get(TrashPurge).purge();
      await lockWaiters(holder, 2);
      await holder.query('COMMIT');
      return Promise.allSettled([writing, purging]);
    });
    expect(write).toMatchObject({ status: 'fulfilled', value: { status: 200 } });
    expect(purge).toMatchObject({ status: 'fulfilled', value: 2 });
  });
});
