import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { type XmlElement, xmlText } from '../../../lib/xml/index.js';
import {
  type Collection,
  type Collections,
  type DeadProperties,
  isLive,
  type Member,
} from '../model/collection.js';
import { DavError, notFound } from '../model/body.js';
import {
  assertRoot,
  type Properties,
  type PropertyValue,
  responseOf,
  type Wanted,
  wantedOf,
} from '../model/multistatus.js';
import { paths, type Target } from '../model/paths.js';
import { caldav, dav, type XmlName } from '../model/xml-names.js';
import { DavPropertyStore } from '../dav-properties.js';
import { Principals } from './principals.js';

/** Collections whose unknown properties, 32 KiB each, are read at once. */
const BATCH = 50;

export type Depth = '0' | '1';

const ETAG = dav('getetag');
const SCHEDULE_TAG = caldav('schedule-tag');
const CONTENT_TYPE = dav('getcontenttype');
const RESOURCE_TYPE = dav('resourcetype');
const CONTENT_LENGTH = dav('getcontentlength');

/** The properties of a member. */
export function memberProperties(
  collections: Collections,
  { contentType }: Collection,
  { etag, scheduleTag, text }: Member,
): Properties {
  const properties = new Map<XmlName, PropertyValue>([
    [ETAG, xmlText(etag)],
    [CONTENT_TYPE, contentType],
    [RESOURCE_TYPE, ''],
  ]);
  if (scheduleTag !== undefined) properties.set(SCHEDULE_TAG, xmlText(scheduleTag));
  if (text === undefined) return properties;
  return properties
    .set(CONTENT_LENGTH, () => String(Buffer.byteLength(text)))
    .set(collections.contentProperty, () => xmlText(text));
}

/** PROPFIND (RFC 4918, 9.1). */
@Injectable()
export class Propfind {
  constructor(
    private readonly principals: Principals,
    private readonly store: DavPropertyStore,
  ) {}

  /** @param body null: all properties */
  wanted(body: XmlElement | null, isMinimal: boolean): Wanted {
    if (!body) return { kind: 'allprop', names: [], isMinimal };
    assertRoot(body, 'propfind');
    return wantedOf(body, isMinimal);
  }

  /** The responses of a target and, with depth 1, of what it contains. @throws DavError 404; ApiError 404 */
  async *responses(
    ctx: RequestContext,
    target: Target,
    depth: Depth,
    wanted: Wanted,
    collectionsOf: (space: 'calendars' | 'addressbooks') => Collections,
  ): AsyncGenerator<string> {
    switch (target.kind) {
      case 'root':
        yield responseOf(paths.root, this.principals.root(ctx), wanted);
        if (depth === '1') yield responseOf(paths.principals, this.principals.all(ctx), wanted);
        return;
      case 'principals':
        yield responseOf(paths.principals, this.principals.all(ctx), wanted);
        if (depth === '1') yield await this.principal(ctx, ctx.userId, wanted);
        return;
      case 'principal':
        yield await this.principal(ctx, target.userId, wanted);
        return;
      default:
    }
    if (target.userId !== ctx.userId) throw notFound();
    switch (target.kind) {
      case 'home': {
        const list = depth === '1' ? await collectionsOf(target.space).list(ctx) : [];
        const path = paths.home(target.space, ctx.userId);
        let text = responseOf(path, this.principals.home(target.space, ctx), wanted);
        if (depth === '1' && target.space === 'calendars') {
          text += responseOf(`${path}inbox/`, this.principals.inbox(ctx, null), wanted);
          text += responseOf(`${path}outbox/`, this.principals.outbox(ctx), wanted);
        }
        for (let at = 0; at < list.length; at += BATCH) {
          yield text + (await this.collections(ctx, list.slice(at, at + BATCH), wanted));
          text = '';
        }
        yield text;
        return;
      }
      case 'inbox':
      case 'outbox': {
        const path = `${paths.home('calendars', ctx.userId)}${target.kind}/`;
        const properties =
          target.kind === 'outbox'
            ? this.principals.outbox(ctx)
            : this.principals.inbox(ctx, await defaultPath(ctx, collectionsOf('calendars')));
        yield responseOf(path, properties, wanted);
        return;
      }
      case 'collection': {
        const collections = collectionsOf(target.space);
        const collection = await collections.find(ctx, target.segment);
        yield await this.collections(ctx, [collection], wanted);
        if (depth === '1') yield* memberResponses(ctx, collections, collection, wanted);
        return;
      }
      case 'member': {
        const collections = collectionsOf(target.space);
        const collection = await collections.find(ctx, target.segment);
        const member = await single(ctx, collections, collection, target.name);
        yield memberResponse(collections, collection, member, wanted);
      }
    }
  }

  private async collections(
    ctx: RequestContext,
    page: readonly Collection[],
    wanted: Wanted,
  ): Promise<string> {
    const asksForDead = wanted.kind !== 'prop' || wanted.names.some((name) => !isLive(name));
    const ids = asksForDead ? page.map(({ id }) => id) : [];
    const dead = await this.store.of(ctx, ids);
    let text = '';
    for (const { id, path, properties } of page)
      text += responseOf(path, withDead(properties, dead.get(id)), wanted);
    return text;
  }

  private async principal(ctx: RequestContext, userId: string, wanted: Wanted): Promise<string> {
    return responseOf(paths.principal(userId), await this.principals.principal(ctx, userId), wanted);
  }
}

/** The properties of a collection with those that programs keep on the server. */
function withDead(properties: Properties, dead: DeadProperties | undefined): Properties {
  if (!dead) return properties;
  const own = Object.entries(dead).map(([name, xml]) => [name, { element: xml }] as const);
  return new Map<XmlName, PropertyValue>([...properties, ...own]);
}

/** The content as programs of any kind read it. */
const USUAL = { isWanted: true, zones: true, version: '3.0' } as const;

/** A member with its content. @throws DavError 404 */
export async function single(
  ctx: RequestContext,
  collections: Collections,
  collection: Collection,
  name: string,
  options: Parameters<Collections['read']>[3] = USUAL,
): Promise<Member & { text: string }> {
  for await (const page of collections.read(ctx, collection, [name], options))
    for (const member of page) if (member.text !== undefined) return { ...member, text: member.text };
  throw notFound();
}

export const memberResponse = (
  collections: Collections,
  collection: Collection,
  member: Member,
  wanted: Wanted,
): string =>
  responseOf(
    paths.member(collection.path, member.name),
    memberProperties(collections, collection, member),
    wanted,
  );

async function* memberResponses(
  ctx: RequestContext,
  collections: Collections,
  collection: Collection,
  wanted: Wanted,
): AsyncGenerator<string> {
  for await (const page of collections.members(ctx, collection)) {
    let text = '';
    for (const member of page) text += memberResponse(collections, collection, member, wanted);
    yield text;
  }
}

/** The path of the default calendar. */
async function defaultPath(ctx: RequestContext, calendars: Collections): Promise<string | null> {
  return (await calendars.list(ctx)).find(({ isDefault }) => isDefault)?.path ?? null;
}

/** The Depth header. @throws DavError 403 for infinity (RFC 4918, 9.1.1), 400 */
export function depthOf(header: string | undefined): Depth {
  if (header === '0' || header === '1') return header;
  if (header !== undefined && header.toLowerCase() !== 'infinity')
    throw new DavError(400, null, 'Depth must be 0 or 1.');
  throw new DavError(403, dav('propfind-finite-depth'), 'Depth must be 0 or 1.');
}
