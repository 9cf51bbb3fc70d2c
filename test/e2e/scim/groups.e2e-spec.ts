import SCIMMY from 'scimmy';
import {
  type ScimGroupRow,
  ScimGroupsRepository,
} from '../../../src/modules/scim/groups/scim-groups.service.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { GROUP_SCHEMA, ScimClient } from '../../support/sign-in/scim.ts';

const UNKNOWN = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';

describe('groups by SCIM', () => {
  let app: TestApp;
  let owner: TestUser;
  let scim: ScimClient;
  let users: string[];
  let n = 0;

  beforeAll(async () => {
    app = await TestApp.start();
    [owner] = await app.tenant('acme', 'owner');
    scim = await ScimClient.of(app, owner, 'acme.example');
    users = [];
    for (let k = 0; k < 4; k += 1) users.push((await scim.user(`user${k}@acme.example`)).id);
  });
  afterAll(() => app?.stop());

  const create = async (more: object = {}) => {
    const displayName = `Group ${(n += 1)}`;
    return (await scim.post('/Groups', { schemas: [GROUP_SCHEMA], displayName, ...more })).body;
  };
  const membersOf = async (id: string) =>
    ((await scim.get(`/Groups/${id}`)).body.members ?? []).map(({ value }: any) => value).sort();
  const of = (...numbers: number[]) => numbers.map((k) => users[k]!).sort();
  const named = async (name: string) => (await scim.find('/Groups', `displayName eq "${name}"`))[0];

  test('a long name is kept, and a name with blanks around it is found as it was written', async () => {
    const displayName = `Group of ${'\u{1f600}'.repeat(247)}`;
    const long = await scim.post('/Groups', { schemas: [GROUP_SCHEMA], displayName });
    expect([long.status, long.body.displayName]).toEqual([201, displayName]);
    expect(await named(displayName)).toMatchObject({ id: long.body.id });
    // Letters whose folded form is far longer.
    const ligatures = await create({ displayName: '\ufdfa\ufdfb\ufdf5\u33a5'.repeat(64) });
    expect(ligatures.displayName).toHaveLength(256);
    const { id } = await create({ displayName: 'Crew of the north ' });
    const renamed = await scim.patch(`/Groups/${id}`, [
      { op: 'replace', path: 'displayName', value: ' Crew of the south ' },
    ]);
    expect([renamed.status, renamed.body.displayName]).toEqual([200, 'Crew of the south']);
    for (const name of [' Crew of the south ', 'crew of the south'])
      expect(await named(name)).toMatchObject({ id });
    expect(
      await scim.find('/Groups', 'displayName ne " Crew of the south " and displayName co "south "'),
    ).toEqual([]);
    expect(await scim.find('/Groups', 'displayName co "south "')).toEqual([]);
  });

  test('the documented requests of Entra create, find and fill a group', async () => {
    const created = await scim.post('/Groups', {
      schemas: [GROUP_SCHEMA, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
      displayName: 'displayName',
      meta: { resourceType: 'Group' },
    });
    expect(created.status).toBe(201);
    const { id } = created.body;
    const query = `excludedAttributes=members&filter=${encodeURIComponent('displayName eq "displayName"')}`;
    const found = (await scim.get(`/Groups?${query}`)).body;
    expect(found).toMatchObject({
      totalResults: 1,
      Resources: [{ id, externalId: created.body.externalId }],
    });
    expect(found.Resources[0]).not.toHaveProperty('members');
    const added = await scim.patch(`/Groups/${id}`, [
      { op: 'Add', path: 'members', value: [{ $ref: null, value: users[0] }, { value: users[1] }] },
    ]);
    expect(added.status).toBe(200);
    expect(await membersOf(id)).toEqual(of(0, 1));
    const shown = (await owner.api.get(`/rbac/groups/${id}/members`)).body.members;
    expect(shown.map(({ user_id }: any) => user_id).sort()).toEqual(of(0, 1));
    // The two forms of removal that Entra uses.
    await scim.patch(`/Groups/${id}`, [{ op: 'Remove', path: 'members', value: [{ value: users[0] }] }]);
    expect(await membersOf(id)).toEqual(of(1));
    await scim.patch(`/Groups/${id}`, [{ op: 'Remove', path: `members[value eq "${users[1]}"]` }]);
    expect(await membersOf(id)).toEqual([]);
    // A removal of an absent member changes nothing.
    const absent = await scim.patch(`/Groups/${id}`, [
      { op: 'Remove', path: `members[value eq "${UNKNOWN}"]` },
    ]);
    expect(absent.status).toBe(200);
  });

  test('the documented requests of Okta rename and replace members', async () => {
    const { id } = await create({ members: [{ value: users[0], display: 'x' }] });
    const renamed = await scim.patch(`/Groups/${id}`, [
      { op: 'replace', value: { id, displayName: 'Test SCIMv2 renamed' } },
    ]);
    expect([renamed.status, renamed.body.displayName]).toEqual([200, 'Test SCIMv2 renamed']);
    await scim.patch(`/Groups/${id}`, [
      { op: 'remove', path: `members[value eq "${users[0]}"]` },
      { op: 'add', path: 'members', value: [{ value: users[2], display: 'test.user' }] },
    ]);
    expect(await membersOf(id)).toEqual(of(2));
    await scim.patch(`/Groups/${id}`, [
      { op: 'replace', path: 'members', value: [{ value: users[1] }, { value: users[3] }] },
    ]);
    expect(await membersOf(id)).toEqual(of(1, 3));
    await scim.put(`/Groups/${id}`, {
      schemas: [GROUP_SCHEMA],
      displayName: 'Put',
      members: [{ value: users[0] }],
    });
    expect(await membersOf(id)).toEqual(of(0));
    await scim.patch(`/Groups/${id}`, [{ op: 'remove', path: 'members' }]);
    expect(await membersOf(id)).toEqual([]);
  });

  test('names and externalIds are unique, members are users of the workspace', async () => {
    const { displayName } = await create({ externalId: 'g-1' });
    const errorOf = async (more: object) => {
      const { status, body } = await scim.post('/Groups', {
        schemas: [GROUP_SCHEMA],
        displayName: 'Other',
        ...more,
      });
      return [status, body.scimType];
    };
    expect(await errorOf({ displayName: displayName.toUpperCase() })).toEqual([409, 'uniqueness']);
    expect(await errorOf({ externalId: 'g-1' })).toEqual([409, 'uniqueness']);
    expect(await errorOf({ members: [{ value: UNKNOWN }] })).toEqual([400, 'invalidValue']);
    expect(await errorOf({ members: [{ value: 'x' }] })).toEqual([400, 'invalidValue']);
    expect(await errorOf({ displayName: '\u200b' })).toEqual([400, 'invalidValue']);
    const [outsider] = await app.tenant('evil', 'mallory');
    expect(await errorOf({ members: [{ value: outsider.id }] })).toEqual([400, 'invalidValue']);
    expect(await named('Other')).toBeUndefined();
  });

  test('a page ends at the bytes of its members', async () => {
    const [boss] = await app.tenant('big', 'boss');
    const big = await ScimClient.of(app, boss, 'big.example');
    const ids: string[] = [];
    for (let k = 0; k < 3; k += 1) {
      const body = { schemas: [GROUP_SCHEMA], displayName: `Big ${k}` };
      ids.push((await big.post('/Groups', body)).body.id);
    }
    await app.sql(
      `INSERT INTO tenant_members SELECT (jsonb_populate_record(member, jsonb_build_object('user_id', gen_random_uuid(), 'role', 'member'))).*
         FROM tenant_members member, generate_series(1, 5000) WHERE member.tenant_id = $1`,
      [boss.tenantId],
    );
    await app.sql(
      `INSERT INTO rbac_members (tenant_id, group_id, user_id)
       SELECT tenant_id, group_id, user_id FROM tenant_members, unnest($2::uuid[]) AS group_id
        WHERE tenant_id = $1 AND user_id <> $3`,
      [boss.tenantId, ids, boss.id],
    );
    const whole = (await big.get('/Groups?count=200&excludedAttributes=members')).body;
    expect(whole.Resources).toHaveLength(whole.totalResults);
    const found: string[] = [];
    const counts: number[] = [];
    while (found.length < whole.totalResults) {
      const page = (await big.get(`/Groups?count=200&startIndex=${found.length + 1}`)).body;
      expect(page).toMatchObject({ totalResults: whole.totalResults, itemsPerPage: page.Resources.length });
      counts.push(page.Resources.flatMap(({ members = [] }: any) => members).length);
      found.push(...page.Resources.map(({ id }: any) => id));
    }
    expect(found).toEqual(whole.Resources.map(({ id }: any) => id));
    expect(Math.max(...counts)).toBeLessThan(10_000);
  });

  test('groups of the system: admins can be filled, owners and names are read-only, members is absent', async () => {
    const { Resources } = (await scim.get('/Groups?count=200')).body;
    expect(Resources.map(({ displayName }: any) => displayName)).not.toContain('Members');
    const [owners, admins] = [await named('Owners'), await named('Admins')];
    const added = await scim.patch(`/Groups/${admins.id}`, [
      { op: 'add', path: 'members', value: [{ value: users[3] }] },
    ]);
    expect(added.status).toBe(200);
    const { members } = (await owner.api.get('/tenant/members?limit=200')).body;
    expect(members.find(({ user_id }: any) => user_id === users[3]).role).toBe('admin');
    for (const operations of [
      [{ op: 'add', path: 'members', value: [{ value: users[3] }] }],
      [{ op: 'remove', path: 'members' }],
      [{ op: 'replace', path: 'displayName', value: 'Kings' }],
    ]) {
      const { status, body } = await scim.patch(`/Groups/${owners.id}`, operations);
      expect([status, body.detail]).toEqual([403, 'System groups do not allow this change.']);
    }
    expect((await scim.delete(`/Groups/${admins.id}`)).status).toBe(403);
    expect((await scim.patch(`/Groups/${admins.id}`, [{ op: 'remove', path: 'members' }])).status).toBe(200);
  });

  test('a deleted group disappears with its grants', async () => {
    const { id } = await create({ members: [{ value: users[0] }], externalId: 'gone' });
    expect((await scim.delete(`/Groups/${id}`)).status).toBe(204);
    expect((await scim.get(`/Groups/${id}`)).status).toBe(404);
    expect((await create({ externalId: 'gone' })).id).not.toBe(id);
  });

  test('versions change with the members, and parallel additions all count', async () => {
    const { id, meta } = await create();
    await Promise.all(
      users.map((value) => scim.patch(`/Groups/${id}`, [{ op: 'add', path: 'members', value: [{ value }] }])),
    );
    expect(await membersOf(id)).toEqual(of(0, 1, 2, 3));
    const stale = await scim.delete(`/Groups/${id}`, { 'if-match': meta.version });
    expect(stale.status).toBe(412);
    const { version } = (await scim.get(`/Groups/${id}?excludedAttributes=members`)).body.meta;
    expect((await scim.get(`/Groups/${id}`, { 'if-none-match': version })).status).toBe(304);
    expect((await scim.find('/Groups', `members.value eq "${users[2]}"`)).map((group) => group.id)).toContain(
      id,
    );
  });

  test('members are read only for requests that select them', async () => {
    const { id, displayName } = await create({ members: [{ value: users[0] }] });
    const groups = app.get<ScimGroupsRepository>(ScimGroupsRepository);
    const some = groups.readSome.bind(groups);
    const read: ScimGroupRow['members'][] = [];
    groups.readSome = async (...given) => {
      const rows = await some(...given);
      read.push(...rows.map(({ members }) => members));
      return rows;
    };
    try {
      const filter = encodeURIComponent(`displayName eq "${displayName}"`);
      await scim.get(`/Groups?excludedAttributes=members&filter=${filter}`);
      await scim.get(`/Groups/${id}?attributes=displayName`);
      expect(read).toEqual([null, null]);
      const { body } = await scim.get(`/Groups/${id}?attributes=members.value`);
      expect(body.members).toEqual([{ value: users[0] }]);
    } finally {
      groups.readSome = some;
    }
  });

  test('a change of the externalId is in the audit log', async () => {
    const { id } = await create({ externalId: 'old' });
    await scim.patch(`/Groups/${id}`, [{ op: 'replace', path: 'externalId', value: 'new' }]);
    await scim.patch(`/Groups/${id}`, [{ op: 'replace', path: 'externalId', value: 'new' }]);
    await scim.patch(`/Groups/${id}`, [{ op: 'remove', path: 'externalId' }]);
    const { events } = (await owner.api.get(`/tenant/audit?object_id=${id}&action=scim.group.updated`)).body;
    expect(events.map(({ data }: any) => data)).toEqual(
      [null, 'new', 'old'].map((external_id) => ({ external_id, scim_token: expect.any(String) })),
    );
  });

  test('another workspace sees and changes nothing', async () => {
    const [mallory] = await app.tenant('evil', 'mallory');
    const evil = await ScimClient.of(app, mallory, 'evil.example');
    const { id } = await create({ displayName: 'secret group' });
    for (const response of [
      await evil.get(`/Groups/${id}`),
      await evil.patch(`/Groups/${id}`, [{ op: 'replace', path: 'displayName', value: 'stolen' }]),
      await evil.delete(`/Groups/${id}`),
    ])
      expect(response.status).toBe(404);
    expect((await evil.get('/Groups')).text).not.toContain('secret');
  });

  test('an independent implementation reads every group', async () => {
    const { Resources } = (await scim.get('/Groups?count=200')).body;
    for (const group of Resources) {
      const read = new SCIMMY.Schemas.Group(structuredClone(group), 'out') as any;
      expect([read.id, read.displayName]).toEqual([group.id, group.displayName]);
    }
  });
});
