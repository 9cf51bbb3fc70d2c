import { freeBytes } from '../memory/cache-size.js';

/** JSON text of an item: bytes if it is long and comes from a statement with `longTextsAsBytes`. */
export type JsonText = string | Buffer;

interface JsonReplyOptions {
  status?: number;
  etag?: string;
  location?: string;
  /** JSON for repeated requests with the same Idempotency-Key; default: that of the response. */
  remembered?: string;
}

/** JSON texts of these members of a response. */
type TextsOf<T, K extends keyof T> = { [P in keyof Pick<T, K>]: JsonText };
/** The argument for the other members; none if there are no others. */
type RestOf<T, K extends keyof T> = [Exclude<keyof T, K>] extends [never] ? [] : [rest: Omit<T, K>];
type ListNames<T> = {
  [P in keyof T]-?: NonNullable<T[P]> extends readonly unknown[] ? P : never;
}[keyof T] &
  string;
type IsUnion<T, U = T> = T extends unknown ? ([U] extends [T] ? false : true) : never;

/**
 * A success response as JSON text. `T` is its response class, which `@Endpoint` compares with the documented one. The text of
 * items is often that of PostgreSQL, which is sent without being parsed: nothing compares it with `T` but the tests
 * (`test/support/contract`). So only presenters (`*.presenter.ts`) and `Resource` make a reply of texts; services and
 * controllers make one of objects, or call a presenter.
 */
export class JsonReply<T> {
  /** For the compiler only: a reply of another class, also of a subclass, has another type. */
  declare private readonly shape: (value: T) => T;

  /** @param json text, or bytes when it consists of many items; they are freed once they are sent */
  private constructor(
    readonly json: JsonText,
    readonly options: JsonReplyOptions = {},
  ) {}

  /** A reply made in TypeScript. */
  static of<T>(value: NoInfer<T>, options?: JsonReplyOptions): JsonReply<T> {
    return new JsonReply<T>(JSON.stringify(value), options);
  }

  /**
   * A reply with members that are JSON texts.
   * @param rest the members that are not texts
   */
  static ofTexts<T, K extends keyof T = keyof T>(
    texts: TextsOf<T, K>,
    options?: JsonReplyOptions,
    ...[rest]: RestOf<T, K>
  ): JsonReply<T> {
    return JsonReply.named(texts, options, rest);
  }

  /**
   * A reply with a list of JSON texts: `listOf('notes', notes, { next })`.
   * @param name of the list; `K` is stated where the class has several lists
   * @param rest the other members
   */
  static listOf<T, K extends ListNames<T> = ListNames<T>>(
    name: IsUnion<K> extends true ? never : K,
    items: readonly JsonText[],
    rest: Omit<T, K>,
    options?: JsonReplyOptions,
  ): JsonReply<T> {
    return JsonReply.namedList([name], items, rest, options);
  }

  /** `ofTexts` for names that are known at run time only. */
  static named<T>(
    texts: Readonly<Record<string, JsonText | undefined>>,
    options?: JsonReplyOptions,
    rest?: object,
  ): JsonReply<T> {
    let json = '';
    for (const name in texts)
      if (texts[name] !== undefined) json += `${json === '' ? '{"' : ',"'}${name}":${texts[name].toString()}`;
    return new JsonReply<T>(`${json}${tailOf(rest)}`, options);
  }

  /** `listOf` for names that are known at run time only. A list with several names is repeated. */
  static namedList<T>(
    names: readonly string[],
    items: readonly JsonText[],
    rest: object,
    options?: JsonReplyOptions,
  ): JsonReply<T> {
    return new JsonReply<T>(listBytes(names, items, tailOf(rest)), options);
  }

  /** A reply that is one JSON text: that of another service, or of an earlier response. */
  static ofText<T>(json: JsonText, options?: JsonReplyOptions): JsonReply<T> {
    return new JsonReply<T>(json, options);
  }
}

/** The JSON text of an object with further members. */
export const withMembers = (json: string, more: object): string => `${json.slice(0, -1)}${tailOf(more)}`;

/** The members of an object that follow others, with its closing brace. */
function tailOf(rest?: object): string {
  const json = rest ? JSON.stringify(rest) : '{}';
  return json === '{}' ? '}' : `,${json.slice(1)}`;
}

/**
 * Writes `{"<name>":[...]` for each name, then `tail`, as bytes. A page of several megabytes is copied once instead of
 * concatenated as strings and encoded when it is sent. Frees the bytes of the items.
 * @param names members of the object that contain the list
 * @param tail the rest of the object, with its leading comma and its closing brace
 */
export function listBytes(names: readonly string[], items: readonly JsonText[], tail: string): Buffer {
  const bytes = items.reduce((sum, item) => sum + Buffer.byteLength(item), 0) + Math.max(0, items.length - 1);
  const heads = names.map((name, n) => `${n === 0 ? '{' : ','}"${name}":[`);
  const size = heads.reduce((sum, head) => sum + head.length + bytes + 1, 0) + Buffer.byteLength(tail);
  const buffer = Buffer.allocUnsafe(size);
  let at = 0;
  for (const head of heads) {
    at += buffer.write(head, at);
    for (const [n, item] of items.entries()) {
      if (n > 0) at += buffer.write(',', at);
      at += typeof item === 'string' ? buffer.write(item, at) : item.copy(buffer, at);
    }
    at += buffer.write(']', at);
  }
  buffer.write(tail, at);
  for (const item of items) if (typeof item !== 'string') freeBytes(item);
  return buffer;
}
