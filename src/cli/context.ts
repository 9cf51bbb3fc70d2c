import type { INestApplicationContext } from '@nestjs/common';
import { InvalidArgumentError } from 'commander';
import { migrateDatabase, withModules } from '../app.prepare.js';
import type { Config } from '../config/config.js';
import { IdentityApi } from '../modules/identity/index.js';
import { TenantsApi } from '../modules/tenants/index.js';
import { EmbeddedDatabase } from '../platform/database/embedded/embedded-database.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const INTERRUPTED = 130;

/** Writes the result of a command to stdout, a line of JSON. */
export const print = (result: unknown) => void process.stdout.write(`${JSON.stringify(result)}\n`);

const stderr = (message: string) => void process.stderr.write(`${message}\n`);

/** Runs `work` on the configured database: of a running server, or the embedded one, started for the duration. */
export async function withDatabase<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  if (config.DATABASE_URL !== undefined) return work(config.DATABASE_URL);
  const opening = EmbeddedDatabase.open({
    dataDir: config.DATA_DIR,
    role: 'tool',
    log: { info: () => undefined, warn: stderr, error: stderr },
  });
  // Stop the embedded database on interruption.
  const interrupted = () =>
    void opening.then((database) => database.close()).finally(() => process.exit(INTERRUPTED));
  for (const signal of SIGNALS) process.once(signal, interrupted);
  const database = await opening;
  try {
    return await work(database.url);
  } finally {
    await database.close();
    for (const signal of SIGNALS) process.off(signal, interrupted);
  }
}

/** Parses an option: a whole number from 1 to `max`. @param range for the message */
export const wholeNumber = (max: number, range: string) => (text: string) => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw new InvalidArgumentError(`must be ${range}.`);
  return value;
};

/**
 * Runs `work` with the modules of the application on a migrated database, without an HTTP server.
 * @param work receives the address of the database too
 */
export async function withApp<T>(
  config: Config,
  work: (app: INestApplicationContext, url: string) => Promise<T>,
): Promise<T> {
  return withDatabase(config, async (url) => {
    await migrateDatabase(config, url);
    return withModules(config, url, (app) => work(app, url));
  });
}

/** @throws Error with a message for the operator */
export async function accountOf(app: INestApplicationContext, email: string) {
  const account = await app.get(IdentityApi).findByEmail(email);
  if (!account) throw new Error(`No account has the address ${email}.`);
  return account;
}

/** The id of the workspace. @throws Error unless the account is an active member */
export async function tenantOf(
  app: INestApplicationContext,
  slug: string,
  accountId: string,
): Promise<string> {
  const tenantId = await tenantNamed(app, slug);
  if (!(await app.get(TenantsApi).activeRole(tenantId, accountId)))
    throw new Error(`This account is not an active member of "${slug}".`);
  return tenantId;
}

/** The id of a workspace, by its slug. */
export async function tenantNamed(app: INestApplicationContext, slug: string): Promise<string> {
  const tenantId = await app.get(TenantsApi).idBySlug(slug);
  if (!tenantId) throw new Error(`The workspace "${slug}" does not exist.`);
  return tenantId;
}
