-- Every write takes one request as jsonb:
--   base           the revision that the client read; missing: any
--   patch          the fields to write; null: the request is invalid, and only earlier errors are returned
--   device         name of the client device
--   in_steps       the caller holds a transaction and repeats the call until the outcome is final
--   next, planned  the next occurrence of a repeating task, null at the end of the series; `planned` when it is computed
--   links_updated  the notes that link back have been updated
--   zones          rules of time zones: see task_use_zones; the outcome `zone` names a year and a zone that are missing
-- After the outcomes `reschedule` and `links` the caller does a step in the same transaction and repeats the call.

-- Outcome `links`: the notes whose links to the task the write changes, and the users whose counters the write locks afterwards.
CREATE FUNCTION task_links_needed(task tasks, p_removed uuid[]) RETURNS task_outcome LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ('links', task.revision, json_build_object(
    'title', task.title, 'created_at', rfc3339(coalesce(task.created_at, clock_timestamp())),
    'notes', CASE WHEN task.deleted_at IS NULL THEN task.linked_notes ELSE '{}' END, 'removed', p_removed,
    'users', task_concerned(task))::text, NULL)::task_outcome;
END $$;

-- Outcome `unknown_user` with the new assignees that are not active members of the workspace; null without any.
CREATE FUNCTION task_inactive(task tasks, p_before uuid[]) RETURNS task_outcome LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_inactive json;
BEGIN
  IF task.assignee_ids <@ p_before THEN RETURN NULL; END IF;
  v_inactive := inactive_members(task.tenant_id, task.assignee_ids, p_before);
  RETURN CASE WHEN v_inactive IS NOT NULL THEN ('unknown_user', NULL, v_inactive::text, NULL)::task_outcome END;
END $$;

CREATE FUNCTION task_create(p_tenant uuid, p_user uuid, p_id uuid, p_write jsonb) RETURNS task_outcome LANGUAGE plpgsql AS $$
DECLARE
  c_patch CONSTANT jsonb := p_write->'patch';
  v_now timestamptz(3) := clock_timestamp();
  task tasks;
  v_result task_outcome;
BEGIN
  PERFORM task_use_zones(p_write);
  BEGIN
    task.tenant_id := p_tenant;
    task.id := p_id;
    task.creator_id := p_user;
    task.folder_id := (c_patch->>'folder_id')::uuid;
    task.title := '';
    task.status := 0;
    task.priority := 2;
    task.labels := '{}';
    task.assignee_ids := '{}';
    task.time_zone := coalesce((
      SELECT member.time_zone FROM member_locales member WHERE member.tenant_id = p_tenant AND member.user_id = p_user), 'UTC');
    task.reminders := '[]';
    task.refs := '[]';
    -- The notes of a task that is made from a note are already locked, and their links are written in the same transaction.
    task.linked_notes := task_uuids(coalesce(p_write->'linked_notes', '[]'));
    task.attachments := '[]';
    task.subtasks_count := 0;
    task.comments_count := 0;
    task.activity_count := 1;
    task.revision := 1;
    task.created_at := v_now;
    task.updated_at := v_now;
    task.updated_by := p_user;
    IF task.folder_id IS NOT NULL THEN
      PERFORM task_tree_share(p_tenant, task.folder_id);
      IF coalesce(task_folder_role(p_tenant, p_user, task.folder_id) < 'editor', true) THEN RETURN task_rejected('unknown_folder'); END IF;
    END IF;
    task := task_merge(task, c_patch);
    v_result := task_inactive(task, '{}');
    IF v_result.outcome IS NOT NULL THEN RETURN v_result; END IF;
    IF task.recurrence IS NOT NULL AND task.date IS NULL THEN RETURN task_rejected('no_date'); END IF;
    IF task.linked_notes <> '{}' AND NOT p_write ? 'links_updated' THEN RETURN task_links_needed(task, '{}'); END IF;
    task.position := coalesce(task.position, task_last_position(p_tenant, p_user, task.folder_id));
    task.completed_at := CASE WHEN task.status = 2 THEN v_now END;
    task := task_set_clock(task);
    INSERT INTO tasks VALUES (task.*) ON CONFLICT (tenant_id, id) DO NOTHING;
    IF NOT FOUND THEN RETURN task_rejected('already_exists'); END IF;
    -- After the insertion, which waits for a purge of the same id.
    IF EXISTS (SELECT FROM purged_tasks WHERE tenant_id = p_tenant AND task_id = p_id) THEN
      DELETE FROM tasks WHERE tenant_id = p_tenant AND id = p_id;
      RETURN task_rejected('already_exists');
    END IF;
    PERFORM task_record_as(task, 1, 'created', p_user);
    PERFORM task_add(task, p_write->>'device');
    PERFORM task_event(task, 'task.created', p_user);
    PERFORM task_assigned(task, p_user, '{}');
    RETURN task_written(task, p_user);
  EXCEPTION WHEN SQLSTATE 'WS004' THEN
    RETURN ('zone', NULL, to_json(SQLERRM)::text, NULL)::task_outcome;
  END;
END $$;

-- Appends the event of a change of the assignees.
CREATE FUNCTION task_assigned(task tasks, p_user uuid, p_before uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_added uuid[] := ARRAY(SELECT assignee FROM unnest(task.assignee_ids) assignee WHERE assignee <> ALL (p_before));
  v_removed uuid[] := ARRAY(SELECT assignee FROM unnest(p_before) assignee WHERE assignee <> ALL (task.assignee_ids));
BEGIN
  IF v_added = '{}' AND v_removed = '{}' THEN RETURN; END IF;
  PERFORM task_event(task, 'task.assigned', p_user, jsonb_build_object('added', to_jsonb(v_added), 'removed', to_jsonb(v_removed)));
END $$;

-- The changes of an update for the history: old and new value of short fields, true for the others.
CREATE FUNCTION task_changes(old tasks, new tasks) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT coalesce(jsonb_object_agg(field, CASE WHEN before IS NULL AND after IS NULL THEN 'true'::jsonb
                                                 ELSE jsonb_build_object('from', before, 'to', after) END), '{}')
      FROM (VALUES
        ('title', old.title IS DISTINCT FROM new.title, to_jsonb(old.title), to_jsonb(new.title)),
        ('status', old.status <> new.status, to_jsonb(task_status(old.status)), to_jsonb(task_status(new.status))),
        ('priority', old.priority <> new.priority, to_jsonb(task_priority(old.priority)), to_jsonb(task_priority(new.priority))),
        ('group', old.group_name IS DISTINCT FROM new.group_name, to_jsonb(old.group_name), to_jsonb(new.group_name)),
        ('date', old.date IS DISTINCT FROM new.date, to_jsonb(old.date), to_jsonb(new.date)),
        ('due_at', old.due_at IS DISTINCT FROM new.due_at, to_jsonb(rfc3339(old.due_at)), to_jsonb(rfc3339(new.due_at))),
        ('time_zone', old.time_zone <> new.time_zone, to_jsonb(old.time_zone), to_jsonb(new.time_zone)),
        ('assignees', old.assignee_ids <> new.assignee_ids, to_jsonb(old.assignee_ids), to_jsonb(new.assignee_ids)),
        ('description', old.description IS DISTINCT FROM new.description, NULL, NULL),
        ('labels', old.labels <> new.labels, NULL, NULL),
        ('folder_id', old.folder_id IS DISTINCT FROM new.folder_id, NULL, NULL),
        ('reminders', old.reminders <> new.reminders, NULL, NULL),
        ('recurrence', old.recurrence IS DISTINCT FROM new.recurrence, NULL, NULL),
        ('references', old.refs <> new.refs OR old.linked_notes <> new.linked_notes, NULL, NULL),
        ('icalendar', old.icalendar IS DISTINCT FROM new.icalendar, NULL, NULL),
        ('position', old.position <> new.position, NULL, NULL)) AS compared (field, differs, before, after)
     WHERE differs);
END $$;

-- Creates the next occurrence of a completed task: an open copy on the next date.
-- p_next: {"id", "date", "due_at"}, and "number", its place in the series, where intervals count from completions.
CREATE FUNCTION task_repeat(task tasks, p_user uuid, p_next jsonb, p_device text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  upcoming tasks := task;
  v_now timestamptz(3) := clock_timestamp();
BEGIN
  upcoming.id := (p_next->>'id')::uuid;
  upcoming.date := (p_next->>'date')::date;
  upcoming.due_at := (p_next->>'due_at')::timestamptz;
  upcoming.recurrence := task.recurrence || jsonb_strip_nulls(jsonb_build_object('scheduled', p_next->>'date', 'number', p_next->'number'));
  upcoming.status := 0;
  upcoming.completed_at := NULL;
  upcoming.next_task_id := NULL;
  -- Programs keep the completed occurrence under its UID.
  upcoming.uid := NULL;
  upcoming.icalendar := task.icalendar #- '{properties,CREATED}' #- '{properties,COMPLETED}' #- '{properties,PERCENT-COMPLETE}' #- '{properties,STATUS}'
    #- '{properties,DTSTART}' #- '{properties,DUE}' #- '{properties,DURATION}';
  upcoming.attachments := '[]';
  upcoming.comments_count := 0;
  upcoming.activity_count := 1;
  upcoming.revision := 1;
  upcoming.created_at := v_now;
  upcoming.updated_at := v_now;
  upcoming.updated_by := p_user;
  -- Reminders at a fixed moment belong to the completed occurrence.
  upcoming.reminders := coalesce((
    SELECT jsonb_agg(reminder) FROM jsonb_array_elements(task.reminders) reminder WHERE reminder ? 'minutes_before'), '[]');
  upcoming := task_set_clock(upcoming);
  INSERT INTO tasks SELECT upcoming.*;
  INSERT INTO subtasks (tenant_id, task_id, id, title, done, assignee_id, date, position, created_at, updated_at)
  SELECT tenant_id, upcoming.id, uuid_v7(), title, false, assignee_id, least(date + (upcoming.date - task.date), '9999-12-31'), position,
         v_now, v_now
    FROM subtasks WHERE tenant_id = task.tenant_id AND task_id = task.id;
  PERFORM task_record_as(upcoming, 1, 'created', p_user, jsonb_build_object('repeats', task.id));
  PERFORM task_add(upcoming, p_device);
  PERFORM task_event(upcoming, 'task.created', p_user, jsonb_build_object('repeats', task.id));
  PERFORM task_assigned(upcoming, p_user, '{}');
END $$;

CREATE FUNCTION task_update(p_tenant uuid, p_user uuid, p_id uuid, p_write jsonb) RETURNS task_outcome LANGUAGE plpgsql AS $$
DECLARE
  c_patch CONSTANT jsonb := nullif(p_write->'patch', 'null');
  v_now timestamptz(3) := clock_timestamp();
  old tasks;
  task tasks;
  member task_members;
  v_folder uuid;
  v_changes jsonb;
  v_removed uuid[];
  v_next jsonb;
  v_last task_outcome;
  v_result task_outcome;
BEGIN
  PERFORM task_use_zones(p_write);
  BEGIN
    -- The tree is locked first if the task moves, or if the call may create the next occurrence in the folder.
    v_folder := CASE WHEN c_patch ? 'folder_id' THEN (c_patch->>'folder_id')::uuid
                     WHEN p_write ? 'in_steps' THEN (SELECT folder_id FROM tasks WHERE tenant_id = p_tenant AND id = p_id) END;
    IF v_folder IS NOT NULL THEN PERFORM task_tree_share(p_tenant, v_folder); END IF;
    SELECT * INTO old FROM tasks WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
    IF p_write ? 'in_steps' AND NOT c_patch ? 'folder_id' AND old.folder_id IS DISTINCT FROM v_folder THEN
      RAISE EXCEPTION 'the task was moved while its tree was locked' USING ERRCODE = 'serialization_failure';
    END IF;
    SELECT * INTO member FROM task_members WHERE tenant_id = p_tenant AND task_id = p_id AND user_id = p_user;
    IF member.role IS NULL THEN RETURN task_rejected('not_found'); END IF;
    IF member.role < 'editor' THEN RETURN task_rejected('forbidden'); END IF;
    IF old.deleted_at IS NOT NULL THEN RETURN task_deleted(old); END IF;
    IF c_patch IS NULL THEN RETURN task_rejected('invalid_request'); END IF;
    IF (p_write->>'base')::int <> old.revision THEN RETURN task_written(old, p_user, 'conflict'); END IF;

    task := task_merge(old, c_patch);
    IF c_patch ? 'folder_id' AND member.folder_id IS DISTINCT FROM v_folder THEN
      -- An assignee does not take the task out of a folder that the assignee cannot see.
      IF member.role < 'owner' AND (old.folder_id IS NULL OR member.folder_id IS NULL) THEN RETURN task_rejected('forbidden'); END IF;
      task.folder_id := v_folder;
      IF v_folder IS NOT NULL AND coalesce(task_folder_role(p_tenant, p_user, v_folder) < 'editor', true) THEN
        RETURN task_rejected('unknown_folder');
      END IF;
      IF NOT c_patch ? 'position' THEN task.position := task_last_position(p_tenant, p_user, v_folder); END IF;
    ELSIF c_patch ? 'last' THEN
      task.position := task_last_position(p_tenant, p_user, member.folder_id);
    END IF;
    IF task.recurrence IS NOT NULL AND task.date IS NULL THEN RETURN task_rejected('no_date'); END IF;
    v_result := task_inactive(task, old.assignee_ids);
    IF v_result.outcome IS NOT NULL THEN RETURN v_result; END IF;
    v_changes := task_changes(old, task);
    IF v_changes = '{}' THEN RETURN task_written(old, p_user); END IF;
    IF task.status = 2 AND old.status <> 2 THEN
      task.completed_at := v_now;
      IF task.recurrence IS NOT NULL AND old.next_task_id IS NULL THEN
        IF NOT p_write ? 'planned' THEN
          RETURN ('reschedule', old.revision, (task.recurrence || jsonb_build_object(
            'time_zone', task.time_zone, 'date', task.date, 'due_at', rfc3339(task.due_at)))::text, NULL)::task_outcome;
        END IF;
        v_next := nullif(p_write->'next', 'null');
        task.next_task_id := (v_next->>'id')::uuid;
      END IF;
    ELSIF task.status <> 2 THEN
      task.completed_at := NULL;
    END IF;
    v_removed := ARRAY(SELECT note FROM unnest(old.linked_notes) note WHERE note <> ALL (task.linked_notes));
    IF NOT p_write ? 'links_updated' AND (v_removed <> '{}' OR task.linked_notes <> '{}' AND (
         v_next IS NOT NULL OR old.title <> task.title OR NOT task.linked_notes <@ old.linked_notes)) THEN
      RETURN task_links_needed(task, v_removed);
    END IF;
    IF v_changes ?| ARRAY['status', 'date', 'due_at', 'time_zone', 'reminders'] THEN task := task_set_clock(task); END IF;
    IF NOT c_patch ? 'icalendar' THEN task.icalendar := task_still_kept(task, v_changes); END IF;
    task.revision := old.revision + 1;
    task.updated_at := greatest(v_now, old.updated_at);
    task.updated_by := p_user;
    UPDATE tasks SET
      folder_id = task.folder_id, title = task.title, description = task.description, status = task.status,
      priority = task.priority, group_name = task.group_name, labels = task.labels, assignee_ids = task.assignee_ids,
      date = task.date, due_at = task.due_at, time_zone = task.time_zone, overdue_at = task.overdue_at,
      recurrence = task.recurrence, next_task_id = task.next_task_id, reminders = task.reminders,
      next_reminder_at = task.next_reminder_at, next_due_at = task.next_due_at, due_stage = task.due_stage, refs = task.refs,
      linked_notes = task.linked_notes, position = task.position, revision = task.revision, completed_at = task.completed_at,
      updated_at = task.updated_at, updated_by = task.updated_by, icalendar = task.icalendar
     WHERE tenant_id = p_tenant AND id = p_id;
    PERFORM task_record(task, CASE WHEN old.status <> 2 AND task.status = 2 THEN 'completed'
                                   WHEN old.status = 2 AND task.status <> 2 THEN 'reopened' ELSE 'updated' END, p_user, v_changes);
    -- A caller who loses access by this write still gets the result of it.
    IF member.role < 'owner' AND v_changes ?| ARRAY['assignees', 'folder_id'] THEN v_last := task_written(task, p_user); END IF;
    IF v_next IS NOT NULL THEN
      PERFORM lock_heads(p_tenant, task_concerned(task));
      PERFORM task_repeat(task, p_user, v_next, p_write->>'device');
    END IF;
    PERFORM task_advance(task, p_write->>'device');
    PERFORM task_event(task, 'task.updated', p_user, jsonb_build_object('changed', (SELECT jsonb_agg(field) FROM jsonb_object_keys(v_changes) field)));
    IF old.status <> 2 AND task.status = 2 THEN
      PERFORM task_event(task, 'task.completed', p_user, jsonb_build_object('next_task_id', task.next_task_id));
    END IF;
    PERFORM task_assigned(task, p_user, old.assignee_ids);
    v_result := task_written(task, p_user);
    RETURN CASE WHEN v_result.json IS NULL THEN v_last ELSE v_result END;
  EXCEPTION WHEN SQLSTATE 'WS004' THEN
    RETURN ('zone', NULL, to_json(SQLERRM)::text, NULL)::task_outcome;
  END;
END $$;

-- Moves a task to the trash, or takes it out (p_write has `restore`). Only its creator may. p_write->'keep_days': days
-- until the task is purged; 0: never. A task that is not in the trash is not restored: the outcome is `ok`.
CREATE FUNCTION task_trash(p_tenant uuid, p_user uuid, p_id uuid, p_write jsonb) RETURNS task_outcome LANGUAGE plpgsql AS $$
DECLARE
  c_restore CONSTANT boolean := p_write ? 'restore';
  task tasks;
  v_access task_outcome;
BEGIN
  PERFORM task_use_zones(p_write);
  BEGIN
    SELECT * INTO task FROM tasks WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
    v_access := task_access(task, p_user, 'owner', c_restore);
    IF v_access.outcome <> 'ok' THEN RETURN v_access; END IF;
    IF p_write->'patch' = 'null' THEN RETURN task_rejected('invalid_request'); END IF;
    IF c_restore AND task.deleted_at IS NULL THEN RETURN task_written(task, p_user); END IF;
    IF (p_write->>'base')::int <> task.revision THEN RETURN task_written(task, p_user, 'conflict'); END IF;
    task.deleted_at := CASE WHEN NOT c_restore THEN clock_timestamp() END;
    task.deleted_by := CASE WHEN NOT c_restore THEN p_user END;
    task.purge_at := task.deleted_at + make_interval(days => nullif((p_write->>'keep_days')::int, 0));
    IF task.linked_notes <> '{}' AND NOT p_write ? 'links_updated' THEN
      RETURN task_links_needed(task, CASE WHEN c_restore THEN '{}' ELSE task.linked_notes END);
    END IF;
    task := task_set_clock(task);
    UPDATE tasks SET deleted_at = task.deleted_at, deleted_by = task.deleted_by, purge_at = task.purge_at,
           next_reminder_at = task.next_reminder_at, next_due_at = task.next_due_at, due_stage = task.due_stage
     WHERE tenant_id = p_tenant AND id = p_id;
    PERFORM task_record(task, CASE WHEN c_restore THEN 'restored' ELSE 'deleted' END, p_user);
    PERFORM task_advance(task, p_write->>'device');
    PERFORM task_event(task, CASE WHEN c_restore THEN 'task.restored' ELSE 'task.deleted' END, p_user);
    RETURN task_written(task, p_user);
  EXCEPTION WHEN SQLSTATE 'WS004' THEN
    RETURN ('zone', NULL, to_json(SQLERRM)::text, NULL)::task_outcome;
  END;
END $$;
