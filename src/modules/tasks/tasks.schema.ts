import type { SchemaPart } from '../../platform/database/data-source.js';
import { sqlMigration } from '../../platform/database/sql-migration.js';
import { TaskAttachment } from './parts/task-attachment.entity.js';
import { TaskFolder, TaskFolderMember } from './folders/task-folder.entity.js';
import { TaskSearch } from './search/task-search.entity.js';
import { Subtask, Task, TaskActivity, TaskComment, TaskMember } from './task.entity.js';

const file = (name: string) => new URL(`migrations/${name}`, import.meta.url);

export const tasksSchema: SchemaPart = {
  entities: [
    Task,
    TaskMember,
    Subtask,
    TaskComment,
    TaskActivity,
    TaskFolder,
    TaskFolderMember,
    TaskAttachment,
    TaskSearch,
  ],
  migrations: [
    sqlMigration('Tasks1795100000001', file('0001-tasks.sql')),
    sqlMigration('TaskViews1795100000002', file('0002-task-views.sql')),
    sqlMigration('TaskWrites1795100000003', file('0003-task-writes.sql')),
    sqlMigration('TaskFolderWrites1795100000004', file('0004-task-folder-writes.sql')),
    sqlMigration('TaskParts1795100000005', file('0005-task-parts.sql')),
    sqlMigration('TaskClock1795100000006', file('0006-task-clock.sql')),
    sqlMigration('TaskSearch1795100000101', file('0101-task-search.sql')),
    sqlMigration('TaskListIndexes1795100000102', file('0102-task-list-indexes.sql')),
    sqlMigration('TaskAttachments1795200000101', file('0201-task-attachments.sql')),
    sqlMigration('TaskSummaries1795800000001', file('0301-task-summaries.sql')),
  ],
};
