-- Functions that processes of release 0.1.0 call (CONTRIBUTING.md, "Change the schema"). Delete the file when a later release is
-- recorded.

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

-- JSON of a revision without its content. p_previous: the revision before it, NULL for the first.
CREATE FUNCTION note_revision_summary(entry note_revisions, p_previous note_revisions, p_author text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT json_build_object(
    'revision', entry.revision,
    'title', entry.title,
    'labels', entry.labels,
    'author', json_build_object('id', entry.author_id, 'name', p_author),
    'device_id', entry.device_id,
    'size', entry.bytes,
    'created_at', rfc3339(entry.created_at),
    'changed', array_remove(ARRAY[
      CASE WHEN p_previous.title IS DISTINCT FROM entry.title THEN 'title' END,
      CASE WHEN entry.body_rev = entry.revision THEN 'content' END,
      CASE WHEN p_previous.labels IS DISTINCT FROM entry.labels THEN 'labels' END], NULL))::text
$$;

-- Adds the content to the JSON of a revision.
CREATE FUNCTION note_revision_with_content(p_summary text, p_content text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT left(p_summary, -1) || ',"content":' || to_json(p_content)::text || '}' $$;

-- Stores the current revision of a note. p_content: stored when it differs from that of the revision before.
CREATE FUNCTION note_add_revision(v_note notes, p_device text, p_content text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO note_revisions (
    tenant_id, note_id, revision, body_rev, content, title, labels, author_id, device_id, bytes, created_at)
  VALUES (
    v_note.tenant_id, v_note.id, v_note.revision, v_note.body_rev,
    CASE WHEN v_note.body_rev = v_note.revision THEN p_content END,
    v_note.title, v_note.labels, v_note.updated_by, p_device, v_note.content_bytes, v_note.updated_at);
END $$;

-- p_fields: any of the client's fields, and `id` where the client chose it. The content is a parameter of its own: it would
-- be parsed as JSON on every write.
CREATE FUNCTION note_create(p_tenant uuid, p_user uuid, p_id uuid, p_fields jsonb, p_content text, p_event uuid)
RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  v_note notes;
  v_owner note_members;
  v_head bigint;
  v_device text := p_fields->>'device_id';
  v_folder uuid := p_fields->>'folder_id';
BEGIN
  v_note := jsonb_populate_record(NULL::notes, '{"title": "", "labels": [], "links": []}' || p_fields);
  v_note.tenant_id := p_tenant;
  v_note.id := p_id;
  v_note.owner_id := p_user;
  v_note.revision := 1;
  v_note.body_rev := 1;
  v_note.content_bytes := octet_length(p_content);
  v_note.member_ids := ARRAY[p_user];
  v_note.member_roles := ARRAY['owner']::note_role[];
  v_note.created_at := clock_timestamp();
  v_note.updated_at := v_note.created_at;
  v_note.updated_by := p_user;
  INSERT INTO notes VALUES (v_note.*) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN note_rejected('already_exists'); END IF;
  -- After the insert, which waits for a purge of the same id that is running.
  IF p_fields ? 'id' AND EXISTS (SELECT FROM purged_notes WHERE tenant_id = p_tenant AND note_id = p_id) THEN
    DELETE FROM notes WHERE tenant_id = p_tenant AND id = p_id;
    RETURN note_rejected('already_exists');
  END IF;
  PERFORM note_add_revision(v_note, v_device, p_content);
  v_head := advance_head(p_tenant, p_user, 1);
  PERFORM note_take_quota(v_note, v_head);
  -- Checked under the lock of the head, which the deletion of a folder takes too, so that the folder exists until the commit.
  IF NOT note_folder_is_own(p_tenant, p_user, v_folder) THEN
    RAISE EXCEPTION 'unknown folder' USING ERRCODE = 'WS001';
  END IF;
  INSERT INTO note_members (tenant_id, note_id, user_id, role, folder_id, seq, listed_at, since, device_id)
  VALUES (p_tenant, p_id, p_user, 'owner', v_folder, v_head, v_note.updated_at, v_note.updated_at, v_device)
  RETURNING * INTO v_owner;
  PERFORM note_event(v_note, p_event, 'note.created', p_user);
  RETURN note_written_rows(v_note, v_owner, p_content);
END $$;

-- p_patch: the fields to change; missing ones stay. p_content: NULL to keep it. p_base: NULL for an invalid request, which
-- is rejected after `not_found`, `forbidden` and `deleted`. p_token: token of a share link.
CREATE FUNCTION note_update(
  p_tenant uuid, p_user uuid, p_id uuid, p_base int, p_patch jsonb, p_content text, p_event uuid, p_token text)
RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  v_note notes;
  v_changed notes;
  v_row note_members;
  v_member note_role;
  v_role note_role;
  v_device text := p_patch->>'device_id';
  v_folder uuid := p_patch->>'folder_id';
  v_is_placed boolean := p_patch ? 'folder_id';
  v_is_moved boolean := false;
BEGIN
  SELECT * INTO v_note FROM notes WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  v_member := v_note.member_roles[array_position(v_note.member_ids, p_user)];
  v_role := v_member;
  IF p_token IS NOT NULL THEN v_role := greatest(v_member, note_link_role(v_note, p_token)); END IF;
  IF v_role IS NULL THEN RETURN note_rejected('not_found'); END IF;
  -- A viewer may only change the folder in which they file the note. Callers with the role of a share link read null as the folder:
  -- when they send this null back, it does not change the folder.
  IF v_role IS DISTINCT FROM v_member AND v_folder IS NULL THEN v_is_placed := false; END IF;
  IF v_role = 'viewer' AND (v_member IS NULL OR NOT v_is_placed OR p_content IS NOT NULL
                           OR p_patch - ARRAY['folder_id', 'device_id'] <> '{}')
     OR v_is_placed AND v_member IS NULL THEN
    RETURN note_rejected('forbidden');
  END IF;
  IF v_note.deleted_at IS NOT NULL THEN RETURN note_deleted(v_note); END IF;
  IF p_base IS NULL THEN RETURN note_rejected('invalid_request'); END IF;
  IF v_is_placed AND NOT note_folder_is_own(p_tenant, p_user, v_folder) THEN RETURN note_rejected('unknown_folder'); END IF;
  IF v_note.revision <> p_base THEN RETURN note_conflict(v_note); END IF;

  v_changed := v_note;
  IF p_patch <> '{}' THEN v_changed := jsonb_populate_record(v_note, p_patch); END IF;
  IF octet_length(p_content) <> v_note.content_bytes OR p_content <> (
       SELECT content FROM note_revisions
        WHERE tenant_id = p_tenant AND note_id = p_id AND revision = v_note.body_rev) THEN
    v_changed.body_rev := v_note.revision + 1;
    v_changed.content_bytes := octet_length(p_content);
  END IF;
  IF v_is_placed THEN
    SELECT folder_id IS DISTINCT FROM v_folder INTO v_is_moved FROM note_members
     WHERE tenant_id = p_tenant AND note_id = p_id AND user_id = p_user;
  END IF;
  IF v_changed = v_note THEN
    IF NOT v_is_moved THEN RETURN note_rejected('no_changes'); END IF;
    IF v_member <> 'owner' THEN RETURN note_place(v_note, p_user, v_folder, v_device); END IF;
  END IF;

  UPDATE notes SET
    title = v_changed.title, labels = v_changed.labels, revision = revision + 1,
    body_rev = v_changed.body_rev, content_bytes = v_changed.content_bytes,
    updated_at = greatest(clock_timestamp(), updated_at), updated_by = p_user
   WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO v_note;
  PERFORM note_add_revision(v_note, v_device, p_content);
  -- Old bodies of a long history are packed (adr/0050).
  IF v_note.revision % 100 = 0 THEN
    INSERT INTO note_history_due (tenant_id, note_id) VALUES (p_tenant, p_id) ON CONFLICT DO NOTHING;
  END IF;
  PERFORM note_advance(v_note, v_device);
  IF v_is_moved THEN
    IF NOT note_folder_is_own(p_tenant, p_user, v_folder) THEN
      RAISE EXCEPTION 'unknown folder' USING ERRCODE = 'WS001';
    END IF;
    UPDATE note_members SET folder_id = v_folder WHERE tenant_id = p_tenant AND note_id = p_id AND user_id = p_user;
  END IF;
  PERFORM note_event(v_note, p_event, 'note.updated', p_user);
  IF v_note.body_rev <> v_note.revision OR v_member IS NULL THEN RETURN note_written(v_note, p_user); END IF;
  SELECT * INTO v_row FROM note_members WHERE tenant_id = p_tenant AND note_id = p_id AND user_id = p_user;
  RETURN note_written_rows(v_note, v_row, p_content);
END $$;

-- Files the notes of one folder in another one; p_to NULL: in none. The caller's head is locked.
CREATE FUNCTION notes_move_folder(p_tenant uuid, p_user uuid, p_from uuid, p_to uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_ids constant uuid[] := ARRAY(
    SELECT note_id FROM note_members WHERE tenant_id = p_tenant AND user_id = p_user AND folder_id = p_from ORDER BY seq);
  v_count constant int := cardinality(v_ids);
  v_head bigint;
BEGIN
  IF v_count = 0 THEN RETURN; END IF;
  UPDATE sync_heads SET head = head + v_count WHERE tenant_id = p_tenant AND user_id = p_user RETURNING head INTO v_head;
  UPDATE note_members member SET folder_id = p_to, seq = v_head - v_count + placed.position, device_id = NULL
    FROM unnest(v_ids) WITH ORDINALITY AS placed (note_id, position)
   WHERE member.tenant_id = p_tenant AND member.user_id = p_user AND member.note_id = placed.note_id;
END $$;

-- Moves the caller's own notes in these folders to the trash, then takes other notes out of the folders.
-- Note rows are locked first, in the order of ids, then the heads of all their members, in the order of user ids.
CREATE FUNCTION notes_trash_folders(p_tenant uuid, p_user uuid, p_folders uuid[], p_keep_days int) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_ids uuid[];
  v_now timestamptz(3) := clock_timestamp();
BEGIN
  v_ids := ARRAY(SELECT note_id FROM note_members
                  WHERE tenant_id = p_tenant AND user_id = p_user AND role = 'owner' AND NOT trashed
                    AND folder_id = ANY (p_folders)
                  ORDER BY note_id);
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

  -- The lock of the caller's counter is the lock of the folder tree.
  PERFORM lock_heads(p_tenant, ARRAY[p_user]);
  IF EXISTS (SELECT FROM note_members WHERE tenant_id = p_tenant AND user_id = p_user AND role = 'owner' AND NOT trashed
                AND folder_id = ANY (p_folders)) THEN
    RAISE EXCEPTION 'a note was filed here meanwhile' USING ERRCODE = 'serialization_failure';
  END IF;
  FOR i IN 1 .. cardinality(p_folders) LOOP
    PERFORM notes_move_folder(p_tenant, p_user, p_folders[i], NULL);
  END LOOP;
END $$;

-- p_action: `set` (a new link, or other terms for the existing one), `regenerate`, `revoke`, or `invalid_request` for an
-- invalid body. p_terms: `role` and `expires_at` of `set`. p_token: the new token.
CREATE FUNCTION note_share(
  p_tenant uuid, p_user uuid, p_id uuid, p_action text, p_terms jsonb, p_token text, p_event uuid)
RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  v_note notes;
  v_outcome note_outcome;
BEGIN
  SELECT * INTO v_note FROM notes WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  v_outcome := note_access(v_note, p_user, 'owner');
  IF v_outcome.outcome <> 'ok' THEN RETURN v_outcome; END IF;
  IF p_action = 'invalid_request' THEN RETURN note_rejected('invalid_request'); END IF;
  IF p_action = 'regenerate' AND v_note.share_token IS NULL THEN RETURN note_rejected('not_shared'); END IF;
  IF p_action = 'revoke' AND v_note.share_token IS NULL THEN RETURN note_written(v_note, p_user); END IF;
  IF p_action = 'revoke' THEN
    UPDATE notes SET share_token = NULL, share_role = NULL, share_expires_at = NULL, share_created_at = NULL
     WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO v_note;
  ELSIF p_action = 'regenerate' THEN
    UPDATE notes SET share_token = p_token, share_created_at = clock_timestamp()
     WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO v_note;
  ELSE
    UPDATE notes SET share_token = coalesce(share_token, p_token), share_role = (p_terms->>'role')::note_role,
           share_expires_at = (p_terms->>'expires_at')::timestamptz,
           share_created_at = coalesce(share_created_at, clock_timestamp())
     WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO v_note;
  END IF;
  PERFORM note_advance(v_note, NULL);
  PERFORM note_event(v_note, p_event, 'note.shared', p_user);
  RETURN note_written(v_note, p_user);
END $$;

-- Replaces the members of a note that the caller has locked. p_ids begins with the owner. Removed members get a removal in their feed.
CREATE FUNCTION note_set_members(v_note notes, p_ids uuid[], p_roles note_role[], p_user uuid, p_event uuid)
RETURNS notes LANGUAGE plpgsql AS $$
DECLARE
  v_before uuid[] := v_note.member_ids;
BEGIN
  UPDATE notes SET owner_id = p_ids[1], member_ids = p_ids, member_roles = p_roles
   WHERE tenant_id = v_note.tenant_id AND id = v_note.id RETURNING * INTO v_note;
  WITH audience AS (
    SELECT member_id, max(member_role) AS member_role FROM (
      SELECT member_id, member_role FROM unnest(p_ids, p_roles) AS after (member_id, member_role)
      UNION ALL SELECT member_id, NULL FROM unnest(v_before) AS before (member_id)) AS both_lists GROUP BY member_id),
  heads AS (
    INSERT INTO sync_heads AS known (tenant_id, user_id, head)
    SELECT v_note.tenant_id, member_id, 1 FROM audience ORDER BY member_id
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = known.head + 1 RETURNING known.user_id, known.head)
  INSERT INTO note_members AS known (tenant_id, note_id, user_id, role, seq, listed_at, trashed, since, gone, gone_at)
  SELECT v_note.tenant_id, v_note.id, heads.user_id, audience.member_role, heads.head, v_note.updated_at,
         v_note.deleted_at IS NOT NULL AND audience.member_role IS NOT NULL, clock_timestamp(),
         CASE WHEN audience.member_role IS NULL THEN 'unshared'::note_removal END,
         CASE WHEN audience.member_role IS NULL THEN clock_timestamp() END
    FROM heads JOIN audience ON audience.member_id = heads.user_id
  ON CONFLICT (tenant_id, note_id, user_id) DO UPDATE SET
    role = excluded.role, seq = excluded.seq, gone = excluded.gone, gone_at = excluded.gone_at, device_id = NULL,
    folder_id = CASE WHEN excluded.role IS NULL OR known.role IS NULL THEN NULL ELSE known.folder_id END,
    listed_at = excluded.listed_at, trashed = excluded.trashed,
    since = CASE WHEN known.role IS NULL THEN excluded.since ELSE known.since END;
  -- The new owner after a transfer was not invited.
  PERFORM note_event(v_note, p_event, 'note.shared', p_user, jsonb_build_object(
    'added', (SELECT coalesce(jsonb_agg(id), '[]') FROM unnest(p_ids) AS id
               WHERE id <> ALL (v_before) AND id <> v_note.owner_id),
    'removed', (SELECT coalesce(jsonb_agg(id), '[]') FROM unnest(v_before) AS id WHERE id <> ALL (p_ids))));
  RETURN v_note;
END $$;

-- Replaces the list of invited members, in this order; the owner in it is ignored. p_ids NULL: an invalid body. An invited
-- member may only leave: the list as it is, without this member. New members must be active.
CREATE FUNCTION note_invite(p_tenant uuid, p_user uuid, p_id uuid, p_ids uuid[], p_roles note_role[], p_event uuid)
RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  v_note notes;
  v_role note_role;
  v_outcome note_outcome;
  v_inactive json;
BEGIN
  SELECT * INTO v_note FROM notes WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  v_role := v_note.member_roles[array_position(v_note.member_ids, p_user)];
  IF v_role IS NULL THEN RETURN note_rejected('not_found'); END IF;
  IF v_role <> 'owner' AND (p_ids IS NULL OR p_user = ANY (p_ids)
     OR NOT array_remove(array_remove(v_note.member_ids, p_user), v_note.owner_id) <@ p_ids
     OR NOT p_ids <@ v_note.member_ids) THEN
    RETURN note_rejected('forbidden');
  END IF;
  IF v_note.deleted_at IS NOT NULL THEN RETURN note_deleted(v_note); END IF;
  IF p_ids IS NULL THEN RETURN note_rejected('invalid_request'); END IF;
  v_inactive := inactive_members(p_tenant, p_ids, v_note.member_ids);
  IF v_inactive IS NOT NULL THEN RETURN ('unknown_user', NULL, v_inactive::text)::note_outcome; END IF;
  v_outcome := note_written(v_note, p_user);
  IF v_role = 'owner' THEN
    SELECT v_note.owner_id || coalesce(array_agg(id ORDER BY position), '{}'),
           'owner'::note_role || coalesce(array_agg(member_role ORDER BY position), '{}') INTO p_ids, p_roles
      FROM unnest(p_ids, p_roles) WITH ORDINALITY AS invited (id, member_role, position) WHERE id <> v_note.owner_id;
  ELSE
    SELECT array_agg(id ORDER BY position), array_agg(member_role ORDER BY position) INTO p_ids, p_roles
      FROM unnest(v_note.member_ids, v_note.member_roles) WITH ORDINALITY AS invited (id, member_role, position)
     WHERE id <> p_user;
  END IF;
  IF p_ids = v_note.member_ids AND p_roles = v_note.member_roles THEN RETURN v_outcome; END IF;
  v_note := note_set_members(v_note, p_ids, p_roles, p_user, p_event);
  IF v_role = 'owner' THEN v_outcome := note_written(v_note, p_user); END IF;
  RETURN v_outcome;
END $$;

-- Gives the notes of one owner to another member. The former owner no longer sees them; share links end. The
-- rows of the notes and the heads of all members are locked, and the folders of the former owner belong to the new one: a note stays
-- in its folder, unless the new owner has placed it already. Returns the number of notes.
CREATE FUNCTION notes_transfer(p_tenant uuid, p_from uuid, p_to uuid, p_actor uuid) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
  v_owned notes[];
  v_note notes;
  v_folder uuid;
  v_ids uuid[];
  v_roles note_role[];
BEGIN
  v_owned := ARRAY(SELECT owned FROM notes owned
                    WHERE owned.tenant_id = p_tenant AND owned.owner_id = p_from ORDER BY owned.id);
  FOREACH v_note IN ARRAY v_owned LOOP
    SELECT p_to || coalesce(array_agg(id ORDER BY position), '{}'),
           'owner'::note_role || coalesce(array_agg(member_role ORDER BY position), '{}') INTO v_ids, v_roles
      FROM unnest(v_note.member_ids, v_note.member_roles) WITH ORDINALITY AS invited (id, member_role, position)
     WHERE id <> ALL (ARRAY[p_from, p_to]);
    UPDATE notes SET share_token = NULL, share_role = NULL, share_expires_at = NULL, share_created_at = NULL
     WHERE tenant_id = p_tenant AND id = v_note.id AND share_token IS NOT NULL;
    SELECT folder_id INTO v_folder FROM note_members
     WHERE tenant_id = p_tenant AND note_id = v_note.id AND user_id = p_from;
    PERFORM note_set_members(v_note, v_ids, v_roles, p_actor, gen_random_uuid());
    UPDATE note_members SET folder_id = v_folder
     WHERE tenant_id = p_tenant AND note_id = v_note.id AND user_id = p_to AND folder_id IS NULL;
  END LOOP;
  -- Notes of others, which the former owner had placed in folders that are now those of the new owner.
  PERFORM notes_move_folder(p_tenant, p_from, placed.folder_id, NULL) FROM (
    SELECT DISTINCT folder_id FROM note_members
     WHERE tenant_id = p_tenant AND user_id = p_from AND folder_id IS NOT NULL) AS placed;
  RETURN cardinality(v_owned);
END $$;

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
