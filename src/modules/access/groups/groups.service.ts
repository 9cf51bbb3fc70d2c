import { Injectable } from '@nestjs/common';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { detailsAt, fieldError } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { PageQuery } from '../../../platform/paging/page.dto.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import { AccessErrors } from '../access.dto.js';
import { Authority, assertHolds } from '../authority.js';
import { isPermission } from '../permissions.js';
import { GroupChanges } from './group-changes.js';
import { type CreateGroup, GROUPS, type UpdateGroup } from './groups.dto.js';
import { permissionsOf, presentGroup } from './groups.presenter.js';
import { type GroupRow, GroupsRepository } from './groups.repository.js';

/** Groups of members, which grant permissions. */
@Injectable()
export class GroupsService {
  constructor(
    private readonly groups: GroupsRepository,
    private readonly authority: Authority,
    private readonly writes: IdempotentWrites,
    private readonly cursors: Cursors,
    private readonly changes: GroupChanges,
    private readonly db: Db,
  ) {}

  async list(ctx: RequestContext, query: PageQuery): Promise<ReplyOf<typeof GROUPS, 'list'>> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `rbac_groups ${ctx.tenantId}`,
      key: ({ rank, folded }: GroupRow): [number, string] => [rank, folded],
      rows: (after, limit) => this.groups.list(ctx.tenantId, after, limit),
    });
    return GROUPS.page(rows.map(presentGroup), next);
  }

  /** @throws ApiError 403 `cannot_grant_unheld`; 409 `already_exists`; 422 `unknown_permission`, `too_many_groups` */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    input: CreateGroup,
  ): Promise<ReplyOf<typeof GROUPS, 'item'>> {
    const { description = '', permissions = [] } = input;
    assertKnown(permissions, 'permissions');
    return this.writes.runTx(ctx, key, async (tx) => {
      assertHolds(await this.authority.begin(tx, ctx), permissions);
      const id = await this.changes.create(tx, ctx, { ...input, description, permissions });
      return GROUPS.created(id, presentGroup(await this.groups.readExisting(tx, ctx.tenantId, id)));
    });
  }

  /** @throws ApiError 404; 403 `system_group` or `cannot_grant_unheld`; 409 `conflict` or `already_exists` */
  async update(
    ctx: RequestContext,
    id: string,
    body: Checked<UpdateGroup>,
  ): Promise<ReplyOf<typeof GROUPS, 'item'>> {
    return this.db.tx(async (tx) => {
      const group = await this.changeable(tx, ctx, id);
      const { name = group.name, description = group.description, rev = group.rev } = body.value;
      if (rev !== group.rev) throw AccessErrors.conflict.with({ body: { group: presentGroup(group) } });
      if (!(await this.changes.update(tx, ctx, group, { name, description })))
        return GROUPS.response(presentGroup(group));
      return GROUPS.response(presentGroup(await this.groups.readExisting(tx, ctx.tenantId, id)));
    });
  }

  /** Its members lose its permissions. @throws ApiError 404; 403 `system_group` or `cannot_grant_unheld` */
  async delete(ctx: RequestContext, id: string): Promise<ReplyOf<typeof GROUPS, 'deleted'>> {
    return this.db.tx(async (tx) => {
      const group = await this.changeable(tx, ctx, id);
      await this.changes.delete(tx, ctx, group);
      return GROUPS.deleted(presentGroup(group));
    });
  }

  /** Reads a group, not a system group, of which the caller holds all permissions, and locks the groups. */
  private async changeable(tx: Tx, ctx: RequestContext, id: string): Promise<GroupRow> {
    const held = await this.authority.begin(tx, ctx);
    const group = await this.groups.readExisting(tx, ctx.tenantId, id);
    if (group.system) throw AccessErrors.systemGroup.with();
    assertHolds(held, permissionsOf(group));
    return group;
  }
}

/** @throws ApiError 422 `unknown_permission` */
export function assertKnown(permissions: readonly string[], field: string): void {
  const unknown = permissions.flatMap((permission, n) => (isPermission(permission) ? [] : [n]));
  const details = detailsAt(field, unknown, 'unknown_permission', 'does not exist');
  if (details.length > 0) throw AccessErrors.unknownPermission.with({ details });
}

/**
 * The distinct values of two fields: one value, and a list.
 * @param fields their names, for the error
 * @throws ApiError 422 when both are missing
 */
export function oneOrMore(fields: string, one: string | undefined, more: readonly string[] = []): string[] {
  if (one === undefined && more.length === 0)
    throw fieldError('', 'is_not_empty', `One of ${fields} is required.`);
  return [...new Set([...more, ...(one === undefined ? [] : [one])])];
}
