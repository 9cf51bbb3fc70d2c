import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import type { TestApp } from '../../support/app.ts';
import { json, workspace } from '../../support/installation/cli.ts';
import { DEVICE, RelyingParty } from '../../support/sign-in/relying-party.ts';
import { browser, PASSWORD, newUser, startSignIn } from '../../support/sign-in/sign-in.ts';
import { until } from '../../support/until.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const SERVICE = ['--kind', 'service', '--name', 'CRM sync'];

describe('signing in without a browser', () => {
  let app: TestApp;
  let alice: Awaited<ReturnType<typeof newUser>>;

  beforeAll(async () => {
    app = await startSignIn();
    alice = await newUser(app, 'alice', 'acme');
  });
  afterAll(() => app?.stop());

  const notes = async (token: string) => (await app.as(token).get('/notes')).status;
  const post = async (path: string, fields: Record<string, string>) => {
    const response = await fetch(`${app.base}/apis/v1/oidc${path}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as any };
  };
  const cli = (...args: string[]) =>
    workspace({ DATABASE_URL: app.databaseUrl, PUBLIC_URL: app.base }, 'client', ...args);

  describe('a device', () => {
    const begin = async () =>
      (await post('/device/auth', { client_id: DEVICE, scope: 'openid workspace' })).body;
    const ask = (code: string, clientId = DEVICE) =>
      post('/token', { grant_type: DEVICE_GRANT, client_id: clientId, device_code: code });
    /** Resets the poll interval, as if the device had waited for it. */
    const wait = () => app.sql(`UPDATE oidc_records SET polled_at = polled_at - interval '1 minute'`);
    const confirm = async (begun: { verification_uri_complete: string }, press: Record<string, string>) => {
      const on = browser(app);
      // The link contains the code; the page submits it by script, or by its button.
      const shown = await on.submit(await on.open(begun.verification_uri_complete), {});
      return { on, page: await on.submit(shown, press), shown };
    };

    test('gets tokens after a user confirmed its code and signed in', async () => {
      const party = await RelyingParty.discover(app, DEVICE);
      const begun = await client.initiateDeviceAuthorization(party.config, { scope: 'openid workspace' });
      expect(begun).toMatchObject({
        interval: 5,
        expires_in: 600,
        user_code: expect.stringMatching(/^\w{4}-\w{4}$/),
      });
      expect(begun.verification_uri).toBe(`${app.base}/apis/v1/oidc/device`);
      const { on, page, shown } = await confirm(begun as never, { confirm: 'yes' });
      expect(shown.html).toContain(begun.user_code);
      expect(shown.html).toContain('Command line requests to sign in as you');
      const done = await on.submit(page, { email: alice.email, password: PASSWORD, step: 'password' });
      expect(done.html).toContain('Your device is connected');
      const tokens = await client.pollDeviceAuthorizationGrant(
        party.config,
        { ...begun, interval: 0.1 },
        undefined,
        // The real timer takes ten minutes.
        { signal: new AbortController().signal },
      );
      expect(decodeJwt(tokens.access_token)).toMatchObject({
        sub: alice.id,
        tid: alice.tenantIds[0],
        client_id: DEVICE,
      });
      expect(await notes(tokens.access_token)).toBe(200);
      const next = await party.refresh(tokens.refresh_token!);
      expect(await notes(next.access_token)).toBe(200);
      // The browser that confirmed signs out; the device stays signed in.
      await on.submit(await on.open('/apis/v1/oidc/session/end'), { logout: 'yes' });
      expect(await notes((await party.refresh(next.refresh_token!)).access_token)).toBe(200);
    });

    test('gets no code for scopes without tokens, and keeps its refresh token after a refused refresh', async () => {
      const scopes: Record<string, string>[] = [{ scope: 'profile' }, { scope: '' }, {}];
      for (const scope of scopes) {
        const { status, body } = await post('/device/auth', { client_id: DEVICE, ...scope });
        expect([scope, status, body.error]).toEqual([scope, 400, 'invalid_scope']);
      }
      const begun = await begin();
      const { on, page } = await confirm(begun, { confirm: 'yes' });
      await on.submit(page, { email: alice.email, password: PASSWORD, step: 'password' });
      const { refresh_token: token } = (await ask(begun.device_code)).body;
      const refresh = (fields: Record<string, string>) =>
        post('/token', { grant_type: 'refresh_token', client_id: DEVICE, refresh_token: token, ...fields });
      expect((await refresh({ scope: 'openid' })).body.error).toBe('invalid_scope');
      expect((await refresh({})).status).toBe(200);
    });

    test('waits, and gets slow_down when it polls too often', async () => {
      const { device_code: code } = await begin();
      const errors: string[] = [];
      for (let n = 0; n < 3; n += 1) errors.push((await ask(code)).body.error);
      expect(errors).toEqual(['authorization_pending', 'slow_down', 'slow_down']);
      await wait();
      expect((await ask(code)).body.error).toBe('authorization_pending');
    });

    test('is rejected when the user cancels, before or after the sign-in', async () => {
      const first = await begin();
      expect((await confirm(first, { abort: 'yes' })).page.html).toContain('The device was not connected');
      expect((await ask(first.device_code)).body.error).toBe('access_denied');
      const second = await begin();
      const { on, page } = await confirm(second, { confirm: 'yes' });
      expect((await on.submit(page, { step: 'cancel' })).html).toContain('The device was not connected');
      expect((await ask(second.device_code)).body.error).toBe('access_denied');
    });

    test('is rejected when its code is expired, used, unknown or of another client', async () => {
      const { device_code: code, user_code: userCode } = await begin();
      await app.sql(
        `UPDATE oidc_records SET payload = jsonb_set(payload::jsonb, '{exp}', '1000000000')::text WHERE model = 'DeviceCode'`,
      );
      expect((await ask(code)).body.error).toBe('expired_token');
      const on = browser(app);
      const page = await on.submit(await on.open('/apis/v1/oidc/device'), { user_code: userCode });
      expect([page.status, page.html.includes('The code is unknown')]).toEqual([422, true]);
      expect((await ask('nothing')).body.error).toBe('invalid_grant');
      const used = await begin();
      const { on: other, page: login } = await confirm(used, { confirm: 'yes' });
      await other.submit(login, { email: alice.email, password: PASSWORD, step: 'password' });
      const tokens = await ask(used.device_code);
      expect(tokens.status).toBe(200);
      expect((await ask(used.device_code)).body.error).toBe('invalid_grant');
      // A code that is used twice has leaked: its grant ends.
      await app.readAccessChanges();
      await until('the session to end', async () => (await notes(tokens.body.access_token)) === 401);
    });

    test('stores its codes as hashes', async () => {
      const begun = await begin();
      const rows = await app.sql<{ id_hash: Buffer; payload: string }>(
        `SELECT id_hash, payload FROM oidc_records WHERE model = 'DeviceCode'`,
      );
      const userCode = begun.user_code.replace('-', '');
      const clear = async () => {
        const all = await app.sql<{ row: string }>('SELECT r::text AS row FROM oidc_records r');
        return all.filter(({ row }) => row.includes(begun.user_code) || row.includes(userCode));
      };
      expect(await clear()).toEqual([]);
      const { on, page } = await confirm(begun, { confirm: 'yes' });
      expect(page.html).toContain('name="password"');
      expect(await clear()).toEqual([]);
      await on.submit(page, { email: alice.email, password: PASSWORD, step: 'password' });
      expect(await clear()).toEqual([]);
      expect(rows.some(({ payload }) => payload.includes(begun.device_code))).toBe(false);
      for (const { id_hash: hash } of rows)
        expect((await ask(`@${hash.toString('base64url')}.${'A'.repeat(22)}`)).body.error).toBe(
          'invalid_grant',
        );
    });
  });

  describe('a service', () => {
    test('acts in its workspace with its own account', async () => {
      const { client_id: id, client_secret: secret } = json(await cli('add', ...SERVICE, '--tenant', 'acme'));
      const party = await RelyingParty.discover(app, id, { secret });
      const tokens = await client.clientCredentialsGrant(party.config, { scope: 'workspace' });
      const claims = decodeJwt(tokens.access_token);
      expect(claims).toMatchObject({ tid: alice.tenantIds[0], client_id: id, aud: 'workspace' });
      expect(claims.sub).not.toBe(id);
      const service = app.as(tokens.access_token);
      expect((await service.post('/notes', { title: 'From the CRM' })).status).toBe(201);
      expect((await service.get('/notes')).body.notes).toHaveLength(1);
      const [row] = await app.sql('SELECT secret_hash FROM oidc_clients WHERE id = $1', [id]);
      expect(row.secret_hash.toString('hex')).not.toContain(secret);
    });

    test('needs its secret, by either method, and the scope', async () => {
      const { client_id: id, client_secret: secret } = json(await cli('add', ...SERVICE, '--tenant', 'acme'));
      const ask = (fields: Record<string, string>) =>
        post('/token', { grant_type: 'client_credentials', client_id: id, scope: 'workspace', ...fields });
      expect((await ask({ client_secret: secret })).status).toBe(200);
      for (const wrong of ['', 'nonsense', `${secret}x`, secret.slice(1)]) {
        const { status, body } = await ask({ client_secret: wrong });
        expect([wrong, status, body.error, typeof body.message]).toEqual([
          wrong,
          401,
          'invalid_client',
          'string',
        ]);
      }
      for (const scope of ['', 'openid', 'profile']) {
        const { status, body } = await ask({ client_secret: secret, scope });
        expect([scope, status, body.error]).toEqual([scope, 400, 'invalid_scope']);
      }
      // There is no default.
      const unscoped = { grant_type: 'client_credentials', client_id: id, client_secret: secret };
      const { status, body } = await post('/token', unscoped);
      expect([status, body.error, body.scope]).toEqual([400, 'invalid_scope', 'workspace']);
      expect((await ask({ client_secret: secret, resource: 'https://other.example' })).body.error).toBe(
        'invalid_target',
      );
      expect((await ask({ client_secret: secret, grant_type: 'password' })).body.error).toBe(
        'unsupported_grant_type',
      );
    });

    test('ends with its registration', async () => {
      const { client_id: id, client_secret: secret } = json(await cli('add', ...SERVICE, '--tenant', 'acme'));
      const party = await RelyingParty.discover(app, id, { secret });
      const { access_token: token } = await client.clientCredentialsGrant(party.config, {
        scope: 'workspace',
      });
      expect(await notes(token)).toBe(200);
      expect(json(await cli('remove', id))).toEqual({ client_id: id, ended_sessions: 1 });
      await app.readAccessChanges();
      await until('the token to end', async () => (await notes(token)) === 401);
      expect(
        (await post('/token', { grant_type: 'client_credentials', client_id: id, client_secret: secret }))
          .status,
      ).toBe(401);
      expect((await cli('remove', id)).code).toBe(1);
    });

    test('gets no token after its account left the workspace', async () => {
      const { client_id: id, client_secret: secret } = json(await cli('add', ...SERVICE, '--tenant', 'acme'));
      const [{ account_id: account }] = await app.sql('SELECT account_id FROM oidc_clients WHERE id = $1', [
        id,
      ]);
      await app.sql(`UPDATE tenant_members SET status = 'deactivated' WHERE user_id = $1`, [account]);
      const fields = {
        grant_type: 'client_credentials',
        client_id: id,
        client_secret: secret,
        scope: 'workspace',
      };
      expect((await post('/token', fields)).body.error).toBe('unauthorized_client');
    });
  });

  describe('workspace client', () => {
    test('registers clients', async () => {
      const uri = 'https://web.example/callback';
      const added = json(
        await cli(
          'add',
          '--kind',
          'confidential',
          '--name',
          'Web',
          '--id',
          'web',
          '--redirect-uri',
          uri,
          '--first-party',
        ),
      );
      expect(added).toEqual({ client_id: 'web', client_secret: expect.stringMatching(/^[\w-]{43}$/) });
      const party = await RelyingParty.discover(app, 'web', {
        secret: added.client_secret,
        redirectUri: uri,
      });
      const tokens = await party.signIn(browser(app), alice.email, PASSWORD);
      expect(await notes(tokens.access_token)).toBe(200);
      expect(await notes((await party.refresh(tokens.refresh_token!)).access_token)).toBe(200);
      const app2 = json(
        await cli(
          'add',
          '--kind',
          'public',
          '--name',
          'Desktop',
          '--redirect-uri',
          'http://127.0.0.1/callback',
        ),
      );
      expect(app2.client_secret).toBeUndefined();
      const native = await RelyingParty.discover(app, app2.client_id, {
        redirectUri: 'http://127.0.0.1:51004/callback',
      });
      const page = await browser(app).open((await native.begin()).url);
      expect(page.html).toContain('to continue to Desktop');
      const { clients } = json(await cli('list'));
      expect(clients.map(({ id }: { id: string }) => id)).toEqual(
        expect.arrayContaining(['swagger-ui', DEVICE, 'web']),
      );
      expect(JSON.stringify(clients)).not.toMatch(/secret/);
    });

    test.each([
      [['--kind', 'public', '--name', 'X'], /needs a redirect URI/],
      [['--kind', 'public', '--name', 'X', '--redirect-uri', 'http://app.example/'], /must be https/],
      [['--kind', 'public', '--name', 'X', '--redirect-uri', 'javascript:alert(1)'], /must be https/],
      [['--kind', 'public', '--name', 'X', '--redirect-uri', 'https://app.example/#x'], /fragment/],
      [['--kind', 'device', '--name', 'X', '--redirect-uri', 'https://app.example/'], /no redirect URIs/],
      [['--kind', 'service', '--name', 'X'], /requires the slug of a workspace/],
      [['--kind', 'service', '--name', 'X', '--tenant', 'nowhere'], /workspace "nowhere" does not exist/],
      [['--kind', 'device', '--name', 'X', '--id', 'swagger-ui'], /already/],
      [['--kind', 'device', '--name', 'X', '--id', 'a b'], /letters, digits/],
      [['--kind', 'robot', '--name', 'X'], /Allowed choices/],
    ])('rejects %j', async (args, why) => {
      const { code, stderr } = await cli('add', ...args);
      expect([code, stderr]).toEqual([1, expect.stringMatching(why)]);
    });
  });
});
