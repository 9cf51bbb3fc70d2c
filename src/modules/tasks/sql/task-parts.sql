-- Parts of a task: subtasks, comments, attachments. Their writes do not change the revision of the task, so that they do not
-- conflict with an edit of the task that another user has begun.

-- Whether this user may write with this role: `ok`, or the rejection. p_in_trash: also in the trash.
CREATE FUNCTION task_access(task tasks, p_user uuid, p_role task_role, p_in_trash boolean DEFAULT false)
RETURNS task_outcome LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_role task_role := (SELECT role FROM task_members WHERE tenant_id = task.tenant_id AND task_id = task.id AND user_id = p_user);
BEGIN
  RETURN CASE WHEN v_role IS NULL THEN task_rejected('not_found')
              WHEN v_role < p_role THEN task_rejected('forbidden')
              WHEN task.deleted_at IS NOT NULL AND NOT p_in_trash THEN task_deleted(task)
              ELSE task_rejected('ok') END;
END $$;

-- After a write of a part: the counters, the history, the feeds and the event. The caller holds the lock of the task row.
-- p_write: `list` (name of the list that changed), `activity` and `data` (entry of the history), `device`,
-- `subtasks` and `comments` (change of their number).
CREATE FUNCTION task_part_written(p_tenant uuid, p_user uuid, p_id uuid, p_write jsonb) RETURNS task_outcome LANGUAGE plpgsql AS $$
DECLARE
  task tasks;
BEGIN
  UPDATE tasks SET subtasks_count = subtasks_count + coalesce((p_write->>'subtasks')::int, 0),
         comments_count = comments_count + coalesce((p_write->>'comments')::int, 0)
   WHERE tenant_id = p_tenant AND id = p_id RETURNING * INTO task;
  PERFORM task_record(task, p_write->>'activity', p_user, p_write->'data');
  PERFORM task_advance(task, p_write->>'device');
  PERFORM task_event(task, 'task.updated', p_user, jsonb_build_object('changed', jsonb_build_array(p_write->'list')));
  IF p_write->>'activity' = 'commented' THEN
    PERFORM task_event(task, 'task.commented', p_user, jsonb_build_object(
      'comment_id', p_write->'data'->'id', 'recipients', task_comment_recipients(task, p_user)));
  END IF;
  RETURN task_written(task, p_user);
END $$;

-- The users whom a comment concerns: the creator, the assignees and earlier commenters who still see the task, without its
-- author.
CREATE FUNCTION task_comment_recipients(task tasks, p_author uuid) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT coalesce(jsonb_agg(member.user_id), '[]') FROM task_members member
     WHERE member.tenant_id = task.tenant_id AND member.task_id = task.id AND member.role IS NOT NULL AND member.user_id <> p_author
       AND (member.role = 'owner' OR member.assigned OR EXISTS (
         SELECT FROM task_comments comment
          WHERE comment.tenant_id = task.tenant_id AND comment.task_id = task.id AND comment.author_id = member.user_id)));
END $$;
