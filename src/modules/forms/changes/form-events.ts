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

  /** Appends `form.closed`. @param actorId of the user whose change of the settings has closed the form */
  async closed(
    tx: Tx,
    tenantId: string,
    id: string,
    reason: 'window_ended' | 'quota_reached',
    actorId?: string,
  ): Promise<void> {
    const payload = { form_id: id, ...(actorId !== undefined && { actor_id: actorId }), reason };
    await this.outbox.append(tx, { tenantId, type: 'form.closed', payload });
  }
}
