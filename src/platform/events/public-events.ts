import { Injectable, type Type } from '@nestjs/common';
import type { RequestContext } from '../context/request-context.js';
import { workspace } from '../database/statement.js';
import type { Tx } from '../database/tx.js';
import { inParallel } from '../jobs/claim-loop.js';

/** The members of an event that identify its subject and describe the change. They never contain content. */
export type EventFacts = Readonly<Record<string, unknown>>;

/** The attributes of objects by which events can be filtered. */
export const EVENT_FILTERS = ['form_id', 'room_id', 'calendar_id', 'folder_id', 'addressbook_id'] as const;
export type EventFilter = (typeof EVENT_FILTERS)[number];

/** The objects that some events are about, as programs of others receive them. */
export interface PublicSubject {
  /** Name of the object in the data of an event, e.g. `note`. */
  readonly kind: string;
  /** The class that documents the object. */
  readonly object: Type<object>;
  /** Facts of its events: their schemas, with examples. Other members of the event stay inside. */
  readonly facts: Readonly<
    Record<string, { readonly example: unknown; readonly [keyword: string]: unknown }>
  >;
  /** Attributes of the object, or of the facts, by which its events can be filtered. */
  readonly filters?: readonly EventFilter[];
  /** Appended only in workspaces with an interest in the type (`EventInterests`). */
  readonly isFrequent?: boolean;
  /** The fact with the user whose data these are: only this user receives the events, in webhooks of scope `user`. */
  readonly owner?: string;
  /** Objects are read from another service, which may respond slowly or not at all. */
  readonly isRemote?: boolean;
}

/** A type of events of the outbox that programs of others may receive. */
export interface PublicEventType {
  readonly type: string;
  readonly description: string;
  readonly subject: PublicSubject;
}

export type EventFilterValues = Readonly<Partial<Record<EventFilter, string>>>;

/** An object, or its JSON; null: it no longer exists, and the member may know of the event; undefined: the member may not read it. */
export type FoundSubject = object | string | null | undefined;

/**
 * The object of an event as the member may read it now.
 * @param filter the filters of the reader, for an object that several containers show
 */
type SubjectReader = (
  ctx: RequestContext,
  facts: EventFacts,
  filter: EventFilterValues,
) => Promise<FoundSubject>;

/** Reads the objects of several events at once, in their order. */
type SubjectsReader = (
  ctx: RequestContext,
  facts: readonly EventFacts[],
  filter: EventFilterValues,
) => Promise<FoundSubject[]>;

/** Whether the member may read the object with the id, by which events are filtered. */
type FilterCheck = (ctx: RequestContext, id: string) => Promise<boolean>;

const declared = new Map<string, PublicEventType>();

/** The public events of all domains, by name. */
export const publicEventTypes = (): PublicEventType[] =>
  [...declared.values()].toSorted((one, other) => (one.type < other.type ? -1 : 1));

/**
 * Declares the public events of a domain about one kind of objects.
 * @param descriptions of the types of events, by type
 */
export function publicEvents(
  subject: PublicSubject,
  descriptions: Readonly<Record<string, string>>,
): PublicSubject {
  for (const [type, description] of Object.entries(descriptions)) {
    if (declared.has(type)) throw new Error(`two public events are named ${type}`);
    declared.set(type, { type, description, subject });
  }
  return subject;
}

/** Objects without a statement for several that one call reads at the same time: jobs have few connections. */
const PARALLEL_READS = 4;

/** Reads the objects of public events. Each domain registers a reader for its own. */
@Injectable()
export class PublicEvents {
  private readonly readers = new Map<PublicSubject, { one: SubjectReader } | { many: SubjectsReader }>();
  private readonly filters = new Map<EventFilter, FilterCheck>();

  /** Call it in `onModuleInit`. @param reader `many` where one statement reads several objects */
  register(subject: PublicSubject, reader: { one: SubjectReader } | { many: SubjectsReader }): void {
    this.readers.set(subject, reader);
  }

  /** Call it in `onModuleInit`, in the domain of the object that the filter names. */
  registerFilter(filter: EventFilter, check: FilterCheck): void {
    this.filters.set(filter, check);
  }

  /** Whether the member may read the object by which events are filtered. False also for an unknown one. */
  async isReadable(ctx: RequestContext, filter: EventFilter, id: string): Promise<boolean> {
    return (await this.filters.get(filter)?.(ctx, id)) ?? false;
  }

  /** Undefined means no public event. */
  find(type: string): PublicEventType | undefined {
    return declared.get(type);
  }

  /** The public facts of an event. */
  factsOf({ subject }: PublicEventType, payload: EventFacts): EventFacts {
    const names = Object.keys(subject.facts).filter((name) => payload[name] !== undefined);
    return Object.fromEntries(names.map((name) => [name, payload[name]]));
  }

  /** The objects of events about subjects of one kind, in their order. */
  async read(
    subject: PublicSubject,
    ctx: RequestContext,
    facts: readonly EventFacts[],
    filter: EventFilterValues,
  ): Promise<FoundSubject[]> {
    const reader = this.readers.get(subject);
    if (!reader) return [];
    if ('many' in reader) return reader.many(ctx, facts, filter);
    const found: FoundSubject[] = [];
    await inParallel(facts.entries(), PARALLEL_READS, async ([n, each]) => {
      found[n] = await reader.one(ctx, each, filter);
    });
    return found;
  }
}

/** Schemas of facts that many events have. */
export const FACTS = {
  revision: { type: 'integer', minimum: 1, example: 3 },
  /** The user who caused the event; null: the service. */
  user: { type: ['string', 'null'], format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' },
  id: { type: 'string', format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' },
} as const;

/** An interest in events of a type: of the whole workspace, or of one user. */
export interface EventInterest {
  type: string;
  userId: string | null;
}

const set = workspace.statement<never>(
  'event_interests.set',
  `WITH ended AS (
     DELETE FROM event_interests WHERE tenant_id = $1 AND holder = $2 AND type <> ALL ($3::text[]))
   INSERT INTO event_interests AS known (tenant_id, type, holder, user_id)
   SELECT $1, wanted.type, $2, wanted.user_id FROM unnest($3::text[], $4::uuid[]) AS wanted (type, user_id)
   ON CONFLICT (tenant_id, type, holder) DO UPDATE SET user_id = excluded.user_id, created_at = now()
    WHERE known.user_id IS DISTINCT FROM excluded.user_id`,
);

/**
 * Events that are frequent, such as messages, are appended only in workspaces with an interest in their type
 * (`append_if_wanted`), those of the data of one user only for the users that the interest names.
 */
@Injectable()
export class EventInterests {
  /** Replaces the interests of a holder. @param holder e.g. the id of a webhook */
  async set(tx: Tx, tenantId: string, holder: string, interests: readonly EventInterest[]): Promise<void> {
    const types = interests.map(({ type }) => type);
    await tx.query(set, [tenantId, holder, types, interests.map(({ userId }) => userId)]);
  }
}
