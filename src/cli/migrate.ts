import type { Command } from 'commander';
import { migrateDatabase, planDatabase } from '../app.prepare.js';
import type { Config } from '../config/config.js';
import { needsMigration } from '../platform/database/schema/migration-plan.js';
import { migrateAllCells, planAllCells } from './cell.js';
import { print, withDatabase } from './context.js';

/** Exit code of `migrate --plan` when `migrate` would change the database. */
const PENDING = 2;

/** Adds `workspace migrate`. */
export function addMigrate(program: Command, loadConfig: () => Config): void {
  program
    .command('migrate')
    .description('bring the database schema up to date')
    .option('--plan', 'print the pending changes without applying them; exit code 2 if there are any, else 0')
    .action(async ({ plan }: { plan?: boolean }) => {
      const config = loadConfig();
      await withDatabase(config, async (url) => {
        if (!plan) {
          const applied = await migrateDatabase(config, url);
          const cells = await migrateAllCells(config, url);
          return print({ applied, ...(Object.keys(cells).length > 0 && { cells }) });
        }
        const directory = await planDatabase(config, url);
        const cells = await planAllCells(config, url);
        print({ ...directory, ...(Object.keys(cells).length > 0 && { cells }) });
        if ([directory, ...Object.values(cells)].some(needsMigration)) process.exitCode = PENDING;
      });
    });
}
