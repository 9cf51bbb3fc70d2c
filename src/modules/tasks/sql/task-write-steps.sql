-- What every write of a task answers: an outcome, the revision it stands at, the task as the caller sees it (or the extra
-- members of the error), and what it refers to.
CREATE TYPE task_outcome AS (outcome text, revision int, json text, refs text);

CREATE FUNCTION task_refused(p_outcome text) RETURNS task_outcome LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (p_outcome, NULL, NULL, NULL)::task_outcome;
END $$;

CREATE FUNCTION task_deleted(t tasks) RETURNS task_outcome LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ('deleted', t.revision, json_build_object('revision', t.revision, 'deleted_at', rfc3339(t.deleted_at))::text, NULL)::task_outcome;
END $$;

-- The task as this person sees it. `ok`, or `conflict` with the task that is in the way.
CREATE FUNCTION task_written(t tasks, p_user uuid, p_outcome text DEFAULT 'ok') RETURNS task_outcome LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_task text;
  v_refs text;
BEGIN
  SELECT task, refs INTO v_task, v_refs FROM task_views WHERE tenant_id = t.tenant_id AND user_id = p_user AND task_id = t.id;
  RETURN (p_outcome, t.revision, v_task, v_refs)::task_outcome;
END $$;

-- The tree's lock: shared for placing a task in one of its folders, exclusive for changing the tree or who sees it, so that
-- no task slips into a folder between "which tasks are in it" and "who sees them now". Always the first lock of a
-- transaction, and one tree at most: then task rows by id, sync_heads by user id, member rows.
CREATE FUNCTION task_tree_key(p_tenant uuid, p_owner uuid) RETURNS bigint LANGUAGE sql IMMUTABLE
AS $$ SELECT hashtextextended('task folders ' || p_tenant::text || p_owner::text, 0) $$;

CREATE FUNCTION task_tree_share(p_tenant uuid, p_folder uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_owner uuid;
BEGIN
  SELECT owner_id INTO v_owner FROM task_folders WHERE tenant_id = p_tenant AND id = p_folder;
  IF FOUND THEN PERFORM pg_advisory_xact_lock_shared(task_tree_key(p_tenant, v_owner)); END IF;
END $$;

-- Locks the counters of these people in order, for transactions of several steps that number rows in more than one of them.
CREATE FUNCTION task_lock_heads(p_tenant uuid, p_people uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sync_heads AS s (tenant_id, user_id, head)
  SELECT DISTINCT p_tenant, u, 0 FROM unnest(p_people) AS u ORDER BY u
  ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = s.head;
END $$;

CREATE FUNCTION task_folder_role(p_tenant uuid, p_user uuid, p_folder uuid) RETURNS task_role LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT role FROM task_folder_members WHERE tenant_id = p_tenant AND folder_id = p_folder AND user_id = p_user);
END $$;

-- Who is to see the task, as what, and whether they see its folder too.
CREATE FUNCTION task_audience(t tasks) RETURNS TABLE (user_id uuid, role task_role, in_folder boolean) LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
    SELECT a.u, max(a.r), bool_or(a.f) FROM (
      SELECT t.creator_id, 'owner'::task_role, false
      UNION ALL SELECT u, 'editor', false FROM unnest(t.assignee_ids) AS u
      UNION ALL SELECT m.user_id, least(m.role, 'editor'), true FROM task_folder_members m
                 WHERE m.tenant_id = t.tenant_id AND m.folder_id = t.folder_id AND m.role IS NOT NULL) AS a (u, r, f)
     GROUP BY a.u;
END $$;

-- Gives everyone who sees the task, or saw it until now, its next number. The caller holds the task's row lock.
CREATE FUNCTION task_advance(t tasks) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH audience AS MATERIALIZED (
    SELECT a.user_id, a.role, a.in_folder FROM task_audience(t) a),
  concerned AS (
    SELECT user_id FROM audience
    UNION SELECT m.user_id FROM task_members m WHERE m.tenant_id = t.tenant_id AND m.task_id = t.id AND m.role IS NOT NULL),
  heads AS (
    INSERT INTO sync_heads AS s (tenant_id, user_id, head)
    SELECT t.tenant_id, c.user_id, 1 FROM concerned c ORDER BY c.user_id
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = s.head + 1
    RETURNING s.user_id, s.head)
  INSERT INTO task_members (tenant_id, task_id, user_id, role, folder_id, seq, gone, gone_at,
                            listed_at, position, due_on, open, assigned, trashed)
  SELECT t.tenant_id, t.id, h.user_id, a.role, CASE WHEN a.in_folder THEN t.folder_id END, h.head,
         CASE WHEN a.role IS NULL THEN 1 END, CASE WHEN a.role IS NULL THEN clock_timestamp() END,
         t.updated_at, t.position, coalesce(t.date, 'infinity'), t.status < 2, h.user_id = ANY (t.assignee_ids), t.deleted_at IS NOT NULL
    FROM heads h LEFT JOIN audience a ON a.user_id = h.user_id
  ON CONFLICT (tenant_id, task_id, user_id) DO UPDATE SET
    role = excluded.role, folder_id = excluded.folder_id, seq = excluded.seq, gone = excluded.gone, gone_at = excluded.gone_at,
    listed_at = excluded.listed_at, position = excluded.position, due_on = excluded.due_on, open = excluded.open,
    assigned = excluded.assigned, trashed = excluded.trashed;
END $$;

CREATE FUNCTION task_event(t tasks, p_type text, p_actor uuid, p_more jsonb DEFAULT '{}') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox (tenant_id, id, type, payload)
  VALUES (t.tenant_id, uuid_v7(), p_type,
          jsonb_build_object('task_id', t.id, 'revision', t.revision, 'actor_id', p_actor) || p_more);
END $$;

-- Adds to the task's history and forgets what is older than its newest 500 entries. The caller holds the task's row lock.
CREATE FUNCTION task_record(t tasks, p_type text, p_actor uuid, p_data jsonb DEFAULT '{}') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_n int;
BEGIN
  UPDATE tasks SET activity_count = activity_count + 1 WHERE tenant_id = t.tenant_id AND id = t.id RETURNING activity_count INTO v_n;
  INSERT INTO task_activity (tenant_id, task_id, n, type, actor_id, data, at)
  VALUES (t.tenant_id, t.id, v_n, p_type, p_actor, p_data, clock_timestamp());
  IF v_n > 500 THEN
    DELETE FROM task_activity WHERE tenant_id = t.tenant_id AND task_id = t.id AND n <= v_n - 500;
  END IF;
END $$;

-- A key for the end of a list: the time in base 62, so that what is added at the same moment need not wait for one another;
-- two random digits tell them apart. In the form of the fractional-indexing library: "h" announces eight digits before the
-- fraction. p_last: the last key there is; when somebody moved something behind the present, or the clock went back, the
-- new key still comes after it.
CREATE FUNCTION position_after(p_last text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  c_digits CONSTANT text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  v_time bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
  v_key text := '';
BEGIN
  FOR i IN 1 .. 8 LOOP
    v_key := substr(c_digits, (v_time % 62)::int + 1, 1) || v_key;
    v_time := v_time / 62;
  END LOOP;
  v_key := 'h' || v_key || substr(c_digits, floor(random() * 62)::int + 1, 1) || substr(c_digits, floor(random() * 61)::int + 2, 1);
  RETURN CASE WHEN p_last >= v_key COLLATE "C" THEN p_last || 'V' ELSE v_key END;
END $$;

-- A key after every task that the caller has in this folder, or in none. Index task_members_board, which does not know
-- IS NOT DISTINCT FROM.
CREATE FUNCTION task_last_position(p_tenant uuid, p_user uuid, p_folder uuid) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF p_folder IS NULL THEN
    RETURN position_after((
      SELECT position FROM task_members
       WHERE tenant_id = p_tenant AND user_id = p_user AND folder_id IS NULL AND role IS NOT NULL AND NOT trashed
       ORDER BY position DESC LIMIT 1));
  END IF;
  RETURN position_after((
    SELECT position FROM task_members
     WHERE tenant_id = p_tenant AND user_id = p_user AND folder_id = p_folder AND role IS NOT NULL AND NOT trashed
     ORDER BY position DESC LIMIT 1));
END $$;

-- The moments at which events are due, from now on; none once the task is closed or in the trash.
CREATE FUNCTION task_set_clock(t tasks) RETURNS tasks LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_now timestamptz := clock_timestamp();
  v_due timestamptz := coalesce(t.due_at, t.date::timestamp AT TIME ZONE t.time_zone);
  v_passed timestamptz := (t.date + 1)::timestamp AT TIME ZONE t.time_zone;
BEGIN
  t.overdue_at := coalesce(t.due_at, v_passed);
  t.next_due_at := NULL;
  t.due_stage := 0;
  t.next_reminder_at := NULL;
  IF t.status >= 2 OR t.deleted_at IS NOT NULL THEN RETURN t; END IF;
  IF v_due > v_now THEN
    t.next_due_at := v_due;
    t.due_stage := 1;
  ELSIF v_passed > v_now THEN
    t.next_due_at := v_passed;
    t.due_stage := 2;
  END IF;
  t.next_reminder_at := task_next_reminder(t, v_now);
  RETURN t;
END $$;

-- The first reminder after a moment. One relative to a date that is not there is none.
CREATE FUNCTION task_next_reminder(t tasks, p_after timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT min(at) FROM (
      SELECT coalesce((r->>'at')::timestamptz,
               coalesce(t.due_at, t.date::timestamp AT TIME ZONE t.time_zone) - make_interval(mins => (r->>'minutes_before')::int)) AS at
        FROM jsonb_array_elements(t.reminders) r) x
     WHERE at > p_after);
END $$;

-- Lays the given fields over a task; a field that is not there stays. Dates follow one another: a moment decides its day,
-- another day keeps the hour. @raises WS003 for a time zone this server does not know
CREATE FUNCTION task_merge(t tasks, p jsonb) RETURNS tasks LANGUAGE plpgsql AS $$
BEGIN
  t.title := coalesce(p->>'title', t.title);
  IF p ? 'description' THEN t.description := p->>'description'; END IF;
  t.status := coalesce((p->>'status')::smallint, t.status);
  IF p ? 'reopen' AND t.status = 2 THEN t.status := 0; END IF;
  t.priority := coalesce((p->>'priority')::smallint, t.priority);
  IF p ? 'group' THEN t.group_name := p->>'group'; END IF;
  IF p ? 'labels' THEN t.labels := ARRAY(SELECT jsonb_array_elements_text(p->'labels')); END IF;
  IF p ? 'assignee_ids' THEN t.assignee_ids := ARRAY(SELECT jsonb_array_elements_text(p->'assignee_ids')::uuid); END IF;
  IF p ? 'reminders' THEN t.reminders := p->'reminders'; END IF;
  IF p ? 'refs' THEN t.refs := p->'refs'; END IF;
  t.position := coalesce(p->>'position', t.position);
  IF p ? 'time_zone' THEN
    BEGIN
      PERFORM clock_timestamp() AT TIME ZONE (p->>'time_zone');
    EXCEPTION WHEN invalid_parameter_value THEN
      RAISE EXCEPTION 'unknown time zone' USING ERRCODE = 'WS003';
    END;
    t.time_zone := p->>'time_zone';
  END IF;
  IF p ? 'date' THEN
    t.date := (p->>'date')::date;
    t.due_at := (t.date + (t.due_at AT TIME ZONE t.time_zone)::time) AT TIME ZONE t.time_zone;
  END IF;
  IF p ? 'due_at' THEN t.due_at := (p->>'due_at')::timestamptz; END IF;
  IF t.due_at IS NOT NULL THEN t.date := (t.due_at AT TIME ZONE t.time_zone)::date; END IF;
  RETURN task_merge_recurrence(t, p);
END $$;

-- A rule counts from the day and hour the task had when the rule was made; a new hour is taken over, a new day is not: it
-- moves this one occurrence.
CREATE FUNCTION task_merge_recurrence(t tasks, p jsonb) RETURNS tasks LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_hour text := coalesce(to_char(t.due_at AT TIME ZONE t.time_zone, '"T"HH24:MI:SS'), '');
  v_old jsonb := t.recurrence;
BEGIN
  IF p ? 'recurrence' THEN t.recurrence := nullif(p->'recurrence', 'null'); END IF;
  IF t.recurrence IS NULL THEN RETURN t; END IF;
  IF v_old IS NULL OR v_old - 'start' <> t.recurrence - 'start' THEN
    t.recurrence := t.recurrence || jsonb_build_object('start', to_char(t.date, 'YYYY-MM-DD') || v_hour);
  ELSIF p ? 'due_at' OR p ? 'time_zone' THEN
    t.recurrence := t.recurrence || jsonb_build_object('start', left(v_old->>'start', 10) || v_hour);
  ELSE
    t.recurrence := v_old;
  END IF;
  RETURN t;
END $$;
