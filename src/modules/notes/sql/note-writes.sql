-- What every write of a note answers: an outcome, the revision it stands at, and JSON: the note when it was written, the
-- extra members of the error when it was refused.
CREATE TYPE note_outcome AS (outcome text, revision int, json text);

CREATE FUNCTION note_refused(p_outcome text) RETURNS note_outcome LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (p_outcome, NULL, NULL)::note_outcome;
END $$;

CREATE FUNCTION note_deleted(n notes) RETURNS note_outcome LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ('deleted', n.revision, json_build_object('revision', n.revision, 'deleted_at', rfc3339(n.deleted_at))::text)::note_outcome;
END $$;

CREATE FUNCTION note_conflict(n notes) RETURNS note_outcome LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ('conflict', n.revision, (
    SELECT json_build_object('note_id', n.id, 'revision', n.revision, 'title', n.title, 'content', r.content,
             'updated_at', rfc3339(n.updated_at), 'updated_by', n.updated_by)::text
      FROM note_revisions r WHERE r.tenant_id = n.tenant_id AND r.note_id = n.id AND r.revision = n.body_rev))::note_outcome;
END $$;

-- The note as this member sees it, or, for somebody who has only the link, as the link shows it.
CREATE FUNCTION note_written(n notes, p_user uuid) RETURNS note_outcome LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_json text;
BEGIN
  SELECT note INTO v_json FROM note_views WHERE tenant_id = n.tenant_id AND user_id = p_user AND note_id = n.id;
  IF v_json IS NULL THEN
    SELECT note INTO v_json FROM shared_note_views WHERE tenant_id = n.tenant_id AND note_id = n.id;
  END IF;
  RETURN ('ok', n.revision, v_json)::note_outcome;
END $$;

-- Gives everyone who sees the note its next number. The caller holds the note's row lock; heads are locked in the order
-- of user ids, member rows only after them.
CREATE FUNCTION note_advance(n notes) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH heads AS (
    INSERT INTO sync_heads AS s (tenant_id, user_id, head)
    SELECT n.tenant_id, u, 1 FROM unnest(n.member_ids) AS u ORDER BY u
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = s.head + 1
    RETURNING s.user_id, s.head)
  UPDATE note_members m SET seq = h.head, listed_at = n.updated_at, trashed = n.deleted_at IS NOT NULL
    FROM heads h WHERE m.tenant_id = n.tenant_id AND m.note_id = n.id AND m.user_id = h.user_id;
END $$;

CREATE FUNCTION note_event(n notes, p_event uuid, p_type text, p_user uuid, p_more jsonb DEFAULT '{}')
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox (tenant_id, id, type, payload)
  VALUES (n.tenant_id, p_event, p_type,
          jsonb_build_object('note_id', n.id, 'revision', n.revision, 'actor_id', p_user) || p_more);
END $$;

CREATE FUNCTION note_folder_is_mine(p_tenant uuid, p_user uuid, p_folder uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN p_folder IS NULL OR EXISTS (
    SELECT FROM note_folders WHERE tenant_id = p_tenant AND id = p_folder AND owner_id = p_user AND gone_at IS NULL);
END $$;

CREATE FUNCTION note_create(
  p_tenant uuid, p_user uuid, p_id uuid, p_title text, p_content text, p_labels text[], p_folder uuid, p_device text,
  p_event uuid) RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  n notes;
  v_now timestamptz(3) := clock_timestamp();
  v_head bigint;
BEGIN
  INSERT INTO notes (tenant_id, id, owner_id, title, revision, body_rev, content_bytes, labels, member_ids, member_roles,
                     created_at, updated_at, updated_by, updated_device)
  VALUES (p_tenant, p_id, p_user, p_title, 1, 1, octet_length(p_content), p_labels, ARRAY[p_user], ARRAY[3],
          v_now, v_now, p_user, p_device)
  ON CONFLICT DO NOTHING RETURNING * INTO n;
  IF NOT FOUND THEN RETURN note_refused('already_exists'); END IF;
  INSERT INTO note_revisions (tenant_id, note_id, revision, body_rev, content, title, labels, author_id, device_id, bytes, created_at)
  VALUES (p_tenant, p_id, 1, 1, p_content, p_title, p_labels, p_user, p_device, octet_length(p_content), v_now);
  INSERT INTO sync_heads AS s (tenant_id, user_id, head) VALUES (p_tenant, p_user, 1)
  ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = s.head + 1 RETURNING head INTO v_head;
  -- Under the head's lock, which deleting a folder takes too: the folder cannot go away meanwhile.
  IF NOT note_folder_is_mine(p_tenant, p_user, p_folder) THEN
    RAISE EXCEPTION 'unknown folder' USING ERRCODE = 'WS001';
  END IF;
  INSERT INTO note_members (tenant_id, note_id, user_id, role, folder_id, seq, listed_at, since)
  VALUES (p_tenant, p_id, p_user, 3, p_folder, v_head, v_now, v_now)
  -- The id of a purged note may be used again: its removal in the feed becomes the new note.
  ON CONFLICT (tenant_id, note_id, user_id) DO UPDATE
    SET role = 3, folder_id = excluded.folder_id, seq = excluded.seq, listed_at = excluded.listed_at,
        trashed = false, since = excluded.since, gone = NULL, gone_at = NULL;
  PERFORM note_event(n, p_event, 'note.created', p_user);
  RETURN note_written(n, p_user);
END $$;

-- A member's own placement: only their number advances.
CREATE FUNCTION note_place(n notes, p_user uuid, p_folder uuid) RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  v_head bigint;
BEGIN
  INSERT INTO sync_heads AS s (tenant_id, user_id, head) VALUES (n.tenant_id, p_user, 1)
  ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = s.head + 1 RETURNING head INTO v_head;
  IF NOT note_folder_is_mine(n.tenant_id, p_user, p_folder) THEN
    RAISE EXCEPTION 'unknown folder' USING ERRCODE = 'WS001';
  END IF;
  UPDATE note_members SET folder_id = p_folder, seq = v_head
   WHERE tenant_id = n.tenant_id AND note_id = n.id AND user_id = p_user;
  RETURN note_written(n, p_user);
END $$;

-- p_base null: something about the request is wrong, so nothing may be written; but "not found", "forbidden" and
-- "deleted" are still answered first. A null field stays as it is.
CREATE FUNCTION note_update(
  p_tenant uuid, p_user uuid, p_id uuid, p_base int, p_title text, p_content text, p_labels text[],
  p_place boolean, p_folder uuid, p_device text, p_event uuid, p_token text) RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  n notes;
  v_member smallint;
  v_role smallint;
  v_old_folder uuid;
  v_body boolean := false;
  v_moved boolean := false;
  v_written boolean;
BEGIN
  SELECT * INTO n FROM notes WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  v_member := n.member_roles[array_position(n.member_ids, p_user)];
  v_role := v_member;
  IF p_token = n.share_token AND n.deleted_at IS NULL AND (n.share_expires_at IS NULL OR n.share_expires_at > clock_timestamp()) THEN
    v_role := greatest(v_role, n.share_role);
  END IF;
  IF v_role IS NULL THEN RETURN note_refused('not_found'); END IF;
  -- A viewer may file the note in a folder of their own and do nothing else; a visitor has no folders here.
  IF v_role < 2 AND (v_member IS NULL OR NOT p_place OR coalesce(p_title, p_content) IS NOT NULL OR p_labels IS NOT NULL)
     OR p_place AND v_member IS NULL THEN
    RETURN note_refused('forbidden');
  END IF;
  IF n.deleted_at IS NOT NULL THEN RETURN note_deleted(n); END IF;
  IF p_base IS NULL THEN RETURN note_refused('unchecked'); END IF;
  IF p_place AND NOT note_folder_is_mine(p_tenant, p_user, p_folder) THEN RETURN note_refused('unknown_folder'); END IF;
  IF n.revision <> p_base THEN RETURN note_conflict(n); END IF;

  IF p_content IS NOT NULL THEN
    v_body := octet_length(p_content) <> n.content_bytes OR p_content <> (
      SELECT content FROM note_revisions WHERE tenant_id = p_tenant AND note_id = p_id AND revision = n.body_rev);
  END IF;
  IF p_place THEN
    SELECT folder_id INTO v_old_folder FROM note_members WHERE tenant_id = p_tenant AND note_id = p_id AND user_id = p_user;
    v_moved := v_old_folder IS DISTINCT FROM p_folder;
  END IF;
  v_written := v_body OR coalesce(p_title, n.title) <> n.title OR coalesce(p_labels, n.labels) <> n.labels;
  IF NOT v_written AND NOT v_moved THEN RETURN note_refused('no_changes'); END IF;
  IF NOT v_written AND v_member < 3 THEN RETURN note_place(n, p_user, p_folder); END IF;

  UPDATE notes SET
    title = coalesce(p_title, title), labels = coalesce(p_labels, labels), revision = revision + 1,
    body_rev = CASE WHEN v_body THEN revision + 1 ELSE body_rev END,
    content_bytes = CASE WHEN v_body THEN octet_length(p_content) ELSE content_bytes END,
    updated_at = greatest(clock_timestamp(), updated_at), updated_by = p_user, updated_device = p_device
   WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO n;
  INSERT INTO note_revisions (tenant_id, note_id, revision, body_rev, content, title, labels, author_id, device_id, bytes, created_at)
  VALUES (p_tenant, p_id, n.revision, n.body_rev, CASE WHEN v_body THEN p_content END, n.title, n.labels, p_user, p_device,
          n.content_bytes, n.updated_at);
  PERFORM note_advance(n);
  IF v_moved THEN
    IF NOT note_folder_is_mine(p_tenant, p_user, p_folder) THEN
      RAISE EXCEPTION 'unknown folder' USING ERRCODE = 'WS001';
    END IF;
    UPDATE note_members SET folder_id = p_folder WHERE tenant_id = p_tenant AND note_id = p_id AND user_id = p_user;
  END IF;
  PERFORM note_event(n, p_event, 'note.updated', p_user);
  RETURN note_written(n, p_user);
END $$;

CREATE FUNCTION note_trash(p_tenant uuid, p_user uuid, p_id uuid, p_base int, p_keep_days int, p_event uuid)
RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  n notes;
  v_role smallint;
BEGIN
  SELECT * INTO n FROM notes WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  v_role := n.member_roles[array_position(n.member_ids, p_user)];
  IF v_role IS NULL THEN RETURN note_refused('not_found'); END IF;
  IF v_role < 3 THEN RETURN note_refused('forbidden'); END IF;
  IF n.deleted_at IS NOT NULL THEN RETURN note_deleted(n); END IF;
  IF p_base IS NULL THEN RETURN note_refused('unchecked'); END IF;
  IF n.revision <> p_base THEN RETURN note_conflict(n); END IF;
  UPDATE notes SET deleted_at = clock_timestamp(), deleted_by = p_user,
         purge_at = CASE WHEN p_keep_days > 0 THEN clock_timestamp() + make_interval(days => p_keep_days) END
   WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO n;
  PERFORM note_advance(n);
  PERFORM note_event(n, p_event, 'note.trashed', p_user);
  RETURN note_written(n, p_user);
END $$;

CREATE FUNCTION note_restore(p_tenant uuid, p_user uuid, p_id uuid, p_device text, p_event uuid)
RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  n notes;
  v_role smallint;
BEGIN
  SELECT * INTO n FROM notes WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  v_role := n.member_roles[array_position(n.member_ids, p_user)];
  IF v_role IS NULL THEN RETURN note_refused('not_found'); END IF;
  IF v_role < 3 THEN RETURN note_refused('forbidden'); END IF;
  IF n.deleted_at IS NOT NULL THEN
    UPDATE notes SET deleted_at = NULL, deleted_by = NULL, purge_at = NULL, updated_device = p_device
     WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO n;
    PERFORM note_advance(n);
    PERFORM note_event(n, p_event, 'note.restored', p_user);
  END IF;
  RETURN note_written(n, p_user);
END $$;

-- Removes a note that the caller has locked; its readers keep a removal each.
CREATE FUNCTION note_remove(n notes, p_user uuid, p_event uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_advance(n);
  UPDATE note_members SET role = NULL, folder_id = NULL, trashed = false, gone = 2, gone_at = clock_timestamp()
   WHERE tenant_id = n.tenant_id AND note_id = n.id AND role IS NOT NULL;
  DELETE FROM notes WHERE tenant_id = n.tenant_id AND id = n.id;
  PERFORM note_event(n, p_event, 'note.purged', p_user);
END $$;

CREATE FUNCTION note_purge(p_tenant uuid, p_user uuid, p_id uuid, p_event uuid) RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  n notes;
  v_role smallint;
  v_answer note_outcome;
BEGIN
  SELECT * INTO n FROM notes WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  v_role := n.member_roles[array_position(n.member_ids, p_user)];
  IF v_role IS NULL THEN RETURN note_refused('not_found'); END IF;
  IF v_role < 3 THEN RETURN note_refused('forbidden'); END IF;
  IF n.deleted_at IS NULL THEN RETURN note_refused('not_in_trash'); END IF;
  v_answer := note_written(n, p_user);
  PERFORM note_remove(n, p_user, p_event);
  RETURN v_answer;
END $$;

-- Purges notes whose time in the trash is over, oldest first; those somebody is writing to right now wait for the next
-- run. Answers how many.
CREATE FUNCTION notes_purge_due(p_limit int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  due notes[];
  n notes;
BEGIN
  due := ARRAY(SELECT d FROM notes d WHERE purge_at <= now() ORDER BY purge_at LIMIT p_limit FOR UPDATE SKIP LOCKED);
  -- The counters of everybody concerned at once, in the order of user ids: note by note, a later note could need one that
  -- comes before those already held, and a writer who holds it would wait for us while we wait for them.
  PERFORM FROM sync_heads h
    WHERE (h.tenant_id, h.user_id) IN (SELECT d.tenant_id, u FROM unnest(due) AS d, unnest(d.member_ids) AS u)
    ORDER BY h.user_id, h.tenant_id FOR UPDATE;
  FOREACH n IN ARRAY due LOOP
    PERFORM note_remove(n, n.deleted_by, gen_random_uuid());
  END LOOP;
  RETURN cardinality(due);
END $$;
