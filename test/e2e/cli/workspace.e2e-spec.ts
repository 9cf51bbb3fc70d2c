import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { verifyPassword } from '../../../src/platform/secrets/password-hash.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { type CliResult, json, spawnWorkspace, workspace } from '../../support/installation/cli.ts';
import { emptyDatabase } from '../../support/database/database.ts';
import { until } from '../../support/until.ts';

const PEOPLE = {
  tenants: [
    {
      slug: 'acme',
      name: 'Acme',
      domains: ['acme.example'],
      users: [
        { email: 'Alice@acme.example', name: 'Alice', password: 'correct horse', role: 'owner' },
        { email: 'bob@acme.example', name: 'Bob' },
      ],
    },
    {
      slug: 'beta',
      name: 'Beta',
      users: [{ email: 'alice@ACME.example', name: 'Alice B', password: 'another one' }],
    },
    { slug: 'empty' },
  ],
  accounts: [{ email: 'zoe@nowhere.example', name: 'Zoe' }],
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const JWT = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

describe('workspace, the admin command line', () => {
  let app: TestApp;
  let directory: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    app = await TestApp.start();
    env = { DATABASE_URL: app.databaseUrl };
    directory = mkdtempSync(path.join(tmpdir(), 'workspace-cli-'));
  });
  afterAll(async () => {
    await app?.stop();
    if (directory) rmSync(directory, { recursive: true, force: true });
  });

  const run = (...args: string[]) => workspace(env, ...args);
  const file = (content: unknown): string => {
    const name = path.join(directory, `people-${Math.random()}.json`);
    writeFileSync(name, typeof content === 'string' ? content : JSON.stringify(content));
    return name;
  };
  const succeeded = (result: CliResult): CliResult => {
    expect({ code: result.code, stderr: result.stderr }).toEqual({ code: 0, stderr: '' });
    return result;
  };
  const failed = ({ code, stdout, stderr }: CliResult): string => {
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^[^\n]/);
    expect(stderr).not.toMatch(/^\s+at /m);
    return stderr;
  };
  const everything = () =>
    Promise.all(
      [
        'SELECT id, email, display_name, password_hash, status, updated_at FROM accounts ORDER BY id',
        'SELECT * FROM tenants ORDER BY id',
        'SELECT * FROM tenant_domains ORDER BY 1, 2',
        'SELECT * FROM tenant_members ORDER BY 1, 2',
        'SELECT * FROM access_changes',
      ].map((sql) => app.sql(sql)),
    );

  describe('provision', () => {
    test('creates and reports the entries of the file; idempotent; tokens are valid at once', async () => {
      const name = file(PEOPLE);
      const first = json(succeeded(await run('provision', '--file', name)));
      const id = expect.stringMatching(UUID);
      expect(first).toEqual({
        users: [
          { email: 'Alice@acme.example', id, tenant: 'acme', tenant_id: id },
          { email: 'bob@acme.example', id, tenant: 'acme', tenant_id: id },
          { email: 'alice@ACME.example', id: first.users[0].id, tenant: 'beta', tenant_id: id },
          { email: 'zoe@nowhere.example', id, tenant: null, tenant_id: null },
        ],
      });
      const members = await app.sql(
        `SELECT t.slug, m.display_name, m.role FROM tenant_members m JOIN tenants t ON t.id = m.tenant_id ORDER BY 1, 2`,
      );
      expect(members).toEqual([
        { slug: 'acme', display_name: 'Alice', role: 'owner' },
        { slug: 'acme', display_name: 'Bob', role: 'member' },
        { slug: 'beta', display_name: 'Alice B', role: 'member' },
      ]);
      const before = await everything();
      expect(before[2]).toMatchObject([{ domain: 'acme.example', verified_at: expect.any(Date) }]);

      const second = json(succeeded(await spawnWorkspace(env, 'provision', '--file', name, '--tokens')));
      expect(await everything()).toEqual(before);
      expect(second).toEqual({
        users: first.users.map((user: object) => ({ ...user, token: expect.stringMatching(JWT) })),
      });
      for (const { token, tenant } of second.users) {
        expect((await app.as(token).get('/notes')).status).toBe(tenant === null ? 403 : 200);
      }
    });

    test('updates names and roles of the file; passwords stay', async () => {
      const [{ password_hash: hash }] = (await app.sql(
        `SELECT password_hash FROM accounts WHERE email_key = 'alice@acme.example'`,
      )) as [{ password_hash: string }];
      expect(hash).toMatch(/^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$/);
      const users = [
        { email: 'ALICE@acme.example', name: 'Alice Liddell', password: 'a new password' },
        { email: 'bob@acme.example', name: 'Bob', role: 'admin' },
      ];
      succeeded(await run('provision', '--file', file({ tenants: [{ slug: 'acme', users }] })));
      const [{ name }] = (await app.sql(`SELECT name FROM tenants WHERE slug = 'acme'`)) as [
        { name: string },
      ];
      expect(name).toBe('Acme');
      const members = await app.sql(
        `SELECT m.display_name, m.role FROM tenant_members m JOIN tenants t ON t.id = m.tenant_id WHERE slug = 'acme' ORDER BY 1`,
      );
      expect(members).toEqual([
        { display_name: 'Alice Liddell', role: 'owner' },
        { display_name: 'Bob', role: 'admin' },
      ]);
      const accounts = await app.sql(
        `SELECT display_name, password_hash FROM accounts WHERE email_key = 'alice@acme.example'`,
      );
      expect(accounts).toEqual([{ display_name: 'Alice Liddell', password_hash: hash }]);
      expect([
        await verifyPassword(hash, 'correct horse'),
        await verifyPassword(hash, 'a new password'),
      ]).toEqual([true, false]);
    });

    test('names each invalid entry of a file, and applies nothing', async () => {
      const wrong = {
        tenants: [
          {
            slug: 'Bad Slug',
            users: [
              { email: 'x', name: '' },
              { email: 'ok@ok.example', name: 'Ok', role: 'boss' },
              'text',
              null,
            ],
          },
          {
            slug: 'fine',
            domains: ['not a domain'],
            users: [{ email: 'good@fine.example', name: 'Good', password: 'short' }],
          },
          { slug: 'odd', users: 'none' },
        ],
        accounts: [{ name: 'No address' }],
      };
      const stderr = failed(await run('provision', '--file', file(wrong)));
      const paths = stderr
        .trim()
        .split('\n')
        .map((line) => line.split(':')[0]);
      expect(new Set(paths)).toEqual(
        new Set([
          'tenants.0.slug',
          'tenants.0.users.0.email',
          'tenants.0.users.0.name',
          'tenants.0.users.1.role',
          'tenants.0.users.2',
          'tenants.0.users.3',
          'tenants.1.domains',
          'tenants.1.users.0.password',
          'tenants.2.users',
          'accounts.0.email',
        ]),
      );
      expect(await app.sql(`SELECT 1 FROM accounts WHERE email_key = 'good@fine.example'`)).toEqual([]);
    });

    test.each<[string, () => string[], RegExp]>([
      ['a missing file', () => ['--file', path.join(directory, 'none.json')], /none\.json/],
      ['a file that is no JSON', () => ['--file', file('{"tenants":')], /the file must contain JSON/],
      ['a file that holds a list', () => ['--file', file([])], /JSON object/],
      ['no file', () => [], /--file/],
    ])('fails for %s', async (_, args, message) => {
      expect(failed(await run('provision', ...args()))).toMatch(message);
    });
  });

  describe('token, session revoke, user deactivate, keys rotate', () => {
    test('token prints only a token, with or without workspace, with the given lifetime', async () => {
      const { stdout } = succeeded(
        await run('token', '--email', 'BOB@acme.example', '--tenant', 'acme', '--ttl', '90'),
      );
      expect(stdout.trimEnd()).toMatch(JWT);
      const claims = decodeJwt(stdout.trimEnd());
      expect([claims['tid'] !== undefined, (claims.exp as number) - (claims.iat as number)]).toEqual([
        true,
        90,
      ]);
      expect((await app.as(stdout.trimEnd()).get('/notes')).status).toBe(200);
      const bare = succeeded(
        await workspace({ ...env, TOKEN_TTL: '60' }, 'token', '--email', 'zoe@nowhere.example'),
      );
      const { exp, iat, ...rest } = decodeJwt(bare.stdout.trimEnd());
      expect([rest['tid'], (exp as number) - (iat as number)]).toEqual([undefined, 60]);
    });

    test.each([
      ['an unknown address', ['token', '--email', 'nobody@acme.example'], /No account.*nobody@acme\.example/],
      [
        'an unknown workspace',
        ['token', '--email', 'bob@acme.example', '--tenant', 'nowhere'],
        /workspace "nowhere" does not exist/,
      ],
      [
        'a user of another workspace',
        ['token', '--email', 'bob@acme.example', '--tenant', 'beta'],
        /not an active member of "beta"/,
      ],
      ['a lifetime of 0', ['token', '--email', 'bob@acme.example', '--ttl', '0'], /--ttl/],
      ['no address', ['token'], /--email/],
      ['an unknown address (revoke)', ['session', 'revoke', '--email', 'nobody@acme.example'], /No account/],
      [
        'an unknown address (deactivate)',
        ['user', 'deactivate', '--email', 'nobody@acme.example'],
        /No account/,
      ],
      ['an unknown command', ['destroy'], /unknown command/],
    ])('fails for %s', async (_, args, message) => {
      expect(failed(await run(...args))).toMatch(message);
    });

    test('a running server applies each of them within 5 seconds', async () => {
      const issue = async (slug: string) =>
        app.as(
          succeeded(await run('token', '--email', 'alice@acme.example', '--tenant', slug)).stdout.trimEnd(),
        );
      const gone = async (client: { get: (path: string) => Promise<{ status: number }> }) => {
        await app.readAccessChanges();
        await until('401', async () => (await client.get('/notes')).status === 401);
      };

      const rotated = json(succeeded(await run('keys', 'rotate')));
      const [acme, beta] = [await issue('acme'), await issue('beta')];
      expect(decodeProtectedHeader(acme.token as string).kid).toBe(rotated.kid);
      expect([(await acme.get('/notes')).status, (await beta.get('/notes')).status]).toEqual([200, 200]);

      const close = () => run('user', 'deactivate', '--email', 'Alice@acme.example', '--tenant', 'acme');
      expect(failed(await close())).toMatch(/must keep an active owner/);
      const users = [{ email: 'bob@acme.example', name: 'Bob', role: 'owner' }];
      succeeded(await run('provision', '--file', file({ tenants: [{ slug: 'acme', users }] })));
      const member = json(succeeded(await close()));
      expect(member).toEqual({ email: 'Alice@acme.example', tenant: 'acme', status: 'deactivated' });
      await gone(acme);
      expect((await beta.get('/notes')).status).toBe(200);
      expect(failed(await run('token', '--email', 'alice@acme.example', '--tenant', 'acme'))).toMatch(
        /not an active member/,
      );

      const revoked = json(succeeded(await run('session', 'revoke', '--email', 'alice@acme.example')));
      expect(revoked).toEqual({ email: 'alice@acme.example', revoked_sessions: expect.any(Number) });
      expect(revoked.revoked_sessions).toBeGreaterThanOrEqual(2);
      await gone(beta);

      const again = await issue('beta');
      expect((await again.get('/notes')).status).toBe(200);
      expect(
        json(succeeded(await run('user', 'deactivate', '--email', 'alice@acme.example'))).tenant,
      ).toBeNull();
      await gone(again);
      expect(failed(await run('token', '--email', 'alice@acme.example'))).toMatch(/deactivated/);

      expect(json(succeeded(await run('user', 'activate', '--email', 'alice@acme.example'))).status).toBe(
        'active',
      );
      await gone(again);
      expect((await (await issue('beta')).get('/notes')).status).toBe(200);
      for (const name of ['deactivate', 'deactivate', 'activate'])
        succeeded(await run('user', name, '--email', 'alice@acme.example', '--tenant', 'acme'));
      expect((await (await issue('acme')).get('/notes')).status).toBe(200);
      const { stdout: log } = succeeded(await run('audit', '--tenant', 'acme', '--limit', '3'));
      expect(
        log
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toMatchObject([
        { action: 'user.deactivated', origin: 'cli', object_kind: 'user' },
        { action: 'user.activated' },
        { action: 'identity.token.issued', origin: 'cli' },
      ]);
    });

    test('reopening an account restores no membership that ended before, and no session of a membership', async () => {
      const [gus, dana] = await app.tenant('gamma', 'gus', 'dana');
      const [eve] = await app.tenant('delta', 'eve');
      await app.member('delta', dana.email);
      const set = async (name: string, ...more: string[]) =>
        succeeded(await run('user', name, '--email', dana.email, ...more));
      await set('deactivate', '--tenant', 'gamma');
      await set('activate', '--tenant', 'gamma');
      await app.readAccessChanges();
      expect((await dana.api.get('/notes')).status).toBe(401);

      const directory = async () => JSON.stringify((await gus.api.get('/contact/directory')).body);
      expect(await directory()).toContain(dana.email);
      expect((await gus.api.post(`/tenant/members/${dana.id}/deactivate`)).status).toBe(200);
      await set('deactivate');
      await set('activate');
      const statusIn = async (owner: TestUser) =>
        (await owner.api.get('/tenant/members')).body.members.find((row: any) => row.user_id === dana.id)
          .status;
      expect([await statusIn(gus), await statusIn(eve)]).toEqual(['deactivated', 'active']);
      expect(await directory()).not.toContain(dana.email);
      const entries = async (owner: TestUser) =>
        (await owner.api.get(`/tenant/audit?object_id=${dana.id}`)).body.events
          .filter(({ action }: any) => /^user\.(de)?activated$/.test(action))
          .map(({ origin, action, data }: any) => [origin, action, data.with_account ?? false]);
      expect(await entries(gus)).toEqual([
        ['api', 'user.deactivated', false],
        ['cli', 'user.activated', false],
        ['cli', 'user.deactivated', false],
      ]);
      expect(await entries(eve)).toEqual([
        ['cli', 'user.activated', true],
        ['cli', 'user.deactivated', true],
      ]);
      await set('activate', '--tenant', 'gamma');
      expect(await statusIn(gus)).toBe('active');
    });

    test('feeds expire: previous cursors are invalid in processes started later', async () => {
      const { stdout } = succeeded(await run('token', '--email', 'bob@acme.example', '--tenant', 'acme'));
      const api = app.as(stdout.trim());
      const { cursor } = (await api.get('/notes/changes')).body;
      expect(json(succeeded(await run('feeds', 'expire')))).toEqual({ cursors: 'expired' });
      const later = await TestApp.start({}, app.databaseUrl);
      try {
        expect((await later.as(api.token as string).get(`/notes/changes?cursor=${cursor}`)).status).toBe(410);
        expect((await later.as(api.token as string).get('/notes/changes')).status).toBe(200);
      } finally {
        await later.stop();
      }
    });
  });

  describe('migrate, help, settings', () => {
    test('migrate works on an empty database, once, from several processes at a time', async () => {
      const empty = await emptyDatabase();
      try {
        const results = await Promise.all(
          [1, 2].map(() => spawnWorkspace({ DATABASE_URL: empty.url }, 'migrate')),
        );
        const applied = results.map((result) => json(succeeded(result)).applied as string[]);
        const all = await app.sql<{ name: string }>('SELECT name FROM schema_migrations ORDER BY id');
        expect(applied.filter((names) => names.length > 0)).toEqual([all.map(({ name }) => name)]);
        expect(json(succeeded(await workspace({ DATABASE_URL: empty.url }, 'migrate')))).toEqual({
          applied: [],
        });
      } finally {
        await empty.drop();
      }
    });

    test('every command has help without settings', async () => {
      const commands = [
        [],
        ['provision'],
        ['token'],
        ['session'],
        ['session', 'revoke'],
        ['user'],
        ['user', 'deactivate'],
        ['user', 'activate'],
        ['feeds'],
        ['feeds', 'expire'],
        ['keys'],
        ['keys', 'rotate'],
        ['migrate'],
      ];
      for (const command of commands) {
        const help = succeeded(await workspace({ DATABASE_URL: 'nonsense' }, ...command, '--help'));
        expect(help.stdout).toContain(`Usage: ${['workspace', ...command].join(' ')}`);
      }
    });

    test('invalid settings are named, exit code 78; a missing database is a one-line error', async () => {
      const [invalid, unreachable] = await Promise.all([
        spawnWorkspace({ DATABASE_URL: 'nonsense', TOKEN_TTL: 'soon' }, 'migrate'),
        spawnWorkspace({ DATABASE_URL: 'postgres://u:secret@localhost:1/none' }, 'migrate'),
      ]);
      expect([invalid.code, invalid.stdout]).toEqual([78, '']);
      expect(invalid.stderr).toMatch(/DATABASE_URL.*\n(.*\n)*TOKEN_TTL|TOKEN_TTL.*\n(.*\n)*DATABASE_URL/);
      expect(failed(unreachable)).toMatch(/database.*ECONNREFUSED/i);
      expect(unreachable.stderr).not.toContain('secret');
    });

    test('starts the embedded database for the duration if no server runs', async () => {
      const data = { DATA_DIR: path.join(directory, 'data') };
      const name = file({ tenants: [{ slug: 'solo', users: [{ email: 'ann@solo.example', name: 'Ann' }] }] });
      const [first, second] = [
        await spawnWorkspace(data, 'provision', '--file', name, '--tokens'),
        await workspace(data, 'token', '--email', 'ann@solo.example', '--tenant', 'solo'),
      ];
      const [user] = json(succeeded(first)).users;
      const claims = decodeJwt(succeeded(second).stdout.trimEnd());
      expect([claims.sub, claims['tid']]).toEqual([user.id, user.tenant_id]);
    });
  });
});
