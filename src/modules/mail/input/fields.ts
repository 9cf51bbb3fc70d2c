/** A JSON object. */
export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects of an array; empty for any other value. */
export const objectsOf = (value: unknown): Fields[] =>
  Array.isArray(value) ? (value as unknown[]).filter(isFields) : [];

/** The objects of a list of the mail service (`{ results }`); empty for any other value. */
export const resultsOf = (value: unknown): Fields[] => (isFields(value) ? objectsOf(value['results']) : []);

/** Copies the own members of `from` that `names` lists. */
export function pick(from: Fields, names: readonly string[]): Fields {
  const picked: Fields = {};
  for (const name of names) if (Object.hasOwn(from, name)) picked[name] = from[name];
  return picked;
}

const TRUE = new Set(['true', '1', 'yes', 'on', 'y']);
const FALSE = new Set(['false', '0', 'no', 'off', 'n']);

/** Reads a boolean as WildDuck does: also words and digits, in any case. Undefined for any other value. */
export function booleanOf(value: unknown): boolean | undefined {
  if (typeof value !== 'boolean' && typeof value !== 'string' && typeof value !== 'number') return undefined;
  const word = String(value).toLowerCase();
  if (TRUE.has(word)) return true;
  return FALSE.has(word) ? false : undefined;
}

/** The id of a WildDuck user, mailbox or application password. */
export const isObjectId = (id: unknown): id is string => typeof id === 'string' && /^[0-9a-f]{24}$/i.test(id);
