import { jest } from '@jest/globals';
import type { Client } from 'pg';
import SCIMMY from 'scimmy';
import { Provisioning } from '../../../src/modules/access/index.js';
import { PersonalErasureWorker } from '../../../src/modules/personal-data/erasure/personal-erasures.js';
import { ProfileService } from '../../../src/modules/settings/index.js';
import { TenantsApi } from '../../../src/modules/tenants/index.js';
import { PAGE_BYTES } from '../../../src/platform/bounded-pages/page-bytes.js';
import { provision } from '../../../src/provision/provision.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { afterChange } from '../../support/database/locks.ts';
import { ENTERPRISE, PATCH_OP, ScimClient, USER_SCHEMA } from '../../support/sign-in/scim.ts';
import { MailedApp } from '../../support/mail/mailed-app.ts';

const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';
const UNKNOWN = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';

describe('users by SCIM', () => {
  let at: MailedApp;
  let app: TestApp;
  let owner: TestUser;
  let scim: ScimClient;
  let n = 0;

  beforeAll(async () => {
    at = await MailedApp.start();
    app = at.app;
    [owner] = await app.tenant('acme', 'owner');
    scim = await ScimClient.of(app, owner, 'acme.example');
  });
  afterAll(() => at?.stop());

  const address = () => `user${(n += 1)}@acme.example`;
  const memberOf = async (id: string) =>
    (await owner.api.get('/tenant/members?limit=200')).body.members.find((row: any) => row.user_id === id);
  const profileOf = async (id: string) => {
    const [row] = await app.sql('SELECT locale, timezone FROM user_profiles WHERE user_id = $1', [id]);
    return row;
  };
  const replace = (path: string, value: unknown) => ({ op: 'replace', path, value });

  test('a page ends at the bytes of its users, also a page of a filter', async () => {
    const [boss] = await app.tenant('big', 'boss');
    const big = await ScimClient.of(app, boss, 'big.example');
    await app.sql(
      `INSERT INTO tenant_members SELECT (jsonb_populate_record(member, jsonb_build_object('user_id', gen_random_uuid(), 'role', 'member'))).*
         FROM tenant_members member, generate_series(1, 39) WHERE member.tenant_id = $1`,
      [boss.tenantId],
    );
    const text = 'é'.repeat(500);
    const addresses = Array.from({ length: 50 }, () => ({
      streetAddress: text,
      region: text,
      locality: text,
    }));
    await app.sql(
      `INSERT INTO scim_users (tenant_id, user_id, attributes) SELECT tenant_id, user_id, $2::jsonb FROM tenant_members WHERE tenant_id = $1`,
      [boss.tenantId, { addresses }],
    );
    for (const filter of ['', `&filter=${encodeURIComponent('addresses pr')}`]) {
      const found: string[] = [];
      const lengths: number[] = [];
      for (let total = 1; found.length < total;) {
        const path = `/Users?count=200&startIndex=${found.length + 1}${filter}`;
        const { body } = await big.get(path);
        expect(body).toMatchObject({ totalResults: 40, itemsPerPage: body.Resources.length });
        total = body.totalResults;
        lengths.push(Buffer.byteLength(JSON.stringify(body)));
        found.push(...body.Resources.map(({ id }: any) => id));
      }
      expect(new Set(found).size).toBe(40);
      expect(lengths.length).toBeGreaterThan(1);
      expect(Math.max(...lengths)).toBeLessThan(PAGE_BYTES + 10_000);
    }
    const all = 'id pr or userName eq "none"';
    const none = (await big.get(`/Users?count=0&filter=${encodeURIComponent(all)}`)).body;
    expect([none.totalResults, none.itemsPerPage]).toEqual([40, 0]);
  });

  test('the documented request of Entra creates a member', async () => {
    const userName = address();
    const created = await scim.post('/Users', {
      schemas: [USER_SCHEMA, ENTERPRISE],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      userName,
      active: true,
      emails: [{ primary: true, type: 'work', value: 'Test_User@testuser.example' }],
      meta: { resourceType: 'User' },
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      roles: [],
      [ENTERPRISE]: { department: 'Research' },
    });
    expect(created.status).toBe(201);
    const { id, meta } = created.body;
    expect(created.headers.get('content-type')).toBe('application/scim+json');
    expect(created.headers.get('location')).toBe(`https://work.example/apis/v1/scim/v2/Users/${id}`);
    expect([meta.location, meta.resourceType]).toEqual([created.headers.get('location'), 'User']);
    expect(created.headers.get('etag')).toBe(meta.version);
    expect(created.body).toMatchObject({
      schemas: [USER_SCHEMA, ENTERPRISE],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      userName,
      active: true,
      displayName: 'givenName familyName',
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      emails: [{ primary: true, type: 'work', value: 'Test_User@testuser.example' }],
      groups: [],
      [ENTERPRISE]: { department: 'Research' },
    });
    expect(await memberOf(id)).toMatchObject({
      email: userName,
      display_name: 'givenName familyName',
      role: 'member',
      status: 'active',
    });
    expect((await scim.get(`/Users/${id}`)).body).toEqual(created.body);
    const audit = (await owner.api.get(`/tenant/audit?object_id=${id}&action=user.provisioned`)).body.events;
    expect(audit[0].data).toEqual({ email: userName, scim_token: expect.any(String) });
  });

  test('the manager is stored as clients send it: Okta by POST and PUT, Entra by PATCH', async () => {
    const userName = address();
    const boss = await scim.user(address());
    const resource = { schemas: [USER_SCHEMA, ENTERPRISE], userName };
    const okta = { value: boss.id, displayName: 'Ann Boss' };
    const created = await scim.post('/Users', { ...resource, [ENTERPRISE]: { manager: okta } });
    const $ref = boss.meta.location;
    const referred = { manager: { value: boss.id, $ref } };
    expect([created.status, created.body[ENTERPRISE]]).toEqual([201, { manager: { ...okta, $ref } }]);
    const path = `/Users/${created.body.id}`;
    const put = await scim.put(path, { ...resource, [ENTERPRISE]: { manager: boss.id } });
    expect([put.status, put.body[ENTERPRISE]]).toEqual([200, referred]);
    const manager = `${ENTERPRISE}:manager`;
    const removed = await scim.patch(path, [{ op: 'Remove', path: manager }]);
    expect([removed.status, removed.body[ENTERPRISE]]).toEqual([200, undefined]);
    const value = [{ $ref: boss.meta.location, value: boss.id }];
    const added = await scim.patch(path, [{ op: 'Add', path: manager, value }]);
    expect([added.status, added.body[ENTERPRISE]]).toEqual([200, referred]);
    expect((await scim.get(path)).body).toEqual(added.body);
  });

  test('the address of the manager is that of the value, which may be no user yet', async () => {
    const [one, two] = [await scim.user(address()), await scim.user(address())];
    const { id } = await scim.user(address());
    const set = async (value: unknown, path = `${ENTERPRISE}:manager`) => {
      const { status, body } = await scim.patch(`/Users/${id}`, [{ op: 'replace', path, value }]);
      expect(status).toBe(200);
      return body[ENTERPRISE]?.manager;
    };
    const own = `https://idp.example/scim/Users/${'x'.repeat(3_000)}/${one.id}`;
    expect(await set({ value: one.id, $ref: own })).toEqual({ value: one.id, $ref: one.meta.location });
    expect(await set({ value: two.id })).toEqual({ value: two.id, $ref: two.meta.location });
    expect(await set(one.id, `${ENTERPRISE}:manager.value`)).toEqual({
      value: one.id,
      $ref: one.meta.location,
    });
    expect(await set({ displayName: 'One' })).toEqual({
      value: one.id,
      $ref: one.meta.location,
      displayName: 'One',
    });
    expect(await set('E-18')).toEqual({ value: 'E-18' });
    expect(await set('')).toBeUndefined();
    expect(await set({ $ref: own })).toBeUndefined();
    expect(await set(one.id)).toEqual({ value: one.id, $ref: one.meta.location });
    expect(await set('', `${ENTERPRISE}:manager.value`)).toBeUndefined();
    const [row] = await app.sql('SELECT attributes FROM scim_users WHERE user_id = $1', [id]);
    expect(row.attributes).toEqual({});
  });

  test('a new user sets a password by the page in the mail', async () => {
    const userName = address();
    await scim.user(userName);
    const [mail] = await at.mailsTo(userName);
    expect(mail!.subject).toBe('Your account in acme');
    const page = await at.linkTo(userName);
    await at.submit(page, { email: userName });
    const reset = await at.submit(await at.linkTo(userName), { new_password: 'seven purple teapots dance' });
    expect(reset.status).toBe(200);
  });

  test.each([
    ['preferredLanguage', { preferredLanguage: 'fr, de-AT;q=0.8, en;q=0.5' }, 'Ihr Konto in acme', 'de-AT'],
    ['locale', { locale: 'pt_BR' }, 'A sua conta em acme', 'pt-BR'],
    ['both', { preferredLanguage: 'vi', locale: 'en-US' }, 'Tài khoản của bạn trong acme', 'vi'],
    ['none that has texts', { preferredLanguage: 'fr' }, 'Your account in acme', 'fr'],
    ['invalid values', { preferredLanguage: 'x y,;;q=9', locale: '!' }, 'Your account in acme', null],
  ])('the mail is in the language of the user: %s', async (_, attributes, subject, locale) => {
    const userName = address();
    const created = await scim.user(userName, { ...attributes, timezone: 'Europe/Berlin' });
    expect(created).toMatchObject(attributes);
    const [mail] = await at.mailsTo(userName);
    expect(mail!.subject).toBe(subject);
    expect(await profileOf(created.id)).toEqual({ locale, timezone: 'Europe/Berlin' });
  });

  test('without a language, the mail is in that of the owner who created the token', async () => {
    const [other] = await app.tenant('globex', 'boss');
    const client = await ScimClient.of(app, other, 'globex.example');
    await other.api.put('/settings/general-preferences', { language: 'pt' });
    await client.user('ann@globex.example');
    const [mail] = await at.mailsTo('ann@globex.example');
    expect(mail!.subject).toBe('A sua conta em globex');
  });

  test('a changed language changes the profile; an unchanged one keeps the choice of the user', async () => {
    const userName = address();
    const { id } = await scim.user(userName, { preferredLanguage: 'de', timezone: 'Europe/Berlin' });
    await app.sql(`UPDATE user_profiles SET locale = 'vi', timezone = 'Asia/Saigon' WHERE user_id = $1`, [
      id,
    ]);
    await scim.patch(`/Users/${id}`, [replace('displayName', 'Boss')]);
    expect(await profileOf(id)).toEqual({ locale: 'vi', timezone: 'Asia/Saigon' });
    await scim.patch(`/Users/${id}`, [replace('locale', 'de-CH'), replace('timezone', 'no zone')]);
    expect(await profileOf(id)).toEqual({ locale: 'de-CH', timezone: 'Asia/Saigon' });
    await scim.patch(`/Users/${id}`, [replace('timezone', 'W. Europe Standard Time')]);
    expect(await profileOf(id)).toEqual({ locale: 'de-CH', timezone: 'Europe/Berlin' });
    const renamed = address();
    await scim.patch(`/Users/${id}`, [replace('userName', renamed)]);
    expect((await at.mailsTo(userName)).at(-1)!.subject).toMatch(/Adresse/);
  });

  test('a new user who is inactive gets the mail at the first activation only', async () => {
    const userName = address();
    const count = async () => (await at.mailsTo(userName)).length;
    const { id } = await scim.user(userName, { active: false });
    await scim.patch(`/Users/${id}`, [replace('displayName', 'Nora')]);
    expect(await count()).toBe(0);
    await scim.patch(`/Users/${id}`, [replace('active', true)]);
    expect(await count()).toBe(1);
    // The records of mails are deleted after some time.
    await app.sql(`DELETE FROM system_mails WHERE recipient = $1`, [userName]);
    for (const active of [false, true]) await scim.patch(`/Users/${id}`, [replace('active', active)]);
    expect(await count()).toBe(1);
  });

  test('a user who was deleted while inactive gets the mail when created again', async () => {
    const userName = address();
    const { id } = await scim.user(userName, { active: false });
    expect((await scim.delete(`/Users/${id}`)).status).toBe(204);
    expect(await at.mailsTo(userName)).toEqual([]);
    expect((await scim.user(userName)).id).toBe(id);
    expect(await at.mailsTo(userName)).toHaveLength(1);
  });

  test('an existing account joins under its own name and gets no mail', async () => {
    const loner = await app.userWithoutWorkspace('lena');
    await app.sql(
      `INSERT INTO tenant_domains (tenant_id, domain, verified_at) VALUES ($1, 'nowhere.example', now())`,
      [owner.tenantId],
    );
    const created = await scim.user(loner.email, { displayName: 'Lena of Acme' });
    expect(created.id).toBe(loner.id);
    expect(await at.mailsTo(loner.email)).toEqual([]);
    const [account] = await app.sql('SELECT display_name FROM accounts WHERE id = $1', [loner.id]);
    expect(account.display_name).toBe('lena');
  });

  test('addresses outside the verified domains, and no addresses, are rejected', async () => {
    const outside = await scim.post('/Users', { schemas: [USER_SCHEMA], userName: 'eve@other.example' });
    expect([outside.status, outside.body.detail]).toEqual([
      403,
      'The workspace has not verified the domain other.example.',
    ]);
    const none = await scim.post('/Users', { schemas: [USER_SCHEMA], userName: 'eve' });
    expect([none.status, none.body.scimType]).toEqual([400, 'invalidValue']);
    const missing = await scim.post('/Users', { schemas: [USER_SCHEMA] });
    expect([missing.status, missing.body.scimType]).toEqual([400, 'invalidValue']);
    const other = await scim.post('/Users', { schemas: ['urn:other'], userName: address() });
    expect([other.status, other.body.scimType]).toEqual([400, 'invalidSyntax']);
    // Some clients omit `schemas`.
    expect((await scim.post('/Users', { userName: address() })).status).toBe(201);
  });

  describe('two changes of userName at the same moment', () => {
    const changeAtOnce = async (id: string, names: string[]) => {
      const lock = (other: Client) => other.query('SELECT FROM accounts WHERE id = $1 FOR UPDATE', [id]);
      const change = (name: string) => scim.patch(`/Users/${id}`, [replace('userName', name)]);
      return afterChange(app.databaseUrl, lock, () => Promise.all(names.map(change)));
    };
    const changesOf = async (id: string) => {
      const path = `/tenant/audit?object_id=${id}&action=security.email_changed`;
      return (await owner.api.get(path)).body.events.map(({ data: { old, email } }: any) => [old, email]);
    };

    test('to different addresses: one is rejected, and changes nothing', async () => {
      const { id, userName: old } = await scim.user(address());
      const names = [address(), address()];
      const responses = await changeAtOnce(id, names);
      expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 409]);
      const winner = responses.find(({ status }) => status === 200)!.body.userName;
      expect(names).toContain(winner);
      expect(await changesOf(id)).toEqual([[old, winner]]);
      await at.drain();
      expect(await app.sql('SELECT email FROM accounts WHERE id = $1', [id])).toEqual([{ email: winner }]);
      expect((await memberOf(id)).email).toBe(winner);
    });

    test('to one address: it changes once', async () => {
      const { id, userName: old } = await scim.user(address());
      const name = address();
      const responses = await changeAtOnce(id, [name, name]);
      expect(responses.map(({ status, body }) => [status, body.userName])).toEqual([
        [200, name],
        [200, name],
      ]);
      expect(await changesOf(id)).toEqual([[old, name]]);
    });

    test('the memberships get the address of the later one', async () => {
      const { id } = await scim.user(address());
      const [earlier, later] = [address(), address()];
      const tenants = app.get<TenantsApi>(TenantsApi);
      const original = tenants.setEmail.bind(tenants);
      // Addresses of the tests before are passed on meanwhile.
      const setEmail = jest.spyOn(tenants, 'setEmail').mockImplementation(async (userId, email) => {
        if (email === earlier)
          await app.sql('UPDATE accounts SET email = $2, email_key = $2 WHERE id = $1', [id, later]);
        await original(userId, email);
      });
      await scim.patch(`/Users/${id}`, [replace('userName', earlier)]);
      setEmail.mockRestore();
      expect((await memberOf(id)).email).toBe(later);
    });
  });

  test('lastModified also follows changes that the user makes', async () => {
    const { id, meta } = await scim.user(address());
    const lastModified = async () => Date.parse((await scim.get(`/Users/${id}`)).body.meta.lastModified);
    let before = Date.parse(meta.lastModified);
    const expectLater = async () => {
      const after = await lastModified();
      expect(after).toBeGreaterThan(before);
      before = after;
    };
    const user = await app.member('acme', (await memberOf(id)).email);
    for (const fields of [{ given_name: 'Ann' }, { display_name: 'Ann Boss' }]) {
      expect((await user.api.put('/settings/profile', fields)).status).toBe(200);
      await expectLater();
    }
    const email = address();
    await app.sql('UPDATE accounts SET email = $2, email_key = $2 WHERE id = $1', [id, email]);
    await app.get<TenantsApi>(TenantsApi).setEmail(id, email);
    await expectLater();
  });

  test('lastModified also follows a status set by an administrator, and a name set by the operator', async () => {
    const { id } = await scim.user(address());
    const { email } = await memberOf(id);
    const LONG_AGO = '2026-01-01T00:00:00.000Z';
    const rename = (name: string) =>
      provision(app.served.nest, {
        tenants: [{ slug: 'acme', users: [{ email, name, role: 'member' }] }],
      });
    for (const [change, isChange] of [
      [() => owner.api.post(`/tenant/members/${id}/deactivate`), true],
      [() => owner.api.post(`/tenant/members/${id}/activate`), true],
      [() => rename('Ann Boss'), true],
      [() => rename('Ann Boss'), false],
    ] as const) {
      for (const [table, column] of [
        ['tenant_members', 'created_at'],
        ['tenant_members', 'changed_at'],
        ['user_profiles', 'updated_at'],
        ['scim_users', 'updated_at'],
      ])
        await app.sql(`UPDATE ${table} SET ${column} = $2 WHERE user_id = $1`, [id, LONG_AGO]);
      expect((await scim.get(`/Users/${id}`)).body.meta.lastModified).toBe(LONG_AGO);
      await change();
      const { lastModified } = (await scim.get(`/Users/${id}`)).body.meta;
      expect([String(change), lastModified !== LONG_AGO]).toEqual([String(change), isChange]);
    }
  });

  test('userName and externalId are unique, also for parallel requests', async () => {
    const userName = address();
    const responses = await Promise.all(
      [1, 2, 3, 4].map(() =>
        scim.post('/Users', { schemas: [USER_SCHEMA], userName, externalId: `e-${userName}` }),
      ),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    for (const { status, body } of responses) if (status === 409) expect(body.scimType).toBe('uniqueness');
    const upper = await scim.post('/Users', { schemas: [USER_SCHEMA], userName: userName.toUpperCase() });
    expect([upper.status, upper.body.scimType]).toEqual([409, 'uniqueness']);
    const external = await scim.post('/Users', {
      schemas: [USER_SCHEMA],
      userName: address(),
      externalId: `e-${userName}`,
    });
    expect([external.status, external.body.scimType]).toEqual([409, 'uniqueness']);
  });

  test('the look-ups of Entra and Okta, and other filters', async () => {
    const userName = address();
    const { id } = await scim.user(userName, {
      externalId: 'ext-1',
      title: 'Boss',
      emails: [{ type: 'work', value: 'boss@mail.example', primary: true }],
      [ENTERPRISE]: { department: 'Direction' },
    });
    const idsOf = async (filter: string) => (await scim.find('/Users', filter)).map((user) => user.id);
    const found = [
      `userName eq "${userName}"`,
      `userName Eq "${userName.toUpperCase()}"`,
      'externalId eq "ext-1"',
      `id eq "${id}" and active eq true`,
      'emails[type eq "work"].value eq "boss@mail.example"'
        .replace('].value', ' and value')
        .replace(/"$/, '"]'),
      'emails.value sw "boss@"',
      'title pr and not (title eq "Clerk")',
      `${ENTERPRISE}:department eq "direction"`,
      `${USER_SCHEMA}:userName eq "${userName}"`,
      `meta.created gt "2011-05-13T04:42:34Z" and title co "oss"`,
    ];
    for (const filter of found) expect([filter, await idsOf(filter)]).toEqual([filter, [id]]);
    expect(await idsOf('userName eq "nobody@acme.example"')).toEqual([]);
    expect(await idsOf('externalId eq "EXT-1"')).toEqual([]);
    expect(await idsOf('id eq "unknown"')).toEqual([]);
  });

  test.each([
    'userName',
    'userName eq',
    'userName zz "a"',
    'unknown eq "a"',
    'userName eq "a" and',
    '(userName eq "a"',
    'userName eq "a")',
    'active gt true',
    'userName eq {"a":1}',
    'name[familyName eq "a"]',
    'userName eq "\\u00',
    'userName eq "\\u0000"',
    'title eq "\\ud800"',
    '('.repeat(50) + 'title pr' + ')'.repeat(50),
    'title pr and '.repeat(500) + 'title pr',
    `userName eq "${'x'.repeat(5000)}"`,
  ])('the filter %# is rejected', async (filter) => {
    const { status, body } = await scim.get(`/Users?filter=${encodeURIComponent(filter)}`);
    expect([status, body.scimType]).toEqual([400, 'invalidFilter']);
  });

  test('pages by number, without gaps', async () => {
    for (let k = 0; k < 3; k += 1) await scim.user(address());
    const { totalResults, Resources: all } = (await scim.get('/Users')).body;
    expect(all).toHaveLength(totalResults);
    const pages = [];
    for (let start = 1; start <= totalResults; start += 2)
      pages.push(...(await scim.get(`/Users?startIndex=${start}&count=2`)).body.Resources);
    expect(pages).toEqual(all);
    expect((await scim.get('/Users?count=0')).body).toMatchObject({
      totalResults,
      itemsPerPage: 0,
      Resources: [],
    });
    expect((await scim.get('/Users?startIndex=-5&count=1')).body).toMatchObject({
      startIndex: 1,
      itemsPerPage: 1,
    });
    expect((await scim.get('/Users?startIndex=x')).status).toBe(400);
    expect((await scim.get('/Users?count=1&count=2')).status).toBe(400);
  });

  test('attributes and excludedAttributes select', async () => {
    const { id } = await scim.user(address(), {
      name: { givenName: 'A', familyName: 'B' },
      [ENTERPRISE]: { division: 'D' },
    });
    const select = async (query: string) => (await scim.get(`/Users/${id}?${query}`)).body;
    expect(await select('attributes=userName,name.givenName')).toEqual({
      schemas: [USER_SCHEMA, ENTERPRISE],
      id,
      userName: expect.any(String),
      name: { givenName: 'A' },
    });
    expect(await select(`attributes=${ENTERPRISE}:division`)).toMatchObject({
      [ENTERPRISE]: { division: 'D' },
    });
    const rest = await select('excludedAttributes=groups,emails.type,id,meta');
    expect(rest).toMatchObject({ id, emails: [{ primary: true }] });
    expect(rest.emails[0]).not.toHaveProperty('type');
    expect([rest.groups, rest.meta]).toEqual([undefined, undefined]);
  });

  test('the documented updates of Entra: Replace in capitals, booleans as text, paths by filter', async () => {
    const { id } = await scim.user(address(), { active: true });
    const off = await scim.patch(`/Users/${id}`, [{ op: 'Replace', path: 'active', value: 'False' }]);
    expect([off.status, off.body.active]).toEqual([200, false]);
    expect((await memberOf(id)).status).toBe('deactivated');
    const on = await scim.patch(`/Users/${id}`, [{ op: 'Replace', path: 'active', value: 'True' }]);
    expect(on.body.active).toBe(true);
    const updated = await scim.patch(`/Users/${id}`, [
      { op: 'Add', path: 'emails[type eq "home"].value', value: 'home@acme.example' },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updated@microsoft.example' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
      { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Sales' },
      {
        op: 'Add',
        value: { 'name.givenName': 'Given', displayName: 'New Name', [`${ENTERPRISE}:division`]: 'West' },
      },
      { op: 'Replace', path: 'addresses[type eq "work"].locality', value: 'Berlin' },
    ]);
    expect(updated.status).toBe(200);
    expect(updated.body).toMatchObject({
      displayName: 'New Name',
      name: { givenName: 'Given', familyName: 'updatedFamilyName' },
      [ENTERPRISE]: { department: 'Sales', division: 'West' },
      emails: expect.arrayContaining([
        { type: 'home', value: 'home@acme.example' },
        { type: 'work', value: 'updated@microsoft.example', primary: true },
      ]),
      addresses: [{ type: 'work', locality: 'Berlin' }],
    });
    const target = await scim.patch(`/Users/${id}`, [
      replace('emails[value eq "x@acme.example"].type', 'home'),
    ]);
    expect([target.status, target.body.scimType]).toEqual([400, 'noTarget']);
    expect((await memberOf(id)).display_name).toBe('New Name');
  });

  /** Attributes of the core schema that the service stores for the client and does not use. */
  const STORED = {
    profileUrl: 'https://home.example/ina',
    nickName: 'Inka',
    roles: [{ value: 'clerk', primary: true }],
    entitlements: [{ value: 'crane' }],
    ims: [{ type: 'xmpp', value: 'ina@home.example' }],
    photos: [{ type: 'photo', value: 'https://home.example/p.png' }],
    x509Certificates: [{ value: 'MIIBszCCAVmgAwIBAgIUZ2k=' }],
    addresses: [{ type: 'work', locality: 'Bergen' }],
  };

  test('all attributes of the core schema are stored and returned, except the password', async () => {
    const userName = address();
    const { id } = await scim.user(userName, { ...STORED, password: 'seven purple teapots dance' });
    const read = async () => (await scim.get(`/Users/${id}`)).body;
    expect(await read()).toMatchObject(STORED);
    expect(await read()).not.toHaveProperty('password');
    const body = { schemas: [USER_SCHEMA], userName, active: true, ...STORED, nickName: 'Ina' };
    expect((await scim.put(`/Users/${id}`, body)).status).toBe(200);
    expect(await read()).toMatchObject({ ...STORED, nickName: 'Ina' });
    expect(
      await scim.find('/Users', `userName eq "${userName}" and roles[primary eq true].value eq "clerk"`),
    ).toHaveLength(1);
  });

  test.each(
    [...Object.entries(STORED), ['password', 'seven purple teapots dance']].flatMap(([name, value]) => [
      [`adds ${name}`, { op: 'Add', path: name, value }],
      [`removes ${name}`, { op: 'Remove', path: name }],
      [`names ${name} without a path`, { op: 'Replace', value: { [name]: value } }],
    ]) as [string, object][],
  )('a deactivation is effective when the same PATCH %s', async (_, operation) => {
    const { id } = await scim.user(address());
    const { status, body } = await scim.patch(`/Users/${id}`, [replace('active', 'False'), operation]);
    expect([status, body.active]).toEqual([200, false]);
  });

  test('numbers in texts are read, so that a deactivation beside them is effective', async () => {
    const { id } = await scim.user(address());
    const { status, body } = await scim.patch(`/Users/${id}`, [
      replace('active', 'False'),
      replace(`${ENTERPRISE}:employeeNumber`, 12345),
      { op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: 4755502222 },
    ]);
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        active: false,
        [ENTERPRISE]: { employeeNumber: '12345' },
        phoneNumbers: [{ type: 'work', value: '4755502222' }],
      }),
    ]);
  });

  test('an emptied address is that of userName again', async () => {
    const userName = address();
    const { id } = await scim.user(userName, { emails: [{ type: 'work', value: 'ina@mail.example' }] });
    const { body } = await scim.patch(`/Users/${id}`, [replace('emails[type eq "work"].value', '')]);
    expect(body.emails).toEqual([{ value: userName, type: 'work', primary: true }]);
  });

  test('the documented check and change of a manager, of Entra', async () => {
    const boss = await scim.user(address());
    const { id } = await scim.user(address());
    const { status, body } = await scim.patch(`/Users/${id}`, [
      { op: 'Replace', path: 'active', value: 'False' },
      { op: 'Add', path: 'manager', value: [{ $ref: `http://x/scim/Users/${boss.id}`, value: boss.id }] },
      { op: 'Add', path: 'department', value: 'Tours' },
    ]);
    expect(status).toBe(200);
    expect([body.active, body[ENTERPRISE]]).toEqual([
      false,
      { manager: { value: boss.id, $ref: boss.meta.location }, department: 'Tours' },
    ]);
    const found = async (filter: string) =>
      (await scim.get(`/Users?filter=${encodeURIComponent(filter)}&attributes=id`)).body.Resources;
    expect(await found(`id eq "${id}" and manager eq "${boss.id}"`)).toMatchObject([{ id }]);
    expect(await found(`id eq "${id}" and ${ENTERPRISE}:manager eq "${boss.id}"`)).toMatchObject([{ id }]);
    expect(await found(`id eq "${id}" and manager eq "${id}"`)).toEqual([]);
  });

  test('texts that are longer than those of a profile are kept, and stop no deactivation', async () => {
    const userName = address();
    const written = {
      displayName: `Jo ${'\u{1f600}'.repeat(120)}`,
      title: 't'.repeat(126),
      name: { givenName: 'g'.repeat(100), familyName: 'f'.repeat(120), formatted: 'x'.repeat(300) },
    };
    const { id } = await scim.user(userName);
    const { status, body } = await scim.patch(`/Users/${id}`, [
      { op: 'replace', path: 'active', value: 'False' },
      { op: 'replace', value: written },
    ]);
    expect(status).toBe(200);
    expect(body).toMatchObject({ active: false, ...written });
    expect((await scim.get(`/Users/${id}`)).body).toMatchObject(written);
    const [profile] = await app.sql(
      'SELECT char_length(given_name) AS given, char_length(family_name) AS family, char_length(title) AS title FROM user_profiles WHERE user_id = $1',
      [id],
    );
    expect(profile).toEqual({ given: 100, family: 100, title: 100 });
    const other = await scim.patch(`/Users/${id}`, [replace('title', 'Clerk')]);
    expect(other.body).toMatchObject({ ...written, title: 'Clerk' });
  });

  test('texts that are no line of a profile are kept too, and found as they were written', async () => {
    const { id } = await scim.user(address());
    const written = {
      displayName: 'Ann\tMartin ',
      title: 'Head of\nResearch\u202e',
      name: { givenName: ' Ann', familyName: '\u200b' },
    };
    const { status, body } = await scim.patch(`/Users/${id}`, [
      { op: 'replace', path: 'active', value: 'False' },
      { op: 'replace', value: written },
    ]);
    expect(status).toBe(200);
    expect(body).toMatchObject({ active: false, ...written });
    const [profile] = await app.sql(
      'SELECT given_name, family_name, title FROM user_profiles WHERE user_id = $1',
      [id],
    );
    expect(profile).toEqual({ given_name: 'Ann', family_name: '', title: 'Head of Research' });
    for (const [name, value] of [
      ['displayName', written.displayName],
      ['title', written.title],
      ['name.givenName', written.name.givenName],
    ])
      expect(await scim.find('/Users', `${name} eq ${JSON.stringify(value)}`)).toMatchObject([{ id }]);
  });

  test('an address with blanks around it is found as it was written', async () => {
    const userName = address();
    const { body } = await scim.post('/Users', { schemas: [USER_SCHEMA], userName: ` ${userName} ` });
    expect(body.userName).toBe(userName);
    for (const filter of [
      `userName eq " ${userName} "`,
      `active eq true and userName eq " ${userName.toUpperCase()}"`,
      `externalId pr or userName eq "${userName} "`,
    ])
      expect((await scim.find('/Users', filter)).map(({ id }: any) => id)).toContain(body.id);
    expect(await scim.find('/Users', `userName sw " ${userName.slice(0, 5)}"`)).toEqual([]);
  });

  test('a name without a visible character is none', async () => {
    const userName = address();
    const { displayName } = await scim.user(userName, { displayName: ' ', name: { formatted: ' ' } });
    expect(displayName).toBe(userName.split('@')[0]);
  });

  test('the documented updates of Okta: PATCH without path, PUT of the whole resource', async () => {
    const { id, userName } = await scim.user(address(), { title: 'Clerk' });
    const off = await scim.patch(`/Users/${id}`, [{ op: 'replace', value: { active: false, id } }]);
    expect([off.status, off.body.active]).toEqual([200, false]);
    const put = await scim.put(`/Users/${id}`, {
      schemas: [USER_SCHEMA],
      id,
      userName,
      name: { givenName: 'Okta', familyName: 'User' },
      emails: [{ primary: true, value: userName, type: 'work' }],
      groups: [],
      active: true,
      meta: { resourceType: 'User' },
    });
    expect(put.status).toBe(200);
    expect(put.body).toMatchObject({ active: true, displayName: 'Okta User' });
    expect(put.body).not.toHaveProperty('title');
  });

  test.each([
    [[], 'invalidSyntax'],
    [[{ op: 'move', path: 'title', value: 'x' }], 'invalidSyntax'],
    [[replace('id', 'x')], 'mutability'],
    [[replace('groups', [])], 'mutability'],
    [[{ op: 'remove', path: 'userName' }], 'mutability'],
    [[{ op: 'remove' }], 'noTarget'],
    [[replace('unknown', 'x')], 'invalidPath'],
    [[replace('name.unknown', 'x')], 'invalidPath'],
    [[replace('emails[type eq', 'x')], 'invalidPath'],
    [[replace('title', { a: 1 })], 'invalidValue'],
    [[replace('active', 'perhaps')], 'invalidValue'],
    [[replace('title', 'x'.repeat(600))], 'invalidValue'],
    [[{ op: 'replace', value: 'x' }], 'invalidValue'],
    [[{ op: 'add', path: 'emails[type eq "\\ud800"].value', value: 'a@acme.example' }], 'invalidPath'],
    [[{ op: 'add', path: 'emails[type eq "\\u0000"].value', value: 'a@acme.example' }], 'invalidPath'],
    [Array.from({ length: 1001 }, () => replace('title', 'x')), 'tooMany'],
  ])('the operations %# are rejected and change nothing', async (operations, scimType) => {
    const [user] = (await scim.get('/Users?count=1')).body.Resources;
    const { status, body } = await scim.patch(
      `/Users/${user.id}`,
      [replace('nickName', 'changed'), ...operations].slice(operations.length === 0 ? 1 : 0),
    );
    expect([status, body.scimType]).toEqual([400, scimType]);
    expect((await scim.get(`/Users/${user.id}`)).body).toEqual(user);
  });

  test('active=false ends the sessions of the user in the workspace', async () => {
    const user = await app.member('acme', address());
    expect((await user.api.get('/notes')).status).toBe(200);
    await scim.patch(`/Users/${user.id}`, [replace('active', false)]);
    await app.readAccessChanges();
    expect((await user.api.get('/notes')).status).toBe(401);
    await scim.patch(`/Users/${user.id}`, [replace('active', true)]);
    await app.readAccessChanges();
    // The ended session stays ended.
    expect((await user.api.get('/notes')).status).toBe(401);
  });

  test('a deleted user disappears, is deactivated, and returns under the same id', async () => {
    const userName = address();
    const { id } = await scim.user(userName, { externalId: 'returns' });
    const group = (await owner.api.post('/rbac/groups', { name: 'Returners' })).body.group;
    await owner.api.post(`/rbac/groups/${group.id}/members`, { user_id: id });
    expect((await scim.get(`/Users/${id}`)).body.groups).toMatchObject([
      { value: group.id, display: 'Returners' },
    ]);
    expect((await scim.delete(`/Users/${id}`)).status).toBe(204);
    expect((await scim.get(`/Users/${id}`)).status).toBe(404);
    expect((await scim.delete(`/Users/${id}`)).status).toBe(404);
    expect(await scim.find('/Users', `userName eq "${userName}"`)).toEqual([]);
    expect((await memberOf(id)).status).toBe('deactivated');
    expect((await owner.api.get(`/rbac/groups/${group.id}/members`)).body.members).toEqual([]);
    const again = await scim.user(userName, { externalId: 'returns', displayName: 'Back' });
    expect(again).toMatchObject({ id, active: true, groups: [], displayName: 'Back' });
  });

  test('changes of a deactivated user add no card to the address book of the workspace', async () => {
    const listed = async () => (await owner.api.get('/contact/directory?q=Fay')).body.users;
    const { id } = await scim.user(address(), { displayName: 'Fay Former' });
    expect(await listed()).toMatchObject([{ id }]);
    await scim.patch(`/Users/${id}`, [replace('active', false)]);
    for (const change of [replace('title', 'Analyst'), replace('userName', address())])
      expect((await scim.patch(`/Users/${id}`, [change])).status).toBe(200);
    await at.drain();
    expect(await listed()).toEqual([]);
    const active = await scim.patch(`/Users/${id}`, [replace('active', true), replace('title', 'Auditor')]);
    expect(active.body).toMatchObject({ active: true, title: 'Auditor' });
    expect(await listed()).toMatchObject([{ id, job_title: 'Auditor' }]);
  });

  test('a user whose data are erased disappears, and nothing is written into the membership again', async () => {
    const userName = address();
    const { id } = await scim.user(userName, { externalId: 'erased', title: 'Analyst' });
    await scim.patch(`/Users/${id}`, [replace('active', false)]);
    const total = async () => (await scim.get('/Users?count=0')).body.totalResults;
    const before = await total();
    const { tenantId } = owner;
    // The first step of an erasure.
    await app.sql('UPDATE tenant_members SET erased_at = now() WHERE tenant_id = $1 AND user_id = $2', [
      tenantId,
      id,
    ]);
    const again = { schemas: [USER_SCHEMA], userName, title: 'Again', active: false };
    expect((await scim.post('/Users', again)).status).toBe(409);
    await app.sql(
      `INSERT INTO personal_erasures (tenant_id, user_id, state, due_at) VALUES ($1, $2, 'pending', now())`,
      [tenantId, id],
    );
    await app.inCells(() => app.get<PersonalErasureWorker>(PersonalErasureWorker).runDue());
    expect(await total()).toBe(before - 1);
    expect(await scim.find('/Users', 'displayName eq "Deleted user"')).toEqual([]);
    expect((await scim.get(`/Users/${id}`)).status).toBe(404);
    expect((await scim.patch(`/Users/${id}`, [replace('title', 'Again')])).status).toBe(404);
    expect(await app.sql('SELECT FROM user_profiles WHERE user_id = $1', [id])).toEqual([]);
    expect(await app.sql('SELECT FROM scim_users WHERE user_id = $1', [id])).toEqual([]);
  });

  test('an erasure that begins during a change keeps the change away', async () => {
    const { id } = await scim.user(address());
    await scim.patch(`/Users/${id}`, [replace('active', false)]);
    const profiles = app.get<ProfileService>(ProfileService);
    const lock = profiles.lock.bind(profiles);
    profiles.lock = async (tx, member) => {
      profiles.lock = lock;
      await app.sql('UPDATE tenant_members SET erased_at = now() WHERE user_id = $1', [id]);
      return lock(tx, member);
    };
    expect((await scim.patch(`/Users/${id}`, [replace('title', 'Late')])).status).toBe(409);
    expect(await app.sql('SELECT FROM user_profiles WHERE user_id = $1', [id])).toEqual([]);
  });

  test('the last owner cannot be removed, another one can', async () => {
    for (const response of [
      await scim.delete(`/Users/${owner.id}`),
      await scim.patch(`/Users/${owner.id}`, [replace('active', false)]),
    ])
      expect([response.status, response.body.detail]).toEqual([
        409,
        'The workspace must keep an active owner.',
      ]);
    const second = await app.member('acme', address(), 'owner');
    expect((await scim.delete(`/Users/${second.id}`)).status).toBe(204);
    expect((await memberOf(second.id)).role).toBe('member');
  });

  test('versions: 304, 412, and one winner of parallel changes', async () => {
    const { id, meta } = await scim.user(address());
    const same = await scim.get(`/Users/${id}`, { 'if-none-match': meta.version });
    expect([same.status, same.text]).toEqual([304, '']);
    const changes = await Promise.all(
      ['a', 'b', 'c'].map((title) =>
        scim.patch(`/Users/${id}`, [replace('title', title)], { 'if-match': meta.version }),
      ),
    );
    expect(changes.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
    expect((await scim.delete(`/Users/${id}`, { 'if-match': meta.version })).status).toBe(412);
    expect((await scim.delete(`/Users/${id}`, { 'if-match': '*' })).status).toBe(204);
  });

  test('a new userName changes the address within the verified domains', async () => {
    const { id } = await scim.user(address());
    const userName = address();
    const renamed = await scim.patch(`/Users/${id}`, [replace('userName', userName)]);
    expect([renamed.status, renamed.body.userName]).toEqual([200, userName]);
    const [account] = await app.sql('SELECT email FROM accounts WHERE id = $1', [id]);
    expect(account.email).toBe(userName);
    const outside = await scim.patch(`/Users/${id}`, [replace('userName', 'x@other.example')]);
    expect(outside.status).toBe(403);
    const taken = await scim.patch(`/Users/${id}`, [replace('userName', owner.email)]);
    expect([taken.status, taken.body.scimType]).toEqual([409, 'uniqueness']);
    expect(renamed.body.emails).toEqual([{ value: userName, type: 'work', primary: true }]);
    const twin = await app.member('other', userName);
    expect(twin.id).toBe(id);
    const shared = await scim.patch(`/Users/${id}`, [replace('userName', address())]);
    expect([shared.status, shared.body.scimType]).toEqual([400, 'mutability']);
  });

  test('the address stays while the account has a membership elsewhere, also a deactivated one', async () => {
    const { id, userName } = await scim.user(address());
    const rename = () => scim.patch(`/Users/${id}`, [replace('userName', address())]);
    const { tenantId } = await app.member('elsewhere', userName);
    const set = (values: string) =>
      app.sql(`UPDATE tenant_members SET ${values} WHERE tenant_id = $1 AND user_id = $2`, [tenantId, id]);
    await set(`status = 'deactivated', deactivated_at = now()`);
    const renamed = await rename();
    expect([renamed.status, renamed.body.scimType]).toEqual([400, 'mutability']);
    await set('erased_at = now()');
    const book = async () =>
      app.sql('SELECT FROM contacts WHERE tenant_id = $1 AND gone_at IS NULL', [tenantId]);
    await (await app.member('elsewhere', address())).api.get('/contact/addressbooks');
    const cards = (await book()).length;
    expect((await rename()).status).toBe(200);
    await at.drain();
    const [erased] = await app.sql('SELECT email FROM tenant_members WHERE tenant_id = $1 AND user_id = $2', [
      tenantId,
      id,
    ]);
    expect(erased.email).toBe(userName);
    expect(await book()).toHaveLength(cards);
  });

  test('the address stays when the account joins another workspace meanwhile', async () => {
    const { id, userName } = await scim.user(address());
    const provisioning = app.get(Provisioning);
    const lock = provisioning.lock.bind(provisioning);
    provisioning.lock = async (tx, tenantId) => {
      provisioning.lock = lock;
      await app.member('meanwhile', userName);
      await lock(tx, tenantId);
    };
    const renamed = await scim.patch(`/Users/${id}`, [replace('userName', address())]);
    expect([renamed.status, renamed.body.scimType]).toEqual([400, 'mutability']);
  });

  test('a new userName ends the link by which the user would change the address', async () => {
    const [userName, wanted, next] = [address(), address(), address()];
    const password = 'seven purple teapots dance';
    const user = { email: userName, name: 'Ann', role: 'member' as const, password };
    const { users } = await provision(app.served.nest, { tenants: [{ slug: 'acme', users: [user] }] }, true);
    const api = app.as(users[0]!.token as string);
    expect((await api.put('/settings/email', { email: wanted, password })).status).toBe(202);
    const link = await at.linkTo(wanted);
    const renamed = await scim.patch(`/Users/${users[0]!.id}`, [replace('userName', next)]);
    expect(renamed.status).toBe(200);
    expect((await api.get('/settings/email')).body).toEqual({ email: next, pending: null });
    expect((await at.browser().open(link)).status).toBe(404);
  });

  test('the address of an owner stays under the control of the owner, also while deactivated', async () => {
    const second = await app.member('acme', address(), 'owner');
    const rename = () => scim.patch(`/Users/${second.id}`, [replace('userName', address())]);
    const renamed = await rename();
    expect([renamed.status, renamed.body.scimType]).toEqual([400, 'mutability']);
    const upper = await scim.patch(`/Users/${second.id}`, [replace('userName', second.email.toUpperCase())]);
    expect(upper.status).toBe(200);
    expect((await scim.patch(`/Users/${second.id}`, [replace('active', false)])).status).toBe(200);
    expect((await rename()).status).toBe(400);
    const [account] = await app.sql('SELECT lower(email) AS email FROM accounts WHERE id = $1', [second.id]);
    expect(account.email).toBe(second.email);
    const { groups } = (await owner.api.get('/rbac/groups')).body;
    const { id } = groups.find(({ key }: any) => key === 'owners');
    await owner.api.delete(`/rbac/groups/${id}/members/${second.id}`);
    expect((await rename()).status).toBe(200);
  });

  test('another workspace sees and changes nothing', async () => {
    const [mallory] = await app.tenant('evil', 'mallory');
    const evil = await ScimClient.of(app, mallory, 'evil.example');
    const { id } = await scim.user(address(), { title: 'secret' });
    const before = (await scim.get(`/Users/${id}`)).body;
    const [theirs, absent] = await Promise.all([evil.get(`/Users/${id}`), evil.get(`/Users/${UNKNOWN}`)]);
    expect([theirs.status, theirs.body]).toEqual([404, absent.body]);
    expect(
      (await evil.put(`/Users/${id}`, { schemas: [USER_SCHEMA], userName: 'x@evil.example' })).status,
    ).toBe(404);
    expect((await evil.patch(`/Users/${id}`, [replace('title', 'stolen')])).status).toBe(404);
    expect((await evil.delete(`/Users/${id}`)).status).toBe(404);
    expect((await evil.get('/Users')).text).not.toContain('secret');
    expect((await scim.get(`/Users/${id}`)).body).toEqual(before);
  });

  test('an independent implementation reads every user, and the discovery documents', async () => {
    const { Resources } = (await scim.get('/Users?count=200')).body;
    expect(Resources.length).toBeGreaterThan(5);
    for (const user of Resources) {
      const read = new SCIMMY.Schemas.User(structuredClone(user), 'out') as any;
      expect([read.id, read.userName, read.active]).toEqual([user.id, user.userName, user.active]);
    }
    expect((await app.anonymous.get('/scim/v2/ServiceProviderConfig')).status).toBe(200);
    const config = (await scim.get('/ServiceProviderConfig')).body;
    expect(config).toMatchObject({
      patch: { supported: true },
      etag: { supported: true },
      bulk: { supported: false },
    });
    const types = (await scim.get('/ResourceTypes')).body.Resources;
    expect(types.map(({ name }: any) => name)).toEqual(['User', 'Group']);
    const listed = (await scim.get('/Schemas')).body.Resources;
    for (const { id } of listed) expect((await scim.get(`/Schemas/${id}`)).body.id).toBe(id);
    for (const path of ['/Schemas/unknown', '/ResourceTypes/unknown', '/Users/unknown', `/Groups/${UNKNOWN}`])
      expect([path, (await scim.get(path)).body.status]).toEqual([path, '404']);
  });

  test('a search by POST is the same as the list', async () => {
    const userName = address();
    const user = await scim.user(userName, { title: 'Found' });
    const schemas = ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'];
    const filter = `userName eq "${userName}"`;
    const search = (body: object) => scim.post('/Users/.search', { schemas, ...body });
    const found = await search({ filter, attributes: ['title', 'userName'], sortBy: 'userName', count: 5 });
    expect(found.status).toBe(200);
    const attributes = { schemas: user.schemas, id: user.id, userName, title: 'Found' };
    expect(found.body).toMatchObject({ totalResults: 1, startIndex: 1, Resources: [attributes] });
    expect(Object.keys(found.body.Resources[0]).sort()).toEqual(Object.keys(attributes).sort());
    const listed = (await scim.get('/Users?startIndex=2&count=2&excludedAttributes=groups')).body;
    expect((await search({ startIndex: 2, count: 2, excludedAttributes: 'groups' })).body).toEqual(listed);
    const groups = await scim.post('/Groups/.search', { schemas, filter: 'displayName eq "Owners"' });
    expect(groups.body.Resources.map(({ displayName }: any) => displayName)).toEqual(['Owners']);
    const invalid: [unknown, string][] = [
      [{}, 'invalidSyntax'],
      [[], 'invalidSyntax'],
      [null, 'invalidSyntax'],
      [{ schemas, filter: 'x eq' }, 'invalidFilter'],
      [{ schemas, filter: 1 }, 'invalidValue'],
      [{ schemas, count: 1.5 }, 'invalidValue'],
      [{ schemas, startIndex: '1' }, 'invalidValue'],
      [{ schemas, attributes: [1] }, 'invalidValue'],
      [{ schemas, attributes: ['x'.repeat(2_001)] }, 'invalidValue'],
    ];
    for (const [body, scimType] of invalid) {
      const { status, body: error } = await scim.post('/Users/.search', body);
      expect([body, status, error.scimType]).toEqual([body, 400, scimType]);
    }
  });

  test('operations that the service does not have return 501 to a client, and 401 without a token', async () => {
    for (const [method, path] of [
      ['GET', '/Me'],
      ['POST', '/Me'],
      ['PUT', '/Me'],
      ['PATCH', '/Me'],
      ['DELETE', '/Me'],
      ['POST', '/Bulk'],
      ['POST', '/.search'],
    ] as const) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : {};
      const { status, body: error, headers } = await scim.send(method, path, body);
      expect([method, path, status, error.status]).toEqual([method, path, 501, '501']);
      expect(error.schemas).toEqual(['urn:ietf:params:scim:api:messages:2.0:Error']);
      expect(headers.get('content-type')).toBe('application/scim+json');
      const anonymous = await app.anonymous.request(method, `/scim/v2${path}`, body && { body });
      expect([method, path, anonymous.status]).toEqual([method, path, 401]);
    }
    expect((await scim.get('/ServiceProviderConfig')).body).toMatchObject({
      sort: { supported: false },
      bulk: { supported: false },
    });
  });

  test('paths that name no route have errors in the shape of the protocol', async () => {
    for (const [path, status] of [
      ['/Users/%E0%A4%A', 400],
      ['/Users/%FF', 400],
      ['/Unknown', 404],
      ['/Users/a/b/c', 404],
    ] as const) {
      const { status: actual, body, headers } = await scim.get(path);
      expect([path, actual, body.status, body.schemas]).toEqual([
        path,
        status,
        String(status),
        [ERROR_SCHEMA],
      ]);
      expect(headers.get('content-type')).toBe('application/scim+json');
    }
  });

  test('a base address that ends with a slash works', async () => {
    const userName = address();
    expect((await scim.post('//Users', { schemas: [USER_SCHEMA], userName })).status).toBe(201);
    const { body } = await scim.get(`//Users/?filter=${encodeURIComponent(`userName eq "${userName}"`)}`);
    const [{ id }] = body.Resources;
    expect((await scim.get(`//Users/${id}/`)).body).toMatchObject({ id, userName });
    expect((await scim.get('/Users//')).status).toBe(200);
    expect((await scim.get('//')).status).toBe(404);
    const anonymous = new ScimClient(app.base, 'wrong');
    expect((await anonymous.get('//Users')).status).toBe(401);
  });

  test('hostile bodies are rejected without an internal error', async () => {
    const [user] = (await scim.get('/Users?count=1')).body.Resources;
    let nested: unknown = 'x';
    for (let depth = 0; depth < 100; depth += 1) nested = { a: nested };
    const bodies = [
      null,
      [],
      'x',
      1,
      {},
      { schemas: 'x' },
      { schemas: [USER_SCHEMA], userName: ['a'] },
      nested,
    ];
    for (const body of bodies)
      for (const [method, path] of [
        ['POST', '/Users'],
        ['PUT', `/Users/${user.id}`],
        ['PATCH', `/Users/${user.id}`],
      ] as const) {
        const { status, body: error } = await scim.send(method, path, body);
        expect([method, status, error.schemas]).toEqual([
          method,
          400,
          ['urn:ietf:params:scim:api:messages:2.0:Error'],
        ]);
      }
    const big = { schemas: [PATCH_OP], Operations: [replace('title', 'x'.repeat(1_100_000))] };
    expect((await scim.send('PATCH', `/Users/${user.id}`, big)).status).toBe(413);
    const typed = await scim.send('POST', '/Users', {}, { 'content-type': 'text/plain' });
    expect([typed.status, typed.body.status]).toEqual([415, '415']);
  });
});
