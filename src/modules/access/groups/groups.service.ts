import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { fold } from '../../../lib/search-text/index.js';
import { changes } from '../../../platform/audit/audit-data.js';
import { Audit } from '../../../platform/audit/audit.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { fieldError } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { PageQuery } from '../../../platform/paging/page.dto.js';
import { AccessErrors } from '../access.errors.js';
import { Authority, assertHolds } from '../authority.js';
import { isPermission } from '../permissions.js';
import type { CreateGroup, UpdateGroup } from './groups.dto.js';
import { permissionsOf, presentGroup } from './groups.presenter.js';
import { type GroupRow, GroupsRepository } from './groups.repository.js';
import { GROUPS } from './groups.resource.js';

const MAX_KEY = 63;

/** Groups of members, which grant permissions. */
@Injectable()
export class GroupsService {
  constructor(
    private readonly groups: GroupsRepository,
    private readonly authority: Authority,
    private readonly writes: IdempotentWrites,
    private readonly cursors: Cursors,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  async list(ctx: RequestContext, query: PageQuery): Promise<JsonReply> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `rbac_groups ${ctx.tenantId}`,
      key: ({ rank, folded }: GroupRow): [number, string] => [rank, folded],
      rows: (after, limit) => this.groups.list(ctx.tenantId, after, limit),
    });
    return GROUPS.page(rows.map(presentGroup), next);
  }

  /** @throws ApiError 403 `cannot_grant_unheld`; 409 `already_exists`; 422 `unknown_permission`, `too_many_groups` */
  async create(ctx: RequestContext, key: IdempotencyKey | null, input: CreateGroup): Promise<JsonReply> {
    const { name, description = '', permissions = [] } = input;
    assertKnown(permissions, 'permissions');
    return this.writes.runTx(ctx, key, async (tx) => {
      assertHolds(await this.authority.begin(tx, ctx), permissions);
      const id = uuidv7();
      const group = { id, name, description, folded: foldName(name), permissions };
      const keyName = await this.keyFor(tx, ctx, id, input);
      const outcome = await this.groups.create(tx, ctx.tenantId, ctx.userId, { ...group, key: keyName });
      if (outcome === 'already_exists') throw AccessErrors.alreadyExists.with();
      if (outcome === 'too_many') throw AccessErrors.tooManyGroups.with();
      await this.log(tx, ctx, 'created', id, { key: keyName, name, permissions });
      return GROUPS.created(id, presentGroup(await this.groups.existing(tx, ctx.tenantId, id)));
    });
  }

  /** @throws ApiError 404; 403 `system_group` or `cannot_grant_unheld`; 409 `conflict` or `already_exists` */
  async update(ctx: RequestContext, id: string, body: Checked<UpdateGroup>): Promise<JsonReply> {
    return this.db.tx(async (tx) => {
      const group = await this.changeable(tx, ctx, id);
      const { name = group.name, description = group.description, rev = group.rev } = body.value;
      if (rev !== group.rev) throw AccessErrors.conflict.with({ body: { group: presentGroup(group) } });
      const diff = changes({ name: group.name, description: group.description }, { name, description });
      if (Object.keys(diff.after).length === 0) return GROUPS.response(presentGroup(group));
      const values = { name, folded: foldName(name), description };
      if (!(await this.groups.update(tx, ctx.tenantId, id, values))) throw AccessErrors.alreadyExists.with();
      await this.log(tx, ctx, 'updated', id, diff);
      return GROUPS.response(presentGroup(await this.groups.existing(tx, ctx.tenantId, id)));
    });
  }

  /** Its members lose its permissions. @throws ApiError 404; 403 `system_group` or `cannot_grant_unheld` */
  async delete(ctx: RequestContext, id: string): Promise<JsonReply> {
    return this.db.tx(async (tx) => {
      const group = await this.changeable(tx, ctx, id);
      await this.groups.delete(tx, ctx.tenantId, id);
      const { key, name, permissions } = group;
      await this.log(tx, ctx, 'deleted', id, { key, name, permissions });
      return GROUPS.deleted(presentGroup(group));
    });
  }

  /** Reads a group, not a system group, of which the caller holds all permissions, and locks the groups. */
  private async changeable(tx: Tx, ctx: RequestContext, id: string): Promise<GroupRow> {
    const held = await this.authority.begin(tx, ctx);
    const group = await this.groups.existing(tx, ctx.tenantId, id);
    if (group.system) throw AccessErrors.systemGroup.with();
    assertHolds(held, permissionsOf(group));
    return group;
  }

  private async log(tx: Tx, ctx: RequestContext, change: string, id: string, data: object): Promise<void> {
    const entry = { action: `rbac.group.${change}`, objectKind: 'group', objectId: id, data: { ...data } };
    await this.audit.record(tx, ctx, entry);
  }

  /** The requested key, or one derived from the name. */
  private async keyFor(tx: Tx, ctx: RequestContext, id: string, { key, name }: CreateGroup): Promise<string> {
    if (key !== undefined) return key;
    const own = id.slice(-8);
    const created = fold(name)
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, MAX_KEY - own.length - 1);
    if (created === '') return `group-${own}`;
    return (await this.groups.keyTaken(tx, ctx.tenantId, created)) ? `${created}-${own}` : created;
  }
}

/** Comparison key of a name: ignores case, accents and repeated spaces, which users cannot distinguish. */
function foldName(name: string): string {
  return fold(name).replace(/\s+/gu, ' ').trim();
}

/** @throws ApiError 422 `unknown_permission` */
export function assertKnown(permissions: readonly string[], field: string): void {
  const details = permissions.flatMap((permission, n) =>
    isPermission(permission)
      ? []
      : [{ field: `${field}.${n}`, code: 'unknown_permission', message: `${field}.${n} does not exist` }],
  );
  if (details.length > 0) throw AccessErrors.unknownPermission.with({ details });
}

export const emptyChoice = (fields: string) =>
  fieldError('', 'is_not_empty', `One of ${fields} is required.`);
