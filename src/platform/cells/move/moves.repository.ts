import { Injectable } from '@nestjs/common';
import { Db } from '../../database/db.js';
import { directory, workspace } from '../../database/statement.js';
import type { Tx } from '../../database/tx.js';
import type { WorkspaceMoveRow } from '../cell.entity.js';

export type Move = Omit<WorkspaceMoveRow, 'alive_at'>;

/** Time without a renewal after which a move is abandoned. */
const ABANDONED_SECONDS = 60;

const begin = directory.statement<{ tenant_id: string }>(
  'moves.begin',
  `INSERT INTO workspace_moves (tenant_id, source, target, state) VALUES ($1, $2, $3, 'copying')
   ON CONFLICT DO NOTHING RETURNING tenant_id`,
);

const renew = directory.statement<never>(
  'moves.renew',
  `UPDATE workspace_moves SET alive_at = now() WHERE tenant_id = $1`,
);

const takeOver = directory.statement<Move>(
  'moves.take_over',
  `UPDATE workspace_moves SET alive_at = now() WHERE alive_at < now() - make_interval(secs => $1)
   RETURNING tenant_id, source, target, state`,
);

const end = directory.statement<never>('moves.end', `DELETE FROM workspace_moves WHERE tenant_id = $1`);

const switched = directory.statement<{ tenant_id: string }>(
  'moves.switched',
  `UPDATE workspace_moves SET state = 'switched' WHERE tenant_id = $1 AND state = 'copying' RETURNING tenant_id`,
);

const place = directory.statement<{ tenant_id: string }>(
  'moves.place',
  `INSERT INTO workspace_cells AS placed (tenant_id, cell) VALUES ($1, $2)
   ON CONFLICT (tenant_id) DO UPDATE SET cell = excluded.cell WHERE placed.cell <> excluded.cell RETURNING tenant_id`,
);

const count = directory.statement<never>(
  'moves.count',
  `UPDATE cells SET workspaces = greatest(0, workspaces + CASE name WHEN $2 THEN 1 ELSE -1 END) WHERE name IN ($1, $2)`,
);

const members = workspace.statement<{ user_id: string }>(
  'moves.members',
  `SELECT user_id FROM member_profiles WHERE tenant_id = $1`,
);

/** Rows of the directory about moves of workspaces. */
@Injectable()
export class MovesRepository {
  constructor(private readonly db: Db) {}

  /** @returns whether no other move of the workspace exists */
  async begin(tenantId: string, source: string, target: string): Promise<boolean> {
    return (await this.db.single((tx) => tx.query(begin, [tenantId, source, target]))).length > 0;
  }

  /** Renews the lease, so that other processes know that the move is running. */
  async renew(tenantId: string): Promise<void> {
    await this.db.single((tx) => tx.query(renew, [tenantId]));
  }

  /** @returns the moves whose process has ended, for the caller to end */
  async takeOver(seconds = ABANDONED_SECONDS): Promise<Move[]> {
    return this.db.single((tx) => tx.query(takeOver, [seconds]));
  }

  async end(tenantId: string): Promise<void> {
    await this.db.single((tx) => tx.query(end, [tenantId]));
  }

  /** Decides that the move will be completed; a job does so if this process fails. @throws Error when another process has ended it */
  async decide(tx: Pick<Tx, 'query'>, { tenant_id: tenantId }: Move): Promise<void> {
    const [row] = await tx.query(switched, [tenantId]);
    if (!row) throw new Error('another process has ended this move');
  }

  /** Records the new cell: requests for the workspace go there after the commit. Does nothing if it is recorded already. */
  async place(tx: Pick<Tx, 'query'>, { tenant_id: tenantId, source, target }: Move): Promise<void> {
    const [row] = await tx.query(place, [tenantId, target]);
    if (row) await tx.query(count, [source, target]);
  }

  /** All members, former ones included. */
  async membersOf(tenantId: string): Promise<string[]> {
    return (await this.db.query(members, [tenantId])).map((row) => row.user_id);
  }
}
