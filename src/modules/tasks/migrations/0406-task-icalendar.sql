-- What a CalDAV program stored of a task that the task has no field for: {"properties": {name: [property, ...]}, "alarms": [component, ...],
-- "others": [component, ...]}; and the UID that the program chose. Without one, the UID is the id.
ALTER TABLE tasks ADD COLUMN uid text, ADD COLUMN icalendar jsonb;
CREATE INDEX tasks_uid ON tasks (tenant_id, uid) WHERE uid IS NOT NULL;

-- The folders that the task has left for this member: their synchronised lists report its removal.
ALTER TABLE task_members ADD COLUMN left_folders uuid[] NOT NULL DEFAULT '{}';
CREATE FUNCTION task_members_leave() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.left_folders := array_remove(OLD.left_folders, OLD.folder_id) || OLD.folder_id;
  RETURN NEW;
END $$;
CREATE TRIGGER task_members_leave BEFORE UPDATE ON task_members FOR EACH ROW
  WHEN (OLD.folder_id IS NOT NULL AND OLD.folder_id IS DISTINCT FROM NEW.folder_id) EXECUTE FUNCTION task_members_leave();

-- The place of the list among the calendars of this user in their programs.
ALTER TABLE task_folder_members ADD COLUMN calendar_order double precision;
