import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import {
  type EventFacts,
  type FoundSubject,
  PublicEvents,
  type PublicSubject,
} from '../../../platform/events/public-events.js';
import type { WebhookFilter } from '../webhook.entity.js';
import { bodyOf, TEST_TYPE } from '../webhook-sender.js';
import type { DueDelivery } from './queues.repository.js';

/** A longer object is left out: `omitted` is then true, and receivers read it by its id. */
const MAX_OBJECT = 256 * 1024;

/** A message of a delivery. */
export interface Content {
  /** Characters of the object. */
  length: number;
  /** Composes the body: late, because the webhooks of an owner share the object. */
  body: () => string;
}

/** Events that one read has at most. */
const MAX_READ = 400;

/** A read that has not begun: the events by id, and later their objects. */
interface WaitingRead {
  facts: Map<string, EventFacts>;
  found: Promise<Map<string, FoundSubject>>;
}

/** How reads are run: `remote` ones ask another service and take no place of those in the database. */
export type RunRead = Record<'local' | 'remote', <T>(read: () => Promise<T>) => Promise<T>>;

/** Composes messages with what the owner of a webhook may read now. */
@Injectable()
export class WebhookContents {
  /** By owner and kind. */
  private readonly waiting = new Map<string, WaitingRead>();

  constructor(private readonly events: PublicEvents) {}

  /**
   * @param batch deliveries, whose objects are read by kind
   * @returns their messages, in their order; null: the owner may not read the object, or it does not fit the filter
   */
  async messagesOf(
    ctx: RequestContext,
    filter: WebhookFilter,
    batch: readonly DueDelivery[],
    run: RunRead,
  ): Promise<(Content | null)[]> {
    const messages = new Map<string, Content | null>();
    const bySubject = Map.groupBy(batch, ({ event_type: type }) => this.events.find(type)?.subject);
    for (const [subject, deliveries] of bySubject) {
      if (!subject) {
        for (const { id, event_type: type, occurred_at: occurredAt, facts } of deliveries)
          if (type === TEST_TYPE)
            messages.set(id, { length: 0, body: () => bodyOf(type, occurredAt, JSON.stringify(facts)) });
        continue;
      }
      const found = await this.read(subject, ctx, filter, deliveries, run);
      for (const delivery of deliveries)
        messages.set(delivery.id, messageOf(subject, filter, delivery, found.get(delivery.id)));
    }
    return batch.map(({ id }) => messages.get(id) ?? null);
  }

  /** Reads of one owner that wait for the database at the same time are one: an event has the same object for all webhooks of an owner. */
  private read(
    subject: PublicSubject,
    ctx: RequestContext,
    filter: WebhookFilter,
    deliveries: readonly DueDelivery[],
    run: RunRead,
  ): Promise<Map<string, FoundSubject>> {
    const readAll = async (facts: Map<string, EventFacts>) => {
      const objects = await this.events.read(subject, ctx, [...facts.values()], filter);
      return new Map([...facts.keys()].map((id, n) => [id, objects[n]]));
    };
    const own = deliveries.map(({ id, facts }) => [id, facts] as const);
    if (subject.isRemote) return run.remote(() => readAll(new Map(own)));
    const name = [ctx.tenantId, ctx.userId, ctx.role, subject.kind, JSON.stringify(filter)].join(' ');
    const known = this.waiting.get(name);
    if (known && known.facts.size + own.length <= MAX_READ) {
      for (const [id, facts] of own) known.facts.set(id, facts);
      return known.found;
    }
    const facts = new Map<string, EventFacts>(own);
    const found = run.local(async () => {
      // Also where the limiter has room at once.
      await Promise.resolve();
      if (this.waiting.get(name)?.facts === facts) this.waiting.delete(name);
      return readAll(facts);
    });
    this.waiting.set(name, { facts, found });
    return found;
  }
}

function messageOf(
  subject: PublicSubject,
  filter: WebhookFilter,
  { event_type: type, facts, occurred_at: occurredAt }: DueDelivery,
  found: FoundSubject,
): Content | null {
  if (found === undefined || !fits(subject, filter, facts, found)) return null;
  const object = typeof found === 'string' ? found : JSON.stringify(found);
  const isOmitted = object.length > MAX_OBJECT;
  const body = (): string => {
    const members = [
      ...Object.entries(facts).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`),
      `"${subject.kind}":${isOmitted ? 'null' : object}`,
      ...(isOmitted ? ['"omitted":true'] : []),
    ];
    return bodyOf(type, occurredAt, `{${members.join(',')}}`);
  };
  return { length: isOmitted ? 0 : object.length, body };
}

/** Whether the object has the attributes of the filter that its kind has. */
function fits(
  subject: PublicSubject,
  filter: WebhookFilter,
  facts: Record<string, unknown>,
  found: object | string | null,
): boolean {
  const wanted = (subject.filters ?? []).filter((name) => filter[name] !== undefined && !(name in facts));
  // The reader of an object without content has applied the filter.
  if (wanted.length === 0 || found === null) return true;
  const object = (typeof found === 'string' ? JSON.parse(found) : found) as Record<string, unknown>;
  return wanted.every((name) => object[name] === filter[name]);
}
