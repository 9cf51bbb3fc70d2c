-- Counts a message's recipients, once for each `p_cause`. `p_previous` is the draft that the message replaces: it was
-- counted already. The weight of a use halves every 30 days. The rank is the binary logarithm of the sum of weights
-- relative to a fixed day (forward decay), so that ranks of different days are comparable and can be indexed.
CREATE FUNCTION mail_recipients_record(
  p_tenant uuid, p_user uuid, p_keys text[], p_addresses text[], p_names text[], p_cause text, p_previous text, p_keep int
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_now double precision := extract(epoch FROM now()) / (30 * 86400);
BEGIN
  INSERT INTO mail_recipients AS recipient (tenant_id, user_id, address_key, address, name, rank, cause)
  SELECT p_tenant, p_user, used.key, used.address, used.name, v_now, p_cause
    FROM unnest(p_keys, p_addresses, p_names) AS used (key, address, name) ORDER BY used.key
  ON CONFLICT (tenant_id, user_id, address_key) DO UPDATE SET
    address = excluded.address,
    name = CASE WHEN excluded.name = '' THEN recipient.name ELSE excluded.name END,
    uses = CASE WHEN recipient.cause IN (p_cause, p_previous) THEN recipient.uses ELSE recipient.uses + 1 END,
    rank = CASE WHEN recipient.cause IN (p_cause, p_previous) THEN recipient.rank
           ELSE greatest(recipient.rank, v_now) + ln(1 + power(2::float8, -least(abs(recipient.rank - v_now), 1000))) / ln(2::float8) END,
    last_used_at = now(),
    cause = p_cause;
  -- The p_keep addresses with the highest rank stay.
  DELETE FROM mail_recipients AS recipient USING (
    SELECT address_key FROM mail_recipients WHERE tenant_id = p_tenant AND user_id = p_user
     ORDER BY rank DESC, address_key OFFSET p_keep) AS beyond
   WHERE recipient.tenant_id = p_tenant AND recipient.user_id = p_user AND recipient.address_key = beyond.address_key;
END $$;
