import * as client from 'openid-client';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import type { TestApp } from '../../support/app.ts';
import { workspace } from '../../support/installation/cli.ts';
import { DEVICE, RelyingParty, REDIRECT } from '../../support/sign-in/relying-party.ts';
import {
  browser,
  clientFile,
  PASSWORD,
  newUser,
  startBeside,
  startSignIn,
} from '../../support/sign-in/sign-in.ts';

const MINUTES = 60_000;
const error = async (attempt: Promise<any>) =>
  attempt.then(
    () => null,
    (reason: any) => reason.error ?? reason.cause?.error ?? reason,
  );

describe('sign-in: scopes, sessions, known browsers', () => {
  let app: TestApp;
  let ours: RelyingParty;
  let theirs: RelyingParty;
  let n = 0;

  beforeAll(async () => {
    app = await startSignIn({ OIDC_CLIENTS: clientFile(), TRUST_PROXY: '1' });
    ours = await RelyingParty.discover(app, 'ours');
    theirs = await RelyingParty.discover(app, 'theirs');
  });
  afterAll(() => app?.stop());

  const person = (...slugs: string[]) => newUser(app, `user${(n += 1)}`, ...slugs);
  /** A sign-in with the consent page of a third-party client. */
  const consented = async (email: string, scope: string) => {
    const on = browser(app);
    const begun = await theirs.begin({ scope });
    const page = await on.submit(await on.open(begun.url), { email, password: PASSWORD, step: 'password' });
    const { url } = await on.submit(page, { step: 'consent' });
    return { page, url, begun };
  };
  const userinfo = (token: string) => app.as(token).get('/oidc/me');
  const eventsOf = (accountId: string, action: string) =>
    app.sql('SELECT data FROM audit_log WHERE action = $1 AND object_id = $2', [action, accountId]);
  const auditOf = (action: string) =>
    app.sql('SELECT * FROM audit_log WHERE action = $1 ORDER BY id DESC', [action]);

  describe('scopes', () => {
    test.each([
      ['openid workspace', ['sub']],
      ['openid profile workspace', ['sub', 'name']],
      ['openid email workspace', ['sub', 'email', 'email_verified']],
      ['openid profile email workspace', ['sub', 'name', 'email', 'email_verified']],
    ])(
      '%s: userinfo returns these claims, and the consent page shows their values',
      async (scope, claims) => {
        const { email, id } = await person('acme');
        const { page, url, begun } = await consented(email, scope);
        const [, list = ''] = /<ul>([\s\S]*?)<\/ul>/.exec(page.html) ?? [];
        expect(list.includes(`see your email address: ${email}`)).toBe(scope.includes('email'));
        expect(list.includes(`see your name: User${n}`)).toBe(scope.includes('profile'));
        const tokens = await theirs.finish(url, begun);
        const { status, body } = await userinfo(tokens.access_token);
        expect([status, Object.keys(body)]).toEqual([200, claims]);
        expect(body.sub).toBe(id);
      },
    );

    test('without openid: userinfo is rejected', async () => {
      const { email } = await person('acme');
      const on = browser(app);
      const verifier = client.randomPKCECodeVerifier();
      const state = client.randomState();
      const { href } = client.buildAuthorizationUrl(theirs.config, {
        redirect_uri: REDIRECT,
        scope: 'workspace',
        state,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      const page = await on.submit(await on.open(href), { email, password: PASSWORD, step: 'password' });
      const { url } = await on.submit(page, { step: 'consent' });
      const checks = { pkceCodeVerifier: verifier, expectedState: state };
      const tokens = await client.authorizationCodeGrant(theirs.config, new URL(url), checks);
      const { status, body, headers } = await userinfo(tokens.access_token);
      expect([status, body.error]).toEqual([403, 'insufficient_scope']);
      expect(headers.get('www-authenticate')).toContain('insufficient_scope');
    });

    test('all are announced', async () => {
      const { body } = await app.anonymous.get('/oidc/.well-known/openid-configuration');
      expect(body.scopes_supported).toEqual(['openid', 'profile', 'email', 'offline_access', 'workspace']);
    });
  });

  describe('sessions', () => {
    const expiryOf = async (accountId: string) =>
      (await app.sql('SELECT expires_at, activated_at FROM sessions WHERE account_id = $1', [accountId])).map(
        ({ expires_at, activated_at }) => ({
          minutes: (expires_at.getTime() - Date.now()) / MINUTES,
          isActivated: activated_at !== null,
        }),
      );

    test('without a token expire after minutes and are not listed', async () => {
      const { email, id } = await person('acme');
      const first = await ours.signIn(browser(app), email, PASSWORD);
      const on = browser(app);
      const begun = await ours.begin();
      const done = await on.submit(await on.open(begun.url), { email, password: PASSWORD, step: 'password' });
      const listed = async () =>
        (await app.as(first.access_token).get('/settings/security')).body.sessions.length;
      expect(await listed()).toBe(1);
      const pending = (await expiryOf(id)).find(({ isActivated }) => !isActivated);
      expect(pending!.minutes).toBeLessThan(12);
      await ours.finish(done.url, begun);
      expect(await listed()).toBe(2);
      for (const { minutes } of await expiryOf(id)) expect(minutes).toBeGreaterThan(29 * 24 * 60);
    });

    test('without a token that expired do not sign the browser out', async () => {
      const { email, id } = await person('acme');
      const on = browser(app);
      await on.submit(await on.open((await ours.begin()).url), {
        email,
        password: PASSWORD,
        step: 'password',
      });
      await app.sql(`UPDATE sessions SET expires_at = now() - interval '1 second' WHERE account_id = $1`, [
        id,
      ]);
      const page = await on.open((await theirs.begin()).url);
      expect(page.html).toContain('Allow Their');
    });

    test('prompt=none after a sign-out gets login_required', async () => {
      const { email } = await person('acme');
      const on = browser(app);
      const tokens = await ours.signIn(on, email, PASSWORD);
      const silent = async () =>
        new URL((await on.open((await ours.begin({ prompt: 'none' })).url)).url).searchParams;
      expect((await silent()).get('code')).not.toBeNull();
      // From another device.
      await app.as(tokens.access_token).post('/auth/sign-out', { everywhere: true });
      expect((await silent()).get('error')).toBe('login_required');
      const again = browser(app);
      const { id_token } = await ours.signIn(again, email, PASSWORD);
      await again.submit(await again.open(`/apis/v1/oidc/session/end?id_token_hint=${id_token}`), {
        logout: 'yes',
      });
      const after = await again.open((await ours.begin({ prompt: 'none' })).url);
      expect(new URL(after.url).searchParams.get('error')).toBe('login_required');
    });
  });

  describe('a known browser', () => {
    test('signs in while the address is locked for others; forged and foreign cookies do not help', async () => {
      const alice = await person('acme');
      const bob = await person('acme');
      const own = browser(app, { 'x-forwarded-for': '198.51.100.20' });
      await ours.signIn(own, alice.email, PASSWORD);
      const attempt = async (on: ReturnType<typeof browser>, password: string) => {
        const page = await on.open((await ours.begin({ prompt: 'login' })).url);
        return (await on.submit(page, { email: alice.email, password, step: 'password' })).status;
      };
      const attacker = browser(app, { 'x-forwarded-for': '198.51.100.20' });
      for (let each = 0; each < 10; each += 1) expect(await attempt(attacker, 'not it')).toBe(422);
      expect(await attempt(attacker, PASSWORD)).toBe(429);
      expect(await attempt(own, PASSWORD)).toBe(0);
      const other = browser(app, { 'x-forwarded-for': '198.51.100.20' });
      await ours.signIn(other, bob.email, PASSWORD);
      expect(await attempt(other, PASSWORD)).toBe(429);
    });

    test('is reported once, when it is new', async () => {
      const { email, id } = await person('acme');
      const on = browser(app, { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0) Gecko/20100101 Firefox/145.0' });
      await ours.signIn(on, email, PASSWORD);
      expect(await eventsOf(id, 'security.new_browser')).toEqual([
        { data: { browser: 'Firefox', system: 'Windows' } },
      ]);
      await on.open('/apis/v1/oidc/session/end');
      await ours.signIn(on, email, PASSWORD, { prompt: 'login' });
      expect(await eventsOf(id, 'security.new_browser')).toHaveLength(1);
      await ours.signIn(browser(app), email, PASSWORD);
      expect(await eventsOf(id, 'security.new_browser')).toHaveLength(2);
      await app.get<OutboxWorker>(OutboxWorker).drain();
      const rows = await app.sql('SELECT data FROM notifications WHERE user_id = $1', [id]);
      expect(rows.map(({ data }) => data.browser).toSorted()).toEqual(['Firefox', null]);
    });
  });

  describe('rotation', () => {
    const setUp = async () => {
      const { email } = await person('acme');
      return ours.signIn(browser(app), email, PASSWORD);
    };

    test('ends the grant at a second use, which is in the audit log', async () => {
      const tokens = await setUp();
      const next = await ours.refresh(tokens.refresh_token!);
      expect(await error(ours.refresh(tokens.refresh_token!))).toBe('invalid_grant');
      expect(await error(ours.refresh(next.refresh_token!))).toBe('invalid_grant');
      const [entry] = await auditOf('identity.credential.reused');
      expect(entry).toMatchObject({ object_kind: 'user', data: { kind: 'refresh_token', client: 'ours' } });
    });

    test('with a grace time accepts a retry from the same address', async () => {
      const lenient = await startBeside(app, {
        OIDC_CLIENTS: clientFile(),
        TRUST_PROXY: '1',
        REFRESH_GRACE_SECONDS: '30',
      });
      try {
        const refresh = async (token: string, ip: string) => {
          const response = await fetch(`${lenient.base}/apis/v1/oidc/token`, {
            method: 'POST',
            headers: { 'x-forwarded-for': ip },
            body: new URLSearchParams({
              grant_type: 'refresh_token',
              client_id: 'ours',
              refresh_token: token,
            }),
          });
          return (await response.json()) as any;
        };
        const { refresh_token: first } = await setUp();
        const second = await refresh(first!, '198.51.100.30');
        const [retry, parallel] = await Promise.all([
          refresh(first!, '198.51.100.30'),
          refresh(first!, '198.51.100.30'),
        ]);
        for (const each of [second, retry, parallel])
          expect((await lenient.as(each.access_token).get('/notes')).status).toBe(200);
        // Both clients continue.
        expect((await refresh(second.refresh_token, '198.51.100.30')).refresh_token).toBeDefined();
        expect((await refresh(retry.refresh_token, '198.51.100.31')).refresh_token).toBeDefined();
        expect((await refresh(first!, '198.51.100.31')).error).toBe('invalid_grant');
        expect((await refresh(parallel.refresh_token, '198.51.100.30')).error).toBe('invalid_grant');
        const { refresh_token: late } = await setUp();
        await refresh(late!, '198.51.100.30');
        await app.sql(`UPDATE oidc_records SET consumed_at = consumed_at - interval '31 seconds'`);
        expect((await refresh(late!, '198.51.100.30')).error).toBe('invalid_grant');
      } finally {
        await lenient.stop();
      }
    });
  });

  test('a limited request of a device gets JSON', async () => {
    const strict = await startBeside(app, { SIGN_IN_PER_MINUTE: '1', TRUST_PROXY: '1' });
    try {
      // Sent at once, because the limit regains requests as time passes.
      const responses = await Promise.all(
        Array.from({ length: 30 }, () =>
          fetch(`${strict.base}/apis/v1/oidc/device/auth`, {
            method: 'POST',
            headers: { accept: '*/*', 'x-forwarded-for': '198.51.100.40' },
            body: new URLSearchParams({ client_id: DEVICE, scope: 'openid' }),
          }),
        ),
      );
      const limited = responses.find(({ status }) => status === 429)!;
      expect(limited.headers.get('content-type')).toContain('application/json');
      expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(((await limited.json()) as any).error).toBe('too_many_requests');
    } finally {
      await strict.stop();
    }
  });

  test('operator actions and service tokens are in the audit log', async () => {
    const { email, id, tenantIds } = await person('acme');
    const env = { DATABASE_URL: app.databaseUrl, PUBLIC_URL: app.base };
    await workspace(env, 'token', '--email', email, '--tenant', 'acme', '--ttl', '60');
    const [token] = await auditOf('identity.token.issued');
    expect(token).toMatchObject({
      tenant_id: tenantIds[0],
      origin: 'cli',
      object_id: id,
      data: { ttl_seconds: 60, second_factor: false },
    });
    const { stdout } = await workspace(env, 'keys', 'rotate');
    const [rotated] = await auditOf('identity.signing_key.rotated');
    expect(rotated).toMatchObject({ origin: 'cli', object_id: JSON.parse(stdout).kid });
    const [provisioned] = await auditOf('tenant.provisioned');
    expect(provisioned).toMatchObject({ tenant_id: tenantIds[0], data: { slug: 'acme', count: 1 } });
    const added = await workspace(
      env,
      'client',
      'add',
      '--kind',
      'service',
      '--name',
      'CRM',
      '--tenant',
      'acme',
    );
    const { client_id: clientId, client_secret: secret } = JSON.parse(added.stdout);
    const crm = await RelyingParty.discover(app, clientId, { secret });
    await client.clientCredentialsGrant(crm.config, { scope: 'workspace' });
    for (const path of ['/directory/search?q=crm', '/chat/users?q=crm']) {
      const found = await app.as((await ours.signIn(browser(app), email, PASSWORD)).access_token).get(path);
      expect([path, found.status, found.text.includes('CRM')]).toEqual([path, 200, false]);
    }
    const [service] = await auditOf('identity.service_token.issued');
    expect(service).toMatchObject({ tenant_id: tenantIds[0], object_id: clientId });
  });
});
