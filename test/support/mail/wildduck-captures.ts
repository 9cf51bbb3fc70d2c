import { readFileSync } from 'node:fs';
import path from 'node:path';

/** A request to a real WildDuck and its response. */
export interface Capture {
  label: string;
  request: { method: string; path: string; headers?: Record<string, string>; body?: unknown };
  status: number;
  contentType: string;
  json?: unknown;
  text?: string;
}

interface Recorded {
  label: string;
  request?: Capture['request'];
  response?: { status: number; headers: Record<string, string>; json?: unknown; text?: string };
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
}

export function captures(file: 'routes' | 'extras' | 'edge-cases'): Capture[] {
  const source = path.resolve(import.meta.dirname, '..', '..', 'fixtures', 'wildduck', `${file}.json`);
  const recorded = JSON.parse(readFileSync(source, 'utf8')) as Recorded[];
  return recorded.map((each) => {
    const { status, headers, json, text } = each.response ?? {
      status: each.status as number,
      headers: each.headers ?? {},
      json: each.json,
      text: undefined,
    };
    return {
      label: each.label.trim(),
      request: each.request ?? { method: '', path: '' },
      status,
      contentType: headers['content-type'] ?? '',
      json,
      text,
    };
  });
}

/** Members that depend on server and time: only their type is compared. */
const VOLATILE = new Set([
  'id',
  'mailbox',
  'thread',
  'user',
  'date',
  'idate',
  'messageId',
  'references',
  'hash',
  'fileContentHash',
  'boundary',
  'modifyIndex',
  'queueId',
  'token',
  'size',
  'nextCursor',
  'previousCursor',
]);

const typeOf = (value: unknown): string =>
  Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;

/**
 * Compares a response with the captured one: members, types, and values that do not depend on server or time.
 * @param numbered whether messages have the same ids, because the conversation is the same
 * @param learn called with each captured text and ours, for members that depend on server and time
 */
export function differences(
  captured: unknown,
  actual: unknown,
  learn: (captured: string, actual: string) => void = () => undefined,
  numbered = true,
  at = '',
): string[] {
  if (typeOf(captured) !== typeOf(actual))
    return [`${at}: ${typeOf(captured)} expected, received ${typeOf(actual)}`];
  const member = at.slice(at.lastIndexOf('.') + 1);
  if (Array.isArray(captured) && Array.isArray(actual)) {
    if (captured.length !== actual.length && member !== 'references')
      return [`${at}: ${captured.length} items expected, received ${actual.length}`];
    return captured.flatMap((item, n) => differences(item, actual[n], learn, numbered, `${at}[]`));
  }
  if (typeof captured === 'object' && captured !== null) {
    const [a, b] = [captured as Record<string, unknown>, actual as Record<string, unknown>];
    const lines: string[] = [];
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      if (!(key in b)) lines.push(`${at}.${key}: missing`);
      else if (!(key in a)) lines.push(`${at}.${key}: additional`);
      else lines.push(...differences(a[key], b[key], learn, numbered, `${at}.${key}`));
    }
    return lines;
  }
  const volatile = VOLATILE.has(member.replace('[]', ''));
  if (volatile && typeof captured === 'string') learn(captured, actual as string);
  const free = typeof captured === 'string' || !numbered || /size|modifyIndex/.test(member);
  const same = captured === actual || (volatile && free);
  return same ? [] : [`${at}: ${JSON.stringify(captured)} expected, received ${JSON.stringify(actual)}`];
}
