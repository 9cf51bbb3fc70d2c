CREATE FUNCTION task_attachment_json(a task_attachments) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object(
    'id', a.id, 'name', a.name, 'size', a.size, 'content_type', a.content_type, 'sha256', encode(a.sha256, 'hex'),
    'url', '/apis/v1/tasks/' || a.task_id || '/attachments/' || a.id,
    'created_by', a.created_by, 'created_at', rfc3339(a.created_at))
$$;

-- Whether this person may attach a file to the task as it stands. Asked before the file is read; decided by task_attach.
CREATE FUNCTION task_attach_check(p_tenant uuid, p_user uuid, p_task uuid, p_max int) RETURNS task_outcome LANGUAGE plpgsql STABLE AS $$
DECLARE
  t tasks;
  v_role task_role;
BEGIN
  SELECT * INTO t FROM tasks WHERE tenant_id = p_tenant AND id = p_task;
  SELECT role INTO v_role FROM task_members WHERE tenant_id = p_tenant AND task_id = p_task AND user_id = p_user;
  RETURN CASE WHEN v_role IS NULL THEN task_refused('not_found')
              WHEN v_role < 'editor' THEN task_refused('forbidden')
              WHEN t.deleted_at IS NOT NULL THEN task_deleted(t)
              WHEN jsonb_array_length(t.attachments) >= p_max THEN task_refused('too_many')
              ELSE task_refused('ok') END;
END $$;

-- What the task itself says of its attachments, after they have changed.
CREATE FUNCTION task_attachments_changed(t tasks) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE tasks SET attachments = coalesce((
    SELECT jsonb_agg(task_attachment_json(a) ORDER BY a.created_at, a.id) FROM task_attachments a
     WHERE a.tenant_id = t.tenant_id AND a.task_id = t.id), '[]')
   WHERE tenant_id = t.tenant_id AND id = t.id;
END $$;

-- Makes a stored blob an attachment. p_id: of the attachment.
CREATE FUNCTION task_attach(
  p_tenant uuid, p_user uuid, p_task uuid, p_id uuid, p_max int,
  p_blob uuid, p_name text, p_size bigint, p_sha256 bytea, p_type text)
RETURNS task_part_outcome LANGUAGE plpgsql AS $$
DECLARE
  r record;
  a task_attachments;
BEGIN
  r := task_open_for(p_tenant, p_user, p_task, 'editor');
  IF (r.refused).outcome <> 'ok' THEN RETURN task_part(r.refused); END IF;
  IF jsonb_array_length((r.t).attachments) >= p_max THEN RETURN task_part(task_refused('too_many')); END IF;
  IF NOT blob_keep(p_tenant, p_blob, p_size, p_sha256, p_type) THEN RETURN task_part(task_refused('blob_gone')); END IF;
  INSERT INTO task_attachments (tenant_id, task_id, id, blob_id, name, size, content_type, sha256, created_by, created_at)
  VALUES (p_tenant, p_task, p_id, p_blob, p_name, p_size, p_type, p_sha256, p_user, clock_timestamp())
  RETURNING * INTO a;
  PERFORM task_attachments_changed(r.t);
  RETURN task_part_written(r.t, p_user, 'attachments', 'attachment_added', jsonb_build_object('id', a.id, 'name', a.name),
    task_attachment_json(a)::text);
END $$;

CREATE FUNCTION task_detach(p_tenant uuid, p_user uuid, p_task uuid, p_id uuid) RETURNS task_part_outcome LANGUAGE plpgsql AS $$
DECLARE
  r record;
  a task_attachments;
BEGIN
  r := task_open_for(p_tenant, p_user, p_task, 'editor');
  SELECT * INTO a FROM task_attachments WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id;
  IF (r.refused).outcome <> 'not_found' AND a.id IS NULL THEN RETURN task_part(task_refused('part_not_found')); END IF;
  IF (r.refused).outcome <> 'ok' THEN RETURN task_part(r.refused); END IF;
  DELETE FROM task_attachments WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id;
  PERFORM task_attachments_changed(r.t);
  RETURN task_part_written(r.t, p_user, 'attachments', 'attachment_removed', jsonb_build_object('id', a.id, 'name', a.name), NULL);
END $$;
