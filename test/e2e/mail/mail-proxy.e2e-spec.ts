import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type TestUser, TestApp } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { until } from '../../support/until.ts';
import {
  capture,
  CAPTURES,
  DRAFTS,
  INBOX,
  NOWHERE,
  TRASH,
  type Capture,
  WildDuck,
  withContractFields,
} from '../../support/mail/wild-duck.ts';

const OPERATIONS = [
  ['GET', /^\/users\/me\/mailboxes$/],
  ['POST', /^\/users\/me\/mailboxes$/],
  ['GET', /^\/users\/me\/mailboxes\/[0-9a-f]{24}$/],
  ['PUT', /^\/users\/me\/mailboxes\/[0-9a-f]{24}$/],
  ['DELETE', /^\/users\/me\/mailboxes\/[0-9a-f]{24}$/],
  ['GET', /^\/users\/me\/mailboxes\/[0-9a-f]{24}\/messages$/],
  ['POST', /^\/users\/me\/mailboxes\/[0-9a-f]{24}\/messages$/],
  ['PUT', /^\/users\/me\/mailboxes\/[0-9a-f]{24}\/messages$/],
  ['GET', /^\/users\/me\/mailboxes\/[0-9a-f]{24}\/messages\/[1-9]\d*$/],
  ['PUT', /^\/users\/me\/mailboxes\/[0-9a-f]{24}\/messages\/[1-9]\d*$/],
  ['DELETE', /^\/users\/me\/mailboxes\/[0-9a-f]{24}\/messages\/[1-9]\d*$/],
  ['POST', /^\/users\/me\/mailboxes\/[0-9a-f]{24}\/messages\/[1-9]\d*\/submit$/],
] as const;

/**
 * Captures whose request is not forwarded unchanged: forbidden fields and translated ones. Other tests cover
 * them.
 */
const CHANGED = new Set([
  'create-mailbox-subscribed',
  'list-messages-seed-style-cursor-direction',
  'create-mailbox-hidden-true',
  'put mailbox hidden then delete',
  'list-mailboxes-all-params',
  'bulk-put-array',
  'bulk-put-array-strings',
  'bulk-put-number',
  'bulk-put-range',
  'bulk 1:* in real range',
  'bulk message with spaces',
  'bulk-put-restoreToOrigin',
  'bulk-query-message-beats-body',
  'upload-message-rawfield',
  'upload-message-raw-rfc822',
  'upload-unknown-field',
  'upload-body-mailbox-same-param',
  'upload-badjson',
  'attachment bogus encoding',
  'draft-bad-reference-action',
  'put-message-flags',
  'put-seen-true-flagged-false',
  'put-message-unknown',
  'put-message-metadata',
  'spoof-set-draft-flag',
  'submit-unknown-field',
  'submit with body array',
  'delete-with-json-body',
  'bob-suspended-list',
  'bob-suspended-upload',
  'bob-token-after-suspend',
  'bob-token-after-password-change',
  'token-after-logout',
  'single-put-body-message-param',
  'content-encoding deflate',
  'content-encoding identity',
  // The request was not recorded completely.
  'submit-401-recipients-draft',
  'upload-12MB-attachment',
  'html 1MiB+1',
  'subject 2049',
]);

const PASSED = CAPTURES.filter(({ label, method, path, body }) => {
  const [bare = '', query] = path.split('?');
  const listed = OPERATIONS.some(([verb, shape]) => verb === method && shape.test(bare));
  // Pages use `cursor`, and a message has no parameters.
  const plain =
    query === undefined ||
    bare === '/users/me/mailboxes' ||
    !/next=|previous=|include|=true&replace|replaceCid/.test(query);
  return listed && plain && !CHANGED.has(label) && !(method === 'GET' && body !== undefined);
});

describe('the mail proxy', () => {
  let duck: WildDuck;
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    duck = await WildDuck.start();
    app = await TestApp.start(duck.settings);
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
    expect((await alice.api.get('/mail/users/me/mailboxes')).status).toBe(200);
    expect((await bob.api.get('/mail/users/me/mailboxes')).status).toBe(200);
  });
  beforeEach(() => duck.clear());
  afterAll(async () => {
    await app?.stop();
    await duck?.stop();
  });

  const replay = ({ status, json }: Capture) => {
    duck.script = ({ url }) => (url.startsWith('/users/me/') ? { status, json } : undefined);
  };
  const isError = ({ status, body }: ApiResponse, expected: [number, string]) =>
    expect({ status, body }).toEqual({
      status: expected[0],
      body: expect.objectContaining({ error: expected[1], message: expect.stringMatching(/\S/) }),
    });
  const mail = (path: string) => `/mail/users/me/mailboxes${path}`;

  describe('forwards requests and responses of WildDuck:', () => {
    test('each operation and each kind of error', () => {
      expect(PASSED.length).toBeGreaterThan(75);
      for (const [method, shape] of OPERATIONS) {
        const responses = PASSED.filter(
          (each) => each.method === method && shape.test(each.path.split('?', 1)[0]!),
        );
        expect([method, String(shape), responses.some(({ status }) => status === 200)]).toEqual([
          method,
          String(shape),
          true,
        ]);
      }
      expect(new Set(PASSED.map(({ status }) => status))).toEqual(new Set([200, 400, 403, 404, 500]));
    });

    test.each(
      PASSED.filter(({ status, json }) => status !== 200 || json.success).map(
        (each) => [each.label, each] as const,
      ),
    )('%s', async (_, each) => {
      replay(each);
      const response = await alice.api.request(each.method, `/mail${each.path}`, { body: each.body });
      expect(response.status).toBe(each.status);
      const completed = withContractFields(each);
      if (completed === each.json) expect(response.text).toBe(JSON.stringify(each.json));
      else expect(response.body).toEqual(completed);
      const [asked, ...more] = duck.requests;
      expect(more).toEqual([]);
      expect({ method: asked!.method, url: asked!.url, body: asked!.body }).toEqual({
        method: each.method,
        url: each.path,
        body: each.body ?? (each.method === 'POST' || each.method === 'PUT' ? {} : undefined),
      });
    });
  });

  describe('headers', () => {
    test('are not forwarded in either direction', async () => {
      const { headers, status } = await alice.api.get(mail('?counters=true'), {
        headers: {
          cookie: 'session=1',
          'x-access-token': 'f'.repeat(40),
          'x-forwarded-for': '10.0.0.1',
          'x-forwarded-host': 'evil.example',
          'x-real-ip': '10.0.0.1',
          forwarded: 'for=10.0.0.1',
          'x-http-method-override': 'DELETE',
          'x-original-url': '/users',
          'accept-encoding': 'gzip, br',
          range: 'bytes=0-1',
          'if-none-match': '"x"',
          origin: 'https://evil.example',
          te: 'trailers',
        },
      });
      expect(status).toBe(200);
      const [{ rawHeaders, as }] = duck.requests as [(typeof duck.requests)[0]];
      const sent = Object.fromEntries(
        rawHeaders.flatMap((name, n) => (n % 2 === 0 ? [[name.toLowerCase(), rawHeaders[n + 1]]] : [])),
      );
      expect(sent).toEqual({
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'workspace',
        'x-access-token': expect.stringMatching(/^[0-9a-f]{40}$/),
        host: new URL(duck.url).host,
        connection: 'keep-alive',
      });
      expect(as).toBe([...duck.accounts.keys()][0]);
      const names = [...headers.keys()];
      expect(names.filter((name) => /^access-control|^set-cookie$|^server$|^vary$/.test(name))).toEqual([]);
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(headers.get('cache-control')).toBe('private, no-store');
    });

    test('the token is read from the header only', async () => {
      for (const path of [mail('?access_token='), mail('?accessToken=')]) {
        isError(await app.anonymous.get(`${path}${alice.token}`), [401, 'unauthorized']);
      }
      expect(duck.requests).toEqual([]);
    });
  });

  describe('queries', () => {
    const asked = async (path: string) => {
      await alice.api.get(path);
      return duck.requests.at(-1)!.url;
    };

    test('of the mailbox list are forwarded without credentials, identity and empty values', async () => {
      const passed = 'counters=true&sizes=1&specialUse=yes&showHidden=false&foo=a%2Bb&x=1&x=2';
      const url = await asked(mail(`?${passed}&empty=`));
      expect(url).toBe(`/users/me/mailboxes?${passed}`);
      for (const name of [
        'accessToken',
        'access%54oken',
        'access%2554oken',
        'ACCESSTOKEN',
        'access_token',
        'accessToken[]',
        'accessToken%5B0%5D',
        'accessToken.x',
        '[accessToken]',
        'sess',
        'SESS',
        's%65ss',
        'sess[a]',
        'ip',
        'Ip',
        'ip[]',
        '%69p',
        'user',
        'user[]',
      ]) {
        expect([name, await asked(mail(`?${name}=1&counters=true`))]).toEqual([
          name,
          '/users/me/mailboxes?counters=true',
        ]);
      }
    });

    test('of other routes are limited to the contract', async () => {
      const all =
        'accessToken=x&sess=s&ip=1.1.1.1&markAsSeen=true&replaceCidLinks=true&includeHeaders=true&metaData=1&user=x&message=1&async=true';
      for (const path of [mail(`/${INBOX}`), mail(`/${INBOX}/messages`), mail(`/${INBOX}/messages/1`)]) {
        expect(await asked(`${path}?${all}`)).toBe(path.replace('/mail', ''));
      }
      expect(
        await asked(mail(`/${INBOX}/messages?limit=3&order=asc&unseen=true&threadCounters=true&page=2`)),
      ).toBe(`/users/me/mailboxes/${INBOX}/messages?limit=3&order=asc&unseen=true&threadCounters=true`);
      replay(capture('bulk-put-seen-string'));
      await alice.api.put(mail(`/${INBOX}/messages?message=1:*&moveTo=${TRASH}`), {
        message: [4],
        seen: true,
      });
      expect(duck.requests.at(-1)).toMatchObject({
        url: `/users/me/mailboxes/${INBOX}/messages`,
        body: { message: '4', seen: true },
      });
      replay(capture('delete-message'));
      await alice.api.delete(mail(`/${INBOX}/messages/9?async=true`));
      expect(duck.requests.at(-1)!.url).toBe(`/users/me/mailboxes/${INBOX}/messages/9`);
    });
  });

  describe('bodies', () => {
    const routes: [string, string][] = [
      ['POST', mail('')],
      ['PUT', mail(`/${INBOX}`)],
      ['POST', mail(`/${INBOX}/messages`)],
      ['PUT', mail(`/${INBOX}/messages`)],
      ['PUT', mail(`/${INBOX}/messages/1`)],
      ['POST', mail(`/${DRAFTS}/messages/1/submit`)],
      ['POST', '/mail/draft'],
      ['POST', '/mail/draft/submit'],
    ];

    test.each(routes)('%s %s accepts a JSON object only', async (method, path) => {
      for (const raw of ['[]', '[{"path":"x"}]', '"x"', '7', 'null', 'true'])
        isError(await alice.api.request(method, path, { raw }), [400, 'invalid_json']);
      isError(await alice.api.request(method, path, { raw: '{"path":' }), [400, 'invalid_json']);
      for (const type of [
        'application/x-www-form-urlencoded',
        'message/rfc822',
        'multipart/form-data; boundary=x',
        'text/plain',
        'application/vnd.api+json',
      ]) {
        const response = await alice.api.request(method, path, {
          raw: 'path=x',
          headers: { 'content-type': type },
        });
        isError(response, [415, 'unsupported_media_type']);
      }
      expect(duck.requests).toEqual([]);
    });

    test('only the fields of the contract are forwarded', async () => {
      duck.script = () => ({ status: 200, json: { success: true } });
      const evil = {
        raw: 'From: ceo@bigcorp.example\r\n\r\n',
        bimi: { domain: 'evil.example' },
        headers: [{ key: 'From', value: 'x' }],
        metaData: '{}',
        date: '2020-01-01',
        sess: 's',
        ip: '1.1.1.1',
        accessToken: 'x',
        user: 'x',
        uploadOnly: true,
        constructor: 'x',
      };
      const body = async (method: string, path: string, sent: object) => {
        await alice.api.request(method, path, { body: sent });
        return duck.requests.at(-1)!.body;
      };
      const message = {
        subject: 's',
        text: 't',
        html: 'h',
        draft: true,
        unseen: false,
        flagged: true,
        files: [],
      };
      expect(
        await body('POST', mail(`/${DRAFTS}/messages`), { ...message, ...evil, mailbox: TRASH }),
      ).toEqual(message);
      expect(await body('POST', mail(''), { path: 'a', retention: 1, hidden: false, ...evil })).toEqual({
        path: 'a',
        retention: 1,
        hidden: false,
      });
      expect(
        await body('PUT', mail(`/${INBOX}`), {
          path: 'a',
          subscribed: false,
          encryptMessages: true,
          ...evil,
        }),
      ).toEqual({
        path: 'a',
        subscribed: false,
      });
      expect(
        await body('PUT', mail(`/${INBOX}/messages`), {
          message: [1],
          seen: true,
          flagged: true,
          expires: 'x',
          ...evil,
        }),
      ).toEqual({
        message: '1',
        seen: true,
        flagged: true,
      });
      expect(
        await body('PUT', mail(`/${INBOX}/messages/1`), { seen: true, draft: true, message: '1:*', ...evil }),
      ).toEqual({
        seen: true,
      });
      expect(
        await body('POST', mail(`/${DRAFTS}/messages/1/submit`), {
          sendTime: 'x',
          deleteFiles: true,
          ...evil,
        }),
      ).toEqual({
        sendTime: 'x',
        deleteFiles: true,
      });
      await alice.api.request('POST', mail(''), {
        raw: '{"path":"p","__proto__":{"hidden":true},"path":"q"}',
      });
      expect(duck.requests.at(-1)!.body).toEqual({ path: 'q' });
    });

    test('an unexpected body is not forwarded', async () => {
      replay(capture('delete-message'));
      expect((await alice.api.delete(mail(`/${INBOX}/messages/10`), { foo: 1 })).status).toBe(200);
      expect(duck.requests[0]!.body).toBeUndefined();
      expect(duck.requests[0]!.headers['content-type']).toBeUndefined();
    });

    test('a message may have 40 MiB, other bodies 1 MiB', async () => {
      duck.script = () => ({
        status: 200,
        json: { success: true, message: { id: 1, mailbox: DRAFTS, size: 1 } },
      });
      const attachment = (bytes: number) => ({
        draft: true,
        attachments: [{ content: 'QUJD'.repeat(bytes / 4) }],
      });
      const large = attachment(12 * 1024 * 1024);
      for (const [path, extra] of [
        [mail(`/${DRAFTS}/messages`), {}],
        ['/mail/draft', { mailbox: DRAFTS }],
      ] as const) {
        expect((await alice.api.post(path, { ...large, ...extra })).status).toBe(200);
        expect(duck.requests.at(-1)!.body.attachments[0].content).toHaveLength(12 * 1024 * 1024);
        duck.requests.length = 0;
        isError(await alice.api.post(path, { ...attachment(44 * 1024 * 1024), ...extra }), [
          413,
          'body_too_large',
        ]);
      }
      isError(await alice.api.post(mail(''), { path: 'x'.repeat(1024 * 1024) }), [413, 'body_too_large']);
      expect(duck.requests).toEqual([]);
    });
  });

  describe('a long body', () => {
    const path = mail(`/${DRAFTS}/messages`);
    const text = '2 MiB of äöü and 😀, '.repeat(100_000);
    const json = JSON.stringify({ draft: true, text });
    const type = (charset: string) => ({ 'content-type': `application/json; charset=${charset}` });
    beforeEach(() => {
      duck.script = () => ({ status: 200, json: { success: true } });
    });

    test.each<[string, Buffer, Record<string, string>]>([
      ['as it is', Buffer.from(json), {}],
      ['with a byte order mark', Buffer.from(`\ufeff${json}`), {}],
      ['that names its charset', Buffer.from(json), type('"UTF-8"')],
      ['in another charset', Buffer.from(json, 'utf16le'), type('utf-16le')],
      ['that is compressed', gzipSync(json), { 'content-encoding': 'gzip' }],
    ])('%s is understood', async (_, raw, headers) => {
      expect((await alice.api.request('POST', path, { raw, headers })).status).toBe(200);
      expect(duck.requests[0]!.body.text === text).toBe(true);
    });

    test.each([
      ['without its end', Buffer.from(json.slice(0, -1))],
      ['of zeros', Buffer.alloc(2_000_000)],
    ])('%s is no JSON', async (_, raw) => {
      isError(await alice.api.request('POST', path, { raw }), [400, 'invalid_json']);
      expect(duck.requests).toEqual([]);
    });

    test('that breaks off has no effect, and the next one is served', async () => {
      const { hostname, port } = new URL(app.base);
      const socket = connect(Number(port), hostname);
      const head = `POST /apis/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${alice.token}\r\n`;
      socket.write(`${head}Content-Type: application/json\r\nContent-Length: 9000000\r\n\r\n{"draft":true,`);
      socket.write(' '.repeat(1_000_000), () => socket.destroy());
      await new Promise((resolve) => socket.once('close', resolve));
      for (let n = 0; n < 3; n += 1)
        expect((await alice.api.request('POST', path, { raw: Buffer.from(json) })).status).toBe(200);
      expect(duck.requests).toHaveLength(3);
    });
  });

  describe('hidden mailboxes', () => {
    const spellings = [
      true,
      'true',
      'TRUE',
      'True',
      'yes',
      'YES',
      'on',
      'On',
      'y',
      'Y',
      1,
      '1',
      ' true ',
      [true],
      ['yes'],
    ];

    test.each(spellings.map((spelling) => [spelling]))('%j is not allowed', async (hidden) => {
      isError(await alice.api.post(mail(''), { path: 'x', hidden }), [422, 'hidden_mailbox_not_allowed']);
      isError(await alice.api.put(mail(`/${INBOX}`), { hidden }), [422, 'hidden_mailbox_not_allowed']);
      expect(duck.requests).toEqual([]);
    });

    test.each([
      'hidden=true',
      'hidden=1',
      'hidden=YES',
      'hidden[]=true',
      'hidden%5B0%5D=on',
      'h%69dden=y',
      'x=1&hidden=false&hidden=true',
      'hidden=%20true',
      'Hidden=true',
    ])('nor is ?%s', async (query) => {
      isError(await alice.api.post(mail(`?${query}`), { path: 'x' }), [422, 'hidden_mailbox_not_allowed']);
      isError(await alice.api.put(mail(`/${INBOX}?${query}`), { path: 'x' }), [
        422,
        'hidden_mailbox_not_allowed',
      ]);
      expect(duck.requests).toEqual([]);
    });

    test.each([[false], ['false'], [0], ['no'], ['maybe'], [null], [2]])(
      '%j passes, for the mail service to accept or reject',
      async (hidden) => {
        replay(capture('create-mailbox'));
        expect((await alice.api.post(mail('?hidden=false'), { path: 'x', hidden })).status).toBe(200);
        expect(duck.requests[0]!.body).toEqual({ path: 'x', hidden });
        expect(duck.requests[0]!.url).toBe('/users/me/mailboxes');
      },
    );
  });

  describe('an unusable response: 500', () => {
    let other: Server;
    let visits = 0;
    let hasty: TestApp;
    beforeAll(async () => {
      hasty = await TestApp.start({ ...duck.settings, MAIL_SERVICE_TIMEOUT_MS: '700' }, app.databaseUrl);
      other = createServer((_, response) => {
        visits += 1;
        response.end('{}');
      });
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    });
    afterAll(async () => {
      await hasty?.stop();
      other?.close();
    });

    const json = { 'Content-Type': 'application/json' };
    const LONG = 'x'.repeat(100_000);
    const broken: [string, NonNullable<WildDuck['script']>][] = [
      [
        'a redirect',
        (_, response) => (
          response
            .writeHead(302, { Location: `http://127.0.0.1:${(other.address() as AddressInfo).port}/` })
            .end('{}'),
          true
        ),
      ],
      ['text', (_, response) => (response.writeHead(200, { 'Content-Type': 'text/plain' }).end('{}'), true)],
      [
        'a page',
        (_, response) => (
          response.writeHead(502, { 'Content-Type': 'text/html' }).end('<h1>Bad gateway</h1>'),
          true
        ),
      ],
      ['no type', (_, response) => (response.writeHead(200).end('{}'), true)],
      ['invalid JSON', (_, response) => (response.writeHead(200, json).end('{"success":tru'), true)],
      ['long invalid JSON', (_, response) => (response.writeHead(200, json).end(LONG), true)],
      [
        'much of a success, without its end',
        (_, response) => (response.writeHead(200, json).end(`{"success":true,"results":["${LONG}`), true),
      ],
      [
        'much that ends well and is none',
        (_, response) => (response.writeHead(200, json).end(`{"results":["${LONG}}`), true),
      ],
      ['nothing', (_, response) => (response.writeHead(200, json).end(), true)],
      ['an invalid status', (_, response) => (response.writeHead(600, json).end('{}'), true)],
      ['no content', (_, response) => (response.writeHead(204).end(), true)],
      [
        'something packed',
        (_, response) => (response.writeHead(200, { ...json, 'Content-Encoding': 'gzip' }).end('{}'), true),
      ],
      ['an error with status 200', () => ({ status: 200, json: capture('attachment bogus encoding').json })],
      ['silence', () => new Promise<true>(() => undefined)],
      ['a beginning without an end', (_, response) => (response.writeHead(200, json).write('{"a":'), true)],
      [
        'much of a response, then the end of the connection',
        (_, response) => {
          response.writeHead(200, { ...json, 'Content-Length': '300000' });
          response.write(`{"success":true,"a":["${LONG}"]}`, () => response.socket?.destroy());
          return true;
        },
      ],
      [
        'a beginning, then the end of the connection',
        (_, response) => {
          response.writeHead(200, { ...json, 'Content-Length': '100' }).write('{"a":1}');
          setImmediate(() => response.socket?.destroy());
          return true;
        },
      ],
      ['the end of the connection', (_, response) => (response.socket?.destroy(), true)],
      ['no HTTP', (_, response) => (response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'), true)],
    ];

    test.each(broken)('%s', async (_, script) => {
      duck.script = script;
      const api = hasty.as(alice.token);
      const responses = [
        await api.get(mail('')),
        await api.post(mail(`/${DRAFTS}/messages`), { draft: true }),
        await api.post('/mail/draft', { mailbox: DRAFTS, draft: true }),
      ];
      for (const response of responses) {
        expect({ status: response.status, body: response.body }).toEqual({
          status: 500,
          body: { error: 'Proxy failed', message: expect.any(String) },
        });
      }
      expect(duck.requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
      expect(visits).toBe(0);
    });

    test('connection refused', async () => {
      const silent = await WildDuck.start();
      const settings = silent.settings;
      await silent.stop();
      const second = await TestApp.start(settings, app.databaseUrl);
      isError(await second.as(alice.token).get(mail('')), [500, 'Proxy failed']);
      await second.stop();
    });
  });

  test.each([
    ['1', {}],
    ['7', { 'Retry-After': '7' }],
    ['1', { 'Retry-After': 'Sat, 28 Nov 2026 00:00:00 GMT' }],
  ])('a mail service that is unavailable for the moment: 503, Retry-After %s', async (seconds, headers) => {
    duck.script = (_, response) => {
      response.writeHead(503, { 'Content-Type': 'application/json', ...headers });
      response.end('{"code":"ServiceUnavailable","message":"The service is busy, try again"}');
      return true;
    };
    for (const response of [
      await alice.api.get(mail('')),
      await alice.api.post('/mail/draft', { mailbox: DRAFTS, draft: true }),
    ]) {
      isError(response, [503, 'mail_service_busy']);
      expect(response.headers.get('retry-after')).toBe(seconds);
    }
  });

  test('status 200 without success is a failure of a draft', async () => {
    duck.script = () => ({ status: 200, json: { success: false, message: { id: 1 } } });
    isError(await alice.api.post('/mail/draft', { mailbox: DRAFTS }), [500, 'Proxy failed']);
  });

  test('a long response is streamed and breaks where its source breaks', async () => {
    const rows = Array.from({ length: 30_000 }, (_, id) => ({ id, subject: 'x'.repeat(100) }));
    const whole = JSON.stringify({ success: true, results: rows });
    duck.script = (_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(whole);
      return true;
    };
    const answer = await alice.api.get(mail(`/${INBOX}/messages`));
    expect(answer.status).toBe(200);
    expect(answer.text === whole).toBe(true);
    duck.script = (_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': String(whole.length) });
      response.write(whole.slice(0, 2_000_000), () => response.socket?.destroy());
      return true;
    };
    await expect(alice.api.get(mail(`/${INBOX}/messages`))).rejects.toThrow();
    duck.script = undefined;
    expect((await alice.api.get(mail(''))).status).toBe(200);
  });

  test('a read survives an idle connection that the mail service closes', async () => {
    await alice.api.get(mail(''));
    let cut = false;
    duck.script = (_, response) => {
      if (cut) return undefined;
      cut = true;
      response.socket?.resetAndDestroy();
      return true;
    };
    expect((await alice.api.get(mail(''))).status).toBe(200);
    expect(duck.mail).toHaveLength(3);
  });

  test('connections are reused and closed before WildDuck closes them (5 s)', async () => {
    const before = duck.connections;
    for (let n = 0; n < 5; n += 1) await alice.api.get(mail(''));
    expect(duck.connections - before).toBeLessThanOrEqual(1);
    expect(duck.openConnections).toBeGreaterThan(0);
    await until('idle connections to be closed', () => duck.openConnections === 0);
  });

  test('users cannot read each other’s mail, even with known ids', async () => {
    expect((await alice.api.get(mail(`/${INBOX}/messages/1`))).body.subject).toBe('Plan ✓');
    for (const path of ['', '/messages', '/messages/1']) {
      const response = await bob.api.get(mail(`/${INBOX}${path}`));
      expect(response.status).toBe(404);
      expect(response.body).toEqual((await bob.api.get(mail(`/${NOWHERE}${path}`))).body);
    }
    const theirs = await bob.api.get(
      `/mail/attachment?mailbox_id=${INBOX}&message_id=1&attachment_id=ATT00001&filename=a`,
    );
    expect([theirs.status, theirs.body.code]).toEqual([404, 'MessageNotFound']);
    expect(new Set(duck.mail.map(({ as }) => as)).size).toBe(2);
  });

  test('tokens without a workspace are rejected', async () => {
    const loner = await app.userWithoutWorkspace('zoe');
    isError(await loner.api.post('/mail/draft', { mailbox: DRAFTS }), [403, 'tenant_id_required']);
    isError(await loner.api.post('/mail/draft', undefined, { raw: 'no json' }), [403, 'tenant_id_required']);
    for (const [method, path] of [
      ['GET', mail('')],
      ['POST', '/mail/draft/submit'],
      ['GET', '/mail/attachment'],
      ['PUT', mail(`/${INBOX}/messages`)],
    ] as const) {
      isError(await loner.api.request(method, path), [403, 'workspace_forbidden']);
    }
    expect(duck.requests).toEqual([]);
  });

  test('without a mail service: 503', async () => {
    const second = await TestApp.start({}, app.databaseUrl);
    const api = second.as(alice.token);
    isError(await api.get(mail('')), [503, 'mail_service_unavailable']);
    isError(await api.post('/mail/draft', { mailbox: DRAFTS }), [503, 'mail_service_unavailable']);
    isError(await api.get(mail('/x')), [404, 'mail_endpoint_not_available']);
    await second.stop();
  });
});
