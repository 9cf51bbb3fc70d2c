import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Metrics } from '../observability/metrics.js';

/** Prometheus metrics of the blob store. */
@Injectable()
export class BlobMetrics {
  private readonly bytes: Counter<'direction'>;
  private readonly errors: Counter<'operation'>;

  constructor({ registry }: Metrics) {
    this.bytes = new Counter({
      name: 'blob_bytes_total',
      help: 'Bytes of files stored (in) and opened for reading (out).',
      labelNames: ['direction'],
      registers: [registry],
    });
    this.errors = new Counter({
      name: 'blob_store_errors_total',
      help: 'Operations that the blob store failed.',
      labelNames: ['operation'],
      registers: [registry],
    });
  }

  countMoved(direction: 'in' | 'out', bytes: number): void {
    this.bytes.inc({ direction }, bytes);
  }

  countFailure(operation: 'read' | 'write' | 'remove'): void {
    this.errors.inc({ operation });
  }
}
