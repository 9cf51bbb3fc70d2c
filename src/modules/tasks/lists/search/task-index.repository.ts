import { Injectable } from '@nestjs/common';
import { Db } from '../../../../platform/database/db.js';
import { ItemIndexRepository } from '../../../../platform/search/item-index.repository.js';
import { TASK_SEARCH } from './task-search.tables.js';

/** The search index of tasks. */
@Injectable()
export class TaskIndexRepository extends ItemIndexRepository {
  constructor(db: Db) {
    super(db, TASK_SEARCH);
  }
}
