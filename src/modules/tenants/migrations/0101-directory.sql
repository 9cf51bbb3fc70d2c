CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- Name and address as the directory finds them: folded (no case, no accents), a space before each word, so that the
-- beginning of a word is found by its trigrams. Null until the application has folded it: rows from before this column.
ALTER TABLE tenant_members ADD COLUMN folded text;
CREATE INDEX tenant_members_words ON tenant_members USING gin (tenant_id, folded gin_trgm_ops)
  WITH (fastupdate = off) WHERE status = 'active';
CREATE INDEX tenant_members_unfolded ON tenant_members (tenant_id, user_id) WHERE folded IS NULL;
