-- `sort=title` in the collation of titles of notes: own tasks come from the first index in order; the others are sorted.
CREATE INDEX tasks_by_title ON tasks (tenant_id, creator_id, title COLLATE title_order, id);
CREATE INDEX task_members_shared ON task_members (tenant_id, user_id) WHERE role IN ('viewer', 'editor');
