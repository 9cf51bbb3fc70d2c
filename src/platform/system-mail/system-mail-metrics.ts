import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Metrics } from '../observability/metrics.js';
import { SystemMailsRepository } from './system-mails.repository.js';

/** Prometheus metrics of the mails of the workspace itself. */
@Injectable()
export class SystemMailMetrics implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly mails: SystemMailsRepository,
  ) {}

  onModuleInit(): void {
    this.metrics.databaseGauges({
      gauges: {
        system_mail_queued: 'Mails of the workspace itself that are not sent.',
        system_mail_oldest_seconds:
          'Age of the oldest mail of the workspace itself that is not sent; 0 without one.',
      },
      labelNames: [],
      read: async () => {
        const { queued, oldest } = await this.mails.queue();
        return [{ labels: {}, values: { system_mail_queued: queued, system_mail_oldest_seconds: oldest } }];
      },
    });
  }
}
