import { provision } from '../../../src/provision/provision.js';
import { PASSWORD, session } from '../../support/sign-in/account.ts';
import { type TestUser, TestApp } from '../../support/app.ts';
import { afterChange } from '../../support/database/locks.ts';
import { secondFactorOf } from '../../support/sign-in/sign-in.ts';

describe('recovery of members by administrators', () => {
  let app: TestApp;
  let n = 0;

  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app?.stop());

  const workspace = async (...roles: ('owner' | 'admin' | 'member')[]): Promise<TestUser[]> => {
    const slug = `recovery${(n += 1)}`;
    const users = roles.map((role, index) => ({
      email: `${role}${index}@${slug}.example`,
      name: role,
      role,
      password: PASSWORD,
    }));
    const { users: made } = await provision(app.served.nest, { tenants: [{ slug, users }] }, true);
    return made.map(({ id, email, tenant_id: tenantId, token = '' }) => ({
      id,
      email,
      tenantId,
      token,
      api: app.as(token),
    }));
  };
  const hasFactor = async ({ id }: TestUser) => {
    const [row] = await app.sql('SELECT second_factor_since AS since FROM accounts WHERE id = $1', [id]);
    return row.since !== null;
  };
  const reset = async (by: TestUser, member: TestUser) => {
    const { status, body } = await by.api.post(`/tenant/members/${member.id}/second-factor/reset`);
    return [status, body.error ?? body.second_factor_reset.state];
  };

  describe('sessions', () => {
    test('of a member in this workspace are listed and ended; those elsewhere stay', async () => {
      const [owner, admin, member] = (await workspace('owner', 'admin', 'member')) as [
        TestUser,
        TestUser,
        TestUser,
      ];
      const phone = await session(app, member, { userAgent: 'Phone' });
      const elsewhere = await app.member(`other${n}`, member.email);
      const list = async (by: TestUser) =>
        (await by.api.get(`/tenant/members/${member.id}/sessions`)).body.sessions;
      const sessions = await list(admin);
      expect(sessions).toHaveLength(2);
      const one = sessions.find((row: any) => row.ua === 'Phone');
      expect(one).toMatchObject({ client: 'test', second_factor: false });
      const path = `/tenant/members/${member.id}/sessions`;
      expect((await admin.api.delete(`${path}/${one.id}`)).body).toEqual({ sessions_ended: 1 });
      expect((await phone.api.get('/notes')).status).toBe(401);
      expect((await member.api.get('/notes')).status).toBe(200);
      expect((await admin.api.delete(`${path}/${one.id}`)).status).toBe(404);
      expect((await owner.api.delete(path)).body).toEqual({ sessions_ended: 1 });
      expect((await member.api.get('/notes')).status).toBe(401);
      expect((await elsewhere.api.get('/notes')).status).toBe(200);
      const { events } = (await owner.api.get('/tenant/audit?action=user.sessions.ended')).body;
      expect(events).toHaveLength(2);
    });

    test('need the permission, and those of the member', async () => {
      const [owner, admin, member] = (await workspace('owner', 'admin', 'member')) as [
        TestUser,
        TestUser,
        TestUser,
      ];
      for (const [by, of, error] of [
        [member, admin, 'forbidden'],
        [admin, owner, 'cannot_grant_unheld'],
      ] as const) {
        expect((await by.api.get(`/tenant/members/${of.id}/sessions`)).body.error).toBe(error);
        expect((await by.api.delete(`/tenant/members/${of.id}/sessions`)).body.error).toBe(error);
      }
      expect((await owner.api.get('/notes')).status).toBe(200);
    });
  });

  describe('a lost second factor', () => {
    test('of a member is removed by an administrator, and ends the sessions', async () => {
      const [, admin, member] = (await workspace('owner', 'admin', 'member')) as [
        TestUser,
        TestUser,
        TestUser,
      ];
      expect(await reset(admin, member)).toEqual([409, 'second_factor_not_enabled']);
      expect(await reset(member, admin)).toEqual([403, 'forbidden']);
      await secondFactorOf(app, member.id);
      expect(await reset(admin, admin)).toEqual([403, 'forbidden']);
      expect(await reset(admin, member)).toEqual([200, 'removed']);
      expect(await hasFactor(member)).toBe(false);
      expect((await member.api.get('/notes')).status).toBe(401);
      const events = await app.sql(`SELECT action FROM audit_log WHERE object_id = $1`, [member.id]);
      expect(events.map(({ action }) => action)).toContain('security.second_factor_disabled');
    });

    test('of an owner is removed by two members, one of them an owner', async () => {
      const [lost, owner, admin, other] = (await workspace('owner', 'owner', 'admin', 'admin')) as [
        TestUser,
        TestUser,
        TestUser,
        TestUser,
      ];
      await secondFactorOf(app, lost.id);
      expect(await reset(admin, lost)).toEqual([200, 'approval_required']);
      expect(await reset(admin, lost)).toEqual([200, 'approval_required']);
      expect(await reset(other, lost)).toEqual([403, 'cannot_grant_unheld']);
      expect(await hasFactor(lost)).toBe(true);
      expect(await reset(owner, lost)).toEqual([200, 'removed']);
      expect(await hasFactor(lost)).toBe(false);
    });

    test('a former owner approves nothing with a token that is still cached', async () => {
      const [lost, former, admin] = (await workspace('owner', 'owner', 'admin')) as [
        TestUser,
        TestUser,
        TestUser,
      ];
      await secondFactorOf(app, lost.id);
      expect(await reset(admin, lost)).toEqual([200, 'approval_required']);
      expect((await former.api.get('/notes')).status).toBe(200);
      // As in the seconds until a process reads the change: it is not recorded as a change of access.
      const key = [former.tenantId, former.id];
      await app.sql(`UPDATE tenant_members SET role = 'admin' WHERE tenant_id = $1 AND user_id = $2`, key);
      await app.sql(
        `UPDATE rbac_members SET group_id = (SELECT id FROM rbac_groups WHERE tenant_id = $1 AND key = 'admins')
          WHERE tenant_id = $1 AND user_id = $2`,
        key,
      );
      await app.sql('UPDATE tenant_rbac SET version = version + 1 WHERE tenant_id = $1', [former.tenantId]);
      expect(await reset(former, lost)).toEqual([403, 'cannot_grant_unheld']);
      expect(await hasFactor(lost)).toBe(true);
    });

    test('a request of an administrator who was dismissed meanwhile does not count', async () => {
      const [lost, owner, admin] = (await workspace('owner', 'owner', 'admin')) as [
        TestUser,
        TestUser,
        TestUser,
      ];
      await secondFactorOf(app, lost.id);
      expect(await reset(admin, lost)).toEqual([200, 'approval_required']);
      const { groups } = (await owner.api.get('/rbac/groups')).body;
      const admins = groups.find((group: any) => group.key === 'admins').id;
      expect((await owner.api.delete(`/rbac/groups/${admins}/members/${admin.id}`)).status).toBe(200);
      expect(await reset(owner, lost)).toEqual([200, 'approval_required']);
      expect(await hasFactor(lost)).toBe(true);
    });

    test('parallel requests of one owner are one request', async () => {
      const [lost, owner] = (await workspace('owner', 'owner')) as [TestUser, TestUser];
      await secondFactorOf(app, lost.id);
      const states = await Promise.all([1, 2, 3].map(() => reset(owner, lost)));
      expect(new Set(states.map(String))).toEqual(new Set(['200,approval_required']));
      expect(await hasFactor(lost)).toBe(true);
    });

    test('an expired request, and one of a former member, need a new one', async () => {
      const [lost, owner, second] = (await workspace('owner', 'owner', 'owner')) as [
        TestUser,
        TestUser,
        TestUser,
      ];
      await secondFactorOf(app, lost.id);
      await reset(owner, lost);
      await app.sql(
        `UPDATE second_factor_resets SET expires_at = now() - make_interval(secs => 1) WHERE user_id = $1`,
        [lost.id],
      );
      expect(await reset(second, lost)).toEqual([200, 'approval_required']);
      await owner.api.post(`/tenant/members/${second.id}/deactivate`);
      expect(await reset(owner, lost)).toEqual([200, 'approval_required']);
      expect(await hasFactor(lost)).toBe(true);
    });

    test('of a member of several workspaces is left to the operator', async () => {
      const [, admin, member] = (await workspace('owner', 'admin', 'member')) as [
        TestUser,
        TestUser,
        TestUser,
      ];
      await secondFactorOf(app, member.id);
      await app.member(`more${n}`, member.email);
      expect(await reset(admin, member)).toEqual([409, 'member_of_other_workspaces']);
      expect(await hasFactor(member)).toBe(true);
    });

    test('of a member who joins another workspace while the request waits stays', async () => {
      const [, admin, member] = (await workspace('owner', 'admin', 'member')) as [
        TestUser,
        TestUser,
        TestUser,
      ];
      await secondFactorOf(app, member.id);
      const result = await afterChange(
        await app.databaseOf(admin.tenantId!),
        (other) => other.query('SELECT FROM tenant_rbac WHERE tenant_id = $1 FOR UPDATE', [admin.tenantId]),
        () => reset(admin, member),
        { meanwhile: () => app.member(`more${n}`, member.email) },
      );
      expect(result).toEqual([409, 'member_of_other_workspaces']);
      expect(await hasFactor(member)).toBe(true);
    });
  });
});
