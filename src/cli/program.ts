import { readFileSync } from 'node:fs';
import type { INestApplicationContext } from '@nestjs/common';
import { Command, Option } from 'commander';
import type { Config } from '../config/config.js';
import { IdentityApi } from '../modules/identity/index.js';
import { PushKeys } from '../modules/push/index.js';
import { type MemberStatus, TenantsApi } from '../modules/tenants/index.js';
import { Audit, operator } from '../platform/audit/audit.js';
import { Db } from '../platform/database/db.js';
import { SyncCursors } from '../platform/sync/sync-cursors.js';
import { addAccountSecurity, addErasure, linkMail, type MailLink, passwordFor } from './account-commands.js';
import { addAudit } from './audit.js';
import { addBackup } from './backup.js';
import { addCells, addMigrate } from './database-commands.js';
import { addClients } from './client.js';
import { accountOf, print, tenantNamed, tenantOf, wholeNumber, withApp } from './context.js';
import { addDoctor } from './doctor/doctor.js';
import { provision, ProvisionFile } from '../provision/provision.js';
import { addTenant } from './tenant.js';

const CLIENT = 'workspace-cli';

interface TokenOptions {
  email: string;
  tenant?: string;
  ttl?: number;
  aal2?: boolean;
}

/** The admin command line. It works beside a running server, on the same DATA_DIR or DATABASE_URL. */
export function createProgram(loadConfig: () => Config): Command {
  const program = new Command('workspace')
    .description('Administers the workspace backend. JSON on stdout, messages on stderr.')
    .showHelpAfterError();

  program
    .command('provision')
    .description('create workspaces, users and memberships from a file; idempotent')
    .requiredOption(
      '--file <provision.json>',
      '{"tenants":[{"slug","name","domains":[],"users":[{"email","name","password"?,"role"?}]}],"accounts":[{"email","name"}]}',
    )
    .option('--tokens', 'issue an access token for each user')
    .action(async ({ file, tokens }: { file: string; tokens?: boolean }) => {
      const contents = ProvisionFile.parse(readFileSync(file, 'utf8'));
      print(await withApp(loadConfig(), (app) => provision(app, contents, tokens)));
    });

  program
    .command('token')
    .description('print an access token')
    .requiredOption('--email <address>')
    .option('--tenant <slug>', 'workspace of the token; default: none')
    .option(
      '--ttl <seconds>',
      'lifetime; default TOKEN_TTL',
      wholeNumber(31_536_000, '1 to 31536000 seconds'),
    )
    .option('--aal2', 'with the second factor proven; default: the account must prove its factor, if any')
    .action(async ({ email, tenant, ttl, aal2 }: TokenOptions) => {
      const token = await withApp(loadConfig(), async (app) => {
        const account = await accountOf(app, email);
        if (account.status !== 'active') throw new Error(`The account ${email} is deactivated.`);
        const tenantId = tenant === undefined ? null : await tenantOf(app, tenant, account.id);
        const [issued] = await app
          .get(IdentityApi)
          .issueTokens([{ accountId: account.id, tenantId, aal2 }], CLIENT, ttl);
        return issued;
      });
      process.stdout.write(`${token}\n`);
    });

  program
    .command('session')
    .description('sessions of a user')
    .command('revoke')
    .description('end all sessions of a user within 5 seconds')
    .requiredOption('--email <address>')
    .action(async ({ email }: { email: string }) => {
      const revoked = await withApp(loadConfig(), async (app) =>
        app.get(IdentityApi).revokeSessions((await accountOf(app, email)).id),
      );
      print({ email, revoked_sessions: revoked });
    });

  const user = program.command('user').description('users');
  for (const [name, status, description] of [
    ['deactivate', 'deactivated', 'close an account, or only its membership of one workspace'],
    [
      'activate',
      'active',
      'reopen a closed account with the memberships that ended with it, or only its membership of one workspace',
    ],
  ] as const) {
    user
      .command(name)
      .description(description)
      .requiredOption('--email <address>')
      .option('--tenant <slug>', 'only this membership')
      .action(async ({ email, tenant }: { email: string; tenant?: string }) => {
        await withApp(loadConfig(), async (app) =>
          setStatus(app, (await accountOf(app, email)).id, tenant, status),
        );
        print({ email, tenant: tenant ?? null, status });
      });
  }

  const keys = program.command('keys').description('signing keys of access tokens and push messages');
  keys
    .command('rotate')
    .description('sign new tokens with a new key; existing tokens stay valid')
    .action(async () =>
      print({
        kid: await withApp(loadConfig(), (app) => app.get(IdentityApi).rotateSigningKey()),
      }),
    );
  keys
    .command('rotate-push')
    .description(
      'new push subscriptions use a new key; existing ones keep theirs until their device subscribes again',
    )
    .action(async () => print({ id: await withApp(loadConfig(), (app) => app.get(PushKeys).rotate()) }));

  program
    .command('feeds')
    .description('change feeds')
    .command('expire')
    .description('make clients rebuild their indexes, after restoring a backup and before the servers start')
    .action(async () => {
      await withApp(loadConfig(), (app) => app.get(SyncCursors).expireAll());
      print({ cursors: 'expired' });
    });

  addTenant(program, loadConfig);
  addCells(program, loadConfig);
  addAudit(program, loadConfig);
  addBackup(program, loadConfig);
  addClients(program, loadConfig);
  addAccountSecurity(program, user, loadConfig);
  addErasure(user, loadConfig);

  program
    .command('mail')
    .description('mail accounts')
    .command('link')
    .description('link an existing account of the mail service to a user, after verifying it')
    .requiredOption('--email <address>')
    .option('--tenant <slug>', 'workspace; optional for a member of only one')
    .requiredOption('--username <name>', 'user name of the account in the mail service')
    .addOption(
      new Option('--password <password>', 'visible to other processes; prefer the alternatives').env(
        'MAIL_ACCOUNT_PASSWORD',
      ),
    )
    .option('--password-stdin', 'read the password from standard input')
    .action(async (options: MailLink) => {
      const config = loadConfig();
      const password = await passwordFor(options, config);
      print(await withApp(config, (app) => linkMail(app, options, password)));
    });

  addMigrate(program, loadConfig);
  addDoctor(program, loadConfig);

  return program;
}

async function setStatus(
  app: INestApplicationContext,
  accountId: string,
  slug: string | undefined,
  status: MemberStatus,
): Promise<void> {
  const [identity, tenants, audit] = [app.get(IdentityApi), app.get(TenantsApi), app.get(Audit)];
  const tenantId = slug === undefined ? null : await tenantNamed(app, slug);
  const isActive = status === 'active';
  await app.get(Db).tx(async (tx) => {
    const entry = {
      action: isActive ? 'user.activated' : 'user.deactivated',
      objectKind: 'user',
      objectId: accountId,
    };
    if (tenantId === null) {
      const changed = isActive
        ? await tenants.restoreMemberships(tx, accountId)
        : await tenants.endMemberships(tx, accountId);
      for (const id of changed)
        await audit.record(tx, operator(id), { ...entry, data: { with_account: true } });
      await (isActive ? identity.activate(tx, accountId) : identity.deactivate(tx, accountId));
    } else {
      if (!(await tenants.setMemberStatus(tx, accountId, tenantId, status)))
        throw new Error(`This account is not a member of "${slug}".`);
      if (!isActive) await identity.endSessionsIn(tx, accountId, tenantId);
      else if (await identity.reopen(tx, accountId))
        await identity.recordAccessChange(tx, accountId, tenantId);
      else throw new Error('The account is closed: run user activate without --tenant first.');
    }
    await audit.record(tx, operator(tenantId), entry);
  });
}
