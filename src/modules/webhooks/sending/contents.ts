import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { type PublicEventType, PublicEvents } from '../../../platform/events/public-events.js';
import type { WebhookFilter } from '../webhook.entity.js';
import { bodyOf, type WebhookMessage } from '../webhook-sender.js';
import type { DueDelivery } from './queues.repository.js';

/** A longer object is left out: `omitted` is then true, and receivers read it by its id. */
const MAX_OBJECT = 256 * 1024;

/** Composes messages with what the owner of a webhook may read now. */
@Injectable()
export class WebhookContents {
  constructor(private readonly events: PublicEvents) {}

  /** @returns null: the owner may not read the object, or it does not fit the filter */
  async messageOf(
    ctx: RequestContext,
    filter: WebhookFilter,
    delivery: DueDelivery,
  ): Promise<WebhookMessage | null> {
    const type = this.events.find(delivery.event_type);
    if (!type) return null;
    const { facts, id, occurred_at: occurredAt } = delivery;
    const { subject } = type;
    const found = await this.events.read(type, { ...ctx, requestId: id }, facts, filter);
    if (found === undefined || !fits(type, filter, facts, found)) return null;
    const object = typeof found === 'string' ? found : JSON.stringify(found);
    const isOmitted = object.length > MAX_OBJECT;
    const members = [
      ...Object.entries(facts).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`),
      `"${subject.kind}":${isOmitted ? 'null' : object}`,
      ...(isOmitted ? ['"omitted":true'] : []),
    ];
    return { id, body: bodyOf(type.type, occurredAt, `{${members.join(',')}}`) };
  }
}

/** Whether the object has the attributes of the filter that its kind has. */
function fits(
  { subject }: PublicEventType,
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
