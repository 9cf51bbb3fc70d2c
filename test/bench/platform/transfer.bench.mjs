// `node test/bench/platform/transfer.bench.mjs [notes]`: a workspace with so many notes of 6 kB (10,000) is exported, imported into
// another installation, and moved to a cell; then a backup of the directory and the cell.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { Config } from '../../../dist/config/config.js';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { migrateDatabase } from '../../../dist/app.prepare.js';
import { seed } from '../notes/seed.mjs';
import { command, report } from '../support/commands.mjs';
import { startServer, WITHOUT_MAILBOXES } from '../support/processes.mjs';

const notes = Number(process.argv[2] ?? 10_000);
const directory = mkdtempSync(path.join(tmpdir(), 'workspace-transfer-bench-'));
const log = { info: () => undefined, warn: console.error, error: console.error };
const cleanUp = [];

/** An installation with a database and a server of its own. */
async function installation(name) {
  const dataDir = path.join(directory, name);
  const database = await EmbeddedDatabase.open({ dataDir, role: 'server', log });
  cleanUp.push(() => database.close());
  const config = Config.parse({ DATABASE_URL: database.url, LOG_LEVEL: 'warn' });
  await migrateDatabase(config, database.url);
  return { dataDir, url: database.url, config };
}

const serve = async ({ url }) => {
  const server = await startServer(url, 10, [], WITHOUT_MAILBOXES);
  cleanUp.push(() => server.stop());
};

try {
  const source = await installation('source');
  await seed(source.config, { tenants: 2, notes: 2_000, largeIndex: notes, dataDir: source.dataDir });
  await serve(source);
  const target = await installation('target');
  await serve(target);
  const exported = path.join(directory, 'export');
  report('export', await command(source.dataDir, 'tenant', 'export', 'large', '--to', exported));
  report('import', await command(target.dataDir, 'tenant', 'import', '--from', exported));
  report('backup', await command(source.dataDir, 'backup', '--to', path.join(directory, 'backup')));

  const admin = new pg.Client(source.url);
  await admin.connect();
  await admin.query('CREATE DATABASE north');
  await admin.end();
  const cell = new URL(source.url);
  cell.pathname = '/north';
  report('cell add', await command(source.dataDir, 'cell', 'add', 'north', '--url', cell.toString()));
  report('move', await command(source.dataDir, 'tenant', 'move', 'large', '--to', 'north'));
  const place = path.join(directory, 'cells');
  report('backup over two databases', await command(source.dataDir, 'backup', '--to', place));
  report('verify', await command(source.dataDir, 'backup', '--verify', place));
} finally {
  for (const step of cleanUp.toReversed()) await step();
  rmSync(directory, { recursive: true, force: true });
}
