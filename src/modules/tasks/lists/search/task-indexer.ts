import { Injectable } from '@nestjs/common';
import { Db } from '../../../../platform/database/db.js';
import { Outbox } from '../../../../platform/events/outbox.js';
import { PeriodicJobs } from '../../../../platform/jobs/periodic-jobs.js';
import { ItemIndexer } from '../../../../platform/search/item-indexer.js';
import { TASK_SEARCH } from './task-search.tables.js';
import { TaskEvents } from '../../tasks.events.js';

/** Keeps the search index of tasks up to date. */
@Injectable()
export class TaskIndexer extends ItemIndexer {
  constructor(db: Db, outbox: Outbox, jobs: PeriodicJobs) {
    super(db, TASK_SEARCH, outbox, jobs, {
      name: 'task-search',
      types: [TaskEvents.created, TaskEvents.updated],
      often: [TaskEvents.created, TaskEvents.updated],
    });
  }
}
