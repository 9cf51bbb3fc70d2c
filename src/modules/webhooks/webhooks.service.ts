import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Audit } from '../../platform/audit/audit.js';
import type { ExpectedRevision } from '../../platform/concurrency/expected-revision.js';
import { type IdempotencyKey, IdempotentWrites } from '../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { changedFields } from '../../platform/database/rows.js';
import type { Tx } from '../../platform/database/tx.js';
import {
  EVENT_FILTERS,
  type EventFilter,
  PublicEvents,
  type PublicEventType,
} from '../../platform/events/public-events.js';
import { detailsAt, Errors, fieldError } from '../../platform/http/errors.js';
import type { Checked } from '../../platform/http/input.pipe.js';
import { assertAddressField } from '../../platform/outbound/address-field.js';
import { OutboundHttp } from '../../platform/outbound/outbound-http.js';
import { Cursors } from '../../platform/paging/cursors.js';
import { deleteInBatches } from '../../platform/resources/delete-in-batches.js';
import type { ReplyOf } from '../../platform/resources/resource.js';
import { WebhookAccess, WebhooksRepository } from './webhooks.repository.js';
import type { Webhook, WebhookFilter, WebhookScope } from './webhooks.schema.js';
import { presentWebhook } from './responses/webhook.presenter.js';
import { WebhookSecrets } from './webhook-secrets.js';
import {
  type CreateWebhook,
  type ListWebhooks,
  type UpdateWebhook,
  WebhookErrors,
  type WebhookFilterInput,
  WEBHOOKS,
} from './webhooks.dto.js';

const HOUR_MS = 3_600_000;
/** How long the previous secret signs after a rotation. */
const OVERLAP_MS = 24 * HOUR_MS;
/** Deliveries that one transaction of a deletion removes. */
const BATCH = 5_000;

/** The webhooks of members, and those of the workspace. Secrets are returned once, when they are made. */
@Injectable()
export class WebhooksService {
  constructor(
    private readonly webhooks: WebhooksRepository,
    private readonly access: WebhookAccess,
    private readonly secrets: WebhookSecrets,
    private readonly events: PublicEvents,
    private readonly http: OutboundHttp,
    private readonly writes: IdempotentWrites,
    private readonly cursors: Cursors,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  async list(ctx: RequestContext, query: ListWebhooks): Promise<ReplyOf<typeof WEBHOOKS, 'list'>> {
    const { scope } = query;
    const isManager = await this.access.isManager(ctx);
    const { rows, next } = await this.cursors.page(query, {
      scope: `webhooks ${ctx.tenantId} ${ctx.userId} ${scope ?? ''}`,
      key: ({ id }: Webhook): [string] => [id],
      rows: (after, limit) => this.webhooks.page(ctx, { isManager, scope }, after, limit),
    });
    return WEBHOOKS.page(
      rows.map((row) => presentWebhook(row)),
      next,
    );
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, id: string): Promise<ReplyOf<typeof WEBHOOKS, 'item'>> {
    return WEBHOOKS.response(presentWebhook(await this.found(ctx, id)));
  }

  /** @throws ApiError 403; 409 `already_exists`, `quota_exceeded`; 422 */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    input: CreateWebhook,
  ): Promise<ReplyOf<typeof WEBHOOKS, 'item'>> {
    const { tenantId, userId: ownerId } = ctx;
    const { scope, url, description = '', event_types, filter = {}, active = true } = input;
    assertAddressField(this.http, 'url', url);
    this.assertTypes(scope, event_types);
    assertApplicable(this.events, event_types, filter);
    await this.assertReadable(ctx, filter);
    if (scope === 'tenant') await this.access.assertManager(ctx);
    const id = input.id?.toLowerCase() ?? uuidv7();
    const plain = this.secrets.create();
    let made: Webhook | undefined;
    const reply = await this.writes.runTx(ctx, key, async (tx) => {
      const secret = this.secrets.seal({ tenant_id: tenantId, id }, plain);
      const values = {
        tenant_id: tenantId,
        id,
        owner_id: ownerId,
        scope,
        url,
        description,
        event_types,
        active,
        secret,
      };
      const row = await this.webhooks.insert(tx, { ...values, filter: filterOf(filter) });
      if (!row) throw WebhookErrors.alreadyExists.with();
      await this.log(tx, ctx, 'created', row, { url, event_types });
      made = row;
      return WEBHOOKS.created(id, presentWebhook(row));
    });
    // The stored response of a repeated request has no secret.
    return made ? WEBHOOKS.created(id, presentWebhook(made, plain)) : reply;
  }

  /**
   * Missing fields stay unchanged. An administrator may deactivate a webhook of the workspace of another owner.
   * @throws ApiError 404; 403 `not_owner`; 409 `conflict`; 422 `no_changes`
   */
  async update(
    ctx: RequestContext,
    id: string,
    body: Checked<UpdateWebhook>,
    expected: ExpectedRevision,
  ): Promise<ReplyOf<typeof WEBHOOKS, 'item'>> {
    const isManager = await this.access.isManager(ctx);
    const checked = await body.map(async (input) => {
      await this.assertReadable(ctx, input.filter);
      return input;
    });
    return this.db.tx(async (tx) => {
      const before = this.access.assertVisible(
        ctx,
        await this.webhooks.lock(tx, ctx.tenantId, id),
        isManager,
      );
      await WEBHOOKS.checkWrite(before, expected, checked, () => presentWebhook(before));
      const changes = changedFields<Partial<Webhook>>(before, this.fieldsOf(before.scope, checked.value));
      if (!changes) throw WebhookErrors.noChanges.with();
      const { event_types, filter } = { ...before, ...changes };
      if (changes.event_types || changes.filter) assertApplicable(this.events, event_types, filter);
      const isDeactivation = changes.active === false && Object.keys(changes).length === 1;
      if (!isDeactivation) this.access.assertOwner(ctx, before);
      if (changes.active === true && before.scope === 'tenant' && !isManager) throw Errors.forbidden.with();
      const reset = changes.active === true ? { disabled_reason: null, disabled_at: null } : {};
      const after = await this.webhooks.update(tx, before, { ...changes, ...reset });
      if (changes.active === true || changes.url !== undefined) await this.webhooks.resume(tx, after);
      await this.log(tx, ctx, 'updated', before, { changed: Object.keys(changes) });
      return WEBHOOKS.response(presentWebhook(after));
    });
  }

  /** The deletion includes the deliveries. @throws ApiError 404; 409 `conflict` */
  async delete(
    ctx: RequestContext,
    id: string,
    expected: ExpectedRevision,
  ): Promise<ReplyOf<typeof WEBHOOKS, 'deleted'>> {
    const isManager = await this.access.isManager(ctx);
    const shown = await deleteInBatches(this.db, async (tx) => {
      const webhook = this.access.assertVisible(
        ctx,
        await this.webhooks.lock(tx, ctx.tenantId, id),
        isManager,
      );
      await WEBHOOKS.checkWrite(webhook, expected, null, () => presentWebhook(webhook));
      const isLast = (await this.webhooks.removeDeliveries(tx, webhook, BATCH)) < BATCH;
      if (isLast) {
        await this.webhooks.delete(tx, webhook);
        await this.log(tx, ctx, 'deleted', webhook, { url: webhook.url });
      }
      return { shown: webhook, isLast };
    });
    return WEBHOOKS.deleted(presentWebhook(shown));
  }

  /** Replaces the secret; the previous one also signs for 24 hours. @throws ApiError 404; 403 `not_owner` */
  async rotate(ctx: RequestContext, id: string): Promise<ReplyOf<typeof WEBHOOKS, 'item'>> {
    const plain = this.secrets.create();
    await this.found(ctx, id);
    return this.db.tx(async (tx) => {
      const before = this.access.assertVisible(ctx, await this.webhooks.lock(tx, ctx.tenantId, id), true);
      this.access.assertOwner(ctx, before);
      const after = await this.webhooks.update(tx, before, {
        secret: this.secrets.seal(before, plain),
        previous_secret: before.secret,
        previous_until: new Date(Date.now() + OVERLAP_MS),
      });
      await this.log(tx, ctx, 'secret_rotated', before);
      return WEBHOOKS.response(presentWebhook(after, plain));
    });
  }

  private async found(ctx: RequestContext, id: string): Promise<Webhook> {
    const isManager = await this.access.isManager(ctx);
    return this.access.assertVisible(ctx, await this.webhooks.find(ctx.tenantId, id), isManager);
  }

  private fieldsOf(scope: WebhookScope, input: UpdateWebhook): Partial<Webhook> {
    const { url, description, event_types, filter, active } = input;
    if (url !== undefined) assertAddressField(this.http, 'url', url);
    if (event_types !== undefined) this.assertTypes(scope, event_types);
    const fields = { url, description, event_types, active, filter: filter && filterOf(filter) };
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  }

  private assertTypes(scope: WebhookScope, types: readonly string[]): void {
    const found = types.map((type) => this.events.find(type));
    const at = (fails: (type: PublicEventType | undefined) => boolean) =>
      found.flatMap((type, n) => (fails(type) ? [n] : []));
    const details = [
      ...detailsAt(
        'event_types',
        at((type) => !type),
        'unknown_type',
        'must be a type of GET /webhooks/event-types',
      ),
      ...detailsAt(
        'event_types',
        at((type) => scope === 'tenant' && type?.subject.owner !== undefined),
        'personal_type',
        'is about data of one user: the scope must be user',
      ),
    ];
    if (details.length > 0) throw Errors.validationFailed.with({ details });
  }

  /** An unknown object and one that the caller may not read have the same error. */
  private async assertReadable(ctx: RequestContext, filter: WebhookFilterInput = {}): Promise<void> {
    for (const [name, id] of entriesOf(filter))
      if (!(await this.events.isReadable(ctx, name, id)))
        throw fieldError(
          `filter.${name}`,
          'unknown_object',
          `filter.${name} must be an object that you can read`,
        );
  }

  private async log(
    tx: Tx,
    ctx: RequestContext,
    change: string,
    { id, scope }: Webhook,
    data: Record<string, unknown> = {},
  ): Promise<void> {
    const entry = { action: `webhook.${change}`, objectKind: 'webhook', objectId: id };
    await this.audit.record(tx, ctx, { ...entry, data: { scope, ...data } });
  }
}

const entriesOf = (filter: WebhookFilterInput): (readonly [EventFilter, string])[] =>
  EVENT_FILTERS.flatMap((name) => {
    const value = filter[name];
    return value === undefined ? [] : [[name, value.toLowerCase()] as const];
  });

const filterOf = (input: WebhookFilterInput): WebhookFilter => Object.fromEntries(entriesOf(input));

/** An attribute that no type has would restrict nothing. @throws ApiError 422 */
function assertApplicable(events: PublicEvents, types: readonly string[], filter: WebhookFilterInput): void {
  const known = new Set(types.flatMap((type) => events.find(type)?.subject.filters ?? []));
  const details = entriesOf(filter).flatMap(([name]) =>
    known.has(name)
      ? []
      : [
          {
            field: `filter.${name}`,
            code: 'not_applicable',
            message: `filter.${name} concerns none of event_types`,
          },
        ],
  );
  if (details.length > 0) throw Errors.validationFailed.with({ details });
}
