import {
  type Context,
  context,
  type HrTime,
  type Tracer as OtelTracer,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  ValueType,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { hrTime, setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { NextFunction, Response } from 'express';
import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import type { Config } from '../../../config/config.js';
import {
  type OpenSpan,
  setTracer,
  type SpanAttributes,
  type SpanOptions,
  type Tracer,
} from '../../telemetry/tracer.js';
import { type LoggedRequest, statusOf } from '../access-log.js';
import type { MetricsReader, MetricValues } from '../metrics.js';
import { STOP_MS, type Telemetry } from './telemetry.js';

const KINDS = { client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER } as const;

/** Records spans by the OpenTelemetry API. */
export class SdkTracer implements Tracer {
  constructor(private readonly otel: OtelTracer) {}

  request(request: LoggedRequest, response: Response, next: NextFunction): void {
    const { method } = request;
    // A request of a batch belongs to the request with the batch.
    const active = context.active();
    const parent = trace.getSpan(active) ? active : propagation.extract(ROOT_CONTEXT, request.headers);
    const options = { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } };
    const span = this.otel.startSpan(method, options, parent);
    response.once('close', () => {
      const { route, status } = statusOf(request, response);
      const { ctx, tenantId = null } = request;
      const tenant = ctx?.tenantId ?? tenantId;
      if (route !== undefined) {
        span.updateName(`${method} ${route}`);
        span.setAttribute('http.route', route);
      }
      span.setAttribute('http.response.status_code', status);
      if (request.id !== undefined) span.setAttribute('workspace.request_id', request.id);
      if (tenant !== null) span.setAttribute('workspace.tenant_id', tenant);
      if (status >= 500) failed(span, String(status));
      span.end();
    });
    context.with(trace.setSpan(parent, span), next);
  }

  async span<T>(
    { name, kind, attributes, position }: SpanOptions,
    work: (span: OpenSpan) => Promise<T>,
  ): Promise<T> {
    const parent = position === 'root' ? ROOT_CONTEXT : context.active();
    if (position === 'child' && !trace.getSpan(parent)) return work(new SdkSpan(undefined, parent));
    const span = this.otel.startSpan(name, { kind: KINDS[kind], attributes }, parent);
    const inner = trace.setSpan(parent, span);
    try {
      return await context.with(inner, () => work(new SdkSpan(span, inner)));
    } catch (error) {
      failed(span, typeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }
}

class SdkSpan implements OpenSpan {
  constructor(
    private readonly span: Span | undefined,
    private readonly context: Context,
  ) {}

  set(attributes: SpanAttributes): void {
    this.span?.setAttributes(attributes);
  }

  fail(type: string): void {
    if (this.span) failed(this.span, type);
  }

  inject(headers: Record<string, unknown>): void {
    if (this.span) propagation.inject(this.context, headers);
  }
}

function failed(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Code or class of an error. Its text may contain personal data. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : error.name;
}

interface ExportResult {
  code: number;
  error?: Error;
}

interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void;
}

/** Code of a successful export in the SDK. */
const SUCCESS = 0;

/** Logs the first failure of the exports to a collector, and the first success after failures. */
export class ExportReport {
  private isFailing = false;

  constructor(
    private readonly log: Logger,
    private readonly signal: 'traces' | 'metrics',
  ) {}

  /** @returns the exporter, whose results are reported */
  watch<Items, E extends Exporter<Items>>(exporter: E & Exporter<Items>): E {
    const send = exporter.export.bind(exporter);
    exporter.export = (items, done) =>
      send(items, (result) => {
        this.report(result);
        done(result);
      });
    return exporter;
  }

  private report({ code, error }: ExportResult): void {
    const failed = code !== SUCCESS;
    if (failed === this.isFailing) return;
    this.isFailing = failed;
    const { signal } = this;
    if (failed)
      this.log.warn({ signal, err: error }, 'the collector does not accept telemetry; requests are served');
    else this.log.info({ signal }, 'the collector accepts telemetry again');
  }
}

type Metric = MetricValues[number];
type Value = Metric['values'][number] & { metricName?: string };

/** Provides the metrics of `GET /metrics` to the exporter, so that each metric is declared once. */
export class RegistryProducer implements MetricProducer {
  private readonly startTime = hrTime();

  constructor(
    private readonly metrics: MetricsReader,
    private readonly resource: Resource,
  ) {}

  async collect(): Promise<CollectionResult> {
    const { process, installation } = await this.metrics.read({ installation: true });
    const endTime = hrTime();
    const metrics = [...process, ...installation].map((metric) => dataOf(metric, this.startTime, endTime));
    return {
      resourceMetrics: {
        resource: this.resource,
        scopeMetrics: [{ scope: { name: 'workspace' }, metrics }],
      },
      errors: [],
    };
  }
}

function dataOf(metric: Metric, startTime: HrTime, endTime: HrTime): MetricData {
  const point = <T>(attributes: Record<string, string | number>, value: T): DataPoint<T> => ({
    startTime,
    endTime,
    attributes,
    value,
  });
  const base = {
    descriptor: { name: metric.name, description: metric.help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  // prom-client types the kind as an enum of numbers, but its values are words.
  const type = String(metric.type);
  if (type === 'histogram') {
    const dataPoints = histogramsOf(metric.values).map(({ labels, histogram }) => point(labels, histogram));
    return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = metric.values.map(({ labels, value }) => point(labelsOf(labels), value));
  if (type === 'counter') return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
  return { ...base, dataPointType: DataPointType.GAUGE, dataPoints };
}

/** Groups the samples of a Prometheus histogram: cumulative buckets, sum and count of each combination of labels. */
function histogramsOf(
  values: readonly Value[],
): { labels: Record<string, string | number>; histogram: Histogram }[] {
  const groups = new Map<string, { labels: Record<string, string | number>; samples: Value[] }>();
  for (const value of values) {
    const { le: _, ...labels } = labelsOf(value.labels);
    const key = JSON.stringify(Object.entries(labels).sort());
    const group = groups.get(key) ?? { labels, samples: [] };
    group.samples.push(value);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ labels, samples }) => ({ labels, histogram: histogramOf(samples) }));
}

function histogramOf(samples: readonly Value[]): Histogram {
  const boundaries: number[] = [];
  const counts: number[] = [];
  let [below, sum, count] = [0, 0, 0];
  for (const { labels, value, metricName = '' } of samples) {
    const { le } = labelsOf(labels);
    if (le !== undefined) {
      if (le !== '+Inf') boundaries.push(Number(le));
      counts.push(value - below);
      below = value;
    } else if (metricName.endsWith('_sum')) sum = value;
    else count = value;
  }
  return { buckets: { boundaries, counts }, sum, count };
}

const labelsOf = (labels: object): Record<string, string | number> =>
  labels as Record<string, string | number>;

const SERVICE_NAME = 'workspace';

/** Loads and starts the OpenTelemetry SDK. Imported by `startTelemetry` only. */
export function startSdk(config: Config, log: Logger, process: string): Telemetry {
  // The exporters report their failures themselves; the SDK would write each of them to stderr.
  setGlobalErrorHandler((error) => log.debug({ err: error }, 'telemetry'));
  const resource = resourceOf(process);
  const stops: (() => Promise<void>)[] = [];
  if (config.exportsTraces) stops.push(startTraces(config, log, resource));
  return {
    exportMetrics(metrics) {
      if (!config.exportsMetrics) return;
      const producer = new RegistryProducer(metrics, resource);
      const reader = new PeriodicExportingMetricReader({
        exporter: new ExportReport(log, 'metrics').watch(new OTLPMetricExporter()),
        exportIntervalMillis: config.OTEL_METRIC_EXPORT_INTERVAL,
        exportTimeoutMillis: Math.min(config.OTEL_METRIC_EXPORT_INTERVAL, 30_000),
        metricProducers: [producer],
      });
      const provider = new MeterProvider({ resource, readers: [reader] });
      stops.push(() => provider.shutdown());
    },
    async stop() {
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise((resolve) => (timer = setTimeout(resolve, STOP_MS)));
      await Promise.race([Promise.allSettled(stops.map((stop) => stop())), timeout]);
      clearTimeout(timer);
    },
  };
}

/** @returns the function that ends it */
function startTraces(config: Config, log: Logger, resource: Resource): () => Promise<void> {
  const exporter = new ExportReport(log, 'traces').watch(new OTLPTraceExporter());
  const provider = new TracerProvider({
    resource,
    sampler: samplerOf(config),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  setTracer(new SdkTracer(provider.getTracer(SERVICE_NAME)));
  return async () => {
    setTracer(undefined);
    await provider.shutdown();
  };
}

/** Attributes of OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME have precedence. */
const resourceOf = (process: string): Resource =>
  defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': SERVICE_NAME,
        'service.instance.id': uuidv7(),
        'workspace.process': process,
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));

function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: Config): Sampler {
  const root = name.endsWith('always_on')
    ? new AlwaysOnSampler()
    : name.endsWith('always_off')
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(ratio);
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}
