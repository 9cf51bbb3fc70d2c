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

-- Key of the lock of a tree of folders: shared for placing a task in one of its folders, exclusive for changing the tree
-- or its members. No task enters a folder while a transaction computes the access to the tasks in it. A transaction locks
-- at most one tree, before all other rows: then tasks by id, sync_heads by user id, member rows.
CREATE FUNCTION task_tree_key(p_tenant uuid, p_owner uuid) RETURNS bigint LANGUAGE sql IMMUTABLE
AS $$ SELECT hashtextextended('task folders ' || p_tenant::text || p_owner::text, 0) $$;

CREATE FUNCTION task_tree_share(p_tenant uuid, p_folder uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_owner uuid;
BEGIN
  SELECT owner_id INTO v_owner FROM task_folders WHERE tenant_id = p_tenant AND id = p_folder;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock_shared(task_tree_key(p_tenant, v_owner));
  IF NOT EXISTS (SELECT FROM task_folders WHERE tenant_id = p_tenant AND id = p_folder AND owner_id = v_owner) THEN
    RAISE EXCEPTION 'the folder was transferred while its tree was locked' USING ERRCODE = 'serialization_failure';
  END IF;
END $$;

CREATE FUNCTION task_folder_role(p_tenant uuid, p_user uuid, p_folder uuid) RETURNS task_role LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT role FROM task_folder_members WHERE tenant_id = p_tenant AND folder_id = p_folder AND user_id = p_user);
END $$;

-- The users who may see the task, their roles, and whether they see its folder too.
CREATE FUNCTION task_audience(task tasks) RETURNS TABLE (user_id uuid, role task_role, in_folder boolean) LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
    SELECT source.member_id, max(source.granted), bool_or(source.by_folder) FROM (
      SELECT task.creator_id, 'owner'::task_role, false
      UNION ALL SELECT assignee, 'editor', false FROM unnest(task.assignee_ids) AS assignee
      UNION ALL SELECT member.user_id, least(member.role, 'editor'), true FROM task_folder_members member
                 WHERE member.tenant_id = task.tenant_id AND member.folder_id = task.folder_id AND member.role IS NOT NULL
      ) AS source (member_id, granted, by_folder)
     GROUP BY source.member_id;
END $$;

-- The users whose feeds a write of the task changes: those who may see it and those who could see it until now.
CREATE FUNCTION task_concerned(task tasks) RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT audience.user_id FROM task_audience(task) audience
    UNION SELECT member.user_id FROM task_members member
           WHERE member.tenant_id = task.tenant_id AND member.task_id = task.id AND member.role IS NOT NULL);
END $$;

-- Gives the task its next number in the feed of every user concerned. The caller holds the lock of the task row.
-- p_device: the client that writes; null when unknown. Returns the number of the creator.
CREATE FUNCTION task_advance(task tasks, p_device text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_users uuid[];
  v_roles task_role[];
  v_in_folder boolean[];
  v_heads bigint[];
  v_history int;
BEGIN
  IF task.folder_id IS NULL AND task.assignee_ids <@ ARRAY[task.creator_id] AND NOT EXISTS (
    SELECT FROM task_members member
     WHERE member.tenant_id = task.tenant_id AND member.task_id = task.id AND member.user_id <> task.creator_id
       AND member.role IS NOT NULL) THEN
    -- Most tasks concern one user. The general statement below has the same result and takes three times as long.
    v_users := ARRAY[task.creator_id];
    v_roles := ARRAY['owner'];
    v_in_folder := ARRAY[false];
    INSERT INTO sync_heads AS current (tenant_id, user_id, head) VALUES (task.tenant_id, task.creator_id, 1)
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = current.head + 1
    RETURNING ARRAY[current.head] INTO v_heads;
  ELSE
    -- Users who begin to see the task read its history from here on. The entry of its creation has nothing that was removed since.
    SELECT nullif(activity_count, 1) INTO v_history FROM tasks WHERE tenant_id = task.tenant_id AND id = task.id;
    WITH audience AS MATERIALIZED (
      SELECT found.user_id, found.role, found.in_folder FROM task_audience(task) found),
    concerned AS (
      SELECT user_id FROM audience
      UNION SELECT member.user_id FROM task_members member
             WHERE member.tenant_id = task.tenant_id AND member.task_id = task.id AND member.role IS NOT NULL),
    heads AS (
      INSERT INTO sync_heads AS current (tenant_id, user_id, head)
      SELECT task.tenant_id, concerned.user_id, 1 FROM concerned ORDER BY concerned.user_id
      ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = current.head + 1
      RETURNING current.user_id, current.head)
    SELECT array_agg(heads.user_id), array_agg(audience.role), array_agg(audience.in_folder), array_agg(heads.head)
      INTO v_users, v_roles, v_in_folder, v_heads
      FROM heads LEFT JOIN audience ON audience.user_id = heads.user_id;
  END IF;
  INSERT INTO task_members AS known (tenant_id, task_id, user_id, role, folder_id, seq, gone, gone_at, device_id,
                            listed_at, position, due_on, open, assigned, trashed, history_from)
  SELECT task.tenant_id, task.id, counted.user_id, counted.role, CASE WHEN counted.in_folder THEN task.folder_id END, counted.head,
         CASE WHEN counted.role IS NULL THEN 1 END, CASE WHEN counted.role IS NULL THEN clock_timestamp() END, p_device,
         task.updated_at, task.position, coalesce(task.date, 'infinity'), task.status < 2,
         counted.user_id = ANY (task.assignee_ids), task.deleted_at IS NOT NULL, coalesce(v_history, 0)
    FROM unnest(v_users, v_roles, v_in_folder, v_heads) AS counted (user_id, role, in_folder, head)
  ON CONFLICT (tenant_id, task_id, user_id) DO UPDATE SET
    history_from = CASE WHEN known.role IS NULL THEN excluded.history_from ELSE known.history_from END,
    role = excluded.role, folder_id = excluded.folder_id, seq = excluded.seq, gone = excluded.gone, gone_at = excluded.gone_at,
    device_id = excluded.device_id, listed_at = excluded.listed_at, position = excluded.position,
    due_on = excluded.due_on, open = excluded.open, assigned = excluded.assigned, trashed = excluded.trashed;
  RETURN v_heads[array_position(v_users, task.creator_id)];
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

-- Rules of time zones come from Node (docs/adr/0065). A write carries those it needs: p_write->'zones' has for each zone
-- {"from": first year, "to": last year, "walls": [[wall, offset], ...], "instants": [[instant, offset], ...]}: the offset, in seconds,
-- that is valid from each wall time or instant (seconds since 1970) on. Without `zones` (a process of the previous release), the rules
-- of PostgreSQL apply.
CREATE FUNCTION task_use_zones(p_write jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('workspace.task_zones', coalesce(p_write->>'zones', ''), true);
END $$;

-- The offset of a zone. p_by: `walls` or `instants`. @raises WS004 `<year> <zone>` for rules that the caller has to provide
CREATE FUNCTION task_offset(p_zone text, p_by text, p_at timestamp) RETURNS interval LANGUAGE plpgsql STABLE AS $$
DECLARE
  c_zone CONSTANT jsonb := current_setting('workspace.task_zones')::jsonb->p_zone;
  c_year CONSTANT int := extract(year FROM p_at);
  c_at CONSTANT bigint := extract(epoch FROM p_at);
BEGIN
  IF c_zone IS NULL OR c_year < (c_zone->>'from')::int OR c_year > (c_zone->>'to')::int THEN
    RAISE EXCEPTION '% %', c_year, p_zone USING ERRCODE = 'WS004';
  END IF;
  RETURN make_interval(secs => (
    SELECT (span->>1)::int FROM jsonb_array_elements(c_zone->p_by) WITH ORDINALITY AS entry (span, place)
     WHERE (span->>0)::bigint <= c_at ORDER BY place DESC LIMIT 1));
END $$;

-- The instant of a wall time.
CREATE FUNCTION task_instant(p_wall timestamp, p_zone text) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF p_wall IS NULL THEN RETURN NULL; END IF;
  IF coalesce(current_setting('workspace.task_zones', true), '') = '' THEN RETURN p_wall AT TIME ZONE p_zone; END IF;
  RETURN (p_wall - task_offset(p_zone, 'walls', p_wall)) AT TIME ZONE 'UTC';
END $$;

-- The wall time of an instant.
CREATE FUNCTION task_wall(p_at timestamptz, p_zone text) RETURNS timestamp LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF p_at IS NULL THEN RETURN NULL; END IF;
  IF coalesce(current_setting('workspace.task_zones', true), '') = '' THEN RETURN p_at AT TIME ZONE p_zone; END IF;
  RETURN (p_at AT TIME ZONE 'UTC') + task_offset(p_zone, 'instants', p_at AT TIME ZONE 'UTC');
END $$;

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
      -- Node has checked the name; only without its rules does PostgreSQL need to know the zone.
      IF coalesce(current_setting('workspace.task_zones', true), '') = '' THEN
        PERFORM clock_timestamp() AT TIME ZONE (p_patch->>'time_zone');
      END IF;
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
  c_internal CONSTANT text[] := '{start,scheduled,number}';
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
