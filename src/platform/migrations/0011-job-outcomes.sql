-- The outcome of the last runs, for metrics and the doctor. A success removes the failure before it.
ALTER TABLE job_runs
  ADD COLUMN every_seconds int,
  ADD COLUMN succeeded_at timestamptz,
  ADD COLUMN failed_at timestamptz,
  ADD COLUMN error text;
