-- Counts one request against each limit, in sliding windows. If one limit rejects it, no limit counts it. The rows are locked until
-- the commit. The scopes must be in alphabetical order. Returns 0, or the seconds until a retry.
CREATE FUNCTION guest_limits_take(p_tenant uuid, p_scopes text[], p_subjects bytea[], p_max int[], p_seconds int[]) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  v_now timestamptz;
  v_wait float8;
BEGIN
  INSERT INTO guest_limits (tenant_id, scope, subject)
  SELECT p_tenant, given.scope, given.subject FROM unnest(p_scopes, p_subjects) AS given (scope, subject)
   ORDER BY given.scope ON CONFLICT DO NOTHING;
  PERFORM FROM guest_limits
    WHERE tenant_id = p_tenant AND (scope, subject) IN (SELECT * FROM unnest(p_scopes, p_subjects)) ORDER BY scope FOR UPDATE;
  v_now := clock_timestamp();
  SELECT coalesce(max(coalesce(
           extract(epoch FROM recent.times[cardinality(recent.times) - given.max + 1] + make_interval(secs => given.seconds) - v_now),
           given.seconds)), 0)
    INTO v_wait
    FROM unnest(p_scopes, p_subjects, p_max, p_seconds) AS given (scope, subject, max, seconds)
    JOIN guest_limits counted ON counted.tenant_id = p_tenant AND counted.scope = given.scope AND counted.subject = given.subject
   CROSS JOIN LATERAL (SELECT guest_times_since(counted.times, v_now, given.seconds) AS times) recent
   WHERE cardinality(recent.times) >= given.max;
  -- Rejected requests write too, so that they take the same time.
  UPDATE guest_limits counted
     SET times = guest_times_since(counted.times, v_now, given.seconds) || CASE WHEN v_wait > 0 THEN '{}' ELSE ARRAY[v_now] END,
         used_at = v_now
    FROM unnest(p_scopes, p_subjects, p_seconds) AS given (scope, subject, seconds)
   WHERE counted.tenant_id = p_tenant AND counted.scope = given.scope AND counted.subject = given.subject;
  RETURN v_wait;
END $$;

CREATE FUNCTION guest_times_since(p_times timestamptz[], p_now timestamptz, p_seconds int) RETURNS timestamptz[] LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (SELECT coalesce(array_agg(at ORDER BY at), '{}') FROM unnest(p_times) AS given (at)
           WHERE at > p_now - make_interval(secs => p_seconds));
END $$;
