-- Tenant and words in one index: a search never walks through what other workspaces have written.
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- What the search finds of each note: its words, and one lexeme for each person who may see it, so that one look-up
-- decides text and access. Written after the note, by a consumer of its events (ADR 11).
CREATE TABLE note_search (
  tenant_id  uuid      NOT NULL,
  note_id    uuid      NOT NULL,
  -- What it was made from. It is stale when one of these differs from the note.
  revision   int       NOT NULL,
  audience   uuid      NOT NULL,
  -- Of the rules by which texts become words: other rules, other words.
  rules      smallint  NOT NULL,
  tsv        tsvector  NOT NULL,
  -- How its text begins: what a search shows of it without reading the body. Ends with … when there is more.
  beginning  text      NOT NULL,
  PRIMARY KEY (tenant_id, note_id),
  FOREIGN KEY (tenant_id, note_id) REFERENCES notes (tenant_id, id) ON DELETE CASCADE
) WITH (autovacuum_vacuum_scale_factor = 0.05);
-- Ranking reads the words of every match; lz4 unpacks them several times faster. Not every build has it.
DO $$ BEGIN
  ALTER TABLE note_search ALTER COLUMN tsv SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN
  NULL;
END $$;

-- In the row itself, whereas the words of all but short notes lie elsewhere.
ALTER TABLE note_search ALTER COLUMN beginning SET STORAGE MAIN;

-- fastupdate: the words of a note are collected and merged into the index by the hundred. The list of those not merged
-- yet is read by every search, so it is kept short.
CREATE INDEX note_search_words ON note_search USING gin (tenant_id, tsv)
  WITH (fastupdate = on, gin_pending_list_limit = 256);
