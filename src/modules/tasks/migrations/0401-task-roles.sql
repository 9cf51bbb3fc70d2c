-- Roles as a named type. In ascending order, so that they compare.
CREATE TYPE task_role AS ENUM ('viewer', 'editor', 'owner');

ALTER TABLE task_members ALTER COLUMN role TYPE task_role USING (enum_range(NULL::task_role))[role];
ALTER TABLE task_folder_members ALTER COLUMN role TYPE task_role USING (enum_range(NULL::task_role))[role];
ALTER TABLE task_folders
  ALTER COLUMN member_roles DROP DEFAULT,
  ALTER COLUMN member_roles TYPE task_role[]
    USING replace(replace(member_roles::text, '2', 'editor'), '1', 'viewer')::task_role[],
  ALTER COLUMN member_roles SET DEFAULT '{}';
