import type { INestApplicationContext } from '@nestjs/common';
import { type Command, Option } from 'commander';
import type { Config } from '../config/config.js';
import { CLIENT_KINDS, type ClientKind, OidcClientsApi } from '../modules/sign-in/index.js';
import { TenantsApi } from '../modules/tenants/index.js';
import { withApp } from './context.js';

interface AddOptions {
  kind: ClientKind;
  name: string;
  id?: string;
  firstParty?: boolean;
  redirectUri?: string[];
  logoutUri?: string[];
  tenant?: string;
  role?: 'admin' | 'member';
}

/** Adds `workspace client`: the programs that people sign in with, or that act by themselves. */
export function addClients(program: Command, loadConfig: () => Config): void {
  const client = program
    .command('client')
    .description('programs that people sign in with, or that act by themselves');
  const clients = (app: INestApplicationContext) => app.get(OidcClientsApi, { strict: false });

  client
    .command('add')
    .description('register a program; a secret is shown once and kept as a hash')
    .addOption(
      new Option(
        '--kind <kind>',
        'public: in a browser or on a phone; confidential: with a server; device: shows a code; service: acts by itself',
      )
        .choices(CLIENT_KINDS)
        .makeOptionMandatory(),
    )
    .requiredOption('--name <name>', 'what people read when they sign in')
    .option('--id <id>', 'its client_id; default: a random one')
    .option('--redirect-uri <uri...>', 'where people are sent back to after signing in')
    .option('--logout-uri <uri...>', 'where people may be sent after signing out')
    .option('--first-party', 'one of ours: people are not asked whether it may')
    .option('--tenant <slug>', 'of a service: the workspace it acts in')
    .addOption(
      new Option('--role <role>', 'of a service: what it is there')
        .choices(['admin', 'member'])
        .default('member'),
    )
    .action(async (options: AddOptions) => {
      print(
        await withApp(loadConfig(), async (app) => {
          const added = await clients(app).add({
            kind: options.kind,
            name: options.name,
            id: options.id,
            firstParty: options.firstParty ?? false,
            redirectUris: options.redirectUri ?? [],
            logoutUris: options.logoutUri ?? [],
            tenantId: options.tenant === undefined ? undefined : await tenantNamed(app, options.tenant),
            role: options.role,
          });
          return { client_id: added.id, ...(added.secret !== null && { client_secret: added.secret }) };
        }),
      );
    });

  client
    .command('list')
    .description('all programs: built in, of OIDC_CLIENTS, and those added')
    .action(async () => print({ clients: await withApp(loadConfig(), (app) => clients(app).list()) }));

  client
    .command('remove')
    .description(
      'remove a program that was added; what was signed in with it ends everywhere within 5 seconds',
    )
    .argument('<id>')
    .action(async (id: string) =>
      print({
        client_id: id,
        ended_sessions: await withApp(loadConfig(), (app) => clients(app).remove(id)),
      }),
    );
}

async function tenantNamed(app: INestApplicationContext, slug: string): Promise<string> {
  const tenantId = await app.get(TenantsApi, { strict: false }).idBySlug(slug);
  if (!tenantId) throw new Error(`There is no workspace "${slug}".`);
  return tenantId;
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
