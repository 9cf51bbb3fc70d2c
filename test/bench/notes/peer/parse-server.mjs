// Parse Server on PostgreSQL, an alternative to this backend. Notes with access lists; the check of the revision, the row of the
// revision and the row of the change are triggers, because Parse has none of them. Started by `minimal.bench.mjs --peer parse`.
// Environment: PORT, DATABASE_HOST (directory of the socket), DATABASE_NAME, DATABASE_POOL_MAX, MODULES (where Parse is installed).
import { createRequire } from 'node:module';
import path from 'node:path';

const { PORT, DATABASE_HOST, DATABASE_NAME, DATABASE_POOL_MAX, MODULES } = process.env;
// Parse writes logs into the working directory as soon as it is loaded, also against its options.
process.chdir(MODULES);
const require = createRequire(path.join(MODULES, 'package.json'));
const express = require('express');
const { FileSystemAdapter, ParseServer } = require('parse-server');
const {
  PostgresStorageAdapter,
} = require('parse-server/lib/Adapters/Storage/Postgres/PostgresStorageAdapter.js');

const databaseAdapter = new PostgresStorageAdapter({
  uri: `postgres://postgres@localhost/${DATABASE_NAME}`,
  databaseOptions: { host: DATABASE_HOST, max: Number(DATABASE_POOL_MAX), ssl: false },
});

const text = { type: 'String' };
const number = { type: 'Number' };
const permissions = {
  find: { requiresAuthentication: true },
  get: { requiresAuthentication: true },
  create: { requiresAuthentication: true },
  update: { requiresAuthentication: true },
};
const classOf = (className, fields) => ({ className, fields, classLevelPermissions: permissions });

const server = new ParseServer({
  databaseAdapter,
  filesAdapter: new FileSystemAdapter(),
  appId: 'bench',
  masterKey: 'bench-master',
  masterKeyIps: ['127.0.0.1'],
  maintenanceKey: 'bench-maintenance',
  serverURL: `http://127.0.0.1:${PORT}/parse`,
  silent: true,
  logsFolder: null,
  directAccess: true,
  allowClientClassCreation: false,
  enforcePrivateUsers: true,
  schema: {
    definitions: [
      classOf('Note', {
        owner: text,
        title: text,
        content: text,
        labels: { type: 'Array' },
        revision: number,
        base_revision: number,
        deleted: { type: 'Boolean' },
      }),
      classOf('NoteRevision', { note: text, title: text, content: text, revision: number }),
      classOf('Change', { note: text, kind: text, revision: number }),
    ],
  },
  cloud: triggers,
});

function triggers(Parse) {
  Parse.Cloud.beforeSave('Note', ({ object, original }) => {
    const base = object.get('base_revision');
    object.unset('base_revision');
    if (!original) return object.set('revision', 1);
    if (base !== original.get('revision')) throw new Parse.Error(409, 'conflict');
    return object.set('revision', base + 1);
  });
  Parse.Cloud.afterSave('Note', async ({ object, original }) => {
    const revision = object.get('revision');
    const entry = new Parse.Object('NoteRevision');
    entry.set({ note: object.id, revision, title: object.get('title'), content: object.get('content') });
    const change = new Parse.Object('Change');
    change.set({ note: object.id, revision, kind: original ? 'updated' : 'created' });
    for (const row of [entry, change]) row.setACL(object.getACL());
    await Parse.Object.saveAll([entry, change], { useMasterKey: true });
  });
}

await server.start();
const app = express();
app.use('/parse', server.app);
app.listen(Number(PORT), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
