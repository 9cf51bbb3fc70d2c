import type { RequestContext } from '../../../platform/context/request-context.js';
import {
  type FoundSubject,
  PublicEvents,
  type PublicSubject,
} from '../../../platform/events/public-events.js';
import { Collector } from '../../../platform/workers/collector.js';
import type { ConcurrencyLimiter } from '../../../platform/workers/concurrency-limiter.js';
import type { WebhookFilter } from '../webhook.entity.js';
import { bodyOf, TEST_TYPE } from '../webhook-sender.js';
import type { DueDelivery } from './queues.repository.js';

/** A longer object is left out: `omitted` is then true, and receivers read it by its id. */
const MAX_OBJECT = 256 * 1024;
/** Batches that one read has at most. */
const MAX_READS = 8;

/** A message of a delivery. */
export interface Content {
  /** Characters of the object. */
  length: number;
  /** Composes the body: late, because the webhooks of an owner share the object. */
  body: () => string;
}

/** How reads of another service are run, which take no place of those in the database. */
type RunRemote = <T>(read: () => Promise<T>) => Promise<T>;

/** Objects that an owner reads, for events of one kind. */
interface ObjectsRead {
  subject: PublicSubject;
  ctx: RequestContext;
  filter: WebhookFilter;
  deliveries: readonly DueDelivery[];
}

/** Objects by the id of the event. */
type Objects = ReadonlyMap<string, FoundSubject>;

/** Composes messages with what the owner of a webhook may read now. */
export class WebhookContents {
  /** An event has the same object for all webhooks of an owner: those that wait at the same time read it together. */
  private readonly reads: Collector<ObjectsRead, Objects>;

  constructor(
    private readonly events: PublicEvents,
    database: ConcurrencyLimiter,
  ) {
    this.reads = new Collector(
      database,
      async (_, [read, ...others]) => {
        const { subject, ctx, filter, deliveries } = read as ObjectsRead;
        const all = [...deliveries, ...others.flatMap((each) => each.deliveries)];
        const objects = await this.read({ subject, ctx, filter, deliveries: all });
        return [read, ...others].map(() => objects);
      },
      MAX_READS,
    );
  }

  /**
   * @param batch deliveries, whose objects are read by kind
   * @returns their messages, in their order; null: the owner may not read the object, or it does not fit the filter
   */
  async messagesOf(
    ctx: RequestContext,
    filter: WebhookFilter,
    batch: readonly DueDelivery[],
    remote: RunRemote,
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
      const read = { subject, ctx, filter, deliveries };
      const group = [ctx.tenantId, ctx.userId, ctx.role, subject.kind, JSON.stringify(filter)].join(' ');
      const found = await (subject.isRemote ? remote(() => this.read(read)) : this.reads.add(group, read));
      for (const delivery of deliveries)
        messages.set(delivery.id, messageOf(subject, filter, delivery, found.get(delivery.id)));
    }
    return batch.map(({ id }) => messages.get(id) ?? null);
  }

  private async read({ subject, ctx, filter, deliveries }: ObjectsRead): Promise<Objects> {
    const facts = new Map(deliveries.map((delivery) => [delivery.id, delivery.facts]));
    const objects = await this.events.read(subject, ctx, [...facts.values()], filter);
    return new Map([...facts.keys()].map((id, n) => [id, objects[n]]));
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
