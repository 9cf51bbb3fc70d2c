import { API_PREFIX } from '../../../config/config.js';
import { isUuid } from '../../../platform/http/id.pipe.js';

export const DAV_PATH = `/${API_PREFIX}/dav`;

/** The two kinds of collections that the server has. */
export type Space = 'calendars' | 'addressbooks';

/** The resource of a path. */
export type Target =
  | { kind: 'root' | 'principals' }
  | { kind: 'principal'; userId: string }
  | { kind: 'home'; space: Space; userId: string }
  | { kind: 'inbox' | 'outbox'; userId: string }
  | { kind: 'collection'; space: Space; userId: string; segment: string }
  | { kind: 'member'; space: Space; userId: string; segment: string; name: string };

/** Characters of a segment of a path. */
const MAX_SEGMENT = 512;

function decodeSegment(segment: string): string | null {
  try {
    const text = decodeURIComponent(segment);
    return text.length <= MAX_SEGMENT && !/[\p{Cc}\p{Surrogate}]/u.test(text) ? text : null;
  } catch {
    return null;
  }
}

/** The target of a path below `DAV_PATH`; null for any other one. @param path without the query */
export function parsePath(path: string): Target | null {
  if (!path.startsWith(DAV_PATH)) return null;
  const rest = path.slice(DAV_PATH.length);
  if (rest !== '' && !rest.startsWith('/')) return null;
  const texts = rest.split('/').slice(1);
  if (texts.at(-1) === '') texts.pop();
  const segments = texts.map(decodeSegment);
  if (segments.some((segment) => segment === null || segment === '')) return null;
  const [space, userId, segment, name, ...more] = segments as string[];
  if (space === undefined) return { kind: 'root' };
  if (more.length > 0) return null;
  if (space === 'principals') {
    if (userId === undefined) return { kind: 'principals' };
    return segment === undefined && isUuid(userId)
      ? { kind: 'principal', userId: userId.toLowerCase() }
      : null;
  }
  if ((space !== 'calendars' && space !== 'addressbooks') || !isUuid(userId)) return null;
  const owner = { space, userId: userId.toLowerCase() } as const;
  if (segment === undefined) return { kind: 'home', ...owner };
  const isScheduling = space === 'calendars' && (segment === 'inbox' || segment === 'outbox');
  if (isScheduling) return name === undefined ? { kind: segment, userId: owner.userId } : null;
  return name === undefined
    ? { kind: 'collection', ...owner, segment }
    : { kind: 'member', ...owner, segment, name };
}

/** The path of the collection that would contain the resource of a path, with a slash at its end. */
export const parentOf = (path: string): string => path.slice(0, path.replace(/\/$/, '').lastIndexOf('/') + 1);

const encoded = encodeURIComponent;

/** Paths of resources. */
export const paths = {
  root: `${DAV_PATH}/`,
  principals: `${DAV_PATH}/principals/`,
  principal: (userId: string): string => `${DAV_PATH}/principals/${userId}/`,
  home: (space: Space, userId: string): string => `${DAV_PATH}/${space}/${userId}/`,
  collection: (space: Space, userId: string, segment: string): string =>
    `${DAV_PATH}/${space}/${userId}/${encoded(segment)}/`,
  member: (collection: string, name: string): string => `${collection}${encoded(name)}`,
};

/**
 * The path of a `DAV:href` or a Destination: relative, absolute, or a URL of this server. Null for anything else.
 * @param host of the request
 */
export function pathOfHref(text: string): string | null {
  try {
    return new URL(text.trim(), 'http://localhost').pathname;
  } catch {
    return null;
  }
}
