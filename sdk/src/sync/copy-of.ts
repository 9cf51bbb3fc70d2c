/** Copies what JSON can hold: members that are undefined are left out. React Native has no `structuredClone`. */
export const copyOf = <T>(value: T): T =>
  value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T);
