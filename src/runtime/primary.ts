import type { Logger } from 'pino';
import { type Config, ConfigError } from '../config/config.js';
import { EmbeddedDatabase } from '../platform/database/embedded/embedded-database.js';
import type { LoadApplication } from './application.js';
import { failureLine } from './failure-line.js';
import {
  type MailServiceAddress,
  MailServiceProcess,
  MailServiceStartError,
} from './mail-service-process.js';
import { withPorts } from './ports.js';
import { DRAIN_MS, serve } from './serve.js';
import { ServerMetrics } from './server-metrics.js';
import { Shutdown } from './shutdown.js';
import { WorkerPool, WorkerStartError } from './worker-pool.js';

/** A worker drains for DRAIN_MS and then closes its pools. */
const WORKER_STOP_MS = DRAIN_MS + 2_000;
/** The mail service drains and closes its pools in the same way. */
const MAIL_STOP_MS = DRAIN_MS + 2_000;

/**
 * Runs the process that the operator starts: it owns the embedded database and the embedded mail service, and serves by itself or
 * through workers.
 */
export async function runPrimary(load: LoadApplication, config: Config, log: Logger): Promise<void> {
  const shutdown = new Shutdown(log);
  shutdown.onCrash();
  shutdown.onSignals('SIGINT', 'SIGTERM', 'SIGHUP');
  // The channel to the launcher closes when the launcher is killed.
  if (process.connected) process.once('disconnect', () => shutdown.end(0));
  try {
    await shutdown.during(start(load, config, log, shutdown));
  } catch (error) {
    if (shutdown.isEnding) return;
    const forOperator = error instanceof WorkerStartError || error instanceof MailServiceStartError;
    const line = forOperator ? error.message : failureLine(error, config);
    if (line === undefined) log.fatal({ err: error }, 'the start failed');
    else process.stderr.write(`${line}\n`);
    shutdown.end(error instanceof ConfigError ? ConfigError.exitCode : 1);
  }
}

async function start(
  load: LoadApplication,
  settings: Config,
  log: Logger,
  shutdown: Shutdown,
): Promise<void> {
  const config = await withPorts(settings);
  const databaseUrl = config.DATABASE_URL ?? (await openDatabase(config, log, shutdown));
  shutdown.checkpoint();
  const metrics = await ServerMetrics.listen(config, shutdown);
  // The modules of both processes load at the same time.
  const [application, mail] = await bothOrNeither(
    loadPrepared(load, config, databaseUrl, shutdown),
    config.mailService ? undefined : startMail(databaseUrl, log, shutdown, metrics),
  );
  shutdown.checkpoint();
  const serving = mail ? config.withMailService(mail) : config;
  await application.prepareDemo(serving, databaseUrl);
  shutdown.checkpoint();
  if (config.WEB_CONCURRENCY === 1)
    metrics.addPrimary((await serve(application, serving, databaseUrl, shutdown, log)).metrics);
  else await serveByWorkers(serving, databaseUrl, log, shutdown, metrics);
  shutdown.checkpoint();
  log.info({ host: config.HOST, port: config.PORT, processes: config.WEB_CONCURRENCY }, 'serving');
  process.stdout.write(`${(await application.banner(config, databaseUrl)).trimEnd()}\n`);
}

async function loadPrepared(load: LoadApplication, config: Config, databaseUrl: string, shutdown: Shutdown) {
  const application = await load();
  shutdown.checkpoint();
  await application.prepare(config, databaseUrl);
  return application;
}

async function openDatabase(config: Config, log: Logger, shutdown: Shutdown): Promise<string> {
  const database = await EmbeddedDatabase.open({
    dataDir: config.DATA_DIR,
    role: 'server',
    log: {
      info: (message) => log.info(message),
      warn: (message) => log.warn(message),
      error: (message) => log.error(message),
    },
  });
  shutdown.onEnd(() => database.close());
  return database.url;
}

async function startMail(
  databaseUrl: string,
  log: Logger,
  shutdown: Shutdown,
  metrics: ServerMetrics,
): Promise<MailServiceAddress> {
  const service = new MailServiceProcess(databaseUrl, log);
  metrics.add(() => [service.source]);
  shutdown.onEnd(() => service.stop(MAIL_STOP_MS), { skippable: true });
  return service.start();
}

/**
 * Waits for both promises even if one rejects, so that the shutdown closes the resources of the other. Rejects with the error of
 * `a` if both reject.
 */
async function bothOrNeither<A, B>(a: A, b: B): Promise<[Awaited<A>, Awaited<B>]> {
  await Promise.allSettled([a, b]);
  return Promise.all([a, b]);
}

async function serveByWorkers(
  config: Config,
  databaseUrl: string,
  log: Logger,
  shutdown: Shutdown,
  metrics: ServerMetrics,
): Promise<void> {
  // The default of DEMO depends on DATABASE_URL, which workers always have. All workers share one mail service.
  const { url = '', token = '' } = config.mailService ?? {};
  const env = {
    PORT: String(config.PORT),
    DATABASE_URL: databaseUrl,
    DEMO: String(config.demo),
    MAIL_SERVICE_URL: url,
    MAIL_SERVICE_TOKEN: token,
    MAIL_SERVICE_EMBEDDED: String(config.MAIL_SERVICE_EMBEDDED),
  };
  const pool = new WorkerPool(config.WEB_CONCURRENCY, env, log);
  shutdown.onEnd(() => pool.stop(WORKER_STOP_MS), { skippable: true });
  metrics.addPrimary();
  metrics.add(() => pool.sources);
  await pool.start();
}
