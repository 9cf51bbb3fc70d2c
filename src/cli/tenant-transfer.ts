import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../config/config.js';
import { SLUG } from '../provision/provision-file.js';
import type { ImportOptions } from '../backup/workspace/import-workspace.js';
import { FILES_MISSING, finish, reporter } from './backup.js';
import { print, withApp } from './context.js';

/** Adds `workspace tenant export` and `workspace tenant import`. Their code is loaded when it is needed. */
export function addTransfer(program: Command, loadConfig: () => Config): void {
  program
    .command('export')
    .description(
      'copy a workspace with its files, mail and accounts beside running servers; exit code 3: files of the installation are missing',
    )
    .argument('<slug>')
    .requiredOption(
      '--to <place>',
      'a directory, or s3://bucket/prefix with the parameters of BLOB_STORE_URL',
    )
    .action(async (slug: string, { to }: { to: string }) => {
      const summary = await withApp(loadConfig(), async (app, url) => {
        const { Installation } = await import('../backup/workspace/installation.js');
        const { exportWorkspace } = await import('../backup/workspace/export-workspace.js');
        return exportWorkspace(new Installation(app, url), { slug, to }, reporter());
      });
      finish(summary, FILES_MISSING);
    });

  program
    .command('import')
    .description('add an exported workspace to this installation, beside running servers')
    .requiredOption('--from <place>', 'see tenant export --to')
    .option('--snapshot <id>', 'default: the newest')
    .option('--slug <slug>', 'name of the workspace here; default: as exported', slugOf)
    .option('--cell <cell>', 'default: the open one with the fewest workspaces')
    .action(async (options: ImportOptions) => {
      const summary = await withApp(loadConfig(), async (app, url) => {
        const { Installation } = await import('../backup/workspace/installation.js');
        const { importWorkspace } = await import('../backup/workspace/import-workspace.js');
        return importWorkspace(new Installation(app, url), options, reporter());
      });
      print(summary);
    });
}

function slugOf(text: string): string {
  if (!SLUG.test(text)) throw new InvalidArgumentError('lower-case letters, digits and hyphens.');
  return text;
}
