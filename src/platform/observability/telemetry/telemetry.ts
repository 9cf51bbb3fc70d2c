import type { Logger } from 'pino';
import type { Config } from '../../../config/config.js';
import type { MetricsReader } from '../metrics.js';

/** Time for the last export at the end of the process. */
export const STOP_MS = 1_000;

/** The exporters of one process. */
export interface Telemetry {
  /** Sends the metrics of the process in intervals, when metrics are on. */
  exportMetrics(metrics: MetricsReader): void;
  /** Sends the spans and metrics that were not yet sent, for at most {@link STOP_MS}. */
  stop(): Promise<void>;
}

/**
 * Starts the export of traces and metrics by OTLP over HTTP that the `OTEL_*` variables configure. Without them it imports nothing.
 * @param process value of the resource attribute `workspace.process`
 * @returns undefined when both are off
 */
export async function startTelemetry(
  config: Config,
  log: Logger,
  process: 'api' | 'mail-service',
): Promise<Telemetry | undefined> {
  if (!config.exportsTraces && !config.exportsMetrics) return undefined;
  const { startSdk } = await import('./sdk.js');
  return startSdk(config, log, process);
}
