-- As task_outcome, with the part of the task that was written.
CREATE TYPE task_part_outcome AS (outcome text, revision int, json text, refs text, part text);

CREATE FUNCTION task_part(r task_outcome, p_part text DEFAULT NULL) RETURNS task_part_outcome LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (r.outcome, r.revision, r.json, r.refs, p_part)::task_part_outcome;
END $$;

-- Locks a task for somebody who is about to write a part of it. Answers a refusal, or `ok` and the task.
CREATE FUNCTION task_open_for(p_tenant uuid, p_user uuid, p_id uuid, p_role task_role, OUT refused task_outcome, OUT t tasks) LANGUAGE plpgsql AS $$
DECLARE
  v_role task_role;
BEGIN
  SELECT * INTO t FROM tasks WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  SELECT role INTO v_role FROM task_members WHERE tenant_id = p_tenant AND task_id = p_id AND user_id = p_user;
  refused := CASE WHEN v_role IS NULL THEN task_refused('not_found')
                  WHEN v_role < p_role THEN task_refused('forbidden')
                  WHEN t.deleted_at IS NOT NULL THEN task_deleted(t)
                  ELSE task_refused('ok') END;
END $$;

-- After a part was written: the history, the feeds, the event. The task's revision stays: an edit of the task that somebody
-- else has begun is not in its way.
CREATE FUNCTION task_part_written(t tasks, p_user uuid, p_list text, p_type text, p_data jsonb, p_part text) RETURNS task_part_outcome
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM task_record(t, p_type, p_user, p_data);
  PERFORM task_advance(t);
  PERFORM task_event(t, 'task.updated', p_user, jsonb_build_object('changed', jsonb_build_array(p_list)));
  RETURN task_part(task_written(t, p_user), p_part);
END $$;

-- p: the fields given. p_checked false: the body is wrong, and only what the contract answers first comes before that.
CREATE FUNCTION subtask_create(p_tenant uuid, p_user uuid, p_task uuid, p_id uuid, p_checked boolean, p jsonb, p_max int)
RETURNS task_part_outcome LANGUAGE plpgsql AS $$
DECLARE
  r record;
  t tasks;
  v_now timestamptz(3) := clock_timestamp();
BEGIN
  r := task_open_for(p_tenant, p_user, p_task, 'editor');
  IF (r.refused).outcome <> 'ok' THEN RETURN task_part(r.refused); END IF;
  t := r.t;
  IF NOT p_checked THEN RETURN task_part(task_refused('unchecked')); END IF;
  IF t.subtasks_count >= p_max THEN RETURN task_part(task_refused('too_many')); END IF;
  IF NOT task_seen_by(t, (p->>'assignee_id')::uuid) THEN RETURN task_part(task_refused('cannot_see')); END IF;
  INSERT INTO subtasks (tenant_id, task_id, id, title, done, assignee_id, date, position, created_at, updated_at)
  VALUES (p_tenant, p_task, p_id, p->>'title', coalesce((p->>'done')::boolean, false), (p->>'assignee_id')::uuid, (p->>'date')::date,
          coalesce(p->>'position', subtask_last_position(p_tenant, p_task)), v_now, v_now)
  ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN task_part(task_refused('already_exists')); END IF;
  UPDATE tasks SET subtasks_count = subtasks_count + 1 WHERE tenant_id = p_tenant AND id = p_task;
  RETURN task_part_written(t, p_user, 'subtasks', 'subtask_added', jsonb_build_object('id', p_id, 'title', p->>'title'),
    (SELECT subtask::text FROM subtask_views WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id));
END $$;

CREATE FUNCTION task_seen_by(t tasks, p_user uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN p_user IS NULL OR EXISTS (
    SELECT FROM task_members WHERE tenant_id = t.tenant_id AND task_id = t.id AND user_id = p_user AND role IS NOT NULL);
END $$;

CREATE FUNCTION subtask_last_position(p_tenant uuid, p_task uuid) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN position_after((SELECT max(position) FROM subtasks WHERE tenant_id = p_tenant AND task_id = p_task));
END $$;

CREATE FUNCTION subtask_update(p_tenant uuid, p_user uuid, p_task uuid, p_id uuid, p_checked boolean, p jsonb)
RETURNS task_part_outcome LANGUAGE plpgsql AS $$
DECLARE
  r record;
  t tasks;
  o subtasks;
  s subtasks;
BEGIN
  r := task_open_for(p_tenant, p_user, p_task, 'editor');
  t := r.t;
  SELECT * INTO o FROM subtasks WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id;
  IF (r.refused).outcome <> 'not_found' AND o.id IS NULL THEN RETURN task_part(task_refused('part_not_found')); END IF;
  IF (r.refused).outcome <> 'ok' THEN RETURN task_part(r.refused); END IF;
  IF NOT p_checked THEN RETURN task_part(task_refused('unchecked')); END IF;
  s := o;
  s.title := coalesce(p->>'title', o.title);
  s.done := coalesce((p->>'done')::boolean, o.done);
  s.position := coalesce(p->>'position', o.position);
  IF p ? 'date' THEN s.date := (p->>'date')::date; END IF;
  IF p ? 'last' THEN s.position := subtask_last_position(p_tenant, p_task); END IF;
  IF p ? 'assignee_id' THEN
    s.assignee_id := (p->>'assignee_id')::uuid;
    IF s.assignee_id IS DISTINCT FROM o.assignee_id AND NOT task_seen_by(t, s.assignee_id) THEN
      RETURN task_part(task_refused('cannot_see'));
    END IF;
  END IF;
  IF s IS NOT DISTINCT FROM o THEN
    RETURN task_part(task_written(t, p_user), (
      SELECT subtask::text FROM subtask_views WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id));
  END IF;
  UPDATE subtasks SET title = s.title, done = s.done, assignee_id = s.assignee_id, date = s.date, position = s.position,
         updated_at = greatest(clock_timestamp(), updated_at)
   WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id;
  RETURN task_part_written(t, p_user, 'subtasks',
    CASE WHEN s.done AND NOT o.done THEN 'subtask_completed' WHEN o.done AND NOT s.done THEN 'subtask_reopened' ELSE 'subtask_updated' END,
    jsonb_build_object('id', p_id, 'title', s.title),
    (SELECT subtask::text FROM subtask_views WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id));
END $$;

CREATE FUNCTION subtask_delete(p_tenant uuid, p_user uuid, p_task uuid, p_id uuid) RETURNS task_part_outcome LANGUAGE plpgsql AS $$
DECLARE
  r record;
  t tasks;
  v_title text;
BEGIN
  r := task_open_for(p_tenant, p_user, p_task, 'editor');
  t := r.t;
  SELECT title INTO v_title FROM subtasks WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id;
  IF (r.refused).outcome <> 'not_found' AND NOT FOUND THEN RETURN task_part(task_refused('part_not_found')); END IF;
  IF (r.refused).outcome <> 'ok' THEN RETURN task_part(r.refused); END IF;
  DELETE FROM subtasks WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id;
  UPDATE tasks SET subtasks_count = subtasks_count - 1 WHERE tenant_id = p_tenant AND id = p_task;
  RETURN task_part_written(t, p_user, 'subtasks', 'subtask_deleted', jsonb_build_object('id', p_id, 'title', v_title), NULL);
END $$;

CREATE FUNCTION task_comment_create(p_tenant uuid, p_user uuid, p_task uuid, p_id uuid, p_body text) RETURNS task_part_outcome LANGUAGE plpgsql AS $$
DECLARE
  r record;
  t tasks;
BEGIN
  r := task_open_for(p_tenant, p_user, p_task, 'viewer');
  IF (r.refused).outcome <> 'ok' THEN RETURN task_part(r.refused); END IF;
  t := r.t;
  IF p_body IS NULL THEN RETURN task_part(task_refused('unchecked')); END IF;
  INSERT INTO task_comments (tenant_id, task_id, id, author_id, body, created_at) VALUES (p_tenant, p_task, p_id, p_user, p_body, clock_timestamp());
  UPDATE tasks SET comments_count = comments_count + 1 WHERE tenant_id = p_tenant AND id = p_task;
  PERFORM task_event(t, 'task.commented', p_user, jsonb_build_object('comment_id', p_id, 'recipients', (
    SELECT coalesce(jsonb_agg(m.user_id), '[]') FROM task_members m
     WHERE m.tenant_id = p_tenant AND m.task_id = p_task AND m.role IS NOT NULL AND m.user_id <> p_user
       AND (m.role = 'owner' OR m.assigned OR EXISTS (
         SELECT FROM task_comments c WHERE c.tenant_id = p_tenant AND c.task_id = p_task AND c.author_id = m.user_id)))));
  RETURN task_part_written(t, p_user, 'comments', 'commented', jsonb_build_object('id', p_id),
    (SELECT comment FROM task_comment_views WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id));
END $$;

-- Its author changes a comment (p_body); its author, or who made the task, deletes it (p_delete).
CREATE FUNCTION task_comment_write(p_tenant uuid, p_user uuid, p_task uuid, p_id uuid, p_body text, p_delete boolean)
RETURNS task_part_outcome LANGUAGE plpgsql AS $$
DECLARE
  r record;
  t tasks;
  c task_comments;
BEGIN
  r := task_open_for(p_tenant, p_user, p_task, 'viewer');
  t := r.t;
  SELECT * INTO c FROM task_comments WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id;
  IF (r.refused).outcome <> 'not_found' AND NOT FOUND THEN RETURN task_part(task_refused('part_not_found')); END IF;
  IF (r.refused).outcome = 'not_found' THEN RETURN task_part(r.refused); END IF;
  IF c.author_id <> p_user AND NOT (p_delete AND t.creator_id = p_user) THEN RETURN task_part(task_refused('forbidden')); END IF;
  IF (r.refused).outcome <> 'ok' THEN RETURN task_part(r.refused); END IF;
  IF p_delete THEN
    DELETE FROM task_comments WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id;
    UPDATE tasks SET comments_count = comments_count - 1 WHERE tenant_id = p_tenant AND id = p_task;
    RETURN task_part_written(t, p_user, 'comments', 'comment_deleted', jsonb_build_object('id', p_id), NULL);
  END IF;
  IF p_body IS NULL THEN RETURN task_part(task_refused('unchecked')); END IF;
  IF p_body <> c.body THEN
    UPDATE task_comments SET body = p_body, edited_at = clock_timestamp() WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id;
    PERFORM task_record(t, 'comment_edited', p_user, jsonb_build_object('id', p_id));
    PERFORM task_advance(t);
    PERFORM task_event(t, 'task.updated', p_user, '{"changed": ["comments"]}');
  END IF;
  RETURN task_part(task_written(t, p_user), (
    SELECT comment FROM task_comment_views WHERE tenant_id = p_tenant AND task_id = p_task AND id = p_id));
END $$;
