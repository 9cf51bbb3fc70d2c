-- Links from a note to tasks made from it. They change without using up a revision (spec 4.2), but show in the feed.

CREATE FUNCTION note_link_json(p_task uuid, p_title text, p_created timestamptz) RETURNS jsonb LANGUAGE sql STABLE
AS $$ SELECT jsonb_build_object('type', 'task', 'id', p_task, 'title', p_title, 'created_at', rfc3339(p_created)) $$;

-- First step of making a task from a note: locks the note, then the counters of everybody who will be told of either, in
-- one order, since both will be counted up in this transaction. Answers the note's title. p_checked false: the body is
-- wrong, and only what comes first is answered.
CREATE FUNCTION note_open_for_task(p_tenant uuid, p_user uuid, p_id uuid, p_checked boolean, p_people uuid[], p_max int)
RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  n notes;
  v_role smallint;
BEGIN
  SELECT * INTO n FROM notes WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  v_role := n.member_roles[array_position(n.member_ids, p_user)];
  IF v_role IS NULL THEN RETURN note_refused('not_found'); END IF;
  IF v_role < 2 THEN RETURN note_refused('forbidden'); END IF;
  IF n.deleted_at IS NOT NULL THEN RETURN note_deleted(n); END IF;
  IF NOT p_checked THEN RETURN note_refused('unchecked'); END IF;
  IF jsonb_array_length(n.links) >= p_max THEN RETURN note_refused('too_many_links'); END IF;
  PERFORM task_lock_heads(p_tenant, n.member_ids || p_people);
  RETURN ('ok', n.revision, n.title)::note_outcome;
END $$;

-- Last step: the note, which is locked, links to the task.
CREATE FUNCTION note_link_task(p_tenant uuid, p_user uuid, p_id uuid, p_task uuid, p_title text) RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  n notes;
BEGIN
  UPDATE notes SET links = links || note_link_json(p_task, p_title, clock_timestamp())
   WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO n;
  PERFORM note_advance(n);
  RETURN note_written(n, p_user);
END $$;

-- Puts links to tasks in order that are being deleted, restored or renamed: p_tasks, with their titles and times, and for
-- each whether it is to be there. The tasks are locked; here the notes are, and the counters of everybody concerned.
CREATE FUNCTION note_links_change(
  p_tenant uuid, p_notes uuid[], p_tasks uuid[], p_titles text[], p_times timestamptz[], p_present boolean[], p_people uuid[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  held notes[];
  n notes;
  v_links jsonb;
BEGIN
  held := ARRAY(SELECT x FROM notes x WHERE x.tenant_id = p_tenant AND x.id = ANY (p_notes) ORDER BY x.id FOR UPDATE);
  PERFORM task_lock_heads(p_tenant, p_people || ARRAY(SELECT u FROM unnest(held) AS h, unnest(h.member_ids) AS u));
  FOREACH n IN ARRAY held LOOP
    SELECT coalesce(jsonb_agg(link ORDER BY i), '[]') INTO v_links FROM (
      SELECT i, CASE WHEN c.task IS NULL THEN l ELSE l || jsonb_build_object('title', c.title) END AS link
        FROM jsonb_array_elements(n.links) WITH ORDINALITY AS o (l, i)
        LEFT JOIN unnest(p_tasks, p_titles, p_present) AS c (task, title, present) ON c.task = (l->>'id')::uuid
       WHERE c.present IS DISTINCT FROM false
      UNION ALL
      SELECT 1000000 + c.i, note_link_json(c.task, c.title, c.at)
        FROM unnest(p_notes, p_tasks, p_titles, p_times, p_present) WITH ORDINALITY AS c (note, task, title, at, present, i)
       WHERE c.note = n.id AND c.present
         AND NOT n.links @> jsonb_build_array(jsonb_build_object('id', c.task))) x;
    CONTINUE WHEN v_links = n.links;
    UPDATE notes SET links = v_links WHERE tenant_id = p_tenant AND id = n.id;
    PERFORM note_advance(n);
  END LOOP;
END $$;
