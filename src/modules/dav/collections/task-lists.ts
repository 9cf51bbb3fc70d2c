import { Injectable } from '@nestjs/common';
import { v5 as uuidv5 } from 'uuid';
import type { XmlElement } from '../../../lib/xml/index.js';
import { ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/http/errors.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { Checked, validated } from '../../../platform/http/input.pipe.js';
import {
  CreateTaskFolder,
  mayWrite,
  type TaskFolderResponse,
  TaskFoldersService,
  TaskResources,
  TaskResourceWrites,
  TaskUidConflict,
  TODO_PROBLEMS,
  UpdateTaskFolder,
} from '../../tasks/index.js';
import { DavNames } from '../dav-names.js';
import { DavError, isMissing, notFound } from '../model/body.js';
import {
  type Collection,
  collectionProperties,
  type Collections,
  type ContentOptions,
  type EtagCheck,
  type Member,
  privileges,
  type PropertyChanges,
  reports,
  type Stored,
} from '../model/collection.js';
import { calendarFilterOf, COLLATIONS, matchesComponents } from '../model/filters.js';
import { childOf, type PropertyValue } from '../model/multistatus.js';
import { paths } from '../model/paths.js';
import { apple, caldav, dav, element, href, type XmlName } from '../model/xml-names.js';

const COLOR = apple('calendar-color');
const ORDER = apple('calendar-order');
const NAME = dav('displayname');

/** Bytes of a task with what a program stores of it. */
export const MAX_TASK = 256 * 1024;
export const TASK_TYPE = 'text/calendar; charset=utf-8; component=VTODO';

const COMPONENTS = '<C:comp name="VTODO"/>';
const DATA = '<C:calendar-data content-type="text/calendar" version="2.0"/>';
const COLLATION_SET = COLLATIONS.map((name) => element(caldav('supported-collation'), name)).join('');
const REPORTS = reports([dav('sync-collection'), caldav('calendar-multiget'), caldav('calendar-query')]);

/** The fields of the API that properties set, and the place of the list; undefined: it stays. */
export function taskFieldsOf(properties: PropertyChanges): {
  values: Record<string, unknown>;
  order: number | null | undefined;
  names: Set<XmlName>;
} {
  const values: Record<string, unknown> = {};
  let order: number | null | undefined;
  const names = new Set<XmlName>();
  for (const [name, value] of properties) {
    const text = value?.text.trim() ?? '';
    if (name === NAME && text) values['name'] = text;
    else if (name === COLOR && text === '') values['color'] = null;
    // Programs of Apple write #rrggbbaa.
    else if (name === COLOR && /^#[0-9a-f]{6}/i.test(text)) values['color'] = text.slice(0, 7);
    else if (name === ORDER && (text === '' || Number.isFinite(Number(text))))
      order = text === '' ? null : Number(text);
    else continue;
    names.add(name);
  }
  return { values, order, names };
}

const PRIVILEGES = dav('current-user-privilege-set');
const [OF_WRITERS, OF_READERS] = [privileges(true), privileges(false)];

/** The properties that all lists share. */
const FIXED: [XmlName, PropertyValue][] = [
  [dav('resourcetype'), '<D:collection/><C:calendar/>'],
  [dav('supported-report-set'), REPORTS],
  [caldav('supported-calendar-component-set'), COMPONENTS],
  [caldav('supported-calendar-data'), DATA],
  [caldav('supported-collation-set'), COLLATION_SET],
  [caldav('max-resource-size'), String(MAX_TASK)],
  [caldav('schedule-calendar-transp'), '<C:transparent/>'],
];

/** A task folder as a collection. @param segment of its path in this request @param place among the calendars of the caller @param token of its present state */
export function shownTasks(
  ctx: RequestContext,
  folder: TaskFolderResponse,
  segment: string,
  place: number | undefined,
  token: () => string,
): Collection {
  const isWritable = folder.role !== 'viewer';
  const properties: [XmlName, PropertyValue][] = [
    ...collectionProperties({ name: folder.name, ownerId: folder.owner.id, userId: ctx.userId }, token),
    ...FIXED,
    [PRIVILEGES, isWritable ? OF_WRITERS : OF_READERS],
    ...(folder.color === null ? [] : ([[COLOR, folder.color]] as [XmlName, string][])),
    ...(place === undefined ? [] : ([[ORDER, String(place)]] as [XmlName, string][])),
  ];
  return {
    id: folder.id,
    kind: 'tasks',
    contentType: TASK_TYPE,
    segment,
    path: paths.collection('calendars', ctx.userId, segment),
    properties: new Map(properties),
    isWritable,
    isDefault: false,
  };
}

const PAGE = 200;
const NO_CONFLICT = caldav('no-uid-conflict');

/** Task folders as collections of tasks. */
@Injectable()
export class TaskCollections implements Collections {
  readonly space = 'calendars';
  readonly contentProperty = caldav('calendar-data');

  constructor(
    private readonly folders: TaskFoldersService,
    private readonly tasks: TaskResources,
    private readonly writes: TaskResourceWrites,
    private readonly names: DavNames,
  ) {}

  async list(ctx: RequestContext): Promise<Collection[]> {
    const found: TaskFolderResponse[] = [];
    let cursor: string | undefined;
    do {
      const { json } = await this.folders.list(ctx, {
        limit: PAGE,
        ...(cursor !== undefined && { cursor }),
      });
      const page = JSON.parse(json.toString()) as { folders: TaskFolderResponse[]; next: string | null };
      found.push(...page.folders);
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    return this.presentLists(
      ctx,
      found.map((folder) => ({ folder, segment: folder.id })),
    );
  }

  async find(ctx: RequestContext, segment: string): Promise<Collection> {
    const { id } = await this.open(ctx, segment);
    const { json } = await this.folders.read(ctx, id);
    const { folder } = JSON.parse(json.toString()) as { folder: TaskFolderResponse };
    const [collection] = await this.presentLists(ctx, [{ folder, segment }]);
    return collection as Collection;
  }

  async open(ctx: RequestContext, segment: string): Promise<Collection> {
    const found = await this.openIfAny(ctx, segment);
    if (!found) throw notFound();
    return found;
  }

  /** As `open`; null where the caller sees no task folder at this segment. */
  async openIfAny(ctx: RequestContext, segment: string): Promise<Collection | null> {
    const opened = await this.tasks.openIfAny(ctx, idsOf(ctx, segment));
    if (!opened) return null;
    const { id, role, head } = opened;
    const path = paths.collection('calendars', ctx.userId, segment);
    const rest = { properties: new Map(), isWritable: mayWrite(role), isDefault: false };
    return { id, kind: 'tasks', contentType: TASK_TYPE, segment, path, head, ...rest };
  }

  async *members(ctx: RequestContext, { id }: Collection): AsyncGenerator<Member[]> {
    for await (const page of this.tasks.names(ctx, id)) yield this.named(ctx, id, page);
  }

  async *read(
    ctx: RequestContext,
    { id }: Collection,
    names: readonly string[],
    options: ContentOptions,
  ): AsyncGenerator<Member[]> {
    const own = await this.names.resolve(ctx.tenantId, id, names);
    for await (const page of this.tasks.ofIds(ctx, id, [...own.keys()].filter(isTaskId), options))
      yield page.map(({ id: taskId, etag, text }) => ({ name: own.get(taskId) as string, etag, text }));
  }

  async *query(
    ctx: RequestContext,
    { id }: Collection,
    report: XmlElement,
    options: ContentOptions,
  ): AsyncGenerator<Member[]> {
    const { hasMembers, range, rest } = calendarFilterOf(childOf(report, caldav('filter')), 'VTODO');
    if (!hasMembers) return;
    for await (const page of this.tasks.occurring(ctx, id, range, options)) {
      const found = rest ? page.filter(({ text }) => matchesComponents(rest, text, 'VTODO')) : page;
      yield this.named(ctx, id, found);
    }
  }

  async changes(ctx: RequestContext, { id, head }: Collection, token: string | null, limit: number) {
    const { changes, ...rest } = await this.tasks.changes(ctx, id, token, limit, head);
    const ids = changes.map((change) => change.id);
    const names = await this.names.namesOf(ctx.tenantId, id, ids);
    const named = changes.map((change) => ({ name: names.get(change.id) as string, etag: change.etag }));
    return { ...rest, changes: named };
  }

  async put(
    ctx: RequestContext,
    collection: Collection,
    name: string,
    body: Buffer,
    check: EtagCheck,
  ): Promise<Stored> {
    if (body.length > MAX_TASK)
      throw new DavError(403, caldav('max-resource-size'), `A task has at most ${MAX_TASK} bytes.`);
    const { id } = collection;
    const write = async (known: string | null): Promise<Stored> => {
      if (known === null)
        await this.writes.create(ctx, id, body, check, (tx, taskId) =>
          this.names.keep(tx, ctx.tenantId, id, name, taskId),
        );
      else await this.writes.update(ctx, id, known, body, check);
      return { isNew: known === null };
    };
    const known = await this.knownId(ctx, id, name);
    try {
      return await write(known).catch(async (error: unknown) => {
        // Another request may have created the task under this name, or removed it.
        const isOvertaken = known === null ? error instanceof TaskUidConflict : isMissing(error);
        const changed = isOvertaken ? await this.knownId(ctx, id, name) : known;
        if ((changed === null) === (known === null)) throw error;
        return write(changed);
      });
    } catch (error) {
      throw error instanceof TaskUidConflict
        ? await this.uidConflict(ctx, collection, name, error.uid)
        : asDavError(error);
    }
  }

  async remove(ctx: RequestContext, { id }: Collection, name: string, check: EtagCheck): Promise<void> {
    const taskId = await this.knownId(ctx, id, name);
    if (taskId === null) throw notFound();
    await this.writes.remove(ctx, id, taskId, check);
  }

  async create(ctx: RequestContext, segment: string, properties: PropertyChanges): Promise<void> {
    const { values, order } = taskFieldsOf(properties);
    // Another request may have made the list: its id is rejected.
    const id = await this.tasks.newFolderId(ctx, idsOf(ctx, segment));
    await this.folders.create(ctx, null, validated(CreateTaskFolder, { name: segment, ...values, id }));
    if (order !== undefined) await this.tasks.setOrder(ctx, id, order);
  }

  settable(_collection: Collection, properties: PropertyChanges): Set<XmlName> {
    return taskFieldsOf(properties).names;
  }

  async update(ctx: RequestContext, { id }: Collection, properties: PropertyChanges): Promise<void> {
    const { values, order } = taskFieldsOf(properties);
    // The place is one of the caller, whatever their role; the folder rejects the other properties first.
    if (Object.keys(values).length > 0)
      await this.folders.update(ctx, id, Checked.of(UpdateTaskFolder, values), anyRevision(id));
    if (order !== undefined) await this.tasks.setOrder(ctx, id, order);
  }

  /** The caller's own tasks in the folder go to the trash. */
  async delete(ctx: RequestContext, { id }: Collection): Promise<void> {
    await this.folders.delete(ctx, id, anyRevision(id), { contents: 'delete' });
  }

  private async presentLists(
    ctx: RequestContext,
    lists: readonly { folder: TaskFolderResponse; segment: string }[],
  ): Promise<Collection[]> {
    const { head, orders } = await this.tasks.places(ctx);
    return lists.map(({ folder, segment }) =>
      shownTasks(ctx, folder, segment, orders.get(folder.id), () => this.tasks.token(ctx, folder.id, head)),
    );
  }

  /** The task with this name; null: the folder shows none. */
  private async knownId(ctx: RequestContext, folderId: string, name: string): Promise<string | null> {
    const id = await this.names.uidOf(ctx.tenantId, folderId, name);
    return id !== null && isTaskId(id) && (await this.writes.contains(ctx, folderId, id)) ? id : null;
  }

  /** The error with the path of the task that has the UID; otherwise of the one that another task would replace. */
  private async uidConflict(
    ctx: RequestContext,
    { id, path }: Collection,
    name: string,
    uid: string,
  ): Promise<DavError> {
    const taskId = await this.writes.idOfUid(ctx, id, uid);
    const own =
      taskId === null ? undefined : (await this.names.namesOf(ctx.tenantId, id, [taskId])).get(taskId);
    const message = 'The list contains a task with this UID, or this path one with another UID.';
    return new DavError(409, NO_CONFLICT, message, href(paths.member(path, own ?? name)));
  }

  private async named(
    ctx: RequestContext,
    folderId: string,
    page: readonly { id: string; etag: string; text?: string }[],
  ): Promise<Member[]> {
    const ids = page.map(({ id }) => id);
    const names = await this.names.namesOf(ctx.tenantId, folderId, ids);
    return page.map(({ id, etag, text }) => ({
      name: names.get(id) as string,
      etag,
      ...(text !== undefined && { text }),
    }));
  }
}

/** A name in a path is case-sensitive: in capitals, the id of a task is another name. */
const isTaskId = (uid: string): boolean => isUuid(uid) && uid === uid.toLowerCase();

const anyRevision = (id: string): ExpectedRevision =>
  ExpectedRevision.read('task_folder', id, undefined, undefined, true);

/** Conditions of RFC 4791, 5.3.2.1; another error of a field: the text is no task that the list can have. */
const CONDITIONS: Readonly<Record<string, XmlName>> = {
  [TODO_PROBLEMS.unsupportedComponent]: caldav('supported-calendar-component'),
  no_calendar: caldav('valid-calendar-data'),
  truncated: caldav('valid-calendar-data'),
  too_large: caldav('valid-calendar-data'),
  invalid_value: caldav('valid-calendar-data'),
  unknown_time_zone: caldav('valid-calendar-data'),
};

function asDavError(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.kind.status !== 422) return error;
  const { code = '', message = error.message } = error.extras.details?.[0] ?? {};
  return new DavError(403, CONDITIONS[code] ?? caldav('valid-calendar-object-resource'), message);
}

/** Lists that a program makes under one name and deletes, while the feed keeps the removals. */
const MAX_MADE = 16;

/**
 * The ids that the folder of a segment may have: the segment, or those that follow from a name that a program chose. A deleted folder keeps its
 * id for the feed, so the next list of the name gets another one.
 */
function idsOf({ userId }: RequestContext, segment: string): [string, ...string[]] {
  const name = segment.toLowerCase();
  if (isUuid(segment)) return [name];
  const made = (times: number) => uuidv5(`task folder${times === 0 ? '' : `\n${times}`} ${name}`, userId);
  return [made(0), ...Array.from({ length: MAX_MADE - 1 }, (_, index) => made(index + 1))];
}
