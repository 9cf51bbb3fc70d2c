import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import {
  type FoundSubject,
  PublicEvents,
  type PublicSubject,
} from '../../../platform/events/public-events.js';
import type { WebhookFilter } from '../webhook.entity.js';
import { bodyOf, TEST_TYPE, type WebhookMessage } from '../webhook-sender.js';
import type { DueDelivery } from './queues.repository.js';

/** A longer object is left out: `omitted` is then true, and receivers read it by its id. */
const MAX_OBJECT = 256 * 1024;

/** How reads are run: `remote` ones ask another service and take no place of those in the database. */
export type RunRead = Record<'local' | 'remote', <T>(read: () => Promise<T>) => Promise<T>>;

/** Composes messages with what the owner of a webhook may read now. */
@Injectable()
export class WebhookContents {
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
  ): Promise<(WebhookMessage | null)[]> {
    const messages = new Map<string, WebhookMessage | null>();
    const bySubject = Map.groupBy(batch, ({ event_type: type }) => this.events.find(type)?.subject);
    for (const [subject, deliveries] of bySubject) {
      if (!subject) {
        for (const { id, event_type: type, occurred_at: occurredAt, facts } of deliveries)
          if (type === TEST_TYPE)
            messages.set(id, { id, body: bodyOf(type, occurredAt, JSON.stringify(facts)) });
        continue;
      }
      const facts = deliveries.map((delivery) => delivery.facts);
      const found = await run[subject.isRemote ? 'remote' : 'local'](() =>
        this.events.read(subject, ctx, facts, filter),
      );
      for (const [n, delivery] of deliveries.entries())
        messages.set(delivery.id, messageOf(subject, filter, delivery, found[n]));
    }
    return batch.map(({ id }) => messages.get(id) ?? null);
  }
}

function messageOf(
  subject: PublicSubject,
  filter: WebhookFilter,
  { id, event_type: type, facts, occurred_at: occurredAt }: DueDelivery,
  found: FoundSubject,
): WebhookMessage | null {
  if (found === undefined || !fits(subject, filter, facts, found)) return null;
  const object = typeof found === 'string' ? found : JSON.stringify(found);
  const isOmitted = object.length > MAX_OBJECT;
  const members = [
    ...Object.entries(facts).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`),
    `"${subject.kind}":${isOmitted ? 'null' : object}`,
    ...(isOmitted ? ['"omitted":true'] : []),
  ];
  return { id, body: bodyOf(type, occurredAt, `{${members.join(',')}}`) };
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
