-- Stores a task as its rules (model/rules) decided: the row, an entry of the history, feed numbers and events, in one statement.
-- @param p_write
--   row       columns that change; all columns of a new task
--   is_new    the task is created
--   activity  entry of the history: type and data
--   events    id, type and payload, in order
--   device    name of the client device
--   view_first  the response has the task as the caller saw it before the feeds changed, if the caller sees it no more
--   read      what the rules have read without locks, to be compared under them: `version` of the row and `seq` of its member, and
--             `folder` with the role of the caller in it
-- @returns `stored` with the task as the caller sees it; `outdated`: nothing is stored, because `read` has changed; `exists`: a task has
--   or had the id. @raises WB002 where the creator has too many tasks
-- Lines `tasks create` and `tasks update` of test/bench/platform/domains.bench.mjs.
CREATE FUNCTION task_store(p_tenant uuid, p_user uuid, p_id uuid, p_write jsonb)
RETURNS TABLE (outcome text, revision int, task text, refs text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  c_read CONSTANT jsonb := p_write->'read';
  c_folder CONSTANT uuid := c_read->>'folder';
  stored tasks;
  v_head bigint;
  v_json text;
  v_refs text;
BEGIN
  IF c_folder IS NOT NULL THEN
    PERFORM task_tree_share(p_tenant, c_folder);
    IF (SELECT role FROM task_folder_members WHERE tenant_id = p_tenant AND folder_id = c_folder AND user_id = p_user)::text
       IS DISTINCT FROM c_read->>'folder_role' THEN
      RETURN QUERY SELECT 'outdated', NULL::int, NULL::text, NULL::text;
      RETURN;
    END IF;
  END IF;
  IF p_write ? 'is_new' THEN
    stored := jsonb_populate_record(NULL::tasks, p_write->'row' || '{"attachments": [], "activity_count": 1}');
    stored.tenant_id := p_tenant;
    INSERT INTO tasks VALUES (stored.*) ON CONFLICT (tenant_id, id) DO NOTHING;
    -- The id of a purged task is looked up after the insertion, which waits for the purge.
    IF NOT FOUND OR EXISTS (SELECT FROM purged_tasks purged WHERE purged.tenant_id = p_tenant AND purged.task_id = p_id) THEN
      IF FOUND THEN DELETE FROM tasks WHERE tenant_id = p_tenant AND id = p_id; END IF;
      RETURN QUERY SELECT 'exists', NULL::int, NULL::text, NULL::text;
      RETURN;
    END IF;
  ELSE
    SELECT item.* INTO stored FROM tasks item
     WHERE item.tenant_id = p_tenant AND item.id = p_id AND (c_read IS NULL OR item.xmin::text = c_read->>'version') FOR UPDATE;
    IF stored.id IS NULL OR (c_read IS NOT NULL AND NOT EXISTS (
         SELECT FROM task_members member WHERE member.tenant_id = p_tenant AND member.task_id = p_id AND member.user_id = p_user
            AND member.seq = (c_read->>'seq')::bigint)) THEN
      RETURN QUERY SELECT 'outdated', NULL::int, NULL::text, NULL::text;
      RETURN;
    END IF;
    stored := jsonb_populate_record(stored, p_write->'row');
    stored.activity_count := stored.activity_count + 1;
    UPDATE tasks SET
      folder_id = stored.folder_id, title = stored.title, description = stored.description, status = stored.status,
      priority = stored.priority, group_name = stored.group_name, labels = stored.labels, assignee_ids = stored.assignee_ids,
      date = stored.date, due_at = stored.due_at, time_zone = stored.time_zone, overdue_at = stored.overdue_at,
      recurrence = stored.recurrence, next_task_id = stored.next_task_id, reminders = stored.reminders,
      next_reminder_at = stored.next_reminder_at, next_due_at = stored.next_due_at, due_stage = stored.due_stage, refs = stored.refs,
      linked_notes = stored.linked_notes, position = stored.position, revision = stored.revision, completed_at = stored.completed_at,
      updated_at = stored.updated_at, updated_by = stored.updated_by, deleted_at = stored.deleted_at, deleted_by = stored.deleted_by,
      purge_at = stored.purge_at, uid = stored.uid, icalendar = stored.icalendar, subtasks_count = stored.subtasks_count,
      comments_count = stored.comments_count, activity_count = stored.activity_count
     WHERE tenant_id = p_tenant AND id = p_id;
    IF p_write ? 'view_first' THEN
      SELECT view.task, view.refs INTO v_json, v_refs FROM task_views view
       WHERE view.tenant_id = p_tenant AND view.user_id = p_user AND view.task_id = p_id;
    END IF;
  END IF;
  INSERT INTO task_activity (tenant_id, task_id, n, type, actor_id, data, at)
  VALUES (p_tenant, p_id, stored.activity_count, p_write#>>'{activity,type}', p_user, p_write#>'{activity,data}', clock_timestamp());
  IF stored.activity_count > 500 THEN
    DELETE FROM task_activity WHERE tenant_id = p_tenant AND task_id = p_id AND n <= stored.activity_count - 500;
  END IF;
  v_head := task_advance(stored, p_write->>'device');
  IF p_write ? 'is_new' AND items_need_count(p_tenant, stored.creator_id, 'user.tasks', v_head) THEN
    PERFORM items_counted(p_tenant, stored.creator_id, 'user.tasks', v_head, (
      SELECT count(*) FROM (
        SELECT FROM tasks WHERE tenant_id = p_tenant AND creator_id = stored.creator_id LIMIT row_quota('user.tasks') + 1) owned));
  END IF;
  INSERT INTO outbox (tenant_id, id, type, payload)
  SELECT p_tenant, (event->>'id')::uuid, event->>'type', event->'payload' FROM jsonb_array_elements(p_write->'events') AS event;
  RETURN QUERY
    SELECT 'stored', stored.revision, coalesce(view.task, v_json), CASE WHEN view.task IS NULL THEN v_refs ELSE view.refs END
      FROM (SELECT) AS always
      LEFT JOIN task_views view ON view.tenant_id = p_tenant AND view.user_id = p_user AND view.task_id = p_id;
END $$;
