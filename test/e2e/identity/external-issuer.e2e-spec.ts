import { IdentityApi } from '../../../src/modules/identity/identity.api.js';
import { Db } from '../../../src/platform/database/db.js';
import { type Person, TestApp } from '../../support/app.ts';
import type { Answer } from '../../support/client.ts';
import { TestIssuer } from '../../support/issuer.ts';
import { until } from '../../support/until.ts';

describe('tokens of an external issuer', () => {
  let issuer: TestIssuer;
  let app: TestApp;
  let alice: Person;
  let bob: Person;
  let frank: Person;

  const settings = () => ({ OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: 'workspace-api', LOG_LEVEL: 'error' });

  beforeAll(async () => {
    issuer = await TestIssuer.start();
    app = await TestApp.start(settings());
    [alice, bob, frank] = (await app.tenant('acme', 'alice', 'bob', 'frank')) as [Person, Person, Person];
  });
  afterAll(async () => {
    await app?.stop();
    await issuer?.down();
  });

  const call = async (claims: Record<string, unknown>): Promise<Answer> =>
    app.as(await issuer.token(claims)).get('/notes');
  const verified = (email: string) => ({ email, email_verified: true });
  const isRefused = ({ status, headers }: Answer) =>
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);

  test('are accepted by verified address, in the workspace they claim by slug or id', async () => {
    const { body } = await alice.api.post('/notes', { title: "Alice's" });
    for (const claim of [{ tid: 'acme' }, { tid: alice.tenantId }, { tenant: 'acme' }]) {
      const answer = await call({ sub: 'sub-alice', ...verified('ALICE@acme.example'), ...claim });
      expect([answer.status, answer.body.notes?.[0]?.id]).toEqual([200, body.note.id]);
    }
    const bare = await call({ sub: 'sub-alice' });
    expect([bare.status, bare.body.error]).toEqual([403, 'workspace_forbidden']);
    isRefused(await call({ sub: 'sub-alice', tid: 'no-such-workspace' }));
    await app.tenant('other', 'owner');
    isRefused(await call({ sub: 'sub-alice', tid: 'other' }));
  });

  test('know the person by subject afterwards, whatever their address has become', async () => {
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

  test('need an address the issuer has verified, and one that is an account', async () => {
    for (const claims of [
      { email: frank.email },
      { email: frank.email, email_verified: false },
      { email: frank.email, email_verified: 'true' },
      verified('nobody@acme.example'),
      // The same to the eye and under compatibility folding, but another mailbox.
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
  ])('with %s are refused', async (_, claims) => {
    isRefused(await call({ sub: 'sub-alice', tid: 'acme', ...verified(alice.email), ...claims }));
  });

  test('signed by somebody else are refused', async () => {
    const impostor = await TestIssuer.start();
    try {
      const token = await impostor.token({ iss: issuer.url, sub: 'sub-alice', tid: 'acme' });
      isRefused(await app.as(token).get('/notes'));
    } finally {
      await impostor.down();
    }
  });

  test('issued before a revocation are void, later ones are good', async () => {
    const claims = { sub: 'sub-alice', tid: 'acme', ...verified(alice.email) };
    const now = Math.floor(Date.now() / 1000);
    const old = app.as(await issuer.token({ ...claims, iat: now - 10 }));
    expect((await old.get('/notes')).status).toBe(200);
    await app.get<IdentityApi>(IdentityApi).revokeSessions(alice.id);
    const value = await until('the refusal', async () => {
      const answer = await old.get('/notes');
      return answer.status !== 200 && answer;
    });
    isRefused(value);
    isRefused(await call({ ...claims, iat: now - 5 }));
    expect((await call({ ...claims, iat: now + 20 })).status).toBe(200);
  });

  test('of a closed account are refused', async () => {
    const [gina] = (await app.tenant('acme', 'gina')) as [Person];
    const claims = { sub: 'sub-gina', ...verified(gina.email) };
    expect((await call({ ...claims, tid: 'acme' })).status).toBe(200);
    await app.get<Db>(Db).tx((tx) => app.get<IdentityApi>(IdentityApi).deactivate(tx, gina.id));
    const later = Math.floor(Date.now() / 1000) + 20;
    isRefused(await call({ ...claims, tid: 'acme', iat: later }));
    isRefused(await call({ ...claims, iat: later }));
  });

  test('two at once of a new subject are both let in', async () => {
    const [ida] = (await app.tenant('acme', 'ida')) as [Person];
    const claims = { sub: 'sub-ida', tid: 'acme', ...verified(ida.email) };
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => call({ ...claims, n })));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(await app.sql(`SELECT subject FROM account_links WHERE account_id = $1`, [ida.id])).toEqual([
      { subject: 'sub-ida' },
    ]);
  });

  test('signed with rotated keys of another algorithm are accepted soon, those of the old key are known no longer', async () => {
    const old = await issuer.token({
      sub: 'sub-alice',
      tid: 'acme',
      iat: Math.floor(Date.now() / 1000) + 20,
    });
    await issuer.rotate('RS256');
    // jose asks the issuer again at most every five seconds.
    await until('the new key', async () => (await call({ sub: 'sub-bob', tid: 'acme' })).status === 200);
    isRefused(await app.as(old).get('/notes'));
  });

  test.each<[string, () => Promise<void> | void, () => Promise<void> | void]>([
    ['cannot be reached', () => issuer.down(), () => issuer.up()],
    [
      'answers 500',
      () => void (issuer.broken = { status: 500, body: 'oops' }),
      () => void (issuer.broken = undefined),
    ],
    [
      'answers a page',
      () => void (issuer.broken = { status: 200, body: '<html>' }),
      () => void (issuer.broken = undefined),
    ],
    [
      'answers another thing',
      () => void (issuer.broken = { status: 200, body: '{"keys":7}' }),
      () => void (issuer.broken = undefined),
    ],
  ])('an issuer that %s is 503, and our own tokens stay good', async (_, fail, mend) => {
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

  test('are ordinary bad tokens where no issuer is configured', async () => {
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
