CREATE FUNCTION task_status(s smallint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT (ARRAY['open', 'in_progress', 'done', 'cancelled'])[s + 1] $$;

CREATE FUNCTION task_priority(p smallint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT (ARRAY['none', 'low', 'normal', 'medium', 'high', 'urgent', 'critical'])[p + 1] $$;

-- Joined in the views and not put into a function: a function that reads a table is not inlined and costs a call per row.
CREATE VIEW subtask_views AS
SELECT s.tenant_id, s.task_id, s.id, s.position,
       json_build_object(
         'id', s.id, 'title', s.title, 'done', s.done,
         'assignee', CASE WHEN s.assignee_id IS NOT NULL THEN
           json_build_object('id', s.assignee_id, 'email', p.email, 'name', p.display_name) END,
         'date', s.date, 'position', s.position,
         'created_at', rfc3339(s.created_at), 'updated_at', rfc3339(s.updated_at)) AS subtask
  FROM subtasks s LEFT JOIN tenant_members p ON p.tenant_id = s.tenant_id AND p.user_id = s.assignee_id;

CREATE VIEW task_comment_views AS
SELECT c.tenant_id, c.task_id, c.id, c.created_at,
       json_build_object(
         'id', c.id, 'body', c.body,
         'author', json_build_object('id', c.author_id, 'email', p.email, 'name', p.display_name),
         'created_at', rfc3339(c.created_at), 'edited_at', rfc3339(c.edited_at))::text AS comment
  FROM task_comments c LEFT JOIN tenant_members p ON p.tenant_id = c.tenant_id AND p.user_id = c.author_id;

-- One row for each member of each task: the one shape of a task, from which every response selects. `refs` stands beside the
-- JSON: the service adds titles that other domains own, for a whole page at once. `summary` is the task without its
-- description, for search results, so that long descriptions are not read.
CREATE VIEW task_views AS
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
      'role', m.role,
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

-- Folders as the people who see them see them. A member of a folder deep in a tree does not learn what lies above it.
CREATE VIEW task_folder_views AS
SELECT m.tenant_id, m.user_id, f.id, m.role, f.position, v.parent_id, m.seq,
       json_build_object(
         'id', f.id,
         'name', f.name,
         'parent_id', v.parent_id,
         'position', f.position,
         'color', f.color,
         'task_count', (SELECT count(*) FROM task_members tm
                         WHERE tm.tenant_id = m.tenant_id AND tm.user_id = m.user_id AND tm.folder_id = f.id
                           AND tm.role IS NOT NULL AND NOT tm.trashed),
         'role', m.role,
         'owner', json_build_object('id', f.owner_id, 'email', o.email, 'name', o.display_name),
         'members', (
           SELECT coalesce(json_agg(json_build_object(
                    'user_id', p.user_id, 'id', p.user_id, 'email', u.email, 'name', u.display_name,
                    'role', p.role, 'inherited', p.user_id <> ALL (f.member_ids))
                    ORDER BY array_position(f.member_ids, p.user_id), p.user_id), '[]'::json)
             FROM task_folder_members p
             LEFT JOIN tenant_members u ON u.tenant_id = p.tenant_id AND u.user_id = p.user_id
            WHERE p.tenant_id = f.tenant_id AND p.folder_id = f.id AND p.role < 'owner'),
         'revision', f.revision,
         'created_at', rfc3339(f.created_at),
         'updated_at', rfc3339(f.updated_at))::text AS folder
  FROM task_folder_members m
  JOIN task_folders f ON f.tenant_id = m.tenant_id AND f.id = m.folder_id
  LEFT JOIN tenant_members o ON o.tenant_id = f.tenant_id AND o.user_id = f.owner_id
  LEFT JOIN LATERAL (
    SELECT f.parent_id FROM task_folder_members up
     WHERE up.tenant_id = f.tenant_id AND up.folder_id = f.parent_id AND up.user_id = m.user_id AND up.role IS NOT NULL) v ON true
 WHERE m.role IS NOT NULL;
