-- What happens to notes when a folder is deleted. Each row of the caller gets a number of its own, all allocated at once.

-- Files everything in one folder under another one, or under none.
CREATE FUNCTION notes_move_folder(p_tenant uuid, p_user uuid, p_from uuid, p_to uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_head bigint;
  v_count int;
BEGIN
  SELECT count(*) INTO v_count FROM note_members WHERE tenant_id = p_tenant AND user_id = p_user AND folder_id = p_from;
  IF v_count = 0 THEN RETURN; END IF;
  UPDATE sync_heads SET head = head + v_count WHERE tenant_id = p_tenant AND user_id = p_user RETURNING head INTO v_head;
  WITH placed AS (
    SELECT note_id, row_number() OVER (ORDER BY seq) AS n FROM note_members
     WHERE tenant_id = p_tenant AND user_id = p_user AND folder_id = p_from)
  UPDATE note_members m SET folder_id = p_to, seq = v_head - v_count + p.n
    FROM placed p WHERE m.tenant_id = p_tenant AND m.user_id = p_user AND m.note_id = p.note_id;
END $$;

-- Moves the caller's own notes in these folders to the trash; whatever else is filed there is taken out. Note rows are
-- locked first, in the order of ids, then the counters of everybody who sees them, in the order of user ids.
CREATE FUNCTION notes_trash_folders(p_tenant uuid, p_user uuid, p_folders uuid[], p_keep_days int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_ids uuid[];
  v_now timestamptz(3) := clock_timestamp();
BEGIN
  v_ids := ARRAY(SELECT note_id FROM note_members
                  WHERE tenant_id = p_tenant AND user_id = p_user AND role = 3 AND NOT trashed AND folder_id = ANY (p_folders));
  PERFORM FROM notes WHERE tenant_id = p_tenant AND id = ANY (v_ids) ORDER BY id FOR UPDATE;
  -- Looked at again under the lock, which moving a note of one's own takes too: one moved out meanwhile is spared.
  v_ids := ARRAY(SELECT n.id FROM notes n
                   JOIN note_members m ON m.tenant_id = p_tenant AND m.note_id = n.id AND m.user_id = p_user
                  WHERE n.tenant_id = p_tenant AND n.id = ANY (v_ids) AND n.deleted_at IS NULL AND m.folder_id = ANY (p_folders));
  UPDATE notes SET deleted_at = v_now, deleted_by = p_user,
         purge_at = CASE WHEN p_keep_days > 0 THEN v_now + make_interval(days => p_keep_days) END
   WHERE tenant_id = p_tenant AND id = ANY (v_ids);

  -- One number for each reader of each trashed note; the caller's other placements are numbered below.
  WITH touched AS (
    SELECT n.id AS note_id, u AS user_id, n.updated_at, row_number() OVER (PARTITION BY u ORDER BY n.id) AS i
      FROM notes n, unnest(n.member_ids) AS u WHERE n.tenant_id = p_tenant AND n.id = ANY (v_ids)),
  heads AS (
    INSERT INTO sync_heads AS s (tenant_id, user_id, head)
    SELECT p_tenant, user_id, count(*) FROM touched GROUP BY user_id ORDER BY user_id
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = s.head + excluded.head
    RETURNING s.user_id, s.head),
  counts AS (SELECT user_id, count(*) AS c FROM touched GROUP BY user_id)
  UPDATE note_members m SET seq = h.head - c.c + t.i, listed_at = t.updated_at, trashed = true,
         folder_id = CASE WHEN m.user_id = p_user THEN NULL ELSE m.folder_id END
    FROM touched t JOIN heads h ON h.user_id = t.user_id JOIN counts c ON c.user_id = t.user_id
   WHERE m.tenant_id = p_tenant AND m.note_id = t.note_id AND m.user_id = t.user_id;
  INSERT INTO outbox (tenant_id, id, type, payload)
  SELECT p_tenant, gen_random_uuid(), 'note.trashed', jsonb_build_object('note_id', id, 'revision', revision, 'actor_id', p_user)
    FROM notes WHERE tenant_id = p_tenant AND id = ANY (v_ids);

  -- The lock of the caller's counter is the lock of the folder tree.
  INSERT INTO sync_heads AS counter (tenant_id, user_id, head) VALUES (p_tenant, p_user, 0)
  ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = counter.head;
  IF EXISTS (SELECT FROM note_members WHERE tenant_id = p_tenant AND user_id = p_user AND role = 3 AND NOT trashed
                AND folder_id = ANY (p_folders)) THEN
    RAISE EXCEPTION 'a note was filed here meanwhile' USING ERRCODE = 'serialization_failure';
  END IF;
  FOR i IN 1 .. cardinality(p_folders) LOOP
    PERFORM notes_move_folder(p_tenant, p_user, p_folders[i], NULL);
  END LOOP;
END $$;
