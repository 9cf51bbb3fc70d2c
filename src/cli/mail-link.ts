import { text } from 'node:stream/consumers';
import type { INestApplicationContext } from '@nestjs/common';
import type { Config } from '../config/config.js';
import { MailApi } from '../modules/mail/index.js';
import { TenantsApi } from '../modules/tenants/index.js';
import { accountOf, tenantOf } from './accounts.js';

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
