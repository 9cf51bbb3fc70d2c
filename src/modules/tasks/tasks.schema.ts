import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { TaskAttachment } from './parts/task-attachment.entity.js';
import { TaskFolder, TaskFolderMember } from './folders/task-folder.entity.js';
import { TaskSearch } from './lists/search/task-search.entity.js';
import { PurgedTask, Subtask, Task, TaskActivity, TaskComment, TaskMember } from './task.entity.js';

const file = (name: string) => new URL(`migrations/${name}`, import.meta.url);

export const tasksSchema: SchemaPart = {
  owner: 'tasks',
  publishes: ['task_titles'],
  entities: {
    workspace: [
      Task,
      TaskMember,
      Subtask,
      TaskComment,
      TaskActivity,
      TaskFolder,
      TaskFolderMember,
      TaskAttachment,
      TaskSearch,
      PurgedTask,
    ],
  },
  migrations: [
    sqlMigration('Tasks1795100000001', file('0001-tasks.sql')),
    sqlMigration('TaskSearch1795100000101', file('0101-task-search.sql')),
    sqlMigration('TaskListIndexes1795100000102', file('0102-task-list-indexes.sql')),
    sqlMigration('TaskAttachments1795200000101', file('0201-task-attachments.sql')),
    sqlMigration('TaskRoles1795900000001', file('0401-task-roles.sql')),
    sqlMigration('TaskDevices1795900000002', file('0402-task-devices.sql')),
    sqlMigration('TaskFolderDevices1796200000002', file('0403-task-folder-devices.sql')),
    sqlMigration('TaskTitles1796200000003', file('0404-task-titles.sql')),
  ],
  sql: sqlFiles(
    'workspace',
    new URL('sql/', import.meta.url),
    'task-titles',
    'task-views',
    'task-write-steps',
    'task-writes',
    'task-folder-tree',
    'task-parts',
    'task-clock',
    'task-search',
    'task-attachments',
    'tasks-of-members',
  ),
};
