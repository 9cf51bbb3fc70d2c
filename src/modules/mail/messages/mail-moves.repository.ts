import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { deletion, type Sweep } from '../../../platform/jobs/sweep.js';
import type { MovedPairs } from './bulk.js';

// A message that returns to its original mailbox loses its record. A move within a mailbox keeps the origin.
const record = workspace.statement<never>(
  'mail.moves_record',
  `WITH moved AS (SELECT * FROM unnest($4::bigint[], $6::bigint[]) AS pair (old_id, new_id)),
        before AS (
     DELETE FROM mail_moves WHERE tenant_id = $1 AND user_id = $2 AND mailbox = $3 AND message_id = ANY ($4::bigint[])
     RETURNING message_id, origin)
   INSERT INTO mail_moves (tenant_id, user_id, mailbox, message_id, origin)
   SELECT $1, $2, $5, moved.new_id, CASE WHEN $5 = $3 THEN before.origin ELSE $3 END
     FROM moved LEFT JOIN before ON before.message_id = moved.old_id
    WHERE before.origin <> $5 OR (before.origin IS NULL AND $5 <> $3)
    ORDER BY moved.new_id
   ON CONFLICT (tenant_id, user_id, mailbox, message_id) DO UPDATE SET origin = excluded.origin, moved_at = now()`,
);

const remove = workspace.statement<never>(
  'mail.moves_delete',
  `DELETE FROM mail_moves WHERE tenant_id = $1 AND user_id = $2 AND mailbox = $3 AND message_id = ANY ($4::bigint[])`,
);

const origins = workspace.statement<{ message_id: string; origin: string }>(
  'mail.moves_origins',
  `SELECT message_id, origin FROM mail_moves
    WHERE tenant_id = $1 AND user_id = $2 AND mailbox = $3 AND message_id = ANY ($4::bigint[])`,
);

/** Longer than the default retention of a trash mailbox (30 days). */
export const purgeMoves: Sweep = workspace.statement(
  'mail.moves_purge',
  deletion('mail_moves', `moved_at < now() - interval '180 days'`),
  { reach: 'cell' },
);

/** SQL of the origins of moved messages. */
@Injectable()
export class MailMovesRepository {
  constructor(private readonly db: Db) {}

  /** Records a move. */
  async record(ctx: RequestContext, from: string, to: string, pairs: MovedPairs): Promise<void> {
    const [before, after] = [pairs.map(([old]) => old), pairs.map(([, id]) => id)];
    await this.db.single((tx) => tx.query(record, [ctx.tenantId, ctx.userId, from, before, to, after]));
  }

  async delete(ctx: RequestContext, mailbox: string, ids: number[]): Promise<void> {
    await this.db.single((tx) => tx.query(remove, [ctx.tenantId, ctx.userId, mailbox, ids]));
  }

  /** @returns the known original mailboxes by message id */
  async origins(ctx: RequestContext, mailbox: string, ids: number[]): Promise<Map<number, string>> {
    const rows = await this.db.query(origins, [ctx.tenantId, ctx.userId, mailbox, ids]);
    return new Map(rows.map((row) => [Number(row.message_id), row.origin]));
  }
}
