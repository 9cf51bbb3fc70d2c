-- Counts a message's recipients, once for each `p_cause`. `p_previous` is the draft that the message replaces: it was
-- counted already. A use weighs half after 30 days; the rank is the binary logarithm of the sum of weights, seen from a
-- fixed day (forward decay), so that ranks of different days compare and an index can hold them.
CREATE FUNCTION mail_recipients_record(
  p_tenant uuid, p_user uuid, p_keys text[], p_addresses text[], p_names text[], p_cause text, p_previous text, p_keep int
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_now double precision := extract(epoch FROM now()) / (30 * 86400);
BEGIN
  INSERT INTO mail_recipients AS r (tenant_id, user_id, address_key, address, name, rank, cause)
  SELECT p_tenant, p_user, g.key, g.address, g.name, v_now, p_cause
    FROM unnest(p_keys, p_addresses, p_names) AS g (key, address, name) ORDER BY g.key
  ON CONFLICT (tenant_id, user_id, address_key) DO UPDATE SET
    address = excluded.address,
    name = CASE WHEN excluded.name = '' THEN r.name ELSE excluded.name END,
    uses = CASE WHEN r.cause IN (p_cause, p_previous) THEN r.uses ELSE r.uses + 1 END,
    rank = CASE WHEN r.cause IN (p_cause, p_previous) THEN r.rank
           ELSE greatest(r.rank, v_now) + ln(1 + power(2::float8, -least(abs(r.rank - v_now), 1000))) / ln(2::float8) END,
    last_used_at = now(),
    cause = p_cause;
  -- Bounded: the least used go.
  DELETE FROM mail_recipients r USING (
    SELECT address_key FROM mail_recipients WHERE tenant_id = p_tenant AND user_id = p_user
     ORDER BY rank DESC, address_key OFFSET p_keep) AS beyond
   WHERE r.tenant_id = p_tenant AND r.user_id = p_user AND r.address_key = beyond.address_key;
END $$;
