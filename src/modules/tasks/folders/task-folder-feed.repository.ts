import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { FeedOwner } from '../../../platform/sync/feed-source.js';
import { MemberFeed } from '../../../platform/sync/member-feed.js';
import { TASK_FOLDERS } from './task-folders.resource.js';

// Index task_folders_gone. When two transactions delete the last removals of a folder at the same time, neither deletes its row:
// the next call in the workspace does.
const forgetFolders = workspace.statement<never>(
  'task_folders.forget_folders',
  `DELETE FROM task_folders folder WHERE folder.tenant_id = $1 AND folder.gone_at < $2
      AND NOT EXISTS (SELECT FROM task_folder_members member
                       WHERE member.tenant_id = folder.tenant_id AND member.folder_id = folder.id)`,
);

/** Task folders as a synchronised collection. */
@Injectable()
export class TaskFolderFeedRepository extends MemberFeed {
  readonly plural = TASK_FOLDERS.many;
  readonly indexPath = TASK_FOLDERS.indexPath;

  constructor(db: Db) {
    super(db, {
      collection: TASK_FOLDERS.collection,
      members: 'task_folder_members',
      item: 'folder_id',
      items: 'task_folders',
      // The JSON lists all members of the folder. The estimate omits the inherited ones.
      bytes: { content: '512 * cardinality(item.member_ids)', summary: '512 * cardinality(item.member_ids)' },
      view: 'task_folder_views',
      viewItem: 'id',
      json: { content: 'folder', summary: 'folder' },
      reason: `CASE entry.gone WHEN 1 THEN 'unshared' ELSE 'deleted' END`,
    });
  }

  /** Deletes the row of a deleted folder once its removal has expired for every user. */
  override async forgetRemovals(tx: Tx, owner: FeedOwner, before: Date): Promise<number | null> {
    const highest = await super.forgetRemovals(tx, owner, before);
    await tx.query(forgetFolders, [owner.tenant_id, before]);
    return highest;
  }
}
