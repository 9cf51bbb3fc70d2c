-- Effects of deleting a folder on the notes in it. Each note of the caller gets its own feed number, allocated at once.

-- Files the notes of one folder in another one, at most p_max (NULL: all); p_to NULL: in none. The caller's head is locked.
-- @returns whether the folder is empty
CREATE FUNCTION notes_move_batch(p_tenant uuid, p_user uuid, p_from uuid, p_to uuid, p_max int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_ids constant uuid[] := ARRAY(
    SELECT note_id FROM note_members WHERE tenant_id = p_tenant AND user_id = p_user AND folder_id = p_from ORDER BY seq LIMIT p_max);
  v_count constant int := cardinality(v_ids);
  v_head bigint;
BEGIN
  IF v_count = 0 THEN RETURN true; END IF;
  UPDATE sync_heads SET head = head + v_count WHERE tenant_id = p_tenant AND user_id = p_user RETURNING head INTO v_head;
  UPDATE note_members member SET folder_id = p_to, seq = v_head - v_count + placed.position, device_id = NULL
    FROM unnest(v_ids) WITH ORDINALITY AS placed (note_id, position)
   WHERE member.tenant_id = p_tenant AND member.user_id = p_user AND member.note_id = placed.note_id;
  RETURN coalesce(v_count < p_max, true);
END $$;

-- Moves the caller's own notes in these folders to the trash, at most p_max (NULL: all), then takes other notes out of the folders.
-- Note rows are locked first, in the order of ids, then the heads of all their members, in the order of user ids.
-- @returns whether the folders are empty
CREATE FUNCTION notes_trash_batch(p_tenant uuid, p_user uuid, p_folders uuid[], p_keep_days int, p_max int) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_ids uuid[];
  v_is_last boolean;
  v_now timestamptz(3) := clock_timestamp();
BEGIN
  v_ids := ARRAY(SELECT note_id FROM note_members
                  WHERE tenant_id = p_tenant AND user_id = p_user AND role = 'owner' AND NOT trashed
                    AND folder_id = ANY (p_folders)
                  ORDER BY note_id LIMIT p_max);
  v_is_last := coalesce(cardinality(v_ids) < p_max, true);
  PERFORM FROM notes WHERE tenant_id = p_tenant AND id = ANY (v_ids) ORDER BY id FOR UPDATE;
  -- Reads the ids again under the lock, which an owner who moves the note takes too: a note that has left the folder is not trashed.
  v_ids := ARRAY(SELECT note.id FROM notes note
                   JOIN note_members member
                     ON member.tenant_id = p_tenant AND member.note_id = note.id AND member.user_id = p_user
                  WHERE note.tenant_id = p_tenant AND note.id = ANY (v_ids) AND note.deleted_at IS NULL
                    AND member.folder_id = ANY (p_folders));
  UPDATE notes SET deleted_at = v_now, deleted_by = p_user,
         purge_at = CASE WHEN p_keep_days > 0 THEN v_now + make_interval(days => p_keep_days) END
   WHERE tenant_id = p_tenant AND id = ANY (v_ids);

  -- One number for each member of each trashed note; the caller's other placements are numbered below.
  WITH touched AS (
    SELECT note.id AS note_id, member_id, note.updated_at,
           row_number() OVER (PARTITION BY member_id ORDER BY note.id) AS position
      FROM notes note, unnest(note.member_ids) AS member_id WHERE note.tenant_id = p_tenant AND note.id = ANY (v_ids)),
  counts AS (SELECT member_id, count(*) AS count FROM touched GROUP BY member_id),
  heads AS (
    INSERT INTO sync_heads AS known (tenant_id, user_id, head)
    SELECT p_tenant, member_id, count FROM counts ORDER BY member_id
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = known.head + excluded.head
    RETURNING known.user_id, known.head)
  UPDATE note_members member
     SET seq = heads.head - counts.count + touched.position, listed_at = touched.updated_at, trashed = true, device_id = NULL,
         folder_id = CASE WHEN member.user_id = p_user THEN NULL ELSE member.folder_id END
    FROM touched
    JOIN heads ON heads.user_id = touched.member_id
    JOIN counts ON counts.member_id = touched.member_id
   WHERE member.tenant_id = p_tenant AND member.note_id = touched.note_id AND member.user_id = touched.member_id;
  INSERT INTO outbox (tenant_id, id, type, payload)
  SELECT p_tenant, gen_random_uuid(), 'note.trashed',
         jsonb_build_object('note_id', id, 'revision', revision, 'actor_id', p_user)
    FROM notes WHERE tenant_id = p_tenant AND id = ANY (v_ids);

  IF NOT v_is_last THEN RETURN false; END IF;
  -- The lock of the caller's counter is the lock of the folder tree.
  PERFORM lock_heads(p_tenant, ARRAY[p_user]);
  IF EXISTS (SELECT FROM note_members WHERE tenant_id = p_tenant AND user_id = p_user AND role = 'owner' AND NOT trashed
                AND folder_id = ANY (p_folders)) THEN
    RAISE EXCEPTION 'a note was filed here meanwhile' USING ERRCODE = 'serialization_failure';
  END IF;
  FOR i IN 1 .. cardinality(p_folders) LOOP
    IF NOT notes_move_batch(p_tenant, p_user, p_folders[i], NULL, p_max) THEN RETURN false; END IF;
  END LOOP;
  RETURN true;
END $$;
