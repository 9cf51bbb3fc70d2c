import { booleanOf } from './fields.js';

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
