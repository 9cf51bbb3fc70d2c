// The replication server of RxDB. Its stores on the disk are not free, so it has the data in memory. Requests need no sign-in. Environment: PORT,
// DATABASES (names, separated by commas), MODULES.
import { createRequire } from 'node:module';
import path from 'node:path';
import { NOTE_SCHEMA } from '../rxdb-schema.mjs';

const { PORT, DATABASES, MODULES } = process.env;
const require = createRequire(path.join(MODULES, 'package.json'));
const { createRxDatabase } = require('rxdb/plugins/core');
const { getRxStorageMemory } = require('rxdb/plugins/storage-memory');
const { createRxServer } = require('rxdb-server/plugins/server');
const { RxServerAdapterExpress } = require('rxdb-server/plugins/adapter-express');

const names = DATABASES.split(',');
const database = await createRxDatabase({ name: 'bench', storage: getRxStorageMemory() });
await database.addCollections(Object.fromEntries(names.map((name) => [name, { schema: NOTE_SCHEMA }])));
const server = await createRxServer({
  database,
  adapter: RxServerAdapterExpress,
  port: Number(PORT),
  hostname: '127.0.0.1',
});
for (const name of names) server.addReplicationEndpoint({ name, collection: database[name] });
await server.start();
