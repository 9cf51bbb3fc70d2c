import { Controller } from '@nestjs/common';
import { FeedController } from '../../../platform/sync/feed.controller.js';
import { NoteChangesEnvelope, NoteIndexEnvelope } from './note-feed.response.js';
import { NoteFeedRepository } from './note-feed.repository.js';

const Feeds = FeedController({
  source: NoteFeedRepository,
  tag: 'notes',
  item: 'note',
  changes: {
    type: NoteChangesEnvelope,
    description:
      'Every note that changed, once, as it is now; notes that were purged or are no longer shared with you come as removals. Without a cursor: everything there is. Keep `cursor` for the next call. `wait` holds an empty answer back until something changes. 410: walk the index again.',
  },
  index: {
    type: NoteIndexEnvelope,
    summary: 'Rebuild the note index',
    description:
      'All notes you can see, those in the trash included, newest change first, without content unless asked for. Go on with `cursor` while `has_more`; then `cursor` (and `changes_cursor` on every page) goes to the change feed.',
  },
});

/** Synchronisation of notes. */
@Controller('notes')
export class NoteFeedController extends Feeds {}
