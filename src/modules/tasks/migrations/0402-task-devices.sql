-- The device whose write gave this row its number: a client skips its own changes by it.
ALTER TABLE task_members ADD COLUMN device_id text;

-- Ids of purged tasks. They are never used again: a task with the same id would begin at revision 1, and an old ETag could
-- match it.
CREATE TABLE purged_tasks (
  tenant_id  uuid  NOT NULL,
  task_id    uuid  NOT NULL,
  PRIMARY KEY (tenant_id, task_id)
);
INSERT INTO purged_tasks (tenant_id, task_id) SELECT DISTINCT tenant_id, task_id FROM task_members WHERE gone = 2;

-- The documented name.
UPDATE task_activity SET type = 'attachment_deleted' WHERE type = 'attachment_removed';
