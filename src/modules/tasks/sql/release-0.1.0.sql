-- Functions that processes of release 0.1.0 call (CONTRIBUTING.md, "Change the schema"). Delete the file when a later release is
-- recorded. Without rules of time zones, those of PostgreSQL apply.

-- Result of every write of a task: the outcome, the revision of the task, its JSON as the caller sees it (or the further
-- members of the error, or the input of the step that is needed) and its references.
CREATE TYPE task_outcome AS (outcome text, revision int, json text, refs text);

CREATE FUNCTION task_rejected(p_outcome text) RETURNS task_outcome LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (p_outcome, NULL, NULL, NULL)::task_outcome;
END $$;

CREATE FUNCTION task_deleted(task tasks) RETURNS task_outcome LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ('deleted', task.revision,
    json_build_object('revision', task.revision, 'deleted_at', rfc3339(task.deleted_at))::text, NULL)::task_outcome;
END $$;

-- The task as this user sees it; outcome `ok`, or `conflict` for the current task that a write collided with.
CREATE FUNCTION task_written(task tasks, p_user uuid, p_outcome text DEFAULT 'ok') RETURNS task_outcome LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_task text;
  v_refs text;
BEGIN
  SELECT task_views.task, task_views.refs INTO v_task, v_refs
    FROM task_views WHERE tenant_id = task.tenant_id AND user_id = p_user AND task_id = task.id;
  RETURN (p_outcome, task.revision, v_task, v_refs)::task_outcome;
END $$;

CREATE FUNCTION task_folder_role(p_tenant uuid, p_user uuid, p_folder uuid) RETURNS task_role LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT role FROM task_folder_members WHERE tenant_id = p_tenant AND folder_id = p_folder AND user_id = p_user);
END $$;

-- The users whose feeds a write of the task changes: those who may see it and those who could see it until now.
CREATE FUNCTION task_concerned(task tasks) RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT audience.user_id FROM task_audience(task) audience
    UNION SELECT member.user_id FROM task_members member
           WHERE member.tenant_id = task.tenant_id AND member.task_id = task.id AND member.role IS NOT NULL);
END $$;

-- Numbers a new task in all feeds. @raises WB002 where its creator has too many tasks
CREATE FUNCTION task_add(task tasks, p_device text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  c_head CONSTANT bigint := task_advance(task, p_device);
BEGIN
  IF items_need_count(task.tenant_id, task.creator_id, 'user.tasks', c_head) THEN
    PERFORM items_counted(task.tenant_id, task.creator_id, 'user.tasks', c_head, (
      SELECT count(*) FROM (
        SELECT FROM tasks WHERE tenant_id = task.tenant_id AND creator_id = task.creator_id LIMIT row_quota('user.tasks') + 1) owned));
  END IF;
END $$;

-- The next number of the same length in base 62; p_digits has a digit other than `z`.
CREATE FUNCTION position_next(p_digits text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  c_digits CONSTANT text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  c_kept CONSTANT text := rtrim(p_digits, 'z');
BEGIN
  RETURN left(c_kept, -1) || substr(c_digits, strpos(c_digits, right(c_kept, 1)) + 1, 1)
    || repeat('0', length(p_digits) - length(c_kept));
END $$;

-- A key after another one, in the form of the fractional-indexing library: a letter from `a` to `z` announces 1 to 26 digits
-- before the fraction. It is not longer than it has to be, so that a list does not get longer keys with each task. After the
-- largest whole number, the fraction counts in eight digits behind its leading `z`.
CREATE FUNCTION position_beyond(p_last text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  c_length CONSTANT int := ascii(p_last) - ascii('a') + 2;
  c_digits CONSTANT text := substr(p_last, 2, c_length - 1);
  c_fraction CONSTANT text := substr(p_last, c_length + 1);
  c_rest CONSTANT text := ltrim(c_fraction, 'z');
  v_count text := '00000001';
BEGIN
  IF rtrim(c_digits, 'z') <> '' THEN RETURN left(p_last, 1) || position_next(c_digits); END IF;
  IF left(p_last, 1) <> 'z' THEN RETURN chr(ascii(p_last) + 1) || repeat('0', c_length); END IF;
  IF c_rest <> '' THEN v_count := position_next(rpad(left(c_rest, 8), 8, '0')); END IF;
  -- A fraction does not end with `0`.
  IF right(v_count, 1) = '0' THEN v_count := left(v_count, 7) || '1'; END IF;
  RETURN left(p_last, c_length) || repeat('z', length(c_fraction) - length(c_rest)) || v_count;
END $$;

-- A key for the end of a list: the time in base 62, so that tasks added at the same moment do not wait for one another; two
-- random digits keep them apart. It has the form of the fractional-indexing library: "h" announces eight digits before the
-- fraction. p_last: the last key of the list; when it is in the future (a task was moved behind it, or the clock went
-- back), the new key still follows it.
CREATE FUNCTION position_after(p_last text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  c_digits CONSTANT text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  v_time bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
  v_key text;
BEGIN
  v_key := 'h'
    || substr(c_digits, (v_time / 3521614606208 % 62)::int + 1, 1)
    || substr(c_digits, (v_time / 56800235584 % 62)::int + 1, 1)
    || substr(c_digits, (v_time / 916132832 % 62)::int + 1, 1)
    || substr(c_digits, (v_time / 14776336 % 62)::int + 1, 1)
    || substr(c_digits, (v_time / 238328 % 62)::int + 1, 1)
    || substr(c_digits, (v_time / 3844 % 62)::int + 1, 1)
    || substr(c_digits, (v_time / 62 % 62)::int + 1, 1)
    || substr(c_digits, (v_time % 62)::int + 1, 1)
    || substr(c_digits, floor(random() * 62)::int + 1, 1) || substr(c_digits, floor(random() * 61)::int + 2, 1);
  RETURN CASE WHEN p_last >= v_key COLLATE "C" THEN position_beyond(p_last) ELSE v_key END;
END $$;

-- A key after every task that the caller has in this folder, or in none. Index task_members_board, which does not support
-- IS NOT DISTINCT FROM; its order is used for a folder that IS NULL only when the folder is in the ORDER BY.
CREATE FUNCTION task_last_position(p_tenant uuid, p_user uuid, p_folder uuid) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF p_folder IS NULL THEN
    RETURN position_after((
      SELECT position FROM task_members
       WHERE tenant_id = p_tenant AND user_id = p_user AND folder_id IS NULL AND role IS NOT NULL AND NOT trashed
       ORDER BY folder_id DESC, position DESC LIMIT 1));
  END IF;
  RETURN position_after((
    SELECT position FROM task_members
     WHERE tenant_id = p_tenant AND user_id = p_user AND folder_id = p_folder AND role IS NOT NULL AND NOT trashed
     ORDER BY position DESC LIMIT 1));
END $$;

-- The instant of a wall time.
CREATE FUNCTION task_instant(p_wall timestamp, p_zone text) RETURNS timestamptz LANGUAGE sql STABLE
AS $$ SELECT p_wall AT TIME ZONE p_zone $$;

-- The wall time of an instant.
CREATE FUNCTION task_wall(p_at timestamptz, p_zone text) RETURNS timestamp LANGUAGE sql STABLE
AS $$ SELECT p_at AT TIME ZONE p_zone $$;

-- Sets the moments of the next events: null when the task is closed or in the trash.
CREATE FUNCTION task_set_clock(task tasks) RETURNS tasks LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_now timestamptz := clock_timestamp();
  v_due timestamptz;
  v_passed timestamptz;
BEGIN
  task.overdue_at := coalesce(task.due_at, task_instant((task.date + 1)::timestamp, task.time_zone));
  task.next_due_at := NULL;
  task.due_stage := 0;
  task.next_reminder_at := NULL;
  IF task.status >= 2 OR task.deleted_at IS NOT NULL THEN RETURN task; END IF;
  v_due := coalesce(task.due_at, task_instant(task.date::timestamp, task.time_zone));
  v_passed := task_instant((task.date + 1)::timestamp, task.time_zone);
  IF v_due > v_now THEN
    task.next_due_at := v_due;
    task.due_stage := 1;
  ELSIF v_passed > v_now THEN
    task.next_due_at := v_passed;
    task.due_stage := 2;
  END IF;
  task.next_reminder_at := task_next_reminder(task, v_now);
  RETURN task;
END $$;

-- The first reminder after a moment. Reminders relative to a due date do not exist without one.
CREATE FUNCTION task_next_reminder(task tasks, p_after timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_due timestamptz;
BEGIN
  IF task.reminders = '[]' THEN RETURN NULL; END IF;
  v_due := coalesce(task.due_at, task_instant(task.date::timestamp, task.time_zone));
  RETURN (
    SELECT min(at) FROM (
      SELECT coalesce((reminder->>'at')::timestamptz, v_due - make_interval(mins => (reminder->>'minutes_before')::int)) AS at
        FROM jsonb_array_elements(task.reminders) reminder) moments
     WHERE at > p_after);
END $$;

CREATE FUNCTION task_uuids(p_ids jsonb) RETURNS uuid[] LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (SELECT coalesce(array_agg(id::uuid ORDER BY position), '{}')
            FROM jsonb_array_elements_text(p_ids) WITH ORDINALITY AS entry (id, position));
END $$;

-- What programs stored (KeptTodo) without the texts that a change has replaced: nobody expects them in the task any more.
CREATE FUNCTION task_still_kept(task tasks, p_changes jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  v_kept jsonb := task.icalendar;
BEGIN
  IF v_kept IS NULL THEN RETURN NULL; END IF;
  IF p_changes ? 'title' THEN v_kept := v_kept #- '{properties,SUMMARY}'; END IF;
  IF p_changes ? 'description' THEN v_kept := v_kept #- '{properties,DESCRIPTION}'; END IF;
  IF task.status <> 2 THEN v_kept := v_kept #- '{properties,COMPLETED}'; END IF;
  RETURN v_kept;
END $$;

-- Applies a patch to a task; fields that it does not contain stay. A new moment (due_at) decides the date; a new date alone
-- keeps the hour. Notes among the references link back when they did before or when the caller may edit them
-- (linkable_notes). @raises WS003 for a time zone that this server does not know
CREATE FUNCTION task_merge(task tasks, p_patch jsonb) RETURNS tasks LANGUAGE plpgsql AS $$
BEGIN
  task.title := coalesce(p_patch->>'title', task.title);
  IF p_patch ? 'description' THEN task.description := p_patch->>'description'; END IF;
  task.status := coalesce((p_patch->>'status')::smallint, task.status);
  IF p_patch ? 'reopen' AND task.status = 2 THEN task.status := 0; END IF;
  task.priority := coalesce((p_patch->>'priority')::smallint, task.priority);
  IF p_patch ? 'group' THEN task.group_name := p_patch->>'group'; END IF;
  IF p_patch ? 'labels' THEN task.labels := ARRAY(SELECT jsonb_array_elements_text(p_patch->'labels')); END IF;
  IF p_patch ? 'assignee_ids' THEN task.assignee_ids := task_uuids(p_patch->'assignee_ids'); END IF;
  IF p_patch ? 'reminders' THEN task.reminders := p_patch->'reminders'; END IF;
  task.uid := coalesce(p_patch->>'uid', task.uid);
  IF p_patch ? 'icalendar' THEN task.icalendar := nullif(p_patch->'icalendar', 'null'); END IF;
  IF p_patch ? 'refs' THEN
    task.refs := p_patch->'refs';
    task.linked_notes := ARRAY(
      SELECT (ref->>'id')::uuid FROM jsonb_array_elements(task.refs) WITH ORDINALITY AS entry (ref, place)
       WHERE ref->>'type' = 'note'
         AND ((ref->>'id')::uuid = ANY (task.linked_notes) OR coalesce(p_patch->'linkable_notes', '[]') ? (ref->>'id'))
       ORDER BY place);
  END IF;
  task.position := coalesce(p_patch->>'position', task.position);
  IF p_patch ? 'time_zone' THEN
    BEGIN
      PERFORM clock_timestamp() AT TIME ZONE (p_patch->>'time_zone');
    EXCEPTION WHEN invalid_parameter_value THEN
      RAISE EXCEPTION 'unknown time zone' USING ERRCODE = 'WS003';
    END;
    task.time_zone := p_patch->>'time_zone';
  END IF;
  -- A client that sends the whole task back with a new date also sends the old due_at, which must not undo the new date.
  IF p_patch ? 'date' AND (p_patch->>'date')::date IS DISTINCT FROM task.date
     AND (p_patch->>'due_at')::timestamptz = task.due_at THEN
    p_patch := p_patch - 'due_at';
  END IF;
  IF p_patch ? 'date' THEN
    task.date := (p_patch->>'date')::date;
    task.due_at := task_instant(task.date + task_wall(task.due_at, task.time_zone)::time, task.time_zone);
  END IF;
  IF p_patch ? 'due_at' THEN task.due_at := (p_patch->>'due_at')::timestamptz; END IF;
  -- Another time zone must not move either of them out of the years that clients can send.
  IF task.due_at IS NOT NULL AND p_patch ?| ARRAY['date', 'due_at', 'time_zone'] THEN
    task.due_at := least(greatest(task.due_at, '1900-01-01T00:00:00Z'), '9999-12-31T23:59:59.999Z');
    task.date := least(greatest(task_wall(task.due_at, task.time_zone)::date, '1900-01-01'), '9999-12-31');
  END IF;
  RETURN task_merge_recurrence(task, p_patch);
END $$;

-- A rule starts at the day and hour of the task when the rule was set. A new hour becomes the hour of the series; a new day
-- moves this occurrence only, whose day by the rule stays in `scheduled`.
CREATE FUNCTION task_merge_recurrence(task tasks, p_patch jsonb) RETURNS tasks LANGUAGE plpgsql STABLE AS $$
DECLARE
  c_internal CONSTANT text[] := '{start,scheduled,number,hour}';
  v_hour text;
  v_day text := to_char(task.date, 'YYYY-MM-DD');
  v_old jsonb := task.recurrence;
BEGIN
  IF p_patch ? 'recurrence' THEN task.recurrence := nullif(p_patch->'recurrence', 'null'); END IF;
  IF task.recurrence IS NULL THEN RETURN task; END IF;
  IF v_old IS NULL OR p_patch ?| ARRAY['recurrence', 'due_at', 'time_zone'] THEN
    v_hour := coalesce(to_char(task_wall(task.due_at, task.time_zone), '"T"HH24:MI:SS'), '');
  END IF;
  IF v_old IS NULL OR v_old - c_internal <> task.recurrence - c_internal THEN
    task.recurrence := task.recurrence || jsonb_build_object('start', v_day || v_hour, 'scheduled', v_day);
  ELSIF p_patch ? 'due_at' OR p_patch ? 'time_zone' THEN
    task.recurrence := v_old || jsonb_build_object('start', left(v_old->>'start', 10) || v_hour);
  ELSE
    task.recurrence := v_old;
  END IF;
  RETURN task;
END $$;

-- Every write takes one request as jsonb:
--   base           the revision that the client read; missing: any
--   patch          the fields to write; null: the request is invalid, and only earlier errors are returned
--   device         name of the client device
--   in_steps       the caller holds a transaction and repeats the call until the outcome is final
--   next, planned  the next occurrence of a repeating task, null at the end of the series; `planned` when it is computed
--   links_updated  the notes that link back have been updated
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
END $$;

-- Moves a task to the trash, or takes it out (p_write has `restore`). Only its creator may. p_write->'keep_days': days
-- until the task is purged; 0: never. A task that is not in the trash is not restored: the outcome is `ok`.
CREATE FUNCTION task_trash(p_tenant uuid, p_user uuid, p_id uuid, p_write jsonb) RETURNS task_outcome LANGUAGE plpgsql AS $$
DECLARE
  c_restore CONSTANT boolean := p_write ? 'restore';
  task tasks;
  v_access task_outcome;
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
END $$;

-- Parts of a task: subtasks, comments, attachments. Their writes do not change the revision of the task, so that they do not
-- conflict with an edit of the task that another user has begun.

-- Whether this user may write with this role: `ok`, or the rejection. p_in_trash: also in the trash.
CREATE FUNCTION task_access(task tasks, p_user uuid, p_role task_role, p_in_trash boolean DEFAULT false)
RETURNS task_outcome LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_role task_role := (SELECT role FROM task_members WHERE tenant_id = task.tenant_id AND task_id = task.id AND user_id = p_user);
BEGIN
  RETURN CASE WHEN v_role IS NULL THEN task_rejected('not_found')
              WHEN v_role < p_role THEN task_rejected('forbidden')
              WHEN task.deleted_at IS NOT NULL AND NOT p_in_trash THEN task_deleted(task)
              ELSE task_rejected('ok') END;
END $$;

-- After a write of a part: the counters, the history, the feeds and the event. The caller holds the lock of the task row.
-- p_write: `list` (name of the list that changed), `activity` and `data` (entry of the history), `device`,
-- `subtasks` and `comments` (change of their number).
CREATE FUNCTION task_part_written(p_tenant uuid, p_user uuid, p_id uuid, p_write jsonb) RETURNS task_outcome LANGUAGE plpgsql AS $$
DECLARE
  task tasks;
BEGIN
  UPDATE tasks SET subtasks_count = subtasks_count + coalesce((p_write->>'subtasks')::int, 0),
         comments_count = comments_count + coalesce((p_write->>'comments')::int, 0)
   WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO task;
  PERFORM task_record(task, p_write->>'activity', p_user, p_write->'data');
  PERFORM task_advance(task, p_write->>'device');
  PERFORM task_event(task, 'task.updated', p_user, jsonb_build_object('changed', jsonb_build_array(p_write->'list')));
  IF p_write->>'activity' = 'commented' THEN
    PERFORM task_event(task, 'task.commented', p_user, jsonb_build_object(
      'comment_id', p_write->'data'->'id', 'recipients', task_comment_recipients(task, p_user)));
  END IF;
  RETURN task_written(task, p_user);
END $$;

-- The users whom a comment concerns: the creator, the assignees and earlier commenters who still see the task, without its
-- author.
CREATE FUNCTION task_comment_recipients(task tasks, p_author uuid) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT coalesce(jsonb_agg(member.user_id), '[]') FROM task_members member
     WHERE member.tenant_id = task.tenant_id AND member.task_id = task.id AND member.role IS NOT NULL AND member.user_id <> p_author
       AND (member.role = 'owner' OR member.assigned OR EXISTS (
         SELECT FROM task_comments comment
          WHERE comment.tenant_id = task.tenant_id AND comment.task_id = task.id AND comment.author_id = member.user_id)));
END $$;

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

CREATE FUNCTION task_event(task tasks, p_type text, p_actor uuid, p_more jsonb DEFAULT '{}') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox (tenant_id, id, type, payload)
  VALUES (task.tenant_id, uuid_v7(), p_type,
          jsonb_build_object('task_id', task.id, 'revision', task.revision, 'actor_id', p_actor) || p_more);
END $$;

-- Adds to the history of the task and deletes entries older than the newest 500. The caller holds the lock of the task row.
CREATE FUNCTION task_record(task tasks, p_type text, p_actor uuid, p_data jsonb DEFAULT '{}') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_n int;
BEGIN
  UPDATE tasks SET activity_count = activity_count + 1 WHERE tenant_id = task.tenant_id AND id = task.id RETURNING activity_count INTO v_n;
  PERFORM task_record_as(task, v_n, p_type, p_actor, p_data);
  IF v_n > 500 THEN
    DELETE FROM task_activity WHERE tenant_id = task.tenant_id AND task_id = task.id AND n <= v_n - 500;
  END IF;
END $$;

-- Adds an entry with this number, which the row of the task already counts.
CREATE FUNCTION task_record_as(task tasks, p_n int, p_type text, p_actor uuid, p_data jsonb DEFAULT '{}') RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO task_activity (tenant_id, task_id, n, type, actor_id, data, at)
  VALUES (task.tenant_id, task.id, p_n, p_type, p_actor, p_data, clock_timestamp());
END $$;

-- Locks the tasks that a member created and those in the folders of the member, in the order of ids. Returns the users
-- whose feeds the transfer changes. The tree of the member is locked.
CREATE FUNCTION tasks_transfer_lock(p_tenant uuid, p_from uuid) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
  v_folders uuid[] := ARRAY(SELECT id FROM task_folders WHERE tenant_id = p_tenant AND owner_id = p_from AND gone_at IS NULL);
  v_tasks uuid[] := ARRAY(
    SELECT task_id FROM task_members WHERE tenant_id = p_tenant AND user_id = p_from AND role = 'owner'
    UNION SELECT id FROM tasks WHERE tenant_id = p_tenant AND folder_id = ANY (v_folders));
BEGIN
  PERFORM FROM tasks WHERE tenant_id = p_tenant AND id = ANY (v_tasks) ORDER BY id FOR UPDATE;
  RETURN ARRAY(
    SELECT user_id FROM task_members WHERE tenant_id = p_tenant AND task_id = ANY (v_tasks) AND role IS NOT NULL
    UNION SELECT user_id FROM task_folder_members
           WHERE tenant_id = p_tenant AND folder_id = ANY (v_folders) AND role IS NOT NULL);
END $$;

-- Gives the tree of folders to another member. It keeps its shape and the other members; its top-level folders come after those
-- of the new owner. Both trees, the tasks in the folders and all heads are locked. Returns the number of folders.
CREATE FUNCTION task_folders_transfer(p_tenant uuid, p_from uuid, p_to uuid, p_actor uuid) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  v_folders uuid[] := ARRAY(SELECT id FROM task_folders WHERE tenant_id = p_tenant AND owner_id = p_from AND gone_at IS NULL);
  v_tasks uuid[] := ARRAY(SELECT id FROM tasks WHERE tenant_id = p_tenant AND folder_id = ANY (v_folders));
  v_last double precision := coalesce((
    SELECT max(position) FROM task_folders
     WHERE tenant_id = p_tenant AND owner_id = p_to AND parent_id IS NULL AND gone_at IS NULL), 0);
BEGIN
  IF v_folders = '{}' THEN RETURN 0; END IF;
  WITH placed AS (
    SELECT id, parent_id, row_number() OVER (PARTITION BY parent_id ORDER BY position, id) AS place
      FROM task_folders WHERE tenant_id = p_tenant AND id = ANY (v_folders))
  UPDATE task_folders folder SET
    owner_id = p_to, revision = folder.revision + 1, updated_at = greatest(clock_timestamp(), folder.updated_at),
    position = CASE WHEN folder.parent_id IS NULL THEN v_last + placed.place ELSE folder.position END,
    member_roles = ARRAY(
      SELECT member_role FROM unnest(folder.member_ids, folder.member_roles) WITH ORDINALITY AS member (id, member_role, place)
       WHERE id <> p_to ORDER BY place),
    member_ids = array_remove(folder.member_ids, p_to)
    FROM placed WHERE folder.tenant_id = p_tenant AND folder.id = placed.id;
  PERFORM task_tree_apply(p_tenant, v_folders, v_folders, v_tasks, '{}', NULL);
  -- The owner of the folder is a search key of the task.
  PERFORM task_event(task, 'task.updated', p_actor, '{"changed": ["folder_owner"]}')
     FROM tasks task WHERE task.tenant_id = p_tenant AND task.id = ANY (v_tasks);
  RETURN cardinality(v_folders);
END $$;

-- Makes another member the creator of up to p_limit tasks of a member, those in the trash included. Assignees stay. The tasks
-- and all heads are locked. Returns the number of tasks.
CREATE FUNCTION tasks_transfer(p_tenant uuid, p_from uuid, p_to uuid, p_actor uuid, p_limit int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  v_ids uuid[] := ARRAY(
    SELECT task_id FROM task_members WHERE tenant_id = p_tenant AND user_id = p_from AND role = 'owner' LIMIT p_limit);
  task tasks;
BEGIN
  FOR task IN UPDATE tasks SET creator_id = p_to WHERE tenant_id = p_tenant AND id = ANY (v_ids) RETURNING * LOOP
    PERFORM task_record(task, 'transferred', p_actor, jsonb_build_object('from', p_from, 'to', p_to));
    PERFORM task_advance(task, NULL);
    PERFORM task_event(task, 'task.updated', p_actor, '{"changed": ["creator"]}');
  END LOOP;
  RETURN cardinality(v_ids);
END $$;

-- Purges tasks whose time in the trash is over, oldest first. Tasks that are being written wait for the next run. @returns their number
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
