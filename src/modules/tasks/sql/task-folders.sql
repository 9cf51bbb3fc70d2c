CREATE FUNCTION task_folder_create(
  p_tenant uuid, p_user uuid, p_id uuid, p_name text, p_parent uuid, p_position double precision, p_color text,
  p_members uuid[], p_roles task_role[], p_max_depth int, p_max_folders int) RETURNS task_folder_outcome LANGUAGE plpgsql AS $$
DECLARE
  v_depth int;
  v_now timestamptz(3) := clock_timestamp();
BEGIN
  PERFORM pg_advisory_xact_lock(task_tree_key(p_tenant, p_user));
  IF p_parent IS NOT NULL THEN
    IF task_folder_role(p_tenant, p_user, p_parent) IS DISTINCT FROM 'owner' THEN RETURN task_folder_refused('unknown_parent'); END IF;
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
  p_position double precision, p_set_color boolean, p_color text, p_members uuid[], p_roles task_role[],
  p_max_depth int, p_max_rows int) RETURNS task_folder_outcome LANGUAGE plpgsql AS $$
DECLARE
  f task_folders;
  o task_folders;
  v_role task_role;
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
  IF v_role < 'owner' THEN
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
    IF task_folder_role(p_tenant, p_user, f.parent_id) IS DISTINCT FROM 'owner' THEN RETURN task_folder_refused('unknown_parent'); END IF;
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
  IF v_role < 'owner' THEN RETURN v_answer; END IF;
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
      FULL JOIN (SELECT user_id FROM task_folder_members WHERE tenant_id = p_tenant AND folder_id = p_id AND role < 'owner') m
        ON m.user_id = w.user_id
     WHERE w.user_id IS NULL OR m.user_id IS NULL);
END $$;

-- First half of deleting a folder: locks the tree and the tasks in it, and tells which of the owner's own tasks would go to
-- the trash (p_contents) though notes link back to them, so that the notes can be seen to before the counters are locked.
CREATE TYPE task_folder_doomed AS (outcome text, json text, people uuid[], linked uuid[]);

CREATE FUNCTION task_folder_doom(p_tenant uuid, p_user uuid, p_id uuid, p_contents boolean) RETURNS task_folder_doomed LANGUAGE plpgsql AS $$
DECLARE
  f task_folders;
  v_role task_role;
  v_tasks uuid[];
BEGIN
  SELECT owner_id INTO f.owner_id FROM task_folders WHERE tenant_id = p_tenant AND id = p_id;
  IF task_folder_role(p_tenant, p_user, p_id) IS NULL THEN RETURN ('not_found', NULL, NULL, NULL)::task_folder_doomed; END IF;
  PERFORM pg_advisory_xact_lock(task_tree_key(p_tenant, f.owner_id));
  v_role := task_folder_role(p_tenant, p_user, p_id);
  IF v_role IS NULL THEN RETURN ('not_found', NULL, NULL, NULL)::task_folder_doomed; END IF;
  IF v_role < 'owner' THEN RETURN ('forbidden', NULL, NULL, NULL)::task_folder_doomed; END IF;
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
