const MAX_BYTES = 8 * 1024;
const MAX_TEXT = 500;
const MAX_ITEMS = 50;
const MAX_DEPTH = 4;
/** Names of members whose values are never kept, whoever hands them in. */
const SECRET = /passw|secret|token|otp|recovery|credential|private|^code$|_hash$|^hash$/i;

/**
 * The facts of an audit entry in bounds: texts of 500 characters, lists of 50, four levels, 8 KiB in all; what is named
 * like a secret is replaced. An entry is never refused for its data: the change it tells of must not fail for it.
 */
export function boundedData(data: Record<string, unknown>): Record<string, unknown> {
  const kept = bounded(data, 0) as Record<string, unknown>;
  return Buffer.byteLength(JSON.stringify(kept)) <= MAX_BYTES ? kept : { omitted: Object.keys(kept) };
}

/**
 * What an update changed: `{ before, after }` of the members that differ, and nothing of those that do not.
 * @param after members that are undefined were not given and stayed as they are
 */
export function changes(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): { before: Record<string, unknown>; after: Record<string, unknown> } {
  const differs = (key: string) =>
    after[key] !== undefined && JSON.stringify(before[key] ?? null) !== JSON.stringify(after[key] ?? null);
  const keys = Object.keys(after).filter(differs);
  const pick = (from: Record<string, unknown>) =>
    Object.fromEntries(keys.map((key) => [key, from[key] ?? null]));
  return { before: pick(before), after: pick(after) };
}

function bounded(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return text(value);
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (depth >= MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => bounded(item, depth + 1));
  const members = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(
    members.map(([key, member]) => [text(key), SECRET.test(key) ? '[redacted]' : bounded(member, depth + 1)]),
  );
}

/** What jsonb can hold, whatever came in. */
function text(value: string): string {
  const storable = value.toWellFormed().replaceAll('\0', '\ufffd');
  return storable.length <= MAX_TEXT ? storable : `${storable.slice(0, MAX_TEXT).toWellFormed()}…`;
}
