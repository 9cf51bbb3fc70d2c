import { decodeJwt } from 'jose';
import { provision } from '../../../src/provision/provision.js';
import { IdentityApi } from '../../../src/modules/identity/index.js';
import { OidcClientsApi } from '../../../src/modules/sign-in/index.js';
import { PASSWORD, session } from '../../support/sign-in/account.ts';
import { type TestUser, TestApp } from '../../support/app.ts';
import { RelyingParty } from '../../support/sign-in/relying-party.ts';
import { browser, clientFile, startSignIn } from '../../support/sign-in/sign-in.ts';
import { Authenticator } from '../../support/sign-in/totp.ts';

describe('the policy of a workspace', () => {
  let app: TestApp;
  let n = 0;

  beforeAll(async () => {
    app = await startSignIn({ OIDC_CLIENTS: clientFile() });
  });
  afterAll(() => app?.stop());

  /** A workspace with an owner, an admin and a member, who have passwords. */
  const workspace = async (): Promise<{
    owner: TestUser;
    admin: TestUser;
    member: TestUser;
    slug: string;
  }> => {
    const slug = `policy${(n += 1)}`;
    const users = (['owner', 'admin', 'member'] as const).map((role) => ({
      email: `${role}@${slug}.example`,
      name: role,
      role,
      password: PASSWORD,
    }));
    const { users: made } = await provision(app.served.nest, { tenants: [{ slug, users }] }, true);
    const [owner, admin, member] = made.map(({ id, email, tenant_id: tenantId, token = '' }) => ({
      id,
      email,
      tenantId,
      token,
      api: app.as(token),
    })) as [TestUser, TestUser, TestUser];
    return { owner, admin, member, slug };
  };
  const put = async (by: TestUser, policy: object) => {
    const response = await by.api.put('/tenant/policy', policy);
    await app.readAccessChanges();
    return response;
  };
  const enrol = async ({ api }: TestUser) => {
    const { body } = await api.post('/auth/initiate-2fa', { password: PASSWORD });
    const authenticator = new Authenticator(body.secret);
    const enabled = await api.post('/auth/enable-2fa', { code: authenticator.code() });
    return { enabled, authenticator };
  };

  test('has defaults, changes by field, and is audited', async () => {
    const { owner, admin, member } = await workspace();
    const { policy } = (await owner.api.get('/tenant/policy')).body;
    expect(policy).toEqual({
      second_factor: { required: false, grace_days: 7, required_since: null },
      session_days: null,
      password_min_length: null,
      link_shares: 'members',
      guest_invites: 'members',
      allowed_issuers: null,
      domain_join: false,
      erase_after_days: null,
      updated_at: null,
    });
    expect((await put(admin, { session_days: 10 })).body.policy).toMatchObject({ session_days: 10 });
    const second = (await put(owner, { link_shares: 'admins' })).body.policy;
    expect(second).toMatchObject({ session_days: 10, link_shares: 'admins' });
    expect((await put(owner, { session_days: null })).body.policy.session_days).toBeNull();
    expect((await put(member, { session_days: 3 })).body.error).toBe('forbidden');
    expect((await member.api.get('/tenant/policy')).body.error).toBe('forbidden');
    const { events } = (await owner.api.get('/tenant/audit?action=tenant.policy.updated')).body;
    expect(events.at(-1).data).toEqual({ before: { session_days: null }, after: { session_days: 10 } });
    expect(events).toHaveLength(3);
    // Repeated values change nothing.
    const repeated = await put(owner, { link_shares: 'admins' });
    expect(repeated.body.policy.updated_at).toBe(
      (await owner.api.get('/tenant/policy')).body.policy.updated_at,
    );
    expect((await owner.api.get('/tenant/audit?action=tenant.policy.updated')).body.events).toHaveLength(3);
  });

  test.each([
    { session_days: 0 },
    { session_days: 366 },
    { password_min_length: 8 },
    { link_shares: 'everybody' },
    { second_factor: { grace_days: 91 } },
    { second_factor: [] },
    { allowed_issuers: 'local' },
  ])('%j is invalid', async (policy) => {
    const { owner } = await workspace();
    expect((await put(owner, policy)).body.error).toBe('validation_failed');
  });

  describe('a required second factor', () => {
    test('limits members without one to its enrolment after the grace', async () => {
      const { owner, member } = await workspace();
      await put(owner, { second_factor: { required: true, grace_days: 7 } });
      for (const { api } of [owner, member]) expect((await api.get('/notes')).status).toBe(200);
      // Eight days later.
      const age = `now() - interval '8 days'`;
      await app.sql(`UPDATE tenant_policies SET second_factor_since = ${age} WHERE tenant_id = $1`, [
        owner.tenantId,
      ]);
      await app.sql(`UPDATE tenant_members SET created_at = ${age} WHERE tenant_id = $1`, [owner.tenantId]);
      await app.sql(
        `INSERT INTO access_changes (id, account_id, tenant_id) SELECT gen_random_uuid(), member, $1 FROM unnest($2::uuid[]) AS member`,
        [owner.tenantId, [owner.id, member.id]],
      );
      await app.readAccessChanges();
      const shut = await member.api.get('/notes');
      expect([shut.status, shut.body.error]).toEqual([403, 'second_factor_enrolment_required']);
      expect((await member.api.get('/settings/security')).status).toBe(200);
      expect((await member.api.put('/settings/password', {})).body.error).toBe(
        'second_factor_enrolment_required',
      );
      const { enabled } = await enrol(member);
      expect(enabled.status).toBe(200);
      expect((await member.api.get('/notes')).status).toBe(200);
      expect((await owner.api.get('/notes')).body.error).toBe('second_factor_enrolment_required');
    });

    test('takes effect at once without a grace, in every process, except for new members', async () => {
      const { owner, member, slug } = await workspace();
      const beside = await TestApp.start({ PUBLIC_URL: app.base }, app.databaseUrl);
      expect((await beside.as(member.token).get('/notes')).status).toBe(200);
      await enrol(owner);
      await put(owner, { second_factor: { required: true, grace_days: 1 } });
      await put(owner, { second_factor: { grace_days: 0 } });
      await beside.readAccessChanges();
      for (const api of [member.api, beside.as(member.token)])
        expect((await api.get('/notes')).body.error).toBe('second_factor_enrolment_required');
      await put(owner, { second_factor: { grace_days: 2 } });
      const file = { tenants: [{ slug, users: [{ email: `new@${slug}.example`, name: 'New' }] }] };
      const { users } = await provision(app.served.nest, file, true);
      expect((await app.as(users[0]!.token!).get('/notes')).status).toBe(200);
      await beside.stop();
    });

    test('cannot be disabled: 403 required_by_policy', async () => {
      const { owner, member } = await workspace();
      const { authenticator } = await enrol(member);
      await put(owner, { second_factor: { required: true } });
      const proof = { password: PASSWORD, code: authenticator.code(1) };
      const kept = await member.api.post('/auth/disable-2fa', proof);
      expect([kept.status, kept.body.error]).toEqual([403, 'required_by_policy']);
      await put(owner, { second_factor: { required: false } });
      expect((await member.api.post('/auth/disable-2fa', proof)).status).toBe(200);
    });

    test('does not apply to service accounts', async () => {
      const { owner } = await workspace();
      const spec = { name: 'Sync', firstParty: false, redirectUris: [], logoutUris: [] };
      const { id } = await app
        .get<OidcClientsApi>(OidcClientsApi)
        .add({ ...spec, kind: 'service', tenantId: owner.tenantId! });
      const [{ account_id: accountId }] = await app.sql('SELECT account_id FROM oidc_clients WHERE id = $1', [
        id,
      ]);
      await enrol(owner);
      await put(owner, { second_factor: { required: true, grace_days: 0 } });
      const request = { accountId, tenantId: owner.tenantId };
      const [token] = await app.get<IdentityApi>(IdentityApi).issueTokens([request], id);
      expect((await app.as(token!).get('/notes')).status).toBe(200);
    });
  });

  test('the lifetime of sessions applies to new and to existing ones', async () => {
    const { owner, member } = await workspace();
    const party = await RelyingParty.discover(app, 'swagger-ui', {
      redirectUri: `${app.base}/apis/v1/docs/oauth2-redirect.html`,
    }).catch(() => null);
    expect(party).not.toBeNull();
    const old = await session(app, member);
    await app.sql(
      `UPDATE sessions SET created_at = now() - interval '3 days', expires_at = now() + interval '20 days'
        WHERE account_id = $1`,
      [member.id],
    );
    await put(owner, { session_days: 2 });
    expect((await old.api.get('/notes')).status).toBe(401);
    expect((await owner.api.get('/notes')).status).toBe(200);
    const [row] = await app.sql(
      `SELECT max(expires_at - created_at) <= interval '2 days' AS ok FROM sessions WHERE tenant_id = $1`,
      [owner.tenantId],
    );
    expect(row.ok).toBe(true);
  });

  test('the lifetime of sessions applies to a sign-in by the page, and to its refresh tokens', async () => {
    const { owner, member, slug } = await workspace();
    await put(owner, { session_days: 2 });
    const party = await RelyingParty.discover(app, 'ours');
    const began = performance.now();
    const tokens = await party.signIn(browser(app), `member@${slug}.example`, PASSWORD);
    // The refresh token is issued later than the session, by the length of the sign-in at most.
    const later = (performance.now() - began) / 1_000;
    const { sessions } = (await app.as(tokens.access_token).get('/settings/security')).body;
    const { created_at: start, expires_at: end } = sessions.find(({ current }: any) => current);
    const days = (Date.parse(end) - Date.parse(start)) / 86_400_000;
    expect([days > 1.9, days < 2.1]).toEqual([true, true]);
    const session = decodeJwt(tokens.access_token)['sid'];
    const [row] = await app.sql(
      `SELECT max(record.expires_at) <= max(session.expires_at) + make_interval(secs => 1 + $2::float8) AS ok
         FROM oidc_records record, sessions session
        WHERE record.model = 'RefreshToken' AND record.grant_id = $1::uuid AND session.id = $1::uuid`,
      [session, later],
    );
    expect(row.ok).toBe(true);
    expect((await member.api.get('/notes')).status).toBe(200);
  });

  test('a longer minimum for passwords applies to new passwords', async () => {
    const { owner, member } = await workspace();
    await put(owner, { password_min_length: 30 });
    const change = (text: string) =>
      member.api.put('/settings/password', { current_password: PASSWORD, new_password: text });
    const short = await change('seven purple teapots dance');
    expect([short.status, short.body.details[0].message]).toEqual([
      422,
      'new_password must have 30 characters or more',
    ]);
    expect((await change('seven purple teapots dance in the rain')).status).toBe(200);
  });

  test('share links of notes are created by administrators only, or by no member', async () => {
    const { owner, admin, member } = await workspace();
    const share = async (by: TestUser) => {
      const { id } = (await by.api.post('/notes', { title: 'T' })).body.note;
      const { status, body } = await by.api.post(`/notes/${id}/share`, { role: 'viewer' });
      const links = await app.sql('SELECT FROM notes WHERE id = $1 AND share_token IS NOT NULL', [id]);
      expect(links).toHaveLength(status === 200 ? 1 : 0);
      return body.error ?? status;
    };
    await put(owner, { link_shares: 'admins' });
    expect([await share(member), await share(admin)]).toEqual(['restricted_by_policy', 200]);
    await put(owner, { link_shares: 'nobody' });
    expect([await share(member), await share(owner)]).toEqual([
      'restricted_by_policy',
      'restricted_by_policy',
    ]);
    await put(owner, { link_shares: 'members' });
    expect(await share(member)).toBe(200);
    // An unknown note is reported before the policy.
    await put(owner, { link_shares: 'nobody' });
    const unknown = await member.api.post('/notes/0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000/share', {});
    expect(unknown.status).toBe(404);
  });

  test('guests are invited by administrators only, or by no member', async () => {
    const { owner, admin, member } = await workspace();
    const invite = async (by: TestUser) =>
      (await by.api.post('/call/external_invites', { call_id: by.id, kind: 'link', name: 'x' })).body.error;
    expect(await invite(member)).not.toBe('forbidden');
    await put(owner, { guest_invites: 'admins' });
    expect([await invite(member), (await invite(admin)) === 'forbidden']).toEqual(['forbidden', false]);
    await put(owner, { guest_invites: 'nobody' });
    expect(await invite(owner)).toBe('forbidden');
  });

  test('a list of issuers cannot lock out the workspace', async () => {
    const { owner } = await workspace();
    const locked = await put(owner, { allowed_issuers: ['https://id.example'] });
    expect([locked.status, locked.body.error]).toEqual([422, 'issuers_locked_out']);
    expect((await put(owner, { allowed_issuers: ['local'] })).status).toBe(200);
    expect((await owner.api.get('/notes')).status).toBe(200);
    await app.sql(
      `UPDATE tenant_policies SET allowed_issuers = '{https://id.example}' WHERE tenant_id = $1`,
      [owner.tenantId],
    );
    const fresh = await session(app, owner);
    await app.sql(
      'INSERT INTO access_changes (id, account_id, tenant_id) VALUES (gen_random_uuid(), $1, $2)',
      [owner.id, owner.tenantId],
    );
    await app.readAccessChanges();
    expect((await fresh.api.get('/notes')).status).toBe(401);
  });

  test('the sign-in page leads to a forgotten password', async () => {
    const party = await RelyingParty.discover(app, 'swagger-ui', {
      redirectUri: `${app.base}/apis/v1/docs/oauth2-redirect.html`,
    });
    const page = await browser(app).open((await party.begin()).url);
    expect(page.html).toContain('<a href="/apis/v1/account/password">');
  });
});
