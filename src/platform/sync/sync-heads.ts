import type { RequestContext } from '../context/request-context.js';
import { workspace } from '../database/statement.js';
import type { Tx } from '../database/tx.js';

type Owner = Pick<RequestContext, 'tenantId' | 'userId'>;

const lock = workspace.statement<never>(
  'sync.lock_own_head',
  `INSERT INTO sync_heads AS counter (tenant_id, user_id, head) VALUES ($1, $2, 0)
   ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = counter.head`,
);

const advance = workspace.statement<{ head: number }>(
  'sync.advance_head',
  `INSERT INTO sync_heads AS counter (tenant_id, user_id, head) VALUES ($1, $2, $3)
   ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = counter.head + excluded.head
   RETURNING head::float8 AS head`,
);

/** Locks the feed counter of a user until the end of the transaction: other changes of their collections wait. */
export async function lockHead(tx: Tx, { tenantId, userId }: Owner): Promise<void> {
  await tx.query(lock, [tenantId, userId]);
}

/**
 * Allocates feed numbers of a user.
 * @returns the number before the first of them
 */
export async function allocate(tx: Tx, { tenantId, userId }: Owner, count: number): Promise<number> {
  const [counter] = await tx.query(advance, [tenantId, userId, count]);
  return (counter?.head ?? count) - count;
}
