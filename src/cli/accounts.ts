import type { INestApplicationContext } from '@nestjs/common';
import { IdentityApi } from '../modules/identity/index.js';
import { TenantsApi } from '../modules/tenants/index.js';

/** @throws Error with a message for the operator */
export async function accountOf(app: INestApplicationContext, email: string) {
  const account = await app.get(IdentityApi).findByEmail(email);
  if (!account) throw new Error(`No account has the address ${email}.`);
  return account;
}

/** The id of the workspace. @throws Error unless the account is an active member */
export async function tenantOf(
  app: INestApplicationContext,
  slug: string,
  accountId: string,
): Promise<string> {
  const tenantId = await tenantNamed(app, slug);
  if (!(await app.get(TenantsApi).activeRole(tenantId, accountId)))
    throw new Error(`This account is not an active member of "${slug}".`);
  return tenantId;
}

/** The id of a workspace, by its slug. */
export async function tenantNamed(app: INestApplicationContext, slug: string): Promise<string> {
  const tenantId = await app.get(TenantsApi).idBySlug(slug);
  if (!tenantId) throw new Error(`The workspace "${slug}" does not exist.`);
  return tenantId;
}
