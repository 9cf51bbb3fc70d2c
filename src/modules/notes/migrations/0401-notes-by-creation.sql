-- Own notes by creation, for `sort=created_at`. An index of `notes`, not of `note_members`: an update of a note writes no entry here.
CREATE INDEX notes_by_creation ON notes (tenant_id, owner_id, created_at, id);
