import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { INestApplicationContext } from '@nestjs/common';
import type { Config } from '../config/config.js';
import { AccountRecovery } from '../modules/account-security/index.js';
import { ApiError } from '../platform/http/api-error.js';
import { accountOf } from './accounts.js';
import { print, withApp } from './context.js';

/** Adds commands for users who are locked out. */
export function addAccountSecurity(program: Command, user: Command, loadConfig: () => Config): void {
  user
    .command('set-password')
    .description('set a password, read from standard input, and end all sessions and application passwords')
    .requiredOption('--email <address>')
    .action(async ({ email }: { email: string }) => {
      const password = (await text(process.stdin)).replace(/\r?\n$/, '');
      await withApp(loadConfig(), async (app) => {
        const { id } = await accountOf(app, email);
        await recovery(app).setPassword(id, password).catch(toPasswordError);
      });
      print({ email, password: 'set' });
    });

  program
    .command('second-factor')
    .description('second factors of users')
    .command('reset')
    .description('remove the lost second factor of a user')
    .requiredOption('--email <address>')
    .action(async ({ email }: { email: string }) => {
      const removed = await withApp(loadConfig(), async (app) =>
        recovery(app).removeSecondFactor((await accountOf(app, email)).id),
      );
      print({ email, removed });
    });
}

const recovery = (app: INestApplicationContext): AccountRecovery => app.get(AccountRecovery);

function toPasswordError(error: unknown): never {
  const [detail] = error instanceof ApiError ? (error.extras.details ?? []) : [];
  throw detail ? new Error(`The password ${detail.message.replace(/^\w+ /, '')}.`) : error;
}
