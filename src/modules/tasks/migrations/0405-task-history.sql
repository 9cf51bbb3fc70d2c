-- Entries of the history up to this number were written before the member began to see the task. Members of today read all entries.
ALTER TABLE task_members ADD COLUMN history_from int NOT NULL DEFAULT 0;
