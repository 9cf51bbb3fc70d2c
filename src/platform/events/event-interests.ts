import { Injectable } from '@nestjs/common';
import { workspace } from '../database/statement.js';
import type { Tx } from '../database/tx.js';

const set = workspace.statement<never>(
  'event_interests.set',
  `WITH ended AS (
     DELETE FROM event_interests WHERE tenant_id = $1 AND holder = $2 AND type <> ALL ($3::text[]))
   INSERT INTO event_interests (tenant_id, type, holder) SELECT $1, type, $2 FROM unnest($3::text[]) AS type ON CONFLICT DO NOTHING`,
);

/**
 * Events that are frequent, such as messages, are appended only in workspaces with an interest in their type
 * (`append_if_wanted`).
 */
@Injectable()
export class EventInterests {
  /** Replaces the interests of a holder. @param holder e.g. the id of a webhook @param types empty: none */
  async set(tx: Tx, tenantId: string, holder: string, types: readonly string[]): Promise<void> {
    await tx.query(set, [tenantId, holder, types]);
  }
}
