import { Controller, Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { FeedController } from '../../../platform/sync/feed.controller.js';
import { MemberFeed } from '../../../platform/sync/member-feed.js';
import { NOTE_SUMMARY_BYTES } from '../notes.repository.js';
import { NoteChangesEnvelope, NoteIndexEnvelope } from './note-feed.response.js';

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

const Feeds = FeedController({
  source: NoteFeedRepository,
  tag: 'notes',
  item: 'note',
  changes: {
    type: NoteChangesEnvelope,
    description:
      "Each changed note once, in its current state. Notes that were purged or are no longer shared with you come as removals. Without a cursor: all notes. Keep `cursor` for the next request. `wait` delays an empty response until something changes. 410: rebuild the index. A record whose `updated_device` is the caller's own device repeats the caller's own write. Titles of links are current, but a note is not repeated when you gain or lose access to a linked task.",
  },
  index: {
    type: NoteIndexEnvelope,
    summary: 'Rebuild the note index',
    description:
      'All notes you can read, also those in the trash, newest change first, without content by default. Continue with `cursor` while `has_more` is true; then use `cursor` (or `changes_cursor` of any page) for the change feed. A note with the `revision` and `updated_at` of the cached copy has the same title, content and labels.',
  },
});

/** Synchronisation of notes. */
@Controller('notes')
export class NoteFeedController extends Feeds {}
