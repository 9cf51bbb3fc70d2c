-- Periodic jobs. Each function processes up to p_limit due tasks and skips locked ones. It appends the events in the transaction
-- that sets the next time, so each event occurs once, with several processes and after a crash. Returns the number of tasks.
-- p_zones: rules of the zones of due tasks (task_use_zones); a task whose zone is missing stays due until the next run.

-- The zones of due tasks with the first and the last year that their moments may be in.
CREATE FUNCTION tasks_due_zones(p_limit int) RETURNS TABLE (zone text, first_year int, last_year int) LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
    SELECT due.time_zone, min(extract(year FROM due.date))::int, max(extract(year FROM due.date))::int FROM (
      (SELECT task.time_zone, task.date FROM tasks task WHERE task.next_due_at <= now() ORDER BY task.next_due_at LIMIT p_limit)
      UNION ALL
      (SELECT task.time_zone, task.date FROM tasks task
        WHERE task.next_reminder_at <= now() ORDER BY task.next_reminder_at LIMIT p_limit)) due
     WHERE due.date IS NOT NULL GROUP BY due.time_zone;
END $$;

CREATE FUNCTION task_recipients(task tasks) RETURNS jsonb LANGUAGE sql IMMUTABLE
AS $$ SELECT to_jsonb(CASE WHEN task.assignee_ids = '{}' THEN ARRAY[task.creator_id] ELSE task.assignee_ids END) $$;

CREATE FUNCTION tasks_send_reminders(p_limit int, p_zones jsonb) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  task tasks;
  v_count int := 0;
BEGIN
  PERFORM task_use_zones(jsonb_build_object('zones', p_zones));
  FOR task IN SELECT * FROM tasks WHERE next_reminder_at <= now() ORDER BY next_reminder_at LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED LOOP
    BEGIN
      PERFORM task_event(task, 'task.reminder', NULL, jsonb_build_object(
        'remind_at', rfc3339(task.next_reminder_at), 'recipients', task_recipients(task)));
      UPDATE tasks SET next_reminder_at = task_next_reminder(task, task.next_reminder_at)
       WHERE tenant_id = task.tenant_id AND id = task.id;
      v_count := v_count + 1;
    EXCEPTION WHEN SQLSTATE 'WS004' THEN NULL;
    END;
  END LOOP;
  RETURN v_count;
END $$;

CREATE FUNCTION tasks_pass_due(p_limit int, p_zones jsonb) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  task tasks;
  v_count int := 0;
BEGIN
  PERFORM task_use_zones(jsonb_build_object('zones', p_zones));
  FOR task IN SELECT * FROM tasks WHERE next_due_at <= now() ORDER BY next_due_at LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED LOOP
    BEGIN
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
    EXCEPTION WHEN SQLSTATE 'WS004' THEN NULL;
    END;
  END LOOP;
  RETURN v_count;
END $$;

-- Purges tasks whose time in the trash is over, oldest first. Tasks that are being written wait for the next run. Their ids
-- stay reserved: an old ETag never matches another task. @returns their number
CREATE FUNCTION tasks_purge_due(p_limit int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  due tasks[];
BEGIN
  due := ARRAY(SELECT task FROM tasks task WHERE purge_at <= now() ORDER BY purge_at LIMIT p_limit FOR UPDATE SKIP LOCKED);
  WITH removals AS MATERIALIZED (
    SELECT member.tenant_id, member.user_id, member.task_id,
           row_number() OVER (PARTITION BY member.tenant_id, member.user_id ORDER BY member.task_id) AS place
      FROM unnest(due) AS task
      JOIN task_members member ON member.tenant_id = task.tenant_id AND member.task_id = task.id
     WHERE member.role IS NOT NULL),
  counts AS (SELECT tenant_id, user_id, count(*) AS total FROM removals GROUP BY tenant_id, user_id),
  heads AS (
    INSERT INTO sync_heads AS current (tenant_id, user_id, head)
    SELECT tenant_id, user_id, total FROM counts ORDER BY user_id, tenant_id
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = current.head + excluded.head
    RETURNING current.tenant_id, current.user_id, current.head)
  UPDATE task_members member
     SET role = NULL, folder_id = NULL, gone = 2, gone_at = clock_timestamp(), device_id = NULL,
         seq = heads.head - counts.total + removals.place
    FROM removals JOIN heads USING (tenant_id, user_id) JOIN counts USING (tenant_id, user_id)
   WHERE member.tenant_id = removals.tenant_id AND member.task_id = removals.task_id AND member.user_id = removals.user_id;
  INSERT INTO outbox (tenant_id, id, type, payload)
  SELECT task.tenant_id, uuid_v7(), 'task.purged',
         jsonb_build_object('task_id', task.id, 'revision', task.revision, 'actor_id', task.deleted_by)
    FROM unnest(due) AS task;
  INSERT INTO purged_tasks (tenant_id, task_id) SELECT task.tenant_id, task.id FROM unnest(due) AS task ON CONFLICT DO NOTHING;
  PERFORM forget_responses(task.tenant_id, task.id) FROM unnest(due) AS task;
  DELETE FROM tasks USING unnest(due) AS task WHERE tasks.tenant_id = task.tenant_id AND tasks.id = task.id;
  RETURN cardinality(due);
END $$;

-- Computes the moments of tasks again, by the rules in p_zones. A reminder that is due stays due, and a due date that has passed by
-- the new rules is reported as any other. Returns the number of tasks that changed.
CREATE FUNCTION tasks_follow_zones(p_tenants uuid[], p_ids uuid[], p_zones jsonb) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  task tasks;
  followed tasks;
  v_count int := 0;
BEGIN
  PERFORM task_use_zones(jsonb_build_object('zones', p_zones));
  FOR task IN
    SELECT due.* FROM tasks due JOIN unnest(p_tenants, p_ids) AS named (tenant_id, id) USING (tenant_id, id)
     WHERE due.next_due_at > now() ORDER BY due.id FOR NO KEY UPDATE OF due SKIP LOCKED LOOP
    BEGIN
      followed := task_set_clock(task);
      IF task.next_reminder_at <= now() THEN followed.next_reminder_at := task.next_reminder_at; END IF;
      IF task.due_stage = 1 AND followed.due_stage <> 1 THEN
        followed.due_stage := 1;
        followed.next_due_at := coalesce(task.due_at, task_instant(task.date::timestamp, task.time_zone));
      END IF;
      IF (followed.overdue_at, followed.next_due_at, followed.due_stage, followed.next_reminder_at)
         IS DISTINCT FROM (task.overdue_at, task.next_due_at, task.due_stage, task.next_reminder_at) THEN
        UPDATE tasks SET overdue_at = followed.overdue_at, next_due_at = followed.next_due_at, due_stage = followed.due_stage,
               next_reminder_at = followed.next_reminder_at
         WHERE tenant_id = task.tenant_id AND id = task.id;
        v_count := v_count + 1;
      END IF;
    EXCEPTION WHEN SQLSTATE 'WS004' THEN NULL;
    END;
  END LOOP;
  RETURN v_count;
END $$;
