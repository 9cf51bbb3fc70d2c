/** Object id of the built-in type `tsvector` (`pg_type`). */
const TSVECTOR = 3614;

/**
 * A parameter of type `tsvector[]`, in the binary form of `array_recv`, in which node-postgres sends a buffer. PostgreSQL reads the
 * text form of a note's vector ten times slower.
 * @param vectors each in the binary form of `SearchVector`
 */
export function tsvectorArray(vectors: readonly Buffer[]): Buffer {
  const header = int32s(1, 0, TSVECTOR, vectors.length, 1); // dimensions, no nulls, type, length, lower bound
  return Buffer.concat([header, ...vectors.flatMap((vector) => [int32s(vector.length), vector])]);
}

function int32s(...values: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 * values.length);
  values.forEach((value, n) => bytes.writeInt32BE(value, 4 * n));
  return bytes;
}
