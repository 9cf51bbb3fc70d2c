import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Metrics } from '../../platform/observability/metrics.js';
import { QueueRepository } from './queue.repository.js';

const DESTINATIONS = ['local', 'relay'] as const;
const STATES = ['due', 'retrying', 'scheduled'] as const;

/** Prometheus metrics of the mail queue. */
@Injectable()
export class QueueMetrics implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly queue: QueueRepository,
  ) {}

  onModuleInit(): void {
    this.metrics.databaseGauges({
      gauges: {
        mail_queue_messages:
          'Recipients that the embedded mail service has not delivered to. State: due, retrying (an attempt failed), scheduled (not due yet).',
        mail_queue_oldest_seconds: 'Time since the oldest entry of the mail queue was due; 0 without one.',
      },
      labelNames: ['destination', 'state'],
      read: async () => {
        const rows = await this.queue.summary();
        return DESTINATIONS.flatMap((destination) =>
          STATES.map((state) => {
            const row = rows.find((each) => each.destination === destination && each.state === state);
            const { messages = 0, oldest = 0 } = row ?? {};
            const values = { mail_queue_messages: messages, mail_queue_oldest_seconds: oldest };
            return { labels: { destination, state }, values };
          }),
        );
      },
    });
  }
}
