-- Stores a note as its rules (model/edit-rules.ts) decided: the row, a revision, feed numbers and the event, in one statement.
-- @param p_write
--   row      columns that change; all columns of a new note without its times
--   is_new   the note is created
--   folder   the caller's folder for the note, if that changes: one of their own, or null
--   assumed  what the rules have assumed without a lock, to be compared under it: `revision` of the note, and `roles`, of which the caller
--            has one. The note is not in the trash, and at least one field differs
--   event    id and type
--   device   name of the client device
-- @param p_content NULL to keep it. Equal contents are stored once
-- @returns `stored` with the note as the caller sees it, which is NULL for a visitor with a share link; `outdated`: nothing is stored,
--   because an assumption is wrong; `exists`: a note has or had the id. `head`: the number of the caller's feed, which the process
--   reports; NULL where notices report the numbers of all members. @raises WB002 where the owner has too many notes
-- A statement starts the executor, which takes longer than its work on one row, and so does a condition with a subquery, also where its
-- first part decides. So such conditions are nested, and a note of one member takes the short way.
-- Lines `notes create` and `notes update` of test/bench/platform/domains.bench.mjs: in a transaction that locks, decides and stores, an
-- update takes 46 % more processor time (2,642 us in place of 1,807, server with PostgreSQL).
CREATE FUNCTION note_store(p_tenant uuid, p_user uuid, p_id uuid, p_write jsonb, p_content text,
  OUT outcome text, OUT revision int, OUT note text, OUT head bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  c_assumed CONSTANT jsonb := p_write->'assumed';
  c_device CONSTANT text := p_write->>'device';
  c_folder CONSTANT uuid := p_write->>'folder';
  old notes;
  stored notes;
  v_member note_members;
  v_body text;
BEGIN
  outcome := 'outdated';
  IF c_folder IS NOT NULL THEN
    IF NOT EXISTS (SELECT FROM live_note_folders WHERE tenant_id = p_tenant AND id = c_folder AND owner_id = p_user) THEN
      RETURN;
    END IF;
  END IF;
  IF p_write ? 'is_new' THEN
    stored := jsonb_populate_record(NULL::notes, p_write->'row');
    stored.tenant_id := p_tenant;
    stored.id := p_id;
    stored.content_bytes := octet_length(p_content);
    stored.created_at := clock_timestamp();
    stored.updated_at := stored.created_at;
    INSERT INTO notes VALUES (stored.*) ON CONFLICT (tenant_id, id) DO NOTHING;
    -- The id of a purged note is looked up after the insertion, which waits for the purge.
    IF NOT FOUND OR EXISTS (SELECT FROM purged_notes purged WHERE purged.tenant_id = p_tenant AND purged.note_id = p_id) THEN
      IF FOUND THEN DELETE FROM notes WHERE tenant_id = p_tenant AND id = p_id; END IF;
      outcome := 'exists';
      RETURN;
    END IF;
    v_body := p_content;
  ELSE
    SELECT item.* INTO old FROM notes item WHERE item.tenant_id = p_tenant AND item.id = p_id FOR NO KEY UPDATE;
    stored := jsonb_populate_record(old, p_write->'row');
    IF p_content IS NULL OR octet_length(p_content) = old.content_bytes THEN
      SELECT body.content INTO v_body FROM note_revisions body
       WHERE body.tenant_id = p_tenant AND body.note_id = p_id AND body.revision = old.body_rev;
    END IF;
    IF p_content IS NOT NULL AND p_content IS DISTINCT FROM v_body THEN
      v_body := p_content;
      stored.body_rev := old.revision + 1;
      stored.content_bytes := octet_length(p_content);
    END IF;
    IF c_assumed IS NOT NULL AND (
         old.id IS NULL OR old.deleted_at IS NOT NULL OR stored = old OR old.revision <> (c_assumed->>'revision')::int
         OR NOT coalesce(c_assumed->'roles' ? old.member_roles[array_position(old.member_ids, p_user)]::text, false)) THEN
      RETURN;
    END IF;
    UPDATE notes SET
      title = stored.title, labels = stored.labels, revision = old.revision + 1, body_rev = stored.body_rev,
      content_bytes = stored.content_bytes, updated_at = greatest(clock_timestamp(), old.updated_at), updated_by = p_user
     WHERE tenant_id = p_tenant AND id = p_id RETURNING notes.* INTO stored;
    -- Old bodies of a long history are packed (adr/0050).
    IF stored.revision % 100 = 0 THEN
      INSERT INTO note_history_due (tenant_id, note_id) VALUES (p_tenant, p_id) ON CONFLICT DO NOTHING;
    END IF;
  END IF;
  INSERT INTO note_revisions (
    tenant_id, note_id, revision, body_rev, content, title, labels, author_id, device_id, bytes, created_at)
  VALUES (
    p_tenant, p_id, stored.revision, stored.body_rev, CASE WHEN stored.body_rev = stored.revision THEN p_content END,
    stored.title, stored.labels, p_user, c_device, stored.content_bytes, stored.updated_at);

  IF p_write ? 'is_new' THEN
    head := advance_head(p_tenant, p_user, 1, true);
    IF items_need_count(p_tenant, p_user, 'user.notes', head) THEN
      PERFORM items_counted(p_tenant, p_user, 'user.notes', head, (
        SELECT count(*) FROM (
          SELECT FROM notes WHERE tenant_id = p_tenant AND owner_id = p_user LIMIT row_quota('user.notes') + 1) owned));
    END IF;
    INSERT INTO note_members (tenant_id, note_id, user_id, role, folder_id, seq, listed_at, since, device_id)
    VALUES (p_tenant, p_id, p_user, 'owner', c_folder, head, stored.updated_at, stored.updated_at, c_device)
    RETURNING * INTO v_member;
  ELSIF stored.member_ids = ARRAY[p_user] THEN
    head := advance_head(p_tenant, p_user, 1, true);
    UPDATE note_members member SET
      seq = head, listed_at = stored.updated_at, device_id = c_device,
      folder_id = CASE WHEN p_write ? 'folder' THEN c_folder ELSE member.folder_id END
     WHERE member.tenant_id = p_tenant AND member.note_id = p_id AND member.user_id = p_user
    RETURNING member.* INTO v_member;
  ELSE
    -- Counters are locked in the order of user ids, rows of members after them.
    WITH heads AS (
      INSERT INTO sync_heads AS known (tenant_id, user_id, head)
      SELECT p_tenant, member_id, 1 FROM unnest(stored.member_ids) AS member_id ORDER BY member_id
      ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = known.head + 1
      RETURNING known.user_id, known.head)
    UPDATE note_members member SET
      seq = heads.head, listed_at = stored.updated_at, device_id = c_device,
      folder_id = CASE WHEN p_write ? 'folder' AND member.user_id = p_user THEN c_folder ELSE member.folder_id END
      FROM heads
     WHERE member.tenant_id = p_tenant AND member.note_id = p_id AND member.user_id = heads.user_id;
    SELECT member.* INTO v_member FROM note_members member
     WHERE member.tenant_id = p_tenant AND member.note_id = p_id AND member.user_id = p_user AND member.role IS NOT NULL;
  END IF;
  -- Under the lock of the counter, which the deletion of a folder takes too, so that the folder exists until the commit. The repeated
  -- transaction reads its absence.
  IF c_folder IS NOT NULL THEN
    IF NOT EXISTS (SELECT FROM live_note_folders WHERE tenant_id = p_tenant AND id = c_folder AND owner_id = p_user) THEN
      RAISE EXCEPTION 'the folder was deleted meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
  END IF;
  INSERT INTO outbox (tenant_id, id, type, payload)
  VALUES (p_tenant, (p_write#>>'{event,id}')::uuid, p_write#>>'{event,type}',
          jsonb_build_object('note_id', p_id, 'revision', stored.revision, 'actor_id', p_user));
  outcome := 'stored';
  revision := stored.revision;
  IF v_member.user_id IS NOT NULL THEN
    SELECT note_member_json(stored, v_member, (stored.owner_id, owner.display_name, owner.email)::note_owner, v_body) INTO note
      FROM (SELECT) AS always
      LEFT JOIN member_profiles owner ON owner.tenant_id = p_tenant AND owner.user_id = stored.owner_id;
  END IF;
END $$;

-- Stores edits of notes by a user in one statement, each as `note_store`: what is wrong with one of them does not concern the others. It waits
-- for no note: edits of one that another transaction has locked are outdated. The notes are locked before the counters of the members of
-- those that change, as every transaction does (lock order of docs/ARCHITECTURE.md).
-- @param p_writes, p_contents by edit, as for `note_store`; each has `assumed`
-- @param p_most_bytes of the notes that are returned: once there are more, further edits are outdated
-- @returns the results of `note_store`, in the order of the edits
-- Line `100 edits pushed` of test/bench/sdk/sync.bench.mjs.
CREATE FUNCTION note_store_all(
  p_tenant uuid, p_user uuid, p_ids uuid[], p_writes jsonb[], p_contents text[], p_most_bytes int)
RETURNS TABLE (outcome text, revision int, note text, head bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_locked uuid[];
  v_members uuid[];
  v_bytes bigint := 0;
BEGIN
  v_locked := ARRAY(
    SELECT item.id FROM notes item
     WHERE item.tenant_id = p_tenant AND item.id = ANY (p_ids) AND item.deleted_at IS NULL AND p_user = ANY (item.member_ids)
     ORDER BY item.id FOR NO KEY UPDATE SKIP LOCKED);
  -- An edit that `note_store` rejects changes no counter.
  v_members := ARRAY(
    SELECT DISTINCT member.id FROM notes item CROSS JOIN LATERAL unnest(item.member_ids) AS member (id)
     WHERE item.tenant_id = p_tenant AND item.id = ANY (v_locked) AND EXISTS (
       SELECT FROM unnest(p_ids, p_writes) AS edit (id, write)
        WHERE edit.id = item.id AND (edit.write#>>'{assumed,revision}')::int = item.revision
          AND edit.write#>'{assumed,roles}' ? item.member_roles[array_position(item.member_ids, p_user)]::text));
  -- A single counter is locked by the first edit.
  IF cardinality(v_members) > 1 THEN PERFORM lock_heads(p_tenant, v_members); END IF;
  FOR place IN 1 .. cardinality(p_ids) LOOP
    outcome := 'outdated';
    revision := NULL;
    note := NULL;
    head := NULL;
    IF p_ids[place] = ANY (v_locked) AND v_bytes <= p_most_bytes THEN
      SELECT stored.outcome, stored.revision, stored.note, stored.head INTO outcome, revision, note, head
        FROM note_store(p_tenant, p_user, p_ids[place], p_writes[place], p_contents[place]) stored;
      v_bytes := v_bytes + coalesce(octet_length(note), 0);
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
