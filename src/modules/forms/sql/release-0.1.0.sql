-- Signatures that processes of release 0.1.0 call (CONTRIBUTING.md, "Change the schema"). They are removed when a later release is recorded.

-- The forms that a user can open, with the highest role on each.
-- p_role: the role that the permissions of the user give on all forms of the workspace; null for none.
CREATE FUNCTION visible_forms(p_tenant uuid, p_user uuid, p_role form_role)
RETURNS TABLE (form_id uuid, role form_role) LANGUAGE sql STABLE AS $$
  SELECT granted.form_id, max(granted.role)
    FROM (SELECT own.form_id, own.role FROM form_grants own WHERE own.tenant_id = p_tenant AND own.user_id = p_user
          UNION ALL
          SELECT form.id, p_role FROM forms form WHERE p_role IS NOT NULL AND form.tenant_id = p_tenant) granted
   GROUP BY granted.form_id
$$;

-- The highest role of a user on one form, in one row; null without access.
-- p_token_hash: SHA-256 of the token of a share link; null for none.
-- Returns a table, because PostgreSQL plans a scalar SQL function again for each call, and inlines this one into the statement.
CREATE FUNCTION form_role_of(p_tenant uuid, p_user uuid, p_form uuid, p_role form_role, p_token_hash bytea)
RETURNS TABLE (role form_role) LANGUAGE sql STABLE AS $$
  SELECT max(granted.role)
    FROM (SELECT own.role FROM form_grants own WHERE own.tenant_id = p_tenant AND own.form_id = p_form AND own.user_id = p_user
          UNION ALL
          SELECT p_role FROM forms form WHERE form.tenant_id = p_tenant AND form.id = p_form
          UNION ALL
          SELECT form.share_role FROM forms form
           WHERE form.tenant_id = p_tenant AND form.id = p_form AND form.share_token_hash = p_token_hash
             AND (form.share_expires_at IS NULL OR form.share_expires_at > now())) granted
$$;

-- The number of responses of a form, in one row. A table for the same reason.
CREATE FUNCTION form_response_count(p_tenant uuid, p_form uuid) RETURNS TABLE (count bigint) LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(counter.count), 0)::bigint FROM form_counters counter
   WHERE counter.tenant_id = p_tenant AND counter.form_id = p_form
$$;

-- Appends `form.closed` without an actor. p_reason: `window_ended`, `quota_reached`
CREATE FUNCTION form_append_closed(p_tenant uuid, p_form uuid, p_reason text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox (tenant_id, id, type, payload)
  VALUES (p_tenant, uuid_v7(), 'form.closed', jsonb_build_object('form_id', p_form, 'reason', p_reason));
END $$;

-- Reports up to p_limit ends of windows, each once: concurrent calls skip the forms of each other. For a form that is full, the
-- event was appended when it became full. Returns the number of ends. Index forms_window_end.
CREATE FUNCTION forms_close_ended(p_limit int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  v_form record;
  v_count int := 0;
BEGIN
  FOR v_form IN
    SELECT form.tenant_id, form.id, (form.settings->>'max_responses')::bigint AS quota FROM forms form
     WHERE form.accepting AND form.deleted_at IS NULL AND form.settings->>'closes_at' IS DISTINCT FROM form.reported_end
       AND form.settings->>'closes_at' <= to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
     ORDER BY form.settings->>'closes_at' LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
  LOOP
    UPDATE forms form SET reported_end = form.settings->>'closes_at'
     WHERE form.tenant_id = v_form.tenant_id AND form.id = v_form.id;
    IF v_form.quota IS NULL
       OR (SELECT counter.count FROM form_response_count(v_form.tenant_id, v_form.id) counter) < v_form.quota THEN
      PERFORM form_append_closed(v_form.tenant_id, v_form.id, 'window_ended');
    END IF;
    v_count := v_count + 1;
  END LOOP;
  RETURN v_count;
END $$;

-- The stored response with the same client_response_id: `repeated` when the respondent and the answers are the same. No row
-- without such a response.
CREATE FUNCTION form_submitted_before(p_response form_responses)
RETURNS TABLE (outcome text, id uuid, version int, submitted_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN response.respondent_id IS NOT DISTINCT FROM p_response.respondent_id AND response.answers = p_response.answers
              THEN 'repeated' ELSE 'client_response_id_reused' END,
         response.id, response.version, response.submitted_at
    FROM form_responses response
   WHERE response.tenant_id = p_response.tenant_id AND response.form_id = p_response.form_id
     AND response.client_response_id = p_response.client_response_id
$$;

-- The reason why a form accepts no responses at this time; null when it accepts them.
CREATE FUNCTION form_closed(p_form forms, p_now timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN p_form.state = 'archived' THEN 'archived'
    WHEN p_form.state = 'draft' THEN 'not_found'
    WHEN NOT p_form.accepting THEN 'closed'
    WHEN p_now < (p_form.settings->>'opens_at')::timestamptz THEN 'not_open'
    WHEN p_now >= (p_form.settings->>'closes_at')::timestamptz THEN 'closed'
  END
$$;

-- Locks the files of answers. Null: one of them is unknown, of another user, or belongs to another response. p_uploads: JSON
-- array of ids.
CREATE FUNCTION form_lock_uploads(p_tenant uuid, p_form uuid, p_user uuid, p_response uuid, p_uploads jsonb)
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
  v_uploads uuid[] := ARRAY(SELECT jsonb_array_elements_text(p_uploads));
  v_count int;
BEGIN
  PERFORM FROM form_uploads upload
    WHERE upload.tenant_id = p_tenant AND upload.form_id = p_form AND upload.id = ANY (v_uploads)
      AND upload.user_id = p_user AND (upload.response_id IS NULL OR upload.response_id = p_response)
    ORDER BY upload.id FOR UPDATE;
  GET DIAGNOSTICS v_count = ROW_COUNT;
  RETURN CASE WHEN v_count = cardinality(v_uploads) THEN v_uploads END;
END $$;

-- Binds files to a response. p_user: null for an anonymous form, whose files keep no reference to the user.
CREATE FUNCTION form_claim_uploads(p_tenant uuid, p_form uuid, p_uploads uuid[], p_response uuid, p_user uuid)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE form_uploads SET response_id = p_response, user_id = p_user, expires_at = NULL
   WHERE tenant_id = p_tenant AND form_id = p_form AND id = ANY (p_uploads);
END $$;

-- Deletes the files of a response except these.
CREATE FUNCTION form_release_uploads(p_tenant uuid, p_form uuid, p_response uuid, p_except uuid[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM blob_release(p_tenant, array_agg(upload.blob_id)) FROM form_uploads upload
   WHERE upload.tenant_id = p_tenant AND upload.form_id = p_form AND upload.response_id = p_response
     AND upload.id <> ALL (p_except);
  DELETE FROM form_uploads upload
   WHERE upload.tenant_id = p_tenant AND upload.form_id = p_form AND upload.response_id = p_response
     AND upload.id <> ALL (p_except);
END $$;

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

-- Deletes a response with its files, and the row in form_response_once that prevents another submission of its respondent. False
-- for an unknown response. The form is locked as for a submission, before the counter.
--   p_key   HMAC of the respondent; null in an anonymous form, whose respondents are unknown
CREATE FUNCTION form_response_delete(p_tenant uuid, p_form uuid, p_response uuid, p_key bytea)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM forms form WHERE form.tenant_id = p_tenant AND form.id = p_form FOR KEY SHARE;
  DELETE FROM form_responses response
   WHERE response.tenant_id = p_tenant AND response.form_id = p_form AND response.id = p_response;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM form_release_uploads(p_tenant, p_form, p_response, '{}');
  DELETE FROM form_response_once once
   WHERE once.tenant_id = p_tenant AND once.form_id = p_form AND once.respondent_key = p_key;
  UPDATE form_counters counter SET count = counter.count - 1
   WHERE counter.tenant_id = p_tenant AND counter.form_id = p_form AND counter.shard = 0;
  RETURN true;
END $$;

CREATE FUNCTION form_submit(
  p_tenant uuid, p_form uuid, p_user uuid, p_id uuid, p_client uuid, p_version int, p_current int, p_answers jsonb,
  p_search text, p_key bytea, p_uploads uuid[], p_seconds int, p_event uuid)
RETURNS TABLE (outcome text, id uuid, version int, submitted_at timestamptz) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM form_submit(p_tenant, p_form, p_user, jsonb_build_object(
    'id', p_id, 'client_response_id', p_client, 'version', p_version, 'current_version', p_current, 'answers', p_answers,
    'search_text', p_search, 'respondent_key', encode(p_key, 'hex'), 'uploads', p_uploads, 'duration_seconds', p_seconds,
    'event_id', p_event));
END $$;

CREATE FUNCTION form_resubmit(
  p_tenant uuid, p_form uuid, p_user uuid, p_id uuid, p_version int, p_current int, p_answers jsonb, p_search text,
  p_uploads uuid[], p_event uuid)
RETURNS TABLE (outcome text, id uuid, version int, submitted_at timestamptz) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM form_resubmit(p_tenant, p_form, p_user, jsonb_build_object(
    'id', p_id, 'version', p_version, 'current_version', p_current, 'answers', p_answers, 'search_text', p_search,
    'uploads', p_uploads, 'event_id', p_event));
END $$;
