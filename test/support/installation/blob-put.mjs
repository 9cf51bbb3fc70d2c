// A process that stores bytes and never ends: it reports the first stored bytes, and waits until it is killed.
import { setTimeout as forever } from 'node:timers/promises';
import { createApp } from '../../../dist/app.setup.js';
import { Config } from '../../../dist/config/config.js';
import { Blobs } from '../../../dist/platform/blobs/blobs.js';

const [tenantId, megabytes] = process.argv.slice(2);
const config = Config.load();
const { nest } = await createApp(config, config.DATABASE_URL);

async function* bytes() {
  for (let n = 0; n < Number(megabytes) * 16; n += 1) yield Buffer.alloc(65_536, n % 251);
  process.stdout.write('running\n');
  await forever(600_000);
}
await nest.get(Blobs).put(tenantId, bytes(), { maxBytes: 1e9 });
