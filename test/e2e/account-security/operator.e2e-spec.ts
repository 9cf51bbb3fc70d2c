import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { PasswordSignIn } from '../../../src/modules/account-security/index.js';
import { AuditReader } from '../../../src/platform/audit/audit-reader.js';
import { enrolled, PASSWORD } from '../../support/sign-in/account.ts';
import { TestApp } from '../../support/app.ts';
import { json, workspace } from '../../support/installation/cli.ts';
import { stopClock } from '../../support/sign-in/totp.ts';
import { until } from '../../support/until.ts';
import { childEnv } from '../../support/installation/child-env.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');
const NEW = 'seven purple teapots dance';

describe('operator commands for locked out users', () => {
  let app: TestApp;

  beforeAll(async () => {
    stopClock();
    app = await TestApp.start();
  });
  afterAll(() => app?.stop());

  const run = (...args: string[]) => workspace({ DATABASE_URL: app.databaseUrl }, ...args);
  /** As a separate process: the password comes from standard input. */
  const setPassword = (email: string, input: string) => {
    const args = [path.join(ROOT, 'dist', 'cli', 'main.js'), 'user', 'set-password', '--email', email];
    const env = { ...childEnv(), DATABASE_URL: app.databaseUrl };
    return spawnSync(process.execPath, args, { cwd: ROOT, env, input, encoding: 'utf8' });
  };

  test('issue tokens that have not proven the second factor, by default', async () => {
    const { person, authenticator } = await enrolled(app, 'alice');
    const [plain, proven] = [
      await run('token', '--email', person.email),
      await run('token', '--email', person.email, '--aal2'),
    ].map(({ stdout }) => app.as(stdout.trim()));
    expect((await plain!.get('/settings/security')).body.error).toBe('second_factor_required');
    expect((await proven!.get('/settings/security')).status).toBe(200);
    expect((await plain!.post('/auth/verify-2fa', { code: authenticator.code() })).status).toBe(200);
    expect((await plain!.get('/settings/security')).status).toBe(200);
  });

  test('remove the second factor', async () => {
    const { person } = await enrolled(app, 'bob');
    const reset = await run('second-factor', 'reset', '--email', person.email);
    expect(json(reset)).toEqual({ email: person.email, removed: true });
    expect(json(await run('second-factor', 'reset', '--email', person.email)).removed).toBe(false);
    const { body } = await person.api.get('/settings/security');
    expect(body.two_factor.enabled).toBe(false);
    const [event] = await app.get<AuditReader>(AuditReader).listConcerning(null, person.id, 1);
    expect(event).toMatchObject({ action: 'security.second_factor_disabled', origin: 'cli', actor_id: null });
    const unknown = await run('second-factor', 'reset', '--email', 'unknown@acme.example');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('No account')]);
  });

  test('set a password that the policy accepts, and end all sessions', async () => {
    const { person } = await enrolled(app, 'carol');
    const weak = setPassword(person.email, 'password1234\n');
    expect([weak.status, weak.stdout, weak.stderr]).toEqual([1, '', 'The password is too easy to guess.\n']);
    const { status, stdout } = setPassword(person.email, `${NEW}\n`);
    expect([status, JSON.parse(stdout)]).toEqual([0, { email: person.email, password: 'set' }]);
    const signIn = async (password: string) =>
      (await app.get(PasswordSignIn).verify({ email: person.email, password, ip: null })).outcome;
    expect([await signIn(PASSWORD), await signIn(NEW)]).toEqual(['rejected', 'ok']);
    await app.readAccessChanges();
    await until('the end of the session', async () => (await person.api.get('/notes')).status === 401);
  });
});
