import type { RequestContext } from '../../../platform/context/request-context.js';
import {
  type FoundSubject,
  PublicEvents,
  type PublicSubject,
} from '../../../platform/events/public-events.js';
import { Collector } from '../../../platform/workers/collector.js';
import type { ConcurrencyLimiter } from '../../../platform/workers/concurrency-limiter.js';
import { bodyOf, TEST_TYPE } from '../webhook-sender.js';
import type { WebhookFilter } from '../webhooks.schema.js';
import type { DueDelivery } from './queues.repository.js';

/** Contents older than this are read again: the owner may have lost access. */
export const FRESH_MS = 1_000;
export const FIRST_BATCH = 20;
const MAX_BATCH = 100;
/** Characters of the objects of a batch: they are in memory together. */
export const MAX_LENGTH = 512 * 1024;

/** A batch: deliveries that were read, and those that were sent; the time of these, and the length of all objects. */
interface SentBatch {
  read: number;
  sent: number;
  ms: number;
  length: number;
}

/**
 * The size of the batch after one of `size`: more where the receiver responds quickly, so that each delivery needs fewer statements; as
 * many as are sent while the contents are fresh otherwise, so that few are read again; and fewer where contents are long.
 */
export function nextBatch(size: number, { read, sent, ms, length }: SentBatch): number {
  const inTime = Math.floor((sent * FRESH_MS) / 2 / Math.max(1, ms));
  const inMemory = Math.floor((read * MAX_LENGTH) / Math.max(1, length));
  return Math.max(1, Math.min(MAX_BATCH, size * 2, inTime, inMemory));
}

/** A longer object is left out: `omitted` is then true, and receivers read it by its id. */
const MAX_OBJECT = 256 * 1024;
/** Batches that one read has at most. */
const MAX_READS = 8;
/** Events whose objects are read at once, of whatever length these are. */
const READ_AT_ONCE = 50;

/** A message of a delivery. */
export interface Content {
  /** Characters of the object; those of the longest one that is sent, if it is left out: it was read too. */
  length: number;
  /** Composes the body: late, because the webhooks of an owner share the object. */
  body: () => string;
}

/** What a batch sends. */
export interface BatchContents {
  /** Begin of the first read, in milliseconds. */
  since: number;
  /**
   * In the order of the deliveries, without the last ones if all of them are too long. Null means that the owner may not read the object,
   * or it does not fit the filter.
   */
  contents: (Content | null)[];
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

/** JSON of an object, or `null` for one that is left out; undefined: nothing is sent. */
type Shown = { json: string; isOmitted: boolean } | undefined;

/** Objects by the id of the event, and the begin of the first read. */
interface Objects {
  since: number;
  shown: Map<string, Shown>;
}

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
      async (_, reads) => {
        const objects: Objects = { since: Date.now(), shown: new Map() };
        for (const read of reads) await this.read(read, objects);
        return reads.map(() => objects);
      },
      { most: MAX_READS },
    );
  }

  /** @param batch deliveries, whose objects are read by kind */
  async messagesOf(
    ctx: RequestContext,
    filter: WebhookFilter,
    batch: readonly DueDelivery[],
    remote: RunRemote,
  ): Promise<BatchContents> {
    const messages = new Map<string, Content | null>();
    let since = Infinity;
    const bySubject = Map.groupBy(batch, ({ event_type: type }) => this.events.find(type)?.subject);
    for (const [subject, deliveries] of bySubject) {
      if (!subject) {
        for (const { id, event_type: type, occurred_at: occurredAt, facts } of deliveries)
          messages.set(
            id,
            type === TEST_TYPE
              ? { length: 0, body: () => bodyOf(type, occurredAt, JSON.stringify(facts)) }
              : null,
          );
        continue;
      }
      const read = { subject, ctx, filter, deliveries };
      const group = [ctx.tenantId, ctx.userId, ctx.role, subject.kind, JSON.stringify(filter)].join(' ');
      const found = await (subject.isRemote
        ? remote(() => this.read(read, { since: Date.now(), shown: new Map() }))
        : this.reads.add(group, read));
      since = Math.min(since, found.since);
      for (const delivery of deliveries)
        if (found.shown.has(delivery.id))
          messages.set(delivery.id, messageOf(subject, delivery, found.shown.get(delivery.id)));
    }
    return { since: Math.min(since, Date.now()), contents: [...takeFirst(batch, messages)] };
  }

  /** Reads the objects of deliveries that `objects` lacks, up to the length of a batch. */
  private async read({ subject, ctx, filter, deliveries }: ObjectsRead, objects: Objects): Promise<Objects> {
    const { shown } = objects;
    const missing = deliveries.filter(({ id }) => !shown.has(id));
    for (let n = 0, length = 0; n < missing.length && length < MAX_LENGTH; n += READ_AT_ONCE) {
      const some = missing.slice(n, n + READ_AT_ONCE);
      const facts = some.map((delivery) => delivery.facts);
      const found = await this.events.read(subject, ctx, facts, filter);
      for (const [place, { id, facts }] of some.entries()) {
        const object = shownOf(subject, filter, facts, found[place]);
        shown.set(id, object);
        length += lengthOf(object);
      }
    }
    return objects;
  }
}

/** The messages of the first deliveries, as long as they are in memory together. */
function* takeFirst(
  batch: readonly DueDelivery[],
  messages: ReadonlyMap<string, Content | null>,
): Iterable<Content | null> {
  let length = 0;
  for (const { id } of batch) {
    const content = messages.get(id);
    if (content === undefined || length >= MAX_LENGTH) return;
    length += content?.length ?? 0;
    yield content;
  }
}

function shownOf(
  subject: PublicSubject,
  filter: WebhookFilter,
  facts: Record<string, unknown>,
  found: FoundSubject,
): Shown {
  if (found === undefined || !fits(subject, filter, facts, found)) return undefined;
  const json = typeof found === 'string' ? found : JSON.stringify(found);
  const isOmitted = json.length > MAX_OBJECT;
  return { json: isOmitted ? 'null' : json, isOmitted };
}

const lengthOf = (shown: Shown): number => (shown?.isOmitted ? MAX_OBJECT : (shown?.json.length ?? 0));

function messageOf(
  subject: PublicSubject,
  { event_type: type, facts, occurred_at: occurredAt }: DueDelivery,
  shown: Shown,
): Content | null {
  if (!shown) return null;
  const body = (): string => {
    const members = [
      ...Object.entries(facts).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`),
      `"${subject.kind}":${shown.json}`,
      ...(shown.isOmitted ? ['"omitted":true'] : []),
    ];
    return bodyOf(type, occurredAt, `{${members.join(',')}}`);
  };
  return { length: lengthOf(shown), body };
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
