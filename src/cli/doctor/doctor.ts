import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { type Config, ConfigError } from '../../config/config.js';
import { withDatabase } from '../context.js';
import { checkConfiguration, checkDisk } from './installation-checks.js';
import { checkDatabase, reportUnreachable } from './database-checks.js';
import { Area, type Finding } from './finding.js';
import { checkServices } from './service-checks.js';

/** Exit code for the worst status. */
const EXIT_CODES = { ok: 0, warning: 1, error: 2 } as const;

/** Adds `workspace doctor`. */
export function addDoctor(program: Command, loadConfig: () => Config): void {
  program
    .command('doctor')
    .description('check the installation; exit code 0: no problem, 1: warnings, 2: errors')
    .option('--json', '{"status","findings":[{"check","status","message","action"?}]}')
    .action(async ({ json }: { json?: boolean }) => {
      const findings = await examine(loadConfig);
      const status = worst(findings);
      process.stdout.write(json ? `${JSON.stringify({ status, findings })}\n` : textOf(findings));
      process.exitCode = EXIT_CODES[status];
    });
}

async function examine(loadConfig: () => Config): Promise<Finding[]> {
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const area = new Area('configuration');
    return error.lines.map((line) =>
      area.error(`${line}.`, 'Correct the setting in the environment or in .env.'),
    );
  }
  const [database, disk, services] = await Promise.all([
    examineDatabase(config),
    checkDisk(config),
    checkServices(config),
  ]);
  return [...checkConfiguration(config), ...database, ...disk, ...services];
}

async function examineDatabase(config: Config): Promise<Finding[]> {
  if (config.embeddedDatabase && !existsSync(path.join(config.DATA_DIR, 'postgres', 'PG_VERSION')))
    return [
      new Area('database').error(
        `DATA_DIR ${config.DATA_DIR} contains no database.`,
        'Check DATA_DIR, or create the database with npm start.',
      ),
    ];
  try {
    return await withDatabase(config, (url) => checkDatabase(config, url));
  } catch (error) {
    return [reportUnreachable(error, config)];
  }
}

function worst(findings: readonly Finding[]): Finding['status'] {
  const has = (status: Finding['status']) => findings.some((finding) => finding.status === status);
  return has('error') ? 'error' : has('warning') ? 'warning' : 'ok';
}

/** A line for each finding, and below it the remedy. */
function textOf(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ check, status, message, action }) => [
    `${status.padEnd(8)} ${check.padEnd(14)} ${message}`,
    ...(action ? [`${' '.repeat(24)}${action}`] : []),
  ]);
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  return `${lines.join('\n')}\n${count('error')} errors, ${count('warning')} warnings\n`;
}
