CREATE TYPE task_folder_outcome AS (outcome text, json text);

CREATE FUNCTION task_folder_refused(p_outcome text) RETURNS task_folder_outcome LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (p_outcome, NULL)::task_folder_outcome;
END $$;

CREATE FUNCTION task_folder_written(p_tenant uuid, p_user uuid, p_id uuid) RETURNS task_folder_outcome LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ('ok', (SELECT folder FROM task_folder_views WHERE tenant_id = p_tenant AND user_id = p_user AND id = p_id))::task_folder_outcome;
END $$;

-- The folder and those above it, itself first.
CREATE FUNCTION task_folder_path(p_tenant uuid, p_id uuid) RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    WITH RECURSIVE up AS (
      SELECT id, parent_id, 1 AS n FROM task_folders WHERE tenant_id = p_tenant AND id = p_id AND gone_at IS NULL
      UNION ALL
      SELECT f.id, f.parent_id, up.n + 1 FROM up
        JOIN task_folders f ON f.tenant_id = p_tenant AND f.id = up.parent_id AND f.gone_at IS NULL
       WHERE up.n < 64)
    SELECT coalesce(array_agg(id ORDER BY n), '{}') FROM up);
END $$;

-- The folder and those below it, with how far below (1: itself).
CREATE FUNCTION task_folder_below(p_tenant uuid, p_owner uuid, p_id uuid) RETURNS TABLE (id uuid, depth int) LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
    WITH RECURSIVE down AS (
      SELECT f.id, 1 AS depth FROM task_folders f WHERE f.tenant_id = p_tenant AND f.id = p_id AND f.gone_at IS NULL
      UNION ALL
      SELECT f.id, down.depth + 1 FROM down
        JOIN task_folders f ON f.tenant_id = p_tenant AND f.owner_id = p_owner AND f.parent_id = down.id AND f.gone_at IS NULL
       WHERE down.depth < 64)
    SELECT down.id, down.depth FROM down;
END $$;

-- Works out anew who sees these folders and these tasks, and numbers what changed in the feed of each person: one range
-- for each, allocated at once. Always given out, changed or not: the folders in p_touched and the tasks in p_renumber. The
-- caller holds the tree's exclusive lock and the rows of all these tasks. Only the path upwards of each folder is read, so
-- p_folders must name every folder below one whose members or place changed.
-- Nested loops are off because nobody can tell the planner how many rows these are: a hash join costs the same for a few
-- and stays linear for ten thousand. Every table is therefore also narrowed by the ids given.
CREATE FUNCTION task_tree_apply(p_tenant uuid, p_folders uuid[], p_touched uuid[], p_tasks uuid[], p_renumber uuid[])
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
    SELECT w.folder_id, w.user_id, max(w.role)::smallint AS role FROM (
      SELECT up.folder_id, v_owner AS user_id, 3 AS role FROM up WHERE up.at = up.folder_id
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
    SELECT a.task_id, a.user_id, max(a.role)::smallint AS role, bool_or(a.in_folder) AS in_folder FROM (
      SELECT t.id AS task_id, t.creator_id AS user_id, 3 AS role, false AS in_folder
        FROM tasks t WHERE t.tenant_id = p_tenant AND t.id = ANY (p_tasks)
      UNION ALL
      SELECT t.id, u, 2, false FROM tasks t, unnest(t.assignee_ids) AS u WHERE t.tenant_id = p_tenant AND t.id = ANY (p_tasks)
      UNION ALL
      SELECT t.id, w.user_id, least(w.role, 2), true FROM tasks t JOIN wanted_folders w ON w.folder_id = t.folder_id
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
    INSERT INTO task_folder_members (tenant_id, folder_id, user_id, role, seq, gone, gone_at)
    SELECT p_tenant, n.id, n.user_id, n.role, x.before + n.i,
           CASE WHEN n.role IS NULL THEN CASE WHEN d.gone_at IS NULL THEN 1 ELSE 2 END END,
           CASE WHEN n.role IS NULL THEN clock_timestamp() END
      FROM numbered n JOIN firsts x ON x.user_id = n.user_id
      JOIN task_folders d ON d.tenant_id = p_tenant AND d.id = ANY (p_folders) AND d.id = n.id
     WHERE n.kind = 1
    ON CONFLICT (tenant_id, folder_id, user_id) DO UPDATE SET
      role = excluded.role, seq = excluded.seq, gone = excluded.gone, gone_at = excluded.gone_at)
  INSERT INTO task_members (tenant_id, task_id, user_id, role, folder_id, seq, gone, gone_at,
                            listed_at, position, due_on, open, assigned, trashed)
  SELECT p_tenant, t.id, n.user_id, n.role, n.folder_id, x.before + n.i,
         CASE WHEN n.role IS NULL THEN 1 END, CASE WHEN n.role IS NULL THEN clock_timestamp() END,
         t.updated_at, t.position, coalesce(t.date, 'infinity'), t.status < 2, n.user_id = ANY (t.assignee_ids), t.deleted_at IS NOT NULL
    FROM numbered n JOIN firsts x ON x.user_id = n.user_id
    JOIN tasks t ON t.tenant_id = p_tenant AND t.id = ANY (p_tasks) AND t.id = n.id
   WHERE n.kind = 2
  ON CONFLICT (tenant_id, task_id, user_id) DO UPDATE SET
    role = excluded.role, folder_id = excluded.folder_id, seq = excluded.seq, gone = excluded.gone, gone_at = excluded.gone_at,
    listed_at = excluded.listed_at, position = excluded.position, due_on = excluded.due_on, open = excluded.open,
    assigned = excluded.assigned, trashed = excluded.trashed;
END $$;

-- Locks the tasks in these folders, trashed ones too, and answers their ids.
CREATE FUNCTION task_tree_tasks(p_tenant uuid, p_folders uuid[]) RETURNS uuid[] LANGUAGE plpgsql AS $$
BEGIN
  RETURN ARRAY(SELECT id FROM tasks WHERE tenant_id = p_tenant AND folder_id = ANY (p_folders) ORDER BY id FOR UPDATE);
END $$;

CREATE FUNCTION task_folder_create(
  p_tenant uuid, p_user uuid, p_id uuid, p_name text, p_parent uuid, p_position double precision, p_color text,
  p_members uuid[], p_roles smallint[], p_max_depth int, p_max_folders int) RETURNS task_folder_outcome LANGUAGE plpgsql AS $$
DECLARE
  v_depth int;
  v_now timestamptz(3) := clock_timestamp();
BEGIN
  PERFORM pg_advisory_xact_lock(task_tree_key(p_tenant, p_user));
  IF p_parent IS NOT NULL THEN
    IF coalesce(task_folder_role(p_tenant, p_user, p_parent), 0) < 3 THEN RETURN task_folder_refused('unknown_parent'); END IF;
    v_depth := cardinality(task_folder_path(p_tenant, p_parent));
    IF v_depth >= p_max_depth THEN RETURN task_folder_refused('too_deep'); END IF;
  END IF;
  IF (SELECT count(*) FROM task_folders WHERE tenant_id = p_tenant AND owner_id = p_user AND gone_at IS NULL) >= p_max_folders THEN
    RETURN task_folder_refused('too_many');
  END IF;
  INSERT INTO task_folders (tenant_id, id, owner_id, parent_id, name, color, position, member_ids, member_roles, created_at, updated_at)
  VALUES (p_tenant, p_id, p_user, p_parent, p_name, p_color,
          coalesce(p_position, (SELECT coalesce(max(position), 0) + 1 FROM task_folders
                                 WHERE tenant_id = p_tenant AND owner_id = p_user AND gone_at IS NULL
                                   AND parent_id IS NOT DISTINCT FROM p_parent)),
          p_members, p_roles, v_now, v_now)
  ON CONFLICT (tenant_id, id) DO NOTHING;
  IF NOT FOUND THEN RETURN task_folder_refused('already_exists'); END IF;
  PERFORM task_tree_apply(p_tenant, ARRAY[p_id], '{}', '{}', '{}');
  PERFORM task_folder_event(p_tenant, p_user, p_id, '{}', p_members);
  RETURN task_folder_written(p_tenant, p_user, p_id);
END $$;

CREATE FUNCTION task_folder_event(p_tenant uuid, p_user uuid, p_id uuid, p_before uuid[], p_after uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_added uuid[] := ARRAY(SELECT u FROM unnest(p_after) u WHERE u <> ALL (p_before) AND u <> p_user);
  v_removed uuid[] := ARRAY(SELECT u FROM unnest(p_before) u WHERE u <> ALL (p_after));
BEGIN
  IF v_added = '{}' AND v_removed = '{}' THEN RETURN; END IF;
  INSERT INTO outbox (tenant_id, id, type, payload)
  VALUES (p_tenant, uuid_v7(), 'task_folder.shared', jsonb_build_object(
    'folder_id', p_id, 'actor_id', p_user, 'added', to_jsonb(v_added), 'removed', to_jsonb(v_removed)));
END $$;

-- p_checked false: the body is wrong, and only "not found" and "forbidden" come before that. A null name, position or list
-- of members stays; the other fields change where their p_set_* says so. Only the owner writes; a member may leave, which is
-- to give the list without themselves. p_max_rows: how many rows of tasks sharing may touch.
CREATE FUNCTION task_folder_update(
  p_tenant uuid, p_user uuid, p_id uuid, p_checked boolean, p_name text, p_set_parent boolean, p_parent uuid,
  p_position double precision, p_set_color boolean, p_color text, p_members uuid[], p_roles smallint[],
  p_max_depth int, p_max_rows int) RETURNS task_folder_outcome LANGUAGE plpgsql AS $$
DECLARE
  f task_folders;
  o task_folders;
  v_role smallint;
  v_path uuid[];
  v_below uuid[] := '{}';
  v_height int;
  v_tasks uuid[] := '{}';
  v_answer task_folder_outcome;
BEGIN
  -- Looked at twice, so that asking for somebody else's folder does not wait for their tree.
  SELECT owner_id INTO f.owner_id FROM task_folders WHERE tenant_id = p_tenant AND id = p_id;
  IF task_folder_role(p_tenant, p_user, p_id) IS NULL THEN RETURN task_folder_refused('not_found'); END IF;
  PERFORM pg_advisory_xact_lock(task_tree_key(p_tenant, f.owner_id));
  SELECT * INTO o FROM task_folders WHERE tenant_id = p_tenant AND id = p_id AND gone_at IS NULL;
  v_role := task_folder_role(p_tenant, p_user, p_id);
  IF v_role IS NULL OR o.id IS NULL THEN RETURN task_folder_refused('not_found'); END IF;
  IF o.owner_id = ANY (p_members) THEN
    SELECT coalesce(array_agg(u ORDER BY i), '{}'), coalesce(array_agg(r ORDER BY i), '{}') INTO p_members, p_roles
      FROM unnest(p_members, p_roles) WITH ORDINALITY AS m (u, r, i) WHERE u <> o.owner_id;
  END IF;
  IF v_role < 3 THEN
    IF p_name IS NOT NULL OR p_set_parent OR p_position IS NOT NULL OR p_set_color OR p_members IS NULL
       OR p_user = ANY (p_members) OR p_user <> ALL (o.member_ids)
       OR NOT (array_remove(o.member_ids, p_user) <@ p_members AND p_members <@ o.member_ids) THEN
      RETURN task_folder_refused('forbidden');
    END IF;
    -- The rest of the list stays as the owner made it.
    SELECT coalesce(array_agg(u ORDER BY i), '{}'), coalesce(array_agg(r ORDER BY i), '{}') INTO p_members, p_roles
      FROM unnest(o.member_ids, o.member_roles) WITH ORDINALITY AS m (u, r, i) WHERE u <> p_user;
    v_answer := task_folder_written(p_tenant, p_user, p_id);
  END IF;
  IF NOT p_checked THEN RETURN task_folder_refused('unchecked'); END IF;

  f := o;
  f.name := coalesce(p_name, o.name);
  f.position := coalesce(p_position, o.position);
  IF p_set_parent THEN f.parent_id := p_parent; END IF;
  IF p_set_color THEN f.color := p_color; END IF;
  IF p_members IS NOT NULL THEN
    f.member_ids := p_members;
    f.member_roles := p_roles;
  END IF;
  IF f IS NOT DISTINCT FROM o THEN RETURN task_folder_written(p_tenant, p_user, p_id); END IF;
  IF f.parent_id IS DISTINCT FROM o.parent_id AND f.parent_id IS NOT NULL THEN
    -- Only within one's own tree: all folders of a tree have one owner.
    IF coalesce(task_folder_role(p_tenant, p_user, f.parent_id), 0) < 3 THEN RETURN task_folder_refused('unknown_parent'); END IF;
    v_path := task_folder_path(p_tenant, f.parent_id);
    IF p_id = ANY (v_path) THEN RETURN task_folder_refused('cycle'); END IF;
    SELECT max(depth) INTO v_height FROM task_folder_below(p_tenant, o.owner_id, p_id);
    IF cardinality(v_path) + v_height > p_max_depth THEN RETURN task_folder_refused('too_deep'); END IF;
  END IF;
  UPDATE task_folders SET name = f.name, position = f.position, parent_id = f.parent_id, color = f.color,
         member_ids = f.member_ids, member_roles = f.member_roles, revision = revision + 1,
         updated_at = greatest(clock_timestamp(), updated_at)
   WHERE tenant_id = p_tenant AND id = p_id;
  v_below := ARRAY[p_id];
  IF f.parent_id IS DISTINCT FROM o.parent_id OR f.member_ids <> o.member_ids OR f.member_roles <> o.member_roles THEN
    v_below := ARRAY(SELECT b.id FROM task_folder_below(p_tenant, o.owner_id, p_id) b);
    v_tasks := task_tree_tasks(p_tenant, v_below);
    IF cardinality(v_tasks)::bigint * task_tree_newcomers(p_tenant, p_id) > p_max_rows THEN
      RAISE EXCEPTION 'too many tasks to share at once' USING ERRCODE = 'WS002';
    END IF;
  END IF;
  -- Everybody sees the change of the folder; of the folders below only what they show of their members.
  PERFORM task_tree_apply(p_tenant, v_below, CASE WHEN f.member_ids <> o.member_ids OR f.member_roles <> o.member_roles
    OR f.parent_id IS DISTINCT FROM o.parent_id THEN v_below ELSE ARRAY[p_id] END, v_tasks, '{}');
  PERFORM task_folder_event(p_tenant, p_user, p_id, o.member_ids, f.member_ids);
  IF v_role < 3 THEN RETURN v_answer; END IF;
  RETURN task_folder_written(p_tenant, p_user, p_id);
END $$;

-- How many people gain or lose sight of the folder by what has just been written to it and above it.
CREATE FUNCTION task_tree_newcomers(p_tenant uuid, p_id uuid) RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    WITH wanted AS (
      SELECT DISTINCT u AS user_id FROM task_folders f, unnest(f.member_ids) AS u
       WHERE f.tenant_id = p_tenant AND f.id = ANY (task_folder_path(p_tenant, p_id)))
    SELECT count(*) FROM wanted w
      FULL JOIN (SELECT user_id FROM task_folder_members WHERE tenant_id = p_tenant AND folder_id = p_id AND role < 3) m
        ON m.user_id = w.user_id
     WHERE w.user_id IS NULL OR m.user_id IS NULL);
END $$;

-- First half of deleting a folder: locks the tree and the tasks in it, and tells which of the owner's own tasks would go to
-- the trash (p_contents) though notes link back to them, so that the notes can be seen to before the counters are locked.
CREATE TYPE task_folder_doomed AS (outcome text, json text, people uuid[], linked uuid[]);

CREATE FUNCTION task_folder_doom(p_tenant uuid, p_user uuid, p_id uuid, p_contents boolean) RETURNS task_folder_doomed LANGUAGE plpgsql AS $$
DECLARE
  f task_folders;
  v_role smallint;
  v_tasks uuid[];
BEGIN
  SELECT owner_id INTO f.owner_id FROM task_folders WHERE tenant_id = p_tenant AND id = p_id;
  IF task_folder_role(p_tenant, p_user, p_id) IS NULL THEN RETURN ('not_found', NULL, NULL, NULL)::task_folder_doomed; END IF;
  PERFORM pg_advisory_xact_lock(task_tree_key(p_tenant, f.owner_id));
  v_role := task_folder_role(p_tenant, p_user, p_id);
  IF v_role IS NULL THEN RETURN ('not_found', NULL, NULL, NULL)::task_folder_doomed; END IF;
  IF v_role < 3 THEN RETURN ('forbidden', NULL, NULL, NULL)::task_folder_doomed; END IF;
  v_tasks := task_tree_tasks(p_tenant, ARRAY(SELECT b.id FROM task_folder_below(p_tenant, f.owner_id, p_id) b));
  RETURN ('ok', (SELECT folder FROM task_folder_views WHERE tenant_id = p_tenant AND user_id = p_user AND id = p_id),
    ARRAY(SELECT DISTINCT m.user_id FROM task_members m WHERE m.tenant_id = p_tenant AND m.task_id = ANY (v_tasks) AND m.role IS NOT NULL
          UNION SELECT m.user_id FROM task_folder_members m
           WHERE m.tenant_id = p_tenant AND m.role IS NOT NULL
             AND m.folder_id IN (SELECT b.id FROM task_folder_below(p_tenant, f.owner_id, p_id) b)),
    ARRAY(SELECT id FROM tasks WHERE tenant_id = p_tenant AND id = ANY (v_tasks) AND p_contents
             AND creator_id = p_user AND deleted_at IS NULL AND linked_notes <> '{}'))::task_folder_doomed;
END $$;

-- Second half, in the same transaction. Without p_contents the tasks stay, in no folder, and the subfolders move up; with it
-- the owner's own tasks in the folder and below go to the trash and the subfolders go too. Other people's tasks always stay.
CREATE FUNCTION task_folder_delete(p_tenant uuid, p_user uuid, p_id uuid, p_contents boolean, p_keep_days int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_parent uuid;
  v_below uuid[] := ARRAY(SELECT b.id FROM task_folder_below(p_tenant, p_user, p_id) b);
  v_gone uuid[] := CASE WHEN p_contents THEN v_below ELSE ARRAY[p_id] END;
  v_tasks uuid[];
  v_trashed uuid[] := '{}';
  v_now timestamptz(3) := clock_timestamp();
BEGIN
  SELECT parent_id INTO v_parent FROM task_folders WHERE tenant_id = p_tenant AND id = p_id;
  -- Moving up may change who sees the subfolders and the tasks in them.
  v_tasks := task_tree_tasks(p_tenant, v_below);
  UPDATE task_folders SET gone_at = v_now WHERE tenant_id = p_tenant AND id = ANY (v_gone);
  UPDATE task_folders SET parent_id = v_parent, revision = revision + 1, updated_at = v_now
   WHERE tenant_id = p_tenant AND owner_id = p_user AND parent_id = p_id AND gone_at IS NULL;
  IF p_contents THEN
    v_trashed := ARRAY(SELECT id FROM tasks WHERE tenant_id = p_tenant AND id = ANY (v_tasks) AND creator_id = p_user AND deleted_at IS NULL);
    UPDATE tasks SET deleted_at = v_now, deleted_by = p_user,
           purge_at = CASE WHEN p_keep_days > 0 THEN v_now + make_interval(days => p_keep_days) END,
           next_reminder_at = NULL, next_due_at = NULL, due_stage = 0, activity_count = activity_count + 1
     WHERE tenant_id = p_tenant AND id = ANY (v_trashed);
    INSERT INTO task_activity (tenant_id, task_id, n, type, actor_id, data, at)
    SELECT tenant_id, id, activity_count, 'deleted', p_user, '{}', v_now FROM tasks WHERE tenant_id = p_tenant AND id = ANY (v_trashed);
    INSERT INTO outbox (tenant_id, id, type, payload)
    SELECT p_tenant, uuid_v7(), 'task.deleted', jsonb_build_object('task_id', id, 'revision', revision, 'actor_id', p_user)
      FROM tasks WHERE tenant_id = p_tenant AND id = ANY (v_trashed);
  END IF;
  UPDATE tasks SET folder_id = NULL WHERE tenant_id = p_tenant AND id = ANY (v_tasks) AND folder_id = ANY (v_gone);
  PERFORM task_tree_apply(p_tenant, v_below, v_below, v_tasks, v_trashed);
END $$;
