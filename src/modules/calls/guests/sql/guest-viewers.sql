-- Makes the owner of an address a viewer, after a check of the code. `p_input`: id, name, email, codes, token, session, address,
-- user_agent.
-- Outcomes: ok, exhausted, removed, and those of guest_rejection and guest_code_check.
CREATE FUNCTION guest_viewer_verify(p_tenant uuid, p_token bytea, p_input jsonb, p_seconds int, p_open boolean) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  invite guest_invite_states;
  guest guests;
  v_check jsonb;
  v_outcome text;
BEGIN
  PERFORM FROM external_invites WHERE tenant_id = p_tenant AND token_hash = p_token FOR UPDATE;
  SELECT * INTO invite FROM guest_invite(p_tenant, p_token);
  v_outcome := guest_rejection(invite, 'viewer');
  IF v_outcome IS NOT NULL THEN RETURN jsonb_build_object('outcome', v_outcome); END IF;
  v_check := guest_code_check(p_tenant, invite.id, 'livestream', p_input->>'email', guest_hashes(p_input->'codes'));
  IF v_check->>'outcome' <> 'ok' THEN RETURN v_check; END IF;
  SELECT * INTO guest FROM guests stored
   WHERE stored.tenant_id = p_tenant AND stored.invite_id = invite.id AND stored.email = p_input->>'email' ORDER BY stored.id LIMIT 1 FOR UPDATE;
  IF guest.state = 'removed' OR NOT guest_address_fits(invite, p_input->>'email', p_open) THEN
    RETURN jsonb_build_object('outcome', 'removed');
  END IF;
  IF guest.id IS NOT NULL THEN
    PERFORM guest_new_session(guest, decode(p_input->>'token', 'hex'), decode(p_input->>'session', 'hex'), p_seconds);
    UPDATE guests SET email_verified_at = now() WHERE tenant_id = p_tenant AND id = guest.id;
    RETURN guest_result('ok', guest);
  END IF;
  IF invite.uses >= invite.max_uses THEN RETURN jsonb_build_object('outcome', 'exhausted'); END IF;
  UPDATE external_invites SET uses = uses + 1 WHERE tenant_id = p_tenant AND id = invite.id;
  guest := guest_insert(invite, p_input->>'email', p_input, p_seconds, 'admitted');
  UPDATE guests SET email_verified_at = now() WHERE tenant_id = p_tenant AND id = guest.id;
  RETURN guest_result('ok', guest);
END $$;

-- Gives a viewer a place in the audience of a livestream. The row of the call is locked, so that the number of places is exact.
-- `p_session`: of a viewer, or null. `p_input`: as above, for a viewer without a session.
-- Outcomes: ok (with `is_new`), not_live, full, verification_required, exhausted, removed, and those of guest_rejection.
CREATE FUNCTION guest_viewer_join(p_tenant uuid, p_token bytea, p_session bytea, p_input jsonb, p_seconds int) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  invite guest_invite_states;
  guest guests;
  v_outcome text;
  v_is_new boolean;
BEGIN
  PERFORM FROM external_invites WHERE tenant_id = p_tenant AND token_hash = p_token FOR NO KEY UPDATE;
  SELECT * INTO invite FROM guest_invite(p_tenant, p_token);
  PERFORM FROM calls WHERE tenant_id = p_tenant AND id = invite.call_id FOR NO KEY UPDATE;
  SELECT * INTO invite FROM guest_invite(p_tenant, p_token);
  v_outcome := guest_rejection(invite, 'viewer');
  IF v_outcome IS NOT NULL THEN RETURN jsonb_build_object('outcome', v_outcome); END IF;
  SELECT * INTO guest FROM guests
   WHERE tenant_id = p_tenant AND session_hash = p_session AND invite_id = invite.id AND role = 'viewer'
     AND (session_expires_at > now() OR state = 'removed') FOR UPDATE;
  v_is_new := guest.id IS NULL;
  v_outcome := CASE WHEN v_is_new AND (invite.require_otp OR p_session IS NOT NULL) THEN 'verification_required'
                    WHEN guest.state = 'removed' OR NOT v_is_new AND NOT guest_is_allowed(invite, guest) THEN 'removed'
                    WHEN invite.call_state IS DISTINCT FROM 'live' OR invite.call_kind <> 'livestream' THEN 'not_live'
                    WHEN v_is_new AND invite.uses >= invite.max_uses THEN 'exhausted'
                    WHEN guest_places(p_tenant, invite.call_id, 'viewer', guest.id) >= invite.max_viewers THEN 'full' END;
  IF v_outcome IS NOT NULL THEN RETURN jsonb_build_object('outcome', v_outcome); END IF;
  IF v_is_new THEN
    UPDATE external_invites SET uses = uses + 1 WHERE tenant_id = p_tenant AND id = invite.id;
    guest := guest_insert(invite, NULL, p_input, p_seconds, 'in_session');
  ELSE
    UPDATE guests SET state = 'in_session', call_id = invite.call_id, active_at = now(), token_at = now(), updated_at = now()
     WHERE tenant_id = p_tenant AND id = guest.id RETURNING * INTO guest;
  END IF;
  RETURN guest_result('ok', guest) || jsonb_build_object('is_new', v_is_new);
END $$;

-- Times out guests without a connection: waiting guests after 10 minutes without a request, other guests after 15 minutes, viewers
-- after 150 seconds. Returns the guests; `was_waiting`: their approval has changed.
CREATE FUNCTION guest_time_out(p_limit int) RETURNS TABLE (tenant_id uuid, id uuid, was_waiting boolean) LANGUAGE sql AS $$
  UPDATE guests stored SET updated_at = now(), state = CASE WHEN due.state = 'waiting' THEN 'expired' ELSE 'left' END::guest_state
    FROM (SELECT guest.tenant_id, guest.id, guest.state FROM guests guest
           WHERE guest.state IN ('waiting', 'admitted', 'in_session') AND guest.active_at < now() - interval '150 seconds'
             AND CASE WHEN guest.state = 'waiting' THEN guest.active_at < now() - interval '10 minutes'
                      WHEN guest.role = 'guest' THEN guest.active_at < now() - interval '15 minutes'
                      ELSE guest.state = 'in_session' END
             AND NOT guest_is_connected(guest.tenant_id, guest.id)
           ORDER BY guest.active_at LIMIT p_limit FOR UPDATE SKIP LOCKED) due
   WHERE stored.tenant_id = due.tenant_id AND stored.id = due.id
  RETURNING stored.tenant_id, stored.id, due.state = 'waiting'
$$;
