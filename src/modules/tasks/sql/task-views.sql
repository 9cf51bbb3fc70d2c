CREATE FUNCTION task_status(p_status smallint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT (ARRAY['open', 'in_progress', 'done', 'cancelled'])[p_status + 1] $$;

CREATE FUNCTION task_priority(p_priority smallint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT (ARRAY['none', 'low', 'normal', 'medium', 'high', 'urgent', 'critical'])[p_priority + 1] $$;

-- The views join the profiles: PostgreSQL would not inline a function that reads a table, and would call it for each row.
CREATE VIEW subtask_views AS
SELECT subtask.tenant_id, subtask.task_id, subtask.id, subtask.position,
       json_build_object(
         'id', subtask.id, 'title', subtask.title, 'done', subtask.done,
         'assignee', CASE WHEN subtask.assignee_id IS NOT NULL THEN
           json_build_object('id', subtask.assignee_id, 'email', assignee.email, 'name', assignee.display_name) END,
         'date', subtask.date, 'position', subtask.position,
         'created_at', rfc3339(subtask.created_at), 'updated_at', rfc3339(subtask.updated_at)) AS subtask
  FROM subtasks subtask
  LEFT JOIN member_profiles assignee ON assignee.tenant_id = subtask.tenant_id AND assignee.user_id = subtask.assignee_id;

CREATE VIEW task_comment_views AS
SELECT entry.tenant_id, entry.task_id, entry.id, entry.created_at,
       json_build_object(
         'id', entry.id, 'body', entry.body,
         'author', json_build_object('id', entry.author_id, 'email', author.email, 'name', author.display_name),
         'created_at', rfc3339(entry.created_at), 'edited_at', rfc3339(entry.edited_at))::text AS comment
  FROM task_comments entry
  LEFT JOIN member_profiles author ON author.tenant_id = entry.tenant_id AND author.user_id = entry.author_id;

-- JSON of tasks, one row for each member of each task. Every response with a task selects from this view. `refs` is a column of
-- its own: the service adds titles that other domains own, for a whole page at once. `summary` is the task without its
-- description, for search results, so that long descriptions are not read. `synced` is the task with its newest 50
-- comments, for the change feed.
CREATE VIEW task_views AS
SELECT member.tenant_id, member.user_id, member.task_id, member.role, task.revision, member.seq,
       CASE WHEN task.refs <> '[]' THEN task.refs::text END AS refs,
       left(shape.summary, -1) || ', "description" : ' || coalesce(to_json(task.description)::text, 'null') || '}' AS task,
       shape.summary,
       left(shape.summary, -1) || ', "description" : ' || coalesce(to_json(task.description)::text, 'null')
         || ', "comments" : ' || CASE WHEN task.comments_count = 0 THEN '[]' ELSE (
           SELECT '[' || string_agg(newest.comment, ',') || ']' FROM (
             SELECT entry.comment FROM task_comment_views entry
              WHERE entry.tenant_id = task.tenant_id AND entry.task_id = task.id
              ORDER BY entry.created_at DESC, entry.id DESC LIMIT 50) newest) END || '}' AS synced
  FROM task_members member
  JOIN tasks task ON task.tenant_id = member.tenant_id AND task.id = member.task_id
  LEFT JOIN member_profiles creator ON creator.tenant_id = task.tenant_id AND creator.user_id = task.creator_id
  CROSS JOIN LATERAL (
    SELECT json_build_object(
      'id', task.id,
      'title', task.title,
      'status', task_status(task.status),
      'done', task.status = 2,
      'completed_at', rfc3339(task.completed_at),
      'date', task.date,
      'due_at', rfc3339(task.due_at),
      'time_zone', task.time_zone,
      'recurrence', task.recurrence - '{start,scheduled,hour,number}'::text[],
      'next_task_id', task.next_task_id,
      'reminders', task.reminders,
      'priority', task_priority(task.priority),
      'group', task.group_name,
      'folder_id', member.folder_id,
      'labels', task.labels,
      'assignees', CASE WHEN task.assignee_ids = '{}' THEN '[]'::json ELSE (
        SELECT json_agg(json_build_object('id', assignee.id, 'email', profile.email, 'name', profile.display_name) ORDER BY assignee.position)
          FROM unnest(task.assignee_ids) WITH ORDINALITY AS assignee (id, position)
          LEFT JOIN member_profiles profile ON profile.tenant_id = task.tenant_id AND profile.user_id = assignee.id) END,
      'subtasks', CASE WHEN task.subtasks_count = 0 THEN '[]'::json ELSE (
        SELECT json_agg(step.subtask ORDER BY step.position, step.id)
          FROM subtask_views step WHERE step.tenant_id = task.tenant_id AND step.task_id = task.id) END,
      'attachments', task.attachments,
      'comments_count', task.comments_count,
      'position', task.position,
      'role', member.role,
      'revision', task.revision,
      'created_by', task.creator_id,
      'creator', json_build_object('id', task.creator_id, 'email', creator.email, 'name', creator.display_name),
      'created_at', rfc3339(task.created_at),
      'updated_at', rfc3339(task.updated_at),
      'updated_by', task.updated_by,
      'updated_device', member.device_id,
      'deleted', task.deleted_at IS NOT NULL,
      'deleted_at', rfc3339(task.deleted_at),
      'deleted_by', task.deleted_by,
      'purge_at', rfc3339(task.purge_at))::text AS summary) shape
 WHERE member.role IS NOT NULL;

-- Folders as their members see them. A member of a folder below others sees no folder above it.
CREATE VIEW task_folder_views AS
SELECT member.tenant_id, member.user_id, folder.id, member.role, folder.position, visible.parent_id, member.seq,
       json_build_object(
         'id', folder.id,
         'name', folder.name,
         'parent_id', visible.parent_id,
         'position', folder.position,
         'color', folder.color,
         'task_count', (SELECT count(*) FROM task_members placed
                         WHERE placed.tenant_id = member.tenant_id AND placed.user_id = member.user_id AND placed.folder_id = folder.id
                           AND placed.role IS NOT NULL AND NOT placed.trashed),
         'role', member.role,
         'owner', json_build_object('id', folder.owner_id, 'email', owner.email, 'name', owner.display_name),
         'members', (
           SELECT coalesce(json_agg(json_build_object(
                    'user_id', other.user_id, 'id', other.user_id, 'email', profile.email, 'name', profile.display_name,
                    'role', other.role, 'inherited', other.user_id <> ALL (folder.member_ids))
                    ORDER BY array_position(folder.member_ids, other.user_id), other.user_id), '[]'::json)
             FROM task_folder_members other
             LEFT JOIN member_profiles profile ON profile.tenant_id = other.tenant_id AND profile.user_id = other.user_id
            WHERE other.tenant_id = folder.tenant_id AND other.folder_id = folder.id AND other.role < 'owner'),
         'revision', folder.revision,
         'created_at', rfc3339(folder.created_at),
         'updated_at', rfc3339(folder.updated_at),
         'updated_device', member.device_id)::text AS folder
  FROM task_folder_members member
  JOIN task_folders folder ON folder.tenant_id = member.tenant_id AND folder.id = member.folder_id
  LEFT JOIN member_profiles owner ON owner.tenant_id = folder.tenant_id AND owner.user_id = folder.owner_id
  LEFT JOIN LATERAL (
    SELECT folder.parent_id FROM task_folder_members parent
     WHERE parent.tenant_id = folder.tenant_id AND parent.folder_id = folder.parent_id AND parent.user_id = member.user_id AND parent.role IS NOT NULL) visible ON true
 WHERE member.role IS NOT NULL;
