import { IsBoolean, IsOptional } from 'class-validator';
import { OneOf, Share, Text, ToBoolean, Url, Whole } from './setting.decorators.js';

const OTEL_EXPORTERS = ['otlp', 'none'] as const;
const OTEL_SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/**
 * The standard variables of OpenTelemetry that the application reads or checks. The SDK reads some of them, and the other ones of
 * the OTLP exporter (headers, timeout, compression, certificates), from the environment itself.
 */
export abstract class TelemetrySettings {
  /** OpenTelemetry is off when true, also when other OTEL_ variables are set. */
  @ToBoolean()
  @IsBoolean({ message: 'must be true or false' })
  OTEL_SDK_DISABLED = false;

  /** Collector that receives traces and metrics by OTLP over HTTP, such as http://localhost:4318. */
  @Url('http', 'https') OTEL_EXPORTER_OTLP_ENDPOINT?: string;

  /** Full address for traces. Default: OTEL_EXPORTER_OTLP_ENDPOINT with /v1/traces. */
  @Url('http', 'https') OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string;

  /** Full address for metrics. Default: OTEL_EXPORTER_OTLP_ENDPOINT with /v1/metrics. */
  @Url('http', 'https') OTEL_EXPORTER_OTLP_METRICS_ENDPOINT?: string;

  /** Encoding of OTLP. */
  @OneOf(['http/json']) OTEL_EXPORTER_OTLP_PROTOCOL = 'http/json';

  /** Exporter of traces. Default: `otlp` when an address for traces is set. */
  @IsOptional()
  @OneOf(OTEL_EXPORTERS)
  OTEL_TRACES_EXPORTER?: (typeof OTEL_EXPORTERS)[number];

  /** Exporter of metrics. Default: `otlp` when an address for metrics is set. */
  @IsOptional()
  @OneOf(OTEL_EXPORTERS)
  OTEL_METRICS_EXPORTER?: (typeof OTEL_EXPORTERS)[number];

  /** Decides which traces are recorded. */
  @OneOf(OTEL_SAMPLERS)
  OTEL_TRACES_SAMPLER: (typeof OTEL_SAMPLERS)[number] = 'parentbased_always_on';

  /** Share of the traces that the samplers `traceidratio` and `parentbased_traceidratio` record. */
  @Share() OTEL_TRACES_SAMPLER_ARG = 1;

  /** Interval of the export of metrics, milliseconds. */
  @Whole(100, 86_400_000) OTEL_METRIC_EXPORT_INTERVAL = 60_000;

  /** Name of the service in traces and metrics. */
  @Text() OTEL_SERVICE_NAME?: string;

  /** Additional attributes of the service, as `key=value,key=value`. */
  @Text() OTEL_RESOURCE_ATTRIBUTES?: string;

  /** Whether this process sends traces to a collector. */
  get exportsTraces(): boolean {
    const address = this.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? this.OTEL_EXPORTER_OTLP_ENDPOINT;
    return !this.OTEL_SDK_DISABLED && (this.OTEL_TRACES_EXPORTER ?? (address && 'otlp')) === 'otlp';
  }

  /** Whether this process sends metrics to a collector. */
  get exportsMetrics(): boolean {
    const address = this.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT ?? this.OTEL_EXPORTER_OTLP_ENDPOINT;
    return !this.OTEL_SDK_DISABLED && (this.OTEL_METRICS_EXPORTER ?? (address && 'otlp')) === 'otlp';
  }
}
