import { fieldError } from './errors.js';
import { cutText } from '../../lib/text/index.js';

/** More than the levels of any valid input. The limit exists because validation and storage recurse. */
const MAX_DEPTH = 32;

/** True for text that PostgreSQL stores and returns unchanged: no U+0000, no lone surrogates. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Names that every object inherits. */
const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/**
 * Deletes the keys of parsed JSON that shadow members of `Object.prototype`, at any depth. Libraries call these members:
 * `{"constructor": 1}` makes class-transformer throw a TypeError. No input has such a field, and unknown fields are ignored.
 * @param value no deeper than `assertStorable` allows
 */
export function removeInheritedKeys(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (INHERITED.has(key)) delete (value as Record<string, unknown>)[key];
    else removeInheritedKeys(member);
  }
}

/**
 * Rejects parsed JSON that no field can store, before other code reads it.
 * @throws ApiError 422 `validation_failed` with the name of the field
 */
export function assertStorable(value: unknown, path = '', depth = 0): void {
  if (typeof value === 'string') {
    if (!isStorable(value))
      throw problem(path, 'invalid_characters', 'contains characters that cannot be stored');
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth >= MAX_DEPTH) throw problem(path, 'too_deep', `is nested deeper than ${MAX_DEPTH} levels`);
  for (const [key, member] of Object.entries(value))
    assertStorable(member, path ? `${path}.${key}` : key, depth + 1);
}

function problem(field: string, code: string, message: string) {
  const name = cutText(field, 100);
  return fieldError(name, code, `${name} ${message}`);
}
