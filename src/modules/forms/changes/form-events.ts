import { Injectable } from '@nestjs/common';
import { Audit } from '../../../platform/audit/audit.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';

/** Records changes of forms: an event for other modules and an entry in the audit log. */
@Injectable()
export class FormEvents {
  constructor(
    private readonly outbox: Outbox,
    private readonly audit: Audit,
  ) {}

  /** @param change e.g. `published`: the event is `form.published` */
  async record(
    tx: Tx,
    ctx: RequestContext,
    change: string,
    id: string,
    data: Record<string, unknown> = {},
  ): Promise<void> {
    const type = `form.${change}`;
    const payload = { form_id: id, actor_id: ctx.userId, ...data };
    await this.outbox.append(tx, { tenantId: ctx.tenantId, type, payload });
    await this.audit.record(tx, ctx, { action: type, objectKind: 'form', objectId: id, data });
  }

  /** Appends `form.closed` when a change of the caller lowers the quota to the number of responses or below. */
  async quotaReached(tx: Tx, { tenantId, userId }: RequestContext, id: string): Promise<void> {
    const payload = { form_id: id, actor_id: userId, reason: 'quota_reached' };
    await this.outbox.append(tx, { tenantId, type: 'form.closed', payload });
  }
}
