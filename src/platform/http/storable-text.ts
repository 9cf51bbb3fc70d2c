import { Errors } from './errors.js';

/** Deeper JSON than any input of ours; a limit because the libraries below recurse. */
const MAX_DEPTH = 32;

/** True for text PostgreSQL can hold and give back unchanged: no U+0000, no half surrogate pairs. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/**
 * Refuses parsed JSON that no field of ours can hold, before anything works on it.
 * @throws ApiError 422 `validation_failed` naming the field
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
  const name = field.slice(0, 100).toWellFormed();
  return Errors.validationFailed.with({ details: [{ field: name, code, message: `${name} ${message}` }] });
}
