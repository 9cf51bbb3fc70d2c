/** A JSON object. */
export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The members of `from` that are named, as far as they are there. Inherited ones are none. */
export function pick(from: Fields, names: readonly string[]): Fields {
  const picked: Fields = {};
  for (const name of names) if (Object.hasOwn(from, name)) picked[name] = from[name];
  return picked;
}
