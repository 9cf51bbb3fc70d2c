import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { Config } from '../../config/config.js';
import { createDataSource, withDataSource } from '../database/data-source.js';
import { Db, MAIN } from '../database/db.js';
import { migrate } from '../database/schema/migrate.js';
import { Schema } from '../database/schema/schema-part.js';
import { Metrics } from '../observability/metrics.js';
import { SecretBox } from '../secrets/secret-box.js';
import { CELL_URLS, Cells } from './cells.js';
import { CellsRepository, type CellState, type StoredCell } from './cells.repository.js';

/** Each commit in several databases takes a slot of the server between its phases. */
const MIN_PREPARED = 10;
/** A cell that takes longer is unavailable. */
const RESPONSE_MS = 1_000;
const NAME = /^[a-z0-9][a-z0-9-]{0,29}$/;
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;
/** Extensions that the migrations need. All schemas of a database share its extensions. */
const EXTENSIONS = ['btree_gin', 'pg_trgm'];

/** A command of the operator that cannot be executed. The message has the reason. */
export class CellError extends Error {}

export interface CellReport extends Omit<StoredCell, 'sealed_url'> {
  /** Whether this process can use the cell now. */
  available: boolean;
}

/** Changes of the list of cells, for the operator. */
@Injectable()
export class CellAdministration {
  constructor(
    private readonly db: Db,
    private readonly cells: Cells,
    private readonly repository: CellsRepository,
    private readonly secrets: SecretBox,
    private readonly config: Config,
    private readonly schema: Schema,
  ) {}

  async list(): Promise<CellReport[]> {
    const stored = await this.repository.list();
    return Promise.all(
      stored.map(async ({ name, schema, state, workspaces, added_at }) => {
        const available = await this.responds(name);
        return { name, schema, state, workspaces, added_at, available };
      }),
    );
  }

  /**
   * Prepares an empty database, or an empty schema of one, and adds it. New workspaces go to it once every process knows it.
   * @throws CellError
   */
  async add(name: string, url: string, schema?: string): Promise<void> {
    if (!NAME.test(name))
      throw new CellError('The name of a cell has up to 30 lower-case letters, digits and hyphens.');
    if (schema !== undefined && !SCHEMA.test(schema))
      throw new CellError('A schema has a name of lower-case letters, digits and underscores.');
    if ((await this.repository.list()).some((cell) => cell.name === name))
      throw new CellError(`There is a cell "${name}" already.`);
    const place = placeOf(url, schema);
    for (const other of this.db.cells.filter((cell) => cell !== MAIN)) {
      const known = this.cells.urlOf(other);
      if (placeOf(known.url, known.schema) === place)
        throw new CellError(`The cell "${other}" is in this database already.`);
    }
    await withDataSource(this.cellAt(url, schema), async (dataSource) => {
      await rejectUnsuitable(dataSource);
      if (schema !== undefined) await prepareSchema(dataSource, schema);
      await migrate(dataSource, this.schema.sql);
      // The migrations insert rows of the directory, which a cell does not have.
      await dataSource.query('DELETE FROM workspace_cells');
      await dataSource.query('DELETE FROM cells');
    });
    const sealed = this.secrets.seal(CELL_URLS, name, Buffer.from(url));
    if (!(await this.repository.add(name, sealed, schema ?? null)))
      throw new CellError(`There is a cell "${name}" already.`);
    await this.cells.refresh();
  }

  /** @param state `draining`: no new workspace goes to the cell. @throws CellError for an unknown cell, or the last open one */
  async setState(name: string, state: CellState): Promise<void> {
    await this.db.tx(async (tx) => {
      const cells = await this.repository.lock(tx);
      if (!cells.some((cell) => cell.name === name)) throw new CellError(`There is no cell "${name}".`);
      const open = cells.filter((cell) => cell.state === 'open' && cell.name !== name);
      if (state === 'draining' && open.length === 0)
        throw new CellError('The only open cell takes the new workspaces: add another one first.');
      await this.repository.setState(tx, name, state);
    });
    await this.cells.refresh();
  }

  /** Removes an empty cell from the list. Its database stays. @throws CellError */
  async remove(name: string): Promise<void> {
    if (name === MAIN) throw new CellError('The cell "main" is the database of the directory.');
    await this.db.tx(async (tx) => {
      const cells = await this.repository.lock(tx);
      const cell = cells.find((each) => each.name === name);
      if (!cell) throw new CellError(`There is no cell "${name}".`);
      // A concurrent provision may still place a workspace in an open cell.
      if (cell.state === 'open') throw new CellError(`Drain the cell first: workspace cell drain ${name}`);
      if (!(await this.repository.remove(tx, name)))
        throw new CellError(`The cell "${name}" has workspaces: move them first.`);
    });
    await this.cells.refresh();
  }

  /**
   * Brings all cells other than `main` up to date.
   * @returns the migrations applied in each cell, or the error of a cell that failed
   */
  async migrate(): Promise<Record<string, string[] | Error>> {
    const results: Record<string, string[] | Error> = {};
    for (const name of this.db.cells.filter((cell) => cell !== MAIN)) {
      const { url, schema } = this.cells.urlOf(name);
      try {
        results[name] = await withDataSource(this.cellAt(url, schema), (dataSource) =>
          migrate(dataSource, this.schema.sql),
        );
      } catch (error) {
        results[name] = error instanceof Error ? error : new Error(String(error));
      }
    }
    return results;
  }

  private cellAt(url: string, schema: string | undefined): DataSource {
    return createDataSource(this.config.with({ DATABASE_POOL_MAX: 2 }), url, this.schema, {
      timeouts: false,
      schema,
    });
  }

  private async responds(name: string): Promise<boolean> {
    const response = this.cells
      .cell(name)
      .then((database) => database.pool.query('SELECT 1'))
      .then(
        () => true,
        () => false,
      );
    const late = new Promise<false>((resolve) => setTimeout(() => resolve(false), RESPONSE_MS).unref());
    return Promise.race([response, late]);
  }
}

/** Server, database and schema of an address, without its role. */
function placeOf(url: string, schema = ''): string {
  if (!URL.canParse(url)) return `${url} ${schema}`;
  const { hostname, port, pathname, searchParams } = new URL(url);
  return [searchParams.get('host') ?? hostname, port || '5432', pathname, schema].join(' ');
}

/** @throws CellError for a server without two-phase commits, or a database with data of an installation */
async function rejectUnsuitable(dataSource: DataSource): Promise<void> {
  const query = (text: string) => dataSource.query(text) as Promise<Record<string, unknown>[]>;
  const [settings] = await query(`SELECT current_setting('max_prepared_transactions')::int AS prepared`);
  const prepared = Number(settings?.['prepared']);
  if (prepared < MIN_PREPARED)
    throw new CellError(
      `The server of the cell needs max_prepared_transactions of at least ${MIN_PREPARED}; it has ${prepared}.`,
    );
  const [found] = await query(`SELECT to_regclass('tenants') IS NOT NULL AS exists`);
  if (!found?.['exists']) return;
  const [used] = await query(
    `SELECT EXISTS (SELECT FROM tenants) OR EXISTS (SELECT FROM platform_secrets) OR EXISTS (SELECT FROM tenant_members) AS used`,
  );
  if (used?.['used'] !== false)
    throw new CellError('The database belongs to an installation or to another cell.');
}

/** Creates the extensions in the schema `ext`, which all cells of the database use. @throws CellError */
async function prepareSchema(dataSource: DataSource, schema: string): Promise<void> {
  const query = (text: string, values: string[]) =>
    dataSource.query(text, values) as Promise<Record<string, unknown>[]>;
  // CREATE ... IF NOT EXISTS needs the privilege to create even if the object exists.
  for (const name of [schema, 'ext']) {
    const [found] = await query('SELECT to_regnamespace($1) IS NOT NULL AS exists', [name]);
    if (!found?.['exists']) await query(`CREATE SCHEMA ${name}`, []);
  }
  for (const name of EXTENSIONS) {
    const place = 'SELECT extnamespace::regnamespace::text AS place FROM pg_extension WHERE extname = $1';
    if ((await query(place, [name])).length === 0) await query(`CREATE EXTENSION ${name} SCHEMA ext`, []);
    const [extension] = (await query(place, [name])) as { place: string }[];
    if (extension?.place !== 'ext')
      throw new CellError(
        `The extension ${name} is in the schema ${extension?.place}: cells need it in ext.`,
      );
  }
}

/** Prometheus metrics of the cells. */
@Injectable()
export class CellMetrics implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly cells: CellAdministration,
  ) {}

  onModuleInit(): void {
    this.metrics.databaseGauges({
      gauges: {
        cell_up: 'Whether the database of a cell responds to this process.',
        cell_workspaces: 'Number of workspaces in a cell.',
      },
      labelNames: ['cell'],
      read: async () =>
        (await this.cells.list()).map(({ name, available, workspaces }) => ({
          labels: { cell: name },
          values: { cell_up: available ? 1 : 0, cell_workspaces: workspaces },
        })),
    });
  }
}
