import { DavError } from './dav-error.js';
import { pathOfHref } from './paths.js';

/** A condition on the state of a resource. */
interface Condition {
  isNegated: boolean;
  /** An entity tag with its quotes; null: a state token, such as that of a lock. */
  etag: string | null;
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
 * Whether an If header is true for the resource of a request (RFC 4918, 10.4): one of its lists is. Without locks, no state token is that
 * of a resource; lists about other resources are false.
 * @param path of the request
 * @param etag of the resource; null: it has none, or does not exist
 * @throws DavError 400
 */
export function matchesIf(header: string, path: string, etag: string | null): boolean {
  const own = decoded(path);
  return listsOf(header).some(
    ({ resource, conditions }) =>
      (resource === null || decoded(pathOfHref(resource) ?? '') === own) &&
      conditions.every((each) => (each.etag !== null && each.etag === etag) !== each.isNegated),
  );
}

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
      conditions.push({ isNegated, etag: etag ?? null });
      isNegated = false;
    } else throw malformed();
  }
  if (conditions !== null || lists.length === 0) throw malformed();
  return lists;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
