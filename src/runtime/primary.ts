import type { Logger } from 'pino';
import { AggregatorRegistry } from 'prom-client';
import type { Config } from '../config/config.js';
import { EmbeddedDatabase } from '../platform/database/embedded/embedded-database.js';
import { MetricsServer } from '../platform/observability/metrics-server.js';
import type { Application } from './application.js';
import { failureLine } from './failure-line.js';
import {
  type MailServiceAddress,
  MailServiceProcess,
  MailServiceStartError,
} from './mail-service-process.js';
import { DRAIN_MS, serve } from './serve.js';
import { Shutdown } from './shutdown.js';
import { WorkerPool, WorkerStartError } from './worker-pool.js';

/** A worker drains for DRAIN_MS and then closes its pools. */
const WORKER_STOP_MS = DRAIN_MS + 2_000;
/** So does the mail service. */
const MAIL_STOP_MS = DRAIN_MS + 2_000;

/**
 * The process the operator starts: it owns the embedded database and the embedded mail service, and serves, by itself or
 * through workers.
 */
export async function runPrimary(application: Application, config: Config, log: Logger): Promise<void> {
  const shutdown = new Shutdown(log);
  shutdown.onCrash();
  shutdown.onSignals('SIGINT', 'SIGTERM', 'SIGHUP');
  // The launcher keeps a channel open to us; it ends when the launcher is killed.
  if (process.connected) process.once('disconnect', () => shutdown.end(0));
  try {
    await shutdown.during(start(application, config, log, shutdown));
  } catch (error) {
    if (shutdown.isEnding) return;
    const told = error instanceof WorkerStartError || error instanceof MailServiceStartError;
    const line = told ? error.message : failureLine(error, config);
    if (line === undefined) log.fatal({ err: error }, 'the start failed');
    else process.stderr.write(`${line}\n`);
    shutdown.end(1);
  }
}

async function start(
  application: Application,
  config: Config,
  log: Logger,
  shutdown: Shutdown,
): Promise<void> {
  const databaseUrl = config.DATABASE_URL ?? (await openDatabase(config, log, shutdown));
  shutdown.checkpoint();
  const [, mail] = await bothOrNeither(
    application.prepare(config, databaseUrl),
    config.mailService ? undefined : startMail(databaseUrl, log, shutdown),
  );
  shutdown.checkpoint();
  const serving = mail ? config.withMailService(mail) : config;
  await application.prepareDemo(serving, databaseUrl, { mail: mail !== undefined });
  shutdown.checkpoint();
  if (config.WEB_CONCURRENCY === 1) await serve(application, serving, databaseUrl, shutdown);
  else await serveByWorkers(serving, databaseUrl, log, shutdown);
  shutdown.checkpoint();
  log.info({ host: config.HOST, port: config.PORT, processes: config.WEB_CONCURRENCY }, 'serving');
  process.stdout.write(`${(await application.banner(config, databaseUrl)).trimEnd()}\n`);
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

async function startMail(databaseUrl: string, log: Logger, shutdown: Shutdown): Promise<MailServiceAddress> {
  const service = new MailServiceProcess(databaseUrl, log);
  shutdown.onEnd(() => service.stop(MAIL_STOP_MS), { skippable: true });
  return service.start();
}

/**
 * Waits for both even when one fails, so that what the other opens is known to be there when the process ends. When both
 * fail, the first one's reason is given.
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
): Promise<void> {
  // With DATABASE_URL set, a worker would take DEMO's other default; it gets ours. The mail service is the one of us all.
  const { url = '', token = '' } = config.mailService ?? {};
  const env = {
    DATABASE_URL: databaseUrl,
    DEMO: String(config.demo),
    MAIL_SERVICE_URL: url,
    MAIL_SERVICE_TOKEN: token,
  };
  const pool = new WorkerPool(config.WEB_CONCURRENCY, env, log);
  shutdown.onEnd(() => pool.stop(WORKER_STOP_MS), { skippable: true });
  await pool.start();
  if (config.METRICS_PORT > 0) {
    const workers = new AggregatorRegistry();
    const metrics = await MetricsServer.listen(config, () => workers.clusterMetrics());
    shutdown.onEnd(() => metrics.close());
  }
}
