CREATE EXTENSION IF NOT EXISTS btree_gin;

-- Search index of tasks, like note_search: words, the beginning of the description, and lexemes for the users that may find
-- the task. A consumer of the events of tasks writes it.
CREATE TABLE task_search (
  tenant_id  uuid      NOT NULL,
  task_id    uuid      NOT NULL,
  -- Version of the task that it was made from; stale when one of these columns differs from the task.
  revision   int       NOT NULL,
  audience   uuid      NOT NULL,
  -- Version of the rules that split text into words.
  rules      smallint  NOT NULL,
  tsv        tsvector  NOT NULL,
  -- Beginning of the description, for search results; ends with … when it was cut.
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
