import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Config } from '../config/config.js';
import { TenantProfileService, TenantsApi, UpdateTenant } from '../modules/tenants/index.js';
import { ApiError } from '../platform/http/api-error.js';
import { validated } from '../platform/http/input.pipe.js';
import { withApp } from './context.js';

interface UpdateOptions {
  tenant: string;
  name?: string;
  color?: string;
  /** A file; false: `--no-logo`. */
  logo?: string | false;
}

/** Adds `workspace tenant update`. */
export function addTenant(program: Command, loadConfig: () => Config): void {
  program
    .command('tenant')
    .description('workspaces')
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
        const tenantId = await app.get(TenantsApi, { strict: false }).idBySlug(tenant);
        if (!tenantId) throw new Error(`The workspace "${tenant}" does not exist.`);
        const service = app.get(TenantProfileService, { strict: false });
        const operator = { tenantId, userId: null, origin: 'cli' } as const;
        if (picture) await service.setLogo(operator, picture);
        if (logo === false) await service.removeLogo(operator);
        return service.update(operator, input);
      });
      const { id, slug, name: now, branding: look } = result.tenant;
      process.stdout.write(`${JSON.stringify({ id, slug, name: now, branding: look })}\n`);
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
