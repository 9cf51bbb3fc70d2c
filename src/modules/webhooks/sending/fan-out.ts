import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { type DomainEvent, Outbox } from '../../../platform/events/outbox.js';
import { PublicEvents, publicEventTypes } from '../../../platform/events/public-events.js';
import { WebhookDispatcher } from './dispatcher.js';

/** Events that a batch has stored, until their handlers run: more than one batch of the outbox. */
const MAX_STORED = 1_000;

// One row for each webhook and event; an event with a recipient is for the own webhooks of this user. A filter by an attribute that the facts lack is applied when the event is sent. The queues are
// locked in the order of their keys; each is due at once, unless it rests after a failure.
const fanOut = workspace.statement<{ count: number }>(
  'webhooks.fan_out',
  `WITH events AS (
     SELECT * FROM jsonb_to_recordset($1) AS event (tenant_id uuid, id uuid, type text, facts jsonb, occurred_at timestamptz, recipient uuid)),
   added AS (
     INSERT INTO webhook_deliveries (tenant_id, webhook_id, id, event_type, facts, occurred_at, due_at)
     SELECT event.tenant_id, webhook.id, event.id, event.type, event.facts, event.occurred_at, event.occurred_at
       FROM events event
       JOIN webhooks webhook
         ON webhook.tenant_id = event.tenant_id AND webhook.active AND event.type = ANY (webhook.event_types)
        AND (event.recipient IS NULL OR webhook.scope = 'user' AND webhook.owner_id = event.recipient)
        AND NOT EXISTS (
          SELECT FROM jsonb_each_text(webhook.filter) AS wanted
           WHERE event.facts ? wanted.key AND event.facts->>wanted.key <> wanted.value)
     ON CONFLICT DO NOTHING RETURNING tenant_id, webhook_id),
   queues AS MATERIALIZED (
     SELECT queue.tenant_id, queue.webhook_id FROM webhook_queues queue
      WHERE (queue.tenant_id, queue.webhook_id) IN (SELECT tenant_id, webhook_id FROM added)
      ORDER BY queue.tenant_id, queue.webhook_id FOR UPDATE),
   woken AS (
     UPDATE webhook_queues queue
        SET due_at = least(queue.due_at, now()), ready_at = greatest(least(queue.due_at, now()), queue.held_until)
       FROM queues WHERE queue.tenant_id = queues.tenant_id AND queue.webhook_id = queues.webhook_id)
   SELECT count(*)::int AS count FROM added`,
  { reach: 'cell' },
);

/** Stores the deliveries of events: consumes all public events of the outbox. */
@Injectable()
export class WebhookFanOut implements OnApplicationBootstrap {
  private readonly stored = new LRUCache<string, true>({ max: MAX_STORED });

  constructor(
    private readonly events: PublicEvents,
    private readonly outbox: Outbox,
    private readonly dispatcher: WebhookDispatcher,
    private readonly db: Db,
  ) {}

  /** Domains register their events in `onModuleInit`. */
  onApplicationBootstrap(): void {
    for (const { type } of publicEventTypes())
      this.outbox.subscribe(type, 'webhooks', async (event) => {
        if (!this.stored.delete(event.id)) await this.store([event]);
      });
    this.outbox.prepareBatches('webhooks', (events) => this.prepare(events));
  }

  private async prepare(events: readonly DomainEvent[]): Promise<void> {
    const known = events.filter(({ type }) => this.events.find(type));
    if (known.length === 0) return;
    await this.store(known);
    for (const { id } of known) this.stored.set(id, true);
  }

  private async store(events: readonly DomainEvent[]): Promise<void> {
    const rows = events.flatMap((event) => {
      const type = this.events.find(event.type);
      if (!type) return [];
      const { tenantId: tenant_id, id, occurredAt: occurred_at } = event;
      const facts = this.events.factsOf(type, event.payload);
      const { owner } = type.subject;
      const recipient = owner === undefined ? null : facts[owner];
      return [{ tenant_id, id, type: type.type, facts, occurred_at, recipient }];
    });
    await this.db.single(async (tx) => {
      const [added] = await tx.query(fanOut, [JSON.stringify(rows)]);
      if (added && added.count > 0) this.dispatcher.noticeAfter(tx);
    });
  }
}
