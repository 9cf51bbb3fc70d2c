import { Controller } from '@nestjs/common';
import { FeedController } from '../../../platform/sync/feed.controller.js';
import { TaskFolderChangesEnvelope, TaskFolderIndexEnvelope } from './task-folder-feed.response.js';
import { TaskFolderFeedRepository } from './task-folder-feed.repository.js';

const Feeds = FeedController({
  source: TaskFolderFeedRepository,
  tag: 'task folders',
  item: 'taskFolder',
  changes: {
    type: TaskFolderChangesEnvelope,
    description:
      'As for tasks; a folder that is deleted or no longer shared with you comes as a removal. Numbers of both feeds come from one counter: a folder comes before the tasks that somebody sees because of it.',
  },
  index: {
    type: TaskFolderIndexEnvelope,
    summary: 'Rebuild the folder index',
    description: 'All folders you can see, newest change first; then `cursor` goes to the change feed.',
  },
});

/** Synchronisation of task folders. */
@Controller('task_folders')
export class TaskFolderFeedController extends Feeds {}
