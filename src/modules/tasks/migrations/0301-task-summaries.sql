-- A task without its description, for those who look through many: a page of hits whose descriptions are long would be read
-- for nothing otherwise. What a whole task shows is still said once.
CREATE OR REPLACE VIEW task_views AS
SELECT m.tenant_id, m.user_id, m.task_id, m.role, t.revision, m.seq,
       CASE WHEN t.refs <> '[]' THEN t.refs::text END AS refs,
       left(s.summary, -1) || ', "description" : ' || coalesce(to_json(t.description)::text, 'null') || '}' AS task,
       s.summary
  FROM task_members m
  JOIN tasks t ON t.tenant_id = m.tenant_id AND t.id = m.task_id
  LEFT JOIN tenant_members c ON c.tenant_id = t.tenant_id AND c.user_id = t.creator_id
  CROSS JOIN LATERAL (
    SELECT json_build_object(
      'id', t.id,
      'title', t.title,
      'status', task_status(t.status),
      'done', t.status = 2,
      'completed_at', rfc3339(t.completed_at),
      'date', t.date,
      'due_at', rfc3339(t.due_at),
      'time_zone', t.time_zone,
      'recurrence', t.recurrence - 'start',
      'next_task_id', t.next_task_id,
      'reminders', t.reminders,
      'priority', task_priority(t.priority),
      'group', t.group_name,
      'folder_id', m.folder_id,
      'labels', t.labels,
      'assignees', CASE WHEN t.assignee_ids = '{}' THEN '[]'::json ELSE (
        SELECT json_agg(json_build_object('id', a.id, 'email', p.email, 'name', p.display_name) ORDER BY a.n)
          FROM unnest(t.assignee_ids) WITH ORDINALITY AS a (id, n)
          LEFT JOIN tenant_members p ON p.tenant_id = t.tenant_id AND p.user_id = a.id) END,
      'subtasks', CASE WHEN t.subtasks_count = 0 THEN '[]'::json ELSE (
        SELECT json_agg(s.subtask ORDER BY s.position, s.id)
          FROM subtask_views s WHERE s.tenant_id = t.tenant_id AND s.task_id = t.id) END,
      'attachments', t.attachments,
      'comments_count', t.comments_count,
      'position', t.position,
      'role', task_role(m.role),
      'revision', t.revision,
      'created_by', t.creator_id,
      'creator', json_build_object('id', t.creator_id, 'email', c.email, 'name', c.display_name),
      'created_at', rfc3339(t.created_at),
      'updated_at', rfc3339(t.updated_at),
      'updated_by', t.updated_by,
      'deleted', t.deleted_at IS NOT NULL,
      'deleted_at', rfc3339(t.deleted_at),
      'deleted_by', t.deleted_by,
      'purge_at', rfc3339(t.purge_at))::text AS summary) s
 WHERE m.role IS NOT NULL;
