-- The device whose write gave this row its number: a client skips its own changes by it.
ALTER TABLE task_folder_members ADD COLUMN device_id text;
