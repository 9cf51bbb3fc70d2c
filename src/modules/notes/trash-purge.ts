import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { sweep, type Sweep } from '../../platform/jobs/sweep.js';

const BATCH = 100;

const purgeDue: Sweep = workspace.statement('notes.purge_due', `SELECT notes_purge_due($1) AS count`, {
  reach: 'cell',
});

/** Purges trashed notes whose `purge_at` is over, TRASH_RETENTION_DAYS after they were trashed. */
@Injectable()
export class TrashPurge implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'purge-trashed-notes', everySeconds: 600, run: () => this.purge() });
  }

  /** @returns the number of purged notes */
  async purge(): Promise<number> {
    return sweep(this.db, purgeDue, BATCH);
  }
}
