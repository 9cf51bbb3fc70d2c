-- What time brings about. Each function takes a number of tasks whose moment has come, passing over those somebody is
-- writing to right now, and appends its events in the transaction that sets the next moment: once each, whichever process
-- runs it and whenever one dies. Each answers how many there were.

CREATE FUNCTION task_recipients(t tasks) RETURNS jsonb LANGUAGE sql IMMUTABLE
AS $$ SELECT to_jsonb(CASE WHEN t.assignee_ids = '{}' THEN ARRAY[t.creator_id] ELSE t.assignee_ids END) $$;

CREATE FUNCTION tasks_remind(p_limit int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  t tasks;
  v_count int := 0;
BEGIN
  FOR t IN SELECT * FROM tasks WHERE next_reminder_at <= now() ORDER BY next_reminder_at LIMIT p_limit FOR UPDATE SKIP LOCKED LOOP
    PERFORM task_event(t, 'task.reminder', NULL, jsonb_build_object(
      'remind_at', rfc3339(t.next_reminder_at), 'recipients', task_recipients(t)));
    UPDATE tasks SET next_reminder_at = task_next_reminder(t, t.next_reminder_at) WHERE tenant_id = t.tenant_id AND id = t.id;
    v_count := v_count + 1;
  END LOOP;
  RETURN v_count;
END $$;

CREATE FUNCTION tasks_fall_due(p_limit int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  t tasks;
  v_count int := 0;
BEGIN
  FOR t IN SELECT * FROM tasks WHERE next_due_at <= now() ORDER BY next_due_at LIMIT p_limit FOR UPDATE SKIP LOCKED LOOP
    IF t.due_stage = 1 THEN
      PERFORM task_event(t, 'task.due', NULL, jsonb_build_object(
        'date', t.date, 'due_at', rfc3339(t.next_due_at), 'recipients', task_recipients(t)));
      UPDATE tasks SET due_stage = 2, next_due_at = (t.date + 1)::timestamp AT TIME ZONE t.time_zone
       WHERE tenant_id = t.tenant_id AND id = t.id;
    ELSE
      PERFORM task_event(t, 'task.overdue', NULL, jsonb_build_object('date', t.date, 'recipients', task_recipients(t)));
      UPDATE tasks SET due_stage = 0, next_due_at = NULL WHERE tenant_id = t.tenant_id AND id = t.id;
    END IF;
    v_count := v_count + 1;
  END LOOP;
  RETURN v_count;
END $$;
