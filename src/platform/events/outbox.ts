import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { either } from '../database/statement.js';
import type { Tx } from '../database/tx.js';

/** Something that happened in a domain, as its consumers see it. */
export interface DomainEvent<P = Record<string, unknown>> {
  /** Delivered at least once: handlers do nothing for an id they have handled. */
  readonly id: string;
  readonly tenantId: string;
  /** `<domain>.<past tense>`, e.g. `note.trashed`. */
  readonly type: string;
  readonly payload: P;
  readonly occurredAt: Date;
}

export type EventHandler = (event: DomainEvent) => Promise<void>;

const append = either.statement<never>(
  'outbox.append',
  `INSERT INTO outbox (tenant_id, id, type, payload) VALUES ($1, $2, $3, $4)`,
);

/**
 * Domain events, written by the transaction that causes them and handed to their consumers after it (transactional
 * outbox). Consumers register at start and nobody imports them.
 */
@Injectable()
export class Outbox {
  private readonly handlers = new Map<string, Map<string, EventHandler>>();
  private wakeUp: () => void = () => undefined;

  /** Adds an event to the transaction. Writes shaped as one SQL function insert their events themselves. */
  async append(
    tx: Tx,
    event: { tenantId: string; type: string; payload: Record<string, unknown> },
  ): Promise<void> {
    await tx.query(append, [event.tenantId, uuidv7(), event.type, event.payload]);
    this.notice(tx);
  }

  /** Tells the worker of this process, after the commit, that there is something to deliver. */
  notice(tx: Tx): void {
    tx.afterCommit(() => this.wakeUp());
  }

  /**
   * @param consumer unique name of the handler
   * @param handler repeated with growing pauses while it throws
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

  /** Called by the worker: what to do when an event has been committed here. */
  onNotice(wakeUp: () => void): void {
    this.wakeUp = wakeUp;
  }
}
