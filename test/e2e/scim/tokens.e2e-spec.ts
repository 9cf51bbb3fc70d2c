import type { TestUser } from '../../support/app.ts';
import { TestApp } from '../../support/app.ts';
import { provision } from '../../../src/provision/provision.js';
import { ScimClient } from '../../support/sign-in/scim.ts';

describe('tokens of identity providers', () => {
  let app: TestApp;
  let owner: TestUser;
  let admin: TestUser;
  let member: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [owner, admin, member] = await app.tenant('acme', 'owner', 'admin', 'member');
    await provision(app.served.nest, {
      tenants: [{ slug: 'acme', users: [{ email: admin.email, name: 'Admin', role: 'admin' }] }],
    });
    await app.readAccessChanges();
  });
  afterAll(() => app?.stop());

  const create = async (input: object = {}) =>
    (await owner.api.post('/tenant/scim/tokens', { name: 'Entra', ...input })).body;
  const statusWith = async (token: string) => (await new ScimClient(app.base, token).get('/Users')).status;
  const actions = async (id: string) =>
    (await owner.api.get(`/tenant/audit?object_id=${id}`)).body.events.map(({ action }: any) => action);

  test('only members with scim.manage manage them, by default owners', async () => {
    for (const { api } of [admin, member]) {
      expect((await api.post('/tenant/scim/tokens', { name: 'x' })).status).toBe(403);
      expect((await api.get('/tenant/scim/tokens')).status).toBe(403);
    }
    const { groups } = (await owner.api.get('/rbac/groups')).body;
    const admins = groups.find(({ key }: any) => key === 'admins');
    await owner.api.post(`/rbac/groups/${admins.id}/permissions/scim.manage`);
    expect((await admin.api.get('/tenant/scim/tokens')).status).toBe(200);
    await owner.api.delete(`/rbac/groups/${admins.id}/permissions/scim.manage`);
  });

  test('the secret is returned once and stored as a hash', async () => {
    const { scim_token: token, secret, base_url } = await create();
    expect(base_url).toMatch(/\/apis\/v1\/scim\/v2$/);
    expect(token).toMatchObject({ name: 'Entra', created_by: owner.id, rotated_at: null, expires_at: null });
    const listed = await owner.api.get('/tenant/scim/tokens');
    expect(listed.text).not.toContain(secret);
    const rows = await app.sql('SELECT scim_tokens::text AS row FROM scim_tokens');
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(await actions(token.id)).toEqual(['scim.token.created']);
    const audit = await app.sql('SELECT data::text FROM audit_log');
    expect(JSON.stringify(audit)).not.toContain(secret);
  });

  test('a token works until it is replaced, revoked or expired, and its use is shown', async () => {
    const { scim_token: token, secret } = await create({ expires_in_days: 10 });
    expect(await statusWith(secret)).toBe(200);
    const { scim_tokens: listed } = (await owner.api.get('/tenant/scim/tokens')).body;
    expect(listed.find(({ id }: any) => id === token.id).last_used_at).not.toBeNull();

    const rotated = await owner.api.post(`/tenant/scim/tokens/${token.id}/rotate`);
    expect(rotated.status).toBe(200);
    expect(rotated.body.secret).not.toBe(secret);
    expect([await statusWith(secret), await statusWith(rotated.body.secret)]).toEqual([401, 200]);
    expect(Date.parse(rotated.body.scim_token.expires_at)).toBeGreaterThanOrEqual(
      Date.parse(token.expires_at),
    );

    await app.sql(`UPDATE scim_tokens SET expires_at = now() - make_interval(secs => 1) WHERE id = $1`, [
      token.id,
    ]);
    expect(await statusWith(rotated.body.secret)).toBe(401);

    const other = await create();
    expect((await owner.api.delete(`/tenant/scim/tokens/${other.scim_token.id}`)).status).toBe(200);
    expect(await statusWith(other.secret)).toBe(401);
    expect((await owner.api.delete(`/tenant/scim/tokens/${other.scim_token.id}`)).status).toBe(404);
    expect(await actions(token.id)).toEqual(['scim.token.rotated', 'scim.token.created']);
  });

  test('an ended session gets no secret, before its process knows of the end', async () => {
    const [ended] = await app.tenant('ended', 'owner');
    const made = await ended.api.post('/tenant/scim/tokens', { name: 'Entra' });
    const { id } = made.body.scim_token;
    await app.sql('UPDATE sessions SET revoked_at = now() WHERE account_id = $1', [ended.id]);
    const attempts = [
      await ended.api.post('/tenant/scim/tokens', { name: 'Okta' }),
      await ended.api.post(`/tenant/scim/tokens/${id}/rotate`),
    ];
    expect(attempts.map(({ status, body }) => [status, body.error])).toEqual([
      [401, 'unauthorized'],
      [401, 'unauthorized'],
    ]);
    expect(await statusWith(made.body.secret)).toBe(200);
    const rows = await app.sql('SELECT id FROM scim_tokens WHERE tenant_id = $1', [ended.tenantId]);
    expect(rows).toEqual([{ id }]);
  });

  test('a workspace has at most ten', async () => {
    await app.sql('DELETE FROM scim_tokens');
    for (let n = 0; n < 10; n += 1) await create();
    const { status, body } = await owner.api.post('/tenant/scim/tokens', { name: 'x' });
    expect([status, body.error]).toEqual([422, 'too_many_scim_tokens']);
    await app.sql('DELETE FROM scim_tokens');
  });

  test('it opens the SCIM interface only, and other tokens do not open that', async () => {
    const { secret } = await create();
    for (const path of ['/notes', '/tenant/members', '/tenant/scim/tokens', '/rbac/groups'])
      expect((await app.as(secret).get(path)).status).toBe(401);
    const { status, body, headers } = await new ScimClient(app.base, owner.token).get('/Users');
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);
    expect(headers.get('content-type')).toBe('application/scim+json');
    expect(body).toMatchObject({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: '401',
    });
    // The body of a request without a valid token is not read.
    const huge = await app.anonymous.request('POST', '/scim/v2/Users', { raw: 'x'.repeat(2_000_000) });
    expect(huge.status).toBe(401);
  });

  test('the rate of a token is limited', async () => {
    const limited = await TestApp.start({ API_REQUESTS_PER_MINUTE: '3' }, app.databaseUrl);
    try {
      const { secret } = await create();
      const client = new ScimClient(limited.base, secret);
      const responses = [];
      for (let n = 0; n < 5; n += 1) responses.push(await client.get('/Users?count=0'));
      const rejected = responses.at(-1)!;
      expect([rejected.status, rejected.body.status]).toEqual([429, '429']);
      expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      await limited.stop();
    }
  });
});
