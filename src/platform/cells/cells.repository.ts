import { Injectable } from '@nestjs/common';
import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { ConcurrentChangeError } from '../database/database-errors.js';
import { Db } from '../database/db.js';
import { directory } from '../database/statement.js';
import type { Reader, Tx } from '../database/tx.js';

/** A database with workspaces. */
@Entity('cells')
export class CellRow {
  @PrimaryColumn('text') name!: string;
  /** Null means the database of the directory. */
  @Column('text', { nullable: true }) sealed_url!: string | null;
  @Column('text', { nullable: true }) schema!: string | null;
  @Column('text') state!: 'open' | 'draining';
  @Column('bigint') workspaces!: string;
  @Column('timestamptz') added_at!: Date;
}

/** The cell of a workspace. */
@Entity('workspace_cells')
@Index('workspace_cells_cell', ['cell', 'tenant_id'])
@ForeignKey('CellRow', ['cell'], ['name'])
export class WorkspaceCell {
  @PrimaryColumn('uuid') tenant_id!: string;
  @Column('text') cell!: string;
}

/** The move of a workspace to another cell. */
@Entity('workspace_moves')
@ForeignKey('CellRow', ['source'], ['name'])
@ForeignKey('CellRow', ['target'], ['name'])
export class WorkspaceMoveRow {
  @PrimaryColumn('uuid') tenant_id!: string;
  @Column('text') source!: string;
  @Column('text') target!: string;
  @Column('text') state!: 'copying' | 'switched';
  @Column('timestamptz') alive_at!: Date;
}

/** A cell other than `main` with memberships of an account. */
@Entity('account_cells')
@ForeignKey('CellRow', ['cell'], ['name'])
export class AccountCell {
  @PrimaryColumn('uuid') account_id!: string;
  @PrimaryColumn('text') cell!: string;
}

/** The decision whether the parts of a transaction in several databases commit. */
@Entity('commit_decisions')
@Index('commit_decisions_decided', ['decided_at'])
export class CommitDecision {
  @PrimaryColumn('uuid') id!: string;
  @Column('boolean') committed!: boolean;
  @Column('timestamptz') decided_at!: Date;
}

export type CellState = 'open' | 'draining';

/** A cell as the directory stores it. */
export interface StoredCell extends Omit<CellRow, 'state' | 'workspaces'> {
  state: CellState;
  /** Number of its workspaces. */
  workspaces: number;
}

/** Seconds until each process knows a cell that has been added. */
const KNOWN_AFTER_SECONDS = 15;

const list = directory.statement<StoredCell>(
  'cells.list',
  `SELECT name, sealed_url, schema, state, workspaces::float8 AS workspaces, added_at FROM cells ORDER BY added_at, name`,
);

const add = directory.statement<Pick<CellRow, 'name'>>(
  'cells.add',
  `INSERT INTO cells (name, sealed_url, schema, state) VALUES ($1, $2, $3, 'open') ON CONFLICT DO NOTHING RETURNING name`,
);

const setState = directory.statement<Pick<CellRow, 'name'>>(
  'cells.set_state',
  `UPDATE cells SET state = $2 WHERE name = $1 RETURNING name`,
);

const lock = directory.statement<Pick<CellRow, 'name'> & { state: CellState }>(
  'cells.lock',
  `SELECT name, state FROM cells ORDER BY name FOR UPDATE`,
);

const remove = directory.statement<Pick<CellRow, 'name'>>(
  'cells.remove',
  `DELETE FROM cells WHERE name = $1 AND NOT EXISTS (SELECT FROM workspace_cells WHERE cell = $1)
     AND NOT EXISTS (SELECT FROM workspace_moves WHERE source = $1 OR target = $1) RETURNING name`,
);

const forgetAccounts = directory.statement<never>(
  'cells.forget_accounts',
  `DELETE FROM account_cells WHERE cell = $1`,
);

const cellOf = directory.statement<Pick<WorkspaceCell, 'cell'> & { moving: boolean }>(
  'cells.of_workspace',
  `SELECT cell, EXISTS (SELECT FROM workspace_moves move WHERE move.tenant_id = $1 AND move.target <> placed.cell) AS moving
     FROM workspace_cells placed WHERE tenant_id = $1`,
  { pipelined: true },
);

const cellsOf = directory.statement<Pick<AccountCell, 'cell'>>(
  'cells.of_account',
  `SELECT cell FROM account_cells WHERE account_id = $1 ORDER BY cell`,
  { pipelined: true },
);

const place = directory.statement<Pick<WorkspaceCell, 'cell'>>(
  'cells.place',
  `WITH chosen AS (
     UPDATE cells SET workspaces = workspaces + 1
      WHERE name = (SELECT name FROM cells WHERE state = 'open' AND added_at <= now() - make_interval(secs => $2)
                     ORDER BY workspaces, name LIMIT 1 FOR UPDATE)
     RETURNING name)
   INSERT INTO workspace_cells (tenant_id, cell) SELECT $1, name FROM chosen RETURNING cell`,
);

const placeIn = directory.statement<{ name: string }>(
  'cells.place_in',
  `WITH chosen AS (UPDATE cells SET workspaces = workspaces + 1 WHERE name = $2 RETURNING name)
   INSERT INTO workspace_cells (tenant_id, cell) SELECT $1, name FROM chosen RETURNING cell AS name`,
);

const addAccounts = directory.statement<never>(
  'cells.add_accounts',
  `INSERT INTO account_cells (account_id, cell)
   SELECT account_id, $2 FROM unnest($1::uuid[]) AS given (account_id) ORDER BY account_id ON CONFLICT DO NOTHING`,
);

const decide = directory.statement<Pick<CommitDecision, 'id'>>(
  'cells.decide',
  `INSERT INTO commit_decisions (id, committed) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING id`,
);

const decision = directory.statement<Pick<CommitDecision, 'committed'>>(
  'cells.decision',
  `SELECT committed FROM commit_decisions WHERE id = $1`,
);

const forgetDecisions = directory.statement<never>(
  'cells.forget_decisions',
  `DELETE FROM commit_decisions WHERE decided_at < now() - interval '1 hour' AND id <> ALL ($1::uuid[])`,
);

/** Rows of the directory about cells. */
@Injectable()
export class CellsRepository {
  constructor(private readonly db: Db) {}

  /** All cells, the oldest first. */
  async list(): Promise<StoredCell[]> {
    return this.db.queryAlways(list, []);
  }

  /** @returns whether the name was free */
  async add(name: string, sealedUrl: string, schema: string | null): Promise<boolean> {
    return (await this.db.single((tx) => tx.query(add, [name, sealedUrl, schema]))).length > 0;
  }

  /** @returns the cells with their states, locked until the end of the transaction */
  async lock(tx: Tx): Promise<{ name: string; state: CellState }[]> {
    return tx.query(lock, []);
  }

  async setState(tx: Tx, name: string, state: CellState): Promise<void> {
    await tx.query(setState, [name, state]);
  }

  /** @returns whether the cell had no workspace */
  async remove(tx: Tx, name: string): Promise<boolean> {
    await tx.query(forgetAccounts, [name]);
    return (await tx.query(remove, [name])).length > 0;
  }

  /** Undefined means that the directory does not know the workspace. */
  async cellOf(
    reader: Pick<Reader, 'query'>,
    tenantId: string,
  ): Promise<{ cell: string; moving: boolean } | undefined> {
    return (await reader.query(cellOf, [tenantId]))[0];
  }

  /** The cells other than `main` that may have memberships of an account. */
  async cellsOf(reader: Pick<Reader, 'query'>, accountId: string): Promise<string[]> {
    return (await reader.query(cellsOf, [accountId])).map(({ cell }) => cell);
  }

  /** Places a new workspace in the open cell with the fewest. Undefined means that no cell is open. */
  async place(tx: Tx, tenantId: string): Promise<string | undefined> {
    return (await tx.query(place, [tenantId, KNOWN_AFTER_SECONDS]))[0]?.cell;
  }

  /** Places a workspace whose rows are in the cell. @throws Error for an unknown cell */
  async placeIn(tx: Pick<Tx, 'query'>, tenantId: string, cell: string): Promise<void> {
    if ((await tx.query(placeIn, [tenantId, cell])).length === 0)
      throw new Error(`there is no cell "${cell}" any more`);
  }

  async addAccounts(tx: Pick<Tx, 'query'>, accountIds: readonly string[], cell: string): Promise<void> {
    await tx.query(addAccounts, [accountIds, cell]);
  }

  /** Records that the parts of a commit commit. @throws ConcurrentChangeError when they were rolled back meanwhile */
  async decide(tx: Pick<Tx, 'query'>, id: string): Promise<void> {
    const [made] = await tx.query(decide, [id, true]);
    if (!made) throw new ConcurrentChangeError('the transaction took too long and was rolled back');
  }

  /**
   * Whether the parts of a commit commit. Decides that they roll back if there is no decision yet: a process that is slow, and has
   * not ended, finds this decision and cannot commit. Waits for a decision that is being committed.
   */
  async decisionOf(id: string): Promise<boolean> {
    await this.db.single((tx) => tx.query(decide, [id, false]));
    return (await this.db.query(decision, [id]))[0]?.committed ?? false;
  }

  /** Deletes decisions that every cell has carried out. @param unfinished ids of commits with prepared parts in a cell */
  async forgetDecisions(unfinished: readonly string[]): Promise<void> {
    await this.db.single((tx) => tx.query(forgetDecisions, [unfinished]));
  }
}
