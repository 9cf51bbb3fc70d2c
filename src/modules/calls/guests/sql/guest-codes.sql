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
