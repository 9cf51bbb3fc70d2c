import { decodeJwt } from 'jose';
import { TenantPolicies } from '../../../src/modules/tenants/index.js';
import { provision } from '../../../src/provision/provision.js';
import type { ServerResponse } from 'node:http';
import type { Client } from 'pg';
import { type TestUser, TestApp } from '../../support/app.ts';
import { afterChange } from '../../support/database/locks.ts';
import { type Browser, RelyingParty, type Shown } from '../../support/sign-in/relying-party.ts';
import { SignInIssuer } from '../../support/sign-in/sign-in-issuer.ts';
import { browser, clientFile, PASSWORD, secondFactorOf, startSignIn } from '../../support/sign-in/sign-in.ts';

const SECRET = 'the-secret-of-the-client';

/** Domains of each workspace are verified by the operator. */
const tenant = (slug: string, ...users: [name: string, role: 'owner' | 'admin' | 'member'][]) => ({
  slug,
  domains: [`${slug}.example`],
  users: users.map(([name, role]) => ({
    email: `${name}@${slug}.example`,
    name,
    role,
    password: PASSWORD,
  })),
});

describe('sign-in by the issuer of a workspace', () => {
  let app: TestApp;
  let party: RelyingParty;
  let acmeIssuer: SignInIssuer;
  let otherIssuer: SignInIssuer;
  let owner: TestUser;
  let member: TestUser;
  let otherOwner: TestUser;
  let acme: any;
  let other: any;
  let subjects = 0;

  beforeAll(async () => {
    app = await startSignIn({ OIDC_CLIENTS: clientFile() });
    [acmeIssuer, otherIssuer] = await Promise.all([SignInIssuer.start(), SignInIssuer.start()]);
    const file = {
      tenants: [
        tenant('acme', ['olga', 'owner'], ['mia', 'member'], ['tom', 'member'], ['rex', 'member']),
        tenant('other', ['olaf', 'owner']),
      ],
    };
    const { users } = await provision(app.served.nest, file, true);
    const made = users.map(({ id, email, tenant_id: tenantId, token = '' }) => ({
      id,
      email,
      tenantId,
      token,
      api: app.as(token),
    })) as TestUser[];
    [owner, member] = made as [TestUser, TestUser];
    otherOwner = made[4] as TestUser;
    const create = async (by: TestUser, input: object) => {
      const response = await by.api.post('/tenant/issuers', {
        client_id: 'workspace',
        client_secret: SECRET,
        creates_members: true,
        links_accounts: true,
        ...input,
      });
      expect([response.status, response.body.error]).toEqual([201, undefined]);
      return response.body.issuer;
    };
    acme = await create(owner, { name: 'Acme', issuer: acmeIssuer.url, domains: ['acme.example'] });
    other = await create(otherOwner, { name: 'Other', issuer: otherIssuer.url, domains: ['other.example'] });
    party = await RelyingParty.discover(app, 'ours');
  });
  beforeEach(() => {
    for (const issuer of [acmeIssuer, otherIssuer]) {
      issuer.claims = {};
      issuer.extra = {};
      issuer.document = undefined;
      issuer.makeToken = (claims) => issuer.sign(claims);
    }
  });
  afterAll(async () => {
    await app?.stop();
    await Promise.all([acmeIssuer?.stop(), otherIssuer?.stop()]);
  });

  const user = (email: string, more: Record<string, unknown> = {}) => {
    subjects += 1;
    return { sub: `subject-${subjects}`, email, email_verified: true, name: 'New User', ...more };
  };
  const update = async (by: TestUser, path: string, values: object) => {
    const { issuer } = (await by.api.get(path)).body;
    const response = await by.api.patch(path, { base_revision: issuer.revision, ...values });
    expect([response.status, response.body.error]).toEqual([200, undefined]);
  };
  const updateAcme = (values: object) => update(owner, `/tenant/issuers/${acme.id}`, values);
  /** The link of the page that offers the issuer. */
  const linkOf = (page: Shown): string => {
    const href = /<a class="button" href="([^"]*)"/.exec(page.html)?.[1];
    if (href === undefined) throw new Error(`no issuer on the page: ${page.status} ${page.html}`);
    return href.replaceAll('&amp;', '&');
  };
  const begin = async (on: Browser, email: string) => {
    const begun = await party.begin();
    const page = await on.submit(await on.open(begun.url), { email, step: 'issuer' });
    return { begun, page };
  };
  /** Signs in up to the redirect of the issuer to the service. */
  const signIn = async (issuer: SignInIssuer, email: string, claims: Record<string, unknown>) => {
    const on = browser(app);
    const { begun, page } = await begin(on, email);
    issuer.claims = claims;
    const back = await issuer.approve(linkOf(page));
    return { on, begun, back, page: await on.open(back) };
  };
  const tokensOf = async (issuer: SignInIssuer, email: string, claims: Record<string, unknown>) => {
    const { page, begun } = await signIn(issuer, email, claims);
    if (page.status !== 0) throw new Error(`not signed in: ${page.status} ${page.html}`);
    return party.finish(page.url, begun);
  };
  const rejections = async (by: TestUser, id: string): Promise<string[]> =>
    (await by.api.get(`/tenant/audit?object_id=${id}`)).body.events
      .filter((event: any) => event.action === 'tenant.issuer.sign_in_rejected')
      .map((event: any) => event.data.reason);
  const isRejected = async (page: Shown, reason: string, id = acme.id) => {
    expect([page.status, page.html.includes('did not accept the sign-in')]).toEqual([422, true]);
    expect((await rejections(owner, id))[0]).toBe(reason);
  };

  test('two companies sign in by their own issuers; new users become members', async () => {
    for (const [issuer, tenantOwner, slug] of [
      [acmeIssuer, owner, 'acme'],
      [otherIssuer, otherOwner, 'other'],
    ] as const) {
      const email = `nina@${slug}.example`;
      const tokens = await tokensOf(issuer, email, user(email, { amr: ['pwd', 'hwk'] }));
      const claims = decodeJwt(tokens.access_token);
      expect(claims['tid']).toBe(tenantOwner.tenantId);
      expect(tokens.claims()).toMatchObject({ amr: ['pwd', 'hwk'] });
      expect(tokens.claims()).not.toHaveProperty('acr');
      const api = app.as(tokens.access_token);
      expect((await api.get('/notes')).status).toBe(200);
      const { members } = (await tenantOwner.api.get('/tenant/members')).body;
      const joined = members.find((row: any) => row.email === email);
      expect([joined.display_name, joined.role]).toEqual(['New User', 'member']);
      const credentials = Buffer.from(issuer.credentials!.slice(6), 'base64').toString();
      expect(decodeURIComponent(credentials)).toBe(`workspace:${SECRET}`);
    }
    expect(await app.sql('SELECT DISTINCT issuer FROM sessions WHERE issuer IS NOT NULL')).toHaveLength(2);
  });

  test('the page offers the issuer by the domain, for known and unknown addresses alike', async () => {
    const pages = [];
    for (const email of ['mia@acme.example', 'unknown@acme.example', 'mia@ACME.example']) {
      const { page } = await begin(browser(app), email);
      expect([page.status, page.html.includes('Continue to Acme')]).toEqual([200, true]);
      const url = new URL(linkOf(page));
      expect(url.searchParams.get('code_challenge_method')).toBe('S256');
      expect(url.searchParams.get('redirect_uri')).toBe(acme.redirect_uri);
      pages.push(page.html.replace(/href="[^"]*"|value="[^"]*"|action="[^"]*"/g, ''));
    }
    expect(new Set(pages).size).toBe(1);
    const on = browser(app);
    const start = await on.open((await party.begin()).url);
    const offered = await on.submit(start, { email: 'x@acme.example', password: '', step: 'password' });
    expect(offered.html).toContain('Continue to Acme');
    const unknown = await begin(browser(app), 'someone@nowhere.example');
    expect([unknown.page.status, unknown.page.html.includes('No organisation signs in')]).toEqual([
      422,
      true,
    ]);
    const empty = await begin(browser(app), '');
    expect([empty.page.status, empty.page.html.includes('Enter your email address.')]).toEqual([422, true]);
  });

  test('an existing account is linked once by its address, and afterwards found by the subject', async () => {
    const claims = user(member.email);
    const tokens = await tokensOf(acmeIssuer, member.email, claims);
    expect(decodeJwt(tokens.access_token).sub).toBe(member.id);
    const renamed = { ...claims, email: 'mia.married@acme.example' };
    const again = await tokensOf(acmeIssuer, member.email, renamed);
    expect(decodeJwt(again.access_token).sub).toBe(member.id);
    const impostor = await signIn(acmeIssuer, member.email, user(member.email));
    await isRejected(impostor.page, 'subject_changed');
    await updateAcme({ links_accounts: false });
    await isRejected(
      (await signIn(acmeIssuer, 'tom@acme.example', user('tom@acme.example'))).page,
      'link_not_allowed',
    );
    // Also an account that is opened while the issuer's user signs in.
    const email = 'raced@acme.example';
    const open = (other: Client) =>
      other.query(
        `INSERT INTO accounts (id, email, email_key, display_name) VALUES (gen_random_uuid(), $1, $1, 'Other')`,
        [email],
      );
    const raced = () => signIn(acmeIssuer, email, user(email));
    await isRejected((await afterChange(app.databaseUrl, open, raced)).page, 'link_not_allowed');
    await updateAcme({ links_accounts: true, creates_members: false });
    await isRejected((await signIn(acmeIssuer, 'a@acme.example', user('a@acme.example'))).page, 'no_account');
    await updateAcme({ creates_members: true });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['an address of another company', user('olaf@other.example'), 'domain_not_bound'],
    ['an address of a subdomain', user('olga@evil.acme.example'), 'domain_not_bound'],
    ['no address', { sub: 'none' }, 'no_email'],
    ['an object as address', user('x', { email: { a: 1 } }), 'no_email'],
    ['NUL in the address', user('x\0@acme.example'), 'no_email'],
    [
      'an address that is not verified',
      user('new@acme.example', { email_verified: false }),
      'email_not_verified',
    ],
    ['text as email_verified', user('new@acme.example', { email_verified: 'true' }), 'email_not_verified'],
    ['a look-alike of a known address', user('\uff4fl\uff47a@acme.example'), 'other_address'],
    ['another audience', user('new@acme.example', { aud: 'another-client' }), 'invalid_response'],
    ['another issuer', user('new@acme.example', { iss: 'http://127.0.0.1:9' }), 'invalid_response'],
    ['another nonce', user('new@acme.example', { nonce: 'another' }), 'invalid_response'],
    ['no nonce', user('new@acme.example', { nonce: undefined }), 'invalid_response'],
    ['an expired token', user('new@acme.example', { exp: 1_000_000_000 }), 'invalid_response'],
    ['a subject that is too long', user('new@acme.example', { sub: 'x'.repeat(256) }), 'invalid_subject'],
    ['no subject', user('new@acme.example', { sub: undefined }), 'invalid_response'],
  ])('a token with %s is rejected', async (_, claims, reason) => {
    const { page } = await signIn(acmeIssuer, 'new@acme.example', claims);
    await isRejected(page, reason);
    expect(await app.sql(`SELECT FROM accounts WHERE email = 'new@acme.example'`)).toEqual([]);
  });

  test('a token without a signature, or with a signature of another issuer, is rejected', async () => {
    acmeIssuer.makeToken = acmeIssuer.unsigned;
    await isRejected(
      (await signIn(acmeIssuer, 'n@acme.example', user('n@acme.example'))).page,
      'invalid_response',
    );
    acmeIssuer.makeToken = (claims) => otherIssuer.sign(claims);
    await isRejected(
      (await signIn(acmeIssuer, 'n@acme.example', user('n@acme.example'))).page,
      'invalid_response',
    );
    acmeIssuer.makeToken = async (claims) => {
      const [head, , signature] = (await acmeIssuer.sign(claims)).split('.');
      const changed = Buffer.from(JSON.stringify({ ...claims, email: 'olga@acme.example' }));
      return `${head}.${changed.toString('base64url')}.${signature}`;
    };
    await isRejected(
      (await signIn(acmeIssuer, 'n@acme.example', user('n@acme.example'))).page,
      'invalid_response',
    );
  });

  test('a response is used once, by the browser that started, at its own redirect URI', async () => {
    const done = await signIn(acmeIssuer, 'once@acme.example', user('once@acme.example'));
    expect(done.page.status).toBe(0);
    expect((await done.on.open(done.back)).status).toBe(400);

    const on = browser(app);
    const { page } = await begin(on, 'once@acme.example');
    acmeIssuer.claims = user('once@acme.example');
    const back = new URL(await acmeIssuer.approve(linkOf(page)));
    expect((await browser(app).open(back.href)).status).toBe(400);
    const otherState = new URL(back);
    otherState.searchParams.set('state', `${back.searchParams.get('state')!.slice(0, 44)}${'A'.repeat(43)}`);
    await isRejected(await on.open(otherState.href), 'unexpected_response');
    // The failed attempt used up the sign-in.
    expect((await on.open(back.href)).status).toBe(400);

    const second = await begin(on, 'once@acme.example');
    const crossed = new URL(await acmeIssuer.approve(linkOf(second.page)));
    crossed.pathname = crossed.pathname.replace(acme.id, other.id);
    await isRejected(await on.open(crossed.href), 'unexpected_response');
    for (const query of ['', '?state=', '?state=x', `?state=${'a'.repeat(43)}.${'b'.repeat(43)}`])
      expect((await on.open(`/apis/v1/oidc/callback/${acme.id}${query}`)).status).toBe(400);
  });

  test('an issuer that is deleted during a first sign-in signs in nobody', async () => {
    const domain = 'leaving.example';
    await app.sql('INSERT INTO tenant_domains (tenant_id, domain, verified_at) VALUES ($1, $2, now())', [
      owner.tenantId,
      domain,
    ]);
    const input = { client_id: 'workspace', client_secret: SECRET, creates_members: true, domains: [domain] };
    const made = await owner.api.post('/tenant/issuers', {
      ...input,
      name: 'Leaving',
      issuer: otherIssuer.url,
    });
    const { id } = made.body.issuer;
    const email = `ann@${domain}`;
    const { page } = await afterChange(
      app.databaseUrl,
      (client) => client.query('DELETE FROM tenant_issuers WHERE id = $1', [id]),
      () => signIn(otherIssuer, email, user(email)),
    );
    await isRejected(page, 'issuer_deleted', id);
    expect(await app.sql('SELECT FROM accounts WHERE email = $1', [email])).toEqual([]);
  });

  test('parallel requests with one response exchange its code once', async () => {
    const on = browser(app);
    const { page } = await begin(on, 'parallel@acme.example');
    acmeIssuer.claims = user('parallel@acme.example');
    const back = await acmeIssuer.approve(linkOf(page));
    const before = acmeIssuer.reads['/token'] ?? 0;
    await Promise.all(Array.from({ length: 6 }, () => on.open(back)));
    expect(acmeIssuer.reads['/token']).toBe(before + 1);
  });

  test('a client secret that cannot be decrypted is reported', async () => {
    const [{ client_secret: sealed }] = await app.sql(
      'SELECT client_secret FROM tenant_issuers WHERE id = $1',
      [acme.id],
    );
    const store = (value: string) =>
      app.sql('UPDATE tenant_issuers SET client_secret = $2 WHERE id = $1', [acme.id, value]);
    await store('00000000.AAAA');
    try {
      const { page } = await begin(browser(app), 'mia@acme.example');
      expect([page.status, page.html.includes('is not available')]).toEqual([422, true]);
      expect((await rejections(owner, acme.id))[0]).toBe('unreadable_secret');
    } finally {
      await store(sealed);
    }
  });

  test('the end of an issuer leaves sessions of another issuer with the same address', async () => {
    const domains = ['acme.example', 'second.example'];
    await provision(app.served.nest, { tenants: [{ slug: 'acme', domains, users: [] }] });
    const made = await owner.api.post('/tenant/issuers', {
      name: 'Second',
      issuer: acmeIssuer.url,
      client_id: 'workspace',
      client_secret: SECRET,
      creates_members: true,
      domains: ['second.example'],
    });
    expect([made.status, made.body.error]).toEqual([201, undefined]);
    const apiOf = async (email: string) => {
      const { access_token: token } = await tokensOf(acmeIssuer, email, user(email));
      return app.as(token);
    };
    const first = await apiOf('stays@acme.example');
    const second = await apiOf('ends@second.example');
    const on = browser(app);
    const { page } = await begin(on, 'late@second.example');
    acmeIssuer.claims = user('late@second.example');
    const back = await acmeIssuer.approve(linkOf(page));
    const { issuer } = made.body;
    const deleted = await owner.api.delete(`/tenant/issuers/${issuer.id}`, {
      base_revision: issuer.revision,
    });
    expect(deleted.status).toBe(200);
    await app.readAccessChanges();
    expect((await first.get('/notes')).status).toBe(200);
    expect((await second.get('/notes')).status).toBe(401);
    // A response after the end of the issuer.
    expect((await on.open(back)).status).toBe(400);
    expect(await app.sql(`SELECT FROM accounts WHERE email = 'late@second.example'`)).toEqual([]);
  });

  test('a response that names another issuer, or an error, is rejected', async () => {
    acmeIssuer.extra = { iss: otherIssuer.url };
    await isRejected(
      (await signIn(acmeIssuer, 'n@acme.example', user('n@acme.example'))).page,
      'invalid_response',
    );
    acmeIssuer.extra = { error: 'access_denied' };
    await isRejected(
      (await signIn(acmeIssuer, 'n@acme.example', user('n@acme.example'))).page,
      'invalid_response',
    );
  });

  test('an issuer does not sign in to another workspace of the user', async () => {
    await app.member('other', 'tom@acme.example');
    const tokens = await tokensOf(acmeIssuer, 'tom@acme.example', user('tom@acme.example'));
    expect(decodeJwt(tokens.access_token)['tid']).toBe(owner.tenantId);
  });

  test('a new key is read once; a removed domain ends sign-ins, also of a browser that is signed in', async () => {
    await tokensOf(acmeIssuer, 'k@acme.example', user('k@acme.example'));
    const before = acmeIssuer.reads['/keys']!;
    await tokensOf(acmeIssuer, 'k2@acme.example', user('k2@acme.example'));
    expect(acmeIssuer.reads['/keys']).toBe(before);
    await acmeIssuer.rotate();
    await tokensOf(acmeIssuer, 'k3@acme.example', user('k3@acme.example'));
    expect(acmeIssuer.reads['/keys']).toBe(before + 1);
    const { on } = await signIn(acmeIssuer, 'k4@acme.example', user('k4@acme.example'));
    expect((await on.open((await party.begin()).url)).html).not.toContain('name="password"');
    await owner.api.delete('/tenant/domains/acme.example');
    const { page } = await begin(browser(app), 'mia@acme.example');
    expect(page.html).toContain('No organisation signs in');
    expect((await on.open((await party.begin()).url)).html).toContain('name="password"');
    await provision(app.served.nest, { tenants: [{ slug: 'acme', domains: ['acme.example'], users: [] }] });
  });

  test.each<[string, (response: ServerResponse, document: object) => void, string]>([
    ['is huge', (response) => void response.end(`{"a":"${'x'.repeat(600_000)}"}`), 'too_large'],
    ['never ends', (response) => void response.write('{'), 'unreachable'],
    [
      'redirects',
      (response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
      'invalid_metadata',
    ],
    ['is no JSON', (response) => void response.end('<html>'), 'invalid_metadata'],
    [
      'names another issuer',
      (response, document) =>
        void response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ ...document, issuer: 'https://evil.example' })),
      'invalid_metadata',
    ],
    [
      'lacks its keys',
      (response, document) =>
        void response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ ...document, jwks_uri: undefined })),
      'invalid_metadata',
    ],
    [
      'names a private address',
      (response, document) =>
        void response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ ...document, token_endpoint: 'https://10.0.0.1/token' })),
      'invalid_address',
    ],
  ])('a check reports a discovery document that %s', async (_, document, problem) => {
    const path = `/tenant/issuers/${acme.id}/check`;
    acmeIssuer.document = document;
    const { check } = (await owner.api.post(path)).body;
    expect([check.ok, check.problem]).toEqual([false, problem]);
    if (problem !== 'unreachable') {
      const { page } = await begin(browser(app), 'mia@acme.example');
      expect([page.status, page.html.includes('is not available')]).toEqual([422, true]);
    }
    acmeIssuer.document = undefined;
    expect((await owner.api.post(path)).body.check).toMatchObject({ ok: true, problem: null, keys: 1 });
  });

  test('a required issuer leaves owners their password and no other member', async () => {
    await updateAcme({ required: true });
    try {
      const on = browser(app);
      const page = await on.submit(await on.open((await party.begin()).url), {
        email: 'rex@acme.example',
        password: PASSWORD,
        step: 'password',
      });
      expect([page.status, page.html.includes('requires the sign-in of Acme')]).toEqual([200, true]);
      acmeIssuer.claims = user('rex@acme.example');
      expect((await on.open(await acmeIssuer.approve(linkOf(page)))).status).toBe(0);
      const tokens = await party.signIn(browser(app), owner.email, PASSWORD);
      expect(decodeJwt(tokens.access_token)['tid']).toBe(owner.tenantId);
    } finally {
      await updateAcme({ required: false });
    }
  });

  test('an account with a second factor proves it, unless the issuer reports one', async () => {
    const email = 'factor@acme.example';
    const claims = user(email);
    const first = await tokensOf(acmeIssuer, email, claims);
    const { authenticator } = await secondFactorOf(app, decodeJwt(first.access_token).sub!);
    const { page, on, begun } = await signIn(acmeIssuer, email, claims);
    expect(page.html).toContain('Enter your code');
    const after = await on.submit(page, { code: authenticator.code(), step: 'code' });
    const tokens = await party.finish(after.url, begun);
    expect(tokens.claims()).toMatchObject({ amr: ['otp', 'mfa'] });
    expect((await app.as(tokens.access_token).get('/notes')).status).toBe(200);
    const strong = await tokensOf(acmeIssuer, email, { ...claims, amr: ['mfa'] });
    expect((await app.as(strong.access_token).get('/notes')).status).toBe(200);
  });

  test('a second factor that the policy requires is replaced by those of the issuer, also for the next client', async () => {
    const email = 'strong@acme.example';
    await owner.api.put('/tenant/policy', { second_factor: { required: true, grace_days: 0 } });
    try {
      const { on, page, begun } = await signIn(acmeIssuer, email, user(email, { amr: ['mfa'] }));
      const tokens = await party.finish(page.url, begun);
      expect((await app.as(tokens.access_token).get('/notes')).status).toBe(200);
      const next = await party.begin();
      const again = await on.open(next.url);
      expect([again.status, again.html]).toEqual([0, '']);
      const others = await party.finish(again.url, next);
      expect((await app.as(others.access_token).get('/notes')).status).toBe(200);
    } finally {
      // The requirement also applies to the owner.
      await app.sql('DELETE FROM tenant_policies WHERE tenant_id = $1', [owner.tenantId]);
      app.get(TenantPolicies).forget(owner.tenantId!);
    }
  });

  test('the policy of the workspace chooses among issuers, and the end of an issuer ends its sessions', async () => {
    const email = 'policy@acme.example';
    const claims = user(email);
    const tokens = await tokensOf(acmeIssuer, email, claims);
    const api = app.as(tokens.access_token);
    await owner.api.put('/tenant/policy', { allowed_issuers: ['local'] });
    await app.readAccessChanges();
    expect((await api.get('/notes')).status).toBe(401);
    expect((await begin(browser(app), email)).page.html).toContain('No organisation signs in');
    await owner.api.put('/tenant/policy', { allowed_issuers: ['local', acmeIssuer.url] });
    await app.readAccessChanges();
    expect((await api.get('/notes')).status).toBe(200);
    const { on } = await signIn(acmeIssuer, email, claims);
    await updateAcme({ enabled: false });
    await app.readAccessChanges();
    expect((await api.get('/notes')).status).toBe(401);
    expect((await on.open((await party.begin()).url)).html).toContain('name="password"');
    await updateAcme({ enabled: true });
  });

  test('an issuer that ends before the consent opens no session, also none without a workspace', async () => {
    const email = 'consent@acme.example';
    const theirs = await RelyingParty.discover(app, 'theirs');
    const on = browser(app);
    const offer = await on.submit(await on.open((await theirs.begin()).url), { email, step: 'issuer' });
    acmeIssuer.claims = user(email);
    const consent = await on.open(await acmeIssuer.approve(linkOf(offer)));
    expect(consent.html).toContain('value="consent"');
    await updateAcme({ enabled: false });
    try {
      const after = await on.submit(consent, { step: 'consent' });
      expect([after.status, after.url.includes('code=')]).toEqual([403, false]);
      const opened = `SELECT FROM sessions JOIN accounts account ON account.id = account_id WHERE account.email = $1`;
      expect(await app.sql(opened, [email])).toEqual([]);
    } finally {
      await updateAcme({ enabled: true });
    }
  });

  test('a deactivated member and a closed account stay out', async () => {
    const email = 'leaver@acme.example';
    const claims = user(email);
    const tokens = await tokensOf(acmeIssuer, email, claims);
    const id = decodeJwt(tokens.access_token).sub!;
    await owner.api.post(`/tenant/members/${id}/deactivate`);
    const { page } = await signIn(acmeIssuer, email, claims);
    expect(['member_deactivated', 'account_closed']).toContain((await rejections(owner, acme.id))[0]);
    expect(page.status).toBe(422);
  });

  test('groups of the issuer become groups of a new member', async () => {
    const { group } = (await owner.api.post('/rbac/groups', { name: 'Engineers', permissions: [] })).body;
    await updateAcme({ groups_claim: 'groups', group_mappings: [{ value: 'eng', group_id: group.id }] });
    const email = 'engineer@acme.example';
    const tokens = await tokensOf(acmeIssuer, email, user(email, { groups: ['eng', 'all'] }));
    const { members } = (await owner.api.get(`/rbac/groups/${group.id}/members`)).body;
    expect(JSON.stringify(members)).toContain(decodeJwt(tokens.access_token).sub);
  });
});
