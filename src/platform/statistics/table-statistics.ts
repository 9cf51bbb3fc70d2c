import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { Db } from '../database/db.js';
import { either } from '../database/statement.js';

const EVERY_SECONDS = 15;

/**
 * ANALYZE for each table of this schema that has at least doubled since its last one and has at most 80 MB, which takes less than a second;
 * autovacuum is in time for larger ones. SKIP_LOCKED: another process, or autovacuum itself, may be at it. A role that does not own
 * the tables gets warnings only.
 */
const analyzeGrown = either.statement<never>(
  'database.analyze_grown',
  `DO $do$
   DECLARE grown regclass;
   BEGIN
     FOR grown IN
       SELECT oid FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
          AND pg_relation_size(oid) / current_setting('block_size')::int BETWEEN 2 * relpages + 4 AND 10000
     LOOP
       EXECUTE format('ANALYZE (SKIP_LOCKED) %s', grown);
     END LOOP;
   END $do$`,
  { reach: 'cell' },
);

/**
 * Keeps the statistics of growing tables current. PostgreSQL keeps the plan of a prepared statement until its tables are analyzed: a plan for
 * an almost empty table reads all rows of a workspace for each row that it joins, so that a list takes seconds after an import of a few
 * thousand rows. Autovacuum analyzes a table after a minute at the earliest (`autovacuum_naptime`).
 */
@Injectable()
export class TableStatistics implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'database.analyze-grown',
      everySeconds: EVERY_SECONDS,
      run: () => this.refresh(),
    });
  }

  /** Analyzes the grown tables of the current cell. */
  async refresh(): Promise<void> {
    await this.db.single((tx) => tx.query(analyzeGrown, []));
  }
}
