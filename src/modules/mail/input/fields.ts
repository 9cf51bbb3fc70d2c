/** A JSON object. */
export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects of an array; empty for any other value. */
export const objectsOf = (value: unknown): Fields[] =>
  Array.isArray(value) ? (value as unknown[]).filter(isFields) : [];

/** The objects of a list of the mail service (`{ results }`); empty for any other value. */
export const resultsOf = (value: unknown): Fields[] => (isFields(value) ? objectsOf(value['results']) : []);

/** Copies the own members of `from` that `names` lists. */
export function pick(from: Fields, names: readonly string[]): Fields {
  const picked: Fields = {};
  for (const name of names) if (Object.hasOwn(from, name)) picked[name] = from[name];
  return picked;
}

const TRUE = new Set(['true', '1', 'yes', 'on', 'y']);
const FALSE = new Set(['false', '0', 'no', 'off', 'n']);

/** Reads a boolean as WildDuck does: also words and digits, in any case. Undefined for any other value. */
export function booleanOf(value: unknown): boolean | undefined {
  if (typeof value !== 'boolean' && typeof value !== 'string' && typeof value !== 'number') return undefined;
  const word = String(value).toLowerCase();
  if (TRUE.has(word)) return true;
  return FALSE.has(word) ? false : undefined;
}

/** The id of a WildDuck user, mailbox or application password. */
export const isObjectId = (id: unknown): id is string => typeof id === 'string' && /^[0-9a-f]{24}$/i.test(id);

/** Characters and parameters that are read; a cursor has up to 1024 characters. */
const MAX_QUERY = 8_192;
const MAX_PARAMETERS = 64;

/** Credentials and identity: WildDuck reads these parameters on every route. */
const RESERVED = new Set(['accesstoken', 'sess', 'ip', 'user']);
const LIST_PARAMETERS = ['limit', 'order', 'unseen', 'threadCounters', 'cursor', 'direction'] as const;
const BACKWARD = new Set(['previous', 'prev', 'backward']);

/**
 * The query of the mailbox list: all parameters except credentials and identity. Empty values are dropped: clients send
 * them for unset filters, and some WildDuck versions reject them.
 */
export function mailboxListQuery(query: string): URLSearchParams {
  const forwarded = new URLSearchParams();
  for (const [name, value] of parameters(query)) {
    if (value !== '' && !RESERVED.has(rootOf(name))) forwarded.append(name, value);
  }
  return forwarded;
}

/**
 * The query of a message list. The contract pages with `cursor` and `direction`, WildDuck with `next` or `previous`: both
 * are sent, since WildDuck ignores unknown parameters.
 */
export function messageListQuery(query: string): URLSearchParams {
  const forwarded = new URLSearchParams();
  for (const [name, value] of parameters(query)) {
    if (value !== '' && LIST_PARAMETERS.includes(name as never) && !forwarded.has(name))
      forwarded.set(name, value);
  }
  const cursor = forwarded.get('cursor');
  // A list contains `false` where there is no further page, and a client may send that back.
  if (cursor === 'false') forwarded.delete('cursor');
  else if (cursor !== null) {
    const backward = BACKWARD.has(forwarded.get('direction')?.toLowerCase() ?? '');
    forwarded.set(backward ? 'previous' : 'next', cursor);
  }
  return forwarded;
}

/** True when the query would make WildDuck hide a mailbox. */
export function queryHides(query: string): boolean {
  return parameters(query).some(
    ([name, value]) => rootOf(name) === 'hidden' && booleanOf(value.trim()) === true,
  );
}

function parameters(query: string): [string, string][] {
  if (query === '') return [];
  return [...new URLSearchParams(query.slice(0, MAX_QUERY))].slice(0, MAX_PARAMETERS);
}

/** The member that a parser of nested queries (`ip[]`, `user.x`) would assign, in any case and encoding. */
function rootOf(name: string): string {
  let text = name;
  for (let n = 0; n < 4 && text.includes('%'); n += 1) {
    text = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  const [first = ''] = text.replace(/^[[.]+/, '').split(/[[\].]/, 1);
  return first.toLowerCase().replace(/[^a-z0-9]/g, '');
}
