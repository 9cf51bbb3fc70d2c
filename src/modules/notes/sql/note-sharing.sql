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

-- Gives notes of one owner to another member, at most p_max (NULL: all). The former owner no longer sees them; share links end. The
-- rows of the notes and the heads of all members are locked, and the folders of the former owner belong to the new one: a note stays
-- in its folder, unless the new owner has placed it already. Returns the number of notes.
CREATE FUNCTION notes_transfer_batch(p_tenant uuid, p_from uuid, p_to uuid, p_actor uuid, p_max int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
  v_owned notes[];
  v_note notes;
  v_folder uuid;
  v_ids uuid[];
  v_roles note_role[];
BEGIN
  v_owned := ARRAY(SELECT owned FROM notes owned
                    WHERE owned.tenant_id = p_tenant AND owned.owner_id = p_from ORDER BY owned.id LIMIT p_max);
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
  IF cardinality(v_owned) = p_max THEN RETURN p_max; END IF;
  -- Notes of others, which the former owner had placed in folders that are now those of the new owner.
  PERFORM notes_move_batch(p_tenant, p_from, placed.folder_id, NULL, NULL) FROM (
    SELECT DISTINCT folder_id FROM note_members
     WHERE tenant_id = p_tenant AND user_id = p_from AND folder_id IS NOT NULL) AS placed;
  RETURN cardinality(v_owned);
END $$;
