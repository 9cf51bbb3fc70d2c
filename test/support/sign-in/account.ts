import { provision } from '../../../src/provision/provision.js';
import { IdentityApi } from '../../../src/modules/identity/index.js';
import type { TestUser, TestApp } from '../app.ts';
import { Authenticator } from './totp.ts';

export const PASSWORD = 'correct horse battery staple';

/** A member of a new workspace with a password. */
export async function personWithPassword(app: TestApp, name: string): Promise<TestUser> {
  const slug = `w${Math.random().toString(36).slice(2)}`;
  const email = `${name}@${slug}.example`;
  const user = { email, name, role: 'owner' as const, password: PASSWORD };
  const { users } = await provision(app.served.nest, { tenants: [{ slug, users: [user] }] }, true);
  const { id, tenant_id: tenantId, token = '' } = users[0]!;
  return { id, email, tenantId, token, api: app.as(token) };
}

/** Another session of the same account. */
export async function session(
  app: TestApp,
  person: TestUser,
  more: { aal2?: boolean; userAgent?: string; tenantId?: string | null } = {},
): Promise<TestUser> {
  const request = { accountId: person.id, tenantId: person.tenantId, ...more };
  const [token] = (await app.get<IdentityApi>(IdentityApi).issueTokens([request], 'test')) as [string];
  return { ...person, token, api: app.as(token) };
}

export interface Enrolled {
  person: TestUser;
  authenticator: Authenticator;
  recoveryCodes: string[];
  /** The code that enabled it. */
  used: string;
}

/** An account with its second factor enabled and proven in its session; the codes of this and the next step are unused. */
export async function enrolled(app: TestApp, name: string): Promise<Enrolled> {
  const person = await personWithPassword(app, name);
  const { body } = await person.api.post('/auth/initiate-2fa', { password: PASSWORD });
  const authenticator = new Authenticator(body.secret);
  const used = authenticator.code(-1);
  const response = await person.api.post('/auth/enable-2fa', { code: used });
  if (response.status !== 200) throw new Error(`not enabled: ${response.text}`);
  return { person, authenticator, recoveryCodes: response.body.recovery_codes, used };
}
