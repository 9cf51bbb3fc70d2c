import type { Request } from 'express';
import { dav } from './xml-names.js';
import { DavError } from './dav-error.js';
import { matchesIf } from './if-header.js';

const TAGS = /(?:W\/)?"[^"]*"/g;

const lists = (header: string, etag: string): boolean =>
  header.trim() === '*' || [...header.matchAll(TAGS)].some(([tag]) => tag === etag);

/** If-None-Match compares weakly (RFC 9110, 13.1.2): proxies that compress mark tags as weak. */
const listsWeakly = (header: string, etag: string): boolean => lists(header.replaceAll('W/"', '"'), etag);

const failed = (): DavError =>
  new DavError(412, dav('precondition-failed'), 'The resource is not the one that the request names.');

type Conditional = Pick<Request, 'headers'> & Partial<Pick<Request, 'originalUrl'>>;

/** Whether a state token is that of the resource at a path; without locks, only collections have one (RFC 6578, 5). */
export type StateCheck = (path: string, token: string) => boolean;
const NO_STATE: StateCheck = () => false;

/**
 * The preconditions of a write (RFC 9110, 13.1; RFC 4918, 10.4).
 * @returns a check of the current ETag (null: no such resource), which throws 412, or 400 for a malformed If header
 */
export function preconditionsOf(
  request: Conditional,
  isState: StateCheck = NO_STATE,
): (etag: string | null) => void {
  const { 'if-match': match, 'if-none-match': noneMatch } = request.headers;
  return (etag) => {
    if (match !== undefined && (etag === null || !lists(match, etag))) throw failed();
    if (noneMatch !== undefined && etag !== null && listsWeakly(noneMatch, etag)) throw failed();
    assertIf(request, etag, isState);
  };
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
export const isUnchanged = ({ headers }: Pick<Request, 'headers'>, etag: string): boolean => {
  const noneMatch = headers['if-none-match'];
  return noneMatch !== undefined && listsWeakly(noneMatch, etag);
};
