import { freeBytes } from '../memory/own-bytes.js';

/** JSON text of an item: bytes if it is long and comes from a statement with `longTextsAsBytes`. */
export type JsonText = string | Buffer;

/**
 * A success response whose JSON PostgreSQL has already written: it is sent without parsing it. Only repositories produce the
 * text, so that each shape has one owner.
 */
export class JsonReply {
  /** @param json text, or bytes when it consists of many items; they are freed once they are sent */
  constructor(
    readonly json: JsonText,
    readonly options: {
      status?: number;
      etag?: string;
      location?: string;
      /** JSON for repeated requests with the same Idempotency-Key; default: `json`. */
      remembered?: string;
    } = {},
  ) {}
}

/**
 * Writes `{"<name>":[...],` for each name, then `tail`, as bytes. A page of several megabytes is copied once instead of
 * concatenated as strings and encoded when it is sent. Frees the bytes of the items.
 * @param names members of the object that contain the list
 * @param tail the rest of the object, with its closing brace and without a leading comma
 */
export function jsonList(names: readonly string[], items: readonly JsonText[], tail: string): Buffer {
  const bytes = items.reduce((sum, item) => sum + Buffer.byteLength(item), 0) + Math.max(0, items.length - 1);
  const heads = names.map((name, n) => `${n === 0 ? '{' : ''}"${name}":[`);
  const size = heads.reduce((sum, head) => sum + head.length + bytes + 2, 0) + Buffer.byteLength(tail);
  const buffer = Buffer.allocUnsafe(size);
  let at = 0;
  for (const head of heads) {
    at += buffer.write(head, at);
    for (const [n, item] of items.entries()) {
      if (n > 0) at += buffer.write(',', at);
      at += typeof item === 'string' ? buffer.write(item, at) : item.copy(buffer, at);
    }
    at += buffer.write('],', at);
  }
  buffer.write(tail, at);
  for (const item of items) if (typeof item !== 'string') freeBytes(item);
  return buffer;
}

/** `{ <plural>: [...], next }` of JSON texts. */
export const listReply = (plural: string, items: readonly JsonText[], next: string | null): JsonReply =>
  new JsonReply(jsonList([plural], items, `"next":${JSON.stringify(next)}}`));
