import { type HrTime, ValueType } from '@opentelemetry/api';
import { hrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { MetricsReader, MetricValues } from '../metrics.js';

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
