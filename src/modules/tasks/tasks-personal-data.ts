import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';
import { personalRows } from '../../platform/personal-data/personal-rows.js';

const assignedTasks = workspace.statement<never>(
  'tasks.personal_assigned_tasks',
  personalRows(`SELECT task.id, task.creator_id, task.folder_id, task.title, task.description, task.status, task.priority,
            task.group_name, task.labels, task.assignee_ids, task.date, task.due_at, task.time_zone, task.recurrence, task.reminders,
            task.refs AS "references", task.icalendar, task.completed_at, task.created_at, task.updated_at, task.deleted_at, (
              SELECT jsonb_agg(jsonb_build_object('id', subtask.id, 'title', subtask.title, 'done', subtask.done, 'date', subtask.date)
                               ORDER BY subtask.position)
                FROM subtasks subtask WHERE subtask.tenant_id = task.tenant_id AND subtask.task_id = task.id) AS subtasks
       FROM tasks task
      WHERE task.tenant_id = $1 AND (task.creator_id = $2 OR ($2 = ANY (task.assignee_ids) AND EXISTS (
        SELECT FROM task_members member
         WHERE member.tenant_id = task.tenant_id AND member.task_id = task.id AND member.user_id = $2 AND member.role IS NOT NULL)))
      ORDER BY task.id`),
);

const ownedFolders = workspace.statement<never>(
  'tasks.personal_owned_folders',
  personalRows(`SELECT folder.id, folder.parent_id, folder.name, folder.color, folder.created_at, folder.updated_at
       FROM task_folders folder WHERE folder.tenant_id = $1 AND folder.owner_id = $2 AND folder.gone_at IS NULL ORDER BY folder.id`),
);

const comments = workspace.statement<never>(
  'tasks.personal_comments',
  personalRows(`SELECT comment.id, comment.task_id, comment.body, comment.created_at, comment.edited_at
       FROM task_comments comment WHERE comment.tenant_id = $1 AND comment.author_id = $2 ORDER BY comment.id`),
);

const files = workspace.statement<never>(
  'tasks.personal_files',
  personalRows(`SELECT file.id, file.blob_id, file.name, file.size
       FROM task_attachments file WHERE file.tenant_id = $1 AND file.created_by = $2 ORDER BY file.id`),
);

const erasePrivateTasks = workspace.statement<never>(
  'tasks.erase_private_tasks',
  `WITH private AS (
     SELECT task.id FROM tasks task
      WHERE task.tenant_id = $1 AND task.creator_id = $2 AND NOT EXISTS (
        SELECT FROM task_members member
         WHERE member.tenant_id = $1 AND member.task_id = task.id AND member.user_id <> $2 AND member.role IS NOT NULL)),
   purged AS (
     INSERT INTO purged_tasks (tenant_id, task_id) SELECT $1, id FROM private ON CONFLICT DO NOTHING)
   DELETE FROM tasks USING private WHERE tasks.tenant_id = $1 AND tasks.id = private.id`,
);

// Folders that contain shared tasks or shared folders stay.
const erasePrivateFolders = workspace.statement<never>(
  'tasks.erase_private_folders',
  `WITH RECURSIVE kept AS (
     SELECT folder.id, folder.parent_id FROM task_folders folder
      WHERE folder.tenant_id = $1 AND folder.owner_id = $2
        AND (EXISTS (SELECT FROM tasks task WHERE task.tenant_id = $1 AND task.folder_id = folder.id)
             OR EXISTS (SELECT FROM task_folder_members member
                         WHERE member.tenant_id = $1 AND member.folder_id = folder.id AND member.user_id <> $2
                           AND member.role IS NOT NULL))
     UNION
     SELECT parent.id, parent.parent_id FROM kept
       JOIN task_folders parent ON parent.tenant_id = $1 AND parent.id = kept.parent_id)
   DELETE FROM task_folders folder
    WHERE folder.tenant_id = $1 AND folder.owner_id = $2 AND folder.id NOT IN (SELECT kept.id FROM kept)`,
);

// Clients choose the ids of devices.
const eraseMemberRows = workspace.statement<never>(
  'tasks.erase_member_rows',
  `UPDATE task_members SET device_id = NULL WHERE tenant_id = $1 AND user_id = $2 AND device_id IS NOT NULL`,
);

const eraseFolderMemberRows = workspace.statement<never>(
  'tasks.erase_folder_member_rows',
  `UPDATE task_folder_members SET device_id = NULL WHERE tenant_id = $1 AND user_id = $2 AND device_id IS NOT NULL`,
);

/** Tasks that a user created or is assigned to, own folders, comments and files. */
@Injectable()
export class TasksPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'tasks',
      rows: { 'tasks.json': assignedTasks, 'folders.json': ownedFolders, 'comments.json': comments },
      files,
      erasure: { rows: [erasePrivateTasks, erasePrivateFolders, eraseMemberRows, eraseFolderMemberRows] },
    });
  }
}
