import { readdirSync, readlinkSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createApp, type ServedApp } from '../../src/app.setup.js';
import { provision } from '../../src/provision/provision.js';
import { Config } from '../../src/config/config.js';
import { AccessWatch } from '../../src/modules/identity/access-watch.js';
import { Db } from '../../src/platform/database/db.js';
import { either, workspace } from '../../src/platform/database/statement.js';
import { OutboxWorker } from '../../src/platform/events/outbox.worker.js';
import { PeriodicJobs } from '../../src/platform/jobs/periodic-jobs.js';
import { ProcessorShares } from '../../src/platform/workers/processor-shares.js';
import { recordUses } from './cells/record-uses.ts';
import { Client } from './network/client.ts';
import { watchResponses } from './contract/watch-responses.ts';
import { addCells, addCellSchemas, inEachDatabase } from './database/cells.ts';
import { cloneDatabase } from './database/database.ts';
import { raiseTimeouts } from './database/timeouts.ts';
import { memoryBase } from './memory-directory.ts';
import { checkTransactions } from './database/transactions.ts';

/** A user of a test, with a client that acts as them. */
export interface TestUser {
  id: string;
  email: string;
  tenantId: string | null;
  token: string;
  api: Client;
}

/** One user for each name. */
export type UsersOf<Names extends readonly string[]> = { -readonly [Name in keyof Names]: TestUser };

/** Applications on one database share their files. @returns their directory */
const filesOf = (databaseUrl: string): string =>
  path.join(memoryBase(), `workspace-files-${new URL(databaseUrl).pathname.slice(1)}`);

const CELLS = ['cell-1', 'cell-2'];

raiseTimeouts();

/**
 * Places all workspaces of a test in cells, and none in the database of the directory (`npm run test:cells`).
 * @param cells `databases` or `schemas`; empty: one database for everything
 * @returns a function that removes the cells
 */
async function spread(nest: ServedApp['nest'], cells: string): Promise<() => Promise<unknown>> {
  if (cells === 'schemas') return addCellSchemas(nest, CELLS);
  const databases = cells === 'databases' ? await addCells(nest, ...CELLS) : [];
  return () => Promise.all(databases.map((cell) => cell.drop()));
}

/** The running applications by the address of their database. */
const drains = new Map<string, Set<() => Promise<number>>>();

/**
 * Lets `drain` of the outbox wait for all events, also for those that another application on this database has claimed.
 * @returns a function that ends it
 */
function drainTogether(nest: ServedApp['nest'], databaseUrl: string): () => void {
  const worker = nest.get(OutboxWorker);
  const own = worker.drain.bind(worker);
  const all = drains.get(databaseUrl) ?? new Set();
  drains.set(databaseUrl, all.add(own));
  worker.drain = async () => {
    let handled = 0;
    for (const drain of [own, ...all]) handled += await drain();
    return handled;
  };
  return () => void all.delete(own);
}

/** The real application on a database of its own, listening on a port of its own. */
export class TestApp {
  private constructor(
    readonly served: ServedApp,
    readonly databaseUrl: string,
    /** The directory of its files. */
    readonly dataDir: string,
    private readonly drop: () => Promise<void>,
  ) {}

  /**
   * @param settings environment variables that differ from the defaults, also TEST_CELLS
   * @param databaseUrl of another TestApp, for a second instance of the application on the same database
   */
  static async start(settings: Record<string, string> = {}, databaseUrl?: string): Promise<TestApp> {
    const database = databaseUrl ? { url: databaseUrl, drop: async () => undefined } : await cloneDatabase();
    const { DATA_DIR: dataDir = filesOf(database.url), TEST_CELLS = process.env['TEST_CELLS'] ?? '' } =
      settings;
    const config = Config.parse({
      LOG_LEVEL: 'silent',
      PORT: '0',
      DEMO: 'false',
      API_REQUESTS_PER_MINUTE: '0',
      // Tests let many requests of one user, and many calls without a request, wait for a lock at the same time. A user has a share
      // of the connections of requests, jobs have three tenths.
      DATABASE_POOL_MAX: '80',
      CELL_POOL_MAX: '80',
      CELL_CONNECTIONS_MAX: '200',
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
      ...settings,
    });
    const served = await createApp(config, database.url);
    watchResponses(served.nest.getHttpAdapter());
    checkTransactions(served.nest.get(Db));
    recordUses(served.nest.get(Db));
    await served.listen();
    // Tests run jobs themselves: a job that runs by its timer would process the rows that a test is about to count.
    await served.nest.get(PeriodicJobs).stop();
    // Requests of one user race in tests, however much processor time the user has had.
    served.nest.get(ProcessorShares).limits.heavy = Number.POSITIVE_INFINITY;
    const dropCells = await spread(served.nest, databaseUrl ? '' : TEST_CELLS);
    const leave = drainTogether(served.nest, database.url);
    const drop = async (): Promise<void> => {
      leave();
      await database.drop();
      await dropCells();
      if (!databaseUrl) rmSync(dataDir, { recursive: true, force: true });
    };
    return new TestApp(served, database.url, dataDir, drop);
  }

  get base(): string {
    return `http://127.0.0.1:${(this.served.nest.getHttpServer().address() as AddressInfo).port}`;
  }

  get anonymous(): Client {
    return new Client(this.base, null);
  }

  as(token: string): Client {
    return new Client(this.base, token);
  }

  get<T>(type: abstract new (...args: never[]) => T): T {
    return this.served.nest.get(type as never, { strict: false });
  }

  /** Creates a workspace with these users, or adds them to it. The first one is its owner. */
  async tenant<const Names extends readonly string[]>(
    slug: string,
    ...names: Names
  ): Promise<UsersOf<Names>> {
    const users = names.map((name, n) => ({
      email: `${name}@${slug}.example`,
      name: name[0]!.toUpperCase() + name.slice(1),
      role: n === 0 ? ('owner' as const) : ('member' as const),
    }));
    const { users: made } = await provision(this.served.nest, { tenants: [{ slug, users }] }, true);
    return made.map((user) => this.testUser(user)) as UsersOf<Names>;
  }

  /** Adds a user who has an account to a workspace. */
  async member(
    slug: string,
    email: string,
    role: 'owner' | 'admin' | 'member' = 'member',
  ): Promise<TestUser> {
    const { users } = await provision(
      this.served.nest,
      { tenants: [{ slug, users: [{ email, name: 'Twin', role }] }] },
      true,
    );
    return this.testUser(users[0]!);
  }

  /** Creates an account without a workspace. */
  async userWithoutWorkspace(name: string): Promise<TestUser> {
    const { users } = await provision(
      this.served.nest,
      { accounts: [{ email: `${name}@nowhere.example`, name }] },
      true,
    );
    return this.testUser(users[0]!);
  }

  /** Reads changes of access now instead of within a second. */
  async readAccessChanges(): Promise<void> {
    await this.get<AccessWatch>(AccessWatch).poll();
  }

  /** Runs SQL beside the application. */
  async sql<Row = any>(text: string, values: unknown[] = []): Promise<Row[]> {
    const db = this.get(Db);
    if (process.env['TEST_CELLS'] && db.cells.length > 1) return inEachDatabase<Row>(db, text, values);
    return db.query(either.statement<Row>('', text), values);
  }

  /** Runs a job as its timer does: in each cell. */
  inCells<T>(job: () => Promise<T>): Promise<T[]> {
    return this.get(Db).inEachCell(job);
  }

  /** The address of the database with the rows of a workspace, and of their schema in it. */
  async databaseOf(tenantId: string): Promise<string> {
    const place = workspace.statement<{ name: string; path: string }>(
      '',
      `SELECT current_database() AS name, current_setting('search_path') AS path WHERE $1::uuid IS NOT NULL`,
    );
    const [database] = await this.get(Db).query(place, [tenantId]);
    const url = new URL(this.databaseUrl);
    url.pathname = `/${database!.name}`;
    url.searchParams.set('options', `-c search_path=${database!.path.replaceAll(' ', '')}`);
    return url.toString();
  }

  /** Number of blobs that this process has open. */
  openBlobs(): number {
    return readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(path.join(this.dataDir, 'blobs'));
      } catch {
        return false;
      }
    }).length;
  }

  async stop(): Promise<void> {
    const failed = await this.brokenEvents();
    await this.served.drain(1_000);
    await this.drop();
    expect(failed).toEqual([]);
  }

  /** Events whose handlers fail by a defect, which no response shows. Errors that a retry ends are not among them. */
  private brokenEvents(): Promise<{ type: string; last_error: string }[]> {
    const transient =
      'terminating connection|canceling statement|deadlock detected|the database system is|too many clients|read-only transaction|No space left';
    const broken = `SELECT type, last_error FROM outbox
      WHERE last_error ~ '^(error: |TypeError|RangeError|ReferenceError)' AND last_error !~ '${transient}'`;
    // A test may have closed the application.
    return this.sql(broken).catch(() => []);
  }

  private testUser(user: { id: string; email: string; tenant_id: string | null; token?: string }): TestUser {
    const token = user.token as string;
    return { id: user.id, email: user.email, tenantId: user.tenant_id, token, api: this.as(token) };
  }
}
