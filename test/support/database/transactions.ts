import type { QueryRunner } from 'typeorm';
import type { Db } from '../../../src/platform/database/db.js';
import type { Statement } from '../../../src/platform/database/statement.js';
import type { OpenTx, Tx } from '../../../src/platform/database/tx.js';
import { schema } from '../../../src/schema.js';
import { noteUse } from '../cells/uses.ts';
import { callerOf } from './callers.ts';

/**
 * The transactions that touch both homes, by the module that begins them, each with the reason. With workspaces in several
 * databases, each of these needs a commit in two phases; no other module may add one.
 */
const SPANNING: Record<string, readonly string[]> = {
  provision: ['provisioning: accounts, tenants and members appear together'],
  access: [
    'status of a member: their sessions of the workspace end with it',
    'members of a group, whose roles follow: tokens are verified again (access_changes)',
  ],
  settings: ['closing a profile: the membership ends, and the account with the last one'],
  'account-security': [
    'new password: application passwords end with it',
    'recovery by the operator: the event goes to a workspace of the account',
  ],
  'sign-in': ['clients of services: the account of the service and its membership'],
  'account-pages': [
    'forgotten password: application passwords end with it, and its event goes to a workspace of the account',
  ],
  cli: ['status of an account: its memberships follow'],
  test: ['a test calls the interfaces of several modules in one transaction'],
  issuers: [
    'first sign-in by an issuer: account, link and membership appear together',
    'change with an idempotency key: the workspace remembers its response',
  ],
  'personal-data': [
    'erasure of an account: only without another membership, and its end closes what depends on it',
  ],
  scim: ['accounts, their addresses and sessions, and memberships change together'],
  tenants: ['transfer of content and end of a membership'],
};

/**
 * Tables of the directory whose rows are cached. Any transaction may be the one that reads such a row when its cached copy has
 * expired: an idempotent write runs its whole handler in a transaction.
 */
const CACHED = new Set(['tenant_policies']);

/** The path of a stack frame in a module, in another part of the application, or in a test. */
const FRAME =
  /^(?:dist\/(?:modules\/([\w-]+)|(cli|demo|provision|runtime|mail-service))|test\/(?!support|contract)[\w-]+)\//;

/** The code outside `platform` that runs, and its module. */
function currentCode(): { module: string; name: string } {
  const place = callerOf(FRAME);
  if (!place) return { module: 'platform', name: 'platform' };
  const [, domain, part] = FRAME.exec(place.file) as RegExpExecArray;
  return { module: domain ?? part ?? 'test', name: place.name };
}

/** Names of statements and tables by home. */
type Touched = Record<string, string[]>;

const GENERATED_TABLE = /\b(?:FROM|INTO|UPDATE|JOIN)\s+(?:"\w+"\.)?"(\w+)"/g;

/**
 * Watches the statements that TypeORM generates, which have no declared home: a module uses its own tables and published
 * ones. @returns the tables that a transaction has touched, by home
 */
function checkGenerated({ dataSource }: Db): (runner: QueryRunner | undefined) => Touched {
  const tables = new Map(
    schema.parts.flatMap(({ owner, publishes = [], entities }) =>
      Object.entries(entities).flatMap(([home, list]) =>
        list.map((entity) => {
          const { tableName } = dataSource.getMetadata(entity);
          return [tableName, { home, owner, isPublished: publishes.includes(tableName) }] as const;
        }),
      ),
    ),
  );
  const touched = new WeakMap<QueryRunner, Touched>();
  const create = dataSource.createQueryRunner.bind(dataSource);
  dataSource.createQueryRunner = (mode) => {
    const runner = create(mode);
    const names: Touched = {};
    touched.set(runner, names);
    const query = runner.query.bind(runner) as (...values: unknown[]) => Promise<any>;
    runner.query = (...values: unknown[]) => {
      for (const [, name = ''] of String(values[0]).matchAll(GENERATED_TABLE)) {
        const table = tables.get(name);
        if (!table) continue;
        if (!CACHED.has(name) || !String(values[0]).startsWith('SELECT'))
          (names[table.home] ??= []).push(name);
        const { module } = currentCode();
        if (!table.isPublished && ![table.owner, 'platform', 'test'].includes(module))
          throw new Error(`${module} uses ${table.owner}.${name}, which ${table.owner} does not publish`);
      }
      return query(...values);
    };
    return runner;
  };
  return (runner) => (runner && touched.get(runner)) ?? {};
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @throws Error for a statement that does not name its workspace first, and has no other reach */
function checkReach({ name, home, reach, text }: Statement<unknown>, [first]: readonly unknown[]): void {
  if (
    name === '' ||
    name.startsWith('test.') ||
    reach !== 'tenant' ||
    (home !== 'workspace' && home !== 'either')
  )
    return;
  // The position of a page in a list of all workspaces does not name a workspace.
  const isPosition = /> \(?\$1\b/.test(text);
  if (isPosition || typeof first !== 'string' || !UUID.test(first))
    throw new Error(`${name} names no workspace: declare its reach`);
}

/**
 * Makes each transaction fail that touches the directory and a workspace in a module without a reason for it, and each
 * generated statement that uses an unpublished table of another module.
 */
export function checkTransactions(db: Db): void {
  const read = db.query.bind(db);
  db.query = (statement, values) => {
    checkReach(statement, values);
    return read(statement, values);
  };
  const generated = checkGenerated(db);
  const begin = db.tx.bind(db);
  /** The code that each transaction belongs to. */
  const owners = new WeakMap<Tx, { module: string; name: string }>();
  db.tx = (work) => {
    const code = currentCode();
    return begin(async (tx) => {
      // The handler of a request with an idempotency key joins the transaction in which the platform stores its response.
      if ((owners.get(tx)?.module ?? 'platform') === 'platform') owners.set(tx, code);
      const names: Touched = {};
      const managed = new Set<string>();
      const query = tx.query.bind(tx);
      tx.query = (statement, values) => {
        checkReach(statement, values);
        (names[statement.home] ??= []).push(statement.name);
        return query(statement, values);
      };
      // With several databases, generated statements run on other runners: their home is that of the workspace that they name.
      if (!('runner' in tx)) {
        const managerOf = tx.managerOf.bind(tx);
        tx.managerOf = (tenantId) => {
          managed.add(tenantId === null ? 'directory' : 'workspace');
          return managerOf(tenantId);
        };
      }
      const result = await work(tx);
      const touches = (home: string) => names[home] !== undefined || managed.has(home);
      for (const [home, tables] of Object.entries(
        generated('runner' in tx ? (tx as OpenTx).runner : undefined),
      ))
        (names[home] ??= []).push(...tables);
      const { module, name } = owners.get(tx) as { module: string; name: string };
      if (touches('directory') && touches('workspace')) noteUse(`tx ${name}`);
      if (names['directory'] && names['workspace'] && !(module in SPANNING)) {
        const both = [...names['directory'], ...names['workspace']].join(', ');
        throw new Error(`a transaction of ${module} touches the directory and a workspace: ${both}`);
      }
      return result;
    });
  };
}
