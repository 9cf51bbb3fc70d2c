-- Updates the access of users to these folders and tasks, and numbers the changes in the feed of each user: one range for
-- each user, allocated at once. The folders in p_touched and the tasks in p_renumber are numbered even without a change of access.
-- The caller holds the exclusive lock of the tree and the locks of all these tasks. The function reads only the folders above each
-- folder, so p_folders must contain each folder whose members or parent changed, with all folders below it.
-- Nested loops are off because the planner cannot know the number of rows: a hash join costs the same for a few rows and stays
-- linear for ten thousand. For the hash joins, each table is also restricted to the ids. p_device: the client that writes; NULL when unknown.
CREATE FUNCTION task_tree_apply(
  p_tenant uuid, p_folders uuid[], p_touched uuid[], p_tasks uuid[], p_renumber uuid[], p_device text)
RETURNS void LANGUAGE plpgsql SET enable_nestloop = off SET jit = off AS $$
DECLARE
  v_owner uuid := (SELECT owner_id FROM task_folders WHERE tenant_id = p_tenant AND id = p_folders[1]);
BEGIN
  WITH RECURSIVE tree AS MATERIALIZED (
    SELECT * FROM task_folders folder WHERE folder.tenant_id = p_tenant AND folder.owner_id = v_owner AND folder.gone_at IS NULL),
  up AS (
    SELECT id AS folder_id, id AS at, parent_id FROM tree WHERE id = ANY (p_folders)
    UNION ALL
    SELECT up.folder_id, tree.id, tree.parent_id FROM up JOIN tree ON tree.id = up.parent_id),
  wanted_folders AS MATERIALIZED (
    SELECT folder_id, user_id, max(role) AS role FROM (
      SELECT up.folder_id, v_owner AS user_id, 'owner'::task_role AS role FROM up WHERE up.at = up.folder_id
      UNION ALL
      SELECT up.folder_id, shared.user_id, shared.role
        FROM up JOIN tree ON tree.id = up.at, unnest(tree.member_ids, tree.member_roles) AS shared (user_id, role)) AS granted
     GROUP BY folder_id, user_id),
  folder_changes AS MATERIALIZED (
    SELECT folder_id, user_id, wanted.role
      FROM wanted_folders wanted
      FULL JOIN (SELECT member.folder_id, member.user_id, member.role FROM task_folder_members member
                  WHERE member.tenant_id = p_tenant AND member.folder_id = ANY (p_folders) AND member.role IS NOT NULL) current
     USING (folder_id, user_id)
     WHERE wanted.role IS DISTINCT FROM current.role OR folder_id = ANY (p_touched)),
  wanted_tasks AS MATERIALIZED (
    SELECT task_id, user_id, max(role) AS role, bool_or(in_folder) AS in_folder FROM (
      SELECT task.id AS task_id, task.creator_id AS user_id, 'owner'::task_role AS role, false AS in_folder
        FROM tasks task WHERE task.tenant_id = p_tenant AND task.id = ANY (p_tasks)
      UNION ALL
      SELECT task.id, assignee, 'editor', false FROM tasks task, unnest(task.assignee_ids) AS assignee
       WHERE task.tenant_id = p_tenant AND task.id = ANY (p_tasks)
      UNION ALL
      SELECT task.id, wanted.user_id, least(wanted.role, 'editor'), true
        FROM tasks task JOIN wanted_folders wanted ON wanted.folder_id = task.folder_id
       WHERE task.tenant_id = p_tenant AND task.id = ANY (p_tasks)) AS granted
     GROUP BY task_id, user_id),
  task_changes AS MATERIALIZED (
    SELECT task_id, user_id, wanted.role, CASE WHEN wanted.in_folder THEN task.folder_id END AS folder_id
      FROM wanted_tasks wanted
      FULL JOIN (SELECT member.task_id, member.user_id, member.role, member.folder_id FROM task_members member
                  WHERE member.tenant_id = p_tenant AND member.task_id = ANY (p_tasks) AND member.role IS NOT NULL) current
     USING (task_id, user_id)
      JOIN tasks task ON task.tenant_id = p_tenant AND task.id = ANY (p_tasks) AND task.id = task_id
     WHERE wanted.role IS DISTINCT FROM current.role
        OR (CASE WHEN wanted.in_folder THEN task.folder_id END) IS DISTINCT FROM current.folder_id
        OR task.id = ANY (p_renumber)),
  -- Folders before the tasks in them, so that a user who gains both receives the folder first. All columns are selected here,
  -- because a later join to the changes would compare each row with all others: the planner cannot know the number of rows.
  numbered AS MATERIALIZED (
    SELECT changed.*, row_number() OVER (PARTITION BY user_id ORDER BY kind, id) AS position FROM (
      SELECT 1 AS kind, folder_id AS id, user_id, role, NULL::uuid AS folder_id FROM folder_changes
      UNION ALL SELECT 2, task_id, user_id, role, folder_id FROM task_changes) AS changed),
  counts AS MATERIALIZED (SELECT user_id, count(*) AS count FROM numbered GROUP BY user_id),
  heads AS (
    INSERT INTO sync_heads AS known (tenant_id, user_id, head) SELECT p_tenant, user_id, count FROM counts ORDER BY user_id
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = known.head + excluded.head
    RETURNING known.user_id, known.head),
  firsts AS MATERIALIZED (SELECT user_id, heads.head - counts.count AS before FROM heads JOIN counts USING (user_id)),
  folders_written AS (
    INSERT INTO task_folder_members (tenant_id, folder_id, user_id, role, seq, gone, gone_at, device_id)
    SELECT p_tenant, change.id, change.user_id, change.role, firsts.before + change.position,
           CASE WHEN change.role IS NULL THEN CASE WHEN folder.gone_at IS NULL THEN 1 ELSE 2 END END,
           CASE WHEN change.role IS NULL THEN clock_timestamp() END, p_device
      FROM numbered change JOIN firsts ON firsts.user_id = change.user_id
      JOIN task_folders folder ON folder.tenant_id = p_tenant AND folder.id = ANY (p_folders) AND folder.id = change.id
     WHERE change.kind = 1
    ON CONFLICT (tenant_id, folder_id, user_id) DO UPDATE SET
      role = excluded.role, seq = excluded.seq, gone = excluded.gone, gone_at = excluded.gone_at,
      device_id = excluded.device_id)
  INSERT INTO task_members AS known (tenant_id, task_id, user_id, role, folder_id, seq, gone, gone_at, device_id,
                            listed_at, position, due_on, open, assigned, trashed, history_from)
  SELECT p_tenant, task.id, change.user_id, change.role, change.folder_id, firsts.before + change.position,
         CASE WHEN change.role IS NULL THEN 1 END, CASE WHEN change.role IS NULL THEN clock_timestamp() END, p_device,
         task.updated_at, task.position, coalesce(task.date, 'infinity'), task.status < 2,
         change.user_id = ANY (task.assignee_ids), task.deleted_at IS NOT NULL,
         coalesce(nullif(task.activity_count, 1), 0)
    FROM numbered change JOIN firsts ON firsts.user_id = change.user_id
    JOIN tasks task ON task.tenant_id = p_tenant AND task.id = ANY (p_tasks) AND task.id = change.id
   WHERE change.kind = 2
  ON CONFLICT (tenant_id, task_id, user_id) DO UPDATE SET
    history_from = CASE WHEN known.role IS NULL THEN excluded.history_from ELSE known.history_from END,
    role = excluded.role, folder_id = excluded.folder_id, seq = excluded.seq, gone = excluded.gone, gone_at = excluded.gone_at,
    device_id = excluded.device_id,
    listed_at = excluded.listed_at, position = excluded.position, due_on = excluded.due_on, open = excluded.open,
    assigned = excluded.assigned, trashed = excluded.trashed;
END $$;
