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
