import { TestApp } from '../../support/app.ts';

const PAGE = '/docs/example';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

describe('the example page', () => {
  let app: TestApp;
  afterEach(() => app?.stop());

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${app.base}/apis/v1${path}`, { headers, redirect: 'manual' });

  test('is served with the demo workspace, revalidated, and executes only its own files', async () => {
    app = await TestApp.start({ DEMO: 'true' });
    for (const [path, type] of [
      [PAGE, 'text/html'],
      [`${PAGE}?code=1&state=2`, 'text/html'],
      [`${PAGE}/notes-web.css`, 'text/css'],
      [`${PAGE}/notes-web.js`, 'text/javascript'],
      [`${PAGE}/notes-web-worker.js`, 'text/javascript'],
    ] as const) {
      const response = await get(path, { 'accept-encoding': 'gzip' });
      const { headers } = response;
      expect([path, response.status, headers.get('content-type')]).toEqual([
        path,
        200,
        `${type}; charset=utf-8`,
      ]);
      expect(headers.get('cache-control')).toBe('no-cache');
      const policy = headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain('unsafe');
      // Without `cache-control`, `fetch` asks for a new response.
      const known = { 'if-none-match': headers.get('etag')!, 'cache-control': 'max-age=0' };
      const again = await get(path, known);
      expect([path, again.status]).toEqual([path, 304]);
    }
    const script = await get(`${PAGE}/notes-web.js`, { 'accept-encoding': 'gzip' });
    expect(script.headers.get('content-encoding')).toBe('gzip');
    const worker = await get(`${PAGE}/notes-web-worker.js`);
    expect(worker.headers.get('service-worker-allowed')).toBe('/apis/v1/docs/example');
    const html = await (await get(PAGE)).text();
    for (const [, address = ''] of html.matchAll(/(?:src|href)="(\/[^"]+)"/g))
      expect([address, (await get(address.replace('/apis/v1', ''))).status]).toEqual([address, 200]);
  });

  test('has no other files and methods', async () => {
    app = await TestApp.start({ DEMO: 'true' });
    for (const path of [
      '/',
      '/x',
      '/../notes-web.js',
      '/notes-web.js/',
      '/notes-web.html',
      '/package.json',
      '/__proto__',
    ])
      expect([path, (await app.anonymous.get(`${PAGE}${path}`)).body?.error]).toEqual([path, 'not_found']);
    expect((await app.anonymous.post(PAGE, {})).status).toBe(404);
    expect((await app.anonymous.get('/docs')).status).toBe(200);
  });

  test('is linked from the documentation, and signs in by a client of its own', async () => {
    app = await TestApp.start({ DEMO: 'true', PUBLIC_URL: 'https://work.example' });
    expect((await app.anonymous.get('/openapi.json')).body.info.description).toContain(
      '(/apis/v1/docs/example)',
    );
    const authorize = async (redirectUri: string) => {
      const query = new URLSearchParams({
        client_id: 'notes-web',
        response_type: 'code',
        scope: 'openid workspace',
        redirect_uri: redirectUri,
        code_challenge: CHALLENGE,
        code_challenge_method: 'S256',
      });
      return (await get(`/oidc/auth?${query.toString()}`)).status;
    };
    expect(await authorize('https://work.example/apis/v1/docs/example')).toBe(303);
    expect(await authorize('https://work.example/apis/v1/docs/example/')).toBe(400);
  });

  test.each([
    ['the demo workspace', {}],
    [
      'the built-in sign-in',
      { DEMO: 'true', OIDC_ISSUER: 'https://issuer.example', OIDC_AUDIENCE: 'workspace' },
    ],
  ])('is not served without %s, and says why', async (_name, settings) => {
    app = await TestApp.start(settings);
    for (const path of [PAGE, `${PAGE}/notes-web.js`]) {
      const { status, body } = await app.anonymous.get(path);
      expect([status, body.error]).toEqual([404, 'not_found']);
      expect(body.message).toMatch(/DEMO=true/);
    }
    expect((await app.anonymous.get('/openapi.json')).text).not.toContain('docs/example');
    const { status } = await get('/oidc/auth?client_id=notes-web&response_type=code');
    expect(status).not.toBe(303);
  });
});
