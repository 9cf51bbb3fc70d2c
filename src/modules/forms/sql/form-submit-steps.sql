-- The response with this client_response_id: `repeated` when the respondent and the answers are the same. No row without such a response.
CREATE FUNCTION form_submitted_before(p_tenant uuid, p_form uuid, p_client uuid, p_respondent uuid, p_answers jsonb)
RETURNS TABLE (outcome text, id uuid, version int, submitted_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN response.respondent_id IS NOT DISTINCT FROM p_respondent AND response.answers = p_answers
              THEN 'repeated' ELSE 'client_response_id_reused' END,
         response.id, response.version, response.submitted_at
    FROM form_responses response
   WHERE response.tenant_id = p_tenant AND response.form_id = p_form AND response.client_response_id = p_client
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
