import type { Rng } from '../../sync/rng.ts';

/** Names that every object inherits, and names that no operation knows. */
const EXTRA_KEYS = [
  'constructor',
  '__proto__',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  'id',
  'unknown',
  '',
];

/** Values of each kind that clients send by mistake or on purpose. */
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 60,
  '',
  ' ',
  '\0',
  'nul \0 inside',
  '\ud800',
  // A cut at an even number of UTF-16 units divides a character.
  `a${'😀'.repeat(200)}`,
  '\u202e‮right to left',
  '👩‍👩‍👧‍👦'.repeat(50),
  'e\u0301'.repeat(300),
  'x'.repeat(70_000),
  "'; DROP TABLE notes; --",
  '%00',
  '../../etc/passwd',
  '2026-02-30',
  '2026-13-45T99:99:99Z',
  '+275760-09-13T00:00:00Z',
  '00000000-0000-0000-0000-000000000000',
  [],
  {},
  [[]],
  [null],
  { constructor: 1 },
  { constructor: { prototype: {} } },
  Array.from({ length: 1_001 }, (_, n) => n),
];

/** A place of a value in a body: the container and the key. */
type Place = [container: any, key: string | number];

function placesOf(body: unknown): Place[] {
  if (typeof body !== 'object' || body === null) return [];
  return Object.entries(body).flatMap(([key, value]) => [[body, key] as Place, ...placesOf(value)]);
}

function objectsOf(body: unknown): any[] {
  if (typeof body !== 'object' || body === null) return [];
  return [body, ...Object.values(body).flatMap(objectsOf)];
}

/** `__proto__` becomes an own key, as it does when JSON is parsed. */
function set(container: any, key: string | number, value: unknown): void {
  if (Array.isArray(container)) container[Number(key)] = value;
  else Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
}

const BODY_MUTATIONS: Record<string, (rng: Rng, body: any) => unknown> = {
  'odd value': (rng, body) => {
    const places = placesOf(body);
    if (places.length === 0) return rng.pick(ODD_VALUES);
    const [container, key] = rng.pick(places);
    set(container, key, structuredClone(rng.pick(ODD_VALUES)));
    return body;
  },
  'extra key': (rng, body) => {
    const objects = objectsOf(body).filter((value) => !Array.isArray(value));
    if (objects.length > 0)
      set(rng.pick(objects), rng.pick(EXTRA_KEYS), structuredClone(rng.pick(ODD_VALUES)));
    return body;
  },
  'missing key': (rng, body) => {
    const places = placesOf(body);
    if (places.length === 0) return body;
    const [container, key] = rng.pick(places);
    if (Array.isArray(container)) container.splice(Number(key), 1);
    else delete container[key];
    return body;
  },
  'duplicate entries': (_, body) => {
    for (const list of objectsOf(body).filter(Array.isArray)) list.push(...structuredClone(list));
    return body;
  },
  'another body': (rng) => structuredClone(rng.pick(ODD_VALUES)),
  'deep nesting': (rng, body) => {
    let nested: unknown = 'x';
    for (let depth = 0; depth < 200; depth += 1) nested = depth % 2 ? [nested] : { a: nested };
    const places = placesOf(body);
    if (places.length === 0) return nested;
    const [container, key] = rng.pick(places);
    set(container, key, nested);
    return body;
  },
};

const TEXT_MUTATIONS: Record<string, (json: string) => string> = {
  'truncated JSON': (json) => json.slice(0, -1),
  'duplicate key': (json) => json.replace(/^\{("(?:[^"\\]|\\.)*":)/, '{$1 1, $1'),
  'trailing comma': (json) => json.replace(/\}$/, ',}'),
  'empty body': () => '',
  'byte order mark': (json) => `\ufeff${json}`,
};

/** @returns the JSON text of a mutated body, and the name of the mutation */
export function mutateBody(rng: Rng, body: unknown): { text: string; mutation: string } {
  if (rng.chance(0.12)) {
    const mutation = rng.pick(Object.keys(TEXT_MUTATIONS));
    return { text: TEXT_MUTATIONS[mutation]!(JSON.stringify(body)), mutation };
  }
  const mutation = rng.pick(Object.keys(BODY_MUTATIONS));
  const mutated = BODY_MUTATIONS[mutation]!(rng, structuredClone(body));
  return { text: JSON.stringify(mutated) ?? 'null', mutation };
}

/** @returns a value for a path or query parameter, percent-encoded or deliberately not */
export function oddParameter(rng: Rng): string {
  if (rng.chance(0.1)) return rng.pick(['%', '%ff', '%C0%80', '%E0%A4%A', '%00']);
  const value = rng.pick(ODD_VALUES);
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  // A longer address is rejected by Node before the application sees it.
  return encodeURIComponent(text.slice(0, 2_000).toWellFormed());
}
