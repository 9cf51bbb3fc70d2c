import fc from 'fast-check';
import { IdentityApi } from '../../../src/modules/identity/identity.api.js';
import { Db } from '../../../src/platform/database/db.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { TestIssuer } from '../../support/sign-in/issuer.ts';
import { until } from '../../support/until.ts';
import { runs } from '../../support/property-runs.ts';

describe('tokens of an external issuer', () => {
  let issuer: TestIssuer;
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let frank: TestUser;

  const settings = () => ({ OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: 'workspace-api', LOG_LEVEL: 'error' });

  beforeAll(async () => {
    issuer = await TestIssuer.start();
    app = await TestApp.start(settings());
    [alice, bob, frank] = await app.tenant('acme', 'alice', 'bob', 'frank');
  });
  afterAll(async () => {
    await app?.stop();
    await issuer?.down();
  });

  const call = async (claims: Record<string, unknown>): Promise<ApiResponse> =>
    app.as(await issuer.token(claims)).get('/notes');
  const verified = (email: string) => ({ email, email_verified: true });
  const isRefused = ({ status, headers }: ApiResponse) =>
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);

  test('are accepted by verified address, in the workspace that they name by slug or id', async () => {
    const { body } = await alice.api.post('/notes', { title: "Alice's" });
    for (const claim of [{ tid: 'acme' }, { tid: alice.tenantId }, { tenant: 'acme' }]) {
      const response = await call({ sub: 'sub-alice', ...verified('ALICE@acme.example'), ...claim });
      expect([response.status, response.body.notes?.[0]?.id]).toEqual([200, body.note.id]);
    }
    const bare = await call({ sub: 'sub-alice' });
    expect([bare.status, bare.body.error]).toEqual([403, 'workspace_forbidden']);
    isRefused(await call({ sub: 'sub-alice', tid: 'no-such-workspace' }));
    await app.tenant('other', 'owner');
    isRefused(await call({ sub: 'sub-alice', tid: 'other' }));
  });

  test('identify the account by subject afterwards, even with another address', async () => {
    const claims = { sub: 'sub-bob', tid: 'acme' };
    expect((await call({ ...claims, ...verified(bob.email) })).status).toBe(200);
    expect((await call({ ...claims, ...verified('robert@elsewhere.example') })).status).toBe(200);
    expect((await call({ ...claims, ...verified(alice.email) })).body.notes).toEqual([]);
    expect((await call(claims)).status).toBe(200);
  });

  test('do not take over an account that belongs to another subject', async () => {
    expect((await call({ sub: 'sub-alice', ...verified(alice.email), tid: 'acme' })).status).toBe(200);
    isRefused(await call({ sub: 'sub-mallory', ...verified(alice.email), tid: 'acme' }));
  });

  test('need an address that the issuer verified and that belongs to an account', async () => {
    for (const claims of [
      { email: frank.email },
      { email: frank.email, email_verified: false },
      { email: frank.email, email_verified: 'true' },
      verified('nobody@acme.example'),
      // Equal in appearance and under compatibility folding, but another mailbox.
      verified('ｆｒａｎｋ@acme.example'),
      verified('fran\u212a@acme.example'),
      {},
    ]) {
      isRefused(await call({ sub: 'sub-frank', tid: 'acme', ...claims }));
    }
    expect((await call({ sub: 'sub-frank', tid: 'acme', ...verified(frank.email) })).status).toBe(200);
  });

  test.each([
    ['another audience', { aud: 'another-service' }],
    ['no audience', { aud: undefined }],
    ['expired', { exp: Math.floor(Date.now() / 1000) - 120 }],
    ['no expiry', { exp: undefined }],
    ['no subject', { sub: undefined }],
    ['another issuer', { iss: 'http://127.0.0.1:9/other' }],
  ])('with %s are rejected', async (_, claims) => {
    isRefused(await call({ sub: 'sub-alice', tid: 'acme', ...verified(alice.email), ...claims }));
  });

  test('signed with a foreign key are rejected', async () => {
    const impostor = await TestIssuer.start();
    try {
      const token = await impostor.token({ iss: issuer.url, sub: 'sub-alice', tid: 'acme' });
      isRefused(await app.as(token).get('/notes'));
    } finally {
      await impostor.down();
    }
  });

  test.each<[string, Record<string, unknown>]>([
    ['iat in the future', { iat: Math.floor(Date.now() / 1000) + 3600 }],
    ['iat out of range', { iat: -1e300 }],
    ['exp out of range', { exp: 1e300 }],
    ['NUL in sub', { sub: 'sub\0alice' }],
    ['NUL in email', { sub: 'sub-nul', ...verified('al\0ice@acme.example') }],
    ['NUL in tid', { tid: 'ac\0me' }],
    ['half a surrogate pair in sub', { sub: 'sub-\ud800' }],
    ['a long sub', { sub: 'x'.repeat(5_000) }],
    ['an object as sub', { sub: {} }],
  ])('with %s are rejected', async (_, claims) => {
    isRefused(await call({ sub: 'sub-alice', tid: 'acme', ...verified(alice.email), ...claims }));
  });

  test('with any claims never cause a 500', async () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 50 }),
      fc.constantFrom('\0', '\ud800', 'acme', alice.email, 'x'.repeat(1_000)),
      fc.double(),
      fc.constantFrom(null, true, [], {}, -1, 1e300),
    );
    const claims = fc.record(
      {
        sub: value,
        email: value,
        email_verified: fc.boolean(),
        tid: value,
        tenant: value,
        iat: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(-1, 1e300)),
        // The library that signs accepts finite numbers only.
        nbf: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(-1, 1e300)),
      },
      { requiredKeys: ['sub'] },
    );
    await fc.assert(
      fc.asyncProperty(claims, async (given) => {
        expect([200, 401, 403]).toContain((await call(given)).status);
      }),
      { numRuns: runs(150) },
    );
  });

  test('issued before a revocation are invalid, later ones are valid', async () => {
    const claims = { sub: 'sub-alice', tid: 'acme', ...verified(alice.email) };
    const now = Math.floor(Date.now() / 1000);
    const old = app.as(await issuer.token({ ...claims, iat: now - 10 }));
    expect((await old.get('/notes')).status).toBe(200);
    await app.get<IdentityApi>(IdentityApi).revokeSessions(alice.id);
    const value = await until('the rejection', async () => {
      const response = await old.get('/notes');
      return response.status !== 200 && response;
    });
    isRefused(value);
    isRefused(await call({ ...claims, iat: now - 5 }));
    expect((await call({ ...claims, iat: now + 20 })).status).toBe(200);
  });

  test('of a closed account are rejected', async () => {
    const [gina] = await app.tenant('acme', 'gina');
    const claims = { sub: 'sub-gina', ...verified(gina.email) };
    expect((await call({ ...claims, tid: 'acme' })).status).toBe(200);
    await app.get<Db>(Db).tx((tx) => app.get<IdentityApi>(IdentityApi).deactivate(tx, gina.id));
    const later = Math.floor(Date.now() / 1000) + 20;
    isRefused(await call({ ...claims, tid: 'acme', iat: later }));
    isRefused(await call({ ...claims, iat: later }));
  });

  test('two concurrent tokens of a new subject are both accepted', async () => {
    const [ida] = await app.tenant('acme', 'ida');
    const claims = { sub: 'sub-ida', tid: 'acme', ...verified(ida.email) };
    const responses = await Promise.all(Array.from({ length: 8 }, (_, n) => call({ ...claims, n })));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    expect(await app.sql(`SELECT subject FROM account_links WHERE account_id = $1`, [ida.id])).toEqual([
      { subject: 'sub-ida' },
    ]);
  });

  test('signed with rotated keys of another algorithm are accepted soon, those of the old key are rejected', async () => {
    const old = await issuer.token({
      sub: 'sub-alice',
      tid: 'acme',
      iat: Math.floor(Date.now() / 1000) + 20,
    });
    await issuer.rotate('RS256');
    // jose reads the keys of the issuer at most every five seconds.
    await until('the new key', async () => (await call({ sub: 'sub-bob', tid: 'acme' })).status === 200);
    isRefused(await app.as(old).get('/notes'));
  });

  test.each<[string, () => Promise<void> | void, () => Promise<void> | void]>([
    ['cannot be reached', () => issuer.down(), () => issuer.up()],
    [
      'responses 500',
      () => void (issuer.broken = { status: 500, body: 'oops' }),
      () => void (issuer.broken = undefined),
    ],
    [
      'responses a page',
      () => void (issuer.broken = { status: 200, body: '<html>' }),
      () => void (issuer.broken = undefined),
    ],
    [
      'responses another thing',
      () => void (issuer.broken = { status: 200, body: '{"keys":7}' }),
      () => void (issuer.broken = undefined),
    ],
  ])('an issuer that %s causes 503, and own tokens stay valid', async (_, fail, mend) => {
    const second = await TestApp.start(settings(), app.databaseUrl);
    const token = await issuer.token({ sub: 'sub-bob', tid: 'acme' });
    await fail();
    try {
      const { status, headers, body } = await second.as(token).get('/notes');
      expect([status, body.error, headers.get('retry-after')]).toEqual([
        503,
        'identity_provider_unavailable',
        '5',
      ]);
      expect((await second.as(frank.token).get('/notes')).status).toBe(200);
      await mend();
      await until('recovery', async () => (await second.as(token).get('/notes')).status === 200);
    } finally {
      await mend();
      await second.stop();
    }
  });

  test('are not forwarded one by one to a failing issuer', async () => {
    const second = await TestApp.start(settings(), app.databaseUrl);
    issuer.broken = { status: 500, body: 'oops' };
    issuer.reads = 0;
    try {
      for (let round = 0; round < 10; round += 1) {
        const tokens = await Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            issuer.token({ sub: 'sub-bob', tid: 'acme', n: round * 20 + n }),
          ),
        );
        const responses = await Promise.all(tokens.map((token) => second.as(token).get('/notes')));
        expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([503]));
      }
      // Discovery once, then keys at 0, 1, 3, 7, 15 ... seconds.
      expect(issuer.reads).toBeLessThan(12);
    } finally {
      issuer.broken = undefined;
      await second.stop();
    }
  });

  test('with unknown keys do not read the keys each time, also while the issuer fails', async () => {
    const second = await TestApp.start(settings(), app.databaseUrl);
    try {
      const valid = second.as(await issuer.token({ sub: 'sub-bob', tid: 'acme' }));
      expect((await valid.get('/notes')).status).toBe(200);
      issuer.reads = 0;
      for (const broken of [undefined, { status: 500, body: 'oops' }]) {
        issuer.broken = broken;
        for (let n = 0; n < 100; n += 1) {
          const token = await issuer.token({ sub: 'sub-bob', tid: 'acme' }, `unknown-${n}`);
          expect([401, 503]).toContain((await second.as(token).get('/notes')).status);
        }
      }
      expect((await valid.get('/notes')).status).toBe(200);
      expect(issuer.reads).toBeLessThan(20);
    } finally {
      issuer.broken = undefined;
      await second.stop();
    }
  });

  test('are invalid tokens without a configured issuer', async () => {
    const plain = await TestApp.start({}, app.databaseUrl);
    try {
      isRefused(await plain.as(await issuer.token({ sub: 'sub-bob', tid: 'acme' })).get('/notes'));
    } finally {
      await plain.stop();
    }
  });

  test('a discovery document of another issuer is not followed', async () => {
    const second = await TestApp.start({ ...settings(), OIDC_ISSUER: `${issuer.url}/` }, app.databaseUrl);
    try {
      const token = await issuer.token({ iss: `${issuer.url}/`, sub: 'sub-bob', tid: 'acme' });
      expect((await second.as(token).get('/notes')).body.error).toBe('identity_provider_unavailable');
    } finally {
      await second.stop();
    }
  });
});
