import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Cells } from '../../../src/platform/cells/cells.js';
import { WorkspaceMoves } from '../../../src/platform/cells/move/workspace-moves.js';
import { Db } from '../../../src/platform/database/db.js';
import { TestApp } from '../app.ts';
import { until } from '../until.ts';
import { IS_MOVING } from '../../sync/world.ts';
import { addCells, cellOf, type TestCell } from '../database/cells.ts';

/** Milliseconds within which requests that have chosen the former cell end. */
const CLEAR_MS = 1_000;

/** Two processes whose workspaces are in two cells, and move between these. */
export class MovingSite {
  readonly first: TestApp;
  readonly second: TestApp;
  readonly cells: readonly TestCell[];
  private begun: () => Promise<void> = () => Promise.resolve();

  private constructor(first: TestApp, second: TestApp, cells: readonly TestCell[]) {
    this.first = first;
    this.second = second;
    this.cells = cells;
  }

  static async start(): Promise<MovingSite> {
    const first = await TestApp.start();
    const cells = await addCells(first.served.nest, 'north', 'south');
    const second = await TestApp.start({}, first.databaseUrl);
    const site = new MovingSite(first, second, cells);
    first.get(WorkspaceMoves).pauses = {
      known: () => site.known(),
      clear: () => delay(CLEAR_MS),
    };
    return site;
  }

  /**
   * Moves the workspace to the other cell. The switch waits until `noticed` returns true, so that clients get rejected writes
   * also when the copy is fast.
   */
  async move(tenantId: string, noticed: () => boolean = () => true): Promise<void> {
    const other = (await cellOf(this.first, tenantId)) === 'north' ? 'south' : 'north';
    const holder = new pg.Client({ connectionString: this.first.databaseUrl });
    await holder.connect();
    let released: Promise<unknown> | undefined;
    this.begun = async () => {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM workspace_moves WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
      released = this.whenNoticed(noticed, () => holder.query('ROLLBACK'));
      // Its error is thrown below.
      released.catch(() => undefined);
    };
    try {
      await this.first.get(WorkspaceMoves).move(tenantId, other);
      await released;
    } finally {
      await holder.end();
    }
  }

  private async whenNoticed(noticed: () => boolean, release: () => Promise<unknown>): Promise<void> {
    try {
      await until('a request that meets the move', noticed);
    } finally {
      await release();
    }
  }

  /** Replaces the wait until the second process reads the list of cells by its timer. */
  private async known(): Promise<void> {
    await this.second.get(Cells).refresh();
    await this.begun();
  }

  /** The address of the database that the workspace is in. */
  databaseOf(tenantId: string): Promise<string> {
    return this.first.databaseOf(tenantId);
  }

  /** Runs a job of `app` in each cell. Repeats it, as its timer would, after an error about a workspace whose writes are stopped. */
  async inCells(app: TestApp, job: () => Promise<unknown>): Promise<void> {
    for (const { name } of this.cells)
      await until('a job', () =>
        app.get(Db).inCell(name, () =>
          job().then(
            () => true,
            (error: unknown) => {
              const causes = error instanceof AggregateError ? error.errors : [error];
              if (causes.every(({ code }) => code === IS_MOVING)) return false;
              throw error;
            },
          ),
        ),
      );
  }

  async stop(): Promise<void> {
    await this.second?.stop();
    await this.first?.stop();
    for (const cell of this.cells) await cell.drop();
  }
}
