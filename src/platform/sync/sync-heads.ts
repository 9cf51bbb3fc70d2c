import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { MemberKey } from '../context/request-context.js';
import { workspace } from '../database/statement.js';
import type { Reader, Tx } from '../database/tx.js';

@Entity('sync_heads')
export class SyncHead {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('bigint') head!: string;
  /** The number that its writer's process reports after the commit; all other ones are reported by a notice. */
  @Column('bigint', { nullable: true }) reported_head!: string | null;
  @Column('jsonb') floors!: Record<string, number>;
  /** Number of items of a kind when they were last counted, and the head at that time. */
  @Column('jsonb', { default: {} }) counted!: Record<string, { items: number; head: number }>;
}

const read = workspace.statement<{ head: number; floor: number }>(
  'sync.head',
  `SELECT head::float8 AS head, coalesce((floors->>$3)::bigint, 0)::float8 AS floor
     FROM sync_heads WHERE tenant_id = $1 AND user_id = $2`,
  { pipelined: true },
);

const lock = workspace.statement<never>(
  'sync.lock_heads',
  `INSERT INTO sync_heads AS counter (tenant_id, user_id, head)
   SELECT DISTINCT $1::uuid, owner, 0 FROM unnest($2::uuid[]) AS owner ORDER BY owner
   ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = counter.head`,
);

const advance = workspace.statement<{ head: number }>(
  'sync.advance_head',
  `SELECT advance_head($1, $2, $3)::float8 AS head`,
);

// The new head is higher than all cursors of the user, and the floor equals it, so all cursors are expired.
const expire = workspace.statement<never>(
  'sync.expire_cursors',
  `UPDATE sync_heads SET head = head + 1, floors = floors || jsonb_build_object($3::text, head + 1)
    WHERE tenant_id = $1 AND user_id = $2`,
);

/** The feed counter of a user, and the floor of a collection; undefined before the first change. */
export async function headOf(
  reader: Reader,
  { tenantId, userId }: MemberKey,
  collection: string,
): Promise<{ head: number; floor: number } | undefined> {
  return (await reader.query(read, [tenantId, userId, collection]))[0];
}

/** Locks the feed counter of a user until the end of the transaction: other changes of their collections wait. */
export async function lockHead(tx: Tx, { tenantId, userId }: MemberKey): Promise<void> {
  await lockHeads(tx, tenantId, [userId]);
}

/** Locks the feed counters of these users, in the order of their ids. */
export async function lockHeads(tx: Tx, tenantId: string, userIds: readonly string[]): Promise<void> {
  await tx.query(lock, [tenantId, userIds]);
}

/** Expires all cursors that a user has for a collection: their clients rebuild the index. The counter is locked. */
export async function expireCursors(
  tx: Tx,
  { tenantId, userId }: MemberKey,
  collection: string,
): Promise<void> {
  await tx.query(expire, [tenantId, userId, collection]);
}

/**
 * Allocates feed numbers of a user.
 * @returns the number before the first of them
 */
export async function allocate(tx: Tx, { tenantId, userId }: MemberKey, count: number): Promise<number> {
  const [counter] = await tx.query(advance, [tenantId, userId, count]);
  return (counter?.head ?? count) - count;
}
