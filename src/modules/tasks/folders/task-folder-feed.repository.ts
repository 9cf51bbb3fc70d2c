import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { FeedOwner } from '../../../platform/sync/feed-source.js';
import { MemberFeed } from '../../../platform/sync/member-feed.js';

// Index task_folders_gone. What stays behind, because two people's removals were forgotten at the same time, goes with
// the next ones of the workspace.
const forgetFolders = workspace.statement<never>(
  'task_folders.forget_folders',
  `DELETE FROM task_folders f WHERE f.tenant_id = $1 AND f.gone_at < $2
      AND NOT EXISTS (SELECT FROM task_folder_members m WHERE m.tenant_id = f.tenant_id AND m.folder_id = f.id)`,
);

/** Task folders as a synchronised collection. */
@Injectable()
export class TaskFolderFeedRepository extends MemberFeed {
  readonly plural = ['folders', 'task_folders'];
  readonly indexPath = '/apis/v1/task_folders/index';

  constructor(db: Db) {
    super(db, {
      collection: 'task_folders',
      members: 'task_folder_members',
      item: 'folder_id',
      items: 'task_folders',
      // Everybody it is shared with is in its JSON; from folders above come some more.
      bytes: { content: '512 * cardinality(n.member_ids)', summary: '512 * cardinality(n.member_ids)' },
      view: 'task_folder_views',
      viewItem: 'id',
      json: { content: 'folder', summary: 'folder' },
      reason: `CASE s.gone WHEN 1 THEN 'unshared' ELSE 'deleted' END`,
    });
  }

  /** A deleted folder's row goes when nobody is left who has to be told. */
  override async forgetRemovals(tx: Tx, owner: FeedOwner, before: Date): Promise<number | null> {
    const highest = await super.forgetRemovals(tx, owner, before);
    await tx.query(forgetFolders, [owner.tenant_id, before]);
    return highest;
  }
}
