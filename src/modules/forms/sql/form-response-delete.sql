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
