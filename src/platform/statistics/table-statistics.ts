import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../database/db.js';
import { either } from '../database/statement.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';

const EVERY_SECONDS = 10;
/** Rows up to which an ANALYZE takes well below a second. Autovacuum is in time for larger tables. */
const MOST_ROWS = 200_000;

/**
 * The tables of this schema that have at least doubled since their statistics, and that this role owns: a table of another role gives a warning
 * in the log of PostgreSQL each time. It reads counters only: functions that measure a table would wait for a migration.
 */
const grownTables = either.statement<{ name: string }>(
  'database.grown_tables',
  `SELECT format('%I.%I', current_schema(), relname) AS name FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND pg_has_role(relowner, 'USAGE')
      AND pg_stat_get_mod_since_analyze(oid) > 100
      AND pg_stat_get_live_tuples(oid) BETWEEN 2 * greatest(reltuples, 0) + 100 AND $1`,
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

  /**
   * Analyzes the grown tables of the current cell, each in a transaction of its own: ANALYZE keeps its lock to the end, and after an error
   * PostgreSQL would take the table for analyzed though its statistics are lost.
   */
  async refresh(): Promise<void> {
    const tables = await this.db.query(grownTables, [MOST_ROWS]);
    for (const { name } of tables) {
      // SKIP_LOCKED: another process, a migration or autovacuum may be at it.
      const analyze = either.statement<never>('', `ANALYZE (SKIP_LOCKED) ${name}`, { reach: 'cell' });
      await this.db.single((tx) => tx.query(analyze, []));
    }
  }
}
