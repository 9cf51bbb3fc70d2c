import type { INestApplicationContext } from '@nestjs/common';
import { plainToInstance, Type } from 'class-transformer';
import {
  IsArray,
  IsEmail,
  IsFQDN,
  IsIn,
  IsOptional,
  IsString,
  Length,
  Matches,
  ValidateNested,
  validateSync,
  type ValidationError,
} from 'class-validator';
import { v7 as uuidv7 } from 'uuid';
import { type AccountSpec, emailKey, IdentityApi } from '../modules/identity/index.js';
import { AsDomainName, TenantsApi } from '../modules/tenants/index.js';
import { Audit, operator } from '../platform/audit/audit.js';
import { Db } from '../platform/database/db.js';
import type { Tx } from '../platform/database/tx.js';
import { Name } from '../platform/http/input.decorators.js';

class ProvisionAccount {
  @IsEmail({ allow_utf8_local_part: true, require_tld: false }) email!: string;
  @Name(200) name!: string;
  @IsOptional() @IsString() @Length(8, 1000) password?: string;
}

class ProvisionUser extends ProvisionAccount {
  @IsOptional() @IsIn(['owner', 'admin', 'member']) role?: 'owner' | 'admin' | 'member';
}

/** The name of a workspace in addresses and commands. */
export const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export class ProvisionTenant {
  @Matches(SLUG, {
    message: 'slug must be lower-case letters, digits and hyphens',
  })
  slug!: string;
  @IsOptional() @Name(200) name?: string;
  @IsOptional() @IsArray() @IsFQDN({ require_tld: false }, { each: true }) @AsDomainName() domains?: string[];
  @IsOptional() @IsArray() @ValidateNested({ each: true }) @Type(() => ProvisionUser) users?: ProvisionUser[];
}

/** Maximum number of reported errors per file. */
const MAX_PROBLEMS = 20;

/** The file of `workspace provision --file`. */
export class ProvisionFile {
  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => ProvisionTenant)
  tenants?: ProvisionTenant[];
  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => ProvisionAccount)
  accounts?: ProvisionAccount[];

  /** @throws Error that names each invalid entry by its path, e.g. `tenants.0.users.3.email` */
  static parse(text: string): ProvisionFile {
    const plain = parseJson(text);
    if (typeof plain !== 'object' || plain === null || Array.isArray(plain))
      throw new Error('the file must contain a JSON object');
    const file = plainToInstance(ProvisionFile, plain);
    const problems = validateSync(file, { whitelist: true }).flatMap((error) => messages(error));
    if (problems.length > MAX_PROBLEMS)
      problems.splice(MAX_PROBLEMS, Infinity, `and ${problems.length - MAX_PROBLEMS} more`);
    if (problems.length > 0) throw new Error(problems.join('\n'));
    return file;
  }
}

/** @throws Error with the reason */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`the file must contain JSON: ${(error as Error).message}`, { cause: error });
  }
}

function messages(error: ValidationError, parent = ''): string[] {
  const path = parent ? `${parent}.${error.property}` : error.property;
  return [
    ...Object.values(error.constraints ?? {}).map((message) => `${path}: ${message}`),
    ...(error.children ?? []).flatMap((child) => messages(child, path)),
  ];
}

export interface ProvisionedUser {
  email: string;
  id: string;
  /** Slug of the workspace; null for an account without one. */
  tenant: string | null;
  tenant_id: string | null;
  token?: string;
}

const CLIENT = 'workspace-cli';

/**
 * Creates missing workspaces, accounts and memberships, and updates names and roles that the file contains. Stored
 * passwords stay. Idempotent.
 * @param tokens also issue an access token for each user
 */
export async function provision(
  app: INestApplicationContext,
  file: ProvisionFile,
  tokens = false,
): Promise<{ users: ProvisionedUser[] }> {
  const [db, identity, tenants, audit] = [
    app.get(Db),
    app.get(IdentityApi),
    app.get(TenantsApi),
    app.get(Audit),
  ];
  const accounts: AccountSpec[] = [
    ...(file.tenants ?? []).flatMap((tenant) => tenant.users ?? []),
    ...(file.accounts ?? []),
  ];
  const hashes = await identity.hashNewPasswords(accounts);
  const users = await db.tx(async (tx) => {
    const ids = await identity.provision(tx, accounts, hashes);
    const idOf = (email: string): string => ids.get(emailKey(email)) as string;
    const result: ProvisionedUser[] = [];
    for (const tenant of file.tenants ?? []) {
      const tenantId = await tenants.provision(tx, {
        id: uuidv7(),
        slug: tenant.slug,
        name: tenant.name ?? null,
        domains: tenant.domains ?? [],
      });
      const changed = await tenants.provisionMembers(tx, tenantId, membersOf(tenant, idOf));
      for (const userId of changed) await identity.recordAccessChange(tx, userId, tenantId);
      await audit.record(tx, operator(tenantId), {
        action: 'tenant.provisioned',
        objectKind: 'tenant',
        objectId: tenantId,
        data: provisioned(tenant, idOf),
      });
      for (const { email } of tenant.users ?? [])
        result.push({ email, id: idOf(email), tenant: tenant.slug, tenant_id: tenantId });
    }
    for (const { email } of file.accounts ?? [])
      result.push({ email, id: idOf(email), tenant: null, tenant_id: null });
    if (file.accounts?.length)
      await auditAccounts(
        audit,
        tx,
        file.accounts.map(({ email }) => idOf(email)),
      );
    return result;
  });
  if (tokens) {
    const issued = await identity.issueTokens(
      users.map((user) => ({ accountId: user.id, tenantId: user.tenant_id })),
      CLIENT,
    );
    users.forEach((user, n) => (user.token = issued[n]));
  }
  return { users };
}

/** Records accounts without a workspace. */
async function auditAccounts(audit: Audit, tx: Tx, accounts: string[]): Promise<void> {
  const data = { accounts, count: accounts.length };
  await audit.record(tx, operator(null), {
    action: 'identity.accounts.provisioned',
    objectKind: 'user',
    data,
  });
}

/** Facts of a provisioned workspace for the audit log. */
function provisioned({ slug, domains, users }: ProvisionTenant, idOf: (email: string) => string) {
  // Null in a file counts as missing.
  const members = (users ?? []).map(({ email, role }) => ({ id: idOf(email), role: role ?? null }));
  return { slug, domains: domains ?? [], members, count: members.length };
}

/** One entry for each user: the last one in the file. */
function membersOf(tenant: ProvisionTenant, idOf: (email: string) => string) {
  const members = (tenant.users ?? []).map((user) => ({
    userId: idOf(user.email),
    email: user.email.trim(),
    displayName: user.name,
    role: user.role ?? null,
  }));
  return [...new Map(members.map((member) => [member.userId, member])).values()];
}
