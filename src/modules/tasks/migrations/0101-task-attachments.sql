-- Files of tasks. What people see of them also stands in tasks.attachments, so that reading a task needs no other table.
CREATE TABLE task_attachments (
  tenant_id     uuid           NOT NULL,
  task_id       uuid           NOT NULL,
  id            uuid           NOT NULL,
  blob_id       uuid           NOT NULL,
  name          text           NOT NULL,
  size          bigint         NOT NULL,
  content_type  text           NOT NULL,
  sha256        bytea          NOT NULL,
  created_by    uuid           NOT NULL,
  created_at    timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, task_id, id),
  FOREIGN KEY (tenant_id, task_id) REFERENCES tasks (tenant_id, id) ON DELETE CASCADE
);

-- Whatever deletes attachments, a purge of their task included, lets go of their bytes.
CREATE FUNCTION task_attachments_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM blob_release(g.tenant_id, array_agg(g.blob_id)) FROM gone g GROUP BY g.tenant_id;
  RETURN NULL;
END $$;
CREATE TRIGGER task_attachments_gone AFTER DELETE ON task_attachments
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION task_attachments_gone();

CREATE FUNCTION task_attachment_json(a task_attachments) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object(
    'id', a.id, 'name', a.name, 'size', a.size, 'content_type', a.content_type, 'sha256', encode(a.sha256, 'hex'),
    'url', '/apis/v1/tasks/' || a.task_id || '/attachments/' || a.id,
    'created_by', a.created_by, 'created_at', rfc3339(a.created_at))
$$;

-- Why this person may not attach a file; null: they may. Asked before the file is read and again under the task's lock.
CREATE FUNCTION task_attach_refusal(t tasks, p_role smallint) RETURNS task_outcome LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF p_role IS NULL THEN RETURN task_refused('not_found'); END IF;
  IF p_role < 2 THEN RETURN task_refused('forbidden'); END IF;
  IF t.deleted_at IS NOT NULL THEN RETURN task_deleted(t); END IF;
  IF jsonb_array_length(t.attachments) >= 50 THEN RETURN task_refused('too_many_attachments'); END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION task_attach_check(p_tenant uuid, p_user uuid, p_task uuid) RETURNS task_outcome LANGUAGE plpgsql STABLE AS $$
DECLARE
  t tasks;
  v_refusal task_outcome;
BEGIN
  SELECT * INTO t FROM tasks WHERE tenant_id = p_tenant AND id = p_task;
  v_refusal := task_attach_refusal(t, (
    SELECT role FROM task_members WHERE tenant_id = p_tenant AND task_id = p_task AND user_id = p_user));
  RETURN CASE WHEN v_refusal.outcome IS NULL THEN task_refused('ok') ELSE v_refusal END;
END $$;

-- Takes the attachments over into the task, as a change of it like any other. The caller holds the task's row lock.
CREATE FUNCTION task_attachments_changed(t tasks, p_user uuid, p_type text, p_attachment jsonb) RETURNS tasks LANGUAGE plpgsql AS $$
BEGIN
  t.attachments := coalesce((
    SELECT jsonb_agg(task_attachment_json(a) ORDER BY a.created_at, a.id) FROM task_attachments a
     WHERE a.tenant_id = t.tenant_id AND a.task_id = t.id), '[]');
  t.revision := t.revision + 1;
  t.updated_at := greatest(clock_timestamp(), t.updated_at);
  t.updated_by := p_user;
  UPDATE tasks SET attachments = t.attachments, revision = t.revision, updated_at = t.updated_at, updated_by = t.updated_by
   WHERE tenant_id = t.tenant_id AND id = t.id;
  PERFORM task_record(t, p_type, p_user, jsonb_build_object('id', p_attachment->'id', 'name', p_attachment->'name'));
  PERFORM task_advance(t);
  PERFORM task_event(t, 'task.updated', p_user, '{"changed": ["attachments"]}');
  RETURN t;
END $$;

-- Makes a stored blob an attachment. p_id: of the attachment.
CREATE FUNCTION task_attach(
  p_tenant uuid, p_user uuid, p_task uuid, p_id uuid, p_blob uuid, p_name text, p_size bigint, p_sha256 bytea, p_type text,
  OUT written task_outcome, OUT attachment text) LANGUAGE plpgsql AS $$
DECLARE
  t tasks;
  a task_attachments;
BEGIN
  SELECT * INTO t FROM tasks WHERE tenant_id = p_tenant AND id = p_task FOR UPDATE;
  written := task_attach_refusal(t, (
    SELECT role FROM task_members WHERE tenant_id = p_tenant AND task_id = p_task AND user_id = p_user));
  IF written.outcome IS NOT NULL THEN RETURN; END IF;
  IF NOT blob_keep(p_tenant, p_blob, p_size, p_sha256, p_type) THEN
    written := task_refused('blob_gone');
    RETURN;
  END IF;
  INSERT INTO task_attachments (tenant_id, task_id, id, blob_id, name, size, content_type, sha256, created_by, created_at)
  VALUES (p_tenant, p_task, p_id, p_blob, p_name, p_size, p_type, p_sha256, p_user, clock_timestamp())
  RETURNING * INTO a;
  attachment := task_attachment_json(a)::text;
  t := task_attachments_changed(t, p_user, 'attachment_added', attachment::jsonb);
  written := task_written(t, p_user);
END $$;

CREATE FUNCTION task_detach(p_tenant uuid, p_user uuid, p_task uuid, p_id uuid) RETURNS task_outcome LANGUAGE plpgsql AS $$
DECLARE
  t tasks;
  v_role smallint;
  a task_attachments;
BEGIN
  SELECT * INTO t FROM tasks WHERE tenant_id = p_tenant AND id = p_task FOR UPDATE;
  SELECT role INTO v_role FROM task_members WHERE tenant_id = p_tenant AND task_id = p_task AND user_id = p_user;
  IF v_role IS NULL THEN RETURN task_refused('not_found'); END IF;
  SELECT * INTO a FROM task_attachments WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id;
  IF NOT FOUND THEN RETURN task_refused('part_not_found'); END IF;
  IF v_role < 2 THEN RETURN task_refused('forbidden'); END IF;
  IF t.deleted_at IS NOT NULL THEN RETURN task_deleted(t); END IF;
  DELETE FROM task_attachments WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id;
  t := task_attachments_changed(t, p_user, 'attachment_removed', task_attachment_json(a));
  RETURN task_written(t, p_user);
END $$;
