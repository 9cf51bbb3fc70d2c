-- p_base: as in note_update. p_keep_days: days until the note is purged; 0: never.
CREATE FUNCTION note_trash(
  p_tenant uuid, p_user uuid, p_id uuid, p_base int, p_keep_days int, p_device text, p_event uuid)
RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  v_note notes;
  v_outcome note_outcome;
BEGIN
  SELECT * INTO v_note FROM notes WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  v_outcome := note_access(v_note, p_user, 'owner');
  IF v_outcome.outcome <> 'ok' THEN RETURN v_outcome; END IF;
  IF p_base IS NULL THEN RETURN note_rejected('invalid_request'); END IF;
  IF v_note.revision <> p_base THEN RETURN note_conflict(v_note); END IF;
  UPDATE notes SET deleted_at = clock_timestamp(), deleted_by = p_user,
         purge_at = CASE WHEN p_keep_days > 0 THEN clock_timestamp() + make_interval(days => p_keep_days) END
   WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO v_note;
  PERFORM note_advance(v_note, p_device);
  PERFORM note_event(v_note, p_event, 'note.trashed', p_user);
  RETURN note_written(v_note, p_user);
END $$;

CREATE FUNCTION note_restore(p_tenant uuid, p_user uuid, p_id uuid, p_device text, p_event uuid)
RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  v_note notes;
  v_outcome note_outcome;
BEGIN
  SELECT * INTO v_note FROM notes WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  v_outcome := note_access(v_note, p_user, 'owner', true);
  IF v_outcome.outcome <> 'ok' THEN RETURN v_outcome; END IF;
  IF v_note.deleted_at IS NOT NULL THEN
    UPDATE notes SET deleted_at = NULL, deleted_by = NULL, purge_at = NULL
     WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO v_note;
    PERFORM note_advance(v_note, p_device);
    PERFORM note_event(v_note, p_event, 'note.restored', p_user);
  END IF;
  RETURN note_written(v_note, p_user);
END $$;

-- Removes a note that the caller has locked. The feed of each member keeps a removal, the id is never used again, and stored
-- responses with the content are deleted.
CREATE FUNCTION note_remove(v_note notes, p_user uuid, p_event uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_advance(v_note, NULL);
  UPDATE note_members SET role = NULL, folder_id = NULL, trashed = false, gone = 'purged', gone_at = clock_timestamp()
   WHERE tenant_id = v_note.tenant_id AND note_id = v_note.id AND role IS NOT NULL;
  DELETE FROM notes WHERE tenant_id = v_note.tenant_id AND id = v_note.id;
  INSERT INTO purged_notes (tenant_id, note_id) VALUES (v_note.tenant_id, v_note.id);
  PERFORM forget_responses(v_note.tenant_id, v_note.id);
  PERFORM note_event(v_note, p_event, 'note.purged', p_user);
END $$;

CREATE FUNCTION note_purge(p_tenant uuid, p_user uuid, p_id uuid, p_event uuid) RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  v_note notes;
  v_outcome note_outcome;
BEGIN
  SELECT * INTO v_note FROM notes WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  v_outcome := note_access(v_note, p_user, 'owner', true);
  IF v_outcome.outcome <> 'ok' THEN RETURN v_outcome; END IF;
  IF v_note.deleted_at IS NULL THEN RETURN note_rejected('not_in_trash'); END IF;
  v_outcome := note_written(v_note, p_user);
  PERFORM note_remove(v_note, p_user, p_event);
  RETURN v_outcome;
END $$;

-- Purges notes whose time in the trash is over, oldest first; locked notes wait for the next run. Returns their number.
CREATE FUNCTION notes_purge_due(p_limit int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  v_due notes[];
  v_note notes;
BEGIN
  v_due := ARRAY(SELECT due FROM notes due WHERE due.purge_at <= now()
                  ORDER BY due.purge_at LIMIT p_limit FOR UPDATE SKIP LOCKED);
  -- Locks all heads at once, in the order of user ids. One note after another, a later note could need a head that precedes those
  -- already locked, while a concurrent writer holds it and waits for one of these: a deadlock.
  PERFORM FROM sync_heads head
    WHERE (head.tenant_id, head.user_id) IN (
      SELECT due.tenant_id, member_id FROM unnest(v_due) AS due, unnest(due.member_ids) AS member_id)
    ORDER BY head.user_id, head.tenant_id FOR UPDATE;
  FOREACH v_note IN ARRAY v_due LOOP
    PERFORM note_remove(v_note, v_note.deleted_by, gen_random_uuid());
  END LOOP;
  RETURN cardinality(v_due);
END $$;
