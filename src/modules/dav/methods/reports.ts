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
import { type Selector, selectorOf } from '../model/partial-data.js';
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
  /** The part of each text that the program asks for; null: all of it. */
  select: Selector | null;
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
    const prop = childOf(report, dav('prop'));
    const data = prop && childOf(prop, collections.contentProperty);
    const options = optionsOf(collections, report, data, wanted, zones);
    const select = selectorOf(data);
    const job = { ctx, collections, collection, report, wanted, options, select };
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
  data: XmlElement | undefined,
  { kind, names }: Wanted,
  zones: boolean,
): ContentOptions {
  return {
    isWanted: kind === 'prop' && names.includes(collections.contentProperty),
    zones,
    expand: windowIn(data, 'expand'),
    limit: windowIn(data, 'limit-recurrence-set'),
    readerZone: report.name === 'calendar-query' ? queryZone(report) : undefined,
    version: data?.attributes['version'] === '4.0' ? '4.0' : '3.0',
  };
}

/** The window of an element of `calendar-data`. @throws DavError 400 */
function windowIn(data: XmlElement | undefined, name: string): ContentOptions['expand'] {
  const found = data && childOf(data, caldav(name));
  if (!found) return undefined;
  const { from, to } = rangeOf(found);
  if (from === null || to === null)
    throw new DavError(400, caldav('valid-calendar-data'), `${name} needs start and end.`);
  return { from, to };
}

async function* multiget(job: Job): AsyncGenerator<string> {
  const { ctx, collections, collection, report, options } = job;
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
    yield await text(job, page);
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

async function* query(job: Job): AsyncGenerator<string> {
  const { ctx, collections, collection, report, options } = job;
  const limit = limitOf(report, collections.space === 'calendars' ? caldav('limit') : carddav('limit'));
  let count = 0;
  for await (const page of collections.query(ctx, collection, report, options)) {
    const rest = page.slice(0, limit - count);
    count += rest.length;
    yield await text(job, rest);
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

async function* changeResponses(job: Job, changes: readonly MemberChange[]): AsyncGenerator<string> {
  const { ctx, collections, collection, options } = job;
  const present: Member[] = [];
  let result = '';
  for (const { name, etag, scheduleTag } of changes)
    if (etag === null) result += statusResponse(paths.member(collection.path, name), 404);
    else present.push({ name, etag, scheduleTag });
  const names = present.map(({ name }) => name);
  for await (const page of options.isWanted ? collections.read(ctx, collection, names, options) : [present]) {
    yield result + (await text(job, page));
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

async function text(
  { collections, collection, wanted, select }: Job,
  members: readonly Member[],
): Promise<string> {
  let result = '';
  for (const member of members) {
    const { text: whole } = member;
    const shown = select && whole !== undefined ? { ...member, text: await select(whole) } : member;
    result += memberResponse(collections, collection, shown, wanted);
  }
  return result;
}
