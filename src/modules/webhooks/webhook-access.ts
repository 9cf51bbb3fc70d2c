import { Injectable } from '@nestjs/common';
import { PermissionSource } from '../../platform/context/permission.guard.js';
import type { MemberKey } from '../../platform/context/request-context.js';
import { Errors } from '../../platform/http/errors.js';
import type { Webhook } from './webhook.entity.js';
import { WebhookErrors, WEBHOOKS } from './webhooks.resource.js';

/** Who may see and change a webhook: its owner; and administrators those of the workspace, in part. */
@Injectable()
export class WebhookAccess {
  constructor(private readonly permissions: PermissionSource) {}

  async isManager(ctx: MemberKey): Promise<boolean> {
    return (await this.permissions.of(ctx)).has('webhooks.manage');
  }

  /** @throws ApiError 403 */
  async assertManager(ctx: MemberKey): Promise<void> {
    if (!(await this.isManager(ctx))) throw Errors.forbidden.with();
  }

  /** The webhook, for a caller who may see it. @throws ApiError 404 */
  visible(ctx: MemberKey, webhook: Webhook | null, isManager: boolean): Webhook {
    const isVisible = webhook?.owner_id === ctx.userId || (webhook?.scope === 'tenant' && isManager);
    if (!webhook || !isVisible) throw WEBHOOKS.notFound.with();
    return webhook;
  }

  /**
   * Its events contain what its owner can read, so only the owner decides where they go.
   * @throws ApiError 403 `not_owner`
   */
  assertOwner({ userId }: MemberKey, { owner_id }: Webhook): void {
    if (owner_id !== userId) throw WebhookErrors.notOwner.with();
  }

  /** Whether the owner may have the webhook now. */
  async isAllowed({ tenant_id: tenantId, owner_id, scope }: Webhook): Promise<boolean> {
    return scope === 'user' || (await this.isManager({ tenantId, userId: owner_id }));
  }
}
