import type { Request } from 'express';
import { dav } from './xml-names.js';
import { DavError } from './dav-error.js';

const TAGS = /(?:W\/)?"[^"]*"/g;

const lists = (header: string, etag: string): boolean =>
  header.trim() === '*' || [...header.matchAll(TAGS)].some(([tag]) => tag === etag);

/** If-None-Match compares weakly (RFC 9110, 13.1.2): proxies that compress mark tags as weak. */
const listsWeakly = (header: string, etag: string): boolean => lists(header.replaceAll('W/"', '"'), etag);

const failed = (): DavError =>
  new DavError(412, dav('precondition-failed'), 'The resource is not the one that the request names.');

/**
 * The preconditions of a write (RFC 9110, 13.1).
 * @returns a check of the current ETag (null: no such resource), which throws 412
 */
export function preconditionsOf({ headers }: Pick<Request, 'headers'>): (etag: string | null) => void {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  return (etag) => {
    if (match !== undefined && (etag === null || !lists(match, etag))) throw failed();
    if (noneMatch !== undefined && etag !== null && listsWeakly(noneMatch, etag)) throw failed();
  };
}

/** Whether a read is answered by 304. */
export const isUnchanged = ({ headers }: Pick<Request, 'headers'>, etag: string): boolean => {
  const noneMatch = headers['if-none-match'];
  return noneMatch !== undefined && listsWeakly(noneMatch, etag);
};
