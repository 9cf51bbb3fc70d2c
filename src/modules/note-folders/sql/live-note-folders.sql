-- The folders that notes can be placed in, for the checks of other modules.
CREATE VIEW live_note_folders AS
SELECT tenant_id, id, owner_id FROM note_folders WHERE gone_at IS NULL;
