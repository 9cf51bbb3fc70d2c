import { Controller } from '@nestjs/common';
import { FeedController } from '../../platform/sync/feed.controller.js';
import { NoteFolderChangesEnvelope, NoteFolderIndexEnvelope } from './note-folder.response.js';
import { NoteFolderFeedRepository } from './note-folder-feed.repository.js';

const Feeds = FeedController({
  source: NoteFolderFeedRepository,
  tag: 'note folders',
  item: 'noteFolder',
  changes: {
    type: NoteFolderChangesEnvelope,
    description:
      'As for notes. Numbers of both feeds come from one counter: what belongs together keeps its order.',
  },
  index: {
    type: NoteFolderIndexEnvelope,
    summary: 'Rebuild the folder index',
    description: 'All your folders, newest change first; then `cursor` goes to the change feed.',
  },
});

/** Synchronisation of note folders. */
@Controller('note_folders')
export class NoteFolderFeedController extends Feeds {}
