import { Injectable } from '@nestjs/common';
import { workspace } from '../database/statement.js';
import type { Tx } from '../database/tx.js';

/** An interest in events of a type: of the whole workspace, or of one user. */
export interface EventInterest {
  type: string;
  userId: string | null;
}

const set = workspace.statement<never>(
  'event_interests.set',
  `WITH ended AS (
     DELETE FROM event_interests WHERE tenant_id = $1 AND holder = $2 AND type <> ALL ($3::text[]))
   INSERT INTO event_interests AS known (tenant_id, type, holder, user_id)
   SELECT $1, wanted.type, $2, wanted.user_id FROM unnest($3::text[], $4::uuid[]) AS wanted (type, user_id)
   ON CONFLICT (tenant_id, type, holder) DO UPDATE SET user_id = excluded.user_id, created_at = now()
    WHERE known.user_id IS DISTINCT FROM excluded.user_id`,
);

/**
 * Events that are frequent, such as messages, are appended only in workspaces with an interest in their type
 * (`append_if_wanted`), those of the data of one user only for the users that the interest names.
 */
@Injectable()
export class EventInterests {
  /** Replaces the interests of a holder. @param holder e.g. the id of a webhook */
  async set(tx: Tx, tenantId: string, holder: string, interests: readonly EventInterest[]): Promise<void> {
    const types = interests.map(({ type }) => type);
    await tx.query(set, [tenantId, holder, types, interests.map(({ userId }) => userId)]);
  }
}
