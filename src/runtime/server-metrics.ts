import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Config } from '../config/config.js';
import type { MetricsReader } from '../platform/observability/metrics.js';
import { MetricsServer } from '../platform/observability/metrics-server.js';
import { type MetricsSource, scrape } from '../platform/observability/scrape.js';
import type { Shutdown } from './shutdown.js';

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
