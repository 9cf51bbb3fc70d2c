CREATE EXTENSION IF NOT EXISTS btree_gin;

-- What the search finds of each task, as note_search does of notes: its words, its beginning, and lexemes for those who may
-- find it. Written after the task, by a consumer of its events.
CREATE TABLE task_search (
  tenant_id  uuid      NOT NULL,
  task_id    uuid      NOT NULL,
  -- What it was made from. It is stale when one of these differs from the task.
  revision   int       NOT NULL,
  audience   uuid      NOT NULL,
  -- Of the rules by which texts become words: other rules, other words.
  rules      smallint  NOT NULL,
  tsv        tsvector  NOT NULL,
  -- How its description begins: what a search shows of it. Ends with … when there is more.
  beginning  text      NOT NULL,
  PRIMARY KEY (tenant_id, task_id),
  FOREIGN KEY (tenant_id, task_id) REFERENCES tasks (tenant_id, id) ON DELETE CASCADE
) WITH (autovacuum_vacuum_scale_factor = 0.05);
DO $$ BEGIN
  ALTER TABLE task_search ALTER COLUMN tsv SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN
  NULL;
END $$;
ALTER TABLE task_search ALTER COLUMN tsv SET STORAGE MAIN, ALTER COLUMN beginning SET STORAGE MAIN;
CREATE INDEX task_search_words ON task_search USING gin (tenant_id, tsv)
  WITH (fastupdate = on, gin_pending_list_limit = 256);
