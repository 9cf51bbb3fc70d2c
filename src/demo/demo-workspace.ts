import type { AddressInfo } from 'node:net';
import type { INestApplication, INestApplicationContext } from '@nestjs/common';
import { API_PREFIX } from '../config/config.js';
import { IdentityApi } from '../modules/identity/index.js';
import { TenantsApi } from '../modules/tenants/index.js';
import { provision } from '../provision/provision.js';
import { createCalls } from './demo-calls.js';
import { DemoClient } from './demo-client.js';
import { createContent, type DemoClients } from './demo-content.js';
import { DEMO_PASSWORD, DEMO_TENANT, DEMO_USERS } from './demo-data.js';
import { createForms } from './demo-forms.js';
import { createMail } from './demo-mail.js';

/**
 * Creates the demo workspace unless it exists: users, and content for each of them. The content is created through the HTTP API,
 * so that all rules for clients apply to it.
 * @param app an application that listens on the loopback address
 * @param options.mail whether to send mail, which only the embedded mail service delivers to these addresses
 */
export async function createDemoWorkspace(app: INestApplication, { mail }: { mail: boolean }): Promise<void> {
  if (await app.get(TenantsApi).idBySlug(DEMO_TENANT.slug)) return;
  const users = DEMO_USERS.map((user) => ({ ...user, password: DEMO_PASSWORD }));
  const { users: created } = await provision(app, { tenants: [{ ...DEMO_TENANT, users }] }, true);
  const { port } = app.getHttpServer().address() as AddressInfo;
  const base = `http://127.0.0.1:${port}/${API_PREFIX}`;
  const clients = Object.fromEntries(
    created.map(({ id, email, token }) => [
      email.split('@')[0],
      new DemoClient(base, token as string, id, email),
    ]),
  ) as DemoClients;
  await createContent(clients);
  await createForms(clients);
  await createCalls(app, clients);
  if (mail) await createMail(clients);
}

/** An access token for the first demo user. */
export async function demoToken(app: INestApplicationContext): Promise<string | null> {
  const identity = app.get(IdentityApi);
  const account = await identity.findByEmail(DEMO_USERS[0].email);
  const tenantId = await app.get(TenantsApi).idBySlug(DEMO_TENANT.slug);
  if (!account || !tenantId) return null;
  const [token] = await identity.issueTokens([{ accountId: account.id, tenantId }], 'demo');
  return token ?? null;
}
