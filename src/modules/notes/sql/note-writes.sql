-- Outcome of a write: its name, the current revision, and JSON: the note after a successful write, the further members of
-- the error after a rejected one.
CREATE TYPE note_outcome AS (outcome text, revision int, json text);

CREATE FUNCTION note_rejected(p_outcome text) RETURNS note_outcome LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (p_outcome, NULL, NULL)::note_outcome;
END $$;

CREATE FUNCTION note_deleted(v_note notes) RETURNS note_outcome LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ('deleted', v_note.revision, json_build_object(
    'revision', v_note.revision, 'deleted_at', rfc3339(v_note.deleted_at))::text)::note_outcome;
END $$;

-- Whether this member may write the note with at least this role: `ok`, or the rejection. p_in_trash: also in the trash.
CREATE FUNCTION note_access(v_note notes, p_user uuid, p_role note_role, p_in_trash boolean DEFAULT false)
RETURNS note_outcome LANGUAGE plpgsql STABLE AS $$
DECLARE
  c_role CONSTANT note_role := v_note.member_roles[array_position(v_note.member_ids, p_user)];
BEGIN
  IF c_role IS NULL THEN RETURN note_rejected('not_found'); END IF;
  IF c_role < p_role THEN RETURN note_rejected('forbidden'); END IF;
  IF v_note.deleted_at IS NOT NULL AND NOT p_in_trash THEN RETURN note_deleted(v_note); END IF;
  RETURN note_rejected('ok');
END $$;

CREATE FUNCTION note_conflict(v_note notes) RETURNS note_outcome LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ('conflict', v_note.revision, (
    SELECT json_build_object(
             'note_id', v_note.id, 'revision', v_note.revision, 'title', v_note.title, 'content', body.content,
             'updated_at', rfc3339(v_note.updated_at), 'updated_by', v_note.updated_by)::text
      FROM note_revisions body
     WHERE body.tenant_id = v_note.tenant_id AND body.note_id = v_note.id AND body.revision = v_note.body_rev
  ))::note_outcome;
END $$;

-- The note as this member sees it or, for a visitor with the share link, as the link shows it.
CREATE FUNCTION note_written(v_note notes, p_user uuid) RETURNS note_outcome LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_json text;
BEGIN
  SELECT note INTO v_json FROM note_views
   WHERE tenant_id = v_note.tenant_id AND user_id = p_user AND note_id = v_note.id;
  IF v_json IS NULL THEN
    SELECT note INTO v_json FROM shared_note_views WHERE tenant_id = v_note.tenant_id AND note_id = v_note.id;
  END IF;
  RETURN ('ok', v_note.revision, v_json)::note_outcome;
END $$;

-- The same for a writer that has the rows and the content: the view would read them again.
CREATE FUNCTION note_written_rows(v_note notes, v_member note_members, p_content text) RETURNS note_outcome
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_json text;
BEGIN
  SELECT note_member_json(v_note, v_member, (v_note.owner_id, owner.display_name, owner.email)::note_owner, p_content)
    INTO v_json
    FROM (VALUES (v_note.tenant_id, v_note.owner_id)) AS written (tenant_id, owner_id)
    LEFT JOIN member_profiles owner ON owner.tenant_id = written.tenant_id AND owner.user_id = written.owner_id;
  RETURN ('ok', v_note.revision, v_json)::note_outcome;
END $$;

-- Role that a share token gives; NULL for an invalid or expired token and for a deactivated owner.
CREATE FUNCTION note_link_role(v_note notes, p_token text) RETURNS note_role LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF p_token = v_note.share_token AND v_note.deleted_at IS NULL
     AND (v_note.share_expires_at IS NULL OR v_note.share_expires_at > clock_timestamp())
     AND EXISTS (SELECT FROM member_profiles
                  WHERE tenant_id = v_note.tenant_id AND user_id = v_note.owner_id AND status = 'active') THEN
    RETURN v_note.share_role;
  END IF;
  RETURN NULL;
END $$;

-- Gives every member of the note its next feed number. The caller holds the row lock of the note; heads are locked in the
-- order of user ids, member rows after them. p_device: the device that writes.
CREATE FUNCTION note_advance(v_note notes, p_device text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH heads AS (
    INSERT INTO sync_heads AS known (tenant_id, user_id, head)
    SELECT v_note.tenant_id, member_id, 1 FROM unnest(v_note.member_ids) AS member_id ORDER BY member_id
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = known.head + 1
    RETURNING known.user_id, known.head)
  UPDATE note_members member
     SET seq = heads.head, listed_at = v_note.updated_at, trashed = v_note.deleted_at IS NOT NULL, device_id = p_device
    FROM heads
   WHERE member.tenant_id = v_note.tenant_id AND member.note_id = v_note.id AND member.user_id = heads.user_id;
END $$;

-- @param p_head the number of the new note in the feed of its owner. @raises WB002 where the owner has too many notes
CREATE FUNCTION note_take_quota(v_note notes, p_head bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF items_need_count(v_note.tenant_id, v_note.owner_id, 'user.notes', p_head) THEN
    PERFORM items_counted(v_note.tenant_id, v_note.owner_id, 'user.notes', p_head, (
      SELECT count(*) FROM (
        SELECT FROM notes WHERE tenant_id = v_note.tenant_id AND owner_id = v_note.owner_id LIMIT row_quota('user.notes') + 1) owned));
  END IF;
END $$;

CREATE FUNCTION note_event(v_note notes, p_event uuid, p_type text, p_user uuid, p_more jsonb DEFAULT '{}')
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox (tenant_id, id, type, payload)
  VALUES (v_note.tenant_id, p_event, p_type,
          jsonb_build_object('note_id', v_note.id, 'revision', v_note.revision, 'actor_id', p_user) || p_more);
END $$;

CREATE FUNCTION note_folder_is_own(p_tenant uuid, p_user uuid, p_folder uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN p_folder IS NULL OR EXISTS (
    SELECT FROM live_note_folders WHERE tenant_id = p_tenant AND id = p_folder AND owner_id = p_user);
END $$;

-- Files the note in a folder of one member: only this member's feed number advances.
CREATE FUNCTION note_place(v_note notes, p_user uuid, p_folder uuid, p_device text) RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  v_head bigint := advance_head(v_note.tenant_id, p_user, 1);
BEGIN
  IF NOT note_folder_is_own(v_note.tenant_id, p_user, p_folder) THEN
    RAISE EXCEPTION 'unknown folder' USING ERRCODE = 'WS001';
  END IF;
  UPDATE note_members SET folder_id = p_folder, seq = v_head, device_id = p_device
   WHERE tenant_id = v_note.tenant_id AND note_id = v_note.id AND user_id = p_user;
  RETURN note_written(v_note, p_user);
END $$;
