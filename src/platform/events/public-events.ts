import { Injectable, type Type } from '@nestjs/common';
import type { RequestContext } from '../context/request-context.js';

/** The members of an event that identify its subject and describe the change. Never content. */
export type EventFacts = Readonly<Record<string, unknown>>;

/** The attributes of objects by which events can be filtered. */
export const EVENT_FILTERS = ['form_id', 'room_id', 'calendar_id', 'folder_id'] as const;
export type EventFilter = (typeof EVENT_FILTERS)[number];

/** The objects that some events are about, as programs of others receive them. */
export interface PublicSubject {
  /** Name of the object in the data of an event, e.g. `note`. */
  readonly kind: string;
  /** The class that documents the object. */
  readonly object: Type<object>;
  /** Facts of its events: their schemas, with examples. Other members of the event stay inside. */
  readonly facts: Readonly<Record<string, object>>;
  /** Attributes of the object, or of the facts, by which its events can be filtered. */
  readonly filters?: readonly EventFilter[];
  /**
   * The object as the member may read it now.
   * @param filter the filters of the reader, for an object that several containers show
   * @returns an object, or its JSON; null: the member may know of the event, and the object no longer exists; undefined: the member
   *   may not read the object
   */
  readonly read: (
    ctx: RequestContext,
    facts: EventFacts,
    filter: Readonly<Partial<Record<EventFilter, string>>>,
  ) => Promise<object | string | null | undefined>;
}

/** A type of events of the outbox that programs of others may receive. */
export interface PublicEventType {
  readonly type: string;
  readonly description: string;
  readonly subject: PublicSubject;
}

/** The public part of the events of the outbox. Each domain registers its own. */
@Injectable()
export class PublicEvents {
  private readonly types = new Map<string, PublicEventType>();

  /** Call it in `onModuleInit`. @param descriptions of the types of events, by type */
  register(subject: PublicSubject, descriptions: Readonly<Record<string, string>>): void {
    for (const [type, description] of Object.entries(descriptions)) {
      if (this.types.has(type)) throw new Error(`two public events are named ${type}`);
      this.types.set(type, { type, description, subject });
    }
  }

  find(type: string): PublicEventType | undefined {
    return this.types.get(type);
  }

  /** All types, by name. */
  get all(): PublicEventType[] {
    return [...this.types.values()].toSorted((one, other) => (one.type < other.type ? -1 : 1));
  }

  /** The public facts of an event. */
  factsOf({ subject }: PublicEventType, payload: EventFacts): EventFacts {
    const names = Object.keys(subject.facts).filter((name) => payload[name] !== undefined);
    return Object.fromEntries(names.map((name) => [name, payload[name]]));
  }
}
