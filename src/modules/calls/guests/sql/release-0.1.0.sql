-- Signatures that processes of release 0.1.0 call (CONTRIBUTING.md, "Change the schema"). They are removed when a later release is recorded.

-- Counts one request against each limit, in sliding windows. If one limit rejects it, no limit counts it. The rows are locked until
-- the commit. The scopes must be in alphabetical order. Returns 0, or the seconds until a retry.
CREATE FUNCTION guest_limits_take(p_tenant uuid, p_scopes text[], p_subjects bytea[], p_max int[], p_seconds int[]) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz;
  v_wait float8;
BEGIN
  INSERT INTO guest_limits (tenant_id, scope, subject)
  SELECT p_tenant, given.scope, given.subject FROM unnest(p_scopes, p_subjects) AS given (scope, subject)
   ORDER BY given.scope ON CONFLICT DO NOTHING;
  PERFORM FROM guest_limits
    WHERE tenant_id = p_tenant AND (scope, subject) IN (SELECT * FROM unnest(p_scopes, p_subjects)) ORDER BY scope FOR UPDATE;
  v_now := clock_timestamp();
  SELECT coalesce(max(coalesce(
           extract(epoch FROM recent.times[cardinality(recent.times) - given.max + 1] + make_interval(secs => given.seconds) - v_now),
           given.seconds)), 0)
    INTO v_wait
    FROM unnest(p_scopes, p_subjects, p_max, p_seconds) AS given (scope, subject, max, seconds)
    JOIN guest_limits counted ON counted.tenant_id = p_tenant AND counted.scope = given.scope AND counted.subject = given.subject
   CROSS JOIN LATERAL (SELECT guest_times_since(counted.times, v_now, given.seconds) AS times) recent
   WHERE cardinality(recent.times) >= given.max;
  -- Rejected requests write too, so that they take the same time.
  UPDATE guest_limits counted
     SET times = guest_times_since(counted.times, v_now, given.seconds) || CASE WHEN v_wait > 0 THEN '{}' ELSE ARRAY[v_now] END,
         used_at = v_now
    FROM unnest(p_scopes, p_subjects, p_seconds) AS given (scope, subject, seconds)
   WHERE counted.tenant_id = p_tenant AND counted.scope = given.scope AND counted.subject = given.subject;
  RETURN v_wait;
END $$;

CREATE FUNCTION guest_times_since(p_times timestamptz[], p_now timestamptz, p_seconds int) RETURNS timestamptz[] LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (SELECT coalesce(array_agg(at ORDER BY at), '{}') FROM unnest(p_times) AS given (at)
           WHERE at > p_now - make_interval(secs => p_seconds));
END $$;

-- The invite of a token, or of the token of its chat link. Returns a set, so that the planner merges the function into the
-- calling statement, whose plan is kept: planning takes longer than the look-up.
CREATE FUNCTION guest_invite(p_tenant uuid, p_token bytea) RETURNS SETOF guest_invite_states LANGUAGE sql STABLE AS $$
  SELECT * FROM guest_invite_states
   WHERE tenant_id = p_tenant AND (token_hash = p_token OR chat_token_hash = p_token AND chat_expires_at > now())
$$;

-- The rejection of requests for codes, sessions and tokens; null for none.
CREATE FUNCTION guest_rejection(invite guest_invite_states, p_role guest_role) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN invite.id IS NULL THEN 'not_found'
              WHEN invite.state IN ('revoked', 'expired') THEN invite.state
              WHEN invite.role <> p_role THEN 'other_role'
              WHEN invite.locked THEN 'locked' END
$$;

-- Whether an address may use an invite. `p_open`: domains are allowed unless the workspace has denied them.
CREATE FUNCTION guest_address_fits(invite guest_invite_states, p_email text, p_open boolean) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (invite.kind = 'link' OR invite.email = p_email)
     AND coalesce((
           SELECT domain.state = 'allowed' OR p_open AND domain.state = 'requested' FROM guest_domains domain
            WHERE domain.tenant_id = invite.tenant_id AND domain.domain = split_part(p_email, '@', 2)), p_open)
     AND NOT EXISTS (
           SELECT FROM call_bans ban
            WHERE ban.tenant_id = invite.tenant_id AND ban.call_id = invite.call_id AND ban.subject = 'email:' || p_email);
END $$;

-- Requests a code for an address. All addresses take the same steps, so that neither the response nor its time shows whether
-- the address fits the invite. `p_mails`: mails of the workspace in a day.
-- Outcomes: ok (with `fits`), limited (with `wait`), not_found, revoked, expired, exhausted, locked, other_role.
CREATE FUNCTION guest_code_request(
  p_tenant uuid, p_token bytea, p_purpose guest_otp_purpose, p_email text, p_code bytea, p_address bytea, p_open boolean, p_mails int)
  RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  invite guest_invite_states;
  v_rejection text;
  v_subject bytea;
  v_wait float8;
  v_fits boolean;
BEGIN
  SELECT * INTO invite FROM guest_invite(p_tenant, p_token);
  v_rejection := guest_rejection(invite, CASE p_purpose WHEN 'join' THEN 'guest' ELSE 'viewer' END::guest_role);
  v_subject := sha256(convert_to(invite.id || ' ' || p_purpose || ' ' || p_email, 'UTF8'));
  IF v_rejection IS NULL AND invite.kind = 'link' AND invite.state = 'exhausted' THEN v_rejection := 'exhausted'; END IF;
  IF v_rejection IS NOT NULL THEN RETURN jsonb_build_object('outcome', v_rejection); END IF;
  v_wait := guest_limits_take(p_tenant, ARRAY['code_address', 'code_day', 'code_quarter'], ARRAY[p_address, v_subject, v_subject],
                              ARRAY[20, 10, 3], ARRAY[3600, 86400, 900]);
  IF v_wait > 0 THEN RETURN jsonb_build_object('outcome', 'limited', 'wait', v_wait); END IF;
  v_fits := guest_address_fits(invite, p_email, p_open);
  v_fits := guest_limits_take(p_tenant, ARRAY['code_mails'], ARRAY[''::bytea], ARRAY[CASE WHEN v_fits THEN p_mails ELSE 0 END],
                              ARRAY[86400]) = 0;
  INSERT INTO guest_otps AS otp (tenant_id, invite_id, email, purpose, code_hmac, expires_at)
  VALUES (p_tenant, invite.id, p_email, p_purpose, CASE WHEN v_fits THEN p_code END, now() + interval '10 minutes')
  ON CONFLICT (tenant_id, invite_id, email, purpose) DO UPDATE
     SET code_hmac = excluded.code_hmac, expires_at = excluded.expires_at, attempts = 0, consumed_at = NULL;
  RETURN jsonb_build_object('outcome', 'ok', 'fits', v_fits, 'invite_id', invite.id, 'title', invite.title);
END $$;

-- Compares a code. The attempt is counted before the comparison, also for addresses without a code. A correct code is spent.
-- Outcomes: ok, otp_invalid (with `attempts_left`), otp_locked (with `wait`).
CREATE FUNCTION guest_code_check(p_tenant uuid, p_invite uuid, p_purpose guest_otp_purpose, p_email text, p_codes bytea[]) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  otp guest_otps;
  v_wait float8;
BEGIN
  INSERT INTO guest_otps AS stored (tenant_id, invite_id, email, purpose, attempts, expires_at)
  VALUES (p_tenant, p_invite, p_email, p_purpose, 1, now() + interval '10 minutes')
  ON CONFLICT (tenant_id, invite_id, email, purpose) DO UPDATE
     SET attempts = CASE WHEN stored.expires_at <= now() THEN 1 ELSE stored.attempts + 1 END,
         code_hmac = CASE WHEN stored.expires_at > now() THEN stored.code_hmac END,
         expires_at = CASE WHEN stored.expires_at <= now() THEN excluded.expires_at ELSE stored.expires_at END
   WHERE stored.attempts < 5 OR stored.expires_at <= now()
  RETURNING stored.* INTO otp;
  IF NOT FOUND THEN
    SELECT extract(epoch FROM expires_at - now()) INTO v_wait FROM guest_otps
     WHERE tenant_id = p_tenant AND invite_id = p_invite AND email = p_email AND purpose = p_purpose;
    RETURN jsonb_build_object('outcome', 'otp_locked', 'wait', v_wait);
  END IF;
  IF otp.code_hmac IS NULL OR otp.code_hmac <> ALL (p_codes) THEN
    RETURN jsonb_build_object('outcome', 'otp_invalid', 'attempts_left', 5 - otp.attempts);
  END IF;
  UPDATE guest_otps SET code_hmac = NULL, consumed_at = now()
   WHERE tenant_id = p_tenant AND invite_id = p_invite AND email = p_email AND purpose = p_purpose;
  RETURN jsonb_build_object('outcome', 'ok');
END $$;

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

-- The users who decide about a guest.
CREATE FUNCTION guest_reviewers(p_tenant uuid, p_guest uuid) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
  SELECT user_id FROM guest_deciders WHERE tenant_id = p_tenant AND guest_id = p_guest
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
