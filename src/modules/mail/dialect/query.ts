import { truth } from './words.js';

/** Of the longest query anybody needs: a cursor has up to 1024 characters. */
const MAX_QUERY = 8_192;
const MAX_PARAMETERS = 64;

/** Credentials and identity: parameters that the mail service reads on every route. */
const RESERVED = new Set(['accesstoken', 'sess', 'ip', 'user']);
const LIST_PARAMETERS = ['limit', 'order', 'unseen', 'threadCounters', 'cursor', 'direction'] as const;
const BACKWARD = new Set(['previous', 'prev', 'backward']);

/**
 * The query of the mailbox list, which passes but for credentials and identity. Empty values are left out: clients send
 * them for filters that are not set, and some versions of the mail service refuse them.
 */
export function mailboxListQuery(query: string): URLSearchParams {
  const passed = new URLSearchParams();
  for (const [name, value] of parameters(query)) {
    if (value !== '' && !RESERVED.has(root(name))) passed.append(name, value);
  }
  return passed;
}

/**
 * The query of a message list. The contract pages with `cursor` and `direction`, WildDuck with `next` or `previous`: it
 * gets both, as it ignores what it does not know.
 */
export function messageListQuery(query: string): URLSearchParams {
  const passed = new URLSearchParams();
  for (const [name, value] of parameters(query)) {
    if (value !== '' && LIST_PARAMETERS.includes(name as never) && !passed.has(name)) passed.set(name, value);
  }
  const cursor = passed.get('cursor');
  // A list says `false` where there is no further page, and a client may send that back.
  if (cursor === 'false') passed.delete('cursor');
  else if (cursor !== null) {
    const backward = BACKWARD.has(passed.get('direction')?.toLowerCase() ?? '');
    passed.set(backward ? 'previous' : 'next', cursor);
  }
  return passed;
}

/** True when the query would make a mailbox hidden, were it to reach the mail service. */
export function queryHides(query: string): boolean {
  return parameters(query).some(([name, value]) => root(name) === 'hidden' && truth(value.trim()) === true);
}

function parameters(query: string): [string, string][] {
  if (query === '') return [];
  return [...new URLSearchParams(query.slice(0, MAX_QUERY))].slice(0, MAX_PARAMETERS);
}

/** The name that a parser of nested queries (`ip[]`, `user.x`) would file it under, whatever its case and encoding. */
function root(name: string): string {
  let text = name;
  for (let n = 0; n < 4 && text.includes('%'); n += 1) {
    text = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  const [first = ''] = text.replace(/^[[.]+/, '').split(/[[\].]/, 1);
  return first.toLowerCase().replace(/[^a-z0-9]/g, '');
}
