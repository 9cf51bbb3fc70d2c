import { Injectable } from '@nestjs/common';
import { type XmlAttribute, type XmlElement, XML_NAMESPACE } from '../../../lib/xml/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import {
  type Collection,
  type Collections,
  componentsIn,
  hasCollection,
  isLive,
  type PropertyChanges,
} from '../model/collection.js';
import { DavError } from '../model/body.js';
import { assertRoot, childOf, childrenOf, HEAD, propertyResults, TAIL } from '../model/multistatus.js';
import { caldav, carddav, dav, nameOf, type XmlName } from '../model/xml-names.js';
import { DavPropertyStore } from '../dav-properties.js';

const RESOURCE_TYPE = dav('resourcetype');

/** MKCOL, MKCALENDAR and PROPPATCH. */
@Injectable()
export class CollectionWrites {
  constructor(private readonly store: DavPropertyStore) {}

  /**
   * Creates a calendar, a list of tasks or an address book (RFC 4791, 5.3.1; RFC 5689).
   * @param method MKCALENDAR, or MKCOL with a body that names the type
   * @throws DavError 403, 405, 507 for too many unknown properties; ApiError 422
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
    if (await hasCollection(ctx, collections, segment))
      throw new DavError(405, dav('resource-must-be-null'), 'The collection exists.');
    await this.store.change(ctx, deadIn(properties), async () => {
      await collections.create(ctx, segment, properties);
      return collections.find(ctx, segment);
    });
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
    const known = collections.settable(collection, changes);
    const dead = deadIn(changes);
    const live = new Map([...changes].filter(([name]) => !dead.has(name)));
    const isWhole = live.size === known.size;
    const isKept = isWhole && (await this.isKept(ctx, collections, collection, live, dead));
    const statusOf = (name: XmlName): number => {
      if (isKept) return 200;
      if (!isWhole) return live.has(name) && !known.has(name) ? 403 : 424;
      return dead.has(name) ? 507 : 424;
    };
    const results = new Map([...changes.keys()].map((name) => [name, statusOf(name)]));
    return HEAD + propertyResults(collection.path, results) + TAIL;
  }

  /** Writes properties. @returns false: those without a meaning for the server are more than it keeps */
  private async isKept(
    ctx: RequestContext,
    collections: Collections,
    collection: Collection,
    live: PropertyChanges,
    dead: PropertyChanges,
  ): Promise<boolean> {
    try {
      await this.store.change(ctx, dead, async () => {
        if (live.size > 0) await collections.update(ctx, collection, live);
        return collection;
      });
      return true;
    } catch (error) {
      if (error instanceof DavError && error.status === 507) return false;
      throw error;
    }
  }
}

const deadIn = (changes: PropertyChanges): PropertyChanges =>
  new Map([...changes].filter(([name]) => !isLive(name)));

/** The properties of `set` and `remove` elements. A property is in the language of the elements around it (RFC 4918, 4.3). */
function changesIn(root: XmlElement): PropertyChanges {
  const changes = new Map<XmlName, XmlElement | null>();
  for (const step of root.children)
    for (const prop of childrenOf(step, dav('prop')))
      for (const child of prop.children) {
        const [language] = [child, prop, step, root].flatMap(({ qualified }) => qualified.filter(isLanguage));
        const rest = child.qualified.filter((each) => !isLanguage(each));
        const value = language ? { ...child, qualified: [language, ...rest] } : child;
        changes.set(nameOf(child.space, child.name), step.name === 'remove' ? null : value);
      }
  return changes;
}

const isLanguage = ({ space, name }: XmlAttribute): boolean => space === XML_NAMESPACE && name === 'lang';
