import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Outbox } from '../../platform/events/outbox.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { inBatches } from '../../platform/jobs/sweep.js';
import { NoteRemovalRepository } from './changes/note-removal.repository.js';

const BATCH = 100;

/** Purges trashed notes whose `purge_at` is over, TRASH_RETENTION_DAYS after they were trashed. */
@Injectable()
export class TrashPurge implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly notes: NoteRemovalRepository,
    private readonly outbox: Outbox,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'purge-trashed-notes', everySeconds: 600, run: () => this.purge() });
  }

  /** @returns the number of purged notes */
  async purge(): Promise<number> {
    return inBatches(BATCH, () =>
      this.db.tx(async (tx) => {
        this.outbox.notice(tx);
        return this.notes.removeDue(tx, BATCH);
      }),
    );
  }
}
