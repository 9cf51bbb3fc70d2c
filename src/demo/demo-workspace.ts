import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { IdentityApi } from '../modules/identity/index.js';
import { NotesApi } from '../modules/notes/index.js';
import { TasksApi } from '../modules/tasks/index.js';
import { TenantsApi } from '../modules/tenants/index.js';
import {
  DEMO_NOTES,
  DEMO_PASSWORD,
  DEMO_TASK_FOLDER,
  DEMO_TASKS,
  DEMO_TENANT,
  DEMO_USERS,
} from './demo-data.js';
import { provision } from '../provision/provision.js';

/** Creates the demo workspace unless it exists: people to sign in as, and something to look at. */
export async function createDemoWorkspace(app: INestApplicationContext): Promise<void> {
  if (await app.get(TenantsApi, { strict: false }).idBySlug(DEMO_TENANT.slug)) return;
  const { users } = await provision(app, {
    tenants: [{ ...DEMO_TENANT, users: DEMO_USERS.map((user) => ({ ...user, password: DEMO_PASSWORD })) }],
  });
  const notes = app.get(NotesApi, { strict: false });
  const owner = users[0];
  if (!owner?.tenant_id) return;
  const ctx = {
    userId: owner.id,
    tenantId: owner.tenant_id,
    role: 'owner',
    sessionId: null,
    requestId: randomUUID(),
  } as const;
  for (const note of DEMO_NOTES) await notes.create(ctx, { ...note, id: uuidv7(), device_id: 'demo' });
  const tasks = app.get(TasksApi, { strict: false });
  const folder = uuidv7();
  await tasks.createFolder(ctx, { ...DEMO_TASK_FOLDER, id: folder });
  for (const { in_days: days, filed, ...task } of DEMO_TASKS) {
    const date = new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    await tasks.create(ctx, { ...task, date, folder_id: filed ? folder : null });
  }
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
