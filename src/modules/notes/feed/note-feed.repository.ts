import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { MemberFeed } from '../../../platform/sync/member-feed.js';
import { NOTE_SUMMARY_BYTES } from '../note-bytes.js';

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
      bytes: { content: `${NOTE_SUMMARY_BYTES} + item.content_bytes`, summary: NOTE_SUMMARY_BYTES },
      view: 'note_views',
      viewItem: 'note_id',
      json: { content: 'note', summary: 'summary' },
      longJsonAsBytes: true,
      reason: 'entry.gone',
    });
  }
}
