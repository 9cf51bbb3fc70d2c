-- How often somebody has asked lately: the generic cell rate algorithm needs one time for each. Losing the table in a crash
-- only forgives what was counted, so it is not written to the log.
CREATE UNLOGGED TABLE rate_limits (
  scope       text        NOT NULL,
  -- HMAC of the address, account or token: no personal data at rest.
  subject     bytea       NOT NULL,
  -- When all that was taken so far would have been taken at the permitted pace.
  paid_until  timestamptz NOT NULL,
  PRIMARY KEY (scope, subject)
) WITH (fillfactor = 50);
CREATE INDEX rate_limits_paid ON rate_limits (paid_until);

-- Takes one from each of several limits, in the order given (the callers sort them).
-- Returns the seconds until the first one that is exhausted has one again; 0 when all had one.
CREATE FUNCTION rate_limit_take(p_scopes text[], p_subjects bytea[], p_intervals float8[], p_bursts int[])
RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  v_now  timestamptz := clock_timestamp();
  v_step interval;
  v_paid timestamptz;
BEGIN
  FOR i IN 1 .. cardinality(p_scopes) LOOP
    v_step := make_interval(secs => p_intervals[i]);
    INSERT INTO rate_limits AS r (scope, subject, paid_until) VALUES (p_scopes[i], p_subjects[i], v_now + v_step)
      ON CONFLICT (scope, subject) DO UPDATE SET paid_until = greatest(r.paid_until, v_now) + v_step
      WHERE r.paid_until + v_step <= v_now + v_step * p_bursts[i];
    IF NOT FOUND THEN
      SELECT paid_until INTO v_paid FROM rate_limits WHERE scope = p_scopes[i] AND subject = p_subjects[i];
      RETURN greatest(0.001, extract(epoch FROM coalesce(v_paid, v_now) + v_step - v_step * p_bursts[i] - clock_timestamp()));
    END IF;
  END LOOP;
  RETURN 0;
END $$;

-- Failures in a row against something that can be guessed. Kept through crashes and restarts.
CREATE TABLE guess_locks (
  purpose       text        NOT NULL,
  subject       bytea       NOT NULL,
  failures      int         NOT NULL,
  last_at       timestamptz NOT NULL,
  locked_until  timestamptz,
  PRIMARY KEY (purpose, subject)
) WITH (fillfactor = 50);
CREATE INDEX guess_locks_last ON guess_locks (last_at);

-- Counts a guess as failed before it is looked at, so that guesses made at once cannot exceed the number allowed.
-- The last one allowed locks; success takes the row away. Failures as old as a lock is long are forgiven.
CREATE FUNCTION guess_begin(p_purpose text, p_subject bytea, p_allowed int, p_lock_seconds float8)
RETURNS TABLE (failures int, wait float8) LANGUAGE plpgsql AS $$
DECLARE
  v_now  timestamptz := clock_timestamp();
  v_lock interval := make_interval(secs => p_lock_seconds);
BEGIN
  INSERT INTO guess_locks AS g (purpose, subject, failures, last_at, locked_until)
  VALUES (p_purpose, p_subject, 1, v_now, CASE WHEN p_allowed <= 1 THEN v_now + v_lock END)
  ON CONFLICT ON CONSTRAINT guess_locks_pkey DO UPDATE
    SET failures = CASE WHEN g.locked_until IS NOT NULL OR g.last_at <= v_now - v_lock THEN 1 ELSE g.failures + 1 END,
        last_at = v_now,
        locked_until = CASE WHEN (CASE WHEN g.locked_until IS NOT NULL OR g.last_at <= v_now - v_lock
                                       THEN 1 ELSE g.failures + 1 END) >= p_allowed
                            THEN v_now + v_lock END
    WHERE g.locked_until IS NULL OR g.locked_until <= v_now
  RETURNING g.failures, 0::float8 INTO failures, wait;
  IF NOT FOUND THEN
    SELECT g.failures, greatest(0.001, extract(epoch FROM g.locked_until - clock_timestamp()))::float8 INTO failures, wait
      FROM guess_locks g WHERE g.purpose = p_purpose AND g.subject = p_subject;
    failures := coalesce(failures, p_allowed);
    wait := coalesce(wait, 1);
  END IF;
  RETURN NEXT;
END $$;
