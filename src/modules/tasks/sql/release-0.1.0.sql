-- Functions that processes of release 0.1.0 call (CONTRIBUTING.md, "Change the schema"). Delete the file when a later release is
-- recorded. Without rules of time zones, those of PostgreSQL apply.

CREATE FUNCTION task_recipients(task tasks) RETURNS jsonb LANGUAGE sql IMMUTABLE
AS $$ SELECT to_jsonb(CASE WHEN task.assignee_ids = '{}' THEN ARRAY[task.creator_id] ELSE task.assignee_ids END) $$;

CREATE FUNCTION tasks_remind(p_limit int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  task tasks;
  v_count int := 0;
BEGIN
  FOR task IN SELECT * FROM tasks WHERE next_reminder_at <= now() ORDER BY next_reminder_at LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED LOOP
    PERFORM task_event(task, 'task.reminder', NULL, jsonb_build_object(
      'remind_at', rfc3339(task.next_reminder_at), 'recipients', task_recipients(task)));
    UPDATE tasks SET next_reminder_at = task_next_reminder(task, task.next_reminder_at)
     WHERE tenant_id = task.tenant_id AND id = task.id;
    v_count := v_count + 1;
  END LOOP;
  RETURN v_count;
END $$;

CREATE FUNCTION tasks_fall_due(p_limit int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  task tasks;
  v_count int := 0;
BEGIN
  FOR task IN SELECT * FROM tasks WHERE next_due_at <= now() ORDER BY next_due_at LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED LOOP
    IF task.due_stage = 1 THEN
      PERFORM task_event(task, 'task.due', NULL, jsonb_build_object(
        'date', task.date, 'due_at', rfc3339(task.next_due_at), 'recipients', task_recipients(task)));
      UPDATE tasks SET due_stage = 2, next_due_at = task_instant((task.date + 1)::timestamp, task.time_zone)
       WHERE tenant_id = task.tenant_id AND id = task.id;
    ELSE
      PERFORM task_event(task, 'task.overdue', NULL, jsonb_build_object('date', task.date, 'recipients', task_recipients(task)));
      UPDATE tasks SET due_stage = 0, next_due_at = NULL WHERE tenant_id = task.tenant_id AND id = task.id;
    END IF;
    v_count := v_count + 1;
  END LOOP;
  RETURN v_count;
END $$;

-- Locks a task for a write of one of its parts. JSON on success: {"role", "deleted_at", "revision", "comments"}.
CREATE FUNCTION task_open(p_tenant uuid, p_user uuid, p_id uuid) RETURNS task_outcome LANGUAGE plpgsql AS $$
DECLARE
  task tasks;
  v_role task_role;
BEGIN
  SELECT * INTO task FROM tasks WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  SELECT role INTO v_role FROM task_members WHERE tenant_id = p_tenant AND task_id = p_id AND user_id = p_user;
  IF v_role IS NULL THEN RETURN task_rejected('not_found'); END IF;
  RETURN ('ok', task.revision, json_build_object(
    'role', v_role, 'deleted_at', rfc3339(task.deleted_at), 'revision', task.revision,
    'comments', task.comments_count)::text, NULL)::task_outcome;
END $$;

CREATE FUNCTION task_attachment_json(attachment task_attachments) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object(
    'id', attachment.id, 'name', attachment.name, 'size', attachment.size, 'content_type', attachment.content_type,
    'sha256', encode(attachment.sha256, 'hex'),
    'url', '/apis/v1/tasks/' || attachment.task_id || '/attachments/' || attachment.id,
    'created_by', attachment.created_by, 'created_at', rfc3339(attachment.created_at))
$$;

-- As task_outcome, with the JSON of the attachment.
CREATE TYPE task_attachment_outcome AS (outcome text, revision int, json text, refs text, part text);

CREATE FUNCTION task_attachment_outcome(result task_outcome, p_part text DEFAULT NULL) RETURNS task_attachment_outcome LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (result.outcome, result.revision, result.json, result.refs, p_part)::task_attachment_outcome;
END $$;

-- Whether this user may attach a file now: checked before the file is read, and again by task_attach.
CREATE FUNCTION task_attach_check(p_tenant uuid, p_user uuid, p_task uuid, p_max int) RETURNS task_outcome LANGUAGE plpgsql STABLE AS $$
DECLARE
  task tasks;
  v_access task_outcome;
BEGIN
  SELECT * INTO task FROM tasks WHERE tenant_id = p_tenant AND id = p_task;
  v_access := task_access(task, p_user, 'editor');
  IF v_access.outcome = 'ok' AND jsonb_array_length(task.attachments) >= p_max THEN RETURN task_rejected('too_many'); END IF;
  RETURN v_access;
END $$;

-- Updates the copy of the attachments in the task itself and finishes the write.
CREATE FUNCTION task_attachments_written(p_tenant uuid, p_user uuid, p_task uuid, p_activity text, attachment task_attachments)
RETURNS task_outcome LANGUAGE plpgsql AS $$
BEGIN
  UPDATE tasks SET attachments = coalesce((
    SELECT jsonb_agg(task_attachment_json(current) ORDER BY current.created_at, current.id) FROM task_attachments current
     WHERE current.tenant_id = p_tenant AND current.task_id = p_task), '[]')
   WHERE tenant_id = p_tenant AND id = p_task;
  RETURN task_part_written(p_tenant, p_user, p_task, jsonb_build_object(
    'list', 'attachments', 'activity', p_activity, 'data', jsonb_build_object('id', attachment.id, 'name', attachment.name)));
END $$;

-- Makes a stored blob an attachment. p_file: {"id", "blob_id", "name", "size", "sha256" (hexadecimal), "content_type"}.
CREATE FUNCTION task_attach(p_tenant uuid, p_user uuid, p_task uuid, p_file jsonb, p_max int)
RETURNS task_attachment_outcome LANGUAGE plpgsql AS $$
DECLARE
  c_sha256 CONSTANT bytea := decode(p_file->>'sha256', 'hex');
  v_check task_outcome;
  attachment task_attachments;
BEGIN
  PERFORM FROM tasks WHERE tenant_id = p_tenant AND id = p_task FOR UPDATE;
  v_check := task_attach_check(p_tenant, p_user, p_task, p_max);
  IF v_check.outcome <> 'ok' THEN RETURN task_attachment_outcome(v_check); END IF;
  IF NOT blob_keep(p_tenant, (p_file->>'blob_id')::uuid, (p_file->>'size')::bigint, c_sha256, p_file->>'content_type') THEN
    RETURN task_attachment_outcome(task_rejected('blob_gone'));
  END IF;
  INSERT INTO task_attachments (tenant_id, task_id, id, blob_id, name, size, content_type, sha256, created_by, created_at)
  VALUES (p_tenant, p_task, (p_file->>'id')::uuid, (p_file->>'blob_id')::uuid, p_file->>'name', (p_file->>'size')::bigint,
          p_file->>'content_type', c_sha256, p_user, clock_timestamp())
  RETURNING * INTO attachment;
  RETURN task_attachment_outcome(
    task_attachments_written(p_tenant, p_user, p_task, 'attachment_added', attachment), task_attachment_json(attachment)::text);
END $$;

CREATE FUNCTION task_detach(p_tenant uuid, p_user uuid, p_task uuid, p_id uuid) RETURNS task_outcome LANGUAGE plpgsql AS $$
DECLARE
  task tasks;
  v_access task_outcome;
  attachment task_attachments;
BEGIN
  SELECT * INTO task FROM tasks WHERE tenant_id = p_tenant AND id = p_task FOR UPDATE;
  v_access := task_access(task, p_user, 'editor');
  IF v_access.outcome = 'not_found' THEN RETURN v_access; END IF;
  DELETE FROM task_attachments
   WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id AND v_access.outcome = 'ok' RETURNING * INTO attachment;
  IF attachment.id IS NOT NULL THEN
    RETURN task_attachments_written(p_tenant, p_user, p_task, 'attachment_deleted', attachment);
  END IF;
  RETURN CASE WHEN EXISTS (SELECT FROM task_attachments WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id)
              THEN v_access ELSE task_rejected('part_not_found') END;
END $$;
