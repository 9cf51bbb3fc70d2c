import { Controller } from '@nestjs/common';
import { FeedController } from '../../../platform/sync/feed.controller.js';
import { TaskChangesEnvelope, TaskIndexEnvelope } from './task-feed.response.js';
import { TaskFeedRepository } from './task-feed.repository.js';

const Feeds = FeedController({
  source: TaskFeedRepository,
  tag: 'tasks',
  item: 'task',
  changes: {
    type: TaskChangesEnvelope,
    description:
      'Every task that changed, once, as it is now; tasks that were purged or that you no longer see come as removals. `include=summary` leaves descriptions out. Titles of what a task refers to are those of now; a task does not come anew when they change. Otherwise as for notes.',
  },
  index: {
    type: TaskIndexEnvelope,
    summary: 'Rebuild the task index',
    description:
      'All tasks you can see, those in the trash included, newest change first, without descriptions unless asked for (`include=content`). Go on with `cursor` while `has_more`; then `cursor` (and `changes_cursor` on every page) goes to the change feed.',
  },
});

/** Synchronisation of tasks. */
@Controller('tasks')
export class TaskFeedController extends Feeds {}
