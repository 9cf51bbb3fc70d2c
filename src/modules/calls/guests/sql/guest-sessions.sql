-- Lock order: invite -> call -> guest. Functions with queries are in PL/pgSQL, which keeps their plans.

CREATE FUNCTION guest_result(p_outcome text, guest guests) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN jsonb_build_object('outcome', p_outcome, 'id', guest.id, 'state', guest.state, 'name', guest.display_name,
                            'call_id', guest.call_id, 'requests', guest.requests, 'decided_at', guest.decided_at);
END $$;

-- Locks and returns the guest that a claim continues: the guest of a personal invite, or the one with the same verified address.
CREATE FUNCTION guest_known(invite guest_invite_states, p_email text) RETURNS guests LANGUAGE plpgsql AS $$
DECLARE guest guests;
BEGIN
  SELECT * INTO guest FROM guests stored
   WHERE stored.tenant_id = invite.tenant_id AND stored.invite_id = invite.id
     AND (invite.kind = 'personal' OR invite.require_otp AND stored.email = p_email)
   ORDER BY stored.id LIMIT 1 FOR UPDATE;
  RETURN guest;
END $$;

-- Gives a guest a new token and a new session. Earlier tokens are spent.
CREATE FUNCTION guest_new_session(guest guests, p_token bytea, p_session bytea, p_seconds int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO guest_spent_tokens (tenant_id, token_hash, guest_id) VALUES (guest.tenant_id, guest.token_hash, guest.id)
  ON CONFLICT DO NOTHING;
  UPDATE guests SET token_hash = p_token, session_hash = p_session, active_at = now(), updated_at = now(),
         session_expires_at = now() + make_interval(secs => p_seconds)
   WHERE tenant_id = guest.tenant_id AND id = guest.id;
END $$;

-- Makes the bearer of an invite a guest. `p_input`: id, name, email, codes, token, session, address (hexadecimal), user_agent.
-- Outcomes: ok (with `is_new`), and those of guest_rejection, guest_code_check, exhausted, removed, otp_required.
CREATE FUNCTION guest_claim(p_tenant uuid, p_token bytea, p_input jsonb, p_seconds int, p_open boolean) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  invite guest_invite_states;
  guest guests;
  v_email text;
  v_check jsonb;
  v_outcome text;
  v_address bytea := decode(p_input->>'address', 'hex');
BEGIN
  PERFORM FROM external_invites WHERE tenant_id = p_tenant AND (token_hash = p_token OR chat_token_hash = p_token) FOR UPDATE;
  SELECT * INTO invite FROM guest_invite(p_tenant, p_token);
  v_outcome := guest_rejection(invite, 'guest');
  IF v_outcome IS NOT NULL THEN RETURN jsonb_build_object('outcome', v_outcome); END IF;
  v_email := CASE WHEN invite.kind = 'personal' AND NOT invite.require_otp THEN invite.email ELSE p_input->>'email' END;
  IF invite.require_otp THEN
    IF v_email IS NULL OR p_input->'codes' = 'null' THEN RETURN jsonb_build_object('outcome', 'otp_required'); END IF;
    v_check := guest_code_check(p_tenant, invite.id, 'join', v_email, guest_hashes(p_input->'codes'));
    IF v_check->>'outcome' <> 'ok' THEN RETURN v_check; END IF;
  END IF;
  guest := guest_known(invite, v_email);
  IF guest.state = 'removed' OR v_email IS NOT NULL AND NOT guest_address_fits(invite, v_email, p_open) THEN
    RETURN jsonb_build_object('outcome', 'removed');
  END IF;
  IF guest.id IS NOT NULL AND invite.require_otp THEN RETURN guest_claim_again(invite, guest, p_input, p_seconds); END IF;
  IF invite.uses >= invite.max_uses OR guest.id IS NOT NULL THEN RETURN jsonb_build_object('outcome', 'exhausted'); END IF;
  UPDATE external_invites SET uses = uses + 1 WHERE tenant_id = p_tenant AND id = invite.id;
  guest := guest_insert(invite, v_email, p_input, p_seconds, CASE WHEN invite.require_approval OR EXISTS (
    -- A removed guest without an address could claim the invite again, so a host decides about the next claims from this network.
    SELECT FROM guests removed
     WHERE removed.tenant_id = p_tenant AND removed.invite_id = invite.id AND removed.state IN ('removed', 'denied')
       AND removed.address_hash = v_address) THEN 'waiting' ELSE 'admitted' END::guest_state);
  RETURN guest_result('ok', guest) || jsonb_build_object('is_new', guest.state = 'waiting');
END $$;

CREATE FUNCTION guest_hashes(p_hashes jsonb) RETURNS bytea[] LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (SELECT coalesce(array_agg(decode(hash, 'hex')), '{}') FROM jsonb_array_elements_text(p_hashes) AS given (hash));
END $$;

CREATE FUNCTION guest_insert(invite guest_invite_states, p_email text, p_input jsonb, p_seconds int, p_state guest_state) RETURNS guests LANGUAGE sql AS $$
  INSERT INTO guests (tenant_id, id, invite_id, call_id, room_id, role, state, display_name, email, email_verified_at, token_hash,
                      session_hash, session_expires_at, waiting_since, admitted_seq, address_hash, user_agent, token_at)
  SELECT invite.tenant_id, (p_input->>'id')::uuid, invite.id, invite.call_id, invite.room_id, invite.role, p_state,
         p_input->>'name', p_email, CASE WHEN invite.require_otp THEN now() END, decode(p_input->>'token', 'hex'),
         decode(p_input->>'session', 'hex'), now() + make_interval(secs => p_seconds),
         CASE WHEN p_state = 'waiting' THEN now() END, CASE WHEN p_state <> 'waiting' THEN invite.last_seq END,
         decode(p_input->>'address', 'hex'), p_input->>'user_agent', CASE WHEN p_state = 'in_session' THEN now() END
  RETURNING *
$$;

-- Continues a guest who has proved the address again, on this or another device. The earlier session ends.
CREATE FUNCTION guest_claim_again(invite guest_invite_states, guest guests, p_input jsonb, p_seconds int) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE v_is_new boolean := guest.state = 'expired';
BEGIN
  PERFORM guest_new_session(guest, decode(p_input->>'token', 'hex'), decode(p_input->>'session', 'hex'), p_seconds);
  UPDATE guests stored SET display_name = p_input->>'name', email_verified_at = now(),
         state = CASE WHEN v_is_new THEN 'waiting' ELSE stored.state END,
         waiting_since = CASE WHEN v_is_new THEN now() ELSE stored.waiting_since END
   WHERE stored.tenant_id = guest.tenant_id AND stored.id = guest.id RETURNING * INTO guest;
  RETURN guest_result('ok', guest) || jsonb_build_object('is_new', v_is_new);
END $$;

-- Replaces the token and the session of a guest. A spent token ends all sessions of its guest.
-- Outcomes: ok, reused, invalid, removed, not_found, revoked, expired.
CREATE FUNCTION guest_rotate(p_tenant uuid, p_token bytea, p_guest_token bytea, p_new_token bytea, p_session bytea, p_seconds int) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  invite guest_invite_states;
  guest guests;
BEGIN
  SELECT * INTO invite FROM guest_invite(p_tenant, p_token);
  IF invite.id IS NULL THEN RETURN jsonb_build_object('outcome', 'not_found'); END IF;
  IF invite.state IN ('revoked', 'expired') THEN RETURN jsonb_build_object('outcome', invite.state); END IF;
  SELECT * INTO guest FROM guests
   WHERE tenant_id = p_tenant AND token_hash = p_guest_token AND invite_id = invite.id AND role = 'guest' FOR UPDATE;
  IF NOT FOUND THEN
    -- No token has this hash, so no token is valid until the next claim.
    UPDATE guests SET token_hash = sha256(convert_to(guests.id || ' ' || clock_timestamp(), 'UTF8')), session_hash = NULL,
           session_expires_at = NULL, updated_at = now(), state = CASE state WHEN 'in_session' THEN 'left' ELSE state END
      FROM guest_spent_tokens spent
     WHERE spent.tenant_id = p_tenant AND spent.token_hash = p_guest_token
       AND guests.tenant_id = p_tenant AND guests.id = spent.guest_id AND guests.invite_id = invite.id
    RETURNING guests.* INTO guest;
    RETURN CASE WHEN guest.id IS NULL THEN jsonb_build_object('outcome', 'invalid') ELSE guest_result('reused', guest) END;
  END IF;
  IF guest.state = 'removed' THEN RETURN jsonb_build_object('outcome', 'removed'); END IF;
  PERFORM guest_new_session(guest, p_new_token, p_session, p_seconds);
  RETURN guest_result('ok', guest);
END $$;

-- Whether a guest is connected to a call at the media server.
CREATE FUNCTION guest_is_connected(p_tenant uuid, p_guest uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM call_participants
    WHERE tenant_id = p_tenant AND principal_id = p_guest AND principal_kind <> 'user' AND left_at IS NULL);
END $$;

-- Number of guests or viewers with a place in a call, except p_except. A guest has a place for 150 s after the issue of a token, and
-- while connected.
CREATE FUNCTION guest_places(p_tenant uuid, p_call uuid, p_role guest_role, p_except uuid) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT count(*)::int FROM guests guest
   WHERE guest.tenant_id = p_tenant AND guest.call_id = p_call AND guest.role = p_role AND guest.state = 'in_session'
     AND guest.id IS DISTINCT FROM p_except
     AND (guest.token_at > now() - interval '150 seconds' OR guest_is_connected(p_tenant, guest.id)));
END $$;

-- Whether a guest may get a token of the call now. Waiting and denied guests may return to the queue.
-- Outcomes: ok, waiting (with `is_new`), denied, removed, no_session, not_live, full, chat_only, and those of guest_rejection.
CREATE FUNCTION guest_enter(p_tenant uuid, p_token bytea, p_session bytea) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  invite guest_invite_states;
  guest guests;
  v_outcome text;
BEGIN
  SELECT * INTO invite FROM guest_invite(p_tenant, p_token);
  PERFORM FROM calls WHERE tenant_id = p_tenant AND id = invite.call_id FOR NO KEY UPDATE;
  SELECT * INTO invite FROM guest_invite(p_tenant, p_token);
  v_outcome := CASE WHEN invite.state IN ('revoked', 'expired') OR invite.id IS NULL THEN guest_rejection(invite, 'guest') END;
  IF v_outcome IS NOT NULL THEN RETURN jsonb_build_object('outcome', v_outcome); END IF;
  SELECT * INTO guest FROM guests
   WHERE tenant_id = p_tenant AND session_hash = p_session AND invite_id = invite.id AND role = 'guest'
     AND (session_expires_at > now() OR state = 'removed') FOR UPDATE;
  v_outcome := CASE WHEN guest.id IS NULL THEN 'no_session'
                    WHEN guest.state = 'removed' OR NOT guest_is_allowed(invite, guest) THEN 'removed'
                    WHEN invite.chat_token_hash = p_token THEN 'chat_only'
                    WHEN guest.state IN ('waiting', 'expired', 'denied') THEN 'queue'
                    ELSE coalesce(guest_rejection(invite, 'guest'),
                      CASE WHEN invite.call_state IS DISTINCT FROM 'live' THEN 'not_live'
                           WHEN guest_places(p_tenant, invite.call_id, 'guest', guest.id) >= invite.max_guests THEN 'full' END) END;
  IF v_outcome = 'queue' THEN RETURN guest_queue(guest); END IF;
  IF v_outcome IS NOT NULL THEN RETURN guest_result(v_outcome, guest); END IF;
  UPDATE guests SET state = 'in_session', call_id = invite.call_id, active_at = now(), token_at = now(), updated_at = now()
   WHERE tenant_id = p_tenant AND id = guest.id RETURNING * INTO guest;
  RETURN guest_result('ok', guest);
END $$;

-- Bans of a call apply to addresses and to guests, also with other invites.
CREATE FUNCTION guest_is_allowed(invite guest_invite_states, guest guests) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN NOT EXISTS (
    SELECT FROM call_bans ban WHERE ban.tenant_id = invite.tenant_id AND ban.call_id = invite.call_id
       AND ban.subject IN ('guest:' || guest.id, 'email:' || guest.email));
END $$;

-- Puts a guest into the queue. An expired guest waits again; a denied guest may do so after 60 s, at most three times.
CREATE FUNCTION guest_queue(guest guests) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE v_is_new boolean := guest.state <> 'waiting';
BEGIN
  IF guest.state = 'denied' AND (guest.requests >= 3 OR guest.decided_at > now() - interval '60 seconds') THEN
    RETURN guest_result('denied', guest);
  END IF;
  UPDATE guests stored SET state = 'waiting', active_at = now(), updated_at = now(),
         requests = stored.requests + CASE WHEN stored.state = 'denied' THEN 1 ELSE 0 END,
         waiting_since = CASE WHEN v_is_new THEN now() ELSE stored.waiting_since END
   WHERE stored.tenant_id = guest.tenant_id AND stored.id = guest.id RETURNING * INTO guest;
  RETURN guest_result('waiting', guest) || jsonb_build_object('is_new', v_is_new);
END $$;

-- Ends the session of a guest. A waiting guest leaves the queue.
CREATE FUNCTION guest_leave(p_tenant uuid, p_token bytea, p_session bytea) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  invite guest_invite_states;
  v_before guest_state;
  guest guests;
BEGIN
  SELECT * INTO invite FROM guest_invite(p_tenant, p_token);
  IF invite.id IS NULL THEN RETURN jsonb_build_object('outcome', 'not_found'); END IF;
  SELECT state INTO v_before FROM guests
   WHERE tenant_id = p_tenant AND session_hash = p_session AND invite_id = invite.id FOR UPDATE;
  UPDATE guests SET session_expires_at = least(session_expires_at, now()), updated_at = now(),
         state = CASE WHEN state IN ('admitted', 'in_session') THEN 'left' WHEN state = 'waiting' THEN 'expired' ELSE state END
   WHERE tenant_id = p_tenant AND session_hash = p_session AND invite_id = invite.id RETURNING * INTO guest;
  RETURN guest_result('ok', guest) || jsonb_build_object('before', v_before, 'role', guest.role);
END $$;

-- Locks the guest of a session for a write to the chat, and records that the guest is present.
-- Outcomes: ok (with the place in the room), no_session, waiting, denied, removed, chat_not_allowed, not_found, revoked, expired.
CREATE FUNCTION guest_chat(p_tenant uuid, p_token bytea, p_session bytea, p_bytes bigint, p_max_bytes bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  invite guest_invite_states;
  guest guests;
  v_outcome text;
BEGIN
  SELECT * INTO invite FROM guest_invite(p_tenant, p_token);
  SELECT * INTO guest FROM guests
   WHERE tenant_id = p_tenant AND session_hash = p_session AND invite_id = invite.id FOR UPDATE;
  v_outcome := guest_chat_rejection(invite, guest);
  IF v_outcome IS NULL AND guest.upload_bytes + p_bytes > p_max_bytes THEN v_outcome := 'quota'; END IF;
  IF v_outcome IS NOT NULL THEN RETURN jsonb_build_object('outcome', v_outcome); END IF;
  UPDATE guests SET upload_bytes = upload_bytes + p_bytes, active_at = now(), state = 'in_session'
   WHERE tenant_id = p_tenant AND id = guest.id;
  RETURN guest_result('ok', guest) || jsonb_build_object('room_id', invite.room_id, 'after_seq', guest.admitted_seq);
END $$;

CREATE FUNCTION guest_chat_rejection(invite guest_invite_states, guest guests) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN invite.id IS NULL THEN 'not_found'
              WHEN invite.state IN ('revoked', 'expired') THEN invite.state
              WHEN guest.id IS NULL OR guest.state <> 'removed' AND (guest.session_expires_at > now()) IS NOT TRUE THEN 'no_session'
              WHEN guest.state = 'removed' OR NOT guest_is_allowed(invite, guest) THEN 'removed'
              WHEN guest.state = 'denied' THEN 'denied'
              WHEN guest.state IN ('waiting', 'expired') THEN 'waiting'
              WHEN guest.role <> 'guest' OR NOT invite.chat_allowed OR guest.admitted_seq IS NULL THEN 'chat_not_allowed' END
$$;

-- Stores the decision about a waiting guest. `p_any`: the user may decide about all guests.
-- Outcomes: ok, unchanged, already_reviewed, not_found.
CREATE FUNCTION guest_review(p_tenant uuid, p_user uuid, p_any boolean, p_guest uuid, p_admit boolean, p_reason text, p_remember boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  guest guests;
  v_wanted guest_state[] := CASE WHEN p_admit THEN ARRAY['admitted', 'in_session', 'left'] ELSE ARRAY['denied'] END::guest_state[];
BEGIN
  SELECT * INTO guest FROM guests WHERE tenant_id = p_tenant AND id = p_guest AND role = 'guest' FOR UPDATE;
  IF NOT FOUND OR NOT (p_any OR p_user IN (SELECT guest_reviewers(p_tenant, p_guest))) THEN RETURN 'not_found'; END IF;
  IF guest.state <> 'waiting' THEN
    RETURN CASE WHEN guest.state = ANY (v_wanted) AND guest.decided_by IS NOT NULL THEN 'unchanged' ELSE 'already_reviewed' END;
  END IF;
  UPDATE guests SET state = v_wanted[1], decided_by = p_user, decided_at = now(), decision_reason = p_reason, updated_at = now(),
         requests = CASE WHEN p_remember AND NOT p_admit THEN 3 ELSE requests END,
         -- Messages before the first admission stay hidden.
         admitted_seq = CASE WHEN p_admit THEN coalesce(guest.admitted_seq, (
           SELECT last_seq FROM chat_room_refs room WHERE room.tenant_id = p_tenant AND room.id = guest.room_id)) END
   WHERE tenant_id = p_tenant AND id = p_guest;
  RETURN 'ok';
END $$;
