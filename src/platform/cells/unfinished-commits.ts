import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Db, MAIN } from '../database/db.js';
import { commitOf, GID_PREFIX } from '../database/spanning-tx.js';
import { either } from '../database/statement.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { CellsRepository } from './cells.repository.js';

const EVERY_SECONDS = 15;
/** Age from which the process of a commit has ended or failed: it finishes its commits within the time limit of a statement. */
const ABANDONED_SECONDS = 30;
/** Format of the global ids of this application. */
const GID = new RegExp(`^${GID_PREFIX}[a-z0-9-]+:[0-9a-f-]{36}$`);

const prepared = either.statement<{ gid: string; is_abandoned: boolean }>(
  'cells.prepared',
  `SELECT gid, prepared < now() - make_interval(secs => $1) AS is_abandoned FROM pg_prepared_xacts
    WHERE database = current_database() AND gid LIKE $2 ORDER BY prepared`,
  { reach: 'cell' },
);

/**
 * Finishes transactions in several databases whose process has ended between the two phases of the commit: a part commits when
 * the directory has the decision, and rolls back otherwise.
 */
@Injectable()
export class UnfinishedCommits implements OnModuleInit {
  private readonly logger = new Logger(UnfinishedCommits.name);
  /** Age at which a part is taken over; tests shorten it. */
  abandonedSeconds = ABANDONED_SECONDS;

  constructor(
    private readonly db: Db,
    private readonly repository: CellsRepository,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'cells.finish-commits', everySeconds: EVERY_SECONDS, run: () => this.run() });
  }

  /** Finishes the parts in the current cell. The run in the cell `main` deletes the decisions that no cell needs. */
  async run(): Promise<void> {
    const cell = this.db.currentCell ?? MAIN;
    if (cell === MAIN) {
      await this.forget();
      return;
    }
    for (const { gid, is_abandoned } of await this.parts(cell)) {
      if (!is_abandoned || !GID.test(gid)) continue;
      await this.finish(gid, await this.repository.decisionOf(commitOf(gid)));
    }
  }

  /** Commits the parts in the current cell whose commit is decided, of any age. */
  async finishDecided(): Promise<void> {
    for (const { gid } of await this.parts(this.db.currentCell ?? MAIN))
      if (GID.test(gid) && (await this.repository.decisionOf(commitOf(gid)))) await this.finish(gid, true);
  }

  private async finish(gid: string, commits: boolean): Promise<void> {
    const text = `${commits ? 'COMMIT' : 'ROLLBACK'} PREPARED '${gid}'`;
    await this.db.single((tx) => tx.query(either.statement<never>('', text, { reach: 'cell' }), []));
    this.logger.warn({ gid, commits }, 'a commit in several databases was finished');
  }

  /** @throws the error of a cell that does not respond: it may still need decisions, so none is deleted */
  private async forget(): Promise<void> {
    const unfinished: string[] = [];
    for (const cell of this.db.cells)
      if (cell !== MAIN)
        unfinished.push(
          ...(await this.db.inCell(cell, () => this.parts(cell))).map(({ gid }) => commitOf(gid)),
        );
    await this.repository.forgetDecisions(unfinished);
  }

  private parts(cell: string): Promise<{ gid: string; is_abandoned: boolean }[]> {
    return this.db.query(prepared, [this.abandonedSeconds, `${GID_PREFIX}${cell}:%`]);
  }
}
