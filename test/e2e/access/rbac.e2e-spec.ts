import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { AuditReader } from '../../../src/platform/audit/audit-reader.js';
import { Db } from '../../../src/platform/database/db.js';
import { TenantsApi } from '../../../src/modules/tenants/index.js';
import { IdentityApi } from '../../../src/modules/identity/index.js';
import { PERMISSIONS } from '../../../src/modules/access/index.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { until } from '../../support/until.ts';

const ALL = Object.keys(PERMISSIONS);
const UNKNOWN = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';

describe('groups, members and permissions', () => {
  let app: TestApp;
  let other: TestApp;
  let made = 0;

  beforeAll(async () => {
    app = await TestApp.start();
    other = await TestApp.start({}, app.databaseUrl);
  });
  afterAll(async () => {
    await other?.stop();
    await app?.stop();
  });

  /** A new workspace: an owner, an admin, and members. */
  const workspace = async () => {
    const slug = `t${(made += 1)}`;
    const [owner, mia, max] = await app.tenant(slug, 'owner', 'mia', 'max');
    await app.tenant(`${slug}-elsewhere`, 'outsider');
    const admin = await app.member(slug, `admin@${slug}.example`, 'admin');
    const groups = await groupsOf(owner);
    const { owners, admins, members } = groups;
    return { slug, owner, admin, mia, max, owners, admins, members };
  };
  const groupsOf = async (user: TestUser) => {
    const { groups } = (await user.api.get('/rbac/groups?limit=200')).body;
    return Object.fromEntries(groups.map((group: any) => [group.key, group])) as Record<string, any>;
  };
  const create = async (by: TestUser, name: string, permissions: string[] = []) => {
    const { status, body } = await by.api.post('/rbac/groups', { name, permissions });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.group;
  };
  const of = (group: any, rest = '') => `/rbac/groups/${group.id}${rest}`;
  const rejected = (response: { status: number; body: any }, status: number, error: string) =>
    expect([response.status, response.body.error]).toEqual([status, error]);

  describe('system groups', () => {
    test('exist in every workspace with their permissions', async () => {
      const { owners, admins, members, owner, mia } = await workspace();
      // `owners.manage`, `issuers.manage`, `scim.manage` and `webhooks.manage` are those of owners.
      expect([owners, admins, members]).toMatchObject([
        { name: 'Owners', system: true, members_count: 1, permissions_count: ALL.length, rev: 1 },
        { name: 'Admins', system: true, members_count: 1, permissions_count: ALL.length - 4 },
        { name: 'Members', system: true, members_count: 4, permissions_count: 5 },
      ]);
      const ids = async (group: any) =>
        (await owner.api.get(of(group, '/permissions'))).body.permissions.map((p: any) => p.id);
      expect((await ids(owners)).toSorted()).toEqual(ALL.toSorted());
      const ofOwners = new Set(['owners.manage', 'issuers.manage', 'scim.manage', 'webhooks.manage']);
      expect((await ids(admins)).toSorted()).toEqual(ALL.filter((key) => !ofOwners.has(key)).toSorted());
      expect(await ids(members)).toEqual([
        'calls.start',
        'chat.rooms.create',
        'forms.create',
        'guests.invite',
        'reports.share',
      ]);
      const everyUser = (await owner.api.get(of(members, '/members'))).body.members;
      expect(everyUser.map((member: any) => member.user_id)).toContain(mia.id);
    });

    test('cannot be renamed or deleted; owners keep all permissions; members follow the workspace', async () => {
      const { owners, admins, members, owner, admin, mia } = await workspace();
      for (const group of [owners, admins, members]) {
        rejected(await owner.api.put(of(group), { name: 'Mine' }), 403, 'system_group');
        rejected(await owner.api.delete(of(group)), 403, 'system_group');
      }
      rejected(await owner.api.delete(of(owners, '/permissions/forms.create')), 403, 'system_group');
      rejected(
        await owner.api.post(of(owners, '/permissions'), { permission: 'forms.create' }),
        403,
        'system_group',
      );
      rejected(await owner.api.delete(of(members, `/members/${mia.id}`)), 403, 'system_group');
      const again = await owner.api.post(of(members, '/members'), { user_id: mia.id });
      expect([again.status, again.body]).toEqual([200, { members: [] }]);
      // Admins decide the permissions of all members.
      expect((await admin.api.delete(of(members, '/permissions/forms.create'))).status).toBe(200);
    });

    test('roles follow the owners and admins groups', async () => {
      const { owners, admins, owner, mia } = await workspace();
      const role = async () =>
        (
          await app.sql('SELECT role FROM tenant_members WHERE tenant_id = $1 AND user_id = $2', [
            mia.tenantId,
            mia.id,
          ])
        )[0].role;
      for (const [method, group, now] of [
        ['post', admins, 'admin'],
        ['post', owners, 'owner'],
        ['delete', owners, 'admin'],
        ['delete', admins, 'member'],
      ] as const) {
        expect((await owner.api[method](of(group, `/members/${mia.id}`))).status).toBeLessThan(300);
        expect(await role()).toBe(now);
      }
    });

    test('provisioning sets the groups of a role, and is idempotent', async () => {
      const { slug, owner, mia } = await workspace();
      await app.member(slug, mia.email, 'admin');
      expect((await groupsOf(owner))['admins'].members_count).toBe(2);
      await app.member(slug, mia.email, 'admin');
      expect((await groupsOf(owner))['admins'].members_count).toBe(2);
      await app.member(slug, mia.email, 'owner');
      expect(await groupsOf(owner)).toMatchObject({
        admins: { members_count: 1 },
        owners: { members_count: 2 },
      });
      await app.member(slug, mia.email, 'member');
      await expect(app.member(slug, owner.email, 'member')).rejects.toThrow('must keep an active owner');
      expect(await groupsOf(owner)).toMatchObject({ owners: { members_count: 1 } });
    });
  });

  test('workspaces older than groups get them, with their owners and admins', async () => {
    // Such workspaces are in the first database, without cells.
    const old = await TestApp.start({ TEST_CELLS: '' });
    try {
      const [ann] = await old.tenant('old', 'ann', 'ben');
      const cat = await old.member('old', 'cat@old.example', 'admin');
      await old.sql('DELETE FROM rbac_groups');
      await old.sql('DELETE FROM tenant_rbac');
      expect((await ann.api.get('/rbac/groups')).status).toBe(403);
      const file = new URL('../../../src/modules/access/migrations/0001-access.sql', import.meta.url);
      const [, backfill = ''] = readFileSync(file, 'utf8').split('-- Workspaces that exist already');
      for (const sql of backfill
        .split('\n')
        .slice(1)
        .join('\n')
        .split(';')
        .filter((text) => text.trim()))
        await old.sql(sql);
      expect(await groupsOf(ann)).toMatchObject({
        owners: { members_count: 1, permissions_count: ALL.length },
        admins: { members_count: 1 },
        members: { members_count: 3, permissions_count: 5 },
      });
      expect((await cat.api.get('/rbac/groups')).body.groups[0].id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    } finally {
      await old.stop();
    }
  });

  describe('groups', () => {
    test('are created, listed in pages, updated and deleted', async () => {
      const { owner } = await workspace();
      const group = await create(owner, '  Éditeurs  du Blog ', ['forms.create', 'forms.create']);
      expect(group).toEqual({
        id: expect.any(String),
        key: 'editeurs-du-blog',
        name: 'Éditeurs  du Blog',
        description: '',
        system: false,
        members_count: 0,
        permissions_count: 1,
        rev: 1,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      await create(owner, '写作组');
      await create(owner, 'Alpha');
      const names: string[] = [];
      for (let next: string | null = ''; next !== null;) {
        const { body }: any = await owner.api.get(`/rbac/groups?limit=2${next ? `&cursor=${next}` : ''}`);
        names.push(...body.groups.map(({ name }: any) => name));
        next = body.next;
      }
      expect(names).toEqual(['Owners', 'Admins', 'Members', 'Alpha', 'Éditeurs  du Blog', '写作组']);

      const renamed = await owner.api.put(of(group), { name: 'Editors', description: 'd', rev: 1 });
      expect([renamed.status, renamed.body.group]).toEqual([
        200,
        { ...group, name: 'Editors', description: 'd', rev: 2, updated_at: expect.any(String) },
      ]);
      expect((await owner.api.put(of(group), { name: 'Editors' })).body.group.rev).toBe(2);
      const stale = await owner.api.put(of(group), { name: 'Stale', rev: 1 });
      rejected(stale, 409, 'conflict');
      expect(stale.body.group).toMatchObject({ name: 'Editors', rev: 2 });
      expect((await owner.api.delete(of(group))).body).toMatchObject({
        deleted: true,
        group: { name: 'Editors' },
      });
      rejected(await owner.api.delete(of(group)), 404, 'not_found');
    });

    test('names and keys are unique, ignoring case, accents and spaces', async () => {
      const { owner } = await workspace();
      const group = await create(owner, 'Editors');
      for (const body of [
        { name: 'EDITORS' },
        { name: 'Éditors ' },
        { name: 'x', key: 'editors' },
        { name: 'owners' },
      ])
        rejected(await owner.api.post('/rbac/groups', body), 409, 'already_exists');
      const second = await create(owner, 'Writers');
      rejected(await owner.api.put(of(second), { name: 'editors' }), 409, 'already_exists');
      expect((await owner.api.put(of(group), { name: 'EDITORS' })).status).toBe(200);
      // The key is taken although the name is free again.
      expect((await create(owner, 'Editors!')).key).toMatch(/^editors-[0-9a-f]{8}$/);
    });

    test('invalid input is rejected by field', async () => {
      const { owner } = await workspace();
      const wrong: [object, string][] = [
        [{}, 'name'],
        [{ name: '' }, 'name'],
        [{ name: ' \u200b' }, 'name'],
        [{ name: 'a\nb' }, 'name'],
        [{ name: 'a\u202eb' }, 'name'],
        [{ name: 'x'.repeat(257) }, 'name'],
        [{ name: ['x'] }, 'name'],
        [{ name: 'x', key: 'No' }, 'key'],
        [{ name: 'x', permissions: 'forms.create' }, 'permissions'],
        [{ name: 'x', permissions: [1] }, 'permissions'],
        [{ name: 'x', description: 5 }, 'description'],
      ];
      for (const [body, field] of wrong) {
        const response = await owner.api.post('/rbac/groups', body);
        expect([body, response.status, response.body.details?.[0].field]).toEqual([body, 422, field]);
      }
      for (const permission of ['nothing.such', 'toString', '__proto__', 'constructor']) {
        rejected(
          await owner.api.post('/rbac/groups', { name: 'x', permissions: [permission] }),
          422,
          'unknown_permission',
        );
      }
      rejected(await owner.api.get('/rbac/groups?limit=201'), 422, 'validation_failed');
      rejected(await owner.api.get('/rbac/groups?cursor=x'), 422, 'invalid_cursor');
      rejected(await owner.api.put('/rbac/groups/nonsense', { name: 'x' }), 422, 'invalid_id');
    });

    test('an Idempotency-Key creates one group from two requests', async () => {
      const { owner } = await workspace();
      const headers = { 'idempotency-key': 'once' };
      const [one, two] = [
        await owner.api.post('/rbac/groups', { name: 'Once' }, { headers }),
        await owner.api.post('/rbac/groups', { name: 'Once' }, { headers }),
      ];
      expect([one.status, two.status, two.body]).toEqual([201, 201, one.body]);
    });
  });

  describe('authorization', () => {
    test('without the permission nothing is readable, not even the existence of a group', async () => {
      const { mia, admins } = await workspace();
      for (const id of [admins.id, UNKNOWN]) {
        const calls: [string, string, object?][] = [
          ['GET', '/rbac/groups'],
          ['POST', '/rbac/groups', { name: 'x' }],
          ['PUT', `/rbac/groups/${id}`, { name: 'x' }],
          ['DELETE', `/rbac/groups/${id}`],
          ['GET', `/rbac/groups/${id}/members`],
          ['POST', `/rbac/groups/${id}/members`, { user_id: mia.id }],
          ['POST', `/rbac/groups/${id}/members/${mia.id}`],
          ['DELETE', `/rbac/groups/${id}/members/${mia.id}`],
          ['GET', `/rbac/groups/${id}/permissions`],
          ['POST', `/rbac/groups/${id}/permissions`, { permission: 'forms.create' }],
          ['POST', `/rbac/groups/${id}/permissions/forms.create`],
          ['DELETE', `/rbac/groups/${id}/permissions/forms.create`],
        ];
        for (const [method, path, body] of calls)
          rejected(await mia.api.request(method, path, { body }), 403, 'forbidden');
      }
      rejected(await mia.api.get('/rbac/groups/nonsense/members'), 422, 'invalid_id');
    });

    test('a permission takes effect from the next request on in every process, and ends likewise', async () => {
      const { owner, mia } = await workspace();
      const readers = await create(owner, 'Readers', ['rbac.read']);
      const statuses = async () => [
        (await mia.api.get('/rbac/groups')).status,
        (await other.as(mia.token).get('/rbac/groups')).status,
      ];
      expect(await statuses()).toEqual([403, 403]);
      for (let round = 0; round < 3; round += 1) {
        await owner.api.post(of(readers, `/members/${mia.id}`));
        expect(await statuses()).toEqual([200, 200]);
        await owner.api.delete(of(readers, '/permissions/rbac.read'));
        expect(await statuses()).toEqual([403, 403]);
        await owner.api.post(of(readers, '/permissions'), { permission: 'rbac.read' });
        expect(await statuses()).toEqual([200, 200]);
        await owner.api.delete(of(readers, `/members/${mia.id}`));
        expect(await statuses()).toEqual([403, 403]);
      }
      await owner.api.post(of(readers, '/members'), { user_ids: [mia.id] });
      await owner.api.delete(of(readers));
      expect(await statuses()).toEqual([403, 403]);
    });

    test('rbac.read reads and changes nothing', async () => {
      const { owner, mia } = await workspace();
      const readers = await create(owner, 'Readers', ['rbac.read']);
      await owner.api.post(of(readers, `/members/${mia.id}`));
      expect(
        (await mia.api.get(of(readers, '/permissions'))).body.available.find((p: any) => p.held),
      ).toBeDefined();
      rejected(await mia.api.post('/rbac/groups', { name: 'x' }), 403, 'forbidden');
      rejected(await mia.api.post(of(readers, '/members'), { user_id: mia.id }), 403, 'forbidden');
    });
  });

  describe('escalation is impossible', () => {
    /** mia: manages groups and has few other permissions. */
    const manager = async () => {
      const all = await workspace();
      const managers = await create(all.owner, 'Managers', ['rbac.manage', 'rbac.read', 'forms.create']);
      await all.owner.api.post(of(managers, `/members/${all.mia.id}`));
      return { ...all, managers };
    };

    test('by grants: to a new group, to one of her groups, to all members', async () => {
      const { mia, managers, members } = await manager();
      const unheld = await mia.api.post('/rbac/groups', {
        name: 'x',
        permissions: ['forms.create', 'audit.read'],
      });
      rejected(unheld, 403, 'cannot_grant_unheld');
      expect(unheld.body.permissions).toEqual(['audit.read']);
      for (const group of [managers, members]) {
        rejected(
          await mia.api.post(of(group, '/permissions'), { permission: 'audit.read' }),
          403,
          'cannot_grant_unheld',
        );
        rejected(await mia.api.post(of(group, '/permissions/owners.manage')), 403, 'cannot_grant_unheld');
      }
      expect((await mia.api.post(of(members, '/permissions'), { permission: 'rbac.read' })).status).toBe(201);
      expect((await mia.api.post(of(members, '/permissions'), { permission: 'rbac.read' })).status).toBe(200);
    });

    test('by membership: of admins, of owners, of a stronger group, of an emptied group of hers', async () => {
      const { owner, mia, max, admins, owners } = await manager();
      const auditors = await create(owner, 'Auditors', ['audit.read']);
      for (const group of [admins, owners, auditors])
        for (const user of [mia, max])
          rejected(
            await mia.api.post(of(group, '/members'), { user_id: user.id }),
            403,
            'cannot_grant_unheld',
          );
      const hers = await create(mia, 'Hers', ['forms.create']);
      expect((await mia.api.post(of(hers, '/members'), { user_ids: [max.id, max.id] })).status).toBe(201);
      // The owner adds permissions: from then on she cannot manage it.
      await owner.api.post(of(hers, '/permissions'), { permission: 'audit.read' });
      rejected(await mia.api.post(of(hers, `/members/${mia.id}`)), 403, 'cannot_grant_unheld');
      rejected(await mia.api.delete(of(hers, `/members/${max.id}`)), 403, 'cannot_grant_unheld');
    });

    test('by weakening others: revoke, rename, delete, remove', async () => {
      const { owner, admin, mia, admins, owners } = await manager();
      const auditors = await create(owner, 'Auditors', ['audit.read']);
      rejected(await mia.api.delete(of(auditors, '/permissions/audit.read')), 403, 'cannot_grant_unheld');
      rejected(await mia.api.put(of(auditors), { name: 'Nobodies' }), 403, 'cannot_grant_unheld');
      rejected(await mia.api.delete(of(auditors)), 403, 'cannot_grant_unheld');
      rejected(await mia.api.delete(of(admins, `/members/${admin.id}`)), 403, 'cannot_grant_unheld');
      rejected(await mia.api.delete(of(owners, `/members/${owner.id}`)), 403, 'cannot_grant_unheld');
      // Admins have all permissions except owners.manage, so they cannot manage owners.
      rejected(await admin.api.post(of(owners, `/members/${admin.id}`)), 403, 'cannot_grant_unheld');
      rejected(await admin.api.delete(of(owners, `/members/${owner.id}`)), 403, 'cannot_grant_unheld');
      rejected(await admin.api.post(of(auditors, '/permissions/owners.manage')), 403, 'cannot_grant_unheld');
    });
  });

  describe('members', () => {
    test('are added, listed in pages and removed; existing ones are skipped', async () => {
      const { owner, mia, max } = await workspace();
      const group = await create(owner, 'G');
      const first = await owner.api.post(of(group, '/members'), { user_ids: [max.id.toUpperCase(), mia.id] });
      expect(first.status).toBe(201);
      expect(first.body.members).toEqual(
        [mia, max]
          .toSorted((a, b) => (a.id < b.id ? -1 : 1))
          .map(({ id, email }) => ({
            user_id: id,
            email,
            display_name: expect.any(String),
            status: 'active',
            added_by: owner.id,
            added_at: expect.any(String),
          })),
      );
      const second = await owner.api.post(of(group, '/members'), { user_id: mia.id });
      expect([second.status, second.body.members]).toEqual([200, []]);
      const page = (await owner.api.get(of(group, '/members?limit=1'))).body;
      const rest = (await owner.api.get(of(group, `/members?limit=1&cursor=${page.next}`))).body;
      expect([...page.members, ...rest.members]).toEqual(first.body.members);
      expect(rest.next).toBeNull();
      expect((await groupsOf(owner))['g'].members_count).toBe(2);
      const gone = await owner.api.delete(of(group, `/members/${mia.id}`));
      expect([gone.status, gone.body]).toEqual([200, { removed: true }]);
      rejected(await owner.api.delete(of(group, `/members/${mia.id}`)), 404, 'not_found');
      expect((await groupsOf(owner))['g'].members_count).toBe(1);
    });

    test('must be active in the workspace; all or none are added', async () => {
      const { slug, owner, mia, max } = await workspace();
      const [outsider] = await app.tenant(`${slug}-elsewhere`, 'outsider');
      const group = await create(owner, 'G');
      await app
        .get(Db)
        .tx((tx) => app.get(TenantsApi).setMemberStatus(tx, max.id, max.tenantId!, 'deactivated'));
      for (const id of [outsider.id, UNKNOWN, max.id]) {
        rejected(await owner.api.post(of(group, '/members'), { user_ids: [mia.id, id] }), 404, 'not_found');
        rejected(await owner.api.post(of(group, `/members/${id}`)), 404, 'not_found');
      }
      expect((await owner.api.get(of(group, '/members'))).body.members).toEqual([]);
      for (const body of [{}, { user_ids: [] }, { user_id: 'me' }, { user_ids: 'x' }, { user_ids: [null] }])
        rejected(await owner.api.post(of(group, '/members'), body), 422, 'validation_failed');
    });
  });

  describe('a workspace keeps an active owner', () => {
    const deactivate = (user: TestUser) =>
      app.get(Db).tx((tx) => app.get(TenantsApi).setMemberStatus(tx, user.id, user.tenantId!, 'deactivated'));
    const deactivateAll = (user: TestUser) =>
      app.get(Db).tx((tx) => app.get(TenantsApi).endMemberships(tx, user.id));

    test('for any removal of the last one', async () => {
      const { owner, mia, owners } = await workspace();
      rejected(await owner.api.delete(of(owners, `/members/${owner.id}`)), 409, 'last_admin');
      await expect(deactivate(owner)).rejects.toMatchObject({ kind: { code: 'last_admin' } });
      await expect(deactivateAll(owner)).rejects.toMatchObject({ kind: { code: 'last_admin' } });
      await owner.api.post(of(owners, `/members/${mia.id}`));
      await deactivate(mia);
      // A deactivated owner does not count.
      rejected(await owner.api.delete(of(owners, `/members/${owner.id}`)), 409, 'last_admin');
      await app.get(Db).tx((tx) => app.get(TenantsApi).setMemberStatus(tx, mia.id, mia.tenantId!, 'active'));
      expect((await owner.api.delete(of(owners, `/members/${owner.id}`))).status).toBe(200);
      rejected(await owner.api.get('/rbac/groups'), 403, 'forbidden');
    });

    const as = async (user: { id: string }, tenantId: string | null) => {
      const identity = app.get(IdentityApi);
      const [token] = await identity.issueTokens([{ accountId: user.id, tenantId }], 'test');
      return app.as(token!);
    };
    const actingOwners = async (tenantId: string | null) => {
      const owners = await app.sql<{ user_id: string }>(
        `SELECT m.user_id FROM rbac_groups g JOIN rbac_members m ON m.tenant_id = g.tenant_id AND m.group_id = g.id
           JOIN tenant_members t ON t.tenant_id = m.tenant_id AND t.user_id = m.user_id AND t.status = 'active'
          WHERE g.tenant_id = $1 AND g.key = 'owners'`,
        [tenantId],
      );
      const ids = owners.map(({ user_id }) => user_id);
      return app.sql(`SELECT id FROM accounts WHERE id = ANY ($1) AND status = 'active'`, [ids]);
    };

    test('activating a former member reopens the account, which then counts as an owner', async () => {
      const { owner, mia, owners } = await workspace();
      await owner.api.post(of(owners, `/members/${mia.id}`));
      expect((await mia.api.delete('/settings/profile', {})).body.account_closed).toBe(true);
      rejected(await owner.api.delete('/settings/profile', {}), 409, 'last_admin');
      expect((await owner.api.post(`/tenant/members/${mia.id}/activate`)).status).toBe(200);
      expect((await owner.api.delete('/settings/profile', {})).status).toBe(200);
      expect(await actingOwners(mia.tenantId)).toEqual([{ id: mia.id }]);
      expect((await (await as(mia, mia.tenantId)).get('/rbac/groups')).status).toBe(200);
    });

    test('an account that the operator closed is reopened by the operator only', async () => {
      const { owner, mia, owners } = await workspace();
      await owner.api.post(of(owners, `/members/${mia.id}`));
      await app.get(Db).tx((tx) => app.get(IdentityApi).deactivate(tx, mia.id));
      rejected(await owner.api.post(`/tenant/members/${mia.id}/activate`), 409, 'account_closed');
      // Her membership is active, but her account is not: she is no owner who can act.
      rejected(await owner.api.delete(of(owners, `/members/${owner.id}`)), 409, 'last_admin');
      rejected(await owner.api.delete('/settings/profile', {}), 409, 'last_admin');
    });

    test('after any sequence of changes', async () => {
      const who = fc.nat({ max: 2 });
      const step = fc.oneof(
        fc.record({ kind: fc.constant('leave' as const), by: who, whom: who }),
        fc.record({
          kind: fc.constantFrom(
            'activate' as const,
            'deactivate' as const,
            'promote' as const,
            'demote' as const,
          ),
          by: who,
          whom: who,
        }),
        fc.record({
          kind: fc.constantFrom('operator activate' as const, 'operator deactivate' as const),
          by: who,
          whom: who,
        }),
      );
      const run = async (
        users: TestUser[],
        owners: any,
        { kind, by, whom }: { kind: string; by: number; whom: number },
      ) => {
        const [actor, target] = [users[by]!, users[whom]!];
        const { tenantId } = actor;
        const operator = (status: 'active' | 'deactivated') =>
          app
            .get(Db)
            .tx(async (tx) => {
              const tenants = app.get(TenantsApi);
              await (status === 'active'
                ? tenants.restoreMemberships(tx, target.id)
                : tenants.endMemberships(tx, target.id));
              const identity = app.get(IdentityApi);
              await (status === 'active'
                ? identity.activate(tx, target.id)
                : identity.deactivate(tx, target.id));
            })
            .catch((error: unknown) => expect(error).toMatchObject({ kind: { code: 'last_admin' } }));
        if (kind === 'operator activate') return operator('active');
        if (kind === 'operator deactivate') return operator('deactivated');
        const api = await as(actor, tenantId);
        const path = of(owners, `/members/${target.id}`);
        const { status } = await (kind === 'leave'
          ? api.delete('/settings/profile', {})
          : kind === 'promote'
            ? api.post(path)
            : kind === 'demote'
              ? api.delete(path)
              : api.post(`/tenant/members/${target.id}/${kind}`));
        expect(status).toBeLessThan(500);
      };
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
          const { owner, mia, max, owners } = await workspace();
          await owner.api.post(of(owners, '/members'), { user_ids: [mia.id, max.id] });
          for (const each of steps) {
            await run([owner, mia, max], owners, each);
            expect((await actingOwners(owner.tenantId)).length).toBeGreaterThan(0);
          }
        }),
        { numRuns: 20 },
      );
    });

    test('a deactivated member has no permissions from the next request on', async () => {
      const { admin } = await workspace();
      expect((await admin.api.get('/rbac/groups')).status).toBe(200);
      await deactivate(admin);
      // The token is rejected within seconds; until then these routes reject it by permission.
      expect([401, 403]).toContain((await admin.api.get('/rbac/groups')).status);
    });
  });

  describe('memberships', () => {
    const set = (by: TestUser, whom: { id: string }, what: 'deactivate' | 'activate') =>
      by.api.post(`/tenant/members/${whom.id}/${what}`);

    test('of a deactivated user: no assignments, no invitations', async () => {
      const { owner, mia } = await workspace();
      const note = (await owner.api.post('/notes', { title: 'Shared' })).body.note;
      await set(owner, mia, 'deactivate');
      for (const name of [{ user_id: mia.id }, { email: mia.email }]) {
        const invited = [{ ...name, role: 'viewer' }];
        rejected(
          await owner.api.put(`/notes/${note.id}/invited`, { invited, base_revision: 1 }),
          422,
          'unknown_user',
        );
        rejected(await owner.api.post('/tasks', { title: 'T', assignees: [name] }), 422, 'unknown_user');
      }
    });

    test('the content of a deactivated member moves to an active one, audited', async () => {
      const { owner, admin, mia, max } = await workspace();
      const transfer = (by: TestUser, from: string, to: unknown) =>
        by.api.post(`/tenant/members/${from}/transfer`, { to });
      rejected(await transfer(max, mia.id, max.id), 403, 'forbidden');
      rejected(await max.api.get(`/tenant/members/${mia.id}/content`), 403, 'forbidden');
      rejected(await transfer(admin, mia.id, max.id), 409, 'member_active');
      await set(admin, mia, 'deactivate');
      rejected(await transfer(admin, UNKNOWN, max.id), 404, 'not_found');
      rejected(await transfer(admin, mia.id, UNKNOWN), 404, 'not_found');
      rejected(await transfer(admin, mia.id, mia.id), 404, 'not_found');
      rejected(await transfer(admin, mia.id, 'max'), 422, 'validation_failed');
      rejected(await admin.api.get(`/tenant/members/${UNKNOWN}/content`), 404, 'not_found');
      const { body } = await admin.api.get(`/tenant/members/${mia.id}/content`);
      const moved = await transfer(admin, mia.id, max.id);
      expect([moved.status, moved.body]).toEqual([200, { transferred: body.content }]);
      const [event] = (await owner.api.get('/tenant/audit?action=user.content.transferred')).body.events;
      expect(event).toMatchObject({ actor_id: admin.id, object_id: mia.id, data: { to: max.id } });
      await owner.api.post(of((await groupsOf(owner))['owners'], `/members/${max.id}`));
      await set(owner, max, 'deactivate');
      rejected(await transfer(admin, max.id, owner.id), 403, 'cannot_grant_unheld');
    });

    test('are deactivated and activated with users.deactivate, and their sessions end', async () => {
      const { owner, admin, mia, max } = await workspace();
      rejected(await set(mia, max, 'deactivate'), 403, 'forbidden');
      rejected(await mia.api.get('/tenant/members'), 403, 'forbidden');
      const ended = await set(admin, max, 'deactivate');
      expect([ended.status, ended.body.member]).toEqual([
        200,
        {
          user_id: max.id,
          email: max.email,
          display_name: 'Max',
          role: 'member',
          status: 'deactivated',
          created_at: expect.any(String),
        },
      ]);
      expect((await set(admin, max, 'deactivate')).status).toBe(200);
      await app.readAccessChanges();
      await until('401', async () => (await max.api.get('/notes')).status === 401);
      const list = async (query = '') =>
        (await admin.api.get(`/tenant/members${query}`)).body.members.map((member: any) => member.user_id);
      expect(await list('?status=deactivated')).toEqual([max.id]);
      expect(await list()).toHaveLength(4);
      expect(await list('?status=active')).not.toContain(max.id);
      const page = (await admin.api.get('/tenant/members?limit=3')).body;
      expect(await list(`?limit=3&cursor=${page.next}`)).toHaveLength(1);
      expect((await set(admin, max, 'activate')).body.member.status).toBe('active');
      // An ended session stays ended.
      expect((await max.api.get('/notes')).status).toBe(401);
      const log = await app.get(AuditReader).listConcerning(max.tenantId, max.id, 2);
      expect(log.map(({ action, actor_id }) => [action, actor_id])).toEqual([
        ['user.activated', admin.id],
        ['user.deactivated', admin.id],
      ]);
      for (const id of [UNKNOWN, (await app.userWithoutWorkspace('zoe')).id])
        rejected(await set(owner, { id }, 'deactivate'), 404, 'not_found');
      rejected(await set(owner, { id: 'x' }, 'activate'), 422, 'invalid_id');
      rejected(await owner.api.get('/tenant/members?status=gone'), 422, 'validation_failed');
      await app.sql('UPDATE tenant_members SET is_service = true WHERE tenant_id = $1 AND user_id = $2', [
        max.tenantId,
        max.id,
      ]);
      expect(await list()).toHaveLength(3);
      expect(await list()).not.toContain(max.id);
      expect(await list('?kind=service')).toEqual([max.id]);
      expect(await list('?kind=all')).toHaveLength(4);
      rejected(await owner.api.get('/tenant/members?kind=robot'), 422, 'validation_failed');
    });

    test('not of a member with more permissions, not into such groups, not the own one', async () => {
      const { owner, admin, mia, max } = await workspace();
      rejected(await set(admin, owner, 'deactivate'), 403, 'cannot_grant_unheld');
      rejected(await set(admin, admin, 'deactivate'), 403, 'forbidden');
      const closers = await create(owner, 'Closers', ['users.deactivate']);
      await owner.api.post(of(closers, `/members/${mia.id}`));
      expect((await set(mia, max, 'deactivate')).status).toBe(200);
      expect((await set(owner, admin, 'deactivate')).status).toBe(200);
      rejected(await set(mia, admin, 'activate'), 403, 'cannot_grant_unheld');
      const second = await app.member(`t${made}`, `second@t${made}.example`, 'owner');
      expect((await set(second, owner, 'deactivate')).status).toBe(200);
      // The last owner can neither be deactivated nor leave.
      rejected(await second.api.delete('/settings/profile'), 409, 'last_admin');
    });
  });

  test('every change is in the audit log, rejected ones are not', async () => {
    const { owner, mia } = await workspace();
    const group = await create(owner, 'Logged', ['forms.create']);
    await owner.api.put(of(group), { name: 'Logged!' });
    await owner.api.post(
      of(group, '/members'),
      { user_id: mia.id },
      { headers: { 'x-request-id': 'req-7' } },
    );
    await owner.api.post(of(group, '/permissions'), { permissions: ['reports.share', 'forms.create'] });
    await owner.api.delete(of(group, '/permissions/reports.share'));
    await owner.api.delete(of(group, `/members/${mia.id}`));
    await owner.api.delete(of(group));
    await owner.api.post('/rbac/groups', { name: 'Owners' });
    const events = (await app.get(AuditReader).page(owner.tenantId, { actorId: owner.id }, 20)).toReversed();
    expect(events.map(({ action, data }) => [action, data])).toEqual([
      ['rbac.group.created', { key: 'logged', name: 'Logged', permissions: ['forms.create'] }],
      ['rbac.group.updated', { before: { name: 'Logged' }, after: { name: 'Logged!' } }],
      ['rbac.member.added', { group: 'Logged!', group_id: group.id }],
      ['rbac.permission.granted', { group: 'Logged!', permissions: ['reports.share'] }],
      ['rbac.permission.revoked', { group: 'Logged!', permissions: ['reports.share'] }],
      ['rbac.member.removed', { group: 'Logged!', group_id: group.id }],
      ['rbac.group.deleted', { key: 'logged', name: 'Logged!', permissions: ['forms.create'] }],
    ]);
    expect(events[2]).toMatchObject({
      object_kind: 'user',
      object_id: mia.id,
      actor_id: owner.id,
      session_id: expect.any(String),
      request_id: 'req-7',
      ip: expect.stringContaining('127.0.0.1'),
      origin: 'api',
    });
  });
});
