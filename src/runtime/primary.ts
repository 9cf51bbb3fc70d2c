import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { type Config, ConfigError } from '../config/config.js';
import { EmbeddedDatabase } from '../platform/database/embedded/embedded-database.js';
import type { MetricsReader } from '../platform/observability/metrics.js';
import { MetricsServer, type MetricsSource, scrape } from '../platform/observability/scrape.js';
import { failureLine } from './failure-line.js';
import { ListeningPort, withPorts } from './listening-port.js';
import {
  type MailServiceAddress,
  MailServiceProcess,
  MailServiceStartError,
} from './mail-service-process.js';
import { DRAIN_MS, type LoadApplication, type Serving, ServingProcess } from './serve.js';
import { Shutdown } from './shutdown.js';
import { WorkerPool, WorkerStartError } from './worker-pool.js';

/** `GET /metrics` of the primary: the metrics of all its processes. */
export class ServerMetrics {
  private readonly sources: (() => MetricsSource[])[] = [];

  private constructor() {}

  /** Listens on METRICS_PORT until the end of the process. With port 0 it does nothing. */
  static async listen(config: Config, shutdown: Shutdown): Promise<ServerMetrics> {
    const metrics = new ServerMetrics();
    if (config.METRICS_PORT === 0) return metrics;
    const server = await MetricsServer.listen(config, () =>
      scrape(metrics.sources.flatMap((sourcesNow) => sourcesNow())),
    );
    shutdown.onEnd(() => server.close());
    return metrics;
  }

  /** @param sources returns the processes that exist at the time of a scrape */
  add(sources: () => MetricsSource[]): void {
    this.sources.push(sources);
  }

  /** Adds this process. @param server the application that it serves; undefined when workers serve */
  addPrimary(server?: MetricsReader): void {
    const read = server ? server.read.bind(server) : readDefaultMetrics();
    this.add(() => [{ process: 'primary', hasInstallation: server !== undefined, read }]);
  }
}

/** The metrics of Node.js in this process. */
function readDefaultMetrics(): MetricsReader['read'] {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return async () => ({ process: await registry.getMetricsAsJSON(), installation: [] });
}

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
    await shutdown.runDuring(start(load, config, log, shutdown));
  } catch (error) {
    if (shutdown.isEnding) return;
    const forOperator = error instanceof WorkerStartError || error instanceof MailServiceStartError;
    const line = forOperator ? error.message : failureLine(error, config);
    if (line === undefined) log.fatal({ err: error }, 'the start failed');
    else process.stderr.write(`${line}\n`);
    shutdown.end(exitCodeOf(error));
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof WorkerStartError) return error.exitCode;
  return error instanceof ConfigError ? ConfigError.exitCode : 1;
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
  const serving =
    config.WEB_CONCURRENCY === 0
      ? ownProcess(load, config, databaseUrl, log, shutdown, metrics)
      : workers(config, databaseUrl, log, shutdown, metrics);
  // The modules of both processes load at the same time.
  const [, mail] = await bothOrNeither(
    serving.prepare(),
    config.mailService ? undefined : startMail(databaseUrl, log, shutdown, metrics),
  );
  shutdown.checkpoint();
  const banner = await serving.serve({ mail });
  shutdown.checkpoint();
  log.info({ host: config.HOST, port: config.PORT, processes: config.WEB_CONCURRENCY }, 'serving');
  process.stdout.write(`${banner.trimEnd()}\n`);
}

async function openDatabase(config: Config, log: Logger, shutdown: Shutdown): Promise<string> {
  const interruption = new AbortController();
  shutdown.onInterruption(() => interruption.abort());
  const database = await EmbeddedDatabase.open({
    dataDir: config.DATA_DIR,
    role: 'server',
    signal: interruption.signal,
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

function ownProcess(
  load: LoadApplication,
  config: Config,
  databaseUrl: string,
  log: Logger,
  shutdown: Shutdown,
  metrics: ServerMetrics,
): Serving {
  const own = new ServingProcess(load, config, databaseUrl, shutdown, log);
  return {
    prepare: () => own.prepare(),
    serve: async (settings) => {
      const server = await own.create(settings);
      await server.listen();
      metrics.addPrimary(server.metrics);
      return (await own.banner()) ?? '';
    },
  };
}

function workers(
  config: Config,
  databaseUrl: string,
  log: Logger,
  shutdown: Shutdown,
  metrics: ServerMetrics,
): Serving {
  // The default of DEMO depends on DATABASE_URL, which workers always have.
  const env = { PORT: String(config.PORT), DATABASE_URL: databaseUrl, DEMO: String(config.demo) };
  const port = new ListeningPort();
  const pool = new WorkerPool(config.WEB_CONCURRENCY, env, port, log);
  shutdown.onInterruption(() => pool.interrupt());
  shutdown.onEnd(() => pool.stop(WORKER_STOP_MS), { skippable: true });
  metrics.addPrimary();
  metrics.add(() => pool.sources);
  return {
    prepare: () => pool.prepare(),
    serve: async (settings) => {
      const banner = await pool.serve(settings);
      await port.listen(config);
      shutdown.onEnd(async () => port.close());
      return banner;
    },
  };
}
