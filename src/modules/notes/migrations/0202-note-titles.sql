-- Titles in the order that people expect in any language: without regard to case, numbers by their value.
CREATE COLLATION title_order (provider = icu, locale = 'und-u-kn-true-ks-level2');
CREATE INDEX notes_by_title ON notes (tenant_id, owner_id, title COLLATE title_order, id);
-- Shared notes only: `sort=title` reads the own notes in the order of the index above and sorts these.
CREATE INDEX note_members_shared ON note_members (tenant_id, user_id) WHERE role IN ('viewer', 'editor');
