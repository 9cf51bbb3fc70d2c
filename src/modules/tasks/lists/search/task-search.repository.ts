import { Injectable } from '@nestjs/common';
import { Db } from '../../../../platform/database/db.js';
import { ItemSearchRepository, type SearchRow } from '../../../../platform/search/item-search.repository.js';
import { TASK_SEARCH } from './task-search.tables.js';

export interface TaskSearchRow extends SearchRow {
  /** JSON of the task without its description and its references. */
  shown: string;
  refs: string | null;
}

/** Search among the tasks of one user. */
@Injectable()
export class TaskSearchRepository extends ItemSearchRepository<TaskSearchRow> {
  constructor(db: Db) {
    super(db, TASK_SEARCH);
  }
}
