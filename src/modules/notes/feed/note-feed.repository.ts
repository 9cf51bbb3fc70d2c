import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { MemberFeed } from '../../../platform/sync/member-feed.js';

const MEMBERS_BYTES = '256 * cardinality(item.member_ids)';

/** Notes as a synchronised collection. */
@Injectable()
export class NoteFeedRepository extends MemberFeed {
  readonly plural = ['notes'];
  readonly indexPath = '/apis/v1/notes/index';

  constructor(db: Db) {
    super(db, {
      collection: 'notes',
      members: 'note_members',
      item: 'note_id',
      items: 'notes',
      bytes: { content: `${MEMBERS_BYTES} + item.content_bytes`, summary: MEMBERS_BYTES },
      view: 'note_views',
      viewItem: 'note_id',
      json: { content: 'note', summary: 'summary' },
      longJsonAsBytes: true,
      reason: 'entry.gone',
    });
  }
}
