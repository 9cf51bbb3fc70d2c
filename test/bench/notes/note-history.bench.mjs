// `node test/bench/notes/note-history.bench.mjs`: the size of the history of a note after 10,000 autosaves, and reads of its revisions.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { migrateDatabase } from '../../../dist/app.prepare.js';
import { withApp } from '../../../dist/cli/context.js';
import { Config } from '../../../dist/config/config.js';
import { NoteHistory } from '../../../dist/modules/notes/history/note-history.js';
import { NotesRepository } from '../../../dist/modules/notes/notes.repository.js';
import { Db } from '../../../dist/platform/database/db.js';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { bodies, random } from '../support/html.mjs';
import { seed } from './seed.mjs';

const { values } = parseArgs({
  options: {
    saves: { type: 'string', default: '10000' },
    bytes: { type: 'string', default: '6000' },
    reads: { type: 'string', default: '500' },
    packing: { type: 'string', default: 'on' },
  },
});
const SAVES = Number(values.saves);
/** The job runs every two minutes: a user who types for an hour saves some hundred times. */
const PACK_EVERY = 100;
const TABLES = ['note_revisions', 'note_revision_packs'];

const temporary = mkdtempSync(path.join(tmpdir(), 'workspace-history-bench-'));
const say = (text) => process.stderr.write(`${text}\n`);
const log = { info: () => undefined, warn: say, error: say };
const database = await EmbeddedDatabase.open({ dataDir: temporary, role: 'server', log });
try {
  const config = Config.parse({ DATABASE_URL: database.url, LOG_LEVEL: 'warn', DEMO: 'false' });
  await migrateDatabase(config, config.DATABASE_URL);
  await seed(config, { tenants: 1, notes: 1, dataDir: temporary });
  const admin = new pg.Client(database.url);
  await admin.connect();
  try {
    await withApp(config, (app) => measure(app, admin));
  } finally {
    await admin.end();
  }
} finally {
  await database.close();
  rmSync(temporary, { recursive: true, force: true });
}

async function measure(app, admin) {
  const [db, notes, history] = [Db, NotesRepository, NoteHistory].map((type) =>
    app.get(type, { strict: false }),
  );
  const { rows } = await admin.query('SELECT tenant_id, id, owner_id, revision FROM notes LIMIT 1');
  const ctx = { tenantId: rows[0].tenant_id, userId: rows[0].owner_id };
  const { id } = rows[0];
  const before = await size(admin);
  const next = random(7);
  let [body] = bodies(1, Number(values.bytes));
  let bytes = 0;
  const [first, last] = [rows[0].revision + 1, rows[0].revision + SAVES];
  for (let revision = first; revision <= last; revision++) {
    body = edited(body, next, revision);
    bytes += Buffer.byteLength(body);
    const saved = await db.tx((tx) =>
      notes.update(tx, ctx, randomUUID(), id, revision - 1, { content: body }),
    );
    if (saved.outcome !== 'ok') throw new Error(saved.outcome);
    if (revision % PACK_EVERY > 0) continue;
    if (values.packing === 'on') await history.packDue();
    // At a save each two seconds, autovacuum runs more often.
    await admin.query('VACUUM note_revisions');
  }
  const times = [];
  for (let n = 0; n < Number(values.reads); n++) {
    const began = performance.now();
    const row = await notes.readRevision(ctx, id, first + Math.floor(next() * SAVES));
    if (!row?.json) throw new Error('a revision is missing');
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.floor(times.length * share)].toFixed(2);
  const mega = (count) => (count / 1e6).toFixed(1);
  say(
    `${SAVES} saves of ${Math.round(bytes / SAVES)} bytes, ${mega(bytes)} MB: ${mega((await size(admin)) - before)} MB in the database; ` +
      `a revision reads in ${at(0.5)} ms (p50), ${at(0.99)} ms (p99)`,
  );
}

async function size(admin) {
  await admin.query(`VACUUM ${TABLES.join(', ')}`);
  const { rows } = await admin.query(
    'SELECT sum(pg_total_relation_size(name)) AS size FROM unnest($1::text[]) name',
    [TABLES],
  );
  return Number(rows[0].size);
}

/** Some words are typed at a random place, and older ones deleted: as an editor saves every few seconds. */
function edited(body, next, revision) {
  const kept = body.length > Number(values.bytes) * 1.1 ? body.replace(/edit \w+ /u, '') : body;
  const paragraph = kept.indexOf('<p>', Math.floor(next() * (kept.length - 200)));
  const place = (paragraph < 0 ? kept.indexOf('<p>') : paragraph) + 3;
  return `${kept.slice(0, place)}edit ${revision.toString(36)} ${kept.slice(place)}`;
}
