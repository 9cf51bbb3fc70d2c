import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { sharesOfCell } from '../database/connections/fair-pool.js';
import { createDataSource } from '../database/data-source.js';
import { type ConnectionLimits, Database, READ_PIPELINES, type Router } from '../database/database.js';
import { CellUnavailableError } from '../database/database-errors.js';
import { Db, MAIN } from '../database/db.js';
import { needsMigration, planMigration } from '../database/schema/migrate.js';
import { Schema } from '../database/schema/schema-part.js';
import type { Statement } from '../database/statement.js';
import type { Reader, Tx } from '../database/tx.js';
import { SecretBox } from '../secrets/secret-box.js';
import { CellsRepository, type StoredCell } from './cells.repository.js';

/** How often a process reads the list of cells; also how long it remembers the cell of a workspace. */
export const REFRESH_MS = 5_000;
/** How long a process waits before it tries to open an unavailable cell again. */
const RETRY_MS = 2_000;
/** Workspaces whose cell a process remembers. */
const MAX_REMEMBERED = 100_000;

/** Purpose of the key that encrypts the URLs of cells. */
export const CELL_URLS = 'cell url';

/** Finds the database of a workspace, and opens the databases of cells. */
@Injectable()
export class Cells implements Router, OnModuleInit {
  private readonly logger = new Logger(Cells.name);
  private stored = new Map<string, StoredCell>();
  private readonly databases = new Map<string, Promise<Database>>();
  private readonly openDatabases = new Map<string, Database>();
  private remembered = new Map<string, { cell: string; until: number }>();
  /** Cells of CELL_REPLICA_URLS that do not exist. */
  private missing: ReadonlySet<string> = new Set();
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly db: Db,
    private readonly repository: CellsRepository,
    private readonly secrets: SecretBox,
    private readonly config: Config,
    private readonly schema: Schema,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.refresh();
    this.db.route(this);
    this.timer = setInterval(() => {
      this.refresh().catch((error: unknown) =>
        this.logger.warn({ err: error }, 'the list of cells cannot be read'),
      );
    }, REFRESH_MS);
    this.timer.unref();
  }

  /** Reads the list of cells now instead of within five seconds. */
  async refresh(): Promise<void> {
    this.stored = new Map((await this.repository.list()).map((cell) => [cell.name, cell]));
    this.remembered = new Map();
    this.warnAboutReplicas();
    for (const name of this.databases.keys()) if (!this.stored.has(name)) void this.shut(name);
    for (const database of this.openDatabases.values()) database.limit(this.connectionLimits);
  }

  get isSpread(): boolean {
    return this.stored.size > 1;
  }

  get cells(): readonly string[] {
    return [MAIN, ...[...this.stored.keys()].filter((name) => name !== MAIN)];
  }

  get opened(): readonly Database[] {
    return [this.db.main, ...this.openDatabases.values()];
  }

  async databasesOf(
    { home, reach }: Statement<unknown>,
    [first]: readonly unknown[],
    directory: Pick<Reader, 'query'>,
  ): Promise<readonly Database[]> {
    if (home === 'directory' || home === 'mail_service') return [this.db.main];
    if (reach === 'tenant') return [await this.databaseOf(first as string, directory)];
    if (reach === 'account') {
      const others = await this.repository.cellsOf(directory, first as string);
      return [this.db.main, ...(await Promise.all(others.map((cell) => this.cell(cell))))];
    }
    const current = this.db.currentCell;
    if (reach === 'all' || (reach === 'cell' && current === undefined))
      return Promise.all(this.cells.map((cell) => this.cell(cell)));
    return [await this.cell(current ?? MAIN)];
  }

  async databaseOf(tenantId: string, directory: Pick<Reader, 'query'>): Promise<Database> {
    return this.cell(await this.cellOf(tenantId, directory));
  }

  /** The cell of a workspace; `main` for an unknown one. @param directory for a new workspace: the transaction that creates it */
  async cellOf(tenantId: string, directory: Pick<Reader, 'query'> = this.db.main): Promise<string> {
    const known = this.remembered.get(tenantId);
    if (known && known.until > performance.now()) return known.cell;
    const found = await this.repository.cellOf(directory, tenantId);
    // A row that was read in a transaction may be rolled back.
    if (found && !found.moving && directory === this.db.main) this.remember(tenantId, found.cell);
    return found?.cell ?? MAIN;
  }

  async cell(name: string): Promise<Database> {
    if (name === MAIN) return this.db.main;
    const known = this.databases.get(name);
    if (known) return known;
    const database = this.open(name);
    this.databases.set(name, database);
    database.catch((error: unknown) => {
      this.logger.warn({ err: error, cell: name }, 'cell unavailable');
      setTimeout(() => this.databases.delete(name), RETRY_MS).unref();
    });
    return database;
  }

  /** Places a workspace that the transaction has created. @throws Error when no cell is open */
  async place(tx: Tx, tenantId: string): Promise<void> {
    const cell = await this.repository.place(tx, tenantId);
    if (cell === undefined) throw new Error('no cell takes new workspaces: run `workspace cell list`');
  }

  /** Records in which cell accounts have memberships, before these are written. */
  async addAccounts(tx: Tx, tenantId: string, accountIds: readonly string[]): Promise<void> {
    if (!this.isSpread || accountIds.length === 0) return;
    const reader = { query: tx.query.bind(tx) } as Pick<Reader, 'query'>;
    const cell = await this.cellOf(tenantId, reader);
    if (cell !== MAIN) await this.repository.addAccounts(tx, accountIds, cell);
  }

  async decide(tx: Tx, id: string): Promise<void> {
    await this.repository.decide(tx, id);
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.timer);
    await Promise.all([...this.databases.keys()].map((name) => this.shut(name)));
  }

  /** The address of a cell other than `main`. @throws CellUnavailableError for an unknown one */
  urlOf(name: string): { url: string; schema: string | undefined } {
    const stored = this.stored.get(name);
    if (!stored?.sealed_url) throw new CellUnavailableError(name);
    return {
      url: this.secrets.open(CELL_URLS, name, stored.sealed_url).toString(),
      schema: stored.schema ?? undefined,
    };
  }

  private async open(name: string): Promise<Database> {
    // Another process may have added the cell just now.
    if (!this.stored.has(name)) await this.refresh();
    const { url, schema } = this.urlOf(name);
    if (this.closed) throw new CellUnavailableError(name);
    const { pool, pipelines } = this.connectionLimits;
    const options = { schema, shares: sharesOfCell(pool), poolSize: pool };
    const dataSource = createDataSource(this.config, url, this.schema, options);
    let database: Database | undefined;
    try {
      await dataSource.initialize();
      if (needsMigration(await planMigration(dataSource, this.schema.sql)))
        throw new Error('the cell is not migrated: run `workspace migrate`');
      database = new Database(name, dataSource, { pipelines });
      const replicas = this.config.replicasOfCell(name);
      if (replicas.length > 0) database.useReplicas(replicas, { isCell: true });
      // Cells may have been added meanwhile, with smaller shares.
      database.limit(this.connectionLimits);
      this.db.reportOpened(database);
      this.openDatabases.set(name, database);
      return database;
    } catch (cause) {
      if (database) await database.close();
      else if (dataSource.isInitialized) await dataSource.destroy();
      throw new CellUnavailableError(name, { cause });
    }
  }

  /** The share of each cell in CELL_CONNECTIONS_MAX, at least one connection. */
  private get connectionLimits(): ConnectionLimits {
    const { CELL_POOL_MAX, CELL_CONNECTIONS_MAX } = this.config;
    const share = Math.max(1, Math.floor(CELL_CONNECTIONS_MAX / Math.max(1, this.stored.size - 1)));
    const pipelines = share > READ_PIPELINES + 1 ? READ_PIPELINES : 0;
    return { pool: Math.min(CELL_POOL_MAX, share - pipelines), pipelines };
  }

  /** Warns once when a cell with replicas does not exist, and again when it was there and has been removed. */
  private warnAboutReplicas(): void {
    const named = this.config.cellReplicas.map(({ name }) => name);
    const missing = new Set(named.filter((name) => !this.stored.has(name)));
    for (const name of missing)
      if (!this.missing.has(name))
        this.logger.warn(`CELL_REPLICA_URLS names the cell "${name}", which does not exist (yet)`);
    this.missing = missing;
  }

  private async shut(name: string): Promise<void> {
    const database = this.databases.get(name);
    this.databases.delete(name);
    await database?.then(
      (opened) => {
        // It may have been opened after the cell was removed, and again since.
        if (this.openDatabases.get(name) === opened) this.openDatabases.delete(name);
        return opened.close();
      },
      () => undefined,
    );
  }

  private remember(tenantId: string, cell: string): void {
    if (this.remembered.size >= MAX_REMEMBERED) this.remembered = new Map();
    this.remembered.set(tenantId, { cell, until: performance.now() + REFRESH_MS });
  }
}
