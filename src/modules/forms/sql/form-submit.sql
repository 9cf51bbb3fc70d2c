-- Writes of responses. The form is locked against changes of its state (writers take FOR UPDATE), so that no response is stored
-- after a closure has committed. p_response has columns of form_responses (`id`, `version`: the version that the respondent has
-- answered, `client_response_id`, `answers`, `search_text`, `duration_seconds`) and
--   current_version  current version at the time of the check of the answers
--   respondent_key   HMAC of the respondent, hexadecimal; of a submission
--   uploads          ids of the files in the answers
--   event_id         id of the event

-- Stores a response. Outcome: `ok`; `repeated` for a response that the same request stored before; otherwise the reason for the
-- rejection.
CREATE FUNCTION form_submit(p_tenant uuid, p_form uuid, p_user uuid, p_response jsonb)
RETURNS TABLE (outcome text, id uuid, version int, submitted_at timestamptz) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_form forms;
  v_response form_responses;
  v_uploads uuid[];
  v_key bytea;
  v_anonymous boolean;
  v_once boolean;
  v_max bigint;
  v_count bigint;
  v_now timestamptz := clock_timestamp();
BEGIN
  SELECT * INTO v_form FROM forms form
   WHERE form.tenant_id = p_tenant AND form.id = p_form AND form.deleted_at IS NULL FOR KEY SHARE;
  IF NOT FOUND THEN RETURN QUERY SELECT 'not_found', NULL::uuid, NULL::int, NULL::timestamptz; RETURN; END IF;
  v_anonymous := (v_form.settings->>'anonymous')::boolean;
  v_once := (v_form.settings->>'one_per_user')::boolean;
  v_max := (v_form.settings->>'max_responses')::bigint;
  v_response := jsonb_populate_record(NULL::form_responses, p_response);
  v_response.tenant_id := p_tenant;
  v_response.form_id := p_form;
  IF NOT v_anonymous THEN v_response.respondent_id := p_user; END IF;

  IF v_response.client_response_id IS NOT NULL THEN
    RETURN QUERY SELECT * FROM form_submitted_before(v_response);
    IF FOUND THEN RETURN; END IF;
  END IF;
  outcome := form_closed(v_form, v_now);
  IF outcome IS NULL AND v_form.current_version <> (p_response->>'current_version')::int THEN outcome := 'stale'; END IF;
  IF outcome IS NULL AND v_once AND NOT v_anonymous AND EXISTS (
    SELECT FROM form_responses response
     WHERE response.tenant_id = p_tenant AND response.form_id = p_form AND response.respondent_id = p_user)
    THEN outcome := 'already_submitted'; END IF;
  IF outcome IS NULL AND p_response->'uploads' <> '[]' THEN
    v_uploads := form_lock_uploads(p_tenant, p_form, p_user, v_response.id, p_response->'uploads');
    IF v_uploads IS NULL THEN outcome := 'upload_used'; END IF;
  END IF;
  IF outcome IS NULL AND v_max IS NOT NULL THEN
    PERFORM FROM form_counters counter
      WHERE counter.tenant_id = p_tenant AND counter.form_id = p_form AND counter.shard = 0 FOR UPDATE;
    v_count := (SELECT counter.count FROM form_response_count(p_tenant, p_form) counter);
    IF v_count >= v_max THEN outcome := 'full'; END IF;
  END IF;
  IF outcome IS NULL AND v_once THEN
    v_key := decode(p_response->>'respondent_key', 'hex');
    INSERT INTO form_response_once (tenant_id, form_id, respondent_key) VALUES (p_tenant, p_form, v_key)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN outcome := 'already_submitted'; END IF;
  END IF;
  IF outcome IS NOT NULL THEN
    -- The same request may have been stored while this one waited for a lock.
    RETURN QUERY SELECT * FROM form_submitted_before(v_response);
    IF NOT FOUND THEN RETURN NEXT; END IF;
    RETURN;
  END IF;

  -- The exact time could identify the respondent of an anonymous form.
  v_response.submitted_at := CASE WHEN v_anonymous THEN date_trunc('minute', v_now) ELSE v_now END;
  v_response.updated_at := v_response.submitted_at;
  INSERT INTO form_responses VALUES (v_response.*)
  ON CONFLICT (tenant_id, form_id, client_response_id) WHERE client_response_id IS NOT NULL DO NOTHING;
  IF NOT FOUND THEN
    IF v_once THEN
      DELETE FROM form_response_once WHERE tenant_id = p_tenant AND form_id = p_form AND respondent_key = v_key;
    END IF;
    RETURN QUERY SELECT * FROM form_submitted_before(v_response);
    RETURN;
  END IF;
  INSERT INTO form_counters AS counter (tenant_id, form_id, shard, count)
  VALUES (p_tenant, p_form, CASE WHEN v_max IS NULL THEN floor(random() * 16) ELSE 0 END, 1)
  ON CONFLICT (tenant_id, form_id, shard) DO UPDATE SET count = counter.count + 1;
  IF v_uploads IS NOT NULL THEN
    PERFORM form_claim_uploads(p_tenant, p_form, v_uploads, v_response.id, v_response.respondent_id);
  END IF;
  INSERT INTO outbox (tenant_id, id, type, payload)
  VALUES (p_tenant, (p_response->>'event_id')::uuid, 'form.response_submitted',
          jsonb_build_object('form_id', p_form, 'response_id', v_response.id));
  IF v_count + 1 = v_max THEN PERFORM form_append_closed(p_tenant, p_form, 'quota_reached'); END IF;
  RETURN QUERY SELECT 'ok', v_response.id, v_response.version, v_response.submitted_at::timestamptz;
END $$;

-- Replaces the answers of a response of the same user. Outcome: `ok` or the reason for the rejection.
CREATE FUNCTION form_resubmit(p_tenant uuid, p_form uuid, p_user uuid, p_response jsonb)
RETURNS TABLE (outcome text, id uuid, version int, submitted_at timestamptz) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_form forms;
  v_new form_responses := jsonb_populate_record(NULL::form_responses, p_response);
  v_stored form_responses;
  v_uploads uuid[];
BEGIN
  SELECT * INTO v_form FROM forms form
   WHERE form.tenant_id = p_tenant AND form.id = p_form AND form.deleted_at IS NULL FOR KEY SHARE;
  IF NOT FOUND THEN outcome := 'not_found';
  ELSE outcome := form_closed(v_form, clock_timestamp());
  END IF;
  IF outcome IS NULL AND NOT (v_form.settings->>'allow_edit')::boolean THEN outcome := 'not_editable'; END IF;
  IF outcome IS NULL AND v_form.current_version <> (p_response->>'current_version')::int THEN outcome := 'stale'; END IF;
  IF outcome IS NULL THEN
    SELECT * INTO v_stored FROM form_responses response
     WHERE response.tenant_id = p_tenant AND response.form_id = p_form AND response.id = v_new.id
       AND response.respondent_id = p_user FOR UPDATE;
    IF NOT FOUND THEN outcome := 'unknown_response'; END IF;
  END IF;
  IF outcome IS NULL THEN
    v_uploads := form_lock_uploads(p_tenant, p_form, p_user, v_new.id, p_response->'uploads');
    IF v_uploads IS NULL THEN outcome := 'upload_used'; END IF;
  END IF;
  IF outcome IS NOT NULL THEN RETURN NEXT; RETURN; END IF;

  UPDATE form_responses response
     SET answers = v_new.answers, search_text = v_new.search_text, version = v_new.version, updated_at = clock_timestamp()
   WHERE response.tenant_id = p_tenant AND response.form_id = p_form AND response.id = v_new.id;
  PERFORM form_release_uploads(p_tenant, p_form, v_new.id, v_uploads);
  PERFORM form_claim_uploads(p_tenant, p_form, v_uploads, v_new.id, p_user);
  INSERT INTO outbox (tenant_id, id, type, payload)
  VALUES (p_tenant, (p_response->>'event_id')::uuid, 'form.response_changed',
          jsonb_build_object('form_id', p_form, 'response_id', v_new.id));
  RETURN QUERY SELECT 'ok', v_new.id, v_new.version, v_stored.submitted_at::timestamptz;
END $$;
