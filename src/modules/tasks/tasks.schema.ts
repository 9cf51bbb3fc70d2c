import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { TaskAttachment } from './parts/task-attachment.entity.js';
import { TaskFolder, TaskFolderMember } from './folders/task-folder.entity.js';
import { TaskSearch } from './lists/search/task-search.entity.js';
import { PurgedTask, Subtask, Task, TaskActivity, TaskComment, TaskMember } from './task.entity.js';

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
  migrations: sqlMigrations(import.meta.url, {
    Tasks1795100000001: '0001-tasks',
    TaskSearch1795100000101: '0101-task-search',
    TaskListIndexes1795100000102: '0102-task-list-indexes',
    TaskAttachments1795200000101: '0201-task-attachments',
    TaskRoles1795900000001: '0401-task-roles',
    TaskDevices1795900000002: '0402-task-devices',
    TaskFolderDevices1796200000002: '0403-task-folder-devices',
    TaskTitles1796200000003: '0404-task-titles',
    TaskHistory1798801000000: '0405-task-history',
    TaskIcalendar1798810000001: '0406-task-icalendar',
  }),
  sql: sqlFiles(
    'workspace',
    import.meta.url,
    'task-titles',
    'task-views',
    'task-feeds',
    'task-store',
    'task-folder-tree',
    'task-clock',
    'task-search',
    'release-0.1.0',
  ),
};
