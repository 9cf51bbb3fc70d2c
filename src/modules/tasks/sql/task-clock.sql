-- Purges locked tasks. Their ids stay reserved: an old ETag never matches another task. Feeds and events report them; one that was not
-- in the trash is reported as deleted too. p_actor: who purges them; null: the user who moved each to the trash.
CREATE FUNCTION tasks_purge(due tasks[], p_actor uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH removals AS MATERIALIZED (
    SELECT member.tenant_id, member.user_id, member.task_id,
           row_number() OVER (PARTITION BY member.tenant_id, member.user_id ORDER BY member.task_id) AS place
      FROM unnest(due) AS task
      JOIN task_members member ON member.tenant_id = task.tenant_id AND member.task_id = task.id
     WHERE member.role IS NOT NULL),
  counts AS (SELECT tenant_id, user_id, count(*) AS total FROM removals GROUP BY tenant_id, user_id),
  heads AS (
    INSERT INTO sync_heads AS current (tenant_id, user_id, head)
    SELECT tenant_id, user_id, total FROM counts ORDER BY user_id, tenant_id
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = current.head + excluded.head
    RETURNING current.tenant_id, current.user_id, current.head)
  UPDATE task_members member
     SET role = NULL, folder_id = NULL, gone = 2, gone_at = clock_timestamp(), device_id = NULL,
         seq = heads.head - counts.total + removals.place
    FROM removals JOIN heads USING (tenant_id, user_id) JOIN counts USING (tenant_id, user_id)
   WHERE member.tenant_id = removals.tenant_id AND member.task_id = removals.task_id AND member.user_id = removals.user_id;
  INSERT INTO outbox (tenant_id, id, type, payload)
  SELECT task.tenant_id, uuid_v7(), event.type,
         jsonb_build_object('task_id', task.id, 'revision', task.revision, 'actor_id', coalesce(p_actor, task.deleted_by))
    FROM unnest(due) AS task
    JOIN unnest('{task.deleted,task.purged}'::text[]) AS event (type) ON event.type = 'task.purged' OR task.deleted_at IS NULL;
  INSERT INTO purged_tasks (tenant_id, task_id) SELECT task.tenant_id, task.id FROM unnest(due) AS task ON CONFLICT DO NOTHING;
  PERFORM forget_responses(task.tenant_id, task.id) FROM unnest(due) AS task;
  DELETE FROM tasks USING unnest(due) AS task WHERE tasks.tenant_id = task.tenant_id AND tasks.id = task.id;
END $$;

-- Purges tasks whose time in the trash is over, oldest first. Tasks that are being written wait for the next run. @returns their number
CREATE FUNCTION tasks_purge_due(p_limit int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  due tasks[];
BEGIN
  due := ARRAY(SELECT task FROM tasks task WHERE purge_at <= now() ORDER BY purge_at LIMIT p_limit FOR UPDATE SKIP LOCKED);
  PERFORM tasks_purge(due, NULL);
  RETURN cardinality(due);
END $$;
