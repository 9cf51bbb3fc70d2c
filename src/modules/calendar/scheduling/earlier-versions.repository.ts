import { workspace } from '../../../platform/database/statement.js';
import type { Reader } from '../../../platform/database/tx.js';

// Index scheduling_messages_event.
const countInformed = workspace.statement<{ informed: number }>(
  'scheduling.count_informed',
  `SELECT count(DISTINCT delivery.recipient)::int AS informed
     FROM scheduling_messages message
     JOIN scheduling_deliveries delivery
       ON delivery.tenant_id = message.tenant_id AND delivery.message_id = message.id AND delivery.recipient = ANY ($4)
    WHERE message.tenant_id = $1 AND message.event_id = $2 AND message.direction = 'out' AND message.method = $3
      AND (message.sequence < $5 OR message.dtstamp < $6)`,
);

/** True when all recipients have got an earlier version of the event by this method. */
export async function isUpdate(
  reader: Reader,
  tenantId: string,
  eventId: string,
  recipients: readonly string[],
  { method, sequence, dtstamp }: { method: string; sequence: number; dtstamp: string },
): Promise<boolean> {
  const values = [tenantId, eventId, method, recipients, sequence, dtstamp];
  const [row] = await reader.query(countInformed, values);
  return row?.informed === recipients.length;
}
