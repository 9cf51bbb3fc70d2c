import { Injectable } from '@nestjs/common';
import { Audit } from '../../../platform/audit/audit.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { AccessErrors, type PermissionsEnvelope } from '../access.dto.js';
import { Authority, assertHolds } from '../authority.js';
import { isPermission } from '../permissions.js';
import type { GrantPermissions } from './groups.dto.js';
import { presentPermissions } from './groups.presenter.js';
import { type GroupRow, GroupsRepository } from './groups.repository.js';
import { assertKnown, oneOrMore } from './groups.service.js';

/** Permissions of groups. Callers grant and revoke only permissions that they hold. */
@Injectable()
export class GroupPermissionsService {
  constructor(
    private readonly groups: GroupsRepository,
    private readonly authority: Authority,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  async list(ctx: RequestContext, groupId: string): Promise<PermissionsEnvelope> {
    const group = await this.groups.readExisting(this.db, ctx.tenantId, groupId);
    return presentPermissions(group, await this.authority.permissionsOf(ctx));
  }

  /**
   * 201 when a permission was new, else 200.
   * @throws ApiError 404; 403 `system_group` (the owners group has all), `cannot_grant_unheld`; 422 `unknown_permission`
   */
  async grant(
    ctx: RequestContext,
    groupId: string,
    body: Checked<GrantPermissions>,
  ): Promise<JsonReply<PermissionsEnvelope>> {
    return this.db.tx(async (tx) => {
      const { held, group } = await this.changeable(tx, ctx, groupId);
      const { permission, permissions } = body.value;
      const wanted = oneOrMore('permission and permissions', permission, permissions);
      assertKnown(wanted, 'permissions');
      assertHolds(held, wanted);
      const granted = await this.groups.grant(tx, ctx.tenantId, groupId, ctx.userId, wanted);
      if (granted.length > 0) await this.log(tx, ctx, 'rbac.permission.granted', group, granted);
      return this.reply(tx, ctx, groupId, held, granted.length > 0 ? 201 : 200);
    });
  }

  /** @throws ApiError 404; 403 `system_group`, `cannot_grant_unheld`; 422 `unknown_permission` */
  async revoke(
    ctx: RequestContext,
    groupId: string,
    permission: string,
  ): Promise<JsonReply<PermissionsEnvelope>> {
    return this.db.tx(async (tx) => {
      const { held, group } = await this.changeable(tx, ctx, groupId);
      if (!isPermission(permission)) throw AccessErrors.unknownPermission.with();
      assertHolds(held, [permission]);
      const revoked = await this.groups.revoke(tx, ctx.tenantId, groupId, permission);
      if (!revoked) throw AccessErrors.notGranted.with();
      await this.log(tx, ctx, 'rbac.permission.revoked', group, [permission]);
      return this.reply(tx, ctx, groupId, await this.authority.inTx(tx, ctx.tenantId, ctx.userId), 200);
    });
  }

  private async changeable(
    tx: Tx,
    ctx: RequestContext,
    groupId: string,
  ): Promise<{ held: ReadonlySet<string>; group: GroupRow }> {
    const held = await this.authority.begin(tx, ctx);
    const group = await this.groups.readExisting(tx, ctx.tenantId, groupId);
    // The owners group keeps all permissions, so that a workspace cannot lock itself out.
    if (group.system && group.key === 'owners') throw AccessErrors.systemGroup.with();
    return { held, group };
  }

  private async reply(
    tx: Tx,
    ctx: RequestContext,
    groupId: string,
    held: ReadonlySet<string>,
    status: number,
  ): Promise<JsonReply<PermissionsEnvelope>> {
    const group = await this.groups.readExisting(tx, ctx.tenantId, groupId);
    return JsonReply.of(presentPermissions(group, held), { status });
  }

  private async log(
    tx: Tx,
    ctx: RequestContext,
    action: string,
    group: GroupRow,
    permissions: string[],
  ): Promise<void> {
    const data = { group: group.name, permissions };
    await this.audit.record(tx, ctx, { action, objectKind: 'group', objectId: group.id, data });
  }
}
