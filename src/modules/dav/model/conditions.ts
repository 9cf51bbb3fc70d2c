import type { Request } from 'express';
import { matchesTag, namesTag } from '../../../platform/http/entity-tags.js';
import { DavError } from './body.js';
import { pathOfHref } from './paths.js';
import { dav } from './xml-names.js';

/** A condition on the state of a resource. */
type Condition = { isNegated: boolean } & (
  | { /** With its quotes. */ etag: string }
  | { /** A state token: that of a synchronisation, or of a lock, which no resource has. */ token: string }
);

/** A state token and the resource whose state it may be. */
export interface StateToken {
  path: string;
  token: string;
}

/** Conditions that all have to be true. */
interface ConditionList {
  /** Null: the resource of the request. */
  resource: string | null;
  conditions: Condition[];
}

const TOKEN = /\s*(?:<([^>]*)>|(\()|(\))|(not)(?=[\s<[])|\[\s*((?:W\/)?"[^"]*")\s*\])/iy;

const malformed = (): DavError => new DavError(400, null, 'The If header is malformed.');

/**
 * Whether an If header is true (RFC 4918, 10.4): one of its lists is. Tags are compared for the resource of the request only: a list with
 * the tag of another one is false.
 * @param path of the request
 * @param etag of the resource; null: it has none, or does not exist
 * @param isState whether a state token is that of a resource
 * @throws DavError 400
 */
export function matchesIf(
  header: string,
  path: string,
  etag: string | null,
  isState: (path: string, token: string) => boolean,
): boolean {
  const own = decodePath(path);
  return listsOf(header).some(({ resource, conditions }) => {
    const of = resourceOf(resource, path);
    return conditions.every((each) =>
      'token' in each
        ? isState(of, each.token) !== each.isNegated
        : decodePath(of) === own && (each.etag === etag) !== each.isNegated,
    );
  });
}

/** The state tokens of an If header. @param path of the request @throws DavError 400 */
export const stateTokensOf = (header: string, path: string): StateToken[] =>
  listsOf(header).flatMap(({ resource, conditions }) =>
    conditions.flatMap((each) =>
      'token' in each ? [{ path: resourceOf(resource, path), token: each.token }] : [],
    ),
  );

const resourceOf = (resource: string | null, path: string): string =>
  resource === null ? path : (pathOfHref(resource) ?? '');

function listsOf(header: string): ConditionList[] {
  const lists: ConditionList[] = [];
  let resource: string | null = null;
  let conditions: Condition[] | null = null;
  let isNegated = false;
  const text = header.trim();
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length;) {
    const [, uri, opening, closing, not, etag] = TOKEN.exec(text) ?? [];
    if (conditions === null) {
      if (opening !== undefined) conditions = [];
      else if (uri === undefined) throw malformed();
      else resource = uri;
    } else if (closing !== undefined) {
      if (conditions.length === 0 || isNegated) throw malformed();
      lists.push({ resource, conditions });
      conditions = null;
    } else if (not !== undefined && !isNegated) isNegated = true;
    else if (uri !== undefined || etag !== undefined) {
      conditions.push(uri === undefined ? { isNegated, etag: etag as string } : { isNegated, token: uri });
      isNegated = false;
    } else throw malformed();
  }
  if (conditions !== null || lists.length === 0) throw malformed();
  return lists;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const failed = (): DavError =>
  new DavError(412, dav('precondition-failed'), 'The resource is not the one that the request names.');

type Conditional = Pick<Request, 'headers'> & Partial<Pick<Request, 'originalUrl'>>;

/** Whether a state token is that of the resource at a path; without locks, only collections have one (RFC 6578, 5). */
export type StateCheck = (path: string, token: string) => boolean;
const NO_STATE: StateCheck = () => false;

/**
 * The preconditions of a write (RFC 9110, 13.1; RFC 4918, 10.4).
 * @returns a check of the current ETag (null: no such resource) and tag of the schedule, which throws 412, or 400 for a malformed If header
 */
export function preconditionsOf(
  request: Conditional,
  isState: StateCheck = NO_STATE,
): (etag: string | null, scheduleTag?: string | null) => void {
  const { 'if-none-match': noneMatch, 'if-schedule-tag-match': tag } = request.headers;
  return (etag, scheduleTag = null) => {
    // RFC 6638, 8.3.
    if (tag !== undefined && String(tag).trim() !== scheduleTag) throw failed();
    assertMatch(request, etag);
    if (etag !== null && namesTag(noneMatch, etag)) throw failed();
    assertIf(request, etag, isState);
  };
}

/** Asserts If-Match of a read or a write. @param etag null: no such resource @throws DavError 412 */
export function assertMatch({ headers }: Pick<Request, 'headers'>, etag: string | null): void {
  const match = headers['if-match'];
  if (match !== undefined && (etag === null || !matchesTag(match, etag))) throw failed();
}

/** @param etag null: no such resource, or one without an ETag @throws DavError 412, 400 */
export function assertIf(
  { headers, originalUrl = '' }: Conditional,
  etag: string | null,
  isState: StateCheck = NO_STATE,
): void {
  const header = headers['if'] as string | undefined;
  const path = originalUrl.split('?', 1)[0] as string;
  if (header !== undefined && !matchesIf(header, path, etag, isState)) throw failed();
}

/** Whether a read is answered by 304. */
export const isUnchanged = ({ headers }: Pick<Request, 'headers'>, etag: string): boolean =>
  namesTag(headers['if-none-match'], etag);
