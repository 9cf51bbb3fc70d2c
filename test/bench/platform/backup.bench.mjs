// `node test/bench/platform/backup.bench.mjs [notes]`: a backup of a database with so many notes of 6 kB (100,000), its verification and
// restore; and its cost for concurrent writers. On a busy machine compare processor times, not durations.
import { createReadStream, globSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Writable } from 'node:stream';
import { createGzip, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { Config } from '../../../dist/config/config.js';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { migrateDatabase } from '../../../dist/app.prepare.js';
import { command, report } from '../support/commands.mjs';
import { startServer, WITHOUT_MAILBOXES } from '../support/processes.mjs';
import { seed } from '../notes/seed.mjs';

const notes = Number(process.argv[2] ?? 100_000);
const WRITERS = 4;
const WRITES = 2_000;
const directory = mkdtempSync(path.join(tmpdir(), 'workspace-backup-bench-'));
const log = { info: () => undefined, warn: console.error, error: console.error };

const place = path.join(directory, 'backup');
const [dataDir, other] = [path.join(directory, 'data'), path.join(directory, 'other')];
const database = await EmbeddedDatabase.open({ dataDir, role: 'server', log });
let server;
try {
  const config = Config.parse({ DATABASE_URL: database.url, LOG_LEVEL: 'warn' });
  await migrateDatabase(config, database.url);
  const { callers } = await seed(config, { tenants: 10, notes, largeIndex: 0, dataDir });
  server = await startServer(database.url, 10, [], WITHOUT_MAILBOXES);
  report('writers alone', await writing());
  const [beside, backup] = await Promise.all([writing(), command(dataDir, 'backup', '--to', place)]);
  report('writers beside a backup', beside);
  report('backup beside writers', backup);
  report('backup alone, second', await command(dataDir, 'backup', '--to', place, '--keep', '1'));
  report('verify', await command(dataDir, 'backup', '--verify', place));
  await server.stop();
  report('restore', await command(other, 'restore', '--from', place));
  await compressions();

  /** Creates notes, one after the other in each writer. */
  async function writing() {
    const [cpu, times] = [server.cpu, []];
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, n) => {
        const caller = callers[n];
        for (let count = 0; count < WRITES / WRITERS; count += 1) {
          const began = performance.now();
          const response = await fetch(`http://127.0.0.1:${server.port}/apis/v1/notes`, {
            method: 'POST',
            headers: { authorization: `Bearer ${caller.token}`, 'content-type': 'application/json' },
            body: JSON.stringify({ title: 'Minutes', content: `<p>${'text '.repeat(1_200)}</p>` }),
          });
          await response.text();
          if (response.status !== 201) throw new Error(String(response.status));
          times.push(performance.now() - began);
        }
      }),
    );
    times.sort((a, b) => a - b);
    const at = (share) => Number(times[Math.floor(times.length * share)].toFixed(1));
    const perWrite = ((server.cpu - cpu) / WRITES) * 1_000;
    return { p50_ms: at(0.5), p99_ms: at(0.99), server_cpu_ms_per_write: Number(perWrite.toFixed(2)) };
  }
} finally {
  await server?.stop();
  await database.close();
  rmSync(directory, { recursive: true, force: true });
}

/** The largest table with both compressions of Node. */
async function compressions() {
  const files = globSync(path.join(place, 'snapshots/*/tables/*'));
  const [file] = files.toSorted((a, b) => statSync(b).size - statSync(a).size);
  report('largest table', { name: path.basename(file) });
  for (const [name, make] of [
    ['zstd', () => createZstdCompress()],
    ['gzip', () => createGzip()],
    ['gzip level 1', () => createGzip({ level: 1 })],
  ]) {
    let bytes = 0;
    const count = new Writable({
      write(chunk, _, done) {
        bytes += chunk.length;
        done();
      },
    });
    const before = process.cpuUsage();
    await pipeline(createReadStream(file), createZstdDecompress(), make(), count);
    const { user, system } = process.cpuUsage(before);
    report(name, { bytes, cpu_seconds: Number(((user + system) / 1e6).toFixed(2)) });
  }
}
