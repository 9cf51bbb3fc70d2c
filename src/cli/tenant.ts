import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import type { ImportOptions } from '../backup/workspace/import-workspace.js';
import type { Config } from '../config/config.js';
import { TenantFiles, TenantProfileService, UpdateTenant } from '../modules/tenants/index.js';
import { MIB } from '../platform/blobs/file-limits.js';
import { type MoveProgress, WorkspaceMoves } from '../platform/cells/move/workspace-moves.js';
import { ApiError } from '../platform/http/errors.js';
import { validated } from '../platform/http/input.pipe.js';
import { SLUG } from '../provision/provision.js';
import { FILES_MISSING, finish, reporter } from './backup.js';
import { print, tenantNamed, withApp } from './context.js';

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

interface UpdateOptions {
  tenant: string;
  name?: string;
  color?: string;
  /** A file; false: `--no-logo`. */
  logo?: string | false;
}

/** Adds the commands `workspace tenant ...`. */
export function addTenant(program: Command, loadConfig: () => Config): void {
  const command = program.command('tenant').description('workspaces');
  addUpdate(command, loadConfig);
  addLimits(command, loadConfig);
  addMove(command, loadConfig);
  addTransfer(command, loadConfig);
}

function addMove(program: Command, loadConfig: () => Config): void {
  program
    .command('move')
    .description('move a workspace to another cell while it is used; its writes get 503 for a moment')
    .argument('<slug>')
    .requiredOption('--to <cell>')
    .action(async (slug: string, { to }: { to: string }) => {
      const result = await withApp(loadConfig(), async (app) => {
        const report = ({ phase, rows, seconds }: MoveProgress) =>
          process.stderr.write(
            `${seconds.toFixed(1)} s  ${phase}${rows === undefined ? '' : `, ${rows} rows`}\n`,
          );
        const moves = app.get(WorkspaceMoves);
        return moves.move(await tenantNamed(app, slug), to, report);
      });
      print({ slug, ...result });
    });
}

/** Bytes; 0 means no limit. commander takes null for an empty text. */
type LimitText = number | 'default';

interface LimitOptions {
  tenant: string;
  files?: LimitText;
  userFiles?: LimitText;
}

function addLimits(program: Command, loadConfig: () => Config): void {
  const size = '<MiB>, "none" or "default"';
  program
    .command('limits')
    .description('show or change the limits of a workspace for files')
    .requiredOption('--tenant <slug>')
    .option('--files <limit>', `all files of the workspace: ${size}`, bytesOf)
    .option('--user-files <limit>', `the files of each user: ${size}`, bytesOf)
    .action(async ({ tenant, files, userFiles }: LimitOptions) => {
      const usage = await withApp(loadConfig(), async (app) => {
        const tenantId = await tenantNamed(app, tenant);
        const service = app.get(TenantFiles);
        const limits = {
          ...(files !== undefined && { limit_bytes: ownLimit(files) }),
          ...(userFiles !== undefined && { user_limit_bytes: ownLimit(userFiles) }),
        };
        return Object.keys(limits).length === 0
          ? service.usage(tenantId, null)
          : service.change({ tenantId, userId: null, origin: 'cli' }, limits);
      });
      const { bytes, count, limit_bytes, user_limit_bytes } = usage;
      print({ slug: tenant, bytes, count, limit_bytes, user_limit_bytes });
    });
}

/** Null means that the workspace has no limit of its own. */
const ownLimit = (limit: LimitText): number | null => (limit === 'default' ? null : limit);

function bytesOf(text: string): LimitText {
  if (text === 'default') return text;
  if (text === 'none') return 0;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('a number of MiB, "none" or "default"');
  return Number(text) * MIB;
}

function addUpdate(program: Command, loadConfig: () => Config): void {
  program
    .command('update')
    .description('update name, colour and logo of a workspace; omitted options stay unchanged')
    .requiredOption('--tenant <slug>')
    .option('--name <text>')
    .option('--color <#rrggbb>', 'primary colour; "none" removes it')
    .option('--logo <file>', 'PNG, JPEG or WebP, at most 256 KiB')
    .option('--no-logo', 'remove the logo')
    .action(async ({ tenant, name, color, logo }: UpdateOptions) => {
      const branding = color === undefined ? undefined : { primary_color: color === 'none' ? null : color };
      const input = checked({ name, branding });
      const picture = typeof logo === 'string' ? readFileSync(logo) : undefined;
      const result = await withApp(loadConfig(), async (app) => {
        const tenantId = await tenantNamed(app, tenant);
        const service = app.get(TenantProfileService);
        const operator = { tenantId, userId: null, origin: 'cli' } as const;
        if (picture) await service.setLogo(operator, picture);
        if (logo === false) await service.removeLogo(operator);
        return service.update(operator, input);
      });
      const { id, slug, name: now, branding: look } = result.tenant;
      print({ id, slug, name: now, branding: look });
    });
}

/** Validates like the API, with messages for the command line. */
function checked(input: object): UpdateTenant {
  try {
    return validated(UpdateTenant, input);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const lines = error.extras.details?.map(({ message }) => message).join('\n');
    throw new Error(lines ?? error.message, { cause: error });
  }
}
