import { createServer, type Server } from 'node:http';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { Config } from '../../config/config.js';
import { Db } from '../database/db.js';

/** Prometheus metrics of this process, on a port of their own so that they are never public by accident. */
@Injectable()
export class Metrics implements OnApplicationShutdown {
  readonly registry = new Registry();
  private server: Server | undefined;
  private readonly enabled: boolean;
  private readonly requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request line to the end of the answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [this.registry],
  });

  constructor(
    private readonly config: Config,
    db: Db,
  ) {
    this.enabled = config.METRICS_PORT > 0;
    if (!this.enabled) return;
    collectDefaultMetrics({ register: this.registry });
    new Counter({
      name: 'database_round_trips_total',
      help: 'Statements sent to PostgreSQL, BEGIN and COMMIT included.',
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(db.roundTrips);
      },
    });
    new Gauge({
      name: 'database_pool_connections',
      help: 'Connections of the pool, and requests waiting for one.',
      labelNames: ['state'],
      registers: [this.registry],
      collect() {
        const { total, idle, waiting } = db.poolState;
        this.set({ state: 'idle' }, idle);
        this.set({ state: 'busy' }, total - idle);
        this.set({ state: 'waiting' }, waiting);
      },
    });
  }

  /** @param route the route's pattern, never the address: addresses hold ids and would not be bounded */
  observe(method: string, route: string, status: number, seconds: number): void {
    if (this.enabled) this.requests.observe({ method, route, status }, seconds);
  }

  /** @param port METRICS_PORT, or the next free-standing one of a cluster's worker */
  async listen(port = this.config.METRICS_PORT): Promise<void> {
    if (!this.enabled) return;
    this.server = createServer((request, response) => {
      if (request.url !== '/metrics' || request.method !== 'GET') {
        response.writeHead(404).end();
        return;
      }
      this.registry.metrics().then(
        (text) => response.writeHead(200, { 'Content-Type': this.registry.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    });
    await new Promise<void>((resolve, reject) => {
      this.server?.once('error', reject).listen(port, this.config.HOST, resolve);
    });
  }

  async onApplicationShutdown(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise<void>((resolve) => (this.server ? this.server.close(() => resolve()) : resolve()));
  }
}
