import { Injectable } from '@nestjs/common';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';

// Index tasks_uid. The UID of a task without one is its id.
const ofUid = workspace.statement<{ id: string }>(
  'tasks.of_uid',
  `SELECT found.id FROM (
     SELECT task.id, task.folder_id, task.deleted_at FROM tasks task WHERE task.tenant_id = $1 AND task.uid = $3
      UNION ALL
     SELECT task.id, task.folder_id, task.deleted_at FROM tasks task WHERE task.tenant_id = $1 AND task.id = $4::uuid AND task.uid IS NULL) found
    WHERE found.folder_id = $2 AND found.deleted_at IS NULL AND found.id IS DISTINCT FROM $5::uuid LIMIT 1`,
);

const lock = workspace.statement<never>(
  'tasks.lock_uid',
  `SELECT pg_advisory_xact_lock(hashtextextended('task uid ' || $1::text || $2::text || $3::text, 0))`,
);

/** UIDs of the tasks of a folder, each of which belongs to one task outside of the trash (RFC 4791, 4.1). */
@Injectable()
export class TaskUids {
  /** The id of the task that has a UID in a folder; null without one. @param except this task does not count */
  async of(
    reader: Reader,
    tenantId: string,
    folderId: string,
    uid: string,
    except: string | null = null,
  ): Promise<string | null> {
    const rows = await reader.query(ofUid, [tenantId, folderId, uid, isUuid(uid) ? uid : null, except]);
    return rows[0]?.id ?? null;
  }

  /** Lets other tasks that take this UID in the folder wait until the end of the transaction. */
  async lock(tx: Tx, tenantId: string, folderId: string, uid: string): Promise<void> {
    await tx.query(lock, [tenantId, folderId, uid]);
  }
}
