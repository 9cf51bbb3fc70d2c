import { connect } from 'node:net';
import { createHash, randomBytes } from 'node:crypto';
import { parse } from 'content-disposition';
import fc from 'fast-check';
import { RecipientsApi } from '../../../src/modules/mail/index.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { until } from '../../support/until.ts';
import { capture, DRAFTS, INBOX, NOWHERE, WildDuck } from '../../support/mail/wild-duck.ts';
import { runs } from '../../support/property-runs.ts';

describe('the convenience routes of mail', () => {
  let duck: WildDuck;
  let app: TestApp;
  let alice: TestUser;
  let users = 0;

  beforeAll(async () => {
    duck = await WildDuck.start();
    app = await TestApp.start(duck.settings);
    [alice] = await app.tenant('acme', 'alice');
    await alice.api.get('/mail/users/me/mailboxes');
  });
  beforeEach(() => duck.clear());
  afterAll(async () => {
    await app?.stop();
    await duck?.stop();
  });

  const contextOf = ({ tenantId, id }: TestUser) => ({ tenantId, userId: id }) as never;
  const recipients = async (user: TestUser) =>
    (await app.get(RecipientsApi).list(contextOf(user), null, 100)).map(({ address, name, uses }) => ({
      address,
      name,
      uses,
    }));
  const suggest = async (user: TestUser, text: string) =>
    (await app.get(RecipientsApi).suggest(contextOf(user), text)).map(({ address }) => address);
  const writer = async (): Promise<TestUser> => (await app.tenant('acme', `writer${(users += 1)}`))[0];
  const stored = (id: number) => ({
    status: 200,
    json: { success: true, message: { id, mailbox: DRAFTS, size: 9 } },
  });

  describe('POST /mail/draft', () => {
    test('creates the message in the given mailbox with all its fields', async () => {
      const each = capture('draft-create');
      const { status, body } = await alice.api.post('/mail/draft', {
        mailbox: DRAFTS,
        ...(each.body as object),
        evil: 1,
      });
      expect([status, body]).toEqual([200, { message: each.json.message }]);
      expect(duck.mail.map(({ method, url, body: sent }) => ({ method, url, sent }))).toEqual([
        { method: 'POST', url: each.path, sent: each.body },
      ]);
    });

    test.each([
      [{}, true],
      [{ draft: true }, true],
      [{ draft: false }, false],
    ])('%j is stored as a draft: %s', async (body, draft) => {
      duck.script = ({ url }) => (url.startsWith('/users/me/') ? stored(7) : undefined);
      await alice.api.post('/mail/draft', { mailbox: DRAFTS, subject: 'Plan', ...body });
      expect(duck.mail.at(-1)!.body).toEqual({ subject: 'Plan', draft });
    });

    test('addresses have no invisible characters and no scheme', async () => {
      duck.script = ({ url }) => (url.startsWith('/users/me/') ? stored(7) : undefined);
      const address = '\u200bmailto:bob@demo.example\u200b';
      await alice.api.post('/mail/draft', { mailbox: DRAFTS, to: [{ address }], from: { address } });
      const plain = { address: 'bob@demo.example' };
      expect(duck.mail.at(-1)!.body).toEqual({ to: [plain], from: plain, draft: true });
    });

    test('returns the result of `replacePrevious`', async () => {
      for (const label of ['draft-replace', 'draft-replace-missing-previous']) {
        const { success: _, ...rest } = capture(label).json;
        expect(
          (
            await alice.api.post('/mail/draft', {
              mailbox: DRAFTS.toUpperCase(),
              ...(capture(label).body as object),
            })
          ).body,
        ).toEqual(rest);
      }
    });

    test.each(['upload-bad-address', 'html 1MiB+1', 'null fields', 'bob-over-quota-upload'])(
      'rejected: %s',
      async (label) => {
        const each = capture(label);
        duck.script = () => ({ status: each.status, json: each.json });
        const { status, body } = await alice.api.post('/mail/draft', {
          mailbox: DRAFTS,
          cc: [{ address: 'bad' }],
        });
        expect([status, body]).toEqual([each.status, each.json]);
        expect(await recipients(alice)).not.toContainEqual(expect.objectContaining({ address: 'bad' }));
      },
    );

    test.each([
      [undefined],
      [null],
      [''],
      ['drafts'],
      [INBOX.slice(1)],
      [`${INBOX}/messages`],
      [7],
      [[INBOX]],
      [{ a: 1 }],
    ])('mailbox %j: 422', async (mailbox) => {
      const { status, body } = await alice.api.post('/mail/draft', { mailbox, draft: true });
      expect([status, body.error, body.details[0].field]).toEqual([422, 'validation_failed', 'mailbox']);
      expect(duck.requests).toEqual([]);
    });
  });

  describe('POST /mail/draft/submit', () => {
    const draft = capture('get-draft');

    test('reads the draft, sends it and records its recipients', async () => {
      const user = await writer();
      duck.script = ({ method, url }) => {
        if (!url.startsWith('/users/me/')) return undefined;
        const each = method === 'GET' ? capture('get-draft-reply') : capture('submit-draft-sendtime');
        return { status: each.status, json: each.json };
      };
      const { status, body } = await user.api.post('/mail/draft/submit', {
        mailbox_id: DRAFTS,
        message_id: '4',
      });
      expect([status, body]).toEqual([200, capture('submit-draft-sendtime').json]);
      expect(duck.mail.map(({ method, url, body: sent }) => [method, url, sent])).toEqual([
        ['GET', `/users/me/mailboxes/${DRAFTS}/messages/4`, undefined],
        ['POST', `/users/me/mailboxes/${DRAFTS}/messages/4/submit`, {}],
      ]);
      expect(await recipients(user)).toEqual([
        { address: 'carol@example.org', name: 'Carol', uses: 1 },
        { address: 'dave@example.org', name: '', uses: 1 },
      ]);
    });

    test.each([500_000, 1_500_000])('also sends a draft of %d characters', async (length) => {
      const user = await writer();
      duck.script = ({ method, url }) => {
        if (!url.startsWith('/users/me/')) return undefined;
        const { status, json } =
          method === 'GET' ? capture('get-draft-reply') : capture('submit-draft-sendtime');
        return { status, json: method === 'GET' ? { ...json, text: 'x'.repeat(length) } : json };
      };
      await user.api.post('/mail/draft/submit', { mailbox_id: DRAFTS, message_id: '4' });
      expect((await recipients(user)).map(({ address }) => address)).toEqual([
        'carol@example.org',
        'dave@example.org',
      ]);
    });

    test('an unknown draft is not sent', async () => {
      const { status, body } = await alice.api.post('/mail/draft/submit', {
        mailbox_id: INBOX,
        message_id: '99999',
      });
      expect([status, body]).toEqual([404, capture('get-message-missing').json]);
      expect(duck.mail).toHaveLength(1);
    });

    test.each([
      'submit-not-draft',
      'submit-too-many',
      'bob-submit-ratelimit-1',
      'submit-draft-no-recipients',
    ])('%s', async (label) => {
      const user = await writer();
      const each = capture(label);
      duck.script = ({ url, method }) => {
        if (!url.startsWith('/users/me/')) return undefined;
        return method === 'GET'
          ? { status: 200, json: draft.json }
          : { status: each.status, json: each.json };
      };
      const { status, body } = await user.api.post('/mail/draft/submit', {
        mailbox_id: DRAFTS,
        message_id: 2,
      });
      expect([status, body]).toEqual([each.status, each.json]);
      expect(await recipients(user)).toHaveLength(each.status === 200 ? 1 : 0);
    });

    test.each([
      [{ message_id: '1' }, 'mailbox_id'],
      [{ mailbox_id: 'x', message_id: '1' }, 'mailbox_id'],
      [{ mailbox_id: DRAFTS }, 'message_id'],
      ...[
        '0',
        '-1',
        '+1',
        '01',
        '1.0',
        '1e1',
        '1,2',
        '1:*',
        '*',
        ' 1',
        '1\n',
        '9007199254740992',
        '',
        null,
        true,
        [1],
        {},
        1.5,
      ].map((message_id): [object, string] => [{ mailbox_id: DRAFTS, message_id }, 'message_id']),
    ])('%j: 422', async (body, field) => {
      const response = await alice.api.post('/mail/draft/submit', body);
      expect([response.status, response.body.error, response.body.details[0].field]).toEqual([
        422,
        'validation_failed',
        field,
      ]);
      expect(duck.requests).toEqual([]);
    });
  });

  describe('recipients', () => {
    const save = async (user: TestUser, id: number, fields: object) => {
      duck.script = ({ url }) => (url.startsWith('/users/me/') ? stored(id) : undefined);
      expect((await user.api.post('/mail/draft', { mailbox: DRAFTS, draft: true, ...fields })).status).toBe(
        200,
      );
    };
    const to = (...addresses: string[]) => ({ to: addresses.map((address) => ({ address, name: '' })) });

    test('of to, cc and bcc are recorded once each, invalid ones are not', async () => {
      const user = await writer();
      await save(user, 1, {
        to: [{ address: 'Bob@Example.com', name: 'Bob B' }, { address: '' }, {}, null, 'x'],
        cc: [
          { address: 'bob@example.com' },
          { address: 'joh' },
          { address: 7 },
          { address: 'erin@example.org', name: 'Erin' },
        ],
        bcc: [{ address: 'secret@example.org' }],
        from: { address: 'me@example.com' },
        replyTo: { address: 'reply@example.com' },
      });
      expect((await recipients(user)).map(({ address, name }) => [address, name])).toEqual([
        ['Bob@Example.com', 'Bob B'],
        ['erin@example.org', 'Erin'],
        ['secret@example.org', ''],
      ]);
      expect(await recipients(alice)).not.toContainEqual(
        expect.objectContaining({ address: 'Bob@Example.com' }),
      );
    });

    test('a message counts once, however often it is saved', async () => {
      const user = await writer();
      await save(user, 1, to('bob@x.example'));
      await save(user, 2, {
        ...to('bob@x.example', 'eve@x.example'),
        replacePrevious: { mailbox: DRAFTS, id: 1 },
      });
      await save(user, 3, { ...to('bob@x.example'), replacePrevious: { id: 2 } });
      duck.script = ({ method }) =>
        method === 'GET'
          ? { status: 200, json: { success: true, ...to('bob@x.example') } }
          : { status: 200, json: { success: true } };
      for (let n = 0; n < 2; n += 1)
        await user.api.post('/mail/draft/submit', { mailbox_id: DRAFTS, message_id: '3' });
      expect(await recipients(user)).toEqual(
        expect.arrayContaining([
          { address: 'bob@x.example', name: '', uses: 1 },
          { address: 'eve@x.example', name: '', uses: 1 },
        ]),
      );
      await save(user, 4, to('bob@x.example'));
      expect((await recipients(user))[0]).toEqual({ address: 'bob@x.example', name: '', uses: 2 });
    });

    test('frequent and recent recipients come first', async () => {
      const user = await writer();
      for (const id of [1, 2]) await save(user, id, to('old@x.example'));
      await app.sql(
        `UPDATE mail_recipients SET rank = rank - 6, last_used_at = last_used_at - interval '180 days' WHERE user_id = $1`,
        [user.id],
      );
      await save(user, 3, to('new@x.example'));
      for (const id of [4, 5]) await save(user, id, to('dear@x.example'));
      expect((await recipients(user)).map(({ address }) => address)).toEqual([
        'dear@x.example',
        'new@x.example',
        'old@x.example',
      ]);
      for (const id of [6, 7, 8]) await save(user, id, to('old@x.example'));
      expect((await recipients(user))[0]!.address).toBe('old@x.example');
    });

    test('are found by a prefix of the address or of a name, in any case, without patterns', async () => {
      const user = await writer();
      await save(user, 1, {
        to: [
          { address: 'Anna.Smith@x.example', name: 'Ánna van Dyk' },
          { address: 'a%b@x.example', name: '' },
        ],
      });
      expect(await suggest(user, 'ANNA')).toEqual(['Anna.Smith@x.example']);
      expect(await suggest(user, 'van')).toEqual(['Anna.Smith@x.example']);
      expect(await suggest(user, 'án')).toEqual(['Anna.Smith@x.example']);
      for (const text of ['smith', '%', '_nna', '', '  ', '\0', '\ud800', 'x.example'])
        expect(await suggest(user, text)).toEqual([]);
      expect(await suggest(user, 'a%')).toEqual(['a%b@x.example']);
      expect(await suggest(alice, 'anna')).toEqual([]);
    });

    test('are bounded: the least used are removed', async () => {
      const user = await writer();
      await app.sql(
        `INSERT INTO mail_recipients (tenant_id, user_id, address_key, address, name, rank, cause)
         SELECT $1, $2, 'p' || n || '@x.example', 'p' || n || '@x.example', '', n / 1000.0, 'x' FROM generate_series(1, 2000) n`,
        [user.tenantId, user.id],
      );
      await save(user, 1, to('a@x.example', 'b@x.example'));
      const rows = await app.sql('SELECT address FROM mail_recipients WHERE user_id = $1 ORDER BY rank', [
        user.id,
      ]);
      expect([rows.length, rows[0].address]).toEqual([2000, 'p3@x.example']);
    });

    test('are listed in pages without gaps', async () => {
      const user = await writer();
      await save(user, 1, to(...Array.from({ length: 25 }, (_, n) => `p${n}@x.example`)));
      const api = app.get(RecipientsApi);
      const seen: string[] = [];
      for (
        let page = await api.list(contextOf(user), null, 10);
        page.length > 0;
        page = await api.list(contextOf(user), page.at(-1)!, 10)
      )
        seen.push(...page.map(({ address }) => address));
      expect(new Set(seen).size).toBe(25);
      expect(seen).toHaveLength(25);
    });

    test('invalid recipients have no effect', async () => {
      const user = await writer();
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.oneof(
              fc.jsonValue(),
              fc.record({
                address: fc.oneof(fc.string({ unit: 'binary' }), fc.emailAddress()),
                name: fc.jsonValue(),
              }),
            ),
          ),
          async (list) => {
            duck.script = ({ url }) => (url.startsWith('/users/me/') ? stored(1) : undefined);
            const { status } = await user.api.post('/mail/draft', {
              mailbox: DRAFTS,
              to: list,
              cc: list[0],
            });
            // 422: lone surrogates and NUL are rejected everywhere.
            return status === 200 || status === 422;
          },
        ),
        { numRuns: runs(60) },
      );
    });
  });

  describe('GET /mail/attachment', () => {
    const path = (over: Record<string, string> = {}) =>
      `/mail/attachment?${new URLSearchParams({ mailbox_id: INBOX, message_id: '1', attachment_id: 'ATT00001', filename: 'dot.png', ...over }).toString()}`;
    const bytes = async (url: string) => {
      const response = await fetch(`${app.base}/apis/v1${url}`, {
        headers: { authorization: `Bearer ${alice.token}` },
      });
      return { response, body: Buffer.from(await response.arrayBuffer()) };
    };

    test('returns the bytes as a download that browsers do not run', async () => {
      const { response, body } = await bytes(path());
      expect(response.status).toBe(200);
      expect(body.toString('base64')).toBe(capture('get-attachment').bytes);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'image/png',
        'content-disposition': 'attachment; filename=dot.png',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
        'cache-control': 'private, no-store',
      });
      for (const name of ['server', 'set-cookie', 'access-control-allow-origin', 'vary'])
        expect(response.headers.has(name)).toBe(false);
      expect(duck.mail[0]).toMatchObject({
        url: `/users/me/mailboxes/${INBOX}/messages/1/attachments/ATT00001`,
        headers: { accept: '*/*' },
      });
    });

    test.each([
      'text/html',
      'TEXT/HTML; charset=utf-8',
      'image/svg+xml',
      'application/xhtml+xml',
      'text/javascript',
      'application/xml',
      'x',
      '',
      'a/b\tc',
      'message/rfc822',
    ])('sent as %j it is bytes without a meaning', async (type) => {
      duck.script = (_, response) => {
        response.writeHead(200, type === '' ? {} : { 'Content-Type': type }).end('<script>alert(1)</script>');
        return true;
      };
      const { response, body } = await bytes(path({ filename: 'evil.html' }));
      expect([response.headers.get('content-type'), body.toString()]).toEqual([
        'application/octet-stream',
        '<script>alert(1)</script>',
      ]);
    });

    const FAILURE = JSON.stringify({ error: 'Something broke', code: 'ERR_STREAM' });
    const broken: [string, number, Record<string, string | number>, string][] = [
      ['no content', 204, {}, ''],
      ['a part', 206, { 'Content-Type': 'a/b', 'Content-Range': 'bytes 0-1/9' }, 'xx'],
      ['a compressed response', 200, { 'Content-Type': 'a/b', 'Content-Encoding': 'gzip' }, 'xx'],
      [
        'an error with status 200',
        200,
        { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': FAILURE.length },
        FAILURE,
      ],
      [
        'an error with status 200, without a charset',
        200,
        { 'Content-Type': 'application/json', 'Content-Length': FAILURE.length },
        FAILURE,
      ],
      ['an error cut off', 200, { 'Content-Type': 'application/json', 'Content-Length': 999 }, FAILURE],
    ];
    test.each(broken)('%s is not a file: 500', async (_, status, headers, text) => {
      duck.script = (__, response) => {
        response.writeHead(status, headers).write(text || 'x');
        if (headers['Content-Length'] === 999) setImmediate(() => response.socket?.destroy());
        else response.end();
        return true;
      };
      const { response, body } = await bytes(path());
      expect([response.status, JSON.parse(String(body)).error]).toEqual([500, 'Proxy failed']);
    });

    test.each([
      ['{"error":"a file of a user","code":"x"}', 'application/json', false],
      ['{"answers":[]}', 'application/json; charset=utf-8', true],
      ['{"error":"one of many members","more":1}', 'application/json', true],
      [`{"error":"${'long'.repeat(30_000)}"}`, 'application/json', true],
      ['{"error":', 'application/json', true],
    ])('%.40s is a file', async (text, type, withLength) => {
      duck.script = (_, response) => {
        const length = withLength ? { 'Content-Length': Buffer.byteLength(text) } : {};
        response.writeHead(200, { 'Content-Type': type, ...length }).end(text);
        return true;
      };
      const { response, body } = await bytes(path({ filename: 'answer.json' }));
      expect([response.status, body.toString()]).toEqual([200, text]);
    });

    test('any file name gives a correct header', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc
            .string({ unit: 'binary', minLength: 1, maxLength: 60 })
            .filter((text) => text.isWellFormed() && !text.includes('\0')),
          async (filename) => {
            duck.script = (_, response) => (
              response.writeHead(200, { 'Content-Type': 'a/b' }).end('x'),
              true
            );
            const { response } = await bytes(path({ filename }));
            const header = response.headers.get('content-disposition') ?? '';
            const { type, parameters } = parse(header);
            return (
              response.status === 200 &&
              type === 'attachment' &&
              !/[\r\n/\\]/.test(parameters['filename'] ?? '/') &&
              /^[\x20-\x7e]*$/.test(header)
            );
          },
        ),
        { numRuns: runs(80) },
      );
      expect(
        (await bytes(path({ filename: 'Übersicht ✓.pdf' }))).response.headers.get('content-disposition'),
      ).toBe(`attachment; filename="Ubersicht _.pdf"; filename*=UTF-8''%C3%9Cbersicht%20%E2%9C%93.pdf`);
    });

    test.each([
      ['get-attachment-missing', { attachment_id: 'ATT99999' }],
      ['get-attachment-missing-message', { message_id: '9999' }],
      ['get-mailbox-missing', { mailbox_id: NOWHERE }],
    ])('%s keeps its status and JSON', async (label, over) => {
      const each = capture(label);
      duck.script = () => ({ status: each.status, json: each.json });
      const { status, body, headers } = await alice.api.get(path(over));
      expect([status, body, headers.get('content-disposition')]).toEqual([each.status, each.json, null]);
    });

    test.each([
      [{ mailbox_id: 'x' }, 'mailbox_id'],
      [{ mailbox_id: `${INBOX}/../..` }, 'mailbox_id'],
      [{ message_id: '01' }, 'message_id'],
      [{ message_id: '1/../2' }, 'message_id'],
      [{ attachment_id: 'xyz' }, 'attachment_id'],
      [{ attachment_id: 'ATT1/../../2' }, 'attachment_id'],
      [{ filename: '' }, 'filename'],
      [{ filename: 'x'.repeat(1001) }, 'filename'],
    ])('%j: 422', async (over: Record<string, string>, field) => {
      const { status, body } = await alice.api.get(path(over));
      expect([status, body.error, body.details[0].field]).toEqual([422, 'validation_failed', field]);
      expect(duck.mail).toEqual([]);
    });

    test('each parameter is required exactly once', async () => {
      for (const name of ['mailbox_id', 'message_id', 'attachment_id', 'filename']) {
        const without = path().replace(new RegExp(`${name}=[^&]*&?`), '');
        expect([name, (await alice.api.get(without)).status]).toEqual([name, 422]);
        expect([name, (await alice.api.get(`${path()}&${name}=x`)).status]).toEqual([name, 422]);
      }
      expect(duck.mail).toEqual([]);
    });

    test('20 MB are streamed, with and without a length', async () => {
      const chunk = randomBytes(64 * 1024);
      const pieces = 320;
      const digest = createHash('sha256');
      for (let n = 0; n < pieces; n += 1) digest.update(chunk);
      const expected = digest.digest('hex');
      for (const length of [undefined, chunk.length * pieces]) {
        duck.script = async (_, response) => {
          response.writeHead(200, {
            'Content-Type': 'application/zip',
            ...(length !== undefined && { 'Content-Length': length }),
          });
          for (let n = 0; n < pieces; n += 1)
            if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve));
          response.end();
          return true as const;
        };
        const response = await fetch(`${app.base}/apis/v1${path()}`, {
          headers: { authorization: `Bearer ${alice.token}` },
        });
        const got = createHash('sha256');
        for await (const part of response.body!) got.update(part);
        expect(got.digest('hex')).toBe(expected);
        expect(response.headers.get('content-length')).toBe(length === undefined ? null : String(length));
      }
    });

    test('backpressure reaches the mail service; a disconnect ends the download', async () => {
      let written = 0;
      let closed = false;
      const chunk = Buffer.alloc(64 * 1024);
      duck.script = (_, response) => {
        response.writeHead(200, { 'Content-Type': 'application/zip' });
        response.on('close', () => (closed = true));
        const more = (): void => {
          while (!response.destroyed && written < 2_000 && response.write(chunk)) written += 1;
          written += 1;
          if (!closed && written < 2_000) response.once('drain', more);
        };
        more();
        return true;
      };
      const { hostname, port } = new URL(app.base);
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.write(
        `GET /apis/v1${path()} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${alice.token}\r\n\r\n`,
      );
      await new Promise((resolve) => socket.once('data', resolve));
      socket.pause();
      // The transfer has paused when two consecutive reads are equal.
      let before = -1;
      await until('the stream to pause', () => {
        const still = before === written;
        before = written;
        return still;
      });
      expect(written).toBeLessThan(1_000);
      socket.destroy();
      await until('the disconnect at the mail service', () => closed);
    });

    test.each([
      ['in the middle of chunks', {}],
      ['short of its length', { 'Content-Length': '1000000' }],
    ])('a download that ends %s breaks', async (_, headers) => {
      duck.script = (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/zip', ...headers });
        response.write(Buffer.alloc(100_000), () => response.socket?.destroy());
        return true;
      };
      await expect(bytes(path())).rejects.toThrow();
    });

    test('a download that stalls is aborted', async () => {
      duck.script = (_, response) => {
        response.writeHead(200, { 'Content-Type': 'application/zip' });
        response.write('beginning');
        return true;
      };
      const hasty = await TestApp.start(
        { ...duck.settings, MAIL_SERVICE_TIMEOUT_MS: '700' },
        app.databaseUrl,
      );
      const response = await fetch(`${hasty.base}/apis/v1${path()}`, {
        headers: { authorization: `Bearer ${alice.token}` },
      });
      expect(response.status).toBe(200);
      await expect(response.arrayBuffer()).rejects.toThrow();
      await hasty.stop();
    });
  });
});
