import { Db } from '../../src/platform/database/db.js';
import { TenantsApi } from '../../src/modules/tenants/index.js';
import { TestApp, type TestUser } from '../support/app.ts';

/** Two applications on one database, so that locks in memory have no effect. */
describe('concurrent changes of groups', () => {
  let one: TestApp;
  let two: TestApp;
  let made = 0;

  beforeAll(async () => {
    one = await TestApp.start();
    two = await TestApp.start({}, one.databaseUrl);
  });
  afterAll(async () => {
    await two?.stop();
    await one?.stop();
  });

  const owners = async (...names: string[]) => {
    const slug = `race${(made += 1)}`;
    const [first] = await one.tenant(slug, names[0]!);
    const others: TestUser[] = [];
    for (const name of names.slice(1))
      others.push(await one.member(slug, `${name}@${slug}.example`, 'owner'));
    const { groups } = (await first.api.get('/rbac/groups')).body;
    return {
      slug,
      people: [first, ...others],
      group: (key: string) => groups.find((g: any) => g.key === key).id,
    };
  };
  const activeOwners = async (tenantId: string | null) =>
    one.sql(
      `SELECT m.user_id, m.role FROM rbac_members r JOIN rbac_groups g ON g.tenant_id = r.tenant_id AND g.id = r.group_id
         JOIN tenant_members m ON m.tenant_id = r.tenant_id AND m.user_id = r.user_id
        WHERE r.tenant_id = $1 AND g.key = 'owners' AND m.status = 'active'`,
      [tenantId],
    );

  test('two owners remove each other: one stays', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { people: users, group } = await owners('ann', 'ben');
      const [ann, ben] = users as [TestUser, TestUser];
      const path = (user: TestUser) => `/rbac/groups/${group('owners')}/members/${user.id}`;
      const responses = await Promise.all([
        one.as(ann.token).delete(path(ben)),
        two.as(ben.token).delete(path(ann)),
      ]);
      // The second one is no longer an owner.
      expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 403]);
      expect(await activeOwners(ann.tenantId)).toMatchObject([{ role: 'owner' }]);
    }
  });

  test('three owners leave and are deactivated by the operator concurrently: one stays', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { people: users, group } = await owners('ann', 'ben', 'cat');
      const [ann, ben, cat] = users as [TestUser, TestUser, TestUser];
      const leave = (app: TestApp, user: TestUser) =>
        app.as(user.token).delete(`/rbac/groups/${group('owners')}/members/${user.id}`);
      const close = one
        .get(Db)
        .tx((tx) => one.get(TenantsApi).endMemberships(tx, cat.id))
        .catch((error: unknown) => error);
      await Promise.all([leave(one, ann), leave(two, ben), close]);
      expect(await activeOwners(ann.tenantId)).toHaveLength(1);
    }
  });

  test('a grant while the caller loses the permission: the group gets it only if the grant came first', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { slug, people: users } = await owners('ann');
      const [ann] = users as [TestUser];
      const bob = await one.member(slug, `bob@${slug}.example`);
      const create = async (name: string, permissions: string[]) =>
        (await ann.api.post('/rbac/groups', { name, permissions })).body.group.id;
      const managers = await create('Managers', ['rbac.manage', 'audit.read']);
      const others = await create('Others', []);
      await ann.api.post(`/rbac/groups/${managers}/members/${bob.id}`);
      const [grant, loss] = await Promise.all([
        one.as(bob.token).post(`/rbac/groups/${others}/permissions`, { permission: 'audit.read' }),
        two.as(ann.token).delete(`/rbac/groups/${managers}/permissions/audit.read`),
      ]);
      expect(loss.status).toBe(200);
      // Either the grant came first, when the caller still had the permission, or it was rejected.
      expect([201, 403]).toContain(grant.status);
      const has = (await ann.api.get(`/rbac/groups/${others}/permissions`)).body.permissions.length;
      expect(has).toBe(grant.status === 201 ? 1 : 0);
      if (grant.status === 403) expect(grant.body.error).toBe('cannot_grant_unheld');
    }
  });

  test('an addition of a member while the group gets a permission: the caller has all permissions of the group', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { slug, people: users } = await owners('ann');
      const [ann] = users as [TestUser];
      const bob = await one.member(slug, `bob@${slug}.example`);
      const create = async (name: string, permissions: string[]) =>
        (await ann.api.post('/rbac/groups', { name, permissions })).body.group.id;
      const managers = await create('Managers', ['rbac.manage']);
      const target = await create('Target', []);
      await ann.api.post(`/rbac/groups/${managers}/members/${bob.id}`);
      const [join, grant] = await Promise.all([
        one.as(bob.token).post(`/rbac/groups/${target}/members/${bob.id}`),
        two.as(ann.token).post(`/rbac/groups/${target}/permissions`, { permission: 'audit.read' }),
      ]);
      expect([join.status, grant.status]).toEqual([expect.any(Number), 201]);
      expect([201, 403]).toContain(join.status);
      const log = await one.sql(
        `SELECT action FROM audit_log WHERE tenant_id = $1 AND action IN ('rbac.member.added', 'rbac.permission.granted')
            AND (data->>'group_id' = $2 OR object_id = $2) ORDER BY id`,
        [ann.tenantId, target],
      );
      // A membership after the grant requires the permission.
      if (join.status === 403) expect(log).toEqual([{ action: 'rbac.permission.granted' }]);
      else expect(log).toHaveLength(2);
    }
  });

  test('counters stay correct with concurrent additions and removals', async () => {
    const { slug, people: users } = await owners('ann');
    const [ann] = users as [TestUser];
    const { id } = (await ann.api.post('/rbac/groups', { name: 'Counted' })).body.group;
    const members: TestUser[] = [];
    for (let n = 0; n < 6; n += 1) members.push(await one.member(slug, `m${n}@${slug}.example`));
    const add = (app: TestApp, user: TestUser) =>
      app.as(ann.token).post(`/rbac/groups/${id}/members`, { user_ids: [user.id, members[0]!.id] });
    await Promise.all(members.flatMap((member) => [add(one, member), add(two, member)]));
    await Promise.all(
      members
        .slice(3)
        .flatMap((member) => [
          one.as(ann.token).delete(`/rbac/groups/${id}/members/${member.id}`),
          two.as(ann.token).delete(`/rbac/groups/${id}/members/${member.id}`),
        ]),
    );
    const [row] = await one.sql('SELECT members_count FROM rbac_groups WHERE id = $1', [id]);
    expect(row.members_count).toBe(3);
    expect((await ann.api.get(`/rbac/groups/${id}/members`)).body.members).toHaveLength(3);
  });
});
