-- Per kind of item: how many the user had when they were last counted, and the number of the feed at that time (sql/sync-heads.sql).
ALTER TABLE sync_heads ADD COLUMN counted jsonb NOT NULL DEFAULT '{}';
