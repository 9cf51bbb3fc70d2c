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
      'Every task that changed, once, as it is now, with its newest comments; tasks that were purged or that you no longer see are removals. `include=summary` omits descriptions and comments. Titles of references are current, but a task is not repeated when they change. `updated_device` names the client of the last write, so that a client can skip its own changes. Otherwise as for notes.',
  },
  index: {
    type: TaskIndexEnvelope,
    summary: 'Rebuild the task index',
    description:
      'All tasks that you can see, those in the trash included, newest change first; with descriptions and comments only for `include=content`. Continue with `cursor` while `has_more`; then `cursor` (and `changes_cursor` on every page) is the cursor of the change feed.',
  },
});

/** Synchronisation of tasks. */
@Controller('tasks')
export class TaskFeedController extends Feeds {}
