import fc from 'fast-check';
import type { TestApp } from '../../support/app.ts';
import { Browser, RelyingParty, type Shown } from '../../support/sign-in/relying-party.ts';
import {
  browser,
  clientFile,
  PASSWORD,
  secondFactorOf,
  newUser,
  startSignIn,
} from '../../support/sign-in/sign-in.ts';
import { runs } from '../../support/property-runs.ts';

const RUNS = { numRuns: runs(60) };

/** Problematic strings, and random ones. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '',
    '\0',
    'a\0b',
    '\ud800',
    '__proto__',
    'constructor',
    '<script>',
    "' OR 1=1 --",
    '../../etc',
    '%00',
    '%',
    '%zz',
    '@AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA',
    'x'.repeat(70_000),
    '9'.repeat(400),
    '\r\nSet-Cookie: a=b',
    '{"a":1}',
    'eyJhbGciOiJub25lIn0.e30.',
    'https://evil.example/',
    'javascript:alert(1)',
    '\u202e',
    '-1',
    'null',
    '[]',
  ),
);
const encoded = (value: string) => {
  try {
    return encodeURIComponent(value);
  } catch {
    return '%ED%A0%80';
  }
};

describe('hostile input', () => {
  let app: TestApp;
  let ours: RelyingParty;
  let alice: Awaited<ReturnType<typeof newUser>>;

  beforeAll(async () => {
    app = await startSignIn({ OIDC_CLIENTS: clientFile() });
    ours = await RelyingParty.discover(app, 'ours');
    alice = await newUser(app, 'alice', 'acme', 'beta');
    await secondFactorOf(app, alice.id);
  });
  afterAll(() => app?.stop());

  const call = (method: string, path: string, init: RequestInit = {}) =>
    fetch(`${app.base}/apis/v1/oidc${path}`, { method, redirect: 'manual', ...init });
  /** No 500, and no redirect to an unregistered URI. */
  const harmless = async (response: Response, where: string) => {
    const body = await response.text();
    if (response.status >= 500) throw new Error(`${response.status} for ${where}: ${body.slice(0, 300)}`);
    const location = response.headers.get('location') ?? '';
    if (
      /^\w+:|^\/\//.test(location) &&
      !location.startsWith(app.base) &&
      !location.startsWith('https://app.example/callback')
    )
      throw new Error(`sent to ${location}`);
    expect(response.headers.getSetCookie().filter((line) => line.startsWith('a='))).toEqual([]);
    return body;
  };

  const PARAMETERS = [
    'client_id',
    'redirect_uri',
    'response_type',
    'response_mode',
    'scope',
    'state',
    'nonce',
    'prompt',
    'max_age',
    'ui_locales',
    'login_hint',
    'id_token_hint',
    'code_challenge',
    'code_challenge_method',
    'resource',
    'acr_values',
    'claims',
    'request',
    'request_uri',
    'display',
  ];

  test('the authorization endpoint, with each valid parameter replaced', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...PARAMETERS), text, fc.boolean(), async (name, value, twice) => {
        const url = new URL((await ours.begin()).url);
        url.searchParams.delete(name);
        const query = `${url.search}&${name}=${encoded(value)}${twice ? `&${name}=${encoded(value)}` : ''}`;
        if (query.length > 14_000) {
          const body = query.slice(1);
          const headers = { 'content-type': 'application/x-www-form-urlencoded' };
          return void (await harmless(await call('POST', '/auth', { body, headers }), name));
        }
        await harmless(await call('GET', `/auth${query}`), `${name} ${JSON.stringify(value)}`);
      }),
      RUNS,
    );
  });

  test('every other route, with any fields', async () => {
    const fields = [
      'grant_type',
      'client_id',
      'client_secret',
      'code',
      'redirect_uri',
      'code_verifier',
      'refresh_token',
      'device_code',
      'token',
      'token_type_hint',
      'user_code',
      'xsrf',
      'confirm',
      'abort',
      'logout',
      'id_token_hint',
      'post_logout_redirect_uri',
      'scope',
      'resource',
      'access_token',
      'client_assertion',
      'client_assertion_type',
    ];
    const paths = [
      '/token',
      '/token/revocation',
      '/device/auth',
      '/device',
      '/session/end',
      '/session/end/confirm',
      '/me',
    ];
    const known = {
      grant_type: fc.constantFrom(
        'authorization_code',
        'refresh_token',
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:device_code',
      ),
      client_id: fc.constantFrom('ours', 'theirs', 'workspace-device', 'swagger-ui'),
    } as Record<string, fc.Arbitrary<string>>;
    const form = fc
      .uniqueArray(fc.constantFrom(...fields), { maxLength: 6 })
      .chain((names) =>
        fc.tuple(
          ...names.map((name) =>
            fc.tuple(fc.constant(name), known[name] ? fc.oneof(known[name], text) : text),
          ),
        ),
      );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        form,
        fc.option(text),
        async (path, entries, authorization) => {
          const body = entries.map(([name, value]) => `${name}=${encoded(value)}`).join('&');
          const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
          if (authorization !== null)
            headers['authorization'] = `Basic ${Buffer.from(authorization.slice(0, 500)).toString('base64')}`;
          await harmless(await call('POST', path, { body, headers }), `${path} ${body.slice(0, 200)}`);
          if (body.length < 10_000) await harmless(await call('GET', `${path}?${body}`), path);
        },
      ),
      RUNS,
    );
  });

  test('each page of a sign-in, with any fields and any cookies', async () => {
    const steps = ['password', 'code', 'totp', 'recovery', 'restart', 'consent', 'cancel', 'nonsense'];
    const pageAt = async (stage: number): Promise<{ on: Browser; page: Shown }> => {
      const on = browser(app);
      let page = await on.open((await ours.begin()).url);
      if (stage > 0)
        page = await on.submit(page, { email: alice.email, password: PASSWORD, step: 'password' });
      return { on, page };
    };
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 1 }),
        fc.constantFrom(...steps),
        fc.dictionary(
          fc.constantFrom('email', 'password', 'code', 'recovery_code', 'workspace', 'csrf', 'step'),
          text,
        ),
        async (stage, step, fields) => {
          const { on, page } = await pageAt(stage);
          const safe = Object.fromEntries(
            Object.entries(fields).map(([name, value]) => [name, value.toWellFormed().slice(0, 20_000)]),
          );
          const response = await on.submit(page, { step, ...safe });
          if (response.status >= 500) throw new Error(`${response.status}: ${step} ${JSON.stringify(safe)}`);
          expect(response.html).not.toContain('<script>');
        },
      ),
      RUNS,
    );
    for (const body of ['%', 'a'.repeat(20_000), 'a=1&'.repeat(1_000), '', '\0'])
      for (const type of [
        'application/x-www-form-urlencoded',
        'application/json',
        'multipart/form-data; boundary=x',
        'text/plain',
        'application/x-www-form-urlencoded; charset=utf-7',
      ]) {
        const { on, page } = await pageAt(0);
        const response = await on.open(page.form!.action, {
          method: 'POST',
          body,
          headers: { 'content-type': type },
        });
        expect([body.slice(0, 9), type, response.status]).toEqual([body.slice(0, 9), type, 400]);
      }
    const cookies = [
      'workspace_sign_in=x',
      'workspace_sign_in=x; workspace_sign_in.sig=y',
      'workspace_session=%00',
      ';;;=',
      'workspace_session=@a.b',
    ];
    const uid = 'x'.repeat(43);
    for (const cookie of cookies)
      for (const path of [`/interaction/${uid}`, `/auth/${uid}`, `/device/${uid}`, '/session/end', '/device'])
        await harmless(await call('GET', path, { headers: { cookie } }), `${path} ${cookie}`);
  });

  test('unknown routes return the general 404', async () => {
    const strange = [
      '',
      '/',
      '/Token',
      '/token/',
      '/reg',
      '/token/introspection',
      '/interaction/',
      '/interaction/a/b',
      '/auth/a/b',
      '/.well-known/',
      '/request',
      '/challenge',
      '/interaction/%00',
      '/interaction/x',
      '/auth/x',
      '/device/x',
      '//token',
    ];
    for (const path of strange)
      for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
        const response = await call(method, path);
        const body: any = await response.json();
        expect([method, path, response.status, body.error]).toEqual([method, path, 404, 'not_found']);
      }
    expect((await call('DELETE', '/token')).status).toBe(404);
  });

  test('a Host header does not change addresses', async () => {
    const { hostname, port } = new URL(app.base);
    const { request } = await import('node:http');
    const discovery = await new Promise<string>((resolve, reject) => {
      const sent = request(
        {
          hostname,
          port,
          path: '/apis/v1/oidc/.well-known/openid-configuration',
          headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
        },
        (response) => {
          let body = '';
          response
            .setEncoding('utf8')
            .on('data', (chunk: string) => (body += chunk))
            .on('end', () => resolve(body));
        },
      );
      sent.on('error', reject).end();
    });
    expect(discovery).not.toContain('evil');
    expect(JSON.parse(discovery).token_endpoint).toBe(`${app.base}/apis/v1/oidc/token`);
  });
});
