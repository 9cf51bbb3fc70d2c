/**
 * A success answer whose JSON is already text, as PostgreSQL shaped it: it goes to the client without being parsed and
 * written again. Only repositories make the text, so that one place owns each shape.
 */
export class JsonReply {
  /** @param json text, or its bytes where it was put together from many pieces */
  constructor(
    readonly json: string | Buffer,
    readonly options: {
      status?: number;
      etag?: string;
      location?: string;
      /** JSON for repeated requests with the same Idempotency-Key; default: the same JSON. */
      remembered?: string;
    } = {},
  ) {}
}

/**
 * `{"<name>":[...],` for each name, then `tail`, as bytes: a page of megabytes is written once, and not flattened from a
 * rope of strings when it is sent.
 * @param names of the list; more than one gives it out under each
 * @param tail the rest of the object, with its closing brace and without a leading comma
 */
export function jsonList(names: readonly string[], items: readonly string[], tail: string): Buffer {
  const bytes = items.reduce((sum, item) => sum + Buffer.byteLength(item), 0) + Math.max(0, items.length - 1);
  const heads = names.map((name, n) => `${n === 0 ? '{' : ''}"${name}":[`);
  const size = heads.reduce((sum, head) => sum + head.length + bytes + 2, 0) + Buffer.byteLength(tail);
  const buffer = Buffer.allocUnsafe(size);
  let at = 0;
  for (const head of heads) {
    at += buffer.write(head, at);
    for (const [n, item] of items.entries()) {
      if (n > 0) at += buffer.write(',', at);
      at += buffer.write(item, at);
    }
    at += buffer.write('],', at);
  }
  buffer.write(tail, at);
  return buffer;
}
