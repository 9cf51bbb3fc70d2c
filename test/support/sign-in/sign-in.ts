import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Secret } from 'otpauth';
import { provision } from '../../../src/provision/provision.js';
import { SecretBox } from '../../../src/platform/secrets/secret-box.js';
import { TestApp } from '../app.ts';
import { freePort } from '../network/ports.ts';
import { Browser, REDIRECT } from './relying-party.ts';
import { Authenticator } from './totp.ts';

export const PASSWORD = 'correct horse battery staple';

/** Clients of the tests, beside the built-in ones. */
const CLIENTS = [
  { id: 'ours', kind: 'public', name: 'Our App', first_party: true, redirect_uris: [REDIRECT] },
  { id: 'theirs', kind: 'public', name: 'Their <App>', redirect_uris: [REDIRECT] },
];

/** The application at an address that is known in advance, as its issuer requires. */
export async function startSignIn(
  settings: Record<string, string> = {},
  host = '127.0.0.1',
): Promise<TestApp> {
  const port = String(await freePort());
  return TestApp.start({
    PORT: port,
    PUBLIC_URL: `http://${host}:${port}`,
    SIGN_IN_PER_MINUTE: '100000',
    ...settings,
  });
}

/** A second process of the same service. */
export async function startBeside(app: TestApp, settings: Record<string, string> = {}): Promise<TestApp> {
  return TestApp.start({ PUBLIC_URL: app.base, SIGN_IN_PER_MINUTE: '100000', ...settings }, app.databaseUrl);
}

/** A user with a password in these workspaces. */
export async function newUser(app: TestApp, name: string, ...slugs: string[]) {
  const email = `${name}@people.example`;
  const user = { email, name: name[0]!.toUpperCase() + name.slice(1), password: PASSWORD };
  const file =
    slugs.length > 0 ? { tenants: slugs.map((slug) => ({ slug, users: [user] })) } : { accounts: [user] };
  const { users } = await provision(app.served.nest, file);
  return { email, id: users[0]!.id, tenantIds: users.map(({ tenant_id }) => tenant_id as string) };
}

export const browser = (app: TestApp, headers: Record<string, string> = {}): Browser =>
  new Browser(app.base, headers);

/** Enables the second factor of an account. */
export async function secondFactorOf(app: TestApp, accountId: string) {
  const secret = new Secret({ size: 20 });
  const recoveryCode = 'abcde-fghjk';
  const box = app.get<SecretBox>(SecretBox);
  const sealed = box.seal('totp secret', accountId, Buffer.from(secret.bytes));
  const [hash] = box.hashes('recovery code', accountId, recoveryCode.replace('-', ''));
  await app.sql(`INSERT INTO second_factors (account_id, state, secret) VALUES ($1, 'active', $2)`, [
    accountId,
    sealed,
  ]);
  await app.sql('INSERT INTO recovery_codes (account_id, n, hash) VALUES ($1, 1, $2)', [accountId, hash]);
  await app.sql('UPDATE accounts SET second_factor_since = now() WHERE id = $1', [accountId]);
  return { authenticator: new Authenticator(secret.base32), recoveryCode };
}

/** A file of clients, for OIDC_CLIENTS. It is removed at the end of the run. */
export function clientFile(clients: object[] = CLIENTS): string {
  const file = path.join(process.env['TEST_FILES']!, `clients-${randomUUID()}.json`);
  writeFileSync(file, JSON.stringify(clients));
  return file;
}
