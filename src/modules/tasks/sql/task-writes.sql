CREATE FUNCTION task_create(p_tenant uuid, p_user uuid, p_id uuid, p jsonb) RETURNS task_outcome LANGUAGE plpgsql AS $$
DECLARE
  t tasks;
  v_now timestamptz(3) := clock_timestamp();
BEGIN
  t.tenant_id := p_tenant;
  t.id := p_id;
  t.creator_id := p_user;
  t.folder_id := (p->>'folder_id')::uuid;
  t.title := '';
  t.status := 0;
  t.priority := 2;
  t.labels := '{}';
  t.assignee_ids := '{}';
  t.time_zone := 'UTC';
  t.reminders := '[]';
  t.refs := '[]';
  t.linked_notes := coalesce(ARRAY(SELECT jsonb_array_elements_text(p->'linked_notes')::uuid), '{}');
  t.attachments := '[]';
  t.subtasks_count := 0;
  t.comments_count := 0;
  t.activity_count := 0;
  t.revision := 1;
  t.created_at := v_now;
  t.updated_at := v_now;
  t.updated_by := p_user;
  IF t.folder_id IS NOT NULL THEN
    PERFORM task_tree_share(p_tenant, t.folder_id);
    IF coalesce(task_folder_role(p_tenant, p_user, t.folder_id) < 'editor', true) THEN RETURN task_refused('unknown_folder'); END IF;
  END IF;
  t := task_merge(t, p);
  IF t.recurrence IS NOT NULL AND t.date IS NULL THEN RETURN task_refused('no_date'); END IF;
  t.position := coalesce(t.position, task_last_position(p_tenant, p_user, t.folder_id));
  t.completed_at := CASE WHEN t.status = 2 THEN v_now END;
  t := task_set_clock(t);
  INSERT INTO tasks SELECT t.* ON CONFLICT (tenant_id, id) DO NOTHING;
  IF NOT FOUND THEN RETURN task_refused('already_exists'); END IF;
  PERFORM task_record(t, 'created', p_user);
  PERFORM task_advance(t);
  PERFORM task_event(t, 'task.created', p_user);
  PERFORM task_assigned(t, p_user, '{}');
  RETURN task_written(t, p_user);
END $$;

-- Tells who is assigned now and was not before, and who no longer is.
CREATE FUNCTION task_assigned(t tasks, p_user uuid, p_before uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_added uuid[] := ARRAY(SELECT u FROM unnest(t.assignee_ids) u WHERE u <> ALL (p_before));
  v_removed uuid[] := ARRAY(SELECT u FROM unnest(p_before) u WHERE u <> ALL (t.assignee_ids));
BEGIN
  IF v_added = '{}' AND v_removed = '{}' THEN RETURN; END IF;
  PERFORM task_event(t, 'task.assigned', p_user, jsonb_build_object('added', to_jsonb(v_added), 'removed', to_jsonb(v_removed)));
END $$;

-- What an update changed, for the history: old and new of what is short, for the rest only that it changed.
CREATE FUNCTION task_changes(o tasks, n tasks) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT coalesce(jsonb_object_agg(field, CASE WHEN before IS NULL AND after IS NULL THEN 'true'::jsonb
                                                 ELSE jsonb_build_object('from', before, 'to', after) END), '{}')
      FROM (VALUES
        ('title', o.title IS DISTINCT FROM n.title, to_jsonb(o.title), to_jsonb(n.title)),
        ('status', o.status <> n.status, to_jsonb(task_status(o.status)), to_jsonb(task_status(n.status))),
        ('priority', o.priority <> n.priority, to_jsonb(task_priority(o.priority)), to_jsonb(task_priority(n.priority))),
        ('group', o.group_name IS DISTINCT FROM n.group_name, to_jsonb(o.group_name), to_jsonb(n.group_name)),
        ('date', o.date IS DISTINCT FROM n.date, to_jsonb(o.date), to_jsonb(n.date)),
        ('due_at', o.due_at IS DISTINCT FROM n.due_at, to_jsonb(rfc3339(o.due_at)), to_jsonb(rfc3339(n.due_at))),
        ('time_zone', o.time_zone <> n.time_zone, to_jsonb(o.time_zone), to_jsonb(n.time_zone)),
        ('assignees', o.assignee_ids <> n.assignee_ids, to_jsonb(o.assignee_ids), to_jsonb(n.assignee_ids)),
        ('description', o.description IS DISTINCT FROM n.description, NULL, NULL),
        ('labels', o.labels <> n.labels, NULL, NULL),
        ('folder_id', o.folder_id IS DISTINCT FROM n.folder_id, NULL, NULL),
        ('reminders', o.reminders <> n.reminders, NULL, NULL),
        ('recurrence', o.recurrence IS DISTINCT FROM n.recurrence, NULL, NULL),
        ('references', o.refs <> n.refs, NULL, NULL),
        ('position', o.position <> n.position, NULL, NULL)) AS f (field, differs, before, after)
     WHERE differs);
END $$;

-- Makes the next occurrence of a task that was completed: the same again, open, on its next date.
-- p_next: {"id", "date", "due_at", "folder_id"} as worked out from the rule and the task.
CREATE FUNCTION task_repeat(t tasks, p_user uuid, p_next jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  n tasks := t;
  v_now timestamptz(3) := clock_timestamp();
BEGIN
  n.id := (p_next->>'id')::uuid;
  n.date := (p_next->>'date')::date;
  n.due_at := (p_next->>'due_at')::timestamptz;
  n.status := 0;
  n.completed_at := NULL;
  n.next_task_id := NULL;
  n.linked_notes := '{}';
  n.attachments := '[]';
  n.comments_count := 0;
  n.activity_count := 0;
  n.revision := 1;
  n.created_at := v_now;
  n.updated_at := v_now;
  n.updated_by := p_user;
  -- Reminders at a fixed moment belong to the occurrence that is over.
  n.reminders := coalesce((SELECT jsonb_agg(r) FROM jsonb_array_elements(t.reminders) r WHERE r ? 'minutes_before'), '[]');
  n := task_set_clock(n);
  INSERT INTO tasks SELECT n.*;
  INSERT INTO subtasks (tenant_id, task_id, id, title, done, assignee_id, date, position, created_at, updated_at)
  SELECT tenant_id, n.id, uuid_v7(), title, false, assignee_id, date + (n.date - t.date), position, v_now, v_now
    FROM subtasks WHERE tenant_id = t.tenant_id AND task_id = t.id;
  PERFORM task_record(n, 'created', p_user, jsonb_build_object('repeats', t.id));
  PERFORM task_advance(n);
  PERFORM task_event(n, 'task.created', p_user, jsonb_build_object('repeats', t.id));
  PERFORM task_assigned(n, p_user, '{}');
END $$;

-- p null: the body is wrong, so nothing may be written; but "not found", "forbidden" and "deleted" come first.
-- p_base null: the client did not say what it read. p_next: the next occurrence, worked out at revision p_next_base; when
-- it is needed and was not worked out for what stands here: `replan`, with what it depends on. p_links: who calls has seen to the notes that link
-- back to this task; when that is needed and not so: `linked`.
CREATE FUNCTION task_update(
  p_tenant uuid, p_user uuid, p_id uuid, p_base int, p jsonb, p_next jsonb, p_next_base int, p_links boolean)
RETURNS task_outcome LANGUAGE plpgsql AS $$
DECLARE
  o tasks;
  t tasks;
  m task_members;
  v_now timestamptz(3) := clock_timestamp();
  v_changes jsonb;
  v_folder uuid;
  v_last task_outcome;
  v_answer task_outcome;
BEGIN
  -- A task made in a folder, as the next occurrence is, needs the tree to hold still; so does one that moves.
  v_folder := (CASE WHEN p ? 'folder_id' THEN p ELSE p_next END->>'folder_id')::uuid;
  IF v_folder IS NOT NULL THEN PERFORM task_tree_share(p_tenant, v_folder); END IF;
  SELECT * INTO o FROM tasks WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  SELECT * INTO m FROM task_members WHERE tenant_id = p_tenant AND task_id = p_id AND user_id = p_user;
  IF m.role IS NULL THEN RETURN task_refused('not_found'); END IF;
  IF m.role < 'editor' THEN RETURN task_refused('forbidden'); END IF;
  IF o.deleted_at IS NOT NULL THEN RETURN task_deleted(o); END IF;
  IF p IS NULL THEN RETURN task_refused('unchecked'); END IF;
  IF p_base <> o.revision THEN RETURN task_written(o, p_user, 'conflict'); END IF;

  t := task_merge(o, p);
  IF p ? 'folder_id' AND m.folder_id IS DISTINCT FROM (p->>'folder_id')::uuid THEN
    -- Somebody who was only assigned the task does not take it out of a folder they cannot see.
    IF m.role < 'owner' AND (o.folder_id IS NULL OR m.folder_id IS NULL) THEN RETURN task_refused('forbidden'); END IF;
    t.folder_id := (p->>'folder_id')::uuid;
    IF t.folder_id IS NOT NULL AND coalesce(task_folder_role(p_tenant, p_user, t.folder_id) < 'editor', true) THEN
      RETURN task_refused('unknown_folder');
    END IF;
    IF NOT p ? 'position' THEN t.position := task_last_position(p_tenant, p_user, t.folder_id); END IF;
  ELSIF p ? 'last' THEN
    t.position := task_last_position(p_tenant, p_user, m.folder_id);
  END IF;
  IF t.recurrence IS NOT NULL AND t.date IS NULL THEN RETURN task_refused('no_date'); END IF;
  v_changes := task_changes(o, t);
  IF v_changes = '{}' THEN RETURN task_written(o, p_user); END IF;
  IF NOT p_links AND o.linked_notes <> '{}' AND o.title <> t.title THEN
    RETURN ('linked', o.revision, json_build_object('folder_id', o.folder_id)::text, NULL)::task_outcome;
  END IF;
  IF t.status = 2 AND o.status <> 2 THEN
    t.completed_at := v_now;
    IF t.recurrence IS NOT NULL AND o.next_task_id IS NULL THEN
      IF p_next_base IS DISTINCT FROM o.revision THEN
        RETURN ('replan', o.revision, (t.recurrence || jsonb_build_object('time_zone', t.time_zone, 'date', t.date,
          'due_at', rfc3339(t.due_at), 'folder_id', t.folder_id))::text, NULL)::task_outcome;
      END IF;
      t.next_task_id := (p_next->>'id')::uuid;
    END IF;
  ELSIF t.status <> 2 THEN
    t.completed_at := NULL;
  END IF;
  IF v_changes ?| ARRAY['status', 'date', 'due_at', 'time_zone', 'reminders'] THEN t := task_set_clock(t); END IF;
  t.revision := o.revision + 1;
  t.updated_at := greatest(v_now, o.updated_at);
  t.updated_by := p_user;
  UPDATE tasks SET
    folder_id = t.folder_id, title = t.title, description = t.description, status = t.status, priority = t.priority,
    group_name = t.group_name, labels = t.labels, assignee_ids = t.assignee_ids, date = t.date, due_at = t.due_at,
    time_zone = t.time_zone, overdue_at = t.overdue_at, recurrence = t.recurrence, next_task_id = t.next_task_id,
    reminders = t.reminders, next_reminder_at = t.next_reminder_at, next_due_at = t.next_due_at, due_stage = t.due_stage,
    refs = t.refs, position = t.position, revision = t.revision, completed_at = t.completed_at, updated_at = t.updated_at,
    updated_by = t.updated_by
   WHERE tenant_id = p_tenant AND id = p_id;
  PERFORM task_record(t, CASE WHEN o.status <> 2 AND t.status = 2 THEN 'completed'
                              WHEN o.status = 2 AND t.status <> 2 THEN 'reopened' ELSE 'updated' END, p_user, v_changes);
  -- Whoever takes themselves out of it sees what they did, once.
  IF m.role < 'owner' AND v_changes ?| ARRAY['assignees', 'folder_id'] THEN v_last := task_written(t, p_user); END IF;
  IF t.next_task_id IS DISTINCT FROM o.next_task_id THEN
    PERFORM task_lock_heads(p_tenant, ARRAY(
      SELECT a.user_id FROM task_audience(t) a
      UNION SELECT tm.user_id FROM task_members tm WHERE tm.tenant_id = p_tenant AND tm.task_id = p_id AND tm.role IS NOT NULL));
    PERFORM task_repeat(t, p_user, p_next);
  END IF;
  PERFORM task_advance(t);
  PERFORM task_event(t, 'task.updated', p_user, jsonb_build_object('changed', (SELECT jsonb_agg(k) FROM jsonb_object_keys(v_changes) k)));
  IF o.status <> 2 AND t.status = 2 THEN
    PERFORM task_event(t, 'task.completed', p_user, jsonb_build_object('next_task_id', t.next_task_id));
  END IF;
  PERFORM task_assigned(t, p_user, o.assignee_ids);
  v_answer := task_written(t, p_user);
  RETURN CASE WHEN v_answer.json IS NULL THEN v_last ELSE v_answer END;
END $$;

-- To the trash. Only its creator may. p_base as for updates; p_checked false: the request is wrong.
CREATE FUNCTION task_trash(p_tenant uuid, p_user uuid, p_id uuid, p_base int, p_checked boolean, p_keep_days int, p_links boolean)
RETURNS task_outcome LANGUAGE plpgsql AS $$
DECLARE
  t tasks;
  v_role task_role;
BEGIN
  SELECT * INTO t FROM tasks WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  SELECT role INTO v_role FROM task_members WHERE tenant_id = p_tenant AND task_id = p_id AND user_id = p_user;
  IF v_role IS NULL THEN RETURN task_refused('not_found'); END IF;
  IF v_role < 'owner' THEN RETURN task_refused('forbidden'); END IF;
  IF t.deleted_at IS NOT NULL THEN RETURN task_deleted(t); END IF;
  IF NOT p_checked THEN RETURN task_refused('unchecked'); END IF;
  IF p_base <> t.revision THEN RETURN task_written(t, p_user, 'conflict'); END IF;
  IF NOT p_links AND t.linked_notes <> '{}' THEN RETURN task_refused('linked'); END IF;
  t.deleted_at := clock_timestamp();
  t.deleted_by := p_user;
  t.purge_at := CASE WHEN p_keep_days > 0 THEN t.deleted_at + make_interval(days => p_keep_days) END;
  t := task_set_clock(t);
  UPDATE tasks SET deleted_at = t.deleted_at, deleted_by = t.deleted_by, purge_at = t.purge_at,
         next_reminder_at = NULL, next_due_at = NULL, due_stage = 0
   WHERE tenant_id = p_tenant AND id = p_id;
  PERFORM task_record(t, 'deleted', p_user);
  PERFORM task_advance(t);
  PERFORM task_event(t, 'task.deleted', p_user);
  RETURN task_written(t, p_user);
END $$;

CREATE FUNCTION task_restore(p_tenant uuid, p_user uuid, p_id uuid, p_links boolean) RETURNS task_outcome LANGUAGE plpgsql AS $$
DECLARE
  t tasks;
  v_role task_role;
BEGIN
  SELECT * INTO t FROM tasks WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  SELECT role INTO v_role FROM task_members WHERE tenant_id = p_tenant AND task_id = p_id AND user_id = p_user;
  IF v_role IS NULL THEN RETURN task_refused('not_found'); END IF;
  IF v_role < 'owner' THEN RETURN task_refused('forbidden'); END IF;
  IF t.deleted_at IS NULL THEN RETURN task_written(t, p_user); END IF;
  IF NOT p_links AND t.linked_notes <> '{}' THEN RETURN task_refused('linked'); END IF;
  t.deleted_at := NULL;
  t.deleted_by := NULL;
  t.purge_at := NULL;
  t := task_set_clock(t);
  UPDATE tasks SET deleted_at = NULL, deleted_by = NULL, purge_at = NULL,
         next_reminder_at = t.next_reminder_at, next_due_at = t.next_due_at, due_stage = t.due_stage
   WHERE tenant_id = p_tenant AND id = p_id;
  PERFORM task_record(t, 'restored', p_user);
  PERFORM task_advance(t);
  PERFORM task_event(t, 'task.restored', p_user);
  RETURN task_written(t, p_user);
END $$;

-- Purges tasks whose time in the trash is over, oldest first; those somebody is writing to right now wait for the next
-- run. Answers how many.
CREATE FUNCTION tasks_purge_due(p_limit int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  due tasks[];
BEGIN
  due := ARRAY(SELECT d FROM tasks d WHERE purge_at <= now() ORDER BY purge_at LIMIT p_limit FOR UPDATE SKIP LOCKED);
  WITH gone AS MATERIALIZED (
    SELECT m.tenant_id, m.user_id, m.task_id, row_number() OVER (PARTITION BY m.tenant_id, m.user_id ORDER BY m.task_id) AS i
      FROM unnest(due) AS d JOIN task_members m ON m.tenant_id = d.tenant_id AND m.task_id = d.id WHERE m.role IS NOT NULL),
  counts AS (SELECT tenant_id, user_id, count(*) AS c FROM gone GROUP BY tenant_id, user_id),
  heads AS (
    INSERT INTO sync_heads AS s (tenant_id, user_id, head) SELECT tenant_id, user_id, c FROM counts ORDER BY user_id, tenant_id
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = s.head + excluded.head
    RETURNING s.tenant_id, s.user_id, s.head)
  UPDATE task_members m SET role = NULL, folder_id = NULL, gone = 2, gone_at = clock_timestamp(), seq = h.head - c.c + g.i
    FROM gone g JOIN heads h ON (h.tenant_id, h.user_id) = (g.tenant_id, g.user_id)
    JOIN counts c ON (c.tenant_id, c.user_id) = (g.tenant_id, g.user_id)
   WHERE m.tenant_id = g.tenant_id AND m.task_id = g.task_id AND m.user_id = g.user_id;
  INSERT INTO outbox (tenant_id, id, type, payload)
  SELECT d.tenant_id, uuid_v7(), 'task.purged', jsonb_build_object('task_id', d.id, 'revision', d.revision, 'actor_id', d.deleted_by)
    FROM unnest(due) AS d;
  DELETE FROM tasks t USING unnest(due) AS d WHERE t.tenant_id = d.tenant_id AND t.id = d.id;
  RETURN cardinality(due);
END $$;
