-- Transfer of the task folders and the tasks of one member to another one.

-- Locks the tasks that a member created and those in the folders of the member, in the order of ids. Returns the users
-- whose feeds the transfer changes. The tree of the member is locked.
CREATE FUNCTION tasks_transfer_lock(p_tenant uuid, p_from uuid) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
  v_folders uuid[] := ARRAY(SELECT id FROM task_folders WHERE tenant_id = p_tenant AND owner_id = p_from AND gone_at IS NULL);
  v_tasks uuid[] := ARRAY(
    SELECT task_id FROM task_members WHERE tenant_id = p_tenant AND user_id = p_from AND role = 'owner'
    UNION SELECT id FROM tasks WHERE tenant_id = p_tenant AND folder_id = ANY (v_folders));
BEGIN
  PERFORM FROM tasks WHERE tenant_id = p_tenant AND id = ANY (v_tasks) ORDER BY id FOR UPDATE;
  RETURN ARRAY(
    SELECT user_id FROM task_members WHERE tenant_id = p_tenant AND task_id = ANY (v_tasks) AND role IS NOT NULL
    UNION SELECT user_id FROM task_folder_members
           WHERE tenant_id = p_tenant AND folder_id = ANY (v_folders) AND role IS NOT NULL);
END $$;

-- Gives the tree of folders to another member. It keeps its shape and the other members; its top-level folders come after those
-- of the new owner. Both trees, the tasks in the folders and all heads are locked. Returns the number of folders.
CREATE FUNCTION task_folders_transfer(p_tenant uuid, p_from uuid, p_to uuid, p_actor uuid) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  v_folders uuid[] := ARRAY(SELECT id FROM task_folders WHERE tenant_id = p_tenant AND owner_id = p_from AND gone_at IS NULL);
  v_tasks uuid[] := ARRAY(SELECT id FROM tasks WHERE tenant_id = p_tenant AND folder_id = ANY (v_folders));
  v_last double precision := coalesce((
    SELECT max(position) FROM task_folders
     WHERE tenant_id = p_tenant AND owner_id = p_to AND parent_id IS NULL AND gone_at IS NULL), 0);
BEGIN
  IF v_folders = '{}' THEN RETURN 0; END IF;
  WITH placed AS (
    SELECT id, parent_id, row_number() OVER (PARTITION BY parent_id ORDER BY position, id) AS place
      FROM task_folders WHERE tenant_id = p_tenant AND id = ANY (v_folders))
  UPDATE task_folders folder SET
    owner_id = p_to, revision = folder.revision + 1, updated_at = greatest(clock_timestamp(), folder.updated_at),
    position = CASE WHEN folder.parent_id IS NULL THEN v_last + placed.place ELSE folder.position END,
    member_roles = ARRAY(
      SELECT member_role FROM unnest(folder.member_ids, folder.member_roles) WITH ORDINALITY AS member (id, member_role, place)
       WHERE id <> p_to ORDER BY place),
    member_ids = array_remove(folder.member_ids, p_to)
    FROM placed WHERE folder.tenant_id = p_tenant AND folder.id = placed.id;
  PERFORM task_tree_apply(p_tenant, v_folders, v_folders, v_tasks, '{}', NULL);
  -- The owner of the folder is a search key of the task.
  PERFORM task_event(task, 'task.updated', p_actor, '{"changed": ["folder_owner"]}')
     FROM tasks task WHERE task.tenant_id = p_tenant AND task.id = ANY (v_tasks);
  RETURN cardinality(v_folders);
END $$;

-- Makes another member the creator of up to p_limit tasks of a member, those in the trash included. Assignees stay. The tasks
-- and all heads are locked. Returns the number of tasks.
CREATE FUNCTION tasks_transfer(p_tenant uuid, p_from uuid, p_to uuid, p_actor uuid, p_limit int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  v_ids uuid[] := ARRAY(
    SELECT task_id FROM task_members WHERE tenant_id = p_tenant AND user_id = p_from AND role = 'owner' LIMIT p_limit);
  task tasks;
BEGIN
  FOR task IN UPDATE tasks SET creator_id = p_to WHERE tenant_id = p_tenant AND id = ANY (v_ids) RETURNING * LOOP
    PERFORM task_record(task, 'transferred', p_actor, jsonb_build_object('from', p_from, 'to', p_to));
    PERFORM task_advance(task, NULL);
    PERFORM task_event(task, 'task.updated', p_actor, '{"changed": ["creator"]}');
  END LOOP;
  RETURN cardinality(v_ids);
END $$;
