import type { AddressInfo } from 'node:net';
import type { INestApplication, INestApplicationContext } from '@nestjs/common';
import { API_PREFIX } from '../config/config.js';
import { IdentityApi } from '../modules/identity/index.js';
import { TenantsApi } from '../modules/tenants/index.js';
import { Blobs } from '../platform/blobs/blobs.js';
import { WorkspaceMoves } from '../platform/cells/move/workspace-moves.js';
import { Db } from '../platform/database/db.js';
import { PersonalData } from '../platform/personal-data/personal-data.js';
import { provision } from '../provision/provision.js';
import { createCalls } from './demo-calls.js';
import { DemoClient } from './demo-client.js';
import { createContent, type DemoClients } from './demo-content.js';
import { DEMO_PASSWORD, DEMO_TENANT, DEMO_USERS } from './demo-data.js';
import { createForms } from './demo-forms.js';
import { createMail } from './demo-mail.js';

/** The demo workspace until it is complete. Its slug is invalid, so that no other workspace has it. */
const UNFINISHED = { ...DEMO_TENANT, slug: 'demo (unfinished)', users: [...DEMO_USERS] };

/**
 * Creates the demo workspace unless it exists: users, and content for each of them. The content is created through the HTTP API,
 * so that all rules for clients apply to it. A workspace whose creation was interrupted is created again: its users have no passwords
 * yet, so that it has no other content.
 * @param app an application that listens on the loopback address
 * @param options.mail whether to send mail, which only the embedded mail service delivers to these addresses
 */
export async function createDemoWorkspace(app: INestApplication, { mail }: { mail: boolean }): Promise<void> {
  const tenants = app.get(TenantsApi, { strict: false });
  if (await tenants.idBySlug(DEMO_TENANT.slug)) return;
  if (await tenants.idBySlug(UNFINISHED.slug)) await empty(app, mail);
  const { users } = await provision(app, { tenants: [UNFINISHED] }, true);
  const { port } = app.getHttpServer().address() as AddressInfo;
  const base = `http://127.0.0.1:${port}/${API_PREFIX}`;
  const clients = Object.fromEntries(
    users.map(({ id, email, token }) => [
      email.split('@')[0],
      new DemoClient(base, token as string, id, email),
    ]),
  ) as DemoClients;
  const tenantId = users[0]!.tenant_id as string;
  await createContent(clients);
  await createForms(clients);
  await createCalls(app, tenantId, clients);
  if (mail) await createMail(clients);
  await provision(app, { accounts: DEMO_USERS.map((user) => ({ ...user, password: DEMO_PASSWORD })) });
  await app.get(Db).tx((tx) => tenants.setSlug(tx, tenantId, DEMO_TENANT.slug));
}

/** Empties the unfinished workspace. @param mail whether its users have accounts at the embedded mail service, which are deleted */
async function empty(app: INestApplication, mail: boolean): Promise<void> {
  const db = app.get(Db);
  const { users } = await provision(app, { tenants: [UNFINISHED] });
  const tenantId = users[0]!.tenant_id as string;
  if (mail)
    for (const source of app.get(PersonalData, { strict: false }).erasureOrder)
      for (const { id: userId, email } of users) await source.erase({ tenantId, userId, email }, db);
  await db.tx((tx) => app.get(Blobs, { strict: false }).releaseAll(tx, tenantId));
  // The collector needs the rows of files. Another mail service keeps its accounts, so their rows stay.
  await app.get(WorkspaceMoves, { strict: false }).empty(tenantId, ['blobs', 'mail_accounts']);
}

/** An access token for the first demo user. */
export async function demoToken(app: INestApplicationContext): Promise<string | null> {
  const identity = app.get(IdentityApi, { strict: false });
  const account = await identity.findByEmail(DEMO_USERS[0].email);
  const tenantId = await app.get(TenantsApi, { strict: false }).idBySlug(DEMO_TENANT.slug);
  if (!account || !tenantId) return null;
  const [token] = await identity.issueTokens([{ accountId: account.id, tenantId }], 'demo');
  return token ?? null;
}
