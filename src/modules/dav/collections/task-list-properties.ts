import type { RequestContext } from '../../../platform/context/request-context.js';
import type { TaskFolderResponse } from '../../tasks/index.js';
import type { Collection, PropertyChanges } from '../model/collection.js';
import { collectionProperties, privileges, reports } from '../model/common-properties.js';
import { COLLATIONS } from '../model/filter-support.js';
import type { PropertyValue } from '../model/multistatus.js';
import { paths } from '../model/paths.js';
import { apple, caldav, dav, element, type XmlName } from '../model/xml-names.js';

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

/** A task folder as a collection. @param segment of its path in this request @param place among the calendars of the caller @param token of its present state */
export function shownTasks(
  ctx: RequestContext,
  folder: TaskFolderResponse,
  segment: string,
  place: number | undefined,
  token: () => Promise<string>,
): Collection {
  const isWritable = folder.role !== 'viewer';
  const properties: [XmlName, PropertyValue][] = [
    ...collectionProperties({ name: folder.name, ownerId: folder.owner.id, userId: ctx.userId }, token),
    [dav('resourcetype'), '<D:collection/><C:calendar/>'],
    [dav('current-user-privilege-set'), privileges(isWritable)],
    [dav('supported-report-set'), REPORTS],
    ...(folder.color === null ? [] : ([[COLOR, folder.color]] as [XmlName, string][])),
    ...(place === undefined ? [] : ([[ORDER, String(place)]] as [XmlName, string][])),
    [caldav('supported-calendar-component-set'), COMPONENTS],
    [caldav('supported-calendar-data'), DATA],
    [caldav('supported-collation-set'), COLLATION_SET],
    [caldav('max-resource-size'), String(MAX_TASK)],
    [caldav('schedule-calendar-transp'), '<C:transparent/>'],
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
