/** An entity tag (RFC 9110, 8.8.3): the mark of a weak one, and the opaque part with its quotes. */
const TAG = /(W\/)?("[^"]*")/g;

/** Stands in a condition for every tag that a resource may have. */
export const ANY_TAG = '*';

const isAny = (header: string): boolean => header.trim() === ANY_TAG;

/** Whether If-Match names a tag: by strong comparison (RFC 9110, 13.1.1), in which a weak tag equals none. */
export const matchesTag = (header: string, etag: string): boolean =>
  isAny(header) || [...header.matchAll(TAG)].some(([tag, weak]) => weak === undefined && tag === etag);

/**
 * Whether If-None-Match names a tag: by weak comparison (RFC 9110, 13.1.2). Proxies that compress mark tags as weak. Not Express's
 * `request.fresh`: it ignores If-None-Match when Cache-Control is `no-cache`, which fetch() adds to every request with an explicit one.
 */
export const namesTag = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  (isAny(header) || [...header.matchAll(TAG)].some(([, , opaque]) => opaque === etag.replace(/^W\//, '')));

/** Tags of one condition that are looked up. */
const MAX_TAGS = 20;
/** Characters of a version. */
const MAX_VERSION = 64;

/** A tag between quotes is never `ANY_TAG`. */
const VERSION = /^[\x21\x23-\x29\x2b-\x7e]+$/;

/** The versions that If-None-Match names, without quotes and marks of weakness; `ANY_TAG` for any. */
export function versionsNamed(ifNoneMatch = ''): string[] {
  if (isAny(ifNoneMatch)) return [ANY_TAG];
  const versions = Array.from(ifNoneMatch.matchAll(TAG), ([, , opaque = '']) => opaque.slice(1, -1));
  return versions
    .filter((version) => version.length <= MAX_VERSION && VERSION.test(version))
    .slice(0, MAX_TAGS);
}
