import type { INestApplicationContext } from '@nestjs/common';
import { type Command, Option } from 'commander';
import { cellAddresses, migrateCells, migrateDatabase, planDatabase } from '../app.prepare.js';
import type { Config } from '../config/config.js';
import { CellAdministration } from '../platform/cells/cell-administration.js';
import { type MigrationPlan, needsMigration } from '../platform/database/schema/migrate.js';
import { print, withApp, withDatabase } from './context.js';

/** Adds `workspace cell add|list|drain|open|remove` (docs/scaling.md). */
export function addCells(program: Command, loadConfig: () => Config): void {
  const command = program.command('cell').description('databases of workspaces');
  const change = async (work: (cells: CellAdministration) => Promise<unknown>): Promise<void> =>
    withApp(loadConfig(), async (app: INestApplicationContext) => {
      const cells = app.get(CellAdministration);
      await work(cells);
      print({ cells: await cells.list() });
    });

  command
    .command('list')
    .description('cells with their workspaces; "main" is the database of the directory')
    .action(() => change(async () => undefined));

  command
    .command('add')
    .description('prepare an empty database and add it; new workspaces go to the open cell with the fewest')
    .argument('<name>', 'lower-case letters, digits and hyphens')
    .addOption(
      new Option('--url <postgres-url>', 'visible to other processes; prefer the variable')
        .env('CELL_URL')
        .makeOptionMandatory(),
    )
    .option(
      '--schema <name>',
      'a schema of the database instead of the whole; its extensions go to the schema ext',
    )
    .action((name: string, { url, schema }: { url: string; schema?: string }) =>
      change((cells) => cells.add(name, url, schema)),
    );

  for (const [name, state, description] of [
    ['drain', 'draining', 'place no new workspaces in a cell'],
    ['open', 'open', 'place new workspaces in a cell again'],
  ] as const)
    command
      .command(name)
      .description(description)
      .argument('<name>')
      .action((cell: string) => change((cells) => cells.setState(cell, state)));

  command
    .command('remove')
    .description('remove an empty, drained cell from the list; its database stays')
    .argument('<name>')
    .action((name: string) => change((cells) => cells.remove(name)));
}

/**
 * Migrates the cells other than `main`.
 * @returns the applied migrations of each cell, for the output
 * @throws Error that names the cells that failed
 */
export async function migrateAllCells(config: Config, url: string): Promise<Record<string, string[]>> {
  const results = Object.entries(await migrateCells(config, url));
  const failed = results.filter(([, result]) => result instanceof Error);
  if (failed.length > 0)
    throw new Error(failed.map(([name, error]) => `cell ${name}: ${(error as Error).message}`).join('\n'));
  return Object.fromEntries(results) as Record<string, string[]>;
}

/**
 * Compares the cells other than `main` with this version.
 * @throws the error of a cell that does not respond, with its name
 */
export async function planAllCells(config: Config, url: string): Promise<Record<string, MigrationPlan>> {
  const plans: Record<string, MigrationPlan> = {};
  for (const { name, url: address, schema } of await cellAddresses(config, url))
    plans[name] = await planDatabase(config, address, schema).catch((error: unknown) => {
      throw new Error(`cell ${name}: ${(error as Error).message}`, { cause: error });
    });
  return plans;
}

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
