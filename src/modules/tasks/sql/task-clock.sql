-- Periodic jobs. Each function processes up to p_limit due tasks and skips locked ones. It appends the events in the transaction
-- that sets the next time, so each event occurs once, with several processes and after a crash. Returns the number of tasks.

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
      UPDATE tasks SET due_stage = 2, next_due_at = (task.date + 1)::timestamp AT TIME ZONE task.time_zone
       WHERE tenant_id = task.tenant_id AND id = task.id;
    ELSE
      PERFORM task_event(task, 'task.overdue', NULL, jsonb_build_object('date', task.date, 'recipients', task_recipients(task)));
      UPDATE tasks SET due_stage = 0, next_due_at = NULL WHERE tenant_id = task.tenant_id AND id = task.id;
    END IF;
    v_count := v_count + 1;
  END LOOP;
  RETURN v_count;
END $$;
