import { Global, Module } from '@nestjs/common';
import { Outbox } from './outbox.js';
import { OutboxWorker } from './outbox.worker.js';
import { TxHooks } from './tx-hooks.js';

@Global()
@Module({ providers: [Outbox, OutboxWorker, TxHooks], exports: [Outbox, OutboxWorker, TxHooks] })
export class EventsModule {}
