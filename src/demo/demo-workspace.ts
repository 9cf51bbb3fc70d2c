import type { AddressInfo } from 'node:net';
import { type INestApplication, type INestApplicationContext, Logger } from '@nestjs/common';
import { API_PREFIX } from '../config/config.js';
import { CallsApi } from '../modules/calls/index.js';
import { IdentityApi } from '../modules/identity/index.js';
import { TenantsApi } from '../modules/tenants/index.js';
import { Blobs } from '../platform/blobs/blobs.js';
import { CellError } from '../platform/cells/cell-administration.js';
import { WorkspaceMoves } from '../platform/cells/move/workspace-moves.js';
import { Db } from '../platform/database/db.js';
import { openSession } from '../platform/database/long-session.js';
import { PersonalData } from '../platform/personal-data/personal-data.js';
import { provision } from '../provision/provision.js';
import { CALL, GUEST_LINK } from './data/content.js';
import { DEMO_PASSWORD, DEMO_TENANT, DEMO_USERS, DemoClient } from './demo-client.js';
import { createContent, type DemoClients } from './demo-content.js';
import { createForms } from './demo-forms.js';
import { createMail } from './demo-mail.js';

/**
 * Creates the history of a call, and an invite with a guest who waits for approval. The routes of calls need a media server,
 * which the demo does not have.
 */
export async function createCalls(
  app: INestApplication,
  tenantId: string,
  { alice }: DemoClients,
): Promise<void> {
  const { rooms } = await alice.call<{ rooms: { id: string; name: string }[] }>('GET', '/chat/rooms');
  const room = rooms.find(({ name }) => name === CALL.room);
  if (!room) throw new Error(`the demo has no room ${CALL.room}`);
  const { title, minutes } = CALL;
  const ctx = { tenantId, userId: alice.id };
  await app.get(CallsApi).recordPast(ctx, { roomId: room.id, title, minutes });
  const path = `/chat/rooms/${room.id}/external_invites`;
  const { invites } = await alice.post<{ invites: { token: string }[] }>(path, GUEST_LINK.invite);
  await alice.post(`/call/external/${invites[0]?.token}/claim`, GUEST_LINK.claim);
}

/** Key of the lock of the creation: another process must not empty the workspace meanwhile. */
const LOCK = 770_612;

/** The demo workspace until it is complete. Its slug is invalid, so that no other workspace has it. */
const UNFINISHED = { ...DEMO_TENANT, slug: 'demo (unfinished)', users: [...DEMO_USERS] };

/** Tables of files, which the collector removes, and of accounts, which another mail service keeps. */
const KEPT = ['blobs', 'file_usage', 'user_file_usage', 'mail_accounts'];

/** Whether there is no complete demo workspace. */
export const isDemoMissing = async (app: INestApplicationContext): Promise<boolean> =>
  (await app.get(TenantsApi).idBySlug(DEMO_TENANT.slug)) === null;

/**
 * Creates the demo workspace unless it exists: users, and content for each of them. The content is created through the HTTP API,
 * so that all rules for clients apply to it. A workspace whose creation was interrupted is created again: its users have no passwords
 * yet, so that it has no other content. It stays as it is when the role of the database may not empty it.
 * @param app an application that listens on the loopback address
 * @param options.mail whether to send mail, which only the embedded mail service delivers to these addresses
 */
export async function createDemoWorkspace(app: INestApplication, { mail }: { mail: boolean }): Promise<void> {
  if (!(await isDemoMissing(app))) return;
  const session = await openSession(app.get(Db).main, 'demo workspace');
  try {
    await session.query('SELECT pg_advisory_lock($1)', [LOCK]);
    if (await isDemoMissing(app)) await createOrRepeat(app, mail);
  } finally {
    await session.end();
  }
}

async function createOrRepeat(app: INestApplication, mail: boolean): Promise<void> {
  const tenants = app.get(TenantsApi);
  const interrupted = await tenants.idBySlug(UNFINISHED.slug);
  const tenantId =
    interrupted === null || (await isEmptied(app, mail)) ? await createAll(app, mail) : interrupted;
  await provision(app, { accounts: DEMO_USERS.map((user) => ({ ...user, password: DEMO_PASSWORD })) });
  await app.get(Db).tx((tx) => tenants.setSlug(tx, tenantId, DEMO_TENANT.slug));
}

/** @returns the id of the workspace */
async function createAll(app: INestApplication, mail: boolean): Promise<string> {
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
  return tenantId;
}

/** Empties the unfinished workspace. @returns false when the role of the database may not do so; nothing is deleted then */
async function isEmptied(app: INestApplication, mail: boolean): Promise<boolean> {
  try {
    await empty(app, mail);
    return true;
  } catch (error) {
    if (!(error instanceof CellError)) throw error;
    const logger = new Logger('Demo');
    logger.warn({ err: error }, 'the creation of the demo workspace was interrupted, so it is incomplete');
    return false;
  }
}

/** Empties the unfinished workspace. @param mail whether its users have accounts at the embedded mail service, which are deleted */
async function empty(app: INestApplication, mail: boolean): Promise<void> {
  const db = app.get(Db);
  const { users } = await provision(app, { tenants: [UNFINISHED] });
  const tenantId = users[0]!.tenant_id as string;
  await app.get(WorkspaceMoves).empty(tenantId, KEPT);
  if (mail)
    for (const source of app.get(PersonalData).erasureOrder)
      for (const { id: userId, email } of users) await source.erase({ tenantId, userId, email }, db);
  await db.tx((tx) => app.get(Blobs).releaseAll(tx, tenantId));
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
