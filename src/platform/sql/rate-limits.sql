-- Counts one request against each limit, in the given order, which callers sort. Returns 0, or the seconds until the first
-- exhausted limit accepts a request.
CREATE FUNCTION rate_limit_take(p_scopes text[], p_subjects bytea[], p_intervals float8[], p_bursts int[])
RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  v_step interval;
  v_paid timestamptz;
BEGIN
  FOR i IN 1 .. cardinality(p_scopes) LOOP
    v_step := make_interval(secs => p_intervals[i]);
    -- The time after the wait for the row: with an earlier one, a request that waited for the first request of the limit would be
    -- rejected although the limit is not exhausted.
    INSERT INTO rate_limits AS known (scope, subject, paid_until) VALUES (p_scopes[i], p_subjects[i], clock_timestamp() + v_step)
      ON CONFLICT (scope, subject) DO UPDATE SET paid_until = greatest(known.paid_until, clock_timestamp()) + v_step
      WHERE known.paid_until + v_step <= clock_timestamp() + v_step * p_bursts[i];
    IF NOT FOUND THEN
      SELECT paid_until INTO v_paid FROM rate_limits WHERE scope = p_scopes[i] AND subject = p_subjects[i];
      RETURN greatest(0.001, extract(epoch FROM coalesce(v_paid, clock_timestamp()) + v_step - v_step * p_bursts[i] - clock_timestamp()));
    END IF;
  END LOOP;
  RETURN 0;
END $$;

-- Counts a guess as a failure before it is checked, so that concurrent guesses cannot exceed p_allowed. The last allowed failure
-- locks the subject; a success deletes the row. Failures older than p_lock_seconds do not count.
CREATE FUNCTION guess_begin(p_purpose text, p_subject bytea, p_allowed int, p_lock_seconds float8)
RETURNS TABLE (failures int, wait float8) LANGUAGE plpgsql AS $$
DECLARE
  v_now  timestamptz := clock_timestamp();
  v_lock interval := make_interval(secs => p_lock_seconds);
BEGIN
  INSERT INTO guess_locks AS known (purpose, subject, failures, last_at, locked_until)
  VALUES (p_purpose, p_subject, 1, v_now, CASE WHEN p_allowed <= 1 THEN v_now + v_lock END)
  ON CONFLICT ON CONSTRAINT guess_locks_pkey DO UPDATE
    SET failures = CASE WHEN known.locked_until IS NOT NULL OR known.last_at <= v_now - v_lock THEN 1 ELSE known.failures + 1 END,
        last_at = v_now,
        locked_until = CASE WHEN (CASE WHEN known.locked_until IS NOT NULL OR known.last_at <= v_now - v_lock
                                       THEN 1 ELSE known.failures + 1 END) >= p_allowed
                            THEN v_now + v_lock END
    WHERE known.locked_until IS NULL OR known.locked_until <= v_now
  RETURNING known.failures, 0::float8 INTO failures, wait;
  IF NOT FOUND THEN
    SELECT known.failures, greatest(0.001, extract(epoch FROM known.locked_until - clock_timestamp()))::float8 INTO failures, wait
      FROM guess_locks known WHERE known.purpose = p_purpose AND known.subject = p_subject;
    failures := coalesce(failures, p_allowed);
    wait := coalesce(wait, 1);
  END IF;
  RETURN NEXT;
END $$;
