/** The ETag of each object that a response contained. Objects that are no longer used are removed with their ETags. */
const etags = new WeakMap<object, string>();

/** Stores the ETag of a response for its body, and for the objects directly in it, such as `note` of `{ note }`. */
export function rememberETag(body: unknown, response: Response): void {
  const etag = response.headers.get('ETag');
  if (etag === null || !isObject(body)) return;
  etags.set(body, etag);
  for (const value of Object.values(body)) if (isObject(value)) etags.set(value, etag);
}

/**
 * The header that makes a write depend on the revision that was read.
 * @param object of a response with an ETag; the same object, not a copy
 * @throws TypeError if the object has no ETag, such as an item of a list: read it by its id, or send `base_revision`
 */
export function ifMatch(object: object): { 'If-Match': string } {
  const etag = etags.get(object);
  if (etag === undefined)
    throw new TypeError('The object has no ETag: read it by its id, or send its revision as base_revision.');
  return { 'If-Match': etag };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
