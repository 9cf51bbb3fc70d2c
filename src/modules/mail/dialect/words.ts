const TRUE = new Set(['true', '1', 'yes', 'on', 'y']);
const FALSE = new Set(['false', '0', 'no', 'off', 'n']);

/** What the mail service takes a value for: its booleans come as words and digits too, in any case. */
export function truth(value: unknown): boolean | undefined {
  if (typeof value !== 'boolean' && typeof value !== 'string' && typeof value !== 'number') return undefined;
  const word = String(value).toLowerCase();
  if (TRUE.has(word)) return true;
  return FALSE.has(word) ? false : undefined;
}

export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The members of `from` that are named, as far as they are there. Inherited ones are none. */
export function pick(from: Fields, names: readonly string[]): Fields {
  const picked: Fields = {};
  for (const name of names) if (Object.hasOwn(from, name)) picked[name] = from[name];
  return picked;
}
