import { provision } from '../../src/cli/provision.js';
import { TestApp } from './app.ts';
import { freePort } from './ports.ts';
import { Browser, REDIRECT } from './relying-party.ts';

export const PASSWORD = 'correct horse battery staple';

/** Clients of the tests, beside those built in. */
export const CLIENTS = [
  { id: 'ours', kind: 'public', name: 'Our App', first_party: true, redirect_uris: [REDIRECT] },
  { id: 'theirs', kind: 'public', name: 'Their <App>', redirect_uris: [REDIRECT] },
];

/** The application at an address that is known beforehand, as its issuer must be. */
export async function startSignIn(settings: Record<string, string> = {}): Promise<TestApp> {
  const port = String(await freePort());
  return TestApp.start({
    PORT: port,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    SIGN_IN_PER_MINUTE: '100000',
    ...settings,
  });
}

/** A second process of the same service. */
export async function startBeside(app: TestApp, settings: Record<string, string> = {}): Promise<TestApp> {
  return TestApp.start({ PUBLIC_URL: app.base, SIGN_IN_PER_MINUTE: '100000', ...settings }, app.databaseUrl);
}

/** Somebody with a password, in these workspaces. */
export async function somebody(app: TestApp, name: string, ...slugs: string[]) {
  const email = `${name}@people.example`;
  const user = { email, name: name[0]!.toUpperCase() + name.slice(1), password: PASSWORD };
  const file = slugs.length > 0 ? { tenants: slugs.map((slug) => ({ slug, users: [user] })) } : { accounts: [user] };
  const { users } = await provision(app.served.nest, file);
  return { email, id: users[0]!.id, tenantIds: users.map(({ tenant_id }) => tenant_id as string) };
}

export const browser = (app: TestApp, headers: Record<string, string> = {}): Browser =>
  new Browser(app.base, headers);
