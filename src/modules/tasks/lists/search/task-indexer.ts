import { Injectable } from '@nestjs/common';
import { Outbox } from '../../../../platform/events/outbox.js';
import { PeriodicJobs } from '../../../../platform/jobs/periodic-jobs.js';
import { ItemIndexer } from '../../../../platform/search/item-indexer.js';
import { TaskIndexRepository } from './task-index.repository.js';
import { TaskEvents } from '../../tasks.events.js';

/** Keeps the search index of tasks up to date. */
@Injectable()
export class TaskIndexer extends ItemIndexer {
  constructor(index: TaskIndexRepository, outbox: Outbox, jobs: PeriodicJobs) {
    super(index, outbox, jobs, {
      name: 'task-search',
      types: [TaskEvents.created, TaskEvents.updated],
      often: [TaskEvents.created, TaskEvents.updated],
      item: 'task_id',
    });
  }
}
