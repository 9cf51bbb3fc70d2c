-- Every statement that lists the fields of a note: a new field is added here (docs/add-a-field.md).

CREATE TYPE note_owner AS (id uuid, name text, email text);

-- A note (spec 2.1), its members in the order of the JSON. PostgreSQL writes a row as JSON in half the time of
-- json_build_object. The content comes last, so that `note_summary` can cut it off.
CREATE TYPE note_json AS (
  id uuid, title text, revision int, folder_id uuid, labels text[], links json, invited json, role note_role,
  owner note_owner, share json, created_at text, updated_at text, updated_by uuid, updated_device text,
  deleted boolean, deleted_at text, deleted_by uuid, purge_at text, content text);

-- JSON of a note. PostgreSQL inlines it into the views.
CREATE FUNCTION note_json(
  note notes, p_role note_role, p_folder uuid, p_device text, p_links json, p_owner note_owner, p_invited json,
  p_content text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT to_json(ROW(
    note.id, note.title, note.revision, p_folder, note.labels, p_links, p_invited, p_role, p_owner,
    CASE WHEN p_role = 'owner' AND note.share_token IS NOT NULL THEN json_build_object(
      'url', '/apis/v1/notes/' || note.id || '?share_token=' || note.share_token,
      'token', note.share_token,
      'role', note.share_role,
      'expires_at', rfc3339(note.share_expires_at),
      'created_at', rfc3339(note.share_created_at)) END,
    rfc3339(note.created_at), rfc3339(note.updated_at), note.updated_by, p_device,
    note.deleted_at IS NOT NULL, rfc3339(note.deleted_at), note.deleted_by, rfc3339(note.purge_at),
    p_content)::note_json)::text
$$;

-- JSON of a note without its content. p_json: `note_json` with NULL as the content.
CREATE FUNCTION note_summary(p_json text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT left(p_json, -length(',"content":null}')) || '}' $$;

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
