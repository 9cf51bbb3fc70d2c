-- Roles and reasons of removals get names, in the order of what they allow.
CREATE TYPE note_role AS ENUM ('viewer', 'editor', 'owner');
CREATE TYPE note_removal AS ENUM ('unshared', 'purged');

ALTER TABLE notes
  ALTER COLUMN member_roles TYPE note_role[] USING
    replace(replace(replace(member_roles::text, '1', 'viewer'), '2', 'editor'), '3', 'owner')::note_role[],
  ALTER COLUMN share_role TYPE note_role USING (ARRAY['viewer', 'editor', 'owner'])[share_role]::note_role,
  -- The history keeps the device of each revision, the feed that of each change.
  DROP COLUMN updated_device;

ALTER TABLE note_members
  ALTER COLUMN role TYPE note_role USING (ARRAY['viewer', 'editor', 'owner'])[role]::note_role,
  ALTER COLUMN gone TYPE note_removal USING (ARRAY['unshared', 'purged'])[gone]::note_removal,
  -- The device whose write gave this row its number: a client skips its own changes by it.
  ADD COLUMN device_id text;

-- Titles of linked tasks are read from the tasks, for each reader.
UPDATE notes SET links = (
  SELECT jsonb_agg(link - 'title' ORDER BY position) FROM jsonb_array_elements(links) WITH ORDINALITY AS listed (link, position))
 WHERE links <> '[]';

-- Ids of purged notes. They are never used again: a note with the same id would begin at revision 1, and an old ETag
-- could match it.
CREATE TABLE purged_notes (
  tenant_id  uuid  NOT NULL,
  note_id    uuid  NOT NULL,
  PRIMARY KEY (tenant_id, note_id)
);
INSERT INTO purged_notes (tenant_id, note_id)
SELECT DISTINCT tenant_id, note_id FROM note_members WHERE gone = 'purged';
