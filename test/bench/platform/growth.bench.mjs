// `node test/bench/platform/growth.bench.mjs --notes 10000,100000,1000000`: the cost of an operation in PostgreSQL as the table of notes grows,
// for a user with 60 notes and for one with a tenth of all notes, in a workspace of 10 and of 10,000 members. Costs are pages of
// the buffer cache that the statement touches, and milliseconds of its fastest run. Pages do not depend on other work of the machine.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { withApp } from '../../../dist/cli/context.js';
import { Config } from '../../../dist/config/config.js';
import { NoteFeedRepository } from '../../../dist/modules/notes/feed/note-feed.controller.js';
import { NoteListRepository } from '../../../dist/modules/notes/lists/note-lists.service.js';
import { NotesRepository } from '../../../dist/modules/notes/notes.repository.js';
import { EmbeddedDatabase } from '../../../dist/platform/database/embedded/embedded-database.js';
import { headOf } from '../../../dist/platform/sync/sync-heads.js';
import { provision } from '../../../dist/provision/provision.js';
import { newNote } from '../../../dist/modules/notes/model/edit-rules.js';
import { print } from '../support/workspace.mjs';

const { values: options } = parseArgs({
  options: {
    notes: { type: 'string', default: '10000,100000' },
    people: { type: 'string', default: '10000' },
  },
});
const SIZES = options.notes.split(',').map(Number);
const FEW = 60;
const PAGE = 50;
/** The first runs of a prepared statement have plans for their values; later ones the common plan. */
const RUNS = 12;
const WRITERS = 2;
const BODY = 'Words of a note for the bench, repeated to about one kilobyte. '.repeat(14);

const directory = mkdtempSync(path.join(tmpdir(), 'workspace-growth-bench-'));
const log = { info: () => undefined, warn: print, error: print };
const database = await EmbeddedDatabase.open({ dataDir: directory, role: 'server', log });
try {
  const config = Config.parse({ DATABASE_URL: database.url, LOG_LEVEL: 'warn', DEMO: 'false' });
  const tenants = [workspaceOf('small', 10), workspaceOf('large', Number(options.people))];
  await withApp(config, (app) => provision(app, { tenants }));
  const pool = new pg.Pool({ connectionString: database.url, max: WRITERS });
  await main(pool);
  await pool.end();
} finally {
  await database.close();
  rmSync(directory, { recursive: true, force: true });
}

function workspaceOf(slug, people) {
  const users = Array.from({ length: people }, (_, n) => ({
    email: `person${n}@${slug}.example`,
    name: `Person ${n}`,
    role: n === 0 ? 'owner' : 'member',
  }));
  return { slug, users };
}

async function main(pool) {
  const { rows: members } = await pool.query(
    `SELECT member.tenant_id AS "tenantId", member.user_id AS "userId", tenant.slug, profile.email
       FROM tenant_members member JOIN tenants tenant ON tenant.id = member.tenant_id
       JOIN member_profiles profile ON profile.tenant_id = member.tenant_id AND profile.user_id = member.user_id
      ORDER BY profile.email`,
  );
  const of = (slug) => members.filter((member) => member.slug === slug);
  const callers = ['small', 'large'].flatMap((slug) => {
    const [few, many] = of(slug);
    return [
      { ...few, label: `60 notes, ${of(slug).length} members` },
      { ...many, label: `a tenth of all, ${of(slug).length} members`, many: true },
    ];
  });
  for (const caller of callers) if (!caller.many) await write(pool, [caller], FEW);
  const results = new Map();
  let written = callers.length * (FEW / 2);
  for (const size of SIZES) {
    const missing = size - written;
    for (const caller of callers) if (caller.many) await write(pool, [caller], missing / 10);
    const rest = (slug) => of(slug).slice(2);
    for (const slug of ['small', 'large']) await write(pool, rest(slug), missing * 0.4);
    written = size;
    await pool.query('DELETE FROM outbox');
    await pool.query('VACUUM (ANALYZE)');
    for (const caller of callers)
      for (const [name, cost] of await costs(pool, caller)) {
        const key = `${name} | ${caller.label}`;
        results.set(key, [...(results.get(key) ?? []), cost]);
      }
  }
  print(`| operation | caller | ${SIZES.map((size) => `${size} notes: pages, ms`).join(' | ')} |`);
  print(`| --- | --- |${' --- |'.repeat(SIZES.length)}`);
  for (const [key, cells] of results)
    print(`| ${key} | ${cells.map(({ pages, ms }) => `${pages}, ${ms.toFixed(2)}`).join(' | ')} |`);
}

/** Notes of these owners in turn, by the application's function. */
async function write(pool, owners, count) {
  const each = Math.ceil(count / WRITERS);
  await Promise.all(
    Array.from({ length: WRITERS }, (_, writer) =>
      pool.query(
        `SELECT count(note_store($1, (row->>'owner_id')::uuid, gen_random_uuid(), jsonb_build_object(
                  'is_new', true, 'event', jsonb_build_object('id', gen_random_uuid(), 'type', 'note.created'),
                  'row', row || jsonb_build_object('title', 'Note ' || n)), $3))
           FROM generate_series(1, $4::int) n,
           LATERAL (SELECT ($2::jsonb[])[1 + (n * ${WRITERS} + $5::int) % cardinality($2::jsonb[])] AS row) AS made`,
        [
          owners[0].tenantId,
          owners.map(({ userId }) => JSON.stringify(newNote(userId, {}))),
          BODY,
          each,
          writer,
        ],
      ),
    ),
  );
}

/** The statements that the repositories send for each operation, run on one connection. */
async function costs(pool, ctx) {
  const client = await pool.connect();
  const { rows: notes } = await client.query(
    'SELECT id, revision FROM notes WHERE tenant_id = $1 AND owner_id = $2 ORDER BY updated_at DESC LIMIT 1',
    [ctx.tenantId, ctx.userId],
  );
  const { rows: heads } = await client.query(
    'SELECT head FROM sync_heads WHERE tenant_id = $1 AND user_id = $2',
    [ctx.tenantId, ctx.userId],
  );
  const [{ id, revision }] = notes;
  const [{ head }] = heads;
  const sent = [];
  const reader = {
    query: (statement, values) => {
      sent.push({ statement, values });
      return [{ outcome: 'ok', revision: 1, json: '{}', head: 0, floor: 0, seq: null }];
    },
  };
  const repository = new NotesRepository(reader);
  const lists = new NoteListRepository(reader);
  const list = { order: 'desc', state: 'active', scope: 'all', include: 'content', limit: PAGE };
  const feed = (after) =>
    new NoteFeedRepository(reader).changes(ctx, {
      after,
      limit: 100,
      liveOnly: false,
      include: 'content',
    });
  const operations = {
    read: () => repository.read(ctx, id),
    list: () => lists.list(ctx, { ...list, sort: 'updated_at' }),
    'list, own': () => lists.list(ctx, { ...list, sort: 'updated_at', scope: 'mine' }),
    'list by title': () => lists.list(ctx, { ...list, sort: 'title', order: 'asc' }),
    'list by creation': () => lists.list(ctx, { ...list, sort: 'created_at' }),
    'empty poll': () => headOf(reader, ctx, 'notes'),
    'poll with 20 changes': () => feed(Number(head) - 20),
    create: () => repository.create(reader, ctx, uuidv7(), uuidv7(), { title: 'New', content: BODY }),
    update: () => repository.update(reader, ctx, uuidv7(), id, revision, { content: `${BODY}!` }),
  };
  const found = new Map();
  for (const [name, run] of Object.entries(operations)) {
    sent.length = 0;
    await run();
    found.set(name, await explain(client, sent[0]));
  }
  client.release();
  return found;
}

async function explain(client, { statement, values }) {
  await client.query(`PREPARE measured AS ${statement.text}`);
  const literals = values.map((value) => (value === null ? 'NULL' : client.escapeLiteral(String(value))));
  const best = { pages: Number.POSITIVE_INFINITY, ms: Number.POSITIVE_INFINITY };
  for (let run = 0; run < RUNS; run += 1) {
    await client.query('BEGIN');
    const { rows } = await client.query(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE measured(${literals.join(', ')})`,
    );
    await client.query('ROLLBACK');
    const [{ Plan: plan, 'Execution Time': ms }] = rows[0]['QUERY PLAN'];
    if (run < RUNS / 2) continue;
    best.pages = Math.min(best.pages, plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
    best.ms = Math.min(best.ms, ms);
  }
  await client.query('DEALLOCATE measured');
  return best;
}
