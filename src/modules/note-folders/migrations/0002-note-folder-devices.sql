-- The device whose write gave this row its number: a client skips its own changes by it.
ALTER TABLE note_folders ADD COLUMN device_id text;
