// Installs, starts and fills Parse Server for `minimal.bench.mjs --peer parse`. Never a dependency of the project.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startScript } from '../../support/processes.mjs';

const VERSION = '9.10.0';
const DATABASE = 'parse';
const BATCH = 2_000;
/** An object id of Parse: ten letters and digits. */
const shortId = (uuid) =>
  Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('base64url').replace(/[-_]/g, 'x').slice(-16);

/** Installs Parse Server beside the temporary files of this machine, once. @returns the directory with its modules */
function install() {
  const directory = path.join(tmpdir(), `workspace-bench-parse-${VERSION}`);
  if (existsSync(path.join(directory, 'node_modules', 'parse-server'))) return directory;
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, 'package.json'), '{"private":true}');
  const packages = [`parse-server@${VERSION}`, 'express@5'];
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return directory;
}

/**
 * Starts Parse Server on a database of its own in the same cluster and copies the notes into it.
 * @param url of the application's database, through a socket
 * @param callers with the ids of their notes
 * @returns the listener, and the callers with a session and the ids of their notes in Parse
 */
export async function startParse(url, poolSize, callers) {
  const modules = install();
  const host = new URL(url).searchParams.get('host');
  const source = new pg.Client(url);
  await source.connect();
  // Kept data may have the database of an earlier run.
  await source.query(`DROP DATABASE IF EXISTS ${DATABASE}`);
  await source.query(`CREATE DATABASE ${DATABASE}`);
  const settings = {
    DATABASE_HOST: host,
    DATABASE_NAME: DATABASE,
    DATABASE_POOL_MAX: poolSize,
    MODULES: modules,
  };
  const listener = await startScript('Parse Server', new URL('parse-server.mjs', import.meta.url), settings);
  const target = new pg.Client({ host, user: 'postgres', database: DATABASE });
  await target.connect();
  try {
    const own = await copyUsers(target, callers);
    await copyNotes(source, target);
    // Those that a team adds for its lists and its changes: Parse creates none for them.
    await target.query(`CREATE INDEX ON "Note" (owner, "updatedAt" DESC)`);
    await target.query(`CREATE INDEX ON "Change" ("createdAt")`);
    await target.query('VACUUM (ANALYZE)');
    await target.query('CHECKPOINT');
    return { listener, callers: own };
  } finally {
    await Promise.all([source.end(), target.end()]);
  }
}

async function copyUsers(target, callers) {
  const own = callers.map((caller) => ({
    ...caller,
    id: shortId(caller.user),
    session: `r:${randomBytes(16).toString('hex')}`,
    notes: caller.notes.map(shortId),
  }));
  const column = (pick) => own.map((caller) => pick(caller));
  await target.query(
    `INSERT INTO "_User" ("objectId", "createdAt", "updatedAt", username, _hashed_password, _rperm, _wperm)
     SELECT id, now(), now(), id, '', ARRAY[id], ARRAY[id] FROM unnest($1::text[]) AS id`,
    [column(({ id }) => id)],
  );
  await target.query(
    `INSERT INTO "_Session" ("objectId", "createdAt", "updatedAt", "user", "sessionToken", "expiresAt", "createdWith")
     SELECT left(md5(token), 10), now(), now(), id, token, now() + interval '1 year', '{}'
       FROM unnest($1::text[], $2::text[]) AS given (id, token)`,
    [column(({ id }) => id), column(({ session }) => session)],
  );
  return own;
}

async function copyNotes(source, target) {
  let last = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const { rows } = await source.query(
      `SELECT note.id, note.owner_id, note.title, note.revision, body.content, note.updated_at
         FROM notes note JOIN note_revisions body ON body.tenant_id = note.tenant_id AND body.note_id = note.id
                                                 AND body.revision = note.body_rev
        WHERE note.id > $1 ORDER BY note.id LIMIT ${BATCH}`,
      [last],
    );
    if (rows.length === 0) return;
    last = rows.at(-1).id;
    const column = (pick) => rows.map((row) => pick(row));
    const values = [
      column(({ id }) => shortId(id)),
      column((row) => shortId(row.owner_id)),
      column(({ title }) => title),
      column(({ content }) => content),
      column(({ revision }) => revision),
      column((row) => row.updated_at),
    ];
    const given = `unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::timestamptz[])
      AS given (id, owner, title, content, revision, at)`;
    await target.query(
      `INSERT INTO "Note" ("objectId", "createdAt", "updatedAt", owner, title, content, labels, revision, deleted, _rperm, _wperm)
       SELECT id, at, at, owner, title, content, '[]', revision, false, ARRAY[owner], ARRAY[owner] FROM ${given}`,
      values,
    );
    await target.query(
      `INSERT INTO "NoteRevision" ("objectId", "createdAt", "updatedAt", note, title, content, revision, _rperm, _wperm)
       SELECT id, at, at, id, title, content, revision, ARRAY[owner], ARRAY[owner] FROM ${given}`,
      values,
    );
    await target.query(
      `INSERT INTO "Change" ("objectId", "createdAt", "updatedAt", note, kind, revision, _rperm, _wperm)
       SELECT id, at, at, id, 'created', revision, ARRAY[owner], ARRAY[owner] FROM ${given}
        WHERE content IS NOT NULL AND title IS NOT NULL`,
      values,
    );
  }
}
