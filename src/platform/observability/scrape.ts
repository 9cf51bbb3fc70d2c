import { createServer, type Server } from 'node:http';
import { Gauge, type Metric, Registry } from 'prom-client';
import type { Config } from '../../config/config.js';
import { Turns } from '../../lib/turns/index.js';
import type { MetricsReader, MetricValues, ProcessMetrics } from './metrics.js';

/** Time in which another process sends its metrics. Prometheus waits 10 s by default. */
const TIMEOUT_MS = 5_000;

/** A process of the server. */
export interface MetricsSource {
  /** Value of the label `process`. */
  process: string;
  /** Whether it can read the values of the database of the workspace. One process of a scrape reads them. */
  hasInstallation: boolean;
  /** @returns undefined when the process does not respond */
  read(options: { installation: boolean }): Promise<ProcessMetrics | undefined>;
}

/** An IPC channel between a process and its child, at either end. */
interface Channel {
  on(event: 'message', listener: (message: unknown) => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
  send?(message: object): unknown;
}

interface Request {
  metrics_request: { id: number; installation: boolean };
}

interface Response {
  metrics_response: { id: number; metrics: ProcessMetrics };
}

let lastId = 0;

const isMessage = <Key extends string>(message: unknown, key: Key): message is Record<Key, unknown> =>
  typeof message === 'object' && message !== null && key in message;

/** Lets the parent process read the metrics of this one. */
export function sendMetricsTo(parent: Channel, metrics: MetricsReader): void {
  parent.on('message', (message) => {
    if (!isMessage(message, 'metrics_request')) return;
    const { id, installation } = (message as Request).metrics_request;
    metrics.read({ installation }).then(
      (values) => parent.send?.({ metrics_response: { id, metrics: values } } satisfies Response),
      () => undefined,
    );
  });
}

/** Reads the metrics of a child process. @returns undefined when it does not respond in time */
export function readMetricsOf(
  child: Channel,
  options: { installation: boolean },
): Promise<ProcessMetrics | undefined> {
  const id = (lastId += 1);
  return new Promise((resolve) => {
    const end = (metrics?: ProcessMetrics): void => {
      clearTimeout(timer);
      child.off('message', receive);
      resolve(metrics);
    };
    const receive = (message: unknown): void => {
      if (!isMessage(message, 'metrics_response')) return;
      const { id: responded, metrics } = (message as unknown as Response).metrics_response;
      if (responded === id) end(metrics);
    };
    const timer = setTimeout(end, TIMEOUT_MS);
    child.on('message', receive);
    try {
      child.send?.({ metrics_request: { id, installation: options.installation } } satisfies Request);
    } catch {
      // The process has just ended.
      end();
    }
  });
}

/**
 * The metrics of all processes in the Prometheus text format. Values of a process have the label `process`, also those that the
 * mail service reads from its schema. Values of the database of the workspace have none, since all processes read the same.
 */
export async function scrape(sources: readonly MetricsSource[]): Promise<string> {
  const reader = sources.find(({ hasInstallation }) => hasInstallation);
  const results = await Promise.all(
    sources.map(async (source) => ({
      source,
      metrics: await source.read({ installation: source === reader }),
    })),
  );
  const up = new Gauge({
    name: 'process_up',
    help: '1: the process has sent its metrics. 0: it did not respond.',
    labelNames: ['process'],
    registers: [],
  });
  for (const { source, metrics } of results) up.set({ process: source.process }, metrics ? 1 : 0);
  const values = results.flatMap(({ source, metrics }) =>
    metrics
      ? [
          labelled(metrics.process, { process: source.process }),
          labelled(metrics.installation, source === reader ? {} : { process: source.process }),
        ]
      : [],
  );
  return formatMetrics([await up.get(), ...values.flat()]);
}

/** Adds labels to each value. NaN of another process arrives as null, which would be formatted as infinite. */
const labelled = (metrics: MetricValues, labels: Record<string, string>): MetricValues =>
  metrics.map((metric) => ({
    ...metric,
    values: metric.values
      .filter(({ value }) => (value as number | null) !== null)
      .map((value) => ({ ...value, labels: { ...labels, ...value.labels } })),
  }));

/** Values that are formatted in one step: about a millisecond. */
const SLICE = 200;
/** The lines with the help text and the type. */
const HEAD = /^# HELP .*\n# TYPE .*\n/;

/**
 * The text format of the values, without sums. All routes together have 20,000 values, which `AggregatorRegistry` adds and formats in one
 * turn of the event loop that takes 0.2 s.
 */
async function formatMetrics(metrics: readonly MetricValues[number][]): Promise<string> {
  const turns = new Turns();
  const texts: string[] = [];
  for (const same of Map.groupBy(metrics, ({ name }) => name).values()) {
    const values = same.flatMap((metric) => metric.values);
    for (let at = 0; at === 0 || at < values.length; at += SLICE) {
      const { name } = same[0]!;
      const part = { name, get: () => Promise.resolve({ ...same[0], values: values.slice(at, at + SLICE) }) };
      const registry = new Registry();
      registry.registerMetric(part as unknown as Metric);
      const text = await registry.metrics();
      texts.push(at === 0 ? text : text.replace(HEAD, ''));
      await turns.pause();
    }
  }
  return texts.join('');
}

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** `GET /metrics` on METRICS_PORT. It has its own port, so that a proxy does not publish it by accident. */
export class MetricsServer {
  private constructor(private readonly server: Server) {}

  /** @param render the metrics in the Prometheus text format */
  static async listen(
    config: Pick<Config, 'HOST' | 'METRICS_PORT'>,
    render: () => Promise<string>,
  ): Promise<MetricsServer> {
    const server = createServer((request, response) => {
      if (request.url !== '/metrics' || request.method !== 'GET') {
        response.writeHead(404).end();
        return;
      }
      render().then(
        (text) => response.writeHead(200, { 'Content-Type': CONTENT_TYPE }).end(text),
        () => response.writeHead(500).end(),
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(config.METRICS_PORT, config.HOST, resolve);
    });
    return new MetricsServer(server);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
    });
  }
}
