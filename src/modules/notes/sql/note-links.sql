-- Links from a note to tasks. They change without a new revision (spec 4.2) and appear in the feed. Titles are not stored:
-- the views read them from the tasks, each for its reader.

CREATE FUNCTION note_link_json(p_task uuid, p_created timestamptz) RETURNS jsonb LANGUAGE sql STABLE
AS $$ SELECT jsonb_build_object('type', 'task', 'id', p_task, 'created_at', rfc3339(p_created)) $$;

-- First step of making a task from a note: locks the note and the other notes that will link to the task, then, in the order of
-- user ids, the heads of all users who see one of them or the task: the transaction changes all of these feeds. Returns the title
-- of the note. p_is_valid false: the body is invalid.
CREATE FUNCTION note_open_for_task(
  p_tenant uuid, p_user uuid, p_id uuid, p_is_valid boolean, p_users uuid[], p_others uuid[], p_max int)
RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  v_note notes;
  v_outcome note_outcome;
BEGIN
  PERFORM FROM notes WHERE tenant_id = p_tenant AND id = ANY (p_id || p_others) ORDER BY id FOR UPDATE;
  SELECT * INTO v_note FROM notes WHERE tenant_id = p_tenant AND id = p_id;
  v_outcome := note_access(v_note, p_user, 'editor');
  IF v_outcome.outcome <> 'ok' THEN RETURN v_outcome; END IF;
  IF NOT p_is_valid THEN RETURN note_rejected('invalid_request'); END IF;
  IF jsonb_array_length(v_note.links) >= p_max THEN RETURN note_rejected('too_many_links'); END IF;
  PERFORM lock_heads(p_tenant, v_note.member_ids || p_users || ARRAY(
    SELECT unnest(other.member_ids) FROM notes other WHERE other.tenant_id = p_tenant AND other.id = ANY (p_others)));
  RETURN ('ok', v_note.revision, v_note.title)::note_outcome;
END $$;

-- Last step: adds the link to the task to the note, which is locked.
CREATE FUNCTION note_link_task(p_tenant uuid, p_user uuid, p_id uuid, p_task uuid) RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  v_note notes;
BEGIN
  UPDATE notes SET links = links || note_link_json(p_task, clock_timestamp())
   WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO v_note;
  PERFORM note_advance(v_note, NULL);
  RETURN note_written(v_note, p_user);
END $$;

-- Updates the links of notes after changes of tasks. One change for each pair of note and task: `note`, `task`, `created_at`
-- of the task, `present` (whether the note links to it). The caller has locked the tasks. This function locks the notes and the
-- heads of all users concerned (p_users: those who see the tasks). A note gets new feed numbers also when only the title of a task
-- has changed.
CREATE FUNCTION note_links_change(p_tenant uuid, p_changes jsonb, p_users uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_notes notes[];
  v_note notes;
BEGIN
  v_notes := ARRAY(
    SELECT note FROM notes note
     WHERE note.tenant_id = p_tenant
       AND note.id IN (SELECT (change->>'note')::uuid FROM jsonb_array_elements(p_changes) AS change)
     ORDER BY note.id FOR UPDATE);
  PERFORM lock_heads(p_tenant, p_users || ARRAY(
    SELECT member_id FROM unnest(v_notes) AS note, unnest(note.member_ids) AS member_id));
  FOREACH v_note IN ARRAY v_notes LOOP
    WITH changes AS (
      SELECT (change->>'task')::uuid AS task_id, (change->>'created_at')::timestamptz AS created_at,
             (change->>'present')::boolean AS present, position
        FROM jsonb_array_elements(p_changes) WITH ORDINALITY AS listed (change, position)
       WHERE (change->>'note')::uuid = v_note.id)
    SELECT coalesce(jsonb_agg(link ORDER BY is_new, position), '[]') INTO v_note.links FROM (
      SELECT false AS is_new, kept.position, kept.link
        FROM jsonb_array_elements(v_note.links) WITH ORDINALITY AS kept (link, position)
       WHERE (kept.link->>'id')::uuid NOT IN (SELECT task_id FROM changes WHERE NOT present)
      UNION ALL
      SELECT true, added.position, note_link_json(added.task_id, added.created_at)
        FROM changes added
       WHERE added.present AND NOT v_note.links @> jsonb_build_array(jsonb_build_object('id', added.task_id))) AS links;
    UPDATE notes SET links = v_note.links WHERE tenant_id = p_tenant AND id = v_note.id;
    PERFORM note_advance(v_note, NULL);
  END LOOP;
END $$;
