import { Controller, Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { API_PREFIX, Config } from '../../config/config.js';
import { Audit } from '../../platform/audit/audit.js';
import type { ExpectedRevision } from '../../platform/concurrency/expected-revision.js';
import { type IdempotencyKey, IdempotentWrites } from '../../platform/concurrency/idempotency.js';
import { PermissionSource } from '../../platform/context/permission.guard.js';
import { Ctx, type MemberKey, type RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { changedFields } from '../../platform/database/rows.js';
import type { Tx } from '../../platform/database/tx.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { fieldError } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import type { Checked } from '../../platform/http/input.pipe.js';
import { Cursors } from '../../platform/paging/cursors.js';
import { QuotaErrors } from '../../platform/quotas/quotas.dto.js';
import { ResourceController } from '../../platform/resources/resource.controller.js';
import type { ReplyOf } from '../../platform/resources/resource.js';
import { newToken } from '../../platform/secrets/secret-box.js';
import {
  CreateIncomingWebhook,
  INCOMING_WEBHOOKS,
  IncomingWebhookErrors,
  type IncomingWebhookTargetInput,
  ListIncomingWebhooks,
  presentIncomingWebhook,
  UpdateIncomingWebhook,
} from './incoming-webhooks.dto.js';
import { IncomingWebhooksRepository } from './incoming-webhooks.repository.js';
import type { IncomingWebhook } from './incoming-webhooks.schema.js';
import { HookTargets } from './receiving/hook-targets.js';

/** The secret addresses of members for programs of others. Addresses are returned once, when they are made. */
@Injectable()
export class IncomingWebhooksService {
  constructor(
    private readonly hooks: IncomingWebhooksRepository,
    private readonly targets: HookTargets,
    private readonly permissions: PermissionSource,
    private readonly writes: IdempotentWrites,
    private readonly cursors: Cursors,
    private readonly audit: Audit,
    private readonly config: Config,
    private readonly db: Db,
  ) {}

  async list(
    ctx: RequestContext,
    query: ListIncomingWebhooks,
  ): Promise<ReplyOf<typeof INCOMING_WEBHOOKS, 'list'>> {
    const { target_type: type } = query;
    const isManager = await this.isManager(ctx);
    const { rows, next } = await this.cursors.page(query, {
      scope: `incoming-webhooks ${ctx.tenantId} ${ctx.userId} ${type ?? ''}`,
      key: ({ id }: IncomingWebhook): [string] => [id],
      rows: (after, limit) => this.hooks.page(ctx, { isManager, type }, after, limit),
    });
    return INCOMING_WEBHOOKS.page(
      rows.map((row) => presentIncomingWebhook(row)),
      next,
    );
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, id: string): Promise<ReplyOf<typeof INCOMING_WEBHOOKS, 'item'>> {
    const isManager = await this.isManager(ctx);
    const hook = visible(ctx, await this.hooks.find(ctx.tenantId, id), isManager);
    return INCOMING_WEBHOOKS.response(presentIncomingWebhook(hook));
  }

  /** @throws ApiError 409 `already_exists`, `quota_exceeded`; 422 for a target that the caller may not write to */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    input: CreateIncomingWebhook,
  ): Promise<ReplyOf<typeof INCOMING_WEBHOOKS, 'item'>> {
    const { tenantId, userId: ownerId } = ctx;
    const { name, active = true } = input;
    const target = await this.targetOf(ctx, input.target);
    const id = input.id?.toLowerCase() ?? uuidv7();
    const { token, hash: tokenHash } = newToken(tenantId);
    let made: IncomingWebhook | undefined;
    const reply = await this.writes.runTx(ctx, key, async (tx) => {
      const row = await this.hooks.insert(tx, {
        tenant_id: tenantId,
        id,
        owner_id: ownerId,
        name,
        active,
        token_hash: tokenHash,
        ...target,
      });
      if (!row) throw IncomingWebhookErrors.alreadyExists.with();
      await this.log(tx, ctx, 'created', row);
      made = row;
      return INCOMING_WEBHOOKS.created(id, presentIncomingWebhook(row));
    });
    // The stored response of a repeated request has no address.
    return made ? INCOMING_WEBHOOKS.created(id, presentIncomingWebhook(made, this.urlOf(token))) : reply;
  }

  /**
   * Missing fields stay unchanged. An administrator may deactivate those of other owners.
   * @throws ApiError 404; 403 `not_owner`; 409 `conflict`; 422 `no_changes`
   */
  async update(
    ctx: RequestContext,
    id: string,
    body: Checked<UpdateIncomingWebhook>,
    expected: ExpectedRevision,
  ): Promise<ReplyOf<typeof INCOMING_WEBHOOKS, 'item'>> {
    const isManager = await this.isManager(ctx);
    const fields = await body.map(async ({ name, target, active }) => {
      const given = { name, active, ...(target && (await this.targetOf(ctx, target))) };
      return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    });
    return this.db.tx(async (tx) => {
      const before = visible(ctx, await this.hooks.lock(tx, ctx.tenantId, id), isManager);
      await INCOMING_WEBHOOKS.checkWrite(before, expected, fields, () => presentIncomingWebhook(before));
      const changes = changedFields<Partial<IncomingWebhook>>(before, fields.value);
      if (!changes) throw IncomingWebhookErrors.noChanges.with();
      const isDeactivation = changes.active === false && Object.keys(changes).length === 1;
      if (!isDeactivation) assertOwner(ctx, before);
      const after = await this.hooks.update(tx, before, changes);
      await this.log(tx, ctx, 'updated', before, { changed: Object.keys(changes) });
      return INCOMING_WEBHOOKS.response(presentIncomingWebhook(after));
    });
  }

  /** The address becomes invalid. @throws ApiError 404; 409 `conflict` */
  async delete(
    ctx: RequestContext,
    id: string,
    expected: ExpectedRevision,
  ): Promise<ReplyOf<typeof INCOMING_WEBHOOKS, 'deleted'>> {
    const isManager = await this.isManager(ctx);
    return this.db.tx(async (tx) => {
      const hook = visible(ctx, await this.hooks.lock(tx, ctx.tenantId, id), isManager);
      await INCOMING_WEBHOOKS.checkWrite(hook, expected, null, () => presentIncomingWebhook(hook));
      await this.hooks.delete(tx, hook);
      await this.log(tx, ctx, 'deleted', hook);
      return INCOMING_WEBHOOKS.deleted(presentIncomingWebhook(hook));
    });
  }

  /** Replaces the address; the previous one is invalid at once. @throws ApiError 404; 403 `not_owner` */
  async rotate(ctx: RequestContext, id: string): Promise<ReplyOf<typeof INCOMING_WEBHOOKS, 'item'>> {
    const isManager = await this.isManager(ctx);
    const { token, hash: tokenHash } = newToken(ctx.tenantId);
    return this.db.tx(async (tx) => {
      const before = visible(ctx, await this.hooks.lock(tx, ctx.tenantId, id), isManager);
      assertOwner(ctx, before);
      const after = await this.hooks.update(tx, before, { token_hash: tokenHash });
      await this.log(tx, ctx, 'address_replaced', before);
      return INCOMING_WEBHOOKS.response(presentIncomingWebhook(after, this.urlOf(token)));
    });
  }

  private async isManager(ctx: MemberKey): Promise<boolean> {
    return (await this.permissions.permissionsOf(ctx)).has('webhooks.manage');
  }

  private async targetOf(
    ctx: RequestContext,
    { type, id }: IncomingWebhookTargetInput,
  ): Promise<Pick<IncomingWebhook, 'target_type' | 'target_id'>> {
    const targetId = id.toLowerCase();
    if (!(await this.targets.isWritable(ctx, type, targetId)))
      throw fieldError('target.id', 'unknown_target', `target.id is not a ${type} that you may write to`);
    return { target_type: type, target_id: targetId };
  }

  private urlOf(token: string): string {
    return `${this.config.publicUrl}/${API_PREFIX}/hooks/${token}`;
  }

  private async log(
    tx: Tx,
    ctx: RequestContext,
    change: string,
    { id, name, target_type, target_id }: IncomingWebhook,
    data: Record<string, unknown> = {},
  ): Promise<void> {
    const entry = { action: `incoming_webhook.${change}`, objectKind: 'incoming_webhook', objectId: id };
    const target = { type: target_type, id: target_id };
    await this.audit.record(tx, ctx, { ...entry, data: { name, target, ...data } });
  }
}

/** The incoming webhook, for its owner and administrators. @throws ApiError 404 */
function visible(ctx: MemberKey, hook: IncomingWebhook | null, isManager: boolean): IncomingWebhook {
  if (!hook || (hook.owner_id !== ctx.userId && !isManager)) throw INCOMING_WEBHOOKS.notFound.with();
  return hook;
}

/** It writes with the rights of its owner, so only the owner decides what it writes. @throws ApiError 403 `not_owner` */
function assertOwner({ userId }: MemberKey, { owner_id }: IncomingWebhook): void {
  if (owner_id !== userId) throw IncomingWebhookErrors.notOwner.with();
}

@Controller(INCOMING_WEBHOOKS.options.path)
export class IncomingWebhooksController extends ResourceController(
  INCOMING_WEBHOOKS,
  IncomingWebhooksService,
  {
    list: {
      query: ListIncomingWebhooks,
      description: 'Yours; with the permission `webhooks.manage` those of all members. Oldest first.',
    },
    create: {
      body: CreateIncomingWebhook,
      description:
        'A secret address at which a program posts into a chat room, or creates tasks or events, with your rights: `POST /hooks/{token}`. The address is in this response only.',
      errors: [IncomingWebhookErrors.alreadyExists, QuotaErrors.exceeded],
    },
    read: { description: 'Without the address.' },
    update: {
      body: UpdateIncomingWebhook,
      description:
        'Missing fields stay unchanged. An inactive address responds 404. Administrators may deactivate those of other owners.',
      example: { active: false, base_revision: 1 },
      errors: [IncomingWebhookErrors.notOwner, IncomingWebhookErrors.noChanges],
    },
    delete: { description: 'The address responds 404 from now on. What it has made stays.' },
  },
) {
  @Endpoint('POST :id/rotate-address', {
    tag: 'webhooks',
    id: 'rotateIncomingWebhookAddress',
    summary: 'Replace the address of an incoming webhook',
    description: 'The response contains the new address. The previous one responds 404 at once.',
    status: 200,
    response: [INCOMING_WEBHOOKS.envelopes.item, 'The incoming webhook, with its new address.'],
    errors: [INCOMING_WEBHOOKS.notFound, IncomingWebhookErrors.notOwner],
    etag: INCOMING_WEBHOOKS.kind,
  })
  rotate(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.service.rotate(ctx, id);
  }
}
