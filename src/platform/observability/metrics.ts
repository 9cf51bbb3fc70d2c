import cluster from 'node:cluster';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { Config } from '../../config/config.js';
import { Db } from '../database/db.js';
import type { RequestEnd } from './access-log.js';
import { MetricsServer } from './metrics-server.js';

/** Prometheus metrics of this process. Off unless METRICS_PORT is set. */
@Injectable()
export class Metrics implements OnApplicationShutdown {
  readonly registry = new Registry();
  readonly isEnabled: boolean;
  private server: MetricsServer | undefined;
  private workerRegistry: AggregatorRegistry<'text/plain; version=0.0.4; charset=utf-8'> | undefined;
  private readonly requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request line to the end of the response.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [this.registry],
  });

  constructor(
    private readonly config: Config,
    db: Db,
  ) {
    this.isEnabled = config.METRICS_PORT > 0;
    if (!this.isEnabled) return;
    collectDefaultMetrics({ register: this.registry });
    this.registry.registerMetric(roundTrips(db));
    this.registry.registerMetric(poolConnections(db));
  }

  /** Records the end of a request by the pattern of its route: paths contain ids, so their number is unlimited. */
  observe(method: string, { route, status, seconds }: RequestEnd): void {
    if (this.isEnabled) this.requests.observe({ method, route, status }, seconds);
  }

  /** Serves the metrics. A cluster worker sends them to its primary, which serves the sum. */
  async listen(): Promise<void> {
    if (!this.isEnabled) return;
    if (cluster.isWorker) {
      AggregatorRegistry.setRegistries([this.registry]);
      // The constructor of the registry subscribes to the requests of the primary.
      this.workerRegistry = new AggregatorRegistry();
      return;
    }
    this.server = await MetricsServer.listen(this.config, () => this.registry.metrics());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.server?.close();
  }
}

function roundTrips(db: Db): Counter {
  return new Counter({
    name: 'database_round_trips_total',
    help: 'Statements sent to PostgreSQL, BEGIN and COMMIT included.',
    registers: [],
    collect() {
      this.reset();
      this.inc(db.roundTrips);
    },
  });
}

function poolConnections(db: Db): Gauge<'state'> {
  return new Gauge({
    name: 'database_pool_connections',
    help: 'Connections of the pool, and requests waiting for one.',
    labelNames: ['state'],
    registers: [],
    collect() {
      const { total, idle, waiting } = db.poolState;
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'busy' }, total - idle);
      this.set({ state: 'waiting' }, waiting);
    },
  });
}
