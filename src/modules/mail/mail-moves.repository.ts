import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { statement } from '../../platform/database/statement.js';
import type { MovedPairs } from './dialect/bulk.js';

// A message that goes back to where it came from has come from nowhere.
const record = statement<never>(
  'mail.moves_record',
  `WITH moved AS (SELECT * FROM unnest($4::bigint[], $6::bigint[]) AS m (old_id, new_id)),
        before AS (
     DELETE FROM mail_moves WHERE tenant_id = $1 AND user_id = $2 AND mailbox = $3 AND message_id = ANY ($4::bigint[])
     RETURNING message_id, origin)
   INSERT INTO mail_moves (tenant_id, user_id, mailbox, message_id, origin)
   SELECT $1, $2, $5, m.new_id, $3 FROM moved m
    WHERE NOT EXISTS (SELECT FROM before b WHERE b.message_id = m.old_id AND b.origin = $5) ORDER BY m.new_id
   ON CONFLICT (tenant_id, user_id, mailbox, message_id) DO UPDATE SET origin = excluded.origin, moved_at = now()`,
);

const forget = statement<never>(
  'mail.moves_forget',
  `DELETE FROM mail_moves WHERE tenant_id = $1 AND user_id = $2 AND mailbox = $3 AND message_id = ANY ($4::bigint[])`,
);

const origins = statement<{ message_id: string; origin: string }>(
  'mail.moves_origins',
  `SELECT message_id, origin FROM mail_moves
    WHERE tenant_id = $1 AND user_id = $2 AND mailbox = $3 AND message_id = ANY ($4::bigint[])`,
);

const forgetOld = statement<never>(
  'mail.moves_forget_old',
  `DELETE FROM mail_moves WHERE moved_at < now() - make_interval(days => $1)`,
);

/** Where messages were moved from. All SQL on that. */
@Injectable()
export class MailMovesRepository {
  constructor(private readonly db: Db) {}

  /** Notes a move between two different mailboxes. */
  async record(ctx: RequestContext, from: string, to: string, pairs: MovedPairs): Promise<void> {
    const [before, after] = [pairs.map(([old]) => old), pairs.map(([, id]) => id)];
    await this.db.single((tx) => tx.query(record, [ctx.tenantId, ctx.userId, from, before, to, after]));
  }

  /** The messages are where they came from, or their ids have changed. */
  async forget(ctx: RequestContext, mailbox: string, ids: number[]): Promise<void> {
    await this.db.single((tx) => tx.query(forget, [ctx.tenantId, ctx.userId, mailbox, ids]));
  }

  /** @returns the mailbox each message was moved from, by its id, where that is known */
  async origins(ctx: RequestContext, mailbox: string, ids: number[]): Promise<Map<number, string>> {
    const rows = await this.db.query(origins, [ctx.tenantId, ctx.userId, mailbox, ids]);
    return new Map(rows.map((row) => [Number(row.message_id), row.origin]));
  }

  async forgetOld(days: number): Promise<void> {
    await this.db.single((tx) => tx.query(forgetOld, [days]));
  }
}
