import fc from 'fast-check';
import { IssuerSecrets } from '../../../src/modules/issuers/issuers.repository.js';
import { provision } from '../../../src/provision/provision.js';
import { isLoopbackHost, isPrivateAddress } from '../../../src/platform/outbound/outbound-http.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { runs } from '../../support/property-runs.ts';

const SECRET = 'the-secret-of-the-client';
const ISSUER = 'http://127.0.0.1:9';

const FIRST_KEY = 'a-key-of-at-least-thirty-two-characters';
const SECOND_KEY = 'another-key-of-at-least-thirty-two-chars';

describe('issuers of a workspace', () => {
  let app: TestApp;
  let owner: TestUser;
  let member: TestUser;

  beforeAll(async () => {
    app = await TestApp.start({ SECRET_KEYS: FIRST_KEY });
    [owner, member] = await app.tenant('acme', 'owner', 'member');
    const domains = ['acme.example', 'acme.test', 'third.example'];
    await provision(app.served.nest, { tenants: [{ slug: 'acme', domains, users: [] }] });
  });
  afterAll(() => app?.stop());
  afterEach(() => app.sql('DELETE FROM tenant_issuers'));

  const input = { name: 'Acme', issuer: ISSUER, client_id: 'workspace', domains: ['acme.example'] };
  const create = (values: object = {}) => owner.api.post('/tenant/issuers', { ...input, ...values });

  test('are created, read, changed and deleted with their revision, and audited without the secret', async () => {
    const created = await create({ client_secret: SECRET, id: '01890A5D-ac96-774b-bcce-b302099a8057' });
    expect(created.status).toBe(201);
    const { issuer } = created.body;
    expect(issuer).toMatchObject({
      id: '01890a5d-ac96-774b-bcce-b302099a8057',
      revision: 1,
      has_client_secret: true,
      scopes: ['openid', 'email', 'profile'],
      trusts_email: false,
      creates_members: false,
      default_role: 'member',
      required: false,
      enabled: true,
    });
    expect(issuer.redirect_uri).toMatch(/\/apis\/v1\/oidc\/callback\/01890a5d-ac96-774b-bcce-b302099a8057$/);
    const path = `/tenant/issuers/${issuer.id}`;
    expect((await create({ id: issuer.id, domains: ['acme.test'] })).body.error).toBe('already_exists');
    expect((await owner.api.get(path)).headers.get('etag')).toBe(created.headers.get('etag'));
    expect((await owner.api.patch(path, { name: 'New' })).body.error).toBe('invalid_revision');
    const values = { name: 'New', client_secret: null, base_revision: 1 };
    const changed = await owner.api.patch(path, values);
    expect(changed.body.issuer).toMatchObject({ revision: 2, name: 'New', has_client_secret: false });
    expect((await owner.api.patch(path, { ...values, name: 'x' })).body).toMatchObject({
      error: 'conflict',
      revision: 2,
    });
    const same = await owner.api.put(path, { name: 'New', base_revision: 2 });
    expect(same.body.error).toBe('no_changes');
    expect(
      (await owner.api.patch(path, { issuer: 'http://127.0.0.1:10', base_revision: 2 })).body.error,
    ).toBe('no_changes');
    expect((await owner.api.get('/tenant/issuers')).body.issuers).toHaveLength(1);
    expect((await owner.api.delete(path, { base_revision: 2 })).body.deleted).toBe(true);
    expect((await owner.api.get(path)).status).toBe(404);
    const { events } = (await owner.api.get(`/tenant/audit?object_id=${issuer.id}`)).body;
    expect(events.map((event: any) => event.action)).toEqual([
      'tenant.issuer.deleted',
      'tenant.issuer.updated',
      'tenant.issuer.created',
    ]);
    expect(JSON.stringify([events, created.body])).not.toContain(SECRET);
  });

  test('are changed and disabled after the removal of their domain, and bind no other unverified one', async () => {
    const { issuer } = (await create()).body;
    const path = `/tenant/issuers/${issuer.id}`;
    await owner.api.delete('/tenant/domains/acme.example');
    try {
      const bind = { domains: ['acme.example', 'unverified.example'], base_revision: 1 };
      expect((await owner.api.patch(path, bind)).body).toMatchObject({
        error: 'domain_not_verified',
        domain: 'unverified.example',
      });
      const disabled = await owner.api.patch(path, { enabled: false, base_revision: 1 });
      expect([disabled.status, disabled.body.issuer?.enabled]).toEqual([200, false]);
    } finally {
      const domains = ['acme.example', 'acme.test', 'third.example'];
      await provision(app.served.nest, { tenants: [{ slug: 'acme', domains, users: [] }] });
    }
  });

  test('store the secret encrypted with SECRET_KEYS', async () => {
    await create({ client_secret: SECRET });
    const [row] = await app.sql(
      'SELECT row_to_json(stored)::text AS text, client_secret FROM tenant_issuers stored',
    );
    expect(row.text).not.toContain(SECRET);
    expect(row.client_secret).toMatch(/^[0-9a-f]{8}\.[\w-]{40,}$/);
  });

  test('encrypt the secret again at a start with another first key of SECRET_KEYS', async () => {
    const { issuer } = (await create({ client_secret: SECRET })).body;
    const stored = async (): Promise<string> =>
      (await app.sql('SELECT client_secret FROM tenant_issuers'))[0].client_secret;
    const prefix = async () => (await stored()).split('.')[0];
    const startWith = async (keys: string) => {
      const other = await TestApp.start({ SECRET_KEYS: keys }, app.databaseUrl);
      try {
        const secrets = other.get<IssuerSecrets>(IssuerSecrets);
        expect(secrets.open({ tenant_id: owner.tenantId!, id: issuer.id }, await stored())).toBe(SECRET);
      } finally {
        await other.stop();
      }
    };
    const before = await prefix();
    try {
      await startWith(`${SECOND_KEY},${FIRST_KEY}`);
      expect(await prefix()).not.toBe(before);
      // The first key is no longer needed.
      await startWith(SECOND_KEY);
    } finally {
      await startWith(`${FIRST_KEY},${SECOND_KEY}`);
    }
    expect(await prefix()).toBe(before);
  });

  test('need the permission, by default of owners; roles and groups need those that they give', async () => {
    for (const response of [
      await member.api.get('/tenant/issuers'),
      await member.api.post('/tenant/issuers', input),
    ])
      expect([response.status, response.body.error]).toEqual([403, 'forbidden']);
    const { group } = (
      await owner.api.post('/rbac/groups', { name: 'Issuers', permissions: ['issuers.manage'] })
    ).body;
    const { group: strong } = (
      await owner.api.post('/rbac/groups', { name: 'Strong', permissions: ['rbac.manage'] })
    ).body;
    await owner.api.post(`/rbac/groups/${group.id}/members`, { user_id: member.id });
    const asMember = (values: object) => member.api.post('/tenant/issuers', { ...input, ...values });
    const mapped = { groups_claim: 'groups', group_mappings: [{ value: 'x', group_id: strong.id }] };
    expect((await asMember(mapped)).body.error).toBe('cannot_grant_unheld');
    expect((await asMember({ default_role: 'admin' })).body.error).toBe('cannot_grant_unheld');
    const made = await asMember({});
    expect(made.status).toBe(201);
    const path = `/tenant/issuers/${made.body.issuer.id}`;
    const raised = await member.api.patch(path, { default_role: 'admin', base_revision: 1 });
    expect(raised.body.error).toBe('cannot_grant_unheld');
    await owner.api.patch(path, { ...mapped, default_role: 'admin', base_revision: 1 });
    // The issuer as it was read may be written back, also after the deletion of the group: this grants nothing.
    await owner.api.delete(`/rbac/groups/${strong.id}`);
    const read = (await member.api.get(path)).body.issuer;
    expect([read.default_role, read.group_mappings.length]).toEqual(['admin', 1]);
    const renamed = await member.api.put(path, { ...read, name: 'Renamed', base_revision: read.revision });
    expect([renamed.body.error, renamed.body.issuer?.name]).toEqual([undefined, 'Renamed']);
    const other = [
      { value: 'y', group_id: group.id },
      { value: 'z', group_id: strong.id },
    ];
    const added = await member.api.patch(path, { group_mappings: other, base_revision: 3 });
    expect(added.body.error).toBe('unknown_group');
    const held = { groups_claim: 'groups', group_mappings: [{ value: 'x', group_id: group.id }] };
    expect((await create({ ...held, domains: ['acme.test'] })).status).toBe(201);
    const unknown = { group_mappings: [{ value: 'x', group_id: owner.id }], domains: ['third.example'] };
    expect((await create(unknown)).body.error).toBe('unknown_group');
  });

  test('have verified domains, each for one issuer', async () => {
    expect((await create({ domains: ['other.example'] })).body).toMatchObject({
      error: 'domain_not_verified',
      domain: 'other.example',
    });
    const results = await Promise.all([create(), create()]);
    expect(results.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    expect((await create()).body).toMatchObject({ error: 'domain_bound', domain: 'acme.example' });
  });

  test.each([
    ['http://login.example', 'issuer'],
    ['https://10.0.0.1', 'issuer'],
    ['https://[::1]:8443', 'issuer'],
    ['https://[fd00::1]', 'issuer'],
    ['https://[::ffff:192.168.0.1]', 'issuer'],
    ['https://user:pass@login.example', 'issuer'],
    ['https://login.example/#x', 'issuer'],
    ['ftp://login.example', 'issuer'],
  ])('reject the address %s', async (issuer, field) => {
    const { status, body } = await create({ issuer });
    // The loopback address is accepted where PUBLIC_URL is one.
    if (issuer.includes('[::1]')) return expect(status).toBe(201);
    expect([status, body.details?.[0]?.field]).toEqual([422, field]);
  });

  test('are limited to ten', async () => {
    const domains = Array.from({ length: 11 }, (_, n) => `d${n}.acme.example`);
    await provision(app.served.nest, { tenants: [{ slug: 'acme', domains, users: [] }] });
    for (const domain of domains.slice(0, 10)) expect((await create({ domains: [domain] })).status).toBe(201);
    expect((await create({ domains: [domains[10]] })).body.error).toBe('too_many_issuers');
    expect((await owner.api.get('/tenant/issuers')).body.issuers).toHaveLength(10);
  });

  test('a private IPv4 address is recognised in each of its forms', () => {
    const byte = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(fc.constantFrom('10', '127', '169.254', '192.168'), byte, byte, byte, (start, a, b, c) => {
        const address = [...start.split('.'), a, b, c].slice(0, 4).join('.');
        const hex = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
        const groups = `${hex[0]}${hex[1]}:${hex[2]}${hex[3]}`;
        for (const form of [
          address,
          `::ffff:${address}`,
          `::ffff:${groups}`,
          `64:ff9b::${groups}`,
          `2002:${groups}::`,
        ])
          expect([form, isPrivateAddress(form)]).toEqual([form, true]);
      }),
      { seed: 19, numRuns: runs(200) },
    );
    for (const address of ['8.8.8.8', '172.32.0.1', '2606:4700::1111'])
      expect(isPrivateAddress(address)).toBe(false);
    for (const host of ['localhost.example', '128.0.0.1', 'login.example'])
      expect(isLoopbackHost(host)).toBe(false);
  });
});
