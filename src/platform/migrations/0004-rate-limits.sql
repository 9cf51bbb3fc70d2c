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
