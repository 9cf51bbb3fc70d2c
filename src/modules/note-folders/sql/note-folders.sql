-- One shape of a folder. Comes after the notes' tables: note_count reads the placements there.
CREATE VIEW note_folder_views AS
SELECT f.tenant_id, f.owner_id, f.id, f.parent_id, f.position, f.seq,
       json_build_object(
         'id', f.id,
         'name', f.name,
         'parent_id', f.parent_id,
         'position', f.position,
         'color', f.color,
         'note_count', (SELECT count(*) FROM note_members m
                         WHERE m.tenant_id = f.tenant_id AND m.user_id = f.owner_id AND m.folder_id = f.id
                           AND m.role IS NOT NULL AND NOT m.trashed),
         'revision', f.revision,
         'created_at', rfc3339(f.created_at),
         'updated_at', rfc3339(f.updated_at))::text AS folder
  FROM note_folders f WHERE f.gone_at IS NULL;

CREATE TYPE note_folder_outcome AS (outcome text, json text);

-- The counter's row lock is what makes changes of one person's tree follow one another: two moves cannot close a circle
-- between them. Taken before anything is looked at; counted up once something is written.
CREATE FUNCTION note_folder_lock(p_tenant uuid, p_user uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sync_heads AS s (tenant_id, user_id, head) VALUES (p_tenant, p_user, 0)
  ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = s.head;
END $$;

CREATE FUNCTION note_folder_next(p_tenant uuid, p_user uuid) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_head bigint;
BEGIN
  UPDATE sync_heads SET head = head + 1 WHERE tenant_id = p_tenant AND user_id = p_user RETURNING head INTO v_head;
  RETURN v_head;
END $$;

-- How deep a folder lies (1: at the top), and the folders above it, itself included.
CREATE FUNCTION note_folder_path(p_tenant uuid, p_user uuid, p_id uuid) RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    WITH RECURSIVE up AS (
      SELECT id, parent_id, 1 AS n FROM note_folders WHERE tenant_id = p_tenant AND owner_id = p_user AND id = p_id AND gone_at IS NULL
      UNION ALL
      SELECT f.id, f.parent_id, up.n + 1 FROM up
        JOIN note_folders f ON f.tenant_id = p_tenant AND f.owner_id = p_user AND f.id = up.parent_id AND f.gone_at IS NULL
       WHERE up.n < 64)
    SELECT coalesce(array_agg(id ORDER BY n), '{}') FROM up);
END $$;

CREATE FUNCTION note_folder_below(p_tenant uuid, p_user uuid, p_id uuid) RETURNS TABLE (id uuid, depth int) LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
    WITH RECURSIVE down AS (
      SELECT f.id, 1 AS depth FROM note_folders f
       WHERE f.tenant_id = p_tenant AND f.owner_id = p_user AND f.id = p_id AND f.gone_at IS NULL
      UNION ALL
      SELECT f.id, down.depth + 1 FROM down
        JOIN note_folders f ON f.tenant_id = p_tenant AND f.owner_id = p_user AND f.parent_id = down.id AND f.gone_at IS NULL
       WHERE down.depth < 64)
    SELECT down.id, down.depth FROM down;
END $$;

CREATE FUNCTION note_folder_written(p_tenant uuid, p_user uuid, p_id uuid) RETURNS note_folder_outcome LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ('ok', (SELECT folder FROM note_folder_views WHERE tenant_id = p_tenant AND owner_id = p_user AND id = p_id))::note_folder_outcome;
END $$;

CREATE FUNCTION note_folder_create(
  p_tenant uuid, p_user uuid, p_id uuid, p_name text, p_parent uuid, p_position double precision, p_color text,
  p_max_depth int, p_max_folders int) RETURNS note_folder_outcome LANGUAGE plpgsql AS $$
DECLARE
  v_depth int;
BEGIN
  PERFORM note_folder_lock(p_tenant, p_user);
  IF p_parent IS NOT NULL THEN
    v_depth := cardinality(note_folder_path(p_tenant, p_user, p_parent));
    IF v_depth = 0 THEN RETURN ('unknown_parent', NULL)::note_folder_outcome; END IF;
    IF v_depth >= p_max_depth THEN RETURN ('too_deep', NULL)::note_folder_outcome; END IF;
  END IF;
  IF (SELECT count(*) FROM note_folders WHERE tenant_id = p_tenant AND owner_id = p_user AND gone_at IS NULL) >= p_max_folders THEN
    RETURN ('too_many', NULL)::note_folder_outcome;
  END IF;
  IF EXISTS (SELECT FROM note_folders WHERE tenant_id = p_tenant AND id = p_id) THEN
    RETURN ('already_exists', NULL)::note_folder_outcome;
  END IF;
  INSERT INTO note_folders (tenant_id, id, owner_id, parent_id, name, color, position, seq, created_at, updated_at)
  VALUES (p_tenant, p_id, p_user, p_parent, p_name, p_color,
          coalesce(p_position, (SELECT coalesce(max(position), 0) + 1 FROM note_folders
                                 WHERE tenant_id = p_tenant AND owner_id = p_user AND gone_at IS NULL
                                   AND parent_id IS NOT DISTINCT FROM p_parent)),
          note_folder_next(p_tenant, p_user), clock_timestamp(), clock_timestamp())
  -- Somebody else in the workspace took this id at the same moment.
  ON CONFLICT (tenant_id, id) DO NOTHING;
  IF NOT FOUND THEN RETURN ('already_exists', NULL)::note_folder_outcome; END IF;
  RETURN note_folder_written(p_tenant, p_user, p_id);
END $$;

-- p_checked false: the body is wrong, and only "not found" comes before that. A null name stays; the other fields change
-- where their p_set_* says so.
CREATE FUNCTION note_folder_update(
  p_tenant uuid, p_user uuid, p_id uuid, p_checked boolean, p_name text, p_set_parent boolean, p_parent uuid,
  p_position double precision, p_set_color boolean, p_color text, p_max_depth int) RETURNS note_folder_outcome LANGUAGE plpgsql AS $$
DECLARE
  f note_folders;
  v_path uuid[];
  v_height int;
BEGIN
  -- Looked at twice, so that asking for somebody else's folder writes nothing.
  IF EXISTS (SELECT FROM note_folders WHERE tenant_id = p_tenant AND id = p_id AND owner_id = p_user) THEN
    PERFORM note_folder_lock(p_tenant, p_user);
  END IF;
  SELECT * INTO f FROM note_folders WHERE tenant_id = p_tenant AND id = p_id AND owner_id = p_user AND gone_at IS NULL;
  IF NOT FOUND THEN RETURN ('not_found', NULL)::note_folder_outcome; END IF;
  IF NOT p_checked THEN RETURN ('unchecked', NULL)::note_folder_outcome; END IF;
  IF NOT p_set_parent THEN p_parent := f.parent_id; END IF;
  IF NOT p_set_color THEN p_color := f.color; END IF;
  p_name := coalesce(p_name, f.name);
  p_position := coalesce(p_position, f.position);
  IF p_parent IS DISTINCT FROM f.parent_id AND p_parent IS NOT NULL THEN
    v_path := note_folder_path(p_tenant, p_user, p_parent);
    IF cardinality(v_path) = 0 THEN RETURN ('unknown_parent', NULL)::note_folder_outcome; END IF;
    IF p_id = ANY (v_path) THEN RETURN ('cycle', NULL)::note_folder_outcome; END IF;
    SELECT max(depth) INTO v_height FROM note_folder_below(p_tenant, p_user, p_id);
    IF cardinality(v_path) + v_height > p_max_depth THEN RETURN ('too_deep', NULL)::note_folder_outcome; END IF;
  END IF;
  IF (p_name, p_position) = (f.name, f.position) AND p_parent IS NOT DISTINCT FROM f.parent_id AND p_color IS NOT DISTINCT FROM f.color THEN
    RETURN ('no_changes', NULL)::note_folder_outcome;
  END IF;
  UPDATE note_folders SET name = p_name, parent_id = p_parent, position = p_position, color = p_color, revision = revision + 1,
         seq = note_folder_next(p_tenant, p_user), updated_at = clock_timestamp()
   WHERE tenant_id = p_tenant AND id = p_id;
  RETURN note_folder_written(p_tenant, p_user, p_id);
END $$;

-- Deletes a folder whose notes have been seen to. With p_below its subfolders go too; otherwise they move up to its parent.
-- p_expected: the folders whose notes were seen to; when the tree has changed since, everything is tried again.
CREATE FUNCTION note_folder_delete(p_tenant uuid, p_user uuid, p_id uuid, p_below boolean, p_expected uuid[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_parent uuid;
  v_now timestamptz(3) := clock_timestamp();
  v_id uuid;
BEGIN
  PERFORM note_folder_lock(p_tenant, p_user);
  SELECT parent_id INTO v_parent FROM note_folders WHERE tenant_id = p_tenant AND id = p_id AND owner_id = p_user AND gone_at IS NULL;
  IF NOT FOUND OR p_below AND NOT p_expected @> (SELECT array_agg(b.id) FROM note_folder_below(p_tenant, p_user, p_id) b) THEN
    RAISE EXCEPTION 'the folders have changed meanwhile' USING ERRCODE = 'serialization_failure';
  END IF;
  IF NOT p_below THEN
    FOR v_id IN SELECT id FROM note_folders WHERE tenant_id = p_tenant AND owner_id = p_user AND parent_id = p_id AND gone_at IS NULL LOOP
      UPDATE note_folders SET parent_id = v_parent, revision = revision + 1, seq = note_folder_next(p_tenant, p_user), updated_at = v_now
       WHERE tenant_id = p_tenant AND id = v_id;
    END LOOP;
  END IF;
  FOR v_id IN SELECT b.id FROM note_folder_below(p_tenant, p_user, p_id) b WHERE p_below OR b.id = p_id ORDER BY b.depth DESC LOOP
    UPDATE note_folders SET gone_at = v_now, seq = note_folder_next(p_tenant, p_user) WHERE tenant_id = p_tenant AND id = v_id;
  END LOOP;
END $$;
