import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../database/db.js';
import { either } from '../database/statement.js';
import { Metrics } from '../observability/metrics.js';

/** `pending`: not tried yet, or in progress. `retrying`: an attempt failed. `parked`: no attempt is left. */
const STATES = ['pending', 'retrying', 'parked'] as const;

export const outboxState = either.statement<{
  state: (typeof STATES)[number];
  events: number;
  oldest: number;
}>(
  'outbox.state',
  `SELECT CASE WHEN parked_at IS NOT NULL THEN 'parked' WHEN last_error IS NOT NULL THEN 'retrying' ELSE 'pending' END AS state,
          count(*)::int AS events, extract(epoch FROM now() - min(occurred_at))::float8 AS oldest
     FROM outbox GROUP BY 1`,
  { reach: 'cell' },
);

/** Prometheus metrics of the outbox. */
@Injectable()
export class OutboxMetrics implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.metrics.databaseGauges({
      gauges: {
        outbox_events:
          'Events that are not delivered. State: pending, retrying (an attempt failed), parked (no attempt left).',
        outbox_oldest_seconds: 'Age of the oldest event that is not delivered; 0 without one.',
      },
      labelNames: ['state'],
      read: async () => {
        const cells = await this.db.inReachableCells(() => this.db.queryAlways(outboxState, []));
        return STATES.map((state) => {
          const rows = cells.flat().filter((row) => row.state === state);
          const events = rows.reduce((sum, row) => sum + row.events, 0);
          const oldest = Math.max(0, ...rows.map((row) => row.oldest));
          return { labels: { state }, values: { outbox_events: events, outbox_oldest_seconds: oldest } };
        });
      },
    });
  }
}
