import * as client from 'openid-client';
import type { Client } from 'pg';
import { provision } from '../../../src/provision/provision.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { afterChange } from '../../support/database/locks.ts';
import { RelyingParty, REDIRECT } from '../../support/sign-in/relying-party.ts';
import { browser, PASSWORD, startSignIn } from '../../support/sign-in/sign-in.ts';

describe('clients of a workspace', () => {
  let app: TestApp;
  let owner: TestUser;
  let admin: TestUser;
  let member: TestUser;
  let outsider: TestUser;

  beforeAll(async () => {
    app = await startSignIn();
    const user = (name: string, role: 'owner' | 'admin' | 'member', slug = 'acme') => ({
      email: `${name}@${slug}.example`,
      name,
      role,
      password: PASSWORD,
    });
    const { users } = await provision(
      app.served.nest,
      {
        tenants: [
          { slug: 'acme', users: [user('owner', 'owner'), user('admin', 'admin'), user('member', 'member')] },
          { slug: 'other', users: [user('olaf', 'owner', 'other')] },
        ],
      },
      true,
    );
    [owner, admin, member, outsider] = users.map(({ id, email, tenant_id: tenantId, token = '' }) => ({
      id,
      email,
      tenantId,
      token,
      api: app.as(token),
    })) as [TestUser, TestUser, TestUser, TestUser];
  });
  afterAll(() => app?.stop());

  const create = (by: TestUser, input: object) =>
    by.api.post('/tenant/clients', { name: 'Time sheets', ...input });
  const token = async (id: string, secret: string) => {
    const party = await RelyingParty.discover(app, id, { secret });
    return client.clientCredentialsGrant(party.config, { scope: 'workspace' });
  };
  const pageAfterPassword = async (
    id: string,
    secret: string,
    email: string,
    scope: string,
    parameters: Record<string, string> = {},
  ) => {
    const party = await RelyingParty.discover(app, id, { secret });
    const begun = await party.begin({ scope, ...parameters });
    const on = browser(app);
    const page = await on.submit(await on.open(begun.url), { email, password: PASSWORD, step: 'password' });
    return { party, begun, on, page };
  };

  test('a service cannot register a passkey, which would block its next tokens', async () => {
    const { body } = await create(admin, { kind: 'service', role: 'member' });
    const tokens = () => token(body.client.id, body.client_secret);
    const service = app.as((await tokens()).access_token);
    for (const [path, input] of [
      ['options', {}],
      ['page', {}],
      ['', { name: 'Server', credential: {} }],
    ] as const) {
      const { status, body: response } = await service.post(
        `/settings/security/passkeys/${path}`.replace(/\/$/, ''),
        input,
      );
      expect([path, status, response.error]).toEqual([path, 409, 'service_account']);
    }
    const next = app.as((await tokens()).access_token);
    expect((await next.get('/notes')).status).toBe(200);
  });

  test('a service signs in with its secret, which rotates and is shown once', async () => {
    const { status, body } = await create(admin, { kind: 'service', role: 'member' });
    expect(status).toBe(201);
    const { id, user_id } = body.client;
    expect((await app.as((await token(id, body.client_secret)).access_token).get('/notes')).status).toBe(200);
    const read = await admin.api.get(`/tenant/clients/${id}`);
    expect(read.text).not.toContain(body.client_secret);
    const rotated = await admin.api.post(`/tenant/clients/${id}/secret`);
    await expect(token(id, body.client_secret)).rejects.toThrow();
    const service = app.as((await token(id, rotated.body.client_secret)).access_token);
    expect((await service.get('/notes')).status).toBe(200);
    expect((await admin.api.delete(`/tenant/clients/${id}`)).status).toBe(200);
    await app.readAccessChanges();
    expect((await service.get('/notes')).status).toBe(401);
    await expect(token(id, rotated.body.client_secret)).rejects.toThrow();
    const { members } = (await owner.api.get('/tenant/members?status=deactivated&kind=service')).body;
    expect(members.map((row: any) => row.user_id)).toContain(user_id);
    const events = (await owner.api.get(`/tenant/audit?object_id=${id}`)).body.events;
    expect(events.map((event: any) => event.action).toSorted()).toEqual([
      'identity.client.added',
      'identity.client.removed',
      'identity.client.rotated',
      'identity.service_token.issued',
      'identity.service_token.issued',
    ]);
    expect(JSON.stringify(events)).not.toContain(body.client_secret);
    const stored = await app.sql('SELECT audit_log::text AS row FROM audit_log');
    expect(JSON.stringify(stored)).not.toContain(rotated.body.client_secret);
  });

  test('an application signs in members of the workspace only, with consent that they withdraw', async () => {
    const { body } = await create(owner, { kind: 'confidential', redirect_uris: [REDIRECT] });
    const { id } = body.client;
    const scope = 'openid email workspace';
    const { party, begun, on, page } = await pageAfterPassword(id, body.client_secret, member.email, scope);
    expect(page.html).toContain('Allow Time sheets?');
    const tokens = await party.finish((await on.submit(page, { step: 'consent' })).url, begun);
    expect((await app.as(tokens.access_token).get('/notes')).status).toBe(200);
    const { applications } = (await member.api.get('/settings/connected-apps')).body;
    expect(applications).toEqual([
      expect.objectContaining({
        id,
        name: 'Time sheets',
        sessions: 1,
        scopes: ['email', 'openid', 'workspace'],
      }),
    ]);
    expect(applications[0].workspaces[0].id).toBe(member.tenantId);
    expect((await outsider.api.delete(`/settings/connected-apps/${id}`)).status).toBe(404);
    expect((await member.api.delete(`/settings/connected-apps/${id}`)).body).toEqual({ sessions_ended: 1 });
    expect((await app.as(tokens.access_token).get('/notes')).status).toBe(401);
    expect((await member.api.get('/settings/connected-apps')).body.applications).toEqual([]);
    expect((await member.api.delete(`/settings/connected-apps/${id}`)).status).toBe(404);

    const outside = await pageAfterPassword(id, body.client_secret, outsider.email, scope);
    expect([outside.page.status, outside.page.html.includes('not for you')]).toEqual([403, true]);
    const pressed = await outside.on.open(outside.page.url, {
      method: 'POST',
      body: new URLSearchParams({ step: 'consent', csrf: '' }),
    });
    expect(pressed.status).not.toBe(0);
    expect(await app.sql('SELECT FROM sessions WHERE client_id = $1 AND revoked_at IS NULL', [id])).toEqual(
      [],
    );
  });

  test('a user with a hundred later sessions can withdraw an application', async () => {
    const { body } = await create(owner, { kind: 'confidential', redirect_uris: [REDIRECT] });
    const { id } = body.client;
    const scope = 'openid email workspace';
    const { party, begun, on, page } = await pageAfterPassword(id, body.client_secret, member.email, scope);
    const tokens = await party.finish((await on.submit(page, { step: 'consent' })).url, begun);
    await app.sql(
      `INSERT INTO sessions (id, account_id, client_id, expires_at, last_seen_at, activated_at)
       SELECT gen_random_uuid(), $1, 'test', now() + interval '1 day', now() + interval '1 hour', now() FROM generate_series(1, 100)`,
      [member.id],
    );
    expect((await member.api.get('/settings/connected-apps')).body.applications).toHaveLength(1);
    expect((await member.api.delete(`/settings/connected-apps/${id}`)).body).toEqual({ sessions_ended: 1 });
    expect((await app.as(tokens.access_token).get('/notes')).status).toBe(401);
  });

  test('an application requests no scope beyond its own', async () => {
    const { body } = await create(owner, {
      kind: 'confidential',
      redirect_uris: [REDIRECT],
      scopes: ['openid'],
    });
    const party = await RelyingParty.discover(app, body.client.id, { secret: body.client_secret });
    const refused = await browser(app).open((await party.begin({ scope: 'openid email workspace' })).url);
    expect(refused.url).toContain('error=invalid_scope');
    expect((await browser(app).open((await party.begin({ scope: 'openid' })).url)).status).toBe(200);
  });

  test('the API is a scope like the others: neither requested, nor issued, nor refreshed without it', async () => {
    const scopes = ['openid', 'email', 'workspace', 'offline_access'];
    const { body } = await create(owner, { kind: 'confidential', redirect_uris: [REDIRECT], scopes });
    const { id } = body.client;
    const narrow = () => app.sql(`UPDATE oidc_clients SET scopes = '{openid,email}' WHERE id = $1`, [id]);
    const widen = () => app.sql(`UPDATE oidc_clients SET scopes = $2 WHERE id = $1`, [id, scopes]);
    const scope = 'openid email workspace offline_access';
    const signedIn = async () => {
      const { party, begun, on, page } = await pageAfterPassword(
        id,
        body.client_secret,
        member.email,
        scope,
        { prompt: 'consent' },
      );
      return { party, begun, url: (await on.submit(page, { step: 'consent' })).url };
    };
    const live = () =>
      app
        .sql('SELECT FROM sessions WHERE client_id = $1 AND revoked_at IS NULL', [id])
        .then((rows) => rows.length);

    const first = await signedIn();
    const tokens = await first.party.finish(first.url, first.begun);
    expect((await app.as(tokens.access_token).get('/notes')).status).toBe(200);
    await narrow();
    await expect(client.refreshTokenGrant(first.party.config, tokens.refresh_token!)).rejects.toMatchObject({
      error: 'invalid_scope',
    });
    expect(await live()).toBe(0);
    await app.readAccessChanges();
    expect((await app.as(tokens.access_token).get('/notes')).status).toBe(401);
    const refused = await browser(app).open((await first.party.begin({ scope: 'openid workspace' })).url);
    expect(refused.url).toContain('error=invalid_scope');
    expect((await browser(app).open((await first.party.begin({ scope: 'openid email' })).url)).status).toBe(
      200,
    );

    await widen();
    const second = await signedIn();
    await narrow();
    await expect(second.party.finish(second.url, second.begun)).rejects.toMatchObject({
      error: 'invalid_scope',
    });
    expect(await live()).toBe(0);
  });

  test.each(['https://*.acme.example/back', 'https://acme.example/*', 'https://acme.example/?to=%2A'])(
    'a redirect URI has no wildcard: %s',
    async (uri) => {
      const { status, body } = await create(owner, { kind: 'public', redirect_uris: [uri] });
      expect([status, body.details?.[0].field]).toEqual([422, 'redirect_uris']);
    },
  );

  test('need the permission; a plain member registers none, and no member gives a role above their own', async () => {
    expect((await create(member, { kind: 'service' })).body.error).toBe('forbidden');
    const group = (
      await owner.api.post('/rbac/groups', { name: 'Integrators', permissions: ['clients.manage'] })
    ).body.group;
    await owner.api.post(`/rbac/groups/${group.id}/members`, { user_id: member.id });
    expect((await create(member, { kind: 'service', role: 'admin' })).body.error).toBe('cannot_grant_unheld');
    expect((await create(member, { kind: 'service' })).status).toBe(201);
    await owner.api.delete(`/rbac/groups/${group.id}/members/${member.id}`);
  });

  test('the secret of a service goes only to members with all permissions of the service', async () => {
    const [group, body] = [
      (await owner.api.post('/rbac/groups', { name: 'Operators', permissions: ['clients.manage'] })).body
        .group,
      (await create(owner, { kind: 'service', role: 'admin' })).body,
    ];
    await owner.api.post(`/rbac/groups/${group.id}/members`, { user_id: member.id });
    for (const attempt of [
      await member.api.post(`/tenant/clients/${body.client.id}/secret`),
      await member.api.delete(`/tenant/clients/${body.client.id}`),
    ])
      expect([attempt.status, attempt.body.error]).toEqual([403, 'cannot_grant_unheld']);
    expect((await token(body.client.id, body.client_secret)).access_token).toBeDefined();
    expect((await admin.api.post(`/tenant/clients/${body.client.id}/secret`)).status).toBe(200);
    // A service may have permissions by its groups, too.
    const own = (await create(member, { kind: 'service' })).body.client;
    expect((await member.api.post(`/tenant/clients/${own.id}/secret`)).status).toBe(200);
    const strong = (await owner.api.post('/rbac/groups', { name: 'Strong', permissions: ['tenant.policy'] }))
      .body.group;
    await owner.api.post(`/rbac/groups/${strong.id}/members`, { user_id: own.user_id });
    expect((await member.api.post(`/tenant/clients/${own.id}/secret`)).body.error).toBe(
      'cannot_grant_unheld',
    );
    await owner.api.delete(`/rbac/groups/${group.id}/members/${member.id}`);
  });

  test.each([
    [{ kind: 'public' }, 'redirect_uris'],
    [{ kind: 'service', redirect_uris: [REDIRECT] }, 'redirect_uris'],
    [{ kind: 'public', redirect_uris: ['http://evil.example/x'] }, 'redirect_uris'],
    [{ kind: 'public', redirect_uris: ['javascript:alert(1)'] }, 'redirect_uris'],
    [{ kind: 'device' }, 'kind'],
    [{ kind: 'service', scopes: ['root'] }, 'scopes'],
  ])('%j is invalid', async (input, field) => {
    const { status, body } = await create(owner, input);
    expect([status, body.error, body.details?.[0].field]).toEqual([422, 'validation_failed', field]);
  });

  test('an ended session gets no secret, before its process knows of the end', async () => {
    const ended = await app.member('acme', 'ended@acme.example', 'admin');
    const service = { kind: 'service', name: 'Before the end' };
    const { body } = await create(ended, service);
    await app.sql('UPDATE sessions SET revoked_at = now() WHERE account_id = $1', [ended.id]);
    const attempts = [
      await create(ended, { kind: 'service' }),
      await create(ended, { kind: 'confidential', redirect_uris: [REDIRECT] }),
      await ended.api.post(`/tenant/clients/${body.client.id}/secret`),
    ];
    for (const attempt of attempts)
      expect([attempt.status, attempt.body.error]).toEqual([401, 'unauthorized']);
    const rows = await app.sql('SELECT id FROM oidc_clients WHERE created_by = $1', [ended.id]);
    expect(rows).toEqual([{ id: body.client.id }]);
    expect((await token(body.client.id, body.client_secret)).access_token).toBeDefined();
  });

  test('a client that another request removes gets no new secret', async () => {
    const { id } = (await create(owner, { kind: 'confidential', redirect_uris: [REDIRECT] })).body.client;
    const rotated = await afterChange(
      app.databaseUrl,
      (other) => other.query('DELETE FROM oidc_clients WHERE id = $1', [id]),
      () => owner.api.post(`/tenant/clients/${id}/secret`),
    );
    expect([rotated.status, rotated.body.error]).toEqual([404, 'not_found']);
    expect(rotated.text).not.toContain('client_secret');
    const audited = `SELECT FROM audit_log WHERE object_id = $1 AND action = 'identity.client.rotated'`;
    expect(await app.sql(audited, [id])).toEqual([]);
  });

  test('the secret of a service is not replaced while the service gets permissions that the caller lacks', async () => {
    const made = await owner.api.post('/rbac/groups', { name: 'Rotators', permissions: ['clients.manage'] });
    const rotator = await app.member('acme', 'rotator@acme.example');
    await owner.api.post(`/rbac/groups/${made.body.group.id}/members`, { user_id: rotator.id });
    const { body } = await create(rotator, { kind: 'service' });
    const { id, user_id } = body.client;
    const { groups } = (await owner.api.get('/rbac/groups')).body;
    const admins = groups.find(({ key }: any) => key === 'admins');
    const lock = (other: Client) => other.query('SELECT FROM oidc_clients WHERE id = $1 FOR UPDATE', [id]);
    const promote = () => owner.api.post(`/rbac/groups/${admins.id}/members`, { user_id });
    const rotate = () => rotator.api.post(`/tenant/clients/${id}/secret`);
    const rotated = await afterChange(app.databaseUrl, lock, rotate, { meanwhile: promote });
    expect([rotated.status, rotated.body.error]).toEqual([403, 'cannot_grant_unheld']);
    expect((await token(id, body.client_secret)).access_token).toBeDefined();
    await owner.api.delete(`/rbac/groups/${made.body.group.id}`);
  });

  test('a public client has no secret', async () => {
    const { body } = await create(owner, { kind: 'public', redirect_uris: [REDIRECT] });
    expect(body.client_secret).toBeNull();
    const rotated = await owner.api.post(`/tenant/clients/${body.client.id}/secret`);
    expect([rotated.status, rotated.body.error]).toEqual([409, 'client_without_secret']);
  });
});
