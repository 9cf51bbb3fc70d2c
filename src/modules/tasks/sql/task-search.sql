-- Search keys of a task: its creator, its assignees, and the owner of its folder for every user whom that owner shares
-- folders with. Sharing a folder of thousands of tasks therefore changes no index entry; task_members decides whether a
-- user sees a task that was found.
CREATE FUNCTION task_finders(task tasks) RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT array_append(task.assignee_ids::text[], task.creator_id::text)
      || coalesce((SELECT ARRAY['f' || folder.owner_id] FROM task_folders folder
                    WHERE folder.tenant_id = task.tenant_id AND folder.id = task.folder_id), '{}')
$$;

-- A key for a list of finders: equal lists have equal keys.
CREATE FUNCTION task_finders_name(task tasks) RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT md5(array_to_string(task_finders(task), ','))::uuid $$;
