-- The time of the append, after the locks of the changed rows: events of one object have the order of its changes.
ALTER TABLE outbox ALTER COLUMN occurred_at SET DEFAULT clock_timestamp();
