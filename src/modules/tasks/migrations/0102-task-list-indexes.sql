-- For lists that would otherwise sort or scan all tasks of a user.

-- By date, completed tasks included (task_members_agenda has open tasks).
CREATE INDEX task_members_days ON task_members (tenant_id, user_id, due_on, task_id)
  WHERE role IS NOT NULL AND NOT trashed;

-- Tasks assigned to a user.
CREATE INDEX task_members_assigned ON task_members (tenant_id, user_id, listed_at DESC, task_id DESC)
  WHERE role IS NOT NULL AND assigned;

-- Tasks that refer to a note.
CREATE INDEX tasks_references ON tasks USING gin (tenant_id, refs jsonb_path_ops) WHERE refs <> '[]';
