-- Signatures that processes of release 0.1.0 call (CONTRIBUTING.md, "Change the schema"). They are removed when a later release is recorded.

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
