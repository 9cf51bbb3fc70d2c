-- Works out anew who sees these folders and these tasks, and numbers what changed in the feed of each person: one range
-- for each, allocated at once. Always given out, changed or not: the folders in p_touched and the tasks in p_renumber. The
-- caller holds the tree's exclusive lock and the rows of all these tasks. Only the path upwards of each folder is read, so
-- p_folders must name every folder below one whose members or place changed.
-- Nested loops are off because nobody can tell the planner how many rows these are: a hash join costs the same for a few
-- and stays linear for ten thousand. Every table is therefore also narrowed by the ids given. p_device: the client that
-- writes; null when unknown.
CREATE FUNCTION task_tree_apply(
  p_tenant uuid, p_folders uuid[], p_touched uuid[], p_tasks uuid[], p_renumber uuid[], p_device text)
RETURNS void LANGUAGE plpgsql SET enable_nestloop = off SET jit = off AS $$
DECLARE
  v_owner uuid := (SELECT owner_id FROM task_folders WHERE tenant_id = p_tenant AND id = p_folders[1]);
BEGIN
  WITH RECURSIVE tree AS MATERIALIZED (
    SELECT * FROM task_folders f WHERE f.tenant_id = p_tenant AND f.owner_id = v_owner AND f.gone_at IS NULL),
  up AS (
    SELECT f.id AS folder_id, f.id AS at, f.parent_id FROM tree f WHERE f.id = ANY (p_folders)
    UNION ALL
    SELECT up.folder_id, f.id, f.parent_id FROM up JOIN tree f ON f.id = up.parent_id),
  wanted_folders AS MATERIALIZED (
    SELECT w.folder_id, w.user_id, max(w.role) AS role FROM (
      SELECT up.folder_id, v_owner AS user_id, 'owner'::task_role AS role FROM up WHERE up.at = up.folder_id
      UNION ALL
      SELECT up.folder_id, s.user_id, s.role FROM up JOIN tree f ON f.id = up.at, unnest(f.member_ids, f.member_roles) AS s (user_id, role)) w
     GROUP BY w.folder_id, w.user_id),
  folder_changes AS MATERIALIZED (
    SELECT coalesce(w.folder_id, m.folder_id) AS folder_id, coalesce(w.user_id, m.user_id) AS user_id, w.role
      FROM wanted_folders w
      FULL JOIN (SELECT fm.folder_id, fm.user_id, fm.role FROM task_folder_members fm
                  WHERE fm.tenant_id = p_tenant AND fm.folder_id = ANY (p_folders) AND fm.role IS NOT NULL) m
        ON m.folder_id = w.folder_id AND m.user_id = w.user_id
     WHERE w.role IS DISTINCT FROM m.role OR coalesce(w.folder_id, m.folder_id) = ANY (p_touched)),
  wanted_tasks AS MATERIALIZED (
    SELECT a.task_id, a.user_id, max(a.role) AS role, bool_or(a.in_folder) AS in_folder FROM (
      SELECT t.id AS task_id, t.creator_id AS user_id, 'owner'::task_role AS role, false AS in_folder
        FROM tasks t WHERE t.tenant_id = p_tenant AND t.id = ANY (p_tasks)
      UNION ALL
      SELECT t.id, u, 'editor', false FROM tasks t, unnest(t.assignee_ids) AS u WHERE t.tenant_id = p_tenant AND t.id = ANY (p_tasks)
      UNION ALL
      SELECT t.id, w.user_id, least(w.role, 'editor'), true FROM tasks t JOIN wanted_folders w ON w.folder_id = t.folder_id
       WHERE t.tenant_id = p_tenant AND t.id = ANY (p_tasks)) a
     GROUP BY a.task_id, a.user_id),
  task_changes AS MATERIALIZED (
    SELECT t.id AS task_id, coalesce(w.user_id, m.user_id) AS user_id, w.role, CASE WHEN w.in_folder THEN t.folder_id END AS folder_id
      FROM wanted_tasks w
      FULL JOIN (SELECT tm.task_id, tm.user_id, tm.role, tm.folder_id FROM task_members tm
                  WHERE tm.tenant_id = p_tenant AND tm.task_id = ANY (p_tasks) AND tm.role IS NOT NULL) m
        ON m.task_id = w.task_id AND m.user_id = w.user_id
      JOIN tasks t ON t.tenant_id = p_tenant AND t.id = ANY (p_tasks) AND t.id = coalesce(w.task_id, m.task_id)
     WHERE w.role IS DISTINCT FROM m.role OR (CASE WHEN w.in_folder THEN t.folder_id END) IS DISTINCT FROM m.folder_id
        OR t.id = ANY (p_renumber)),
  -- Folders before the tasks in them, so that whoever gains both learns of the folder first. Everything is carried along:
  -- the planner cannot know how many rows these are, and would look each of them up in all the others.
  numbered AS MATERIALIZED (
    SELECT c.*, row_number() OVER (PARTITION BY c.user_id ORDER BY c.kind, c.id) AS i FROM (
      SELECT 1 AS kind, folder_id AS id, user_id, role, NULL::uuid AS folder_id FROM folder_changes
      UNION ALL SELECT 2, task_id, user_id, role, folder_id FROM task_changes) c),
  counts AS MATERIALIZED (SELECT user_id, count(*) AS c FROM numbered GROUP BY user_id),
  heads AS (
    INSERT INTO sync_heads AS s (tenant_id, user_id, head) SELECT p_tenant, user_id, c FROM counts ORDER BY user_id
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = s.head + excluded.head
    RETURNING s.user_id, s.head),
  firsts AS MATERIALIZED (SELECT h.user_id, h.head - c.c AS before FROM heads h JOIN counts c ON c.user_id = h.user_id),
  folders_written AS (
    INSERT INTO task_folder_members (tenant_id, folder_id, user_id, role, seq, gone, gone_at, device_id)
    SELECT p_tenant, n.id, n.user_id, n.role, x.before + n.i,
           CASE WHEN n.role IS NULL THEN CASE WHEN d.gone_at IS NULL THEN 1 ELSE 2 END END,
           CASE WHEN n.role IS NULL THEN clock_timestamp() END, p_device
      FROM numbered n JOIN firsts x ON x.user_id = n.user_id
      JOIN task_folders d ON d.tenant_id = p_tenant AND d.id = ANY (p_folders) AND d.id = n.id
     WHERE n.kind = 1
    ON CONFLICT (tenant_id, folder_id, user_id) DO UPDATE SET
      role = excluded.role, seq = excluded.seq, gone = excluded.gone, gone_at = excluded.gone_at,
      device_id = excluded.device_id)
  INSERT INTO task_members (tenant_id, task_id, user_id, role, folder_id, seq, gone, gone_at, device_id,
                            listed_at, position, due_on, open, assigned, trashed)
  SELECT p_tenant, t.id, n.user_id, n.role, n.folder_id, x.before + n.i,
         CASE WHEN n.role IS NULL THEN 1 END, CASE WHEN n.role IS NULL THEN clock_timestamp() END, p_device,
         t.updated_at, t.position, coalesce(t.date, 'infinity'), t.status < 2, n.user_id = ANY (t.assignee_ids), t.deleted_at IS NOT NULL
    FROM numbered n JOIN firsts x ON x.user_id = n.user_id
    JOIN tasks t ON t.tenant_id = p_tenant AND t.id = ANY (p_tasks) AND t.id = n.id
   WHERE n.kind = 2
  ON CONFLICT (tenant_id, task_id, user_id) DO UPDATE SET
    role = excluded.role, folder_id = excluded.folder_id, seq = excluded.seq, gone = excluded.gone, gone_at = excluded.gone_at,
    device_id = excluded.device_id,
    listed_at = excluded.listed_at, position = excluded.position, due_on = excluded.due_on, open = excluded.open,
    assigned = excluded.assigned, trashed = excluded.trashed;
END $$;
