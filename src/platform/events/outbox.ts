import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { either } from '../database/statement.js';
import type { Tx } from '../database/tx.js';

/** A domain event as its consumers receive it. */
export interface DomainEvent<P = Record<string, unknown>> {
  /** Delivery is at least once, so handlers ignore ids that they have handled. */
  readonly id: string;
  readonly tenantId: string;
  /** `<domain>.<past tense>`, e.g. `note.trashed`. */
  readonly type: string;
  readonly payload: P;
  readonly occurredAt: Date;
}

type EventHandler = (event: DomainEvent) => Promise<void>;

const append = either.statement<never>(
  'outbox.append',
  `INSERT INTO outbox (tenant_id, id, type, payload) VALUES ($1, $2, $3, $4)`,
);

/**
 * Transactional outbox: domain events are written in the transaction that causes them and delivered to their consumers after
 * it. Consumers register at start; producers do not import them.
 */
@Injectable()
export class Outbox {
  private readonly handlers = new Map<string, Map<string, EventHandler>>();
  private wakeUp: () => void = () => undefined;

  /** Adds an event to the transaction. Writes in one SQL function insert their events there. */
  async append(
    tx: Tx,
    event: { tenantId: string; type: string; payload: Record<string, unknown> },
  ): Promise<void> {
    await tx.query(append, [event.tenantId, uuidv7(), event.type, event.payload]);
    this.notice(tx);
  }

  /** Wakes the worker of this process after the commit. */
  notice(tx: Tx): void {
    tx.afterCommit(() => this.wakeUp());
  }

  /**
   * @param consumer unique name of the handler
   * @param handler retried with growing delays when it throws
   */
  subscribe(type: string, consumer: string, handler: EventHandler): void {
    const consumers = this.handlers.get(type) ?? new Map<string, EventHandler>();
    if (consumers.has(consumer)) throw new Error(`${consumer} already handles ${type}`);
    this.handlers.set(type, consumers.set(consumer, handler));
  }

  handlersOf(type: string): EventHandler[] {
    return [...(this.handlers.get(type)?.values() ?? [])];
  }

  get subscribedTypes(): string[] {
    return [...this.handlers.keys()];
  }

  /** Called by the worker. @param listener called when this process has committed an event */
  onNotice(wakeUp: () => void): void {
    this.wakeUp = wakeUp;
  }
}
