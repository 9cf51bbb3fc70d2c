import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader } from '../../../platform/database/tx.js';
import type { TaskRole } from '../task.entity.js';

const roleOf = workspace.statement<{ role: TaskRole }>(
  'task_folders.role',
  `SELECT role FROM task_folder_members WHERE tenant_id = $1 AND user_id = $2 AND folder_id = $3 AND role IS NOT NULL`,
  { pipelined: true },
);

/** The roles of members in task folders; `mayWrite` says which of them write. */
@Injectable()
export class TaskFolderRoles {
  /** The role of the caller in a folder; null without access. */
  async role(
    reader: Reader,
    { tenantId, userId }: RequestContext,
    folderId: string,
  ): Promise<TaskRole | null> {
    return (await reader.query(roleOf, [tenantId, userId, folderId]))[0]?.role ?? null;
  }
}
