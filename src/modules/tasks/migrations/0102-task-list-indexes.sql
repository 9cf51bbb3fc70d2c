-- Lists that would otherwise sort or look through all tasks of somebody.

-- By date, also of what is done (task_members_agenda has what is open).
CREATE INDEX task_members_days ON task_members (tenant_id, user_id, due_on, task_id)
  WHERE role IS NOT NULL AND NOT trashed;

-- What somebody is assigned: for themselves, and for others who ask for it.
CREATE INDEX task_members_assigned ON task_members (tenant_id, user_id, listed_at DESC, task_id DESC)
  WHERE role IS NOT NULL AND assigned;

-- Tasks that refer to a note.
CREATE INDEX tasks_references ON tasks USING gin (tenant_id, refs jsonb_path_ops) WHERE refs <> '[]';
