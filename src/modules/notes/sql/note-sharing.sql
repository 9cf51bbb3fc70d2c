-- The share link: set (a new one, or other terms for the one there is), regenerate, or, with p_token null, revoke.
CREATE FUNCTION note_share(
  p_tenant uuid, p_user uuid, p_id uuid, p_action text, p_role smallint, p_expires timestamptz, p_token text, p_event uuid)
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
  IF p_action = 'unchecked' THEN RETURN note_refused('unchecked'); END IF;
  IF p_action = 'regenerate' AND n.share_token IS NULL THEN RETURN note_refused('not_shared'); END IF;
  IF p_action = 'revoke' AND n.share_token IS NULL THEN RETURN note_written(n, p_user); END IF;
  IF p_action = 'revoke' THEN
    UPDATE notes SET share_token = NULL, share_role = NULL, share_expires_at = NULL, share_created_at = NULL
     WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO n;
  ELSIF p_action = 'regenerate' THEN
    UPDATE notes SET share_token = p_token, share_created_at = clock_timestamp()
     WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO n;
  ELSE
    UPDATE notes SET share_token = coalesce(share_token, p_token), share_role = p_role, share_expires_at = p_expires,
           share_created_at = coalesce(share_created_at, clock_timestamp())
     WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO n;
  END IF;
  PERFORM note_advance(n);
  PERFORM note_event(n, p_event, 'note.shared', p_user);
  RETURN note_written(n, p_user);
END $$;

-- Replaces the whole list of invited people, in the order given; the owner in it is ignored. p_ids null: the body is wrong. Somebody who is invited
-- may only leave: give the list as it is, without themselves.
CREATE FUNCTION note_invite(p_tenant uuid, p_user uuid, p_id uuid, p_ids uuid[], p_roles smallint[], p_event uuid)
RETURNS note_outcome LANGUAGE plpgsql AS $$
DECLARE
  n notes;
  old notes;
  v_role smallint;
  v_answer note_outcome;
BEGIN
  SELECT * INTO n FROM notes WHERE tenant_id = p_tenant AND id = p_id FOR UPDATE;
  v_role := n.member_roles[array_position(n.member_ids, p_user)];
  IF v_role IS NULL THEN RETURN note_refused('not_found'); END IF;
  IF n.owner_id = ANY (p_ids) THEN
    SELECT coalesce(array_agg(u ORDER BY i), '{}'), coalesce(array_agg(r ORDER BY i), '{}') INTO p_ids, p_roles
      FROM unnest(p_ids, p_roles) WITH ORDINALITY AS m (u, r, i) WHERE u <> n.owner_id;
  END IF;
  IF v_role < 3 AND (p_ids IS NULL OR p_user = ANY (p_ids)
     OR NOT array_remove(array_remove(n.member_ids, p_user), n.owner_id) <@ p_ids
     OR NOT p_ids <@ n.member_ids) THEN
    RETURN note_refused('forbidden');
  END IF;
  IF n.deleted_at IS NOT NULL THEN RETURN note_deleted(n); END IF;
  IF p_ids IS NULL THEN RETURN note_refused('unchecked'); END IF;
  v_answer := note_written(n, p_user);
  old := n;
  IF v_role = 3 THEN
    n.member_ids := n.owner_id || p_ids;
    n.member_roles := 3::smallint || p_roles;
  ELSE
    SELECT array_agg(u ORDER BY i), array_agg(r ORDER BY i) INTO n.member_ids, n.member_roles
      FROM unnest(old.member_ids, old.member_roles) WITH ORDINALITY AS m (u, r, i) WHERE u <> p_user;
  END IF;
  IF n.member_ids = old.member_ids AND n.member_roles = old.member_roles THEN RETURN v_answer; END IF;
  UPDATE notes SET member_ids = n.member_ids, member_roles = n.member_roles WHERE tenant_id = p_tenant AND id = p_id;

  WITH audience AS (
    SELECT u, max(r) FILTER (WHERE now_in) AS r FROM (
      SELECT u, r, true AS now_in FROM unnest(n.member_ids, n.member_roles) AS m (u, r)
      UNION ALL SELECT u, NULL, false FROM unnest(old.member_ids) AS m (u)) x GROUP BY u),
  heads AS (
    INSERT INTO sync_heads AS s (tenant_id, user_id, head) SELECT p_tenant, u, 1 FROM audience ORDER BY u
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = s.head + 1 RETURNING s.user_id, s.head)
  INSERT INTO note_members AS m (tenant_id, note_id, user_id, role, seq, listed_at, since, gone, gone_at)
  SELECT p_tenant, p_id, h.user_id, a.r, h.head, n.updated_at, clock_timestamp(),
         CASE WHEN a.r IS NULL THEN 1 END, CASE WHEN a.r IS NULL THEN clock_timestamp() END
    FROM heads h JOIN audience a ON a.u = h.user_id
  ON CONFLICT (tenant_id, note_id, user_id) DO UPDATE SET
    role = excluded.role, seq = excluded.seq, gone = excluded.gone, gone_at = excluded.gone_at,
    folder_id = CASE WHEN excluded.role IS NULL OR m.role IS NULL THEN NULL ELSE m.folder_id END,
    listed_at = excluded.listed_at, trashed = false,
    since = CASE WHEN m.role IS NULL THEN excluded.since ELSE m.since END;
  PERFORM note_event(n, p_event, 'note.shared', p_user, jsonb_build_object(
    'added', (SELECT coalesce(jsonb_agg(u), '[]') FROM unnest(n.member_ids) u WHERE u <> ALL (old.member_ids)),
    'removed', (SELECT coalesce(jsonb_agg(u), '[]') FROM unnest(old.member_ids) u WHERE u <> ALL (n.member_ids))));
  IF v_role = 3 THEN v_answer := note_written(n, p_user); END IF;
  RETURN v_answer;
END $$;
