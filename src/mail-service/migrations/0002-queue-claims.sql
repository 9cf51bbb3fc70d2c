-- Entries for the relay are claimed apart from local ones. A claim belongs to a worker, which holds an advisory lock while it
-- runs and extends its leases: entries of a dead worker are free at once.
ALTER TABLE queue
  ADD COLUMN outside boolean NOT NULL DEFAULT false,
  ADD COLUMN worker int,
  ADD COLUMN leased_until timestamptz;
DROP INDEX queue_due;
CREATE INDEX queue_due ON queue (outside, due_at);
CREATE INDEX queue_claimed ON queue (worker) WHERE worker IS NOT NULL;

-- Claims used to be a later due_at.
UPDATE queue SET due_at = least(due_at, now()) WHERE attempts > 0;
