-- For other modules: the titles of tasks, for every user that can read them.
CREATE VIEW task_titles AS
SELECT member.tenant_id, member.user_id, member.task_id, task.title
  FROM task_members member JOIN tasks task ON task.tenant_id = member.tenant_id AND task.id = member.task_id
 WHERE member.role IS NOT NULL;
