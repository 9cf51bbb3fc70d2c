import { setImmediate as endOfTurn } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { type XmlElement, XmlError } from '../../lib/xml/index.js';
import { TurnGuard } from '../../platform/context/turn.guard.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { ClientDisconnectedError } from '../../platform/http/abort-signal.js';
import { ApiError } from '../../platform/http/errors.js';
import { BodyReply } from '../../platform/http/replies/body-reply.js';
import { writeBody, writeTexts } from '../../platform/http/replies/reply-writer.js';
import { ApplicationPasswordProviders } from '../account-security/index.js';
import { DavAuthenticator, type DavCaller } from './auth/dav-authenticator.js';
import { AddressbookCollections } from './collections/addressbooks.js';
import { CalendarHome } from './collections/calendar-home.js';
import { CollectionWrites } from './methods/collection-writes.js';
import { PrincipalSearch, searchProperties } from './methods/principals.js';
import { depthOf, Propfind, single } from './methods/propfind.js';
import { Reports } from './methods/reports.js';
import { Scheduling } from './methods/scheduling.js';
import {
  DavError,
  forbidden,
  isMissing,
  notFound,
  readResource,
  readXmlBody,
  utf8Of,
  xmlError,
} from './model/body.js';
import { type Collection, type Collections, hasCollection, type Stored } from './model/collection.js';
import { assertIf, assertMatch, isUnchanged, preconditionsOf } from './model/conditions.js';
import { rangeOf } from './model/filters.js';
import { childOf, HEAD, TAIL } from './model/multistatus.js';
import { DAV_PATH, parentOf, parsePath, paths, type Space, type Target } from './model/paths.js';
import { caldav, dav, DECLARATIONS, nameOf, XML_HEAD } from './model/xml-names.js';
import { SyncStates } from './sync-states.js';

/** The value of the DAV header: classes and extensions that the server supports. */
export const DAV_CLASSES =
  '1, 3, access-control, extended-mkcol, calendar-access, calendar-auto-schedule, calendar-no-timezone, addressbook';

export const METHODS = [
  'OPTIONS',
  'GET',
  'HEAD',
  'PUT',
  'DELETE',
  'POST',
  'PROPFIND',
  'PROPPATCH',
  'REPORT',
  'MKCOL',
  'MKCALENDAR',
] as const;

export const XML_TYPE = 'application/xml; charset=utf-8';

/** The operation of the API that is below the same path. */
export const PROFILE_PATH = `${DAV_PATH}/profile`;

/** Paths at which programs look for the server (RFC 6764). */
export const WELL_KNOWN = ['/.well-known/caldav', '/.well-known/carddav'] as const;

/** `ctx`: the caller, whose share of limited resources the request counts for. */
type DavRequest = Request & { id?: string; ctx?: RequestContext };

type Member = Extract<Target, { kind: 'member' }>;

/** A request of a caller. */
interface Job extends DavCaller {
  request: DavRequest;
  response: Response;
  target: Target;
}

/** Serves WebDAV, CalDAV and CardDAV below `DAV_PATH`: an Express handler in front of the routes of the API. */
@Injectable()
export class DavServer implements OnModuleInit {
  private readonly collections: Readonly<Record<Space, Collections>>;

  constructor(
    private readonly authenticator: DavAuthenticator,
    private readonly propfind: Propfind,
    private readonly reports: Reports,
    private readonly scheduling: Scheduling,
    private readonly search: PrincipalSearch,
    private readonly writes: CollectionWrites,
    private readonly states: SyncStates,
    private readonly passwords: ApplicationPasswordProviders,
    private readonly turns: TurnGuard,
    calendars: CalendarHome,
    addressbooks: AddressbookCollections,
  ) {
    this.collections = { calendars, addressbooks };
  }

  onModuleInit(): void {
    this.passwords.serve('caldav', 'carddav');
  }

  /** Redirects `/.well-known/caldav` and `/.well-known/carddav` (RFC 6764, section 5). */
  readonly redirect = (_request: Request, response: Response): void => {
    response.redirect(301, paths.root);
  };

  /** Express handler for `DAV_PATH`. */
  readonly handle = (request: DavRequest, response: Response, next: NextFunction): void => {
    const path = request.originalUrl.split('?', 1)[0] as string;
    if (path === PROFILE_PATH) return next();
    const target = parsePath(path);
    // Path without ids, for metrics and log.
    request.route = { path: `${paths.root}{${target?.kind ?? 'unknown'}}` };
    this.serve(request, response, path, target).catch((error: unknown) => fail(error, response, next));
  };

  private async serve(
    request: DavRequest,
    response: Response,
    path: string,
    target: Target | null,
  ): Promise<void> {
    const caller = await this.authenticator.authenticate(request);
    request.ctx = caller.ctx;
    await this.turns.begin(response);
    if (request.method === 'OPTIONS') return send(response, 200, { Allow: METHODS.join(', ') });
    if (target === null) throw CREATING.has(request.method) ? notCreated(path) : notFound();
    const space = 'space' in target ? target.space : 'calendars';
    const needsSpace = !['root', 'principals', 'principal'].includes(target.kind);
    if (needsSpace && !caller.spaces.has(space)) throw forbidden();
    if ('userId' in target && target.kind !== 'principal' && target.userId !== caller.ctx.userId)
      throw notFound();
    const job = { ...caller, request, response, target };
    switch (request.method) {
      case 'PROPFIND':
        return this.find(job);
      case 'PROPPATCH':
        return this.patch(job);
      case 'REPORT':
        return this.report(job);
      case 'GET':
      case 'HEAD':
        return this.get(job);
      case 'PUT':
        return this.put(job);
      case 'DELETE':
        return this.delete(job);
      case 'MKCOL':
      case 'MKCALENDAR':
        return this.make(job);
      case 'POST':
        return this.post(job);
      default:
        throw new DavError(405, null, 'The resource does not support this method.');
    }
  }

  private async find({ ctx, request, response, target }: Job): Promise<void> {
    const depth = depthOf(request.headers.depth as string | undefined);
    const wanted = this.propfind.wanted(await readXmlBody(request), isMinimal(request));
    const responses = this.propfind.responses(ctx, target, depth, wanted, (space) => this.collections[space]);
    return stream(response, responses);
  }

  private async report(job: Job): Promise<void> {
    const { ctx, request, response, target } = job;
    const body = await readXmlBody(request);
    if (!body) throw new DavError(400, null, 'The request needs a body.');
    const name = nameOf(body.space, body.name);
    // Programs send both to the collection of principals, or to another resource that names it (RFC 3744, 9.4).
    const isForPrincipals =
      target.kind === 'principals' || childOf(body, dav('apply-to-principal-collection-set')) !== undefined;
    if (isForPrincipals && name === dav('principal-property-search'))
      return stream(response, this.search.responses(ctx, body, isMinimal(request)));
    if (isForPrincipals && name === dav('principal-search-property-set'))
      return sendXml(response, 200, searchProperties());
    if (target.kind !== 'collection') throw unsupportedReport();
    const collections = this.collections[target.space];
    const collection = await collections.open(ctx, target.segment);
    if (collection.kind === 'events' && body.name === 'free-busy-query')
      return this.freeBusy(job, collection, body);
    const options = { isMinimal: isMinimal(request), zones: wantsZones(request) };
    return stream(response, this.reports.responses(ctx, collections, collection, body, options));
  }

  private async freeBusy({ ctx, response }: Job, { id }: Collection, body: XmlElement): Promise<void> {
    const range = childOf(body, caldav('time-range'));
    const { from, to } = range ? rangeOf(range) : { from: null, to: null };
    if (from === null || to === null)
      throw new DavError(400, caldav('valid-filter'), 'The query needs a time-range with start and end.');
    const text = await this.scheduling.ofCalendar(ctx, id, { from, to });
    writeBody(response, new BodyReply(Buffer.from(text), { contentType: 'text/calendar; charset=utf-8' }));
  }

  private async get(job: Job): Promise<void> {
    const { ctx, request, response, target } = job;
    if (target.kind !== 'member')
      throw new DavError(405, null, 'Only events, tasks and contacts have content.');
    const { collections, collection } = await this.containing(ctx, target);
    const version = /version=4\.0/.test(request.headers.accept ?? '') ? '4.0' : '3.0';
    const options = { isWanted: true, zones: wantsZones(request), version } as const;
    const { etag, scheduleTag, text } = await single(ctx, collections, collection, target.name, options);
    assertMatch(request, etag);
    assertIf(request, etag, await this.states.of(job, request));
    const headers = { ...COMMON, ETag: etag, ...scheduleTagHeader(scheduleTag) };
    const { contentType } = collection;
    if (isUnchanged(request, etag))
      return writeBody(response, new BodyReply(null, { status: 304, contentType, headers }));
    const body = Buffer.from(text);
    const content = request.method === 'HEAD' ? null : body;
    writeBody(response, new BodyReply(content, { contentType, headers, length: body.length }));
  }

  private async put(job: Job): Promise<void> {
    const { request, response, target } = job;
    if (target.kind !== 'member')
      throw new DavError(405, null, 'Only events, tasks and contacts have content.');
    // A part of a resource must not replace it (RFC 9110, 14.5).
    if (request.headers['content-range'] !== undefined)
      throw new DavError(400, null, 'Content-Range is not supported.');
    const { isNew, scheduleTag } = await this.putMember(job, target).catch(async (error: unknown) => {
      throw isMissing(error) && !(await this.hasParent(job, target)) ? withoutParent() : error;
    });
    // Without an ETag: the stored text differs from that of the request (RFC 4791, 5.3.4).
    send(response, isNew ? 201 : 204, scheduleTagHeader(scheduleTag));
  }

  private async putMember(job: Job, target: Member): Promise<Stored> {
    const { ctx, request } = job;
    const { collections, collection } = await this.containing(ctx, target);
    if (!collection.isWritable) throw forbidden();
    const body = await readResource(request);
    const check = preconditionsOf(request, await this.states.of(job, request));
    return collections.put(ctx, collection, target.name, body, check);
  }

  private async delete(job: Job): Promise<void> {
    const { ctx, request, response, target } = job;
    const isState = await this.states.of(job, request);
    if (target.kind === 'member') {
      const { collections, collection } = await this.containing(ctx, target);
      // RFC 6638, 8.1: `T` or `F`, in any case (RFC 5234, 2.3).
      const isSilent = /^f$/i.test(String(request.headers['schedule-reply'] ?? ''));
      await collections.remove(ctx, collection, target.name, preconditionsOf(request, isState), isSilent);
    } else if (target.kind === 'collection') {
      assertIf(request, null, isState);
      const { collections, collection } = await this.containing(ctx, target);
      await collections.delete(ctx, collection);
    } else throw forbidden();
    send(response, 204);
  }

  private async make(job: Job): Promise<void> {
    const { ctx, request, response, target } = job;
    const body = await readXmlBody(request).catch((error: unknown) => {
      // Programs send XML under other types, too.
      throw error instanceof DavError && error.status === 400 && !isXml(request)
        ? new DavError(415, null, 'The body of a new collection is XML.')
        : error;
    });
    if (target.kind === 'member' && !(await this.hasParent(job, target))) throw withoutParent();
    if (target.kind !== 'collection') throw forbidden();
    assertIf(request, null, await this.states.of(job, request));
    const collections = this.collections[target.space];
    await this.writes.create(ctx, collections, target.segment, request.method, body);
    send(response, 201);
  }

  private async patch(job: Job): Promise<void> {
    const { ctx, request, response, target } = job;
    const body = await readXmlBody(request);
    if (target.kind !== 'collection') throw forbidden();
    assertIf(request, null, await this.states.of(job, request));
    const collections = this.collections[target.space];
    const collection = await collections.find(ctx, target.segment);
    const text = await this.writes.patch(ctx, collections, collection, body);
    sendXml(response, 207, text);
  }

  private async post({ ctx, request, response, target }: Job): Promise<void> {
    if (target.kind !== 'outbox') throw new DavError(405, null, 'The resource does not support this method.');
    const text = utf8Of(await readResource(request));
    sendXml(response, 200, await this.scheduling.outbox(ctx, text));
  }

  /** Whether the collection of a member exists. */
  private hasParent({ ctx }: Job, { space, segment }: Member): Promise<boolean> {
    return hasCollection(ctx, this.collections[space], segment);
  }

  private async containing(
    ctx: DavCaller['ctx'],
    { space, segment }: Extract<Target, { segment: string }>,
  ): Promise<{ collections: Collections; collection: Collection }> {
    const collections = this.collections[space];
    return { collections, collection: await collections.open(ctx, segment) };
  }
}

const CREATING: ReadonlySet<string> = new Set(['PUT', 'MKCOL', 'MKCALENDAR']);

/** The error of a request that would create a resource at a path of none. */
function notCreated(path: string): DavError {
  const parent = parsePath(parentOf(path));
  // A member contains nothing.
  return parent === null || parent.kind === 'member' ? withoutParent() : forbidden();
}

const withoutParent = (): DavError => new DavError(409, null, 'The containing collection does not exist.');

const isXml = ({ headers }: Request): boolean =>
  /^(?:application|text)\/xml\b/i.test(headers['content-type'] ?? 'application/xml');

const COMMON = { DAV: DAV_CLASSES };

/** RFC 6638, 8.2. */
const scheduleTagHeader = (tag: string | undefined): Record<string, string> =>
  tag === undefined ? {} : { 'Schedule-Tag': tag };

const unsupportedReport = (): DavError =>
  new DavError(403, '{DAV:}supported-report', 'The resource does not support this report.');

/** False for programs that know the zones (RFC 7809, 4.1). */
const wantsZones = ({ headers }: Request): boolean => headers['caldav-timezones'] !== 'F';

/** RFC 8144, and the header that preceded it. */
const isMinimal = ({ headers }: Request): boolean =>
  /return=minimal/.test(String(headers['prefer'] ?? '')) || headers['brief'] === 't';

function send(response: Response, status: number, headers: Record<string, string> = {}): void {
  const options = { status, contentType: XML_TYPE, headers: { ...COMMON, ...headers } };
  writeBody(response, new BodyReply(status === 204 ? null : Buffer.alloc(0), options));
}

const sendXml = (response: Response, status: number, text: string): void =>
  writeBody(response, new BodyReply(Buffer.from(text), { status, contentType: XML_TYPE, headers: COMMON }));

/**
 * Sends a 207 as its parts are read. Most have one part and are known to end after it without a further query: they need no stream. Errors
 * before the first part become the response.
 */
async function stream(response: Response, parts: AsyncGenerator<string>): Promise<void> {
  const first = await nextPart(parts);
  const second = first === null ? Promise.resolve(null) : nextPart(parts);
  const known = await Promise.race([second, endOfTurn('unknown' as const)]);
  if (known === null) return sendXml(response, 207, HEAD + (first ?? '') + TAIL);
  const options = { status: 207, contentType: XML_TYPE, headers: COMMON };
  await writeTexts(response, document(first ?? '', second, parts), options);
}

/** The next part that is not empty; null at the end. */
async function nextPart(parts: AsyncGenerator<string>): Promise<string | null> {
  let next = await parts.next();
  while (!next.done && next.value === '') next = await parts.next();
  return next.done ? null : next.value;
}

async function* document(
  first: string,
  second: Promise<string | null>,
  rest: AsyncGenerator<string>,
): AsyncGenerator<string> {
  try {
    yield HEAD + first;
    for (let part = await second; part !== null; part = await nextPart(rest)) yield part;
    yield TAIL;
  } finally {
    await rest.return(undefined);
  }
}

/** Writes the errors of WebDAV, and of conditions that the API names otherwise; the rest is JSON. */
function fail(thrown: unknown, response: Response, next: NextFunction): void {
  if (response.headersSent) return next(thrown);
  const error = thrown instanceof XmlError ? xmlError(thrown) : thrown;
  if (error instanceof DavError) {
    const headers = { ...COMMON, ...(error.status === 405 && { Allow: METHODS.join(', ') }) };
    const body = Buffer.from(error.xml);
    return writeBody(response, new BodyReply(body, { status: error.status, contentType: XML_TYPE, headers }));
  }
  if (error instanceof ClientDisconnectedError) return;
  if (error instanceof ApiError && error.kind.status === 413) {
    response.setHeader('Connection', 'close');
    return sendXml(response, 413, `${XML_HEAD}<D:error ${DECLARATIONS}><C:max-resource-size/></D:error>\n`);
  }
  return next(error);
}
