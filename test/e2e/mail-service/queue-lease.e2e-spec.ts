import { QueueLease, WORKER_LOCKS } from '../../../src/mail-service/delivery/queue.repository.js';
import { onDatabase } from '../../support/installation/backup.ts';
import { emptyDatabase } from '../../support/database/database.ts';

test('a lease whose first heartbeat fails leaves no session with the lock, and is held after the next one', async () => {
  const database = await emptyDatabase();
  const lease = new QueueLease({ databaseUrl: database.url } as never);
  try {
    await lease.start();
    expect(lease.isHeld).toBe(false);
    const locks = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = ${WORKER_LOCKS}
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    expect(await onDatabase(database.url, locks)).toEqual([]);
    await onDatabase(
      database.url,
      'CREATE SCHEMA mail_service; CREATE TABLE mail_service.queue (id text, worker int, leased_until timestamptz)',
    );
    await lease['beat']();
    expect(lease.isHeld).toBe(true);
    expect(await onDatabase(database.url, locks)).toHaveLength(1);
  } finally {
    await lease.stop();
    await database.drop();
  }
});
