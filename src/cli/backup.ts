import type { Command } from 'commander';
import type { Fault, Progress, Report } from '../backup/reporting.js';
import type { RestoreOptions } from '../backup/restore-backup.js';
import type { Config } from '../config/config.js';
import { print, wholeNumber, withDatabase } from './context.js';

/** Exit code of a backup that is complete except for files that the installation has lost. */
export const FILES_MISSING = 3;
const PROGRESS_MS = 1_000;

interface BackupCommand {
  to?: string;
  verify?: string;
  snapshot?: string;
  keep?: number;
}

/** Adds `workspace backup` and `workspace restore`. Their code is loaded when it is needed: it includes the mail service. */
export function addBackup(program: Command, loadConfig: () => Config): void {
  program
    .command('backup')
    .description(
      'copy database, mail and files beside running servers, or verify a backup; exit code 3: files of the installation are missing',
    )
    .option('--to <place>', 'a directory, or s3://bucket/prefix with the parameters of BLOB_STORE_URL')
    .option(
      '--keep <count>',
      'then remove all but the newest snapshots',
      wholeNumber(Infinity, 'a number from 1'),
    )
    .option('--verify <place>', 'read a backup and compare its checksums')
    .option('--snapshot <id>', 'with --verify; default: the newest')
    .action(async ({ to, verify, snapshot, keep }: BackupCommand) => {
      if ((to === undefined) === (verify === undefined)) throw new Error('Pass either --to or --verify.');
      const config = loadConfig();
      if (verify !== undefined) {
        const { verifyBackup } = await import('../backup/verify-backup.js');
        finish(await verifyBackup(verify, snapshot, reporter()), 1);
        return;
      }
      const { createBackup } = await import('../backup/create-backup.js');
      const work = (url: string) => createBackup(config, url, { to: to as string, keep }, reporter());
      finish(await withDatabase(config, work), FILES_MISSING);
    });

  program
    .command('restore')
    .description('restore a backup into an empty installation; servers must be stopped')
    .requiredOption('--from <place>', 'see backup --to')
    .option('--snapshot <id>', 'default: the newest')
    .option('--allow-damaged-files', 'restore although files in the backup are missing or damaged')
    .option('--ignore-secret-keys', 'restore although SECRET_KEYS lacks keys of the backup')
    .action(async (options: RestoreOptions) => {
      const config = loadConfig();
      const { restoreBackup } = await import('../backup/restore-backup.js');
      const work = (url: string) => restoreBackup(config, url, options, reporter());
      finish(await withDatabase(config, work), FILES_MISSING);
    });
}

/** Prints the summary. @param exitCode with faults */
export function finish(summary: { faults: Fault[] }, exitCode: number): void {
  print(summary);
  if (summary.faults.length > 0) process.exitCode = exitCode;
}

/** Writes progress to stderr, at most one line in each second. */
export function reporter(): Report {
  const done = { table: { count: 0, amount: 0 }, file: { count: 0, amount: 0 } };
  let next = Date.now() + PROGRESS_MS;
  return ({ phase, name, amount }: Progress) => {
    done[phase].count += 1;
    done[phase].amount += amount;
    if (Date.now() < next) return;
    next = Date.now() + PROGRESS_MS;
    const { table, file } = done;
    process.stderr.write(
      `tables: ${table.count} (${table.amount} rows), files: ${file.count} (${Math.round(file.amount / 1_048_576)} MiB); ${name}\n`,
    );
  };
}
