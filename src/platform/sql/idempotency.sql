-- Empties the remembered responses that contain an object which is removed permanently: responses with its ETag, and the
-- creations of it. Their rows stay, so that a repeated request is still recognized.
CREATE FUNCTION forget_responses(p_tenant uuid, p_id uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE idempotency_keys SET reply = ''
   WHERE tenant_id = p_tenant AND (split_part(etag, ':', 2) = p_id::text OR right(location, 36) = p_id::text);
END $$;
