import { shortenText } from '../../lib/text/index.js';
const MAX_BYTES = 8 * 1024;
const MAX_TEXT = 500;
const MAX_ITEMS = 50;
const MAX_DEPTH = 4;
/** Names of members whose values are never stored. */
const SECRET = /passw|secret|token|otp|recovery|credential|private|^code$|_hash$|^hash$/i;

/**
 * Bounds the data of an audit entry: strings of 500 characters, lists of 50, four levels, 8 KiB in total. Redacts members
 * with names of secrets. Never throws, so that the audited change does not fail.
 */
export function boundedData(data: Record<string, unknown>): Record<string, unknown> {
  const kept = bounded(data, 0) as Record<string, unknown>;
  return Buffer.byteLength(JSON.stringify(kept)) <= MAX_BYTES ? kept : { omitted: Object.keys(kept) };
}

/**
 * Returns `{ before, after }` of the members that an update changes.
 * @param after undefined members stay unchanged
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

/** Makes a string storable as jsonb. */
function text(value: string): string {
  return shortenText(value.toWellFormed().replaceAll('\0', '\ufffd'), MAX_TEXT);
}
