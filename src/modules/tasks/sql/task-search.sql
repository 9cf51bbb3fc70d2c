-- By whom a task is looked up: its creator, its assignees, and the owner of its folder for everybody whom that owner shares
-- folders with. So sharing a folder of thousands of tasks changes nothing here; whether somebody sees a task that is found
-- is decided by task_members.
CREATE FUNCTION task_finders(t tasks) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT array_append(t.assignee_ids::text[], t.creator_id::text)
      || coalesce((SELECT ARRAY['f' || f.owner_id] FROM task_folders f WHERE f.tenant_id = t.tenant_id AND f.id = t.folder_id), '{}')
$$;

-- Names that list: another list, another name.
CREATE FUNCTION task_finders_name(t tasks) RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT md5(array_to_string(task_finders(t), ','))::uuid $$;
