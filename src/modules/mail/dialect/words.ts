const TRUE = new Set(['true', '1', 'yes', 'on', 'y']);
const FALSE = new Set(['false', '0', 'no', 'off', 'n']);

/** What the mail service takes a value for: its booleans come as words and digits too, in any case. */
export function truth(value: unknown): boolean | undefined {
  if (typeof value !== 'boolean' && typeof value !== 'string' && typeof value !== 'number') return undefined;
  const word = String(value).toLowerCase();
  if (TRUE.has(word)) return true;
  return FALSE.has(word) ? false : undefined;
}
