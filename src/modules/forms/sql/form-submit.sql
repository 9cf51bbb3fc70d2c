-- Stores a response. Outcome: `ok`; `repeated` for a response that the same request stored before; otherwise the reason
-- against it. The form is locked against changes of its state (writers take FOR UPDATE), so that no response is stored after a closure has committed.
--   p_version      version that the respondent has answered
--   p_current      current version at the time of the check of the answers
--   p_key          HMAC of the respondent
--   p_uploads      ids of the files in the answers
--   p_seconds      time that the respondent took; null when unknown
CREATE FUNCTION form_submit(
  p_tenant uuid, p_form uuid, p_user uuid, p_id uuid, p_client uuid, p_version int, p_current int, p_answers jsonb,
  p_search text, p_key bytea, p_uploads uuid[], p_seconds int, p_event uuid)
RETURNS TABLE (outcome text, id uuid, version int, submitted_at timestamptz) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_form forms;
  v_anonymous boolean;
  v_once boolean;
  v_max bigint;
  v_count bigint;
  v_now timestamptz := clock_timestamp();
  v_at timestamptz(3);
  v_respondent uuid;
BEGIN
  SELECT * INTO v_form FROM forms form
   WHERE form.tenant_id = p_tenant AND form.id = p_form AND form.deleted_at IS NULL FOR KEY SHARE;
  IF NOT FOUND THEN RETURN QUERY SELECT 'not_found', NULL::uuid, NULL::int, NULL::timestamptz; RETURN; END IF;
  v_anonymous := (v_form.settings->>'anonymous')::boolean;
  v_once := (v_form.settings->>'one_per_user')::boolean;
  v_max := (v_form.settings->>'max_responses')::bigint;
  v_respondent := CASE WHEN v_anonymous THEN NULL ELSE p_user END;

  IF p_client IS NOT NULL THEN
    RETURN QUERY SELECT * FROM form_submitted_before(p_tenant, p_form, p_client, v_respondent, p_answers);
    IF FOUND THEN RETURN; END IF;
  END IF;
  outcome := form_closed(v_form, v_now);
  IF outcome IS NULL AND v_form.current_version <> p_current THEN outcome := 'stale'; END IF;
  IF outcome IS NULL AND v_once AND NOT v_anonymous AND EXISTS (
    SELECT FROM form_responses response
     WHERE response.tenant_id = p_tenant AND response.form_id = p_form AND response.respondent_id = p_user)
    THEN outcome := 'already_submitted'; END IF;
  IF outcome IS NULL AND cardinality(p_uploads) > 0 AND cardinality(p_uploads) <> (
    SELECT count(*) FROM (
      SELECT FROM form_uploads upload
       WHERE upload.tenant_id = p_tenant AND upload.form_id = p_form AND upload.id = ANY (p_uploads)
         AND upload.user_id = p_user AND upload.response_id IS NULL
       ORDER BY upload.id FOR UPDATE) available) THEN outcome := 'upload_used'; END IF;
  IF outcome IS NULL AND v_max IS NOT NULL THEN
    PERFORM FROM form_counters counter
      WHERE counter.tenant_id = p_tenant AND counter.form_id = p_form AND counter.shard = 0 FOR UPDATE;
    v_count := (SELECT counter.count FROM form_response_count(p_tenant, p_form) counter);
    IF v_count >= v_max THEN outcome := 'full'; END IF;
  END IF;
  IF outcome IS NULL AND v_once THEN
    INSERT INTO form_response_once (tenant_id, form_id, respondent_key) VALUES (p_tenant, p_form, p_key)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN outcome := 'already_submitted'; END IF;
  END IF;
  IF outcome IS NOT NULL THEN
    -- The same request may have been stored while this one waited for a lock.
    RETURN QUERY SELECT * FROM form_submitted_before(p_tenant, p_form, p_client, v_respondent, p_answers);
    IF NOT FOUND THEN RETURN NEXT; END IF;
    RETURN;
  END IF;

  -- The exact time could identify the respondent of an anonymous form.
  v_at := CASE WHEN v_anonymous THEN date_trunc('minute', v_now) ELSE v_now END;
  INSERT INTO form_responses (tenant_id, form_id, id, version, respondent_id, client_response_id, answers, search_text,
                              duration_seconds, submitted_at, updated_at)
  VALUES (p_tenant, p_form, p_id, p_version, v_respondent, p_client, p_answers, p_search, p_seconds, v_at, v_at)
  ON CONFLICT (tenant_id, form_id, client_response_id) WHERE client_response_id IS NOT NULL DO NOTHING;
  IF NOT FOUND THEN
    IF v_once THEN
      DELETE FROM form_response_once WHERE tenant_id = p_tenant AND form_id = p_form AND respondent_key = p_key;
    END IF;
    RETURN QUERY SELECT * FROM form_submitted_before(p_tenant, p_form, p_client, v_respondent, p_answers);
    RETURN;
  END IF;
  INSERT INTO form_counters AS counter (tenant_id, form_id, shard, count)
  VALUES (p_tenant, p_form, CASE WHEN v_max IS NULL THEN floor(random() * 16) ELSE 0 END, 1)
  ON CONFLICT (tenant_id, form_id, shard) DO UPDATE SET count = counter.count + 1;
  IF cardinality(p_uploads) > 0 THEN
    PERFORM form_claim_uploads(p_tenant, p_form, p_uploads, p_id, v_respondent);
  END IF;
  INSERT INTO outbox (tenant_id, id, type, payload)
  VALUES (p_tenant, p_event, 'form.response_submitted', jsonb_build_object('form_id', p_form, 'response_id', p_id));
  IF v_count + 1 = v_max THEN PERFORM form_append_closed(p_tenant, p_form, 'quota_reached'); END IF;
  RETURN QUERY SELECT 'ok', p_id, p_version, v_at::timestamptz;
END $$;

-- Replaces the answers of a response of the same user. Outcome: `ok` or the reason against it.
CREATE FUNCTION form_resubmit(
  p_tenant uuid, p_form uuid, p_user uuid, p_id uuid, p_version int, p_current int, p_answers jsonb, p_search text,
  p_uploads uuid[], p_event uuid)
RETURNS TABLE (outcome text, id uuid, version int, submitted_at timestamptz) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_form forms;
  v_at timestamptz;
BEGIN
  SELECT * INTO v_form FROM forms form
   WHERE form.tenant_id = p_tenant AND form.id = p_form AND form.deleted_at IS NULL FOR KEY SHARE;
  IF NOT FOUND THEN outcome := 'not_found';
  ELSE outcome := form_closed(v_form, clock_timestamp());
  END IF;
  IF outcome IS NULL AND NOT (v_form.settings->>'allow_edit')::boolean THEN outcome := 'not_editable'; END IF;
  IF outcome IS NULL AND v_form.current_version <> p_current THEN outcome := 'stale'; END IF;
  IF outcome IS NULL THEN
    SELECT response.submitted_at INTO v_at FROM form_responses response
     WHERE response.tenant_id = p_tenant AND response.form_id = p_form AND response.id = p_id
       AND response.respondent_id = p_user FOR UPDATE;
    IF NOT FOUND THEN outcome := 'unknown_response'; END IF;
  END IF;
  IF outcome IS NULL AND cardinality(p_uploads) > 0 AND cardinality(p_uploads) <> (
    SELECT count(*) FROM (
      SELECT FROM form_uploads upload
       WHERE upload.tenant_id = p_tenant AND upload.form_id = p_form AND upload.id = ANY (p_uploads)
         AND upload.user_id = p_user AND (upload.response_id IS NULL OR upload.response_id = p_id)
       ORDER BY upload.id FOR UPDATE) available) THEN outcome := 'upload_used'; END IF;
  IF outcome IS NOT NULL THEN RETURN NEXT; RETURN; END IF;

  UPDATE form_responses response
     SET answers = p_answers, search_text = p_search, version = p_version, updated_at = clock_timestamp()
   WHERE response.tenant_id = p_tenant AND response.form_id = p_form AND response.id = p_id;
  PERFORM form_release_uploads(p_tenant, p_form, p_id, p_uploads);
  PERFORM form_claim_uploads(p_tenant, p_form, p_uploads, p_id, p_user);
  INSERT INTO outbox (tenant_id, id, type, payload)
  VALUES (p_tenant, p_event, 'form.response_changed', jsonb_build_object('form_id', p_form, 'response_id', p_id));
  RETURN QUERY SELECT 'ok', p_id, p_version, v_at;
END $$;
