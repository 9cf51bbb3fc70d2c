/** The audience of each task folder, computed from the folders alone: the owner, and members of it or of one above it. */
const FOLDER_AUDIENCE = `
  WITH RECURSIVE up AS (
    SELECT tenant_id, id AS folder_id, id AS at, parent_id FROM task_folders WHERE gone_at IS NULL
    UNION ALL
    SELECT up.tenant_id, up.folder_id, f.id, f.parent_id FROM up
      JOIN task_folders f ON f.tenant_id = up.tenant_id AND f.id = up.parent_id),
  folder_audience AS (
    SELECT tenant_id, folder_id, user_id, max(role) AS role FROM (
      SELECT tenant_id, id AS folder_id, owner_id AS user_id, 'owner'::task_role AS role FROM task_folders WHERE gone_at IS NULL
      UNION ALL
      SELECT up.tenant_id, up.folder_id, s.user_id, s.role FROM up
        JOIN task_folders f ON f.tenant_id = up.tenant_id AND f.id = up.at, unnest(f.member_ids, f.member_roles) AS s (user_id, role)) x
     GROUP BY 1, 2, 3)`;

/** Invariants, each with a query for the rows that violate it. */
export const NEVER_OF_TASKS: Record<string, string> = {
  'a role in a task folder that differs from its shares': `${FOLDER_AUDIENCE}
    SELECT coalesce(a.folder_id, m.folder_id) AS id, coalesce(a.user_id, m.user_id) AS user_id, a.role AS should, m.role AS is
      FROM folder_audience a
      FULL JOIN (SELECT * FROM task_folder_members WHERE role IS NOT NULL) m
        ON (m.tenant_id, m.folder_id, m.user_id) = (a.tenant_id, a.folder_id, a.user_id)
     WHERE a.role IS DISTINCT FROM m.role`,
  'a role in a task that differs from its folder, creator and assignees': `${FOLDER_AUDIENCE},
    audience AS (
      SELECT tenant_id, task_id, user_id, max(role) AS role, max(folder_id::text)::uuid AS folder_id FROM (
        SELECT tenant_id, id AS task_id, creator_id AS user_id, 'owner'::task_role AS role, NULL::uuid AS folder_id FROM tasks
        UNION ALL SELECT tenant_id, id, u, 'editor', NULL FROM tasks, unnest(assignee_ids) u
        UNION ALL SELECT t.tenant_id, t.id, a.user_id, least(a.role, 'editor'), t.folder_id FROM tasks t
          JOIN folder_audience a ON a.tenant_id = t.tenant_id AND a.folder_id = t.folder_id) x
       GROUP BY 1, 2, 3)
    SELECT coalesce(a.task_id, m.task_id) AS id, coalesce(a.user_id, m.user_id) AS user_id,
           a.role AS should, m.role AS is, a.folder_id AS should_lie, m.folder_id AS lies
      FROM audience a
      FULL JOIN (SELECT * FROM task_members WHERE role IS NOT NULL) m
        ON (m.tenant_id, m.task_id, m.user_id) = (a.tenant_id, a.task_id, a.user_id)
     WHERE a.role IS DISTINCT FROM m.role OR a.folder_id IS DISTINCT FROM m.folder_id`,
  'a member row that differs from its task': `
    SELECT t.id, m.user_id FROM tasks t JOIN task_members m ON m.tenant_id = t.tenant_id AND m.task_id = t.id
     WHERE m.role IS NOT NULL AND (
       m.trashed <> (t.deleted_at IS NOT NULL) OR m.listed_at <> t.updated_at OR m.position <> t.position
       OR m.due_on <> coalesce(t.date, 'infinity') OR m.open <> (t.status < 2) OR m.assigned <> (m.user_id = ANY (t.assignee_ids)))`,
  'a removal of a task or task folder with traces': `
    SELECT task_id AS id, user_id FROM task_members
     WHERE (role IS NULL) <> (gone_at IS NOT NULL) OR (role IS NULL) <> (gone IS NOT NULL) OR role IS NULL AND folder_id IS NOT NULL
    UNION ALL
    SELECT folder_id, user_id FROM task_folder_members
     WHERE (role IS NULL) <> (gone_at IS NOT NULL) OR (role IS NULL) <> (gone IS NOT NULL)`,
  'a task in a deleted folder': `
    SELECT t.id, t.folder_id FROM tasks t
     WHERE t.folder_id IS NOT NULL AND NOT EXISTS (
       SELECT FROM task_folders f WHERE f.tenant_id = t.tenant_id AND f.id = t.folder_id AND f.gone_at IS NULL)`,
  'a task folder in a deleted folder or in one of another owner': `
    SELECT c.id, c.parent_id FROM task_folders c
     WHERE c.gone_at IS NULL AND c.parent_id IS NOT NULL AND NOT EXISTS (
       SELECT FROM task_folders f WHERE f.tenant_id = c.tenant_id AND f.id = c.parent_id
          AND f.owner_id = c.owner_id AND f.gone_at IS NULL)`,
  'a cycle of task folders': `
    WITH RECURSIVE up AS (
      SELECT f.tenant_id, f.id, f.parent_id, 1 AS depth FROM task_folders f WHERE f.gone_at IS NULL
      UNION ALL
      SELECT up.tenant_id, up.id, f.parent_id, up.depth + 1 FROM up
        JOIN task_folders f ON f.tenant_id = up.tenant_id AND f.id = up.parent_id AND f.gone_at IS NULL
       WHERE up.depth < 64)
    SELECT id, depth FROM up WHERE depth > 32`,
  'a link from a note to a task that is not there': `
    SELECT n.id, l->>'id' AS task FROM notes n, jsonb_array_elements(n.links) AS l
     WHERE NOT EXISTS (SELECT FROM tasks t WHERE t.tenant_id = n.tenant_id AND t.id = (l->>'id')::uuid
                          AND t.deleted_at IS NULL AND n.id = ANY (t.linked_notes))`,
  'a task without the link from its note': `
    SELECT n.id, t.id AS task FROM tasks t, unnest(t.linked_notes) AS u
      JOIN notes n ON n.id = u
     WHERE n.tenant_id = t.tenant_id AND t.deleted_at IS NULL AND n.created_at <= t.created_at
       AND NOT n.links @> jsonb_build_array(jsonb_build_object('id', t.id))`,
  'a repeated occurrence': `
    SELECT next_task_id AS id FROM tasks WHERE next_task_id IS NOT NULL GROUP BY tenant_id, next_task_id HAVING count(*) > 1`,
};
