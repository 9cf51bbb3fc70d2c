import type { Client } from '../network/client.ts';
import { describedOperations } from './operations.ts';

/** Values of required query parameters, for lists and searches. */
const QUERY: Record<string, string> = {
  q: 'the',
  text: 'the',
  query: 'the',
  from: '2026-01-01T00:00:00Z',
  to: '2026-03-01T00:00:00Z',
  start: '2026-01-01T00:00:00Z',
  end: '2026-03-01T00:00:00Z',
  year: '2026',
};
/** Filled in always: their defaults depend on the time of the request. */
const PERIOD = new Set(['from', 'to']);
/** Objects of each list whose own routes are read. */
const OBJECTS = 4;

/** Values that depend on the time of the request, and positions in change feeds. */
const VOLATILE = new Set([
  'server_time',
  'snapshot_at',
  'as_of',
  'last_seen',
  'cursor',
  'changes_cursor',
  'sync_token',
]);

const withoutVolatile = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutVolatile);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !VOLATILE.has(key));
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutVolatile(each)]));
};

/** Ids of the objects in the lists of a response. */
function idsIn(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return [];
  const lists = Object.values(body).filter((value) => Array.isArray(value)) as unknown[][];
  const ids = lists.flat().map((item) => {
    const { id, user_id: userId } = (item ?? {}) as Record<string, unknown>;
    return id ?? userId;
  });
  return [...new Set(ids.filter((id) => typeof id === 'string' || typeof id === 'number').map(String))];
}

/**
 * Everything that a caller can read: all GET operations without parameters, and those below each list for its first objects.
 * @param skip paths of operations that are not read
 * @returns the responses by path, without cursors and times of the response
 */
export async function everythingReadable(
  api: Client,
  skip: (path: string) => boolean = () => false,
): Promise<Map<string, { status: number; content: unknown }>> {
  const found = new Map<string, { status: number; content: unknown }>();
  const bodies = new Map<string, unknown>();
  const templates = describedOperations().filter(({ method, path }) => method === 'GET' && !skip(path));
  const read = async (path: string, spec: any): Promise<void> => {
    if (bodies.has(path)) return;
    const wanted = (spec.parameters ?? []).filter(
      ({ in: place, name, required }: any) => place === 'query' && (required || PERIOD.has(name)),
    );
    const query = wanted.map(
      ({ name }: { name: string }) => `${name}=${encodeURIComponent(QUERY[name] ?? '1')}`,
    );
    const url = path.replace(/^\/apis\/v1/, '');
    const { status, text, body } = await api.get(query.length > 0 ? `${url}?${query.join('&')}` : url);
    found.set(path, { status, content: body === undefined ? text : withoutVolatile(body) });
    bodies.set(path, body);
  };
  /** Fills the first parameter of a path with the ids of the list before it. */
  const expand = async (path: string, spec: any): Promise<void> => {
    const at = path.indexOf('{');
    if (at < 0) return read(path, spec);
    const parent = path.slice(0, at - 1);
    const rest = path.slice(path.indexOf('}') + 1);
    for (const id of idsIn(bodies.get(parent)).slice(0, OBJECTS))
      await expand(`${parent}/${encodeURIComponent(id)}${rest}`, spec);
  };
  const depth = (path: string): number => path.split('{').length * 100 + path.length;
  for (const { path, spec } of templates.toSorted((a, b) => depth(a.path) - depth(b.path)))
    await expand(path, spec);
  return found;
}
