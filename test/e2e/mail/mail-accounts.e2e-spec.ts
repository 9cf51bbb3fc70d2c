import { SecretBox } from '../../../src/platform/secrets/secret-box.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { json, spawnWorkspace, spawnWorkspaceWith, workspace } from '../../support/installation/cli.ts';
import { INBOX, type Recorded, WildDuck } from '../../support/mail/wild-duck.ts';

const BOXES = '/mail/users/me/mailboxes';

describe('mail accounts', () => {
  let duck: WildDuck;
  let app: TestApp;
  let tenants = 0;

  beforeAll(async () => {
    duck = await WildDuck.start();
    app = await TestApp.start(duck.settings);
  });
  beforeEach(() => duck.clear());
  afterAll(async () => {
    await app?.stop();
    await duck?.stop();
  });

  const user = async (name = 'alice'): Promise<TestUser> => (await app.tenant(`t${(tenants += 1)}`, name))[0];
  const account = async ({ id }: TestUser) =>
    (await app.sql('SELECT * FROM mail_accounts WHERE user_id = $1', [id]))[0];
  const asked = () => duck.requests.map(({ method, url }) => `${method} ${url}`);
  const tokenOf = ({ headers }: Recorded) => headers['x-access-token'];
  const ready = (who: TestUser) =>
    app.sql('UPDATE mail_accounts SET retry_at = NULL WHERE user_id = $1', [who.id]);

  test('are created on first use and reused', async () => {
    const alice = await user();
    expect((await alice.api.get(BOXES)).status).toBe(200);
    expect((await alice.api.get(BOXES)).status).toBe(200);
    expect(asked()).toEqual([
      'POST /users',
      'POST /authenticate',
      'GET /users/me/mailboxes',
      'GET /users/me/mailboxes',
    ]);
    const [create, logIn, first, second] = duck.requests as [Recorded, Recorded, Recorded, Recorded];
    expect(create.body).toEqual({
      username: expect.stringMatching(/^w[0-9a-f]{31}$/),
      password: expect.stringMatching(/^[\w-]{32}$/),
      address: alice.email,
      name: 'Alice',
    });
    expect(logIn.body).toEqual({
      username: create.body.username,
      password: create.body.password,
      token: true,
      scope: 'master',
      ip: expect.stringMatching(/127\.0\.0\.1$/),
    });
    expect([tokenOf(create), tokenOf(logIn)]).toEqual([duck.serviceToken, duck.serviceToken]);
    expect(tokenOf(first)).toMatch(/^[0-9a-f]{40}$/);
    expect(tokenOf(first)).not.toBe(duck.serviceToken);
    expect(tokenOf(second)).toBe(tokenOf(first));
  });

  test('passwords and tokens are stored encrypted and bound to their owner', async () => {
    const alice = await user();
    await alice.api.get(BOXES);
    const row = await account(alice);
    const { password } = duck.requests[0]!.body;
    const stored = JSON.stringify(
      Object.values(row).map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : value)),
    );
    expect(stored).not.toContain(password);
    expect(stored).not.toContain(tokenOf(duck.requests[2]!));
    const box = app.get(SecretBox);
    const owner = `${alice.tenantId}:${alice.id}`;
    expect(box.open('mail password', owner, row.password).toString()).toBe(password);
    expect(() => box.open('mail password', 'another user', row.password)).toThrow();
    expect(() => box.open('mail token', owner, row.password)).toThrow();
  });

  test('an expired token is renewed once and the request is repeated', async () => {
    const alice = await user();
    await alice.api.get(BOXES);
    duck.requests.length = 0;
    duck.killTokens();
    const response = await alice.api.put(`${BOXES}/${INBOX}/messages`, { message: [1], seen: true });
    expect(response.status).not.toBe(403);
    expect(asked()).toEqual([
      `PUT /users/me/mailboxes/${INBOX}/messages`,
      'POST /authenticate',
      `PUT /users/me/mailboxes/${INBOX}/messages`,
    ]);
    expect((await account(alice)).token_version).toBe(2);
  });

  test.each([
    [401, { error: 'x' }],
    [403, { code: 'InvalidToken', message: 'Invalid accessToken value' }],
    [403, { error: 'Not enough privileges', code: 'MissingPrivileges' }],
  ])('a service that rejects every token (%i %j) is our failure, not the caller’s', async (status, body) => {
    const alice = await user();
    duck.script = ({ url }) => (url.startsWith('/users/me/') ? { status, json: body } : undefined);
    for (const path of [
      BOXES,
      `/mail/attachment?mailbox_id=${INBOX}&message_id=1&attachment_id=ATT1&filename=a`,
    ]) {
      duck.requests.length = 0;
      const response = await alice.api.get(path);
      expect([response.status, response.body.error]).toEqual([500, 'Proxy failed']);
      expect(duck.mail).toHaveLength(2);
    }
  });

  test('other 403 responses reach the caller', async () => {
    const alice = await user();
    duck.script = ({ url }) =>
      url.startsWith('/users/me/')
        ? { status: 403, json: { error: 'User is disabled', code: 'UserDisabled' } }
        : undefined;
    expect(await alice.api.get(BOXES)).toMatchObject({ status: 403, body: { code: 'UserDisabled' } });
    expect(duck.mail).toHaveLength(1);
  });

  test('after a rejected password, the account is not used for a while', async () => {
    const alice = await user();
    await alice.api.get(BOXES);
    const { username } = duck.requests[0]!.body;
    const known = duck.accounts.get(username)!;
    const { password } = known;
    known.password = 'changed there';
    duck.killTokens();
    duck.requests.length = 0;
    for (let n = 0; n < 3; n += 1)
      expect(await alice.api.get(BOXES)).toMatchObject({ status: 500, body: { error: 'Proxy failed' } });
    expect(asked().filter((each) => each === 'POST /authenticate')).toHaveLength(1);
    known.password = password;
    await ready(alice);
    expect((await alice.api.get(BOXES)).status).toBe(200);
  });

  test('an account whose creation was interrupted by a crash is found again', async () => {
    const alice = await user();
    let calls = 0;
    duck.script = ({ url }, response) => {
      if (url !== '/authenticate' || (calls += 1) > 1) return undefined;
      response.socket?.destroy();
      return true;
    };
    expect((await alice.api.get(BOXES)).status).toBe(500);
    expect((await account(alice)).mail_user_id).toBeNull();
    expect((await alice.api.get(BOXES)).status).toBe(200);
    expect(asked().slice(0, 5)).toEqual([
      'POST /users',
      'POST /authenticate',
      'POST /users',
      'POST /authenticate',
      'GET /users/me/mailboxes',
    ]);
  });

  test('a taken address requires a linked account', async () => {
    const alice = await user();
    duck.add('taken', 'x', alice.email);
    expect(await alice.api.get(BOXES)).toMatchObject({
      status: 403,
      body: { error: 'mail_account_required' },
    });
    expect(await alice.api.get(BOXES)).toMatchObject({
      status: 403,
      body: { error: 'mail_account_required' },
    });
  });

  test('incomplete responses create no account', async () => {
    for (const script of [
      ({ url }: Recorded) =>
        url === '/users' ? { status: 200, json: { success: true, id: '../../x' } } : undefined,
      ({ url }: Recorded) =>
        url === '/authenticate' ? { status: 200, json: { success: true, id: INBOX } } : undefined,
      ({ url }: Recorded) =>
        url === '/authenticate'
          ? { status: 200, json: { success: true, id: INBOX, token: 'a\r\nb: c' } }
          : undefined,
      ({ url }: Recorded) => (url === '/users' ? { status: 500, json: { error: 'x' } } : undefined),
    ]) {
      const alice = await user();
      duck.script = script;
      expect(await alice.api.get(BOXES)).toMatchObject({ status: 500, body: { error: 'Proxy failed' } });
      expect((await account(alice)).token).toBeNull();
    }
  });

  test('MAIL_ACCOUNT_DOMAIN replaces the domain of addresses', async () => {
    const second = await TestApp.start(
      { ...duck.settings, MAIL_ACCOUNT_DOMAIN: 'mail.example' },
      app.databaseUrl,
    );
    const alice = await user('carla');
    expect((await second.as(alice.token).get(BOXES)).status).toBe(200);
    expect(duck.requests[0]!.body.address).toBe('carla@mail.example');
    await second.stop();
  });

  test('MAIL_ACCOUNTS=link creates no accounts', async () => {
    const second = await TestApp.start({ ...duck.settings, MAIL_ACCOUNTS: 'link' }, app.databaseUrl);
    const alice = await user();
    const response = await second.as(alice.token).get(BOXES);
    expect(response).toMatchObject({ status: 403, body: { error: 'mail_account_required' } });
    expect(duck.requests).toEqual([]);
    await second.stop();
  });

  describe('in mode `service`', () => {
    let service: TestApp;
    beforeAll(async () => {
      service = await TestApp.start({ ...duck.settings, MAIL_SERVICE_MODE: 'service' }, app.databaseUrl);
    });
    afterAll(() => service?.stop());

    test('requests carry the service token and the user’s id', async () => {
      const alice = await user();
      expect((await service.as(alice.token).get(BOXES)).status).toBe(200);
      const { id } = [...duck.accounts.values()].at(-1)!;
      expect(asked()).toEqual(['POST /users', `GET /users/${id}/mailboxes`]);
      expect(tokenOf(duck.requests[1]!)).toBe(duck.serviceToken);
    });

    test('a rejected service token is a 500', async () => {
      const alice = await user();
      duck.script = ({ url }) =>
        url.endsWith('/mailboxes')
          ? { status: 403, json: { code: 'InvalidToken', message: 'x' } }
          : undefined;
      expect(await service.as(alice.token).get(BOXES)).toMatchObject({
        status: 500,
        body: { error: 'Proxy failed' },
      });
      expect(duck.mail).toHaveLength(1);
    });
  });

  describe('workspace mail link', () => {
    const env = () => ({ DATABASE_URL: app.databaseUrl, ...duck.settings, MAIL_ACCOUNTS: 'link' });

    test('links an existing account to one user in one workspace, in all processes within seconds', async () => {
      const alice = await user();
      const { id } = duck.add('alice.real', 'secret word');
      const linked = await workspace(
        env(),
        'mail',
        'link',
        '--email',
        alice.email,
        '--username',
        'alice.real',
        '--password',
        'secret word',
      );
      expect(linked.stderr).toBe('');
      expect(json(linked)).toEqual({ email: alice.email, username: 'alice.real', mail_user_id: id });
      duck.requests.length = 0;
      expect((await alice.api.get(BOXES)).status).toBe(200);
      expect(duck.requests.map(({ as }) => as)).toEqual(['alice.real']);
      duck.killTokens();
      expect((await alice.api.get(BOXES)).status).toBe(200);
      expect(duck.requests.at(-1)!.as).toBe('alice.real');
    });

    test('replaces the previous account', async () => {
      const alice = await user();
      await alice.api.get(BOXES);
      const before = duck.requests[0]!.body.username;
      duck.add('other.account', 'pw');
      await workspace(
        { ...env() },
        'mail',
        'link',
        '--email',
        alice.email,
        '--username',
        'other.account',
        '--password',
        'pw',
      );
      // The old token is cached for a few seconds; when it is rejected, the new account's is used.
      duck.killTokens(before);
      expect((await alice.api.get(BOXES)).status).toBe(200);
      expect(duck.requests.at(-1)!.as).toBe('other.account');
    });

    test('reads the password from the environment', async () => {
      const alice = await user();
      duck.add('by.env', 'from the environment');
      const result = await spawnWorkspace(
        { ...env(), MAIL_ACCOUNT_PASSWORD: 'from the environment' },
        'mail',
        'link',
        '--email',
        alice.email,
        '--username',
        'by.env',
      );
      expect(result).toMatchObject({ code: 0, stderr: '' });
      expect(`${result.stdout}${result.stderr}`).not.toContain('from the environment');
    });

    test('reads the password from standard input', async () => {
      const alice = await user();
      duck.add('by.input', ' from a pipe ');
      const args = ['mail', 'link', '--email', alice.email, '--username', 'by.input', '--password-stdin'];
      expect(await spawnWorkspaceWith(' from a pipe \n', env(), ...args)).toMatchObject({
        code: 0,
        stderr: '',
      });
    });

    test('in mode `service` no password is needed', async () => {
      const alice = await user();
      const { id } = duck.add('without.password', 'never used');
      const result = await workspace(
        { ...env(), MAIL_SERVICE_MODE: 'service' },
        'mail',
        'link',
        '--email',
        alice.email,
        '--username',
        'without.password',
      );
      expect(json(result).mail_user_id).toBe(id);
      expect(asked()).toEqual(['GET /users/resolve/without.password']);
    });

    test('reports the error and changes nothing', async () => {
      const alice = await user();
      duck.add('right', 'right');
      const link = (...args: string[]) => workspace(env(), 'mail', 'link', ...args);
      const named = ['--email', alice.email, '--username', 'right'];
      for (const [result, message] of [
        [await link(...named, '--password', 'wrong'), /rejects the request to log in/],
        [await link(...named), /password/],
        [
          await link('--email', 'nobody@x.example', '--username', 'right', '--password', 'right'),
          /No account/,
        ],
        [await link(...named, '--password', 'right', '--tenant', 'nowhere'), /does not exist/],
        [
          await workspace({ DATABASE_URL: app.databaseUrl }, 'mail', 'link', ...named, '--password', 'right'),
          /Nothing to link: without MAIL_SERVICE_URL/,
        ],
      ] as const) {
        expect([result.code, result.stdout]).toEqual([1, '']);
        expect(result.stderr).toMatch(message);
      }
      const twice = await app.member('t1', alice.email);
      expect((await link(...named, '--password', 'right')).stderr).toMatch(/several workspaces/);
      expect(await account(alice)).toBeUndefined();
      expect(await account(twice)).toBeUndefined();
    });
  });

  test('errors reveal no secret in logs or responses', async () => {
    const lines: string[] = [];
    const write = process.stdout.write.bind(process.stdout);
    process.stdout.write = (text: string | Uint8Array) => {
      lines.push(String(text));
      return true;
    };
    try {
      const loud = await TestApp.start(
        { ...duck.settings, LOG_LEVEL: 'trace', MAIL_SERVICE_TIMEOUT_MS: '700' },
        app.databaseUrl,
      );
      const alice = await user();
      await alice.api.get(BOXES);
      const api = loud.as(alice.token);
      const responses = [await api.get(`${BOXES}?accessToken=query-secret`)];
      const secrets = [
        duck.requests[0]!.body.password,
        tokenOf(duck.requests[2]!),
        duck.serviceToken,
        alice.token,
        'query-secret',
      ];
      for (const script of [
        (_: Recorded, response: any) => (response.socket.destroy(), true),
        () => new Promise<true>(() => undefined),
        ({ headers }: Recorded) => ({ status: 200, json: { error: JSON.stringify(headers) } }),
      ]) {
        duck.script = script as never;
        duck.killTokens();
        responses.push(await api.get(BOXES), await api.post('/mail/draft', { mailbox: INBOX, subject: 'x' }));
      }
      const output = `${lines.join('')}${responses.map(({ text }) => text).join('')}`;
      expect(lines.join('')).toContain('the mail service sent no usable response');
      for (const secret of secrets) expect(output).not.toContain(secret);
      await loud.stop();
    } finally {
      process.stdout.write = write;
    }
  });
});
