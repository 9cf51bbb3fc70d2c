-- A note's head. Who may see it stands in the row itself (member_ids, member_roles), so that a writer who holds the row
-- reads the audience nowhere else (architecture, section 5). Roles: 3 owner, 2 editor, 1 viewer.
CREATE TABLE notes (
  tenant_id         uuid           NOT NULL,
  id                uuid           NOT NULL,
  owner_id          uuid           NOT NULL,
  title             text           NOT NULL,
  revision          int            NOT NULL,
  -- The revision whose row holds the current body: bodies are stored once.
  body_rev          int            NOT NULL,
  content_bytes     int            NOT NULL,
  labels            text[]         NOT NULL,
  links             jsonb          NOT NULL DEFAULT '[]',
  member_ids        uuid[]         NOT NULL,
  member_roles      smallint[]     NOT NULL,
  share_role        smallint,
  share_expires_at  timestamptz(3),
  share_created_at  timestamptz(3),
  share_version     int            NOT NULL DEFAULT 0,
  created_at        timestamptz(3) NOT NULL,
  updated_at        timestamptz(3) NOT NULL,
  updated_by        uuid           NOT NULL,
  updated_device    text,
  deleted_at        timestamptz(3),
  deleted_by        uuid,
  purge_at          timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  CHECK (cardinality(member_ids) = cardinality(member_roles))
) WITH (fillfactor = 70);
CREATE INDEX notes_purge_due ON notes (purge_at) WHERE purge_at IS NOT NULL;

-- History, and the bodies. content is null where the revision changed something else: its body is that of body_rev.
CREATE TABLE note_revisions (
  tenant_id   uuid           NOT NULL,
  note_id     uuid           NOT NULL,
  revision    int            NOT NULL,
  body_rev    int            NOT NULL,
  -- How content is kept: 0 as it is.
  enc         smallint       NOT NULL DEFAULT 0,
  content     text,
  title       text           NOT NULL,
  labels      text[]         NOT NULL,
  author_id   uuid           NOT NULL,
  device_id   text,
  bytes       int            NOT NULL,
  created_at  timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, note_id, revision),
  FOREIGN KEY (tenant_id, note_id) REFERENCES notes (tenant_id, id) ON DELETE CASCADE
);
-- lz4 reads and writes a body of a few kilobytes several times faster than the default; not every build has it.
DO $$ BEGIN
  ALTER TABLE note_revisions ALTER COLUMN content SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN
  NULL;
END $$;

-- One row per person who sees, or saw, a note: their list, their placement and their change feed.
CREATE TABLE note_members (
  tenant_id  uuid           NOT NULL,
  note_id    uuid           NOT NULL,
  user_id    uuid           NOT NULL,
  -- Null: no longer sees it; the row stays as the removal that the feed delivers.
  role       smallint,
  folder_id  uuid,
  seq        bigint         NOT NULL,
  listed_at  timestamptz(3) NOT NULL,
  trashed    boolean        NOT NULL DEFAULT false,
  -- Why it is gone: 1 unshared, 2 purged.
  gone       smallint,
  gone_at    timestamptz(3),
  PRIMARY KEY (tenant_id, note_id, user_id)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX note_members_feed ON note_members (tenant_id, user_id, seq);
CREATE INDEX note_members_list ON note_members (tenant_id, user_id, listed_at DESC, note_id DESC)
  WHERE role IS NOT NULL AND NOT trashed;
CREATE INDEX note_members_placed ON note_members (tenant_id, user_id, folder_id) WHERE folder_id IS NOT NULL;

CREATE FUNCTION rfc3339(t timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT to_char(t AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

-- The one shape of a note (spec 2.1), as seen by one member. Everything that answers with a note selects from here.
CREATE VIEW note_views AS
SELECT s.tenant_id, s.user_id, s.note_id, s.role, s.role_name, s.revision, s.summary,
       left(s.summary, -1) || ', "content" : ' || to_json(s.content)::text || '}' AS note
  FROM (
    SELECT m.tenant_id, m.user_id, m.note_id, m.role, n.revision, r.content,
           CASE m.role WHEN 3 THEN 'owner' WHEN 2 THEN 'editor' ELSE 'viewer' END AS role_name,
           json_build_object(
             'id', n.id,
             'title', n.title,
             'revision', n.revision,
             'folder_id', m.folder_id,
             'labels', n.labels,
             'links', n.links,
             'invited', CASE WHEN cardinality(n.member_ids) = 1 THEN '[]'::json ELSE (
               SELECT coalesce(json_agg(json_build_object(
                        'user_id', i.id, 'id', i.id, 'email', p.email, 'name', p.display_name,
                        'role', CASE i.role WHEN 2 THEN 'editor' ELSE 'viewer' END) ORDER BY i.n), '[]'::json)
                 FROM unnest(n.member_ids, n.member_roles) WITH ORDINALITY AS i (id, role, n)
                 LEFT JOIN tenant_members p ON p.tenant_id = n.tenant_id AND p.user_id = i.id
                WHERE i.role <> 3) END,
             'role', CASE m.role WHEN 3 THEN 'owner' WHEN 2 THEN 'editor' ELSE 'viewer' END,
             'owner', json_build_object('id', n.owner_id, 'name', o.display_name, 'email', o.email),
             'share', NULL,
             'created_at', rfc3339(n.created_at),
             'updated_at', rfc3339(n.updated_at),
             'updated_by', n.updated_by,
             'deleted', n.deleted_at IS NOT NULL,
             'deleted_at', rfc3339(n.deleted_at),
             'deleted_by', n.deleted_by,
             'purge_at', rfc3339(n.purge_at))::text AS summary
      FROM note_members m
      JOIN notes n ON n.tenant_id = m.tenant_id AND n.id = m.note_id
      JOIN note_revisions r ON r.tenant_id = n.tenant_id AND r.note_id = n.id AND r.revision = n.body_rev
      LEFT JOIN tenant_members o ON o.tenant_id = n.tenant_id AND o.user_id = n.owner_id
     WHERE m.role IS NOT NULL) s;

-- What every write of a note answers: an outcome, the revision it stands at, and JSON: the note when it was written, the
-- extra members of the error when it was refused.
CREATE TYPE note_outcome AS (outcome text, revision int, json text);

CREATE FUNCTION note_view(p_tenant uuid, p_user uuid, p_id uuid) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT note FROM note_views WHERE tenant_id = p_tenant AND user_id = p_user AND note_id = p_id);
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

CREATE FUNCTION note_event(n notes, p_event uuid, p_type text, p_user uuid) RETURNS void LANGUAGE sql AS $$
  INSERT INTO outbox (tenant_id, id, type, payload)
  VALUES (n.tenant_id, p_event, p_type, jsonb_build_object('note_id', n.id, 'revision', n.revision, 'actor_id', p_user));
$$;

CREATE FUNCTION note_refusal(n notes) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT json_build_object('note_id', n.id, 'revision', n.revision, 'title', n.title,
           'content', (SELECT content FROM note_revisions r
                        WHERE r.tenant_id = n.tenant_id AND r.note_id = n.id AND r.revision = n.body_rev),
           'updated_at', rfc3339(n.updated_at), 'updated_by', n.updated_by)::text
$$;

CREATE FUNCTION note_create(
  p_tenant uuid, p_user uuid, p_id uuid, p_title text, p_content text, p_labels text[], p_folder uuid, p_device text,
  p_event uuid) RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  n notes;
  v_now timestamptz(3) := clock_timestamp();
  v_head bigint;
BEGIN
  IF p_folder IS NOT NULL AND NOT EXISTS (
       SELECT FROM note_folders WHERE tenant_id = p_tenant AND id = p_folder AND owner_id = p_user AND gone_at IS NULL) THEN
    RETURN ('unknown_folder', NULL, NULL)::note_outcome;
  END IF;
  INSERT INTO notes (tenant_id, id, owner_id, title, revision, body_rev, content_bytes, labels, member_ids, member_roles,
                     created_at, updated_at, updated_by, updated_device)
  VALUES (p_tenant, p_id, p_user, p_title, 1, 1, octet_length(p_content), p_labels, ARRAY[p_user], ARRAY[3],
          v_now, v_now, p_user, p_device)
  ON CONFLICT DO NOTHING RETURNING * INTO n;
  IF NOT FOUND THEN
    RETURN ('already_exists', NULL, NULL)::note_outcome;
  END IF;
  INSERT INTO note_revisions (tenant_id, note_id, revision, body_rev, content, title, labels, author_id, device_id, bytes, created_at)
  VALUES (p_tenant, p_id, 1, 1, p_content, p_title, p_labels, p_user, p_device, octet_length(p_content), v_now);
  INSERT INTO sync_heads AS s (tenant_id, user_id, head) VALUES (p_tenant, p_user, 1)
  ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = s.head + 1 RETURNING head INTO v_head;
  INSERT INTO note_members (tenant_id, note_id, user_id, role, folder_id, seq, listed_at)
  VALUES (p_tenant, p_id, p_user, 3, p_folder, v_head, v_now)
  -- The id of a purged note may be used again: its removal in the feed becomes the new note.
  ON CONFLICT (tenant_id, note_id, user_id) DO UPDATE
    SET role = 3, folder_id = excluded.folder_id, seq = excluded.seq, listed_at = excluded.listed_at,
        trashed = false, gone = NULL, gone_at = NULL;
  PERFORM note_event(n, p_event, 'note.created', p_user);
  RETURN ('ok', 1, note_view(p_tenant, p_user, p_id))::note_outcome;
END $$;

-- p_base null: something about the request is wrong, so nothing may be written; but "not found", "forbidden" and
-- "deleted" are still answered first. A null field stays as it is.
CREATE FUNCTION note_update(
  p_tenant uuid, p_user uuid, p_id uuid, p_base int, p_title text, p_content text, p_labels text[],
  p_place boolean, p_folder uuid, p_device text, p_event uuid) RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  n notes;
  v_role smallint;
  v_old_content text;
  v_old_folder uuid;
  v_body boolean := false;
BEGIN
  SELECT * INTO n FROM notes WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  v_role := n.member_roles[array_position(n.member_ids, p_user)];
  IF v_role IS NULL THEN RETURN ('not_found', NULL, NULL)::note_outcome; END IF;
  IF v_role < 2 THEN RETURN ('forbidden', NULL, NULL)::note_outcome; END IF;
  IF n.deleted_at IS NOT NULL THEN
    RETURN ('deleted', n.revision, json_build_object('revision', n.revision, 'deleted_at', rfc3339(n.deleted_at))::text)::note_outcome;
  END IF;
  IF p_base IS NULL THEN RETURN ('unchecked', NULL, NULL)::note_outcome; END IF;
  IF p_place AND p_folder IS NOT NULL AND NOT EXISTS (
       SELECT FROM note_folders WHERE tenant_id = p_tenant AND id = p_folder AND owner_id = p_user AND gone_at IS NULL) THEN
    RETURN ('unknown_folder', NULL, NULL)::note_outcome;
  END IF;
  IF n.revision <> p_base THEN RETURN ('conflict', n.revision, note_refusal(n))::note_outcome; END IF;

  IF p_content IS NOT NULL THEN
    v_body := octet_length(p_content) <> n.content_bytes;
    IF NOT v_body THEN
      SELECT content INTO v_old_content FROM note_revisions
       WHERE tenant_id = p_tenant AND note_id = p_id AND revision = n.body_rev;
      v_body := v_old_content <> p_content;
    END IF;
  END IF;
  IF p_place THEN
    SELECT folder_id INTO v_old_folder FROM note_members WHERE tenant_id = p_tenant AND note_id = p_id AND user_id = p_user;
  END IF;
  IF NOT v_body AND coalesce(p_title, n.title) = n.title AND coalesce(p_labels, n.labels) = n.labels
     AND NOT (p_place AND v_old_folder IS DISTINCT FROM p_folder) THEN
    RETURN ('no_changes', n.revision, NULL)::note_outcome;
  END IF;

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
  IF p_place THEN
    UPDATE note_members SET folder_id = p_folder WHERE tenant_id = p_tenant AND note_id = p_id AND user_id = p_user;
  END IF;
  PERFORM note_event(n, p_event, 'note.updated', p_user);
  RETURN ('ok', n.revision, note_view(p_tenant, p_user, p_id))::note_outcome;
END $$;

CREATE FUNCTION note_trash(p_tenant uuid, p_user uuid, p_id uuid, p_base int, p_keep_days int, p_event uuid)
RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  n notes;
  v_role smallint;
BEGIN
  SELECT * INTO n FROM notes WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  v_role := n.member_roles[array_position(n.member_ids, p_user)];
  IF v_role IS NULL THEN RETURN ('not_found', NULL, NULL)::note_outcome; END IF;
  IF v_role < 3 THEN RETURN ('forbidden', NULL, NULL)::note_outcome; END IF;
  IF n.deleted_at IS NOT NULL THEN
    RETURN ('deleted', n.revision, json_build_object('revision', n.revision, 'deleted_at', rfc3339(n.deleted_at))::text)::note_outcome;
  END IF;
  IF p_base IS NULL THEN RETURN ('unchecked', NULL, NULL)::note_outcome; END IF;
  IF n.revision <> p_base THEN RETURN ('conflict', n.revision, note_refusal(n))::note_outcome; END IF;
  UPDATE notes SET deleted_at = clock_timestamp(), deleted_by = p_user,
         purge_at = CASE WHEN p_keep_days > 0 THEN clock_timestamp() + make_interval(days => p_keep_days) END
   WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO n;
  PERFORM note_advance(n);
  PERFORM note_event(n, p_event, 'note.trashed', p_user);
  RETURN ('ok', n.revision, note_view(p_tenant, p_user, p_id))::note_outcome;
END $$;

CREATE FUNCTION note_restore(p_tenant uuid, p_user uuid, p_id uuid, p_device text, p_event uuid)
RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  n notes;
  v_role smallint;
BEGIN
  SELECT * INTO n FROM notes WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  v_role := n.member_roles[array_position(n.member_ids, p_user)];
  IF v_role IS NULL THEN RETURN ('not_found', NULL, NULL)::note_outcome; END IF;
  IF v_role < 3 THEN RETURN ('forbidden', NULL, NULL)::note_outcome; END IF;
  IF n.deleted_at IS NOT NULL THEN
    UPDATE notes SET deleted_at = NULL, deleted_by = NULL, purge_at = NULL, updated_device = p_device
     WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO n;
    PERFORM note_advance(n);
    PERFORM note_event(n, p_event, 'note.restored', p_user);
  END IF;
  RETURN ('ok', n.revision, note_view(p_tenant, p_user, p_id))::note_outcome;
END $$;

CREATE FUNCTION note_purge(p_tenant uuid, p_user uuid, p_id uuid, p_event uuid)
RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  n notes;
  v_role smallint;
  v_json text;
BEGIN
  SELECT * INTO n FROM notes WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  v_role := n.member_roles[array_position(n.member_ids, p_user)];
  IF v_role IS NULL THEN RETURN ('not_found', NULL, NULL)::note_outcome; END IF;
  IF v_role < 3 THEN RETURN ('forbidden', NULL, NULL)::note_outcome; END IF;
  IF n.deleted_at IS NULL THEN RETURN ('not_in_trash', n.revision, NULL)::note_outcome; END IF;
  v_json := note_view(p_tenant, p_user, p_id);
  PERFORM note_advance(n);
  UPDATE note_members SET role = NULL, folder_id = NULL, gone = 2, gone_at = clock_timestamp()
   WHERE tenant_id = p_tenant AND note_id = p_id AND role IS NOT NULL;
  DELETE FROM notes WHERE tenant_id = p_tenant AND id = p_id;
  PERFORM note_event(n, p_event, 'note.purged', p_user);
  RETURN ('ok', n.revision, v_json)::note_outcome;
END $$;
