import type { Command } from 'commander';
import type { Config } from '../config/config.js';
import { PersonalErasures } from '../modules/personal-data/index.js';
import { accountOf, tenantNamed } from './accounts.js';
import { print, withApp } from './context.js';

interface EraseOptions {
  email: string;
  tenant?: string;
  now?: boolean;
}

/** Adds `workspace user erase`. */
export function addErasure(user: Command, loadConfig: () => Config): void {
  user
    .command('erase')
    .description(
      'erase the personal data of a closed account after the grace time; activating it cancels this',
    )
    .requiredOption('--email <address>')
    .option('--tenant <slug>', 'only the data in this workspace')
    .option('--now', 'without grace time; cannot be undone')
    .action(async ({ email, tenant, now = false }: EraseOptions) => {
      const erasures = await withApp(loadConfig(), async (app) => {
        const { id } = await accountOf(app, email);
        const tenantId = tenant === undefined ? undefined : await tenantNamed(app, tenant);
        return app.get(PersonalErasures).request(id, { tenantId, now });
      });
      print({ email, erasures });
    });
}
