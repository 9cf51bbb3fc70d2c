import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import type { Config } from '../../../config/config.js';
import { ExportReport } from './export-report.js';
import { RegistryProducer } from './registry-producer.js';
import { SdkTracer } from './sdk-tracer.js';
import { STOP_MS, type Telemetry } from './telemetry.js';
import { setTracer } from '../../telemetry/tracer.js';

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
