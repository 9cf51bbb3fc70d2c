import { writeFileSync } from 'node:fs';
import { ConfigError } from '../../../src/config/config.js';
import { readClientFile } from '../../../src/modules/sign-in/clients/client-file.js';
import { TestApp } from '../../support/app.ts';
import { spawnWorkspace } from '../../support/installation/cli.ts';
import { Browser } from '../../support/sign-in/relying-party.ts';
import { clientFile, PASSWORD, newUser } from '../../support/sign-in/sign-in.ts';

const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

function thrown(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('configuration of the sign-in', () => {
  let app: TestApp | undefined;
  afterEach(async () => {
    await app?.stop();
    app = undefined;
  });

  test('is disabled with an external issuer, and not documented', async () => {
    app = await TestApp.start({ OIDC_ISSUER: 'https://issuer.example', OIDC_AUDIENCE: 'workspace' });
    for (const path of [
      '/.well-known/openid-configuration',
      '/token',
      '/auth',
      '/device',
      '/interaction/x',
      '/jwks',
    ]) {
      const { status, body } = await app.anonymous.get(`/oidc${path}`);
      expect([path, status, body?.error]).toEqual([path, 404, 'not_found']);
    }
    const { body: document } = await app.anonymous.get('/openapi.json');
    expect(JSON.stringify(document)).not.toContain('signIn');
    expect(document.security).toEqual([{ bearer: [] }]);
    expect((await app.anonymous.get('/docs/swagger-ui-init.js')).text).not.toContain('oauth2RedirectUrl');
  });

  test('uses PUBLIC_URL: behind a TLS proxy its cookies are secure', async () => {
    app = await TestApp.start({
      PUBLIC_URL: 'https://work.example/',
      TRUST_PROXY: 'loopback',
      OIDC_CLIENTS: clientFile(),
    });
    const { body } = await app.anonymous.get('/oidc/.well-known/openid-configuration');
    expect(body.issuer).toBe('https://work.example/apis/v1/oidc');
    for (const [name, address] of Object.entries<string>(body))
      if (/_endpoint$|_uri$/.test(name)) expect(address).toMatch(/^https:\/\/work\.example\/apis\/v1\//);
    const query = new URLSearchParams({
      client_id: 'swagger-ui',
      response_type: 'code',
      scope: 'openid workspace',
      redirect_uri: 'https://work.example/apis/v1/docs/oauth2-redirect.html',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
    });
    const response = await fetch(`${app.base}/apis/v1/oidc/auth?${query.toString()}`, { redirect: 'manual' });
    const cookies = response.headers.getSetCookie();
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) expect(cookie).toMatch(/; secure; httponly/i);
    expect(cookies.filter((cookie) => !/samesite=lax/i.test(cookie))).toEqual([]);
  });

  test('has no POST for pages that need the cookies of the browser', async () => {
    app = await TestApp.start();
    for (const path of ['/auth', '/session/end']) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const form = { raw: 'client_id=swagger-ui', headers };
      const { status, body } = await app.anonymous.request('POST', `/oidc${path}`, form);
      expect([path, status, body?.error]).toEqual([path, 404, 'not_found']);
    }
  });

  test('announces its features, and nothing weaker', async () => {
    app = await TestApp.start();
    const { body } = await app.anonymous.get('/oidc/.well-known/openid-configuration');
    expect(body).toMatchObject({
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      id_token_signing_alg_values_supported: ['ES256'],
      subject_types_supported: ['public'],
      ui_locales_supported: ['en', 'de', 'pt', 'vi'],
      authorization_response_iss_parameter_supported: true,
    });
    expect(body.grant_types_supported.toSorted()).toEqual([
      'authorization_code',
      'client_credentials',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:device_code',
    ]);
    for (const absent of [
      'registration_endpoint',
      'pushed_authorization_request_endpoint',
      'introspection_endpoint',
      'dpop_signing_alg_values_supported',
    ])
      expect([absent, body[absent]]).toEqual([absent, undefined]);
    const both = await Promise.all(
      ['/oidc/jwks', '/.well-known/jwks.json'].map((path) => app!.anonymous.get(path)),
    );
    const ids = both.map(({ text }) => JSON.parse(text).keys.map(({ kid, x }: any) => [kid, x]));
    expect(ids[0]).toEqual(ids[1]);
  });

  test('limits attempts per network, with an error page', async () => {
    app = await TestApp.start({ SIGN_IN_PER_MINUTE: '2', OIDC_CLIENTS: clientFile() });
    const { email } = await newUser(app, 'alice', 'acme');
    const on = new Browser(app.base);
    const start = `/apis/v1/oidc/auth?client_id=ours&response_type=code&scope=openid&redirect_uri=https%3A%2F%2Fapp.example%2Fcallback&code_challenge=${CHALLENGE}&code_challenge_method=S256`;
    // Addresses use PUBLIC_URL, which is not the address of this test.
    const location = (await fetch(`${app.base}${start}`, { redirect: 'manual' })).headers;
    const cookie = location
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const address = `${app.base}${location.get('location')}`;
    const page = await (await fetch(address, { headers: { cookie } })).text();
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)![1]!;
    const attempt = (password: string) =>
      fetch(address, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie },
        body: new URLSearchParams({ csrf, email, password, step: 'password' }),
      });
    const responses = [];
    for (const password of ['a', 'b', PASSWORD]) responses.push(await attempt(password));
    expect(responses.map(({ status }) => status)).toEqual([422, 422, 429]);
    expect(await responses[2]!.text()).toContain('Too many attempts');
    expect(Number(responses[2]!.headers.get('retry-after'))).toBeGreaterThan(0);
    let device = await on.open('/apis/v1/oidc/device', {
      method: 'POST',
      body: new URLSearchParams({ user_code: 'AAAA-AAAA' }),
    });
    for (let n = 0; n < 3 && device.status !== 429; n += 1)
      device = await on.open('/apis/v1/oidc/device', {
        method: 'POST',
        body: new URLSearchParams({ user_code: 'AAAA-AAAA' }),
      });
    expect([device.status, device.headers.get('retry-after') !== null]).toEqual([429, true]);
    const tokens = await Promise.all(
      Array.from({ length: 60 }, () =>
        app!.anonymous.request('POST', '/oidc/token', {
          raw: 'grant_type=refresh_token&refresh_token=x&client_id=ours',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
      ),
    );
    const rejected = tokens.filter(({ status }) => status === 429);
    expect(rejected.length).toBeGreaterThan(0);
    expect(rejected[0]!.body).toMatchObject({ error: 'too_many_requests', message: expect.any(String) });
  });

  test.each([
    ['{', /OIDC_CLIENTS: /],
    ['{}', /JSON array/],
    ['[1]', /\[0\]/],
    ['[{"id":"a","kind":"service","name":"A"}]', /\[0\] kind must be one of/],
    ['[{"id":"a","kind":"public","name":"A"}]', /\[0\] needs redirect_uris/],
    ['[{"id":"a","kind":"public","name":"A","redirect_uris":["http://app.example"]}]', /must be https/],
    [
      '[{"id":"a","kind":"confidential","name":"A","redirect_uris":["https://app.example"]}]',
      /secret_sha256/,
    ],
    ['[{"id":"a","kind":"device","name":"A"},{"id":"a","kind":"device","name":"B"}]', /same id/],
  ])('does not start with invalid clients: %s', async (text, why) => {
    const file = clientFile([]);
    writeFileSync(file, text);
    const error = thrown(() => readClientFile(file));
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).message).toMatch(why);
  });

  test('does not start without the file of clients, with a one-line error', async () => {
    app = await TestApp.start();
    const env = { DATABASE_URL: app.databaseUrl, OIDC_CLIENTS: '/nowhere/clients.json' };
    const { code, stderr } = await spawnWorkspace(env, 'client', 'list');
    expect([code, stderr]).toEqual([
      78,
      expect.stringMatching(/^OIDC_CLIENTS: [^\n]*\/nowhere\/clients\.json[^\n]*\n$/),
    ]);
  });
});
