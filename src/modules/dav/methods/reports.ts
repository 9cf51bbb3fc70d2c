import { Injectable } from '@nestjs/common';
import type { XmlElement } from '../../../lib/xml/index.js';
import { xmlText } from '../../../lib/xml/index.js';
import { Turns } from '../../../lib/turns/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/http/errors.js';
import { CURSOR_EXPIRED } from '../../../platform/sync/feed.dto.js';
import {
  type Collection,
  type Collections,
  type ContentOptions,
  type Member,
  type MemberChange,
  tokenOf,
  tokenUri,
} from '../model/collection.js';
import { rangeOf } from '../model/filters.js';
import { DavError } from '../model/body.js';
import { childOf, childrenOf, statusResponse, type Wanted, wantedOf } from '../model/multistatus.js';
import { parsePath, paths, pathOfHref } from '../model/paths.js';
import { queryZone } from '../model/time-zones.js';
import { caldav, carddav, dav, element, nameOf, type XmlName } from '../model/xml-names.js';
import { memberResponse } from './propfind.js';

/** Members of one page of a synchronisation. */
const PAGE = 500;
/** Names of one multiget. */
const MAX_NAMES = 5_000;

interface Job {
  ctx: RequestContext;
  collections: Collections;
  collection: Collection;
  report: XmlElement;
  wanted: Wanted;
  options: ContentOptions;
}

/** REPORT on a calendar or an address book. */
@Injectable()
export class Reports {
  /**
   * The responses of a report, in pieces.
   * @param zones false: the program knows the zones (RFC 7809, 4.1)
   * @throws DavError 403 `supported-report`
   */
  responses(
    ctx: RequestContext,
    collections: Collections,
    collection: Collection,
    report: XmlElement,
    { isMinimal, zones }: { isMinimal: boolean; zones: boolean },
  ): AsyncGenerator<string> {
    const wanted = wantedOf(report, isMinimal);
    const options = optionsOf(collections, report, wanted, zones);
    const job = { ctx, collections, collection, report, wanted, options };
    const prefix = collections.space === 'calendars' ? caldav : carddav;
    const kind = collections.space === 'calendars' ? 'calendar' : 'addressbook';
    switch (nameOf(report.space, report.name)) {
      case dav('sync-collection'):
        return synchronised(job);
      case prefix(`${kind}-multiget`):
        return multiget(job);
      case prefix(`${kind}-query`):
        return query(job);
      default:
        throw unsupported();
    }
  }
}

export const unsupported = (): DavError =>
  new DavError(403, dav('supported-report'), 'The resource does not support this report.');

function optionsOf(
  collections: Collections,
  report: XmlElement,
  { kind, names }: Wanted,
  zones: boolean,
): ContentOptions {
  const prop = childOf(report, dav('prop'));
  const data = prop && childrenOf(prop, collections.contentProperty)[0];
  const expand = data && childOf(data, caldav('expand'));
  const range = expand && rangeOf(expand);
  if (range && (range.from === null || range.to === null))
    throw new DavError(400, caldav('valid-calendar-data'), 'expand needs start and end.');
  return {
    isWanted: kind === 'prop' && names.includes(collections.contentProperty),
    zones,
    expand: range as ContentOptions['expand'],
    readerZone: report.name === 'calendar-query' ? queryZone(report) : undefined,
    version: data?.attributes['version'] === '4.0' ? '4.0' : '3.0',
  };
}

async function* multiget({
  ctx,
  collections,
  collection,
  report,
  wanted,
  options,
}: Job): AsyncGenerator<string> {
  const hrefs = childrenOf(report, dav('href')).map(({ text }) => text.trim());
  if (hrefs.length > MAX_NAMES)
    throw new DavError(
      403,
      dav('number-of-matches-within-limits'),
      `At most ${MAX_NAMES} members are read at once.`,
    );
  const missing = new Set<string>();
  const elsewhere: string[] = [];
  const turns = new Turns();
  for (const href of hrefs) {
    await turns.pause();
    const name = nameIn(collections, collection, ctx, href);
    if (name === null) elsewhere.push(href);
    else missing.add(name);
  }
  for await (const page of collections.read(ctx, collection, [...missing], options)) {
    for (const { name } of page) missing.delete(name);
    yield text(collections, collection, page, wanted);
  }
  for (const name of missing) yield statusResponse(paths.member(collection.path, name), 404);
  for (const href of elsewhere) yield statusResponse(href, 404);
}

/** Names whose paths need no escapes. */
const PLAIN_NAME = /^[\w@][\w@.-]*$/;

/** The name of a member in a href; null for a resource elsewhere. */
function nameIn(
  collections: Collections,
  { segment, path: collectionPath }: Collection,
  { userId }: RequestContext,
  href: string,
): string | null {
  if (href.startsWith(collectionPath)) {
    const name = href.slice(collectionPath.length);
    if (PLAIN_NAME.test(name)) return name;
  }
  const path = pathOfHref(href);
  const target = path === null ? null : parsePath(path);
  const isInside =
    target?.kind === 'member' &&
    target.space === collections.space &&
    target.userId === userId &&
    target.segment.toLowerCase() === segment.toLowerCase();
  return isInside ? target.name : null;
}

async function* query({
  ctx,
  collections,
  collection,
  report,
  wanted,
  options,
}: Job): AsyncGenerator<string> {
  const limit = limitOf(report, collections.space === 'calendars' ? caldav('limit') : carddav('limit'));
  let count = 0;
  for await (const page of collections.query(ctx, collection, report, options)) {
    const rest = page.slice(0, limit - count);
    count += rest.length;
    yield text(collections, collection, rest, wanted);
    if (rest.length < page.length) {
      const condition = element(dav('number-of-matches-within-limits'));
      yield statusResponse(collection.path, 507, condition);
      return;
    }
  }
}

/** Changes since a token (RFC 6578). A limit of the program ends the response at a token from which it continues. */
async function* synchronised(job: Job): AsyncGenerator<string> {
  const { ctx, collections, collection, report } = job;
  const uri = childOf(report, dav('sync-token'))?.text.trim() ?? '';
  const token = uri === '' ? null : tokenOf(uri);
  if (uri !== '' && token === null) throw invalidToken();
  const limit = limitOf(report, dav('limit'));
  let next = token;
  let count = 0;
  for (;;) {
    const size = Math.min(PAGE, limit - count);
    const page = await collections.changes(ctx, collection, next, size).catch((error: unknown) => {
      throw error instanceof ApiError && error.kind === CURSOR_EXPIRED ? invalidToken() : error;
    });
    next = page.token;
    count += page.changes.length;
    yield* changeResponses(job, page.changes);
    if (page.hasMore && count >= limit) {
      yield statusResponse(collection.path, 507, element(dav('number-of-matches-within-limits')));
      break;
    }
    if (!page.hasMore) break;
  }
  yield element(dav('sync-token'), xmlText(tokenUri(next ?? '')));
}

async function* changeResponses(
  { ctx, collections, collection, wanted, options }: Job,
  changes: readonly MemberChange[],
): AsyncGenerator<string> {
  const present: Member[] = [];
  let result = '';
  for (const { name, etag, scheduleTag } of changes)
    if (etag === null) result += statusResponse(paths.member(collection.path, name), 404);
    else present.push({ name, etag, scheduleTag });
  const names = present.map(({ name }) => name);
  for await (const page of options.isWanted ? collections.read(ctx, collection, names, options) : [present]) {
    yield result + text(collections, collection, page, wanted);
    result = '';
  }
  yield result;
}

/** 403 `valid-sync-token`: the program starts again without a token. */
const invalidToken = (): DavError =>
  new DavError(403, dav('valid-sync-token'), 'The token is not valid any more.');

function limitOf(report: XmlElement, name: XmlName): number {
  const limit = childOf(report, name);
  const results = limit?.children.find((child) => child.name === 'nresults')?.text.trim() ?? '';
  return /^[1-9]\d{0,8}$/.test(results) ? Number(results) : Number.POSITIVE_INFINITY;
}

function text(
  collections: Collections,
  collection: Collection,
  members: readonly Member[],
  wanted: Wanted,
): string {
  let result = '';
  for (const member of members) result += memberResponse(collections, collection, member, wanted);
  return result;
}
