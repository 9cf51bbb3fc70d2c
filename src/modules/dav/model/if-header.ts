import { DavError } from './dav-error.js';
import { pathOfHref } from './paths.js';

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
  const own = decoded(path);
  return listsOf(header).some(({ resource, conditions }) => {
    const of = resourceOf(resource, path);
    return conditions.every((each) =>
      'token' in each
        ? isState(of, each.token) !== each.isNegated
        : decoded(of) === own && (each.etag === etag) !== each.isNegated,
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

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
