import { Violation } from './model.ts';
import { NEVER_OF_CONTACTS } from './contact-invariants.ts';
import { NEVER_OF_TASKS } from './task-invariants.ts';
import type { World } from './world.ts';

/** All sequence numbers of all feeds. */
const NUMBERS = `SELECT tenant_id, user_id, seq FROM note_members
      UNION ALL SELECT tenant_id, owner_id, seq FROM note_folders
      UNION ALL SELECT tenant_id, user_id, seq FROM task_members
      UNION ALL SELECT tenant_id, user_id, seq FROM task_folder_members
      UNION ALL SELECT tenant_id, addressbook_id, seq FROM contacts`;

/** Invariants, each with a query for the rows that violate it. */
const NEVER: Record<string, string> = {
  ...NEVER_OF_TASKS,
  ...NEVER_OF_CONTACTS,
  'a member row that its note does not name': `
    SELECT m.note_id AS id, m.user_id, m.role FROM note_members m
      LEFT JOIN notes n ON n.tenant_id = m.tenant_id AND n.id = m.note_id
     WHERE m.role IS NOT NULL
       AND (n.id IS NULL OR n.member_roles[array_position(n.member_ids, m.user_id)] IS DISTINCT FROM m.role)`,
  'a member of a note without a row': `
    SELECT n.id, u AS user_id FROM notes n, unnest(n.member_ids) AS u
      LEFT JOIN LATERAL (SELECT 1) x ON true
     WHERE NOT EXISTS (SELECT FROM note_members m
                        WHERE m.tenant_id = n.tenant_id AND m.note_id = n.id AND m.user_id = u AND m.role IS NOT NULL)`,
  'a member row that contradicts the trash': `
    SELECT n.id, m.user_id FROM notes n JOIN note_members m ON m.tenant_id = n.tenant_id AND m.note_id = n.id
     WHERE m.role IS NOT NULL AND m.trashed <> (n.deleted_at IS NOT NULL)`,
  'a member whom the last write of the note has passed by': `
    SELECT n.id, m.user_id, n.updated_at, m.listed_at FROM notes n
      JOIN note_members m ON m.tenant_id = n.tenant_id AND m.note_id = n.id
     WHERE m.role IS NOT NULL AND m.listed_at <> n.updated_at`,
  'a removal with traces': `
    SELECT note_id AS id, user_id FROM note_members
     WHERE (role IS NULL) <> (gone_at IS NOT NULL) OR (role IS NULL) <> (gone IS NOT NULL)
        OR role IS NULL AND folder_id IS NOT NULL`,
  'a number assigned twice': `
    SELECT user_id AS id, seq FROM (
      ${NUMBERS}) x
     GROUP BY tenant_id, user_id, seq HAVING count(*) > 1`,
  'a number above the head': `
    SELECT x.user_id AS id, x.seq, h.head FROM (
      ${NUMBERS}) x
      LEFT JOIN sync_heads h ON h.tenant_id = x.tenant_id AND h.user_id = x.user_id
     WHERE h.head IS NULL OR x.seq > h.head OR x.seq < 1`,
  'a note in a deleted folder or one of another user': `
    SELECT m.note_id AS id, m.folder_id FROM note_members m
     WHERE m.folder_id IS NOT NULL AND NOT EXISTS (
       SELECT FROM note_folders f WHERE f.tenant_id = m.tenant_id AND f.id = m.folder_id
          AND f.owner_id = m.user_id AND f.gone_at IS NULL)`,
  'a folder in a deleted folder or one of another user': `
    SELECT c.id, c.parent_id FROM note_folders c
     WHERE c.gone_at IS NULL AND c.parent_id IS NOT NULL AND NOT EXISTS (
       SELECT FROM note_folders f WHERE f.tenant_id = c.tenant_id AND f.id = c.parent_id
          AND f.owner_id = c.owner_id AND f.gone_at IS NULL)`,
  'a circle of folders': `
    WITH RECURSIVE up AS (
      SELECT f.tenant_id, f.id, f.parent_id, 1 AS depth FROM note_folders f WHERE f.gone_at IS NULL
      UNION ALL
      SELECT up.tenant_id, up.id, f.parent_id, up.depth + 1 FROM up
        JOIN note_folders f ON f.tenant_id = up.tenant_id AND f.id = up.parent_id AND f.gone_at IS NULL
       WHERE up.depth < 64)
    SELECT id, depth FROM up WHERE depth > 32`,
  'a gap in the revisions': `
    SELECT n.id, n.revision FROM notes n JOIN note_revisions r ON r.tenant_id = n.tenant_id AND r.note_id = n.id
     GROUP BY n.tenant_id, n.id HAVING count(*) <> n.revision OR min(r.revision) <> 1 OR max(r.revision) <> n.revision`,
  'revisions of no note': `
    SELECT r.note_id AS id FROM note_revisions r WHERE NOT EXISTS (
      SELECT FROM notes n WHERE n.tenant_id = r.tenant_id AND n.id = r.note_id)`,
};

/**
 * Locks are always taken in one order. The service retries after a deadlock, so responses would not show it. A move locks whole
 * tables, in an order of its own.
 */
const NEVER_WITHOUT_MOVES = {
  'writers who waited for each other': `
    SELECT datname AS id, deadlocks FROM pg_stat_database WHERE datname = current_database() AND deadlocks > 0`,
};

/** Checks the rows of the tables. @throws Violation */
export async function checkInvariants(world: World): Promise<void> {
  const never = { ...NEVER, ...(!world.site.move && NEVER_WITHOUT_MOVES) };
  for (const [name, sql] of Object.entries(never)) {
    const rows = await world.sql<{ id: string }>(sql);
    if (rows[0]) throw new Violation(`${name}: ${JSON.stringify(rows.slice(0, 3))}`, rows[0].id);
  }
}
