import type { INestApplicationContext } from '@nestjs/common';
import { type Command, Option } from 'commander';
import type { Config } from '../config/config.js';
import { CLIENT_KINDS, type ClientKind, OidcClientsApi } from '../modules/sign-in/index.js';
import { print, tenantNamed, withApp } from './context.js';

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

/** Adds `workspace client`: OAuth clients of users and services. */
export function addClients(program: Command, loadConfig: () => Config): void {
  const client = program.command('client').description('OAuth clients of users and services');
  const clients = (app: INestApplicationContext) => app.get(OidcClientsApi);

  client
    .command('add')
    .description('register a client; its secret is shown once and stored as a hash')
    .addOption(
      new Option(
        '--kind <kind>',
        'public: in a browser or on a phone; confidential: with a server; device: shows a code; service: without a user',
      )
        .choices(CLIENT_KINDS)
        .makeOptionMandatory(),
    )
    .requiredOption('--name <name>', 'name on the sign-in page')
    .option('--id <id>', 'client_id; default: random')
    .option('--redirect-uri <uri...>', 'redirect URIs after sign-in')
    .option('--logout-uri <uri...>', 'redirect URIs after sign-out')
    .option('--first-party', 'first-party client: no consent page')
    .option('--tenant <slug>', 'workspace of a service')
    .addOption(
      new Option('--role <role>', 'role of a service').choices(['admin', 'member']).default('member'),
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
    .description('list all clients: built in, of OIDC_CLIENTS and of the database')
    .action(async () => print({ clients: await withApp(loadConfig(), (app) => clients(app).list()) }));

  client
    .command('remove')
    .description('remove a client of the database; its sessions end within 5 seconds')
    .argument('<id>')
    .action(async (id: string) => {
      const ended = await withApp(loadConfig(), (app) => clients(app).remove(id));
      if (ended === null) throw new Error(`The client "${id}" does not exist in the database.`);
      print({ client_id: id, ended_sessions: ended });
    });
}
