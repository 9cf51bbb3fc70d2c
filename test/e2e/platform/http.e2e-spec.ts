import { gzipSync } from 'node:zlib';
import { type TestUser, TestApp } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { rawExchange } from '../../support/network/raw.ts';

/** Headers and bodies of all responses, successful or not. */
const SECURITY_HEADERS = {
  'cache-control': 'private, no-store',
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-site',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': expect.stringContaining('max-age='),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

describe('the HTTP interface', () => {
  let app: TestApp;
  let alice: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(() => app?.stop());

  const isError = ({ status, headers, body }: ApiResponse, expected: [number, string], details?: unknown) => {
    expect({ status, body }).toEqual({
      status: expected[0],
      body: { error: expected[1], message: expect.stringMatching(/\S/), ...(details ? { details } : {}) },
    });
    expect(Object.fromEntries(headers)).toMatchObject({
      ...SECURITY_HEADERS,
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': expect.stringMatching(/^[\w.:-]{1,128}$/),
    });
    expect(headers.get('x-powered-by')).toBeNull();
  };
  const send = (raw: string | Buffer, headers: Record<string, string> = {}) =>
    alice.api.post('/notes', undefined, { raw, headers });
  const notes = async () => (await app.sql('SELECT count(*)::int AS n FROM notes'))[0].n as number;

  describe('bodies', () => {
    test.each([
      ['cut off', '{"title":"a"'],
      ['no JSON', 'title=a'],
      ['with an extra comma', '{"title":"a",}'],
      ['two values', '{} {}'],
      ['nothing but spaces', '   '],
      ['a byte order mark in the middle', '{"title":\ufeff"a"}'],
    ])('%s: 400', async (_, raw) => {
      isError(await send(raw), [400, 'invalid_json']);
    });

    // Decoded with replacement characters, it would be stored as another text.
    const latin1 = Buffer.from('{"title":"Z\u00fcrich"}', 'latin1');
    test.each<[string, Buffer, Record<string, string>]>([
      ['in another encoding than UTF-8', latin1, {}],
      ['compressed', gzipSync(latin1), { 'content-encoding': 'gzip' }],
      ['long', Buffer.concat([latin1, Buffer.alloc(1024 * 1024, ' ')]), {}],
      ['cut off within a character', Buffer.from('{"title":"\u00fc"}').subarray(0, 11), {}],
      ['a surrogate as a character', Buffer.from('7b227469746c65223a22eda080227d', 'hex'), {}],
    ])('%s: 400', async (_, raw, headers) => {
      const before = await notes();
      isError(await send(raw, headers), [400, 'invalid_json']);
      expect(await notes()).toBe(before);
    });

    test.each([
      ['text', '"a"'],
      ['number', '7'],
      ['null', 'null'],
      ['true', 'true'],
      ['array', '[{"title":"a"}]'],
    ])('a top-level %s: 422', async (_, raw) => {
      const before = await notes();
      isError(
        await send(raw),
        [422, 'validation_failed'],
        [{ field: '', code: 'is_object', message: expect.any(String) }],
      );
      expect(await notes()).toBe(before);
    });

    test.each<[string, string | Buffer, Record<string, string>]>([
      ['a form', 'title=a', { 'content-type': 'application/x-www-form-urlencoded' }],
      ['text', '{}', { 'content-type': 'text/plain' }],
      ['no type', '{}', { 'content-type': '' }],
      ['a type that begins with application/json', '{}', { 'content-type': 'application/json5' }],
      ['another charset', '{}', { 'content-type': 'application/json; charset=iso-8859-1' }],
      ['an unknown encoding', '{}', { 'content-encoding': 'zip' }],
    ])('%s: 415', async (_, raw, headers) => {
      isError(await send(raw, headers), [415, 'unsupported_media_type']);
    });

    test('a body in another encoding than declared: 400', async () => {
      isError(await send('{}', { 'content-encoding': 'gzip' }), [400, 'invalid_json']);
    });

    test('UTF-8 under any spelling, compressed or in pieces, is read', async () => {
      const raw = JSON.stringify({ title: 'ünï' });
      for (const type of [
        'application/json',
        'application/json; charset=utf-8',
        'Application/JSON;charset="UTF-8"',
      ]) {
        expect((await send(raw, { 'content-type': type })).body.note.title).toBe('ünï');
      }
      expect((await send(gzipSync(raw), { 'content-encoding': 'gzip' })).body.note.title).toBe('ünï');
      const head = `POST /apis/v1/notes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${alice.token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
      expect(await rawExchange(app, `${head}9\r\n{"title":\r\n4\r\n"c"}\r\n0\r\n\r\n`)).toMatch(
        /^HTTP\/1\.1 201 .*"title" ?: ?"c"/s,
      );
    });

    const big = (bytes: number) => JSON.stringify({ content: 'a'.repeat(bytes) });
    test.each<[string, () => [string | Buffer, Record<string, string>]]>([
      ['longer than the route accepts', () => [big(8 * 1024 * 1024), {}]],
      [
        'longer than that after decompression',
        () => [gzipSync(big(64 * 1024 * 1024)), { 'content-encoding': 'gzip' }],
      ],
    ])('a body %s: 413', async (_, make) => {
      const [raw, headers] = make();
      isError(await send(raw, headers), [413, 'body_too_large']);
    });

    test('a body with a too long Content-Length is rejected before it is read', async () => {
      const head = `POST /apis/v1/notes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${alice.token}\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n\r\n`;
      expect(await rawExchange(app, head)).toMatch(/^HTTP\/1\.1 413 .*body_too_large/s);
    });

    test('without a valid token the response does not wait for the body', async () => {
      for (const [authorization, challenge] of [
        ['', /^HTTP\/1\.1 401 .*WWW-Authenticate: Bearer\r\n/s],
        ['Authorization: Bearer wrong\r\n', /^HTTP\/1\.1 401 .*invalid_token/s],
      ] as const) {
        const head = `POST /apis/v1/notes HTTP/1.1\r\nHost: x\r\n${authorization}Content-Type: application/json\r\nContent-Length: 5000000\r\n\r\n{`;
        expect(await rawExchange(app, head)).toMatch(challenge);
      }
    });

    test.each([
      ['U+0000', '{"title":"a\\u0000b"}', 'title'],
      ['half a surrogate pair', '{"title":"\\ud800"}', 'title'],
      ['the other half', '{"labels":["fine","\\udc00"]}', 'labels.1'],
      ['U+0000 in an unknown field', '{"x":{"y":"\\u0000"}}', 'x.y'],
    ])('%s: 422', async (_, raw, field) => {
      isError(
        await send(raw),
        [422, 'validation_failed'],
        [{ field, code: 'invalid_characters', message: expect.any(String) }],
      );
    });

    // The second depth exceeds the number of values, which is checked first.
    test.each([
      [19_000, [422, 'validation_failed', 'too_deep']],
      [100_000, [413, 'body_too_large', 'too_many_values']],
    ])('%d levels of nesting are rejected, and the server goes on', async (depth, expected) => {
      for (const raw of [
        `{"x":${'['.repeat(depth)}${']'.repeat(depth)}}`,
        `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
      ]) {
        const { status, body } = await send(raw);
        expect([status, body.error, body.details?.[0]?.code]).toEqual(expected);
      }
      expect((await alice.api.get('/notes')).status).toBe(200);
    });

    test('names of Object.prototype are unknown fields', async () => {
      for (const raw of [
        '{"__proto__":{"title":"x","polluted":1},"title":"mine"}',
        '{"constructor":{"prototype":{"polluted":1}},"title":"mine"}',
        '{"toString":1,"hasOwnProperty":2,"title":"mine"}',
      ]) {
        const { status, body } = await send(raw);
        expect([status, body.note.title, ({} as { polluted?: number }).polluted]).toEqual([
          201,
          'mine',
          undefined,
        ]);
      }
      expect((await send('{"__proto__":{"title":"inherited"}}')).body.note.title).toBe('');
      expect((await alice.api.get('/notes?__proto__=x&constructor=y&limit=1')).status).toBe(200);
    });

    test('a body of a request without one is ignored; of duplicate members the last one counts', async () => {
      expect((await send('{"title":"one","title":"two"}')).body.note.title).toBe('two');
      const text = `GET /apis/v1/notes?limit=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${alice.token}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
      expect(await rawExchange(app, text)).toMatch(/^HTTP\/1\.1 200 /);
    });
  });

  describe('addresses', () => {
    test.each([
      ['//', 'GET'],
      ['//apis', 'GET'],
      ['//apis/v1', 'GET'],
      ['//apis/v2/notes', 'GET'],
      ['//notes', 'GET'],
      ['//health/live', 'GET'],
      ['//favicon.ico', 'GET'],
      ['//APIS/v1/notes', 'GET'],
      ['/nothing', 'GET'],
      ['/Notes', 'GET'],
      ['/notes/', 'GET'],
      ['/notes', 'DELETE'],
      ['/notes', 'PATCH'],
      ['/notes', 'OPTIONS'],
      ['/notes', 'PROPFIND'],
      ['/health/live', 'POST'],
      ['/health/live/', 'GET'],
    ])('%s, method %s: 404', async (path, method) => {
      for (const client of [alice.api, app.anonymous]) {
        const response = await client.request(method, path);
        isError(response, [404, 'not_found']);
      }
    });

    test('an invalid path: an error, never a page', async () => {
      for (const path of ['/notes/%', '/notes/%zz', '/notes/%ff', '/%', '/notes/%c0%af']) {
        const response = await alice.api.get(path);
        expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
        expect([400, 404]).toContain(response.status);
      }
      isError(await alice.api.get('/notes/%zz'), [400, 'bad_request']);
      isError(await alice.api.get('/notes/%00'), [422, 'invalid_id']);
      isError(await alice.api.get(`/notes/${'a'.repeat(5000)}`), [422, 'invalid_id']);
      isError(await alice.api.get('/notes/..%2f..%2fetc'), [422, 'invalid_id']);
    });

    test.each([
      ['limit=0', 'limit'],
      ['limit=201', 'limit'],
      ['limit=1.5', 'limit'],
      ['limit=1e2', 'limit'],
      ['limit=', 'limit'],
      ['limit=1&limit=2', 'limit'],
      ['q=%00', 'q'],
      ['q=a%00b', 'q'],
      ['sort=rank', 'sort'],
      ['cursor=a&cursor=b', 'cursor'],
    ])('a wrong query %s: 422', async (query, field) => {
      isError(
        await alice.api.get(`/notes?${query}`),
        [422, 'validation_failed'],
        [{ field, code: expect.any(String), message: expect.any(String) }],
      );
    });

    test('malformed escapes in a query never break anything', async () => {
      for (const query of ['q=%', 'q=%zz', 'q=%ff', 'q=%ed%a0%80', '%=1', '&&&', 'limit[$gt]=1']) {
        const { status } = await alice.api.get(`/notes?${query}`);
        expect([200, 400, 422]).toContain(status);
      }
    });

    test('HEAD is GET without the body', async () => {
      const { body } = await alice.api.post('/notes', { title: 'head' });
      const get = await alice.api.get(`/notes/${body.note.id}`);
      const head = await alice.api.request('HEAD', `/notes/${body.note.id}`);
      expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', get.headers.get('etag')]);
      expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)));
      expect((await app.anonymous.request('HEAD', '/notes')).status).toBe(401);
    });
  });

  describe('headers', () => {
    test('success carries the security headers as well', async () => {
      const { headers } = await alice.api.get('/notes');
      expect(Object.fromEntries(headers)).toMatchObject(SECURITY_HEADERS);
      const health = await app.anonymous.get('/health/live');
      expect(Object.fromEntries(health.headers)).toMatchObject(SECURITY_HEADERS);
    });

    test('a valid X-Request-Id is returned, any other is replaced', async () => {
      const id = async (given?: string) => {
        const { headers } = await alice.api.get('/notes', {
          headers: given === undefined ? {} : { 'x-request-id': given },
        });
        return headers.get('x-request-id');
      };
      const own = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
      for (const safe of ['abc', 'trace:01.a_b-c', 'x'.repeat(128)]) expect(await id(safe)).toBe(safe);
      for (const unsafe of [undefined, '', 'a b', '<script>', 'x'.repeat(129), 'é', '{"a":1}'])
        expect(await id(unsafe)).toMatch(own);
      expect(await id()).not.toBe(await id());
      const rejected = await app.anonymous.get('/notes', { headers: { 'x-request-id': 'mine' } });
      expect(rejected.headers.get('x-request-id')).toBe('mine');
    });

    test('invalid HTTP is rejected in the same shape', async () => {
      const text = await rawExchange(app, 'BREW /pot COFFEE/1.0\r\n\r\n', () => false);
      expect(text).toMatch(/^HTTP\/1\.1 400 /);
      expect(JSON.parse(text.split('\r\n\r\n')[1]!).error).toBe('bad_request');
    });

    test.each([
      ['no Host', 'GET /apis/v1/health/live HTTP/1.1\r\n\r\n', 400, 'bad_request'],
      [
        'a second Host',
        'GET /apis/v1/health/live HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n',
        400,
        'bad_request',
      ],
      [
        'a second Authorization',
        'GET /apis/v1/health/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nauthorization: Bearer a\r\n\r\n',
        400,
        'bad_request',
      ],
      [
        'an unknown Expect',
        'POST /apis/v1/notes HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\nContent-Length: 2\r\n\r\n{}',
        417,
        'expectation_failed',
      ],
    ])('%s is rejected in the same shape', async (_, request, status, error) => {
      const text = await rawExchange(app, request, () => false);
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(text).toMatch(/\r\nX-Content-Type-Options: nosniff\r\n/);
      expect(JSON.parse(text.split('\r\n\r\n')[1]!)).toEqual({ error, message: expect.any(String) });
    });

    test('HTTP/1.0 needs no Host, and Expect: 100-continue works', async () => {
      const old = await rawExchange(app, 'GET /apis/v1/health/live HTTP/1.0\r\n\r\n');
      expect(old).toMatch(/^HTTP\/1\.1 200 /);
      const request = `POST /apis/v1/notes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${alice.token}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 13\r\n\r\n{"title":"e"}`;
      expect(await rawExchange(app, request)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
    });

    test('too large headers are rejected, and the server continues', async () => {
      const text = await rawExchange(
        app,
        `GET /apis/v1/notes HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(40_000)}\r\n\r\n`,
        () => false,
      );
      expect(text).toMatch(/^HTTP\/1\.1 431 /);
      expect(text).toMatch(/\r\nX-Content-Type-Options: nosniff\r\n/);
      expect(JSON.parse(text.split('\r\n\r\n')[1]!)).toEqual({
        error: 'bad_request',
        message: expect.any(String),
      });
      expect((await app.anonymous.get('/health/live')).status).toBe(200);
    });
  });

  describe('CORS', () => {
    const origin = 'https://app.example.com';
    const preflight = {
      origin,
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization,if-match',
    };
    const cors = (headers: Headers) =>
      Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control')));

    test('is off by default', async () => {
      const response = await alice.api.get('/notes', { headers: { origin } });
      expect([response.status, cors(response.headers)]).toEqual([200, {}]);
      isError(await app.anonymous.request('OPTIONS', '/notes', { headers: preflight }), [404, 'not_found']);
    });

    test('is for the listed origins', async () => {
      const listed = await TestApp.start(
        { CORS_ORIGINS: `${origin}, http://localhost:5173` },
        app.databaseUrl,
      );
      try {
        const allowed = await listed.anonymous.request('OPTIONS', '/notes', { headers: preflight });
        expect(allowed.status).toBe(204);
        expect(cors(allowed.headers)).toMatchObject({
          'access-control-allow-origin': origin,
          'access-control-allow-methods': expect.stringContaining('PATCH'),
          'access-control-allow-headers': expect.stringContaining('If-Match'),
        });
        expect(cors(allowed.headers)).not.toHaveProperty('access-control-allow-credentials');
        const response = await listed.as(alice.token).get('/notes', { headers: { origin } });
        expect([response.status, response.headers.get('vary')]).toEqual([
          200,
          expect.stringContaining('Origin'),
        ]);
        expect(cors(response.headers)).toEqual({
          'access-control-allow-origin': origin,
          'access-control-expose-headers': expect.stringContaining('ETag'),
        });
        const rejected = await listed.anonymous.get('/notes', { headers: { origin } });
        expect([rejected.status, rejected.headers.get('access-control-allow-origin')]).toEqual([401, origin]);
        const outsider = { ...preflight, origin: 'https://app.example.com.evil.example' };
        const other = await listed.anonymous.request('OPTIONS', '/notes', { headers: outsider });
        expect(other.headers.get('access-control-allow-origin')).toBeNull();
      } finally {
        await listed.stop();
      }
    });

    test('can be for all', async () => {
      const open = await TestApp.start({ CORS_ORIGINS: '*' }, app.databaseUrl);
      try {
        const { headers } = await open.as(alice.token).get('/notes', { headers: { origin } });
        expect(headers.get('access-control-allow-origin')).toBe('*');
      } finally {
        await open.stop();
      }
    });
  });
});
