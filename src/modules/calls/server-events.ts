import { Injectable, type OnModuleInit } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { deletion, type Sweep } from '../../platform/jobs/sweep.js';
import type { CallServerEvent } from './call-server.js';
import type { WebhookEventRow } from './calls.schema.js';

type EventOf<Type extends CallServerEvent['type']> = Extract<CallServerEvent, { type: Type }>;

/** A handler calls this function first in its transaction. @returns false for a repeated delivery */
export type ClaimEvent = (tx: Tx) => Promise<boolean>;

type Handler<Type extends CallServerEvent['type']> = (
  event: EventOf<Type>,
  claim: ClaimEvent,
) => Promise<void>;

const SOURCE = 'livekit';

const claim = workspace.statement<Pick<WebhookEventRow, 'event_id'>>(
  'webhook_events.claim',
  `INSERT INTO webhook_events (tenant_id, source, event_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING event_id`,
);

// Index: webhook_events_old.
const forget: Sweep = workspace.statement(
  'webhook_events.forget',
  deletion('webhook_events', `received_at < now() - interval '2 days'`),
  { reach: 'cell' },
);

/** Passes events of the media server to the handlers of this module, each event once. */
@Injectable()
export class ServerEvents implements OnModuleInit {
  private readonly handlers = new Map<string, Handler<never>>();

  constructor(private readonly jobs: PeriodicJobs) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'calls.forget-events',
      everySeconds: 3_600,
      deletes: forget,
    });
  }

  on<Type extends CallServerEvent['type']>(type: Type, handler: Handler<Type>): void {
    this.handlers.set(type, handler as unknown as Handler<never>);
  }

  async handle(event: CallServerEvent): Promise<void> {
    const handler = this.handlers.get(event.type);
    const values = [event.call.tenantId, SOURCE, event.id];
    await handler?.(event as never, async (tx) => (await tx.query(claim, values)).length > 0);
  }
}
