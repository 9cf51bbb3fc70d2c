import { createRequire } from 'node:module';
import path from 'node:path';
import { NOTE_SCHEMA } from '../rxdb-schema.mjs';

/** Documents of a push, each with its state before: the server rejects bodies of more than 100 kB. */
const PUSHED_AT_ONCE = 7;

/** RxDB with its store in memory: those on the disk are not free for Node. */
export async function openDevice({ url, database, modules }, network) {
  globalThis.fetch = network.fetch;
  const require = createRequire(path.join(modules, 'package.json'));
  const { createRxDatabase } = require('rxdb/plugins/core');
  const { getRxStorageMemory } = require('rxdb/plugins/storage-memory');
  const { replicateServer } = require('rxdb-server/plugins/replication-server');
  let local;
  const replicate = async () => {
    const replication = replicateServer({
      collection: local.notes,
      replicationIdentifier: 'bench',
      url: `${url}/${database}/0`,
      live: false,
      pull: {},
      push: { batchSize: PUSHED_AT_ONCE },
    });
    let failure;
    replication.error$.subscribe((error) => (failure = error));
    await replication.awaitInitialReplication();
    if (failure) throw failure;
  };
  return {
    async first() {
      local = await createRxDatabase({ name: 'device', storage: getRxStorageMemory() });
      await local.addCollections({ notes: { schema: NOTE_SCHEMA } });
      await replicate();
    },
    count: () => local.notes.count().exec(),
    async edit(count, title) {
      for (const doc of await local.notes.find({ limit: count }).exec())
        await doc.incrementalPatch({ title });
    },
    push: replicate,
    close: () => local.destroy(),
  };
}
