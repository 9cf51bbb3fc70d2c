import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { forProcess } from '../../current-work/current-work.js';
import { mayHaveCommitted } from '../../database/database-errors.js';
import { Db, MAIN } from '../../database/db.js';
import { asTx, openSession, replicate } from '../../database/long-session.js';
import { Schema } from '../../database/schema/schema-part.js';
import { gidOf } from '../../database/spanning-tx.js';
import { directory, workspace } from '../../database/statement.js';
import type { Tx } from '../../database/tx.js';
import { PeriodicJobs } from '../../jobs/periodic-jobs.js';
import { CellError } from '../cell-administration.js';
import { Cells, REFRESH_MS } from '../cells.js';
import { CellsRepository, type WorkspaceMoveRow, type WorkspaceCell } from '../cells.repository.js';
import { UnfinishedCommits } from '../unfinished-commits.js';
import { allowWrites, type MovedTable, movedTables, stopWrites, workspaceTableNames } from './moved-table.js';
import { catchUp, clearAll, compare, copyAll } from './workspace-copy.js';

export type Move = Omit<WorkspaceMoveRow, 'alive_at'>;

/** Time without a renewal after which a move is abandoned. */
const ABANDONED_SECONDS = 60;

const begin = directory.statement<Pick<WorkspaceMoveRow, 'tenant_id'>>(
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

const switched = directory.statement<Pick<WorkspaceMoveRow, 'tenant_id'>>(
  'moves.switched',
  `UPDATE workspace_moves SET state = 'switched' WHERE tenant_id = $1 AND state = 'copying' RETURNING tenant_id`,
);

const place = directory.statement<Pick<WorkspaceCell, 'tenant_id'>>(
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

const RENEW_MS = 5_000;
const EVERY_SECONDS = 30;
/** Requests that chose the former cell before the switch end within this time. */
const CLEAR_AFTER_MS = 20_000;
/** Progress of a move, for the operator. */
export interface MoveProgress {
  phase: 'waiting' | 'copied' | 'stopped' | 'switched' | 'cleared';
  /** Rows of this phase. */
  rows?: number;
  seconds: number;
}

export interface MoveResult {
  from: string;
  to: string;
  rows: number;
  /** How long writes of the workspace were rejected. */
  write_stop_seconds: number;
}

/** Moves workspaces between cells while they are used. */
@Injectable()
export class WorkspaceMoves implements OnModuleInit {
  private readonly logger = new Logger(WorkspaceMoves.name);
  /** Pauses of a move: until every process knows the move, and until no process reads the former cell. Tests replace them. */
  pauses = {
    known: (): Promise<unknown> => delay(REFRESH_MS + 1_000),
    clear: (): Promise<unknown> => delay(CLEAR_AFTER_MS),
  };

  constructor(
    private readonly db: Db,
    private readonly cells: Cells,
    private readonly cellRows: CellsRepository,
    private readonly moves: MovesRepository,
    private readonly commits: UnfinishedCommits,
    private readonly jobs: PeriodicJobs,
    private readonly schema: Schema,
  ) {}

  onModuleInit(): void {
    const run = () => this.finish();
    this.jobs.register({ name: 'cells.finish-moves', everySeconds: EVERY_SECONDS, ofDirectory: true, run });
  }

  /**
   * Moves a workspace. Its rows are copied while it is used; then its writes get 503 with Retry-After while the changes since
   * the copy are repeated, all rows are compared and the directory names the new cell. Ids, revisions and feed numbers stay, so
   * clients notice nothing else. A failure leaves the workspace where it was.
   * @throws CellError for a cell that cannot take it
   */
  async move(
    tenantId: string,
    target: string,
    report: (progress: MoveProgress) => void = () => undefined,
  ): Promise<MoveResult> {
    if (!this.db.cells.includes(target)) throw new CellError(`There is no cell "${target}".`);
    const source = await this.cells.cellOf(tenantId);
    if (source === target) throw new CellError(`The workspace is in the cell "${target}" already.`);
    await Promise.all([this.cells.cell(source), this.cells.cell(target)]);
    if (!(await this.moves.begin(tenantId, source, target)))
      throw new CellError('The workspace is being moved. An abandoned move ends within two minutes.');
    const move: Move = { tenant_id: tenantId, source, target, state: 'copying' };
    const renewal = setInterval(() => {
      forProcess(() => this.moves.renew(tenantId)).catch((error: unknown) =>
        this.logger.warn({ err: error }, 'the lease of a move could not be renewed'),
      );
    }, RENEW_MS);
    const started = performance.now();
    const reportPhase = (phase: MoveProgress['phase'], rows?: number) =>
      report({ phase, seconds: (performance.now() - started) / 1000, ...(rows !== undefined && { rows }) });
    try {
      reportPhase('waiting');
      // Processes cache the cell of a workspace, except during a move. This process has cached it above.
      await this.cells.refresh();
      await this.pauses.known();
      const result = await this.copyAndSwitch(move, reportPhase);
      // If one of the next steps fails, the job repeats them.
      await this.clearEvents(move);
      await this.pauses.clear();
      await this.clear(move);
      reportPhase('cleared');
      return { from: source, to: target, ...result };
    } finally {
      clearInterval(renewal);
    }
  }

  /**
   * Ends the moves whose process has ended: completes those that have switched, undoes the others.
   * @param age seconds since their last renewal
   */
  async finish(age?: number): Promise<void> {
    for (const move of await this.moves.takeOver(age))
      await (move.state === 'switched' ? this.complete(move) : this.abort(move));
  }

  /** Deletes the rows of a workspace that no user has used. @param kept names of tables whose rows stay */
  async empty(tenantId: string, kept: readonly string[]): Promise<void> {
    await this.inCell(await this.cells.cellOf(tenantId), async (client, tables) => {
      await clearAll(
        client,
        tables.filter(({ name }) => !kept.includes(name)),
        tenantId,
      );
    });
  }

  private async copyAndSwitch(
    move: Move,
    reportPhase: (phase: MoveProgress['phase'], rows?: number) => void,
  ): Promise<Pick<MoveResult, 'rows' | 'write_stop_seconds'>> {
    const { tenant_id: tenantId, source: from, target: to } = move;
    const source = await this.connect(from);
    const target = await this.connect(to).catch(async (error: unknown) => {
      await source.end();
      throw error;
    });
    let isLeftToJob = false;
    try {
      const tables = await movedTables(source, workspaceTableNames(this.db.dataSource, this.schema));
      await target.query('BEGIN');
      const { since, rows } = await copyAll(source, target, tables, tenantId);
      reportPhase('copied', rows);
      const stopped = performance.now();
      await stopWrites(source, tables, tenantId);
      const repeated = await catchUp(source, target, tables, tenantId, since);
      const total = await compare(source, target, tables, tenantId);
      reportPhase('stopped', repeated);
      await this.switchCell(target, move, () => (isLeftToJob = true));
      const seconds = (performance.now() - stopped) / 1000;
      reportPhase('switched', total);
      return { rows: total, write_stop_seconds: Math.round(seconds * 1000) / 1000 };
    } catch (error) {
      if (isLeftToJob) throw error;
      await target.query('ROLLBACK').catch(() => undefined);
      await this.abort(move).catch((cause: unknown) =>
        this.logger.warn({ err: cause }, 'the failed move of a workspace will be ended by a job'),
      );
      throw error;
    } finally {
      await Promise.all([source.end(), target.end()]);
    }
  }

  /**
   * Commits the copy, then directs requests to it. In this order, so that no request reads an uncommitted copy: until the last
   * step, requests read the former cell, whose writes are stopped.
   * @param leaveToJob called when the move is decided, or when the response to its commit was lost: a job reads the decision
   */
  private async switchCell(target: pg.Client, move: Move, leaveToJob: () => void): Promise<void> {
    const members = await this.moves.membersOf(move.tenant_id);
    if (move.target === MAIN) {
      // The directory is in the same database, so one commit suffices.
      await this.moves.decide(asTx(target), move);
      await this.moves.place(asTx(target), move);
      await target.query('COMMIT').catch((error: unknown) => {
        if (mayHaveCommitted(true, error)) leaveToJob();
        throw error;
      });
      leaveToJob();
      return;
    }
    const id = uuidv7();
    const gid = gidOf(move.target, id);
    await target.query(`PREPARE TRANSACTION '${gid}'`);
    let isDecided = false;
    try {
      await this.db.tx(async (tx) => {
        isDecided = false;
        await this.cellRows.addAccounts(tx, members, move.target);
        await this.moves.decide(tx, move);
        await this.cellRows.decide(tx, id);
        isDecided = true;
      });
    } catch (error) {
      if (mayHaveCommitted(isDecided, error)) leaveToJob();
      else await target.query(`ROLLBACK PREPARED '${gid}'`).catch(() => undefined);
      throw error;
    }
    leaveToJob();
    await target.query(`COMMIT PREPARED '${gid}'`);
    await this.db.tx((tx) => this.moves.place(tx, move));
  }

  /** Completes a move whose process ended after its decision. */
  private async complete(move: Move): Promise<void> {
    if (move.target !== MAIN) await this.db.inCell(move.target, () => this.commits.finishDecided());
    await this.db.tx((tx) => this.moves.place(tx, move));
    await this.clearEvents(move);
    await this.clear(move);
  }

  /** Undoes a move that did not switch: allows writes again. The copy was never committed. */
  private async abort(move: Move): Promise<void> {
    await this.inCell(move.source, async (client, tables) => allowWrites(client, tables, move.tenant_id));
    await this.moves.end(move.tenant_id);
  }

  /** Removes the rows of a workspace from its former cell. */
  private async clear(move: Move): Promise<void> {
    await this.inCell(move.source, async (client, tables) => {
      await clearAll(client, tables, move.tenant_id);
      await allowWrites(client, tables, move.tenant_id);
    });
    await this.moves.end(move.tenant_id);
  }

  /**
   * Removes the events of a workspace from its former cell right after the switch. A worker cannot claim them while the writes are
   * stopped, and the failed claim would delay the events of other workspaces.
   */
  private async clearEvents({ source, tenant_id: tenantId }: Move): Promise<void> {
    await this.inCell(source, async (client, tables) => {
      await tables.find(({ name }) => name === 'outbox')?.clear(client, tenantId);
    });
  }

  private async inCell(
    name: string,
    work: (client: pg.Client, tables: readonly MovedTable[]) => Promise<void>,
  ): Promise<void> {
    const client = await this.connect(name);
    try {
      await work(client, await movedTables(client, workspaceTableNames(this.db.dataSource, this.schema)));
    } finally {
      await client.end();
    }
  }

  private async connect(name: string): Promise<pg.Client> {
    const client = await openSession(await this.cells.cell(name), 'workspace move');
    try {
      await replicate(client);
    } catch (error) {
      await client.end();
      throw new CellError(
        `The role of the cell "${name}" may not set session_replication_role: GRANT SET ON PARAMETER session_replication_role`,
        { cause: error },
      );
    }
    return client;
  }
}
