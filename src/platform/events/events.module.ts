import { Global, Module } from '@nestjs/common';
import { Outbox } from './outbox.js';
import { EventInterests } from './event-interests.js';
import { OutboxMetrics } from './outbox-metrics.js';
import { OutboxWorker } from './outbox.worker.js';
import { PublicEvents } from './public-events.js';
import { TxHooks } from './tx-hooks.js';

@Global()
@Module({
  providers: [EventInterests, Outbox, OutboxMetrics, OutboxWorker, PublicEvents, TxHooks],
  exports: [EventInterests, Outbox, OutboxWorker, PublicEvents, TxHooks],
})
export class EventsModule {}
