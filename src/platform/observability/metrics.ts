import { setTimeout as delay } from 'node:timers/promises';
import { Global, Injectable, Logger, Module } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { Config } from '../../config/config.js';
import { USES } from '../current-work/current-work.js';
import { Db } from '../database/db.js';
import { REPLICA_STATES } from '../database/replicas/replica.js';
import type { RequestEnd } from './access-log.js';

/** Metrics as data, which one process can send to another. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** The metrics of one process. */
export interface ProcessMetrics {
  /** Values of the process itself. */
  process: MetricValues;
  /** Values of the database, which are the same in each process. Empty unless requested. */
  installation: MetricValues;
}

/** Reads the metrics of one process. */
export interface MetricsReader {
  /** @param options.installation also read the values of the database */
  read(options: { installation: boolean }): Promise<ProcessMetrics>;
}

/** One combination of labels with a value for each gauge of its set. */
interface GaugeRow<Name extends string> {
  labels: Record<string, string>;
  values: Partial<Record<Name, number>>;
}

/** Gauges that one query fills. */
export interface GaugeSet<Name extends string> {
  /** Help texts by name. */
  gauges: Record<Name, string>;
  labelNames: readonly string[];
  read: () => Promise<GaugeRow<Name>[]>;
}

/** Time for all queries of a scrape. Prometheus waits 10 s by default. */
const TIMEOUT_MS = 3_000;

/** Metrics of this process, for Prometheus (METRICS_PORT) and for the OpenTelemetry exporter. Off unless one of them is on. */
@Injectable()
export class Metrics implements MetricsReader {
  readonly registry = new Registry();
  readonly isEnabled: boolean;
  private readonly logger = new Logger(Metrics.name);
  private readonly installation = new Registry();
  private readonly refreshers: (() => Promise<boolean>)[] = [];
  private readonly databaseUp: Gauge;
  private readonly requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request line to the end of the response.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [this.registry],
  });

  private readonly bytes = new Counter({
    name: 'http_request_bytes_total',
    help: 'Bytes of requests by route: `database`, results of their statements; `response`, sent with headers.',
    labelNames: ['method', 'route', 'kind'],
    registers: [this.registry],
  });

  constructor(config: Config, db: Db) {
    this.isEnabled = config.METRICS_PORT > 0 || config.exportsMetrics;
    this.databaseUp = new Gauge({
      name: 'database_up',
      help: '1: the queries for the values of the database succeeded. 0: one failed or took more than 3 s.',
      registers: [this.installation],
    });
    if (!this.isEnabled) return;
    collectDefaultMetrics({ register: this.registry });
    watchDatabase(this, db);
    if (config.replicaUrls.length + config.cellReplicas.length > 0) watchReplicas(this, db);
  }

  /** Records the end of a request by the pattern of its route: paths contain ids, so their number is unlimited. */
  observe(method: string, { route, status, seconds, bytes, databaseBytes }: RequestEnd): void {
    if (!this.isEnabled) return;
    this.requests.observe({ method, route, status }, seconds);
    this.bytes.inc({ method, route, kind: 'response' }, bytes);
    this.bytes.inc({ method, route, kind: 'database' }, databaseBytes);
  }

  /** Adds a gauge of this process. @param read returns the value for each value of the label */
  gauge(name: string, help: string, label: string, read: () => Record<string, number>): void {
    const gauge = new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [],
      collect() {
        for (const [key, value] of Object.entries(read())) this.set({ [label]: key }, value);
      },
    });
    this.registry.registerMetric(gauge);
  }

  /** Adds gauges whose values one query of the database returns. A failed query leaves them without values. */
  databaseGauges<Name extends string>({ gauges, labelNames, read }: GaugeSet<Name>): void {
    const registers = [this.installation];
    const made = Object.entries<string>(gauges).map(
      ([name, help]) => [name as Name, new Gauge({ name, help, labelNames, registers })] as const,
    );
    this.refreshers.push(async () => {
      const rows = await read().catch((error: unknown) => {
        this.logger.warn({ err: error }, 'a query for metrics failed');
        return undefined;
      });
      for (const [name, gauge] of made) {
        gauge.reset();
        // A gauge without labels is 0 after a reset.
        gauge.remove({});
        for (const { labels, values } of rows ?? [])
          if (values[name] !== undefined) gauge.set(labels, values[name]);
      }
      return rows !== undefined;
    });
  }

  async read({ installation }: { installation: boolean }): Promise<ProcessMetrics> {
    if (installation) this.databaseUp.set((await this.refresh()) ? 1 : 0);
    return {
      process: await this.registry.getMetricsAsJSON(),
      installation: installation ? await this.installation.getMetricsAsJSON() : [],
    };
  }

  /** @returns whether all queries succeeded in time */
  private async refresh(): Promise<boolean> {
    const results = Promise.all(this.refreshers.map((refresh) => refresh()));
    const late = delay(TIMEOUT_MS, false, { ref: false });
    return Promise.race([results.then((each) => each.every(Boolean)), late]);
  }
}

function watchDatabase(metrics: Metrics, db: Db): void {
  metrics.registry.registerMetric(
    new Counter({
      name: 'database_round_trips_total',
      help: 'Statements sent to PostgreSQL, BEGIN and COMMIT included.',
      registers: [],
      collect() {
        this.reset();
        this.inc(db.roundTrips);
      },
    }),
  );
  metrics.registry.registerMetric(
    new Gauge({
      name: 'database_pool_connections',
      help: 'Connections of the pool of a cell by their use: busy ones, and the maximum; idle ones, which serve any use; and statements that wait for one.',
      labelNames: ['cell', 'use', 'state'],
      registers: [],
      collect() {
        this.reset();
        for (const { name: cell, poolState } of db.databases) {
          this.set({ cell, use: 'any', state: 'idle' }, poolState.idle);
          for (const use of USES)
            for (const [state, value] of Object.entries(poolState.uses[use]))
              this.set({ cell, use, state }, value);
        }
      },
    }),
  );
}

function watchReplicas({ registry }: Metrics, db: Db): void {
  const all = () =>
    db.databases.flatMap(({ name: cell, replicas }) =>
      (replicas?.all ?? []).map((replica) => ({ replica, labels: { cell, replica: replica.name } })),
    );
  registry.registerMetric(
    new Counter({
      name: 'database_replica_reads_total',
      help: 'Reads that may run on a replica: those that did, and those of the primary by the reason: the replica is behind, failed or busy, or none is usable.',
      labelNames: ['cell', 'outcome'],
      registers: [],
      collect() {
        this.reset();
        for (const { name: cell, replicas } of db.databases)
          for (const [outcome, count] of Object.entries(replicas?.reads ?? {}))
            this.inc({ cell, outcome }, count);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'database_replica_state',
      help: '1 for the state of a replica: usable, behind (has not replayed the writes before a read), lost, primary (it is the primary itself) or refused.',
      labelNames: ['cell', 'replica', 'state'],
      registers: [],
      collect() {
        this.reset();
        for (const { replica, labels } of all())
          for (const state of REPLICA_STATES) this.set({ ...labels, state }, state === replica.state ? 1 : 0);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'database_replica_behind_bytes',
      help: 'Bytes of WAL that a replica had not replayed when it was asked last.',
      labelNames: ['cell', 'replica'],
      registers: [],
      collect() {
        this.reset();
        for (const { replica, labels } of all()) this.set(labels, replica.behindBytes);
      },
    }),
  );
}

@Global()
@Module({ providers: [Metrics], exports: [Metrics] })
export class MetricsModule {}
