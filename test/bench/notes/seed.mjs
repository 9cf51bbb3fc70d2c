// The data set: tenants, members, notes. One in ten members owns 60 notes, which fill a page; the rest is spread evenly.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { isPlainlyClean } from '../../../dist/lib/html/fast-path.js';
import { provision } from '../../../dist/provision/provision.js';
import { withApp } from '../../../dist/cli/context.js';
import { bodies } from '../support/html.mjs';
import { emailOf, PEOPLE } from '../support/requests.mjs';
import { preventJobs } from '../support/workspace.mjs';
import { newNote } from '../../../dist/modules/notes/model/edit-rules.js';

const BATCH = 1_000;
const TEXTS = 1_000;
const WRITERS = 2;
const LARGE = 'large';

/**
 * Fills the database, unless an earlier run with the same numbers has.
 * @returns the callers: members with many notes, each with an access token and the ids of their notes; and separately the
 * member with the large index, if there is one
 */
export async function seed(config, { tenants, notes, largeIndex, dataDir, signal, bytes = 6_000 }) {
  const workspaces = Array.from({ length: tenants }, (_, n) => workspace(n));
  const pool = new pg.Pool({ connectionString: config.DATABASE_URL, max: WRITERS });
  const once = async (file, size, tenants, ownersOf) => {
    const marker = path.join(dataDir, file);
    const seeded = existsSync(marker) ? readFileSync(marker, 'utf8') : null;
    if (seeded !== null && seeded !== size) throw new Error(`${dataDir} holds another data set: ${seeded}`);
    if (seeded !== null) return;
    const people = await withApp(config, (app) => provision(app, { tenants }));
    await writeNotes(pool, ownersOf(people.users), { signal, bytes });
    await pool.query('DELETE FROM outbox');
    await pool.query('VACUUM (ANALYZE)');
    await pool.query('CHECKPOINT');
    writeFileSync(marker, size);
  };
  try {
    await preventJobs(pool);
    const size = JSON.stringify({ tenants, users: PEOPLE, notes });
    await once('bench.json', size, workspaces, (people) => owners(people, notes));
    if (largeIndex > 0)
      await once(`bench-${LARGE}.json`, JSON.stringify({ notes: largeIndex }), [large()], ([person]) =>
        Array.from({ length: largeIndex }, () => person),
      );
    const busy = workspaces.map((tenant) => ({ ...tenant, users: tenant.users.filter((_, n) => isBusy(n)) }));
    const { users } = await withApp(config, (app) =>
      provision(app, { tenants: largeIndex > 0 ? [...busy, large()] : busy }, true),
    );
    const people = await withNotes(pool, users);
    return {
      callers: people.filter((person) => person.slug !== LARGE),
      large: people.filter((person) => person.slug === LARGE).map((it) => ({ ...it, count: largeIndex }))[0],
    };
  } finally {
    await pool.end();
  }
}

const isBusy = (n) => n % 10 === 0;

function workspace(n) {
  const slug = `tenant-${n}`;
  const users = Array.from({ length: PEOPLE }, (_, u) => ({
    email: emailOf(u, slug),
    name: `Person ${u} of ${n}`,
    role: u === 0 ? 'owner' : 'member',
  }));
  return { slug, name: `Tenant ${n}`, domains: [], users };
}

/** A workspace of one member, who has many notes. */
function large() {
  const users = [{ email: emailOf(0, LARGE), name: 'Person of many notes', role: 'owner' }];
  return { slug: LARGE, name: 'Large', domains: [], users };
}

/** The owners of the notes: 60 % belong to one member in ten. The order is random, as after years of use. */
function owners(people, count) {
  const busy = people.filter((_, n) => isBusy(n));
  const others = people.filter((_, n) => !isBusy(n));
  const heavy = Math.round(count * 0.6);
  return Array.from({ length: count }, (_, n) => {
    const order = (n * 7_919) % count;
    return order < heavy ? busy[order % busy.length] : others[order % others.length];
  });
}

// The application's own function writes each note, so that the data is what the application would have made.
const WRITE = `SELECT count(w.outcome)
  FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) WITH ORDINALITY AS u (tenant, owner, id, event, n)
  JOIN texts ON texts.n = ($5::int + u.n) % $6::int,
  LATERAL note_store(u.tenant, u.owner, u.id, jsonb_build_object(
    'is_new', true, 'device', 'bench', 'event', jsonb_build_object('id', u.event, 'type', 'note.created'),
    'row', '${JSON.stringify(newNote(null, {}))}'::jsonb || jsonb_build_object(
      'title', 'Note ' || ($5::int + u.n), 'labels', ARRAY['planning', 'year ' || u.n % 7],
      'owner_id', u.owner, 'updated_by', u.owner, 'member_ids', ARRAY[u.owner])), texts.t) AS w`;

async function writeNotes(pool, owned, { signal, bytes }) {
  const texts = bodies(TEXTS, bytes);
  const unclean = texts.find((text) => !isPlainlyClean(text));
  if (unclean !== undefined) throw new Error(`not what an editor would write: ${unclean}`);
  const write = async (client, writer) => {
    // Each writer has workspaces of its own, because two writers of one member's notes would wait for each other.
    const mine = owned.filter((person) => Number.parseInt(person.tenant_id.at(-1), 16) % WRITERS === writer);
    await client.query(
      'CREATE TEMP TABLE texts AS SELECT n - 1 AS n, t FROM unnest($1::text[]) WITH ORDINALITY AS u (t, n)',
      [texts],
    );
    for (let from = 0; from < mine.length; from += BATCH) {
      signal?.throwIfAborted();
      const batch = mine.slice(from, from + BATCH);
      const columns = [(person) => person.tenant_id, (person) => person.id, () => uuidv7(), () => uuidv7()];
      await client.query(WRITE, [...columns.map((column) => batch.map(column)), from, TEXTS]);
    }
  };
  const clients = await Promise.all(Array.from({ length: WRITERS }, () => pool.connect()));
  try {
    await Promise.all(clients.map(write));
  } finally {
    for (const client of clients) client.release(true);
  }
}

async function withNotes(pool, users) {
  const { rows } = await pool.query(
    `SELECT u.user_id, array_agg(m.note_id) AS notes
       FROM unnest($1::uuid[], $2::uuid[]) AS u (tenant_id, user_id), LATERAL (
         SELECT note_id FROM note_members WHERE tenant_id = u.tenant_id AND user_id = u.user_id AND role IS NOT NULL
          ORDER BY note_id LIMIT 60) AS m
      GROUP BY u.user_id`,
    [users.map((user) => user.tenant_id), users.map((user) => user.id)],
  );
  const notes = new Map(rows.map((row) => [row.user_id, row.notes]));
  return users.map(({ id, email, tenant: slug, tenant_id: tenant, token }) => ({
    user: id,
    email,
    slug,
    tenant,
    token,
    notes: notes.get(id) ?? [],
  }));
}
