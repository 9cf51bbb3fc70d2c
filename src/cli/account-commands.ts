import { text } from 'node:stream/consumers';
import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import type { Config } from '../config/config.js';
import { AccountRecovery } from '../modules/account-security/index.js';
import { MailApi } from '../modules/mail/index.js';
import { PersonalErasures } from '../modules/personal-data/index.js';
import { TenantsApi } from '../modules/tenants/index.js';
import { ApiError } from '../platform/http/errors.js';
import { accountOf, print, tenantNamed, tenantOf, withApp } from './context.js';

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

export interface MailLink {
  email: string;
  tenant?: string;
  username: string;
  password?: string;
  passwordStdin?: boolean;
}

/**
 * The password of the account; undefined if not required. @throws Error with a message for the operator
 */
export async function passwordFor(options: MailLink, config: Config): Promise<string | undefined> {
  // Only its server can reach the embedded mail service, and the workspace has created all of its accounts.
  if (config.mailService === null)
    throw new Error(
      'Nothing to link: without MAIL_SERVICE_URL, npm start runs an embedded mail service, which creates accounts on first use.',
    );
  if (config.MAIL_SERVICE_MODE === 'service') return undefined;
  const password = options.passwordStdin
    ? (await text(process.stdin)).replace(/\r?\n$/, '')
    : options.password;
  if (!password) throw new Error('Pass the password by --password-stdin or in MAIL_ACCOUNT_PASSWORD.');
  return password;
}

/** Links an account of the mail service to a user. */
export async function linkMail(
  app: INestApplicationContext,
  { email, tenant, username }: MailLink,
  password: string | undefined,
): Promise<object> {
  const account = await accountOf(app, email);
  const tenantId =
    tenant === undefined ? await onlyWorkspace(app, account.id) : await tenantOf(app, tenant, account.id);
  const mail = app.get(MailApi);
  const { mailUserId } = await mail.linkAccount({ tenantId, userId: account.id }, username, password);
  return { email, username, mail_user_id: mailUserId };
}

async function onlyWorkspace(app: INestApplicationContext, userId: string): Promise<string> {
  const [only, ...others] = await app.get(TenantsApi).workspacesOf(userId);
  if (only === undefined) throw new Error('This account is a member of no workspace.');
  if (others.length > 0)
    throw new Error('This account is a member of several workspaces: choose one with --tenant.');
  return only.id;
}
