import { Injectable } from '@nestjs/common';
import type { XmlElement } from '../../../lib/xml/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import {
  type Collection,
  type Collections,
  componentsIn,
  type ContentOptions,
  type EtagCheck,
  type PropertyChanges,
  type Stored,
} from '../model/collection.js';
import { caldav, type XmlName } from '../model/xml-names.js';
import { CalendarCollections } from './calendars.js';
import { TaskCollections } from './task-lists.js';

/** The home of calendars: collections of events, and task folders as collections of tasks. */
@Injectable()
export class CalendarHome implements Collections {
  readonly space = 'calendars';
  readonly contentProperty = caldav('calendar-data');

  constructor(
    private readonly calendars: CalendarCollections,
    private readonly tasks: TaskCollections,
  ) {}

  async list(ctx: RequestContext): Promise<Collection[]> {
    const [calendars, lists] = await Promise.all([this.calendars.list(ctx), this.tasks.list(ctx)]);
    const ids = new Set(calendars.map(({ id }) => id));
    return [...calendars, ...lists.filter(({ id }) => !ids.has(id))];
  }

  // Without a memory of calendars: any process may give the id of a deleted one to a task folder.
  async find(ctx: RequestContext, segment: string): Promise<Collection> {
    const tasks = await this.tasks.openIfAny(ctx, segment);
    return (tasks ? this.tasks : this.calendars).find(ctx, segment);
  }

  async open(ctx: RequestContext, segment: string): Promise<Collection> {
    return (await this.tasks.openIfAny(ctx, segment)) ?? this.calendars.open(ctx, segment);
  }

  members(ctx: RequestContext, collection: Collection) {
    return this.of(collection).members(ctx, collection);
  }

  read(ctx: RequestContext, collection: Collection, names: readonly string[], options: ContentOptions) {
    return this.of(collection).read(ctx, collection, names, options);
  }

  query(ctx: RequestContext, collection: Collection, report: XmlElement, options: ContentOptions) {
    return this.of(collection).query(ctx, collection, report, options);
  }

  changes(ctx: RequestContext, collection: Collection, token: string | null, limit: number) {
    return this.of(collection).changes(ctx, collection, token, limit);
  }

  put(
    ctx: RequestContext,
    collection: Collection,
    name: string,
    body: Buffer,
    check: EtagCheck,
  ): Promise<Stored> {
    return this.of(collection).put(ctx, collection, name, body, check);
  }

  remove(
    ctx: RequestContext,
    collection: Collection,
    name: string,
    check: EtagCheck,
    isSilent: boolean,
  ): Promise<void> {
    return this.of(collection).remove(ctx, collection, name, check, isSilent);
  }

  /** A collection of tasks where the properties ask for tasks and not for events. */
  create(ctx: RequestContext, segment: string, properties: PropertyChanges): Promise<void> {
    const components = componentsIn(properties);
    const isTasks = components !== null && !components.includes('VEVENT');
    return (isTasks ? this.tasks : this.calendars).create(ctx, segment, properties);
  }

  settable(collection: Collection, properties: PropertyChanges): Set<XmlName> {
    return this.of(collection).settable(collection, properties);
  }

  update(ctx: RequestContext, collection: Collection, properties: PropertyChanges): Promise<void> {
    return this.of(collection).update(ctx, collection, properties);
  }

  delete(ctx: RequestContext, collection: Collection): Promise<void> {
    return this.of(collection).delete(ctx, collection);
  }

  private of({ kind }: Collection): Collections {
    return kind === 'tasks' ? this.tasks : this.calendars;
  }
}
