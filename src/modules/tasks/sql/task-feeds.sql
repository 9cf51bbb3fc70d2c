-- Key of the lock of a tree of folders: shared for placing a task in one of its folders, exclusive for changing the tree
-- or its members. No task enters a folder while a transaction computes the access to the tasks in it. A transaction locks
-- at most one tree, before all other rows: then tasks by id, sync_heads by user id, member rows.
CREATE FUNCTION task_tree_key(p_tenant uuid, p_owner uuid) RETURNS bigint LANGUAGE sql IMMUTABLE
AS $$ SELECT hashtextextended('task folders ' || p_tenant::text || p_owner::text, 0) $$;

CREATE FUNCTION task_tree_share(p_tenant uuid, p_folder uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_owner uuid;
BEGIN
  SELECT owner_id INTO v_owner FROM task_folders WHERE tenant_id = p_tenant AND id = p_folder;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock_shared(task_tree_key(p_tenant, v_owner));
  IF NOT EXISTS (SELECT FROM task_folders WHERE tenant_id = p_tenant AND id = p_folder AND owner_id = v_owner) THEN
    RAISE EXCEPTION 'the folder was transferred while its tree was locked' USING ERRCODE = 'serialization_failure';
  END IF;
END $$;

-- The users who may see the task, their roles, and whether they see its folder too.
CREATE FUNCTION task_audience(task tasks) RETURNS TABLE (user_id uuid, role task_role, in_folder boolean) LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
    SELECT source.member_id, max(source.granted), bool_or(source.by_folder) FROM (
      SELECT task.creator_id, 'owner'::task_role, false
      UNION ALL SELECT assignee, 'editor', false FROM unnest(task.assignee_ids) AS assignee
      UNION ALL SELECT member.user_id, least(member.role, 'editor'), true FROM task_folder_members member
                 WHERE member.tenant_id = task.tenant_id AND member.folder_id = task.folder_id AND member.role IS NOT NULL
      ) AS source (member_id, granted, by_folder)
     GROUP BY source.member_id;
END $$;

-- Gives the task its next number in the feed of every user concerned. The caller holds the lock of the task row.
-- p_device: the client that writes; null when unknown. Returns the number of the creator.
CREATE FUNCTION task_advance(task tasks, p_device text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_users uuid[];
  v_roles task_role[];
  v_in_folder boolean[];
  v_heads bigint[];
  v_history int;
BEGIN
  IF task.folder_id IS NULL AND task.assignee_ids <@ ARRAY[task.creator_id] AND NOT EXISTS (
    SELECT FROM task_members member
     WHERE member.tenant_id = task.tenant_id AND member.task_id = task.id AND member.user_id <> task.creator_id
       AND member.role IS NOT NULL) THEN
    -- Most tasks concern one user. The general statement below has the same result and takes three times as long.
    v_users := ARRAY[task.creator_id];
    v_roles := ARRAY['owner'];
    v_in_folder := ARRAY[false];
    INSERT INTO sync_heads AS current (tenant_id, user_id, head) VALUES (task.tenant_id, task.creator_id, 1)
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = current.head + 1
    RETURNING ARRAY[current.head] INTO v_heads;
  ELSE
    -- Users who begin to see the task read its history from here on. The entry of its creation has nothing that was removed since.
    SELECT nullif(activity_count, 1) INTO v_history FROM tasks WHERE tenant_id = task.tenant_id AND id = task.id;
    WITH audience AS MATERIALIZED (
      SELECT found.user_id, found.role, found.in_folder FROM task_audience(task) found),
    concerned AS (
      SELECT user_id FROM audience
      UNION SELECT member.user_id FROM task_members member
             WHERE member.tenant_id = task.tenant_id AND member.task_id = task.id AND member.role IS NOT NULL),
    heads AS (
      INSERT INTO sync_heads AS current (tenant_id, user_id, head)
      SELECT task.tenant_id, concerned.user_id, 1 FROM concerned ORDER BY concerned.user_id
      ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = current.head + 1
      RETURNING current.user_id, current.head)
    SELECT array_agg(heads.user_id), array_agg(audience.role), array_agg(audience.in_folder), array_agg(heads.head)
      INTO v_users, v_roles, v_in_folder, v_heads
      FROM heads LEFT JOIN audience ON audience.user_id = heads.user_id;
  END IF;
  INSERT INTO task_members AS known (tenant_id, task_id, user_id, role, folder_id, seq, gone, gone_at, device_id,
                            listed_at, position, due_on, open, assigned, trashed, history_from)
  SELECT task.tenant_id, task.id, counted.user_id, counted.role, CASE WHEN counted.in_folder THEN task.folder_id END, counted.head,
         CASE WHEN counted.role IS NULL THEN 1 END, CASE WHEN counted.role IS NULL THEN clock_timestamp() END, p_device,
         task.updated_at, task.position, coalesce(task.date, 'infinity'), task.status < 2,
         counted.user_id = ANY (task.assignee_ids), task.deleted_at IS NOT NULL, coalesce(v_history, 0)
    FROM unnest(v_users, v_roles, v_in_folder, v_heads) AS counted (user_id, role, in_folder, head)
  ON CONFLICT (tenant_id, task_id, user_id) DO UPDATE SET
    history_from = CASE WHEN known.role IS NULL THEN excluded.history_from ELSE known.history_from END,
    role = excluded.role, folder_id = excluded.folder_id, seq = excluded.seq, gone = excluded.gone, gone_at = excluded.gone_at,
    device_id = excluded.device_id, listed_at = excluded.listed_at, position = excluded.position,
    due_on = excluded.due_on, open = excluded.open, assigned = excluded.assigned, trashed = excluded.trashed;
  RETURN v_heads[array_position(v_users, task.creator_id)];
END $$;
