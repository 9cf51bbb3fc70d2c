import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { type ColumnValues, rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { deletion, type Sweep } from '../../../platform/jobs/sweep.js';
import { type DeliveryState, type Webhook, WebhookDelivery } from '../webhook.entity.js';

const DAYS = 30;

const forget: Sweep = workspace.statement(
  'webhooks.forget_deliveries',
  deletion('webhook_deliveries', `occurred_at < now() - interval '${DAYS} days'`),
  { reach: 'cell' },
);

// Index webhook_deliveries_list. Their places are those of their events, before all later ones.
const again = workspace.statement<{ id: string }>(
  'webhooks.redeliver_since',
  `UPDATE webhook_deliveries SET state = 'pending', attempts = 0, due_at = occurred_at
    WHERE tenant_id = $1 AND webhook_id = $2 AND id IN (
      SELECT id FROM webhook_deliveries
       WHERE tenant_id = $1 AND webhook_id = $2 AND occurred_at >= $3 AND state <> 'pending' AND event_type <> 'webhook.test'
         AND ($4::text IS NULL OR state = $4)
       ORDER BY occurred_at, id LIMIT $5)
   RETURNING id`,
);

/** SQL of the lists of deliveries. Deliveries are deleted after 30 days. */
@Injectable()
export class DeliveriesRepository {
  constructor(
    private readonly db: Db,
    jobs: PeriodicJobs,
  ) {
    jobs.register({ name: 'webhooks.forget-deliveries', everySeconds: 3600, deletes: forget });
  }

  /** Newest first. */
  async page(
    { tenant_id, id: webhookId }: Webhook,
    state: DeliveryState | undefined,
    after: readonly [string, string] | undefined,
    limit: number,
  ): Promise<WebhookDelivery[]> {
    const where = { tenant_id, webhook_id: webhookId, ...(state && { state }) };
    return rowsOf(this.db, WebhookDelivery).page(where, ['occurred_at', 'id'], after, limit, 'DESC');
  }

  async insert(tx: Tx, values: ColumnValues<WebhookDelivery> & { tenant_id: string }) {
    return (await rowsOf(tx, WebhookDelivery).insert(values)) as WebhookDelivery;
  }

  /** Makes a delivery pending again, at the end of the queue. Null: no such delivery. */
  async again(tx: Tx, { tenant_id, id: webhookId }: Webhook, id: string): Promise<WebhookDelivery | null> {
    const values = { state: 'pending' as const, attempts: 0, due_at: () => 'now()' };
    return (
      (await rowsOf(tx, WebhookDelivery).update({ tenant_id, webhook_id: webhookId, id }, values))[0] ?? null
    );
  }

  /** Makes deliveries pending again, in the order of their events. @returns their number, at most `limit` */
  async againSince(
    tx: Tx,
    { tenant_id, id }: Webhook,
    since: Date,
    state: DeliveryState | undefined,
    limit: number,
  ): Promise<number> {
    return (await tx.query(again, [tenant_id, id, since, state ?? null, limit])).length;
  }
}
