import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@workspace-backend/client';
import { openWorkspace } from '@workspace-backend/client/sync';
import { sqliteStore } from '@workspace-backend/client/sync/sqlite';

/** The client library with a SQLite file. */
export async function openDevice({ url, token, user, directory }, network) {
  const client = createClient({ url, token: () => token, fetch: network.fetch });
  let workspace;
  const notes = () => workspace.collection('notes');
  return {
    async first() {
      const store = sqliteStore(new DatabaseSync(path.join(directory, 'notes.db')));
      workspace = await openWorkspace({ client, store, user, collections: ['notes'] });
      await workspace.sync();
    },
    count: async () => (await notes().list()).length,
    async edit(count, title) {
      for (const { id } of await notes().list({ limit: count })) await notes().update(id, { title });
    },
    push: () => workspace.sync(),
    close: () => workspace.close(),
  };
}
