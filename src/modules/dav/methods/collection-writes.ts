import { Injectable } from '@nestjs/common';
import type { XmlElement } from '../../../lib/xml/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/http/api-error.js';
import type { Collection, Collections, PropertyChanges } from '../model/collection.js';
import { componentsIn } from '../model/components.js';
import { DavError } from '../model/dav-error.js';
import { assertRoot, childOf, childrenOf, HEAD, propertyResults, TAIL } from '../model/multistatus.js';
import { caldav, carddav, dav, nameOf, type XmlName } from '../model/xml-names.js';

const RESOURCE_TYPE = dav('resourcetype');

/** MKCOL, MKCALENDAR and PROPPATCH. */
@Injectable()
export class CollectionWrites {
  /**
   * Creates a calendar, a list of tasks or an address book (RFC 4791, 5.3.1; RFC 5689).
   * @param method MKCALENDAR, or MKCOL with a body that names the type
   * @throws DavError 403, 405; ApiError 422
   */
  async create(
    ctx: RequestContext,
    collections: Collections,
    segment: string,
    method: string,
    body: XmlElement | null,
  ): Promise<void> {
    const properties = body ? changesIn(body) : new Map<XmlName, XmlElement | null>();
    const kind = collections.space === 'calendars' ? caldav('calendar') : carddav('addressbook');
    const type = properties.get(RESOURCE_TYPE);
    const isOfKind = type ? childOf(type, kind) !== undefined : method === 'MKCALENDAR';
    if (!isOfKind || (method === 'MKCALENDAR' && collections.space !== 'calendars'))
      throw new DavError(
        403,
        dav('valid-resourcetype'),
        'The home contains calendars or address books only.',
      );
    const components = componentsIn(properties);
    if (components && !components.some((name) => name === 'VEVENT' || name === 'VTODO'))
      throw new DavError(403, caldav('supported-calendar-component'), 'A calendar contains events or tasks.');
    if (await exists(ctx, collections, segment))
      throw new DavError(405, dav('resource-must-be-null'), 'The collection exists.');
    await collections.create(ctx, segment, properties);
  }

  /** Sets properties; all of them or none (RFC 4918, 9.2). @returns the body of the response */
  async patch(
    ctx: RequestContext,
    collections: Collections,
    collection: Collection,
    body: XmlElement | null,
  ): Promise<string> {
    if (!body) throw new DavError(400, null, 'The request needs a body.');
    assertRoot(body, 'propertyupdate');
    const changes = changesIn(body);
    const names = [...changes.keys()];
    const known = collections.settable(collection, changes);
    const isWhole = names.every((name) => known.has(name));
    if (isWhole) await collections.update(ctx, collection, changes);
    const results = new Map(names.map((name) => [name, known.has(name) ? (isWhole ? 200 : 424) : 403]));
    return HEAD + propertyResults(collection.path, results) + TAIL;
  }
}

/** The properties of `set` and `remove` elements. */
function changesIn(root: XmlElement): PropertyChanges {
  const changes = new Map<XmlName, XmlElement | null>();
  for (const step of root.children)
    for (const prop of childrenOf(step, dav('prop')))
      for (const child of prop.children)
        changes.set(nameOf(child.space, child.name), step.name === 'remove' ? null : child);
  return changes;
}

async function exists(ctx: RequestContext, collections: Collections, segment: string): Promise<boolean> {
  try {
    await collections.find(ctx, segment);
    return true;
  } catch (error) {
    const status =
      error instanceof DavError ? error.status : error instanceof ApiError ? error.kind.status : 0;
    if (status === 404) return false;
    throw error;
  }
}
